#include "conformance/adapters/optimized/client.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "conformance/adapters/optimized/c_value.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/refusals/refusals.h"
#include "reference/fault.h"
#include "reference/program/program.h"
#include "reference/xnnpack/undelegate.h"

#if ASSAY_XNNPACK
#include "optimized/xnnpack/threads.h"
#else
#include "conformance/adapters/optimized/pool.h"
#endif

namespace assay::adapters {
namespace {

// A file of packed constants takes at most this many bytes more than the constants themselves.
constexpr std::uintmax_t most_packed_header = 4096;

// Requires that the file is regular, because other files do not tell their size.
sandbox::ClientMemory contents(const std::filesystem::path& file) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (unknown) throw Fault(Outcome::malformed, "file", concat(file.string(), " cannot be read: ", unknown.message()));
  std::ifstream in(file, std::ios::binary);
  sandbox::ClientMemory memory(size);
  in.read(reinterpret_cast<char*>(memory.bytes().data()), static_cast<std::streamsize>(size));
  if (!in) throw Fault(Outcome::malformed, "file", concat(file.string(), " cannot be read as a whole"));
  return memory;
}

assay_bytes read_only(OptimizedClient::Bytes b) { return {b.data(), b.size()}; }
assay_memory memory_of(const sandbox::ClientMemory& m) { return {m.bytes().data(), m.bytes().size()}; }

// Calls the runtime and throws a Fault if it refuses.
template <class Ask>
void done(Ask ask) {
  assay_fault fault{};
  if (const assay_outcome outcome = ask(&fault); outcome != ASSAY_OK)
    throw Fault(static_cast<Outcome>(outcome), fault.rule, fault.message, fault.place);
}

Value copied(const assay_value& v) {
  switch (v.kind) {
    case ASSAY_INTEGER:
      return Int{v.as.integer};
    case ASSAY_REAL:
      return v.as.real;
    case ASSAY_BOOLEAN:
      return v.as.boolean;
    case ASSAY_STRING:
      return std::string(v.as.string.text, v.as.string.length);
    case ASSAY_TENSOR: {
      const assay_tensor& t = v.as.tensor;
      Dims sizes, order;
      for (std::size_t d = 0; d < t.rank; ++d) sizes.push_back(t.sizes[d]), order.push_back(t.dim_order[d]);
      Tensor tensor{*dtype_numbered(t.dtype), sizes, order, {}};
      const auto* bytes = static_cast<const std::byte*>(t.data);
      if (bytes) tensor.bytes.assign(bytes, bytes + count(sizes) * info(tensor.dtype).bytes);
      return tensor;
    }
    case ASSAY_NONE:
      break;
  }
  return {};
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> memories(const assay_method_sizes& sizes) {
  return {{"prepared", sizes.prepared}, {"arena", sizes.arena}, {"shared", sizes.shared}, {"scratch", sizes.scratch}};
}

OptimizedClient::OptimizedClient(Bytes program, std::span<const Bytes> data, const Options& options) {
  open(program, data, options);
}

OptimizedClient::OptimizedClient(const std::filesystem::path& program, const std::vector<std::filesystem::path>& data,
                                 const Options& options) {
  std::vector<Bytes> all;
  for (const std::filesystem::path& file : data) all.push_back(files_.emplace_back(contents(file)).bytes());
  sandbox::ClientMemory file = contents(program);
  if (open(file.bytes(), all, options)) files_.push_back(std::move(file));
}

// The undelegated program. Returns nothing if the program has no payloads, or breaks a rule: the runtime itself refuses
// it then.
std::optional<sandbox::ClientMemory> OptimizedClient::without_payloads(Bytes program,
                                                                       std::span<const Bytes> data) const {
  const Budget budget = budget_.value_or(Budget());
  const Budget::Scope scope(budget, "a program");
  auto opened = open_program(borrowed(program));
  if (!opened || !xnnpack::has_payloads(*opened)) return {};
  std::vector<NamedDataFile> files;
  for (const Bytes file : data)
    if (auto file_opened = open_data(borrowed(file)))
      files.push_back(std::move(*file_opened));
    else
      return {};
  const auto valid = validate(std::move(*opened), std::move(files));
  if (!valid) return {};
  const xnnpack::Undelegated plain(*valid, xnnpack::Form::folded, budget);
  sandbox::ClientMemory file(plain.size());
  plain.write(file.bytes());
  return file;
}

bool OptimizedClient::open(Bytes program, std::span<const Bytes> data, const Options& options) {
  options_.as_written = options.as_written, options_.share_arenas = options.share_arenas;
  options_.least_share = options.least_share, options_.instructions = options.instructions;
  testee_ = options.testee, packed_cache_ = options.packed_cache, budget_ = options.budget;
  if (!testee_.instruction_set.empty()) options_.instruction_set = testee_.instruction_set.c_str();
  options_.relaxed = testee_.relaxed;
  options_.threads = options.threads, options_.run = options.run;
  if (options.threads > 1 && !options.run) begin_pool(options.threads);
  if (!options.deployable) options_.refusals = optimized::reference_refusals();
  auto plain = without_payloads(program, data);
  if (plain) program = files_.emplace_back(std::move(*plain)).bytes();
  std::vector<assay_bytes> files;
  for (const Bytes file : data) files.push_back(read_only(file));
  assay_program_sizes sizes;
  done([&](auto* f) { return assay_program_size(read_only(program), files.data(), files.size(), &sizes, f); });
  const sandbox::ClientMemory workspace = memory(sizes.workspace);
  memory_ = memory(sizes.program);
  done([&](auto* f) {
    return assay_program_open(read_only(program), files.data(), files.size(), memory_of(*memory_), memory_of(workspace),
                              &program_, f);
  });
  return !plain;
}

void OptimizedClient::begin_pool(std::size_t threads) {
#if ASSAY_XNNPACK  // XNNPACK's operators accept only a pthreadpool
  pool_.reset(pthreadpool_create(threads), pthreadpool_destroy);
  options_.run = optimized::run_on_pthreadpool;
#else
  pool_ = std::make_shared<Pool>(threads);
  options_.run = Pool::run;
#endif
  options_.pool = pool_.get();
}

OptimizedClient::~OptimizedClient() {
  for (const auto& [name, made] : methods_) assay_method_end(made.method);
}

std::string OptimizedClient::default_method() const {
  const auto names = method_names();
  return names.size() == 1 ? names.front() : "forward";
}

std::vector<std::string> OptimizedClient::method_names() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < assay_method_count(program_); ++i) {
    std::size_t length = 0;
    const char* name = assay_method_name(program_, i, &length);
    all.emplace_back(name, length);
  }
  return all;
}

sandbox::ClientMemory OptimizedClient::memory(std::size_t bytes) const {
  return sandbox::ClientMemory(bytes, budget_, "the runtime");
}

// Fault G3: the program has no such method.
void OptimizedClient::expect_method(const std::string& name) const {
  const auto names = method_names();
  if (std::ranges::find(names, name) != names.end()) return;
  throw no_method(name, std::vector<std::string_view>(names.begin(), names.end()));
}

sandbox::ClientMemory OptimizedClient::workspace(const std::string& method) const {
  expect_method(method);
  std::size_t bytes = 0;
  done([&](auto* f) { return assay_method_workspace_size(program_, method.c_str(), &bytes, f); });
  return memory(bytes);
}

assay_method_sizes OptimizedClient::sizes(const std::string& method, const assay_options& options,
                                          const sandbox::ClientMemory& workspace) const {
  assay_method_sizes sizes;
  done([&](auto* f) { return assay_method_size(program_, method.c_str(), &options, memory_of(workspace), &sizes, f); });
  return sizes;
}

assay_method_sizes OptimizedClient::sizes(const std::string& name) const {
  return sizes(name, options_, workspace(name));
}

OptimizedClient::Method OptimizedClient::make(const std::string& name, const assay_options& options,
                                              const sandbox::ClientMemory& work) {
  const assay_method_sizes sizes = this->sizes(name, options, work);
  if (!shared_) {
    shared_ = memory(sizes.shared);
    std::memset(shared_->bytes().data(), 0, sizes.shared);
  }
  Method made{sizes, memory(sizes.prepared), memory(sizes.arena), memory(sizes.scratch), nullptr};
  const assay_method_memories memories{memory_of(work), memory_of(made.prepared), memory_of(made.arena),
                                       memory_of(*shared_), memory_of(made.scratch)};
  done([&](auto* f) { return assay_method_make(program_, name.c_str(), &options, &memories, &made.method, f); });
  return made;
}

// The file is named after the method's index, because a method's name may contain any character.
std::filesystem::path OptimizedClient::packed_file(const std::string& method) const {
  const auto names = method_names();
  const auto place = std::ranges::find(names, method) - names.begin();
  const std::string& name = testee_.instruction_set;
  const auto set = name.empty() ? kernels::best_instruction_set() : kernels::find_instruction_set(name);
  return packed_cache_ / concat(place, ".", kernels::name_of(set), testee_.relaxed ? ".relaxed" : "", ".packed");
}

// Returns nothing if there are no packed constants yet, or the runtime would now pack them differently.
std::optional<OptimizedClient::Method> OptimizedClient::make_with_kept(const std::string& method,
                                                                       const sandbox::ClientMemory& work) {
  const auto file = packed_file(method);
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(file, missing);
  if (missing || size > most_packed_header + sizes(method, options_, work).prepared) return {};
  sandbox::ClientMemory kept = contents(file);
  assay_packed packed;
  if (assay_packed_open(program_, {kept.bytes().data(), kept.bytes().size()}, &packed, nullptr) != ASSAY_OK) return {};
  assay_options options = options_;
  options.packed = &packed;
  assay_method_sizes sizes;
  if (assay_method_size(program_, method.c_str(), &options, memory_of(work), &sizes, nullptr) != ASSAY_OK) return {};
  Method made = make(method, options, work);
  made.packed = std::move(kept);
  return made;
}

// Writes the whole file or none, even if several processes write it at once.
void OptimizedClient::keep_packed(const std::string& method, const Method& made) const {
  const sandbox::ClientMemory file(assay_packed_size(made.method));
  done([&](auto* f) { return assay_packed_save(program_, made.method, memory_of(file), f); });
  std::error_code failed;
  std::filesystem::create_directories(packed_cache_, failed);
  const auto to = packed_file(method);
  auto part = to;
  part += concat(".", getpid());
  std::ofstream out(part, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.bytes().data()), static_cast<std::streamsize>(file.bytes().size()));
  out.close();
  if (out) std::filesystem::rename(part, to, failed);
  if (out && !failed) return;
  std::filesystem::remove(part, failed);
  throw Fault(Outcome::exhausted, "packed", concat("packed constants cannot be written to ", to.string()));
}

const OptimizedClient::Method& OptimizedClient::method(const std::string& name) {
  if (const auto found = methods_.find(name); found != methods_.end()) return found->second;
  const sandbox::ClientMemory work = workspace(name);
  std::optional<Method> made;
  if (!packed_cache_.empty()) made = make_with_kept(name, work);
  if (!made) {
    made = make(name, options_, work);
    if (!packed_cache_.empty()) keep_packed(name, *made);
  }
  return methods_.emplace(name, std::move(*made)).first->second;
}

std::vector<Value> OptimizedClient::call(const std::string& name, std::span<const Value> inputs) {
  const Method& made = method(name);
  if (const std::size_t wanted = assay_input_count(made.method); inputs.size() != wanted)
    throw Fault(Outcome::invalid, "R4", concat("the method wants ", wanted, " inputs, but ", inputs.size(), " came"));
  for (std::size_t i = 0; i < inputs.size(); ++i) set_input(made, i, inputs[i]);
  execute(made);
  return outputs(made);
}

void OptimizedClient::set_input(const Method& method, std::size_t i, const Value& value) {
  const CValue given(value);
  done([&](auto* f) { return assay_set_input(method.method, i, &given.value, f); });
}

void OptimizedClient::execute(const Method& method) {
  done([&](auto* f) { return assay_execute(method.method, f); });
}

std::vector<Value> OptimizedClient::outputs(const Method& method) {
  std::vector<Value> all;
  for (std::size_t i = 0; i < assay_output_count(method.method); ++i) {
    assay_value value;
    assay_output(method.method, i, &value);
    all.push_back(copied(value));
  }
  return all;
}

}  // namespace assay::adapters
