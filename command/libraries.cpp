#include "command/libraries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "bench/engines.h"
#include "conformance/adapters/load.h"
#include "conformance/adapters/optimized/library.h"
#include "conformance/adapters/optimized/runtime.h"
#include "conformance/adapters/reference_library.h"
#include "conformance/adapters/registered.h"
#include "conformance/cases/recorded_eager.h"
#include "conformance/contract/read_contract.h"
#include "conformance/hosts/backend_runtime.h"
#include "conformance/hosts/command_runtime.h"
#include "conformance/hosts/reference_runtime.h"
#include "conformance/scenarios/results.h"
#include "conformance/testee/data_folder.h"
#include "conformance/testee/no_testee.h"
#include "conformance/wire/remote.h"
#include "reference/fault.h"

namespace assay::command {
namespace {

// The testee that a command names.
struct Asked {
  std::string_view name;                  // all of it
  std::string_view value;                 // what follows the prefix
  const cases::Corpus* corpus = nullptr;  // the recorded calls, for a library
};

using LibraryMaker = std::unique_ptr<testee::KernelLibrary> (*)(const Asked&);
using RuntimeMaker = std::unique_ptr<testee::Runtime> (*)(const Asked&);
using EngineMaker = std::unique_ptr<testee::Engine> (*)(const Asked&);

// A kind of testee. A maker is null where testees of the kind have no kernels, run no programs, or are not timed.
struct TesteeKind {
  std::string_view prefix;  // the name, or where there is a value, what it begins with
  std::string_view value;   // what follows the prefix
  std::string_view about;
  LibraryMaker library;
  RuntimeMaker runtime;
  EngineMaker engine;
  bool reads_recorded_calls = false;
};

// -- makers -----------------------------------------------------------------------------------------------------------

std::unique_ptr<testee::KernelLibrary> optimized_library(const Asked& a) {
  return std::make_unique<adapters::OptimizedLibrary>(adapters::OptimizedLibrary::Operands::constant, true,
                                                      *adapters::optimized_for(a.name));
}
std::unique_ptr<testee::Runtime> optimized_runtime(const Asked& a) {
  return adapters::make_optimized_runtime(*adapters::optimized_for(a.name));
}
std::unique_ptr<testee::Engine> optimized_engine(const Asked& a) {
  return bench::make_optimized(*adapters::optimized_for(a.name));
}

std::unique_ptr<testee::KernelLibrary> executorch_library(const Asked&) {
  return adapters::load_executorch_library(executable_folder());
}
template <adapters::Xnnpack xnnpack>
std::unique_ptr<testee::Runtime> executorch_runtime(const Asked&) {
  return adapters::load_executorch_runtime(executable_folder(), xnnpack);
}
// "./lib.so" or "./lib.so=ID". With an ID, this backend also gets the payloads of XNNPACK.
std::unique_ptr<testee::Runtime> backend_runtime(const Asked& a) {
  const std::size_t equals = a.value.rfind('=');
  const bool has_id = equals != a.value.npos && a.value.find('/', equals) == a.value.npos;
  const std::filesystem::path file = a.value.substr(0, has_id ? equals : a.value.npos);
  return hosts::make_backend_runtime(a.name, file, has_id ? a.value.substr(equals + 1) : "");
}
std::unique_ptr<testee::Engine> executorch_engine(const Asked&) {
  return adapters::load_executorch_engine(executable_folder());
}

template <wire::Address (*address)(std::string_view)>
std::unique_ptr<testee::KernelLibrary> remote_library(const Asked& a) {
  return wire::make_remote_library(address(a.value));
}
template <wire::Address (*address)(std::string_view)>
std::unique_ptr<testee::Runtime> remote_runtime(const Asked& a) {
  return wire::make_remote_runtime(address(a.value));
}
template <wire::Address (*address)(std::string_view)>
std::unique_ptr<testee::Engine> remote_engine(const Asked& a) {
  return bench::make_remote(address(a.value));
}
wire::Address torch_address(std::string_view) { return wire::python_address("torch_kernels"); }
wire::Address llm_address(std::string_view) { return wire::python_address("executorch_llm"); }

// -- the table --------------------------------------------------------------------------------------------------------

constexpr LibraryMaker no_kernels = nullptr;
constexpr RuntimeMaker no_programs = nullptr;
constexpr EngineMaker not_timed = nullptr;

constexpr std::array kinds{
    TesteeKind{"executorch", "", "ExecuTorch's official kernels and runtime", executorch_library,
               executorch_runtime<adapters::Xnnpack::no>, executorch_engine},
    TesteeKind{"executorch+xnnpack", "", "ExecuTorch's official runtime with XNNPACK", no_kernels,
               executorch_runtime<adapters::Xnnpack::yes>, executorch_engine},
    TesteeKind{"executorch+llm", "", "ExecuTorch's official kernels for language models; python3 must import torch",
               remote_library<llm_address>, no_programs, not_timed},
    TesteeKind{"executorch:", "./lib.so", "a shared library that registers kernels with ExecuTorch's macros",
               [](const Asked& a) { return adapters::load_registered(std::string(a.name), a.value); }, no_programs,
               not_timed},
    TesteeKind{"backend:", "./lib.so[=ID]",
               "a shared library that registers backends with ExecuTorch; they execute the delegates of their ids, and "
               "the backend ID also executes those of XNNPACK",
               no_kernels, backend_runtime, not_timed},
    TesteeKind{"reference", "", "assay's reference implementation",
               [](const Asked&) -> std::unique_ptr<testee::KernelLibrary> {
                 return std::make_unique<adapters::ReferenceLibrary>();
               },
               [](const Asked&) { return hosts::make_reference_runtime(); },
               [](const Asked&) { return bench::make_reference(); }},
    TesteeKind{"optimized", "", "assay's optimized runtime", optimized_library, optimized_runtime, optimized_engine},
    TesteeKind{"optimized:", "avx2,relaxed",
               "the optimized runtime with an instruction set, relaxed arithmetic (spec/numerics.md), or both",
               optimized_library, optimized_runtime, optimized_engine},
    TesteeKind{"recorded", "", "the recorded results of eager PyTorch",
               [](const Asked& a) -> std::unique_ptr<testee::KernelLibrary> {
                 return std::make_unique<cases::RecordedEager>(*a.corpus);
               },
               no_programs, not_timed, true},
    TesteeKind{"torch", "", "eager PyTorch, in the version that python3 imports", remote_library<torch_address>,
               remote_runtime<torch_address>, not_timed},
    TesteeKind{"onnxruntime", "", "ONNX Runtime, from the file libonnxruntime.so in the folder of the command assay",
               no_kernels, no_programs,
               [](const Asked&) { return bench::make_onnxruntime(executable_folder() / "libonnxruntime.so"); }},
    TesteeKind{"python:", "MODULE",
               "a Python module with kernels on numpy arrays, or with a function that loads programs",
               remote_library<wire::python_address>, remote_runtime<wire::python_address>,
               remote_engine<wire::python_address>},
    TesteeKind{"tcp:", "HOST:PORT", "a server of the wire protocol at this TCP address",
               remote_library<wire::tcp_address>, remote_runtime<wire::tcp_address>, remote_engine<wire::tcp_address>},
    TesteeKind{"serial:", "DEVICE:BAUD", "a server of the wire protocol on a serial line; :BAUD may be left out",
               remote_library<wire::serial_address>, remote_runtime<wire::serial_address>,
               remote_engine<wire::serial_address>},
    TesteeKind{"runner:", "COMMAND", "a command that takes the same options as ExecuTorch's executor_runner",
               no_kernels, [](const Asked& a) { return hosts::make_command_runtime(a.value); }, not_timed},
    TesteeKind{"results:", "FILE", "a file in which a runtime wrote its results for the cases of assay suite",
               no_kernels, [](const Asked& a) { return scenarios::make_results(a.value); }, not_timed},
    TesteeKind{"-- ", "CMD",
               "a command that is a server of the wire protocol on its standard input and output; write it last",
               remote_library<wire::command_address>, remote_runtime<wire::command_address>,
               remote_engine<wire::command_address>},
    TesteeKind{"", "./lib.so", "a shared library that exports assay_kernel_library_v1, assay_runtime or assay_engine",
               [](const Asked& a) { return adapters::load_library(a.name, a.name); },
               [](const Asked& a) { return adapters::load_runtime(a.name, a.name); },
               [](const Asked& a) { return adapters::load_engine(a.name, a.name); }},
};

// -- lists of kinds ---------------------------------------------------------------------------------------------------

std::string shown(const TesteeKind& kind) { return concat(kind.prefix, kind.value); }

template <class Is>
std::vector<TesteeKind> chosen(Is is) {
  std::vector<TesteeKind> all;
  std::ranges::copy_if(kinds, std::back_inserter(all), is);
  return all;
}

// "a, b or c": the names of the kinds for which `is` holds.
template <class Is>
std::string listed(Is is) {
  std::vector<std::string> all;
  for (const TesteeKind& kind : chosen(is)) all.push_back(shown(kind));
  const std::string last = concat(" or ", all.back());
  all.pop_back();
  return fmt::format("{}{}", fmt::join(all, ", "), last);
}

// One line for each kind for which `is` holds.
template <class Is>
std::string list(std::string_view title, Is is) {
  std::string all = concat(title, ":");
  for (const TesteeKind& kind : chosen(is)) all += fmt::format("\n  {:<22} {}", shown(kind), kind.about);
  return all;
}

const std::string where_defined =
    "\nspec/runtime_protocol.md defines the wire protocol, and spec/kernel_library.md defines assay_kernel_library_v1.";

// -- finding ----------------------------------------------------------------------------------------------------------

bool is_named(const TesteeKind& kind, std::string_view testee) {
  if (kind.prefix.empty()) return testee.find('/') != std::string_view::npos;
  return kind.value.empty() ? testee == kind.prefix : testee.starts_with(kind.prefix);
}

const TesteeKind& kind_of(std::string_view testee) {
  for (const TesteeKind& kind : kinds)
    if (is_named(kind, testee)) return kind;
  testee::no_testee("there is no testee \"", testee, "\": known are ", listed([](const TesteeKind&) { return true; }));
}

Asked asked(const TesteeKind& kind, std::string_view testee, const cases::Corpus* corpus = nullptr) {
  return {testee, testee.substr(kind.prefix.size()), corpus};
}

std::unique_ptr<testee::KernelLibrary> make_library(std::string_view name, const cases::Corpus* corpus) {
  const TesteeKind& kind = kind_of(name);
  if (kind.library) return kind.library(asked(kind, name, corpus));
  if (!kind.runtime) testee::no_testee(name, " is only timed, by assay bench");
  throw Fault(Outcome::unsupported, "testee", concat(name, " runs programs alone: assay runtime judges it"));
}

}  // namespace

const std::string testee_kinds =
    list("Testees that answer calls", [](const TesteeKind& kind) { return kind.library != nullptr; }) + where_defined;
const std::string runtime_kinds =
    list("Testees that run programs", [](const TesteeKind& kind) { return kind.runtime != nullptr; }) + where_defined;
const std::string runner_kinds =
    list("Testees", [](const TesteeKind& kind) { return kind.library != nullptr || kind.runtime != nullptr; }) +
    where_defined;
const std::string engine_kinds = list("Engines", [](const TesteeKind& kind) { return kind.engine != nullptr; });

std::vector<std::string> testee_words() {
  std::vector<std::string> all;
  for (const TesteeKind& kind : kinds)
    if (!kind.prefix.empty() && !kind.prefix.starts_with('-')) all.emplace_back(kind.prefix);
  return all;
}

std::filesystem::path executable_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::filesystem::path golden_folder(const std::string& given) {
  return given.empty() ? testee::folder_of("golden/operators", "calls.folder") : std::filesystem::path(given);
}

std::filesystem::path programs_beside(const std::filesystem::path& golden) {
  std::filesystem::path folder = golden / ".." / "programs";
  if (std::filesystem::is_directory(folder)) return folder.lexically_normal();
  throw Fault(Outcome::malformed, "calls.folder",
              concat("there is no folder of recorded programs beside ", golden.string()));
}

std::unique_ptr<testee::KernelLibrary> open_library(const std::string& name, const cases::Corpus& corpus) {
  return make_library(name, &corpus);
}

OpenLibrary open_library(const std::string& name, const std::string& golden) {
  auto corpus = kind_of(name).reads_recorded_calls ? std::make_unique<cases::Corpus>(golden_folder(golden)) : nullptr;
  auto library = make_library(name, corpus.get());
  return {std::move(corpus), std::move(library)};
}

std::unique_ptr<testee::Runtime> open_runtime(const std::string& name) {
  const TesteeKind& kind = kind_of(name);
  return kind.runtime ? kind.runtime(asked(kind, name)) : nullptr;
}

std::unique_ptr<testee::Engine> open_engine(const std::string& name) {
  const TesteeKind& kind = kind_of(name);
  if (kind.engine) return kind.engine(asked(kind, name));
  testee::no_testee(name, " is not timed: assay bench times ",
                    listed([](const TesteeKind& kind) { return kind.engine != nullptr; }));
}

std::unique_ptr<testee::Runtime> open_program_runner(const std::string& name) {
  if (auto runtime = open_runtime(name)) return runtime;
  testee::no_testee(name, " runs no programs: assay kernels judges what it has");
}

contract::Contract open_contract(const std::string& asked_for, const std::string& library) {
  return asked_for.empty() ? contract::contract_of(library) : contract::read_contract(asked_for);
}

}  // namespace assay::command
