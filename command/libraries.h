#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"

namespace assay {

// The folder of recorded calls: the given one, else that which belongs to the command. Throws Fault (malformed,
// "calls.folder") where there is none.
std::filesystem::path golden_folder(const std::string& given);

// That of recorded programs beside it. Throws Fault likewise.
std::filesystem::path programs_beside(const std::filesystem::path& golden);

std::filesystem::path executable_folder();  // in which the modules of testees are

// Who answers, in every command: "reference", "optimized", "optimized:avx2,relaxed" for an instruction set and
// arithmetic, "recorded" (PyTorch, as it is in the corpus), "executorch", "executorch:PATH" of a library that registers
// kernels, the path of a module that exports assay_kernel_library_v1, or the address of an end that speaks the
// protocol. Throws Fault (unsupported, "testee") for those that do not exist yet.
std::unique_ptr<KernelLibrary> open_library(const std::string& testee, const Corpus& corpus);

// A library, and the recorded calls where it is these.
struct OpenLibrary {
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<KernelLibrary> library;
};
OpenLibrary open_library(const std::string& testee, const std::string& golden);

// The runtime of a testee; null where it has kernels alone. Throws Fault likewise.
std::unique_ptr<Runtime> open_runtime(const std::string& testee);
std::unique_ptr<Runtime> open_program_runner(const std::string& testee);  // Fault (invalid, "testee") instead of null
inline constexpr const char* usual_testee = "executorch";                 // of assay case
inline std::string unless_usual(const std::string& testee) { return testee == usual_testee ? "" : testee; }
inline constexpr const char* testee_help =
    "Who answers: executorch (its official kernels), reference, optimized, optimized:avx2,relaxed (for an instruction "
    "set, in relaxed arithmetic), "
    "recorded (PyTorch, as it was recorded), torch (PyTorch, live, as python3 has it), ./lib.so, a library of yours "
    "(spec/kernel_library.md), executorch:./lib.so, one that registers its kernels with ExecuTorch's macros, "
    "python:MODULE, or who speaks the "
    "protocol (spec/runtime_protocol.md): tcp:HOST:PORT, serial:DEVICE, or -- and a command, at the end of the line";

inline constexpr const char* runtime_help =
    "Who runs programs: executorch (its official runtime), executorch+xnnpack (with that backend), reference, "
    "optimized, optimized:avx2 (for an instruction "
    "set), a module ./lib.so that exports assay_runtime, runner:COMMAND, one with the command line of executor_runner, "
    "results:FILE of assay suite, python:MODULE, or who speaks the protocol "
    "(spec/runtime_protocol.md): tcp:HOST:PORT, serial:DEVICE, or -- and a command, at the end of the line";

inline constexpr const char* runner_help =
    "Who runs it: reference, optimized, optimized:avx2,relaxed (for an instruction set, in relaxed arithmetic), "
    "executorch (its official runtime), executorch+xnnpack (with that backend), "
    "recorded (PyTorch's kernels, as they were recorded), ./lib.so, a library of kernels "
    "(spec/kernel_library.md) or a module that exports assay_runtime, python:MODULE, or who speaks the protocol "
    "(spec/runtime_protocol.md): tcp:HOST:PORT, serial:DEVICE, or -- and a command, at the end of the line";

inline constexpr const char* golden_help =
    "Folder of recorded calls; recorded programs are beside it [golden/operators of the checkout or installation]";

inline constexpr const char* timeout_help =
    "Seconds that a case or call may take: of processor time, or of the wall clock where the testee is another process "
    "or machine";

inline constexpr const char* thorough_help =
    "Make each call that is answered again with outs that are planned larger, with too little memory for them, and "
    "with its first allocations refused in turn";

// The contract that is asked for by name or file, or, where none is, that of the library.
Contract open_contract(const std::string& asked_for, const std::string& library);
inline constexpr const char* contract_help =
    "What the library promises: a file, or a name in conformance/data/contracts [that of the library, or everything]";

}  // namespace assay
