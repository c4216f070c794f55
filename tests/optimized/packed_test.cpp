#include <gmock/gmock-matchers.h>

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "optimized/refusals/refusals.h"
#include "tests/support/golden.h"
#include "tests/support/program_folders.h"
#include "tests/support/recorded.h"
#include "tests/support/rules_shown.h"

// Packed constants in a file: the same results with them, and a rule for everything else that a file may hold.
namespace assay {
namespace packed_test {

namespace fs = std::filesystem;
using Results = Recorded::Results;
constexpr std::size_t header = 64;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("packed-{}", getpid())) { fs::remove_all(path_); }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class PackedPrograms : public testing::TestWithParam<fs::path> {};

TEST_P(PackedPrograms, GiveTheSameResultsFromAFile) {
  const Recorded recorded(GetParam());
  const Folder folder;
  const adapters::OptimizedClient::Options keeping{.packed_cache = folder.path()};
  adapters::OptimizedClient without = recorded.client(), first = recorded.client(keeping),
                            next = recorded.client(keeping);
  const Results want = recorded.run(without);
  expect_same(recorded.run(first), want);
  expect_same(recorded.run(next), want);
  for (const hosts::ProgramCall& call : recorded.calls.calls) {
    if (!call.fails.empty()) continue;
    const auto &made = first.method(call.method), &found = next.method(call.method);
    EXPECT_FALSE(made.packed);
    ASSERT_TRUE(found.packed);
    EXPECT_EQ(found.sizes.prepared, made.sizes.prepared - (found.packed->bytes().size() - header));
    EXPECT_EQ(assay_packed_size(found.method), found.packed->bytes().size());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, PackedPrograms, testing::ValuesIn(program_folders()), name_of_folder);

// A program with the packed constants of a method.
struct Packing {
  explicit Packing(const char* name, const char* of = "forward", const std::string& set = "")
      : recorded(golden_folder() / "programs" / name),
        client(recorded.client({.testee = {.instruction_set = set}})),
        method(of),
        file(assay_packed_size(client.method(method).method)) {
    EXPECT_EQ(save(file.bytes()), "");
  }

  std::string save(std::span<std::byte> to) {
    assay_fault fault{};
    assay_packed_save(client.program(), client.method(method).method, {to.data(), to.size()}, &fault);
    return fault.rule;
  }

  Recorded recorded;
  adapters::OptimizedClient client;
  std::string method;
  sandbox::ClientMemory file;
};

Fault fault_of(const assay_fault& f, assay_outcome outcome) {
  return Fault(static_cast<Outcome>(outcome), f.rule, f.message, f.place);
}

// The fault when the file is opened. None: it is opened.
std::optional<Fault> refused(const adapters::OptimizedClient& client, std::span<const std::byte> file,
                             assay_packed* opened = nullptr) {
  assay_fault fault{};
  assay_packed packed;
  const auto outcome = assay_packed_open(client.program(), {file.data(), file.size()}, &packed, &fault);
  if (opened) *opened = packed;
  return outcome == ASSAY_OK ? std::nullopt : std::optional(fault_of(fault, outcome));
}

// The fault when a method is made with the file.
std::optional<Fault> refused(const Packing& by, const assay_packed& packed, const std::string& method,
                             assay_options options = {}) {
  assay_fault fault{};
  std::size_t bytes = 0;
  assay_method_workspace_size(by.client.program(), method.c_str(), &bytes, &fault);
  const sandbox::ClientMemory workspace(bytes);
  options.packed = &packed;
  assay_method_sizes sizes;
  const auto outcome = assay_method_size(by.client.program(), method.c_str(), &options,
                                         {workspace.bytes().data(), bytes}, &sizes, &fault);
  return outcome == ASSAY_OK ? std::nullopt : std::optional(fault_of(fault, outcome));
}

void expect_breaks(std::string_view rule, const std::optional<Fault>& fault) {
  ASSERT_TRUE(fault) << rule;
  EXPECT_EQ(fault->rule, rule);
  EXPECT_EQ(fault->outcome, find_format_rule(rule)->outcome);
  show_case(rule, "refused", *fault);
}

sandbox::ClientMemory changed(std::span<const std::byte> file, std::size_t at) {
  sandbox::ClientMemory copy(file.size());
  std::ranges::copy(file, copy.bytes().begin());
  copy.bytes()[at] ^= std::byte{1};
  return copy;
}

constexpr std::size_t identifier = 0, version = 12, layout = 24, program = 32, digest = 48;

TEST(Packed, EachRuleHasACaseThatKeepsItAndOneThatBreaksIt) {
  Packing linear("mlp"), without("comparisons");
  const auto file = linear.file.bytes();
  EXPECT_FALSE(refused(linear.client, file));
  ASSERT_EQ(without.file.bytes().size(), header);
  EXPECT_FALSE(refused(without.client, without.file.bytes()));
  expect_breaks("P1", refused(without.client, without.file.bytes().first(header - 1)));
  expect_breaks("P1", refused(linear.client, changed(file, identifier).bytes()));
  expect_breaks("P2", refused(linear.client, changed(file, version).bytes()));
  expect_breaks("P3", refused(linear.client, file.first(file.size() - 1)));
  sandbox::ClientMemory moved(file.size() + 32);
  std::ranges::copy(file, moved.bytes().subspan(32).begin());
  expect_breaks("P3", refused(linear.client, moved.bytes().subspan(32)));
  for (const std::size_t at : {layout, program, digest, header, file.size() - 1})
    expect_breaks("P4", refused(linear.client, changed(file, at).bytes()));
  expect_breaks("P5", refused(without.client, file));
}

TEST(Packed, AChangedOrMissingByteIsRefused) {
  Packing linear("mlp");
  const auto file = linear.file.bytes();
  for (std::size_t n = 0; n < file.size(); n += n < header ? 1 : 61) {
    EXPECT_TRUE(refused(linear.client, changed(file, n).bytes())) << n;
    EXPECT_TRUE(refused(linear.client, file.first(n))) << n;
  }
}

TEST(Packed, BelongToAMethodAndAnInstructionSet) {
  Packing methods("methods", "encode");
  assay_packed packed;
  ASSERT_FALSE(refused(methods.client, methods.file.bytes(), &packed));
  assay_options options{};
  options.refusals = optimized::reference_refusals();
  options.instruction_set = kernels::name_of(kernels::best_instruction_set());
  EXPECT_FALSE(refused(methods, packed, "encode", options));
  for (const std::string& other : methods.client.method_names())
    if (other != "encode") expect_breaks("P6", refused(methods, packed, other, options));
  for (const auto& set : kernels::instruction_sets) {
    if (!kernels::is_compiled(*kernels::find_instruction_set(set.name)) || set.name == options.instruction_set)
      continue;
    assay_options of_other = options;
    of_other.instruction_set = set.name;
    expect_breaks("P6", refused(methods, packed, "encode", of_other));
  }
  packed.constants.size -= 64;
  expect_breaks("P6", refused(methods, packed, "encode", options));
}

TEST(Packed, AreSavedOnlyIfTheyFit) {
  Packing linear("mlp");
  EXPECT_EQ(linear.save(linear.file.bytes().first(linear.file.bytes().size() - 1)), "V4");
}

// A file that cannot be used is made anew and replaced.
TEST(Packed, AreReplacedIfTheyBelongToAnotherMethod) {
  const Recorded recorded(golden_folder() / "programs" / "mlp");
  const Folder folder;
  const adapters::OptimizedClient::Options keeping{.packed_cache = folder.path()};
  recorded.client(keeping).method("forward");
  const fs::path file = fs::directory_iterator(folder.path())->path();
  for (const char* spoilt :
       {"", "assay packed", "something else that is longer than any header of packed constants is"}) {
    std::ofstream(file, std::ios::binary) << spoilt;
    adapters::OptimizedClient client = recorded.client(keeping), next = recorded.client(keeping);
    EXPECT_FALSE(client.method("forward").packed);
    EXPECT_TRUE(next.method("forward").packed);
  }
}

// The digests of packed constants for the version of the file. Increment the version if a digest changes and its layout
// does not.
TEST(Packed, HaveTheDigestsOfTheirVersion) {
  const std::map<std::pair<std::string, std::string>, std::string> known{
      {{"mlp", "sse4"}, "0f48ac5912aaa00f3ec279b04b76dfa9"},
      {{"mlp", "avx2"}, "3c8856edf185921e5331309826dca736"},
      {{"mlp", "avx512"}, "dbd47968a67843455376df3ca2babfc4"},
      {{"mlp", "amx"}, "d87b9bb284380ef2dfe4cee6b128e5c6"},
      {{"mobile_net", "sse4"}, "b75a8e1f9f91b133a62b252874cd2959"},
      {{"mobile_net", "avx2"}, "e33c58dc907a6fefac96f0b9ea4977f4"},
      {{"mobile_net", "avx512"}, "345ebaf9619d2367d86e5b09d5a4b0f1"},
      {{"mobile_net", "amx"}, "41d7ff75f93b405e03a31a20f3398a7b"},
  };
  for (const char* name : {"mlp", "mobile_net"})
    for (const auto& set : kernels::instruction_sets) {
      if (!kernels::is_supported(*kernels::find_instruction_set(set.name))) {
        std::cout << set.name << ": not run, as this machine lacks it\n";
        continue;
      }
      Packing packing(name, "forward", set.name);
      std::string said;
      for (const std::byte b : packing.file.bytes().subspan(digest, 16))
        said += fmt::format("{:02x}", static_cast<int>(b));
      EXPECT_EQ(said, known.at({name, set.name}));
    }
}

}  // namespace packed_test
}  // namespace assay
