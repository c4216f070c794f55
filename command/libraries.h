#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"

namespace assay {

// The folder of recorded calls: the given one, or the one that is installed with the command. Throws Fault (malformed,
// "calls.folder") if it does not exist.
std::filesystem::path golden_folder(const std::string& given);

// The folder of recorded programs beside it. Throws the same Fault.
std::filesystem::path programs_beside(const std::filesystem::path& golden);

std::filesystem::path executable_folder();  // the modules of testees are in it

// The testee of a name, in every command: "reference", "optimized", "optimized:avx2,relaxed" for an instruction set and
// arithmetic, "recorded" (PyTorch, as it is in the corpus), "executorch", "executorch:PATH" of a library that registers
// kernels, the path of a module that exports assay_kernel_library_v1, or the address of a server of the
// protocol. Throws Fault (unsupported, "testee") for a name that no testee has.
std::unique_ptr<KernelLibrary> open_library(const std::string& testee, const Corpus& corpus);

// A library; `corpus` has the recorded calls if the library is "recorded".
struct OpenLibrary {
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<KernelLibrary> library;
};
OpenLibrary open_library(const std::string& testee, const std::string& golden);

// The runtime of a testee; null if the testee only has kernels. Throws the same Fault.
std::unique_ptr<Runtime> open_runtime(const std::string& testee);
std::unique_ptr<Runtime> open_program_runner(const std::string& testee);  // Fault (invalid, "testee") instead of null
inline constexpr const char* usual_testee = "executorch";                 // the default of assay case
inline std::string unless_usual(const std::string& testee) { return testee == usual_testee ? "" : testee; }
inline constexpr const char* testee_help =
    "The testee: executorch (its official kernels), reference, optimized, optimized:avx2,relaxed (an instruction set, "
    "relaxed arithmetic), recorded (PyTorch, as it was recorded), torch (PyTorch of python3), ./lib.so (a kernel "
    "library, "
    "spec/kernel_library.md), executorch:./lib.so (kernels that register themselves with ExecuTorch's macros), "
    "python:MODULE, or a server of the protocol (spec/runtime_protocol.md): tcp:HOST:PORT, serial:DEVICE, or, at the "
    "end "
    "of the line, -- and a command";

inline constexpr const char* runtime_help =
    "The testee: executorch (its official runtime), executorch+xnnpack (with that backend), reference, optimized, "
    "optimized:avx2 (an instruction set), ./lib.so (a module that exports assay_runtime), runner:COMMAND (a program "
    "with "
    "the command line of executor_runner), results:FILE (results of assay suite), python:MODULE, or a server of the "
    "protocol (spec/runtime_protocol.md): tcp:HOST:PORT, serial:DEVICE, or, at the end of the line, -- and a command";

inline constexpr const char* runner_help =
    "The testee that runs the program: reference, optimized, optimized:avx2,relaxed (an instruction set, relaxed "
    "arithmetic), executorch (its official runtime), executorch+xnnpack (with that backend), recorded (PyTorch's "
    "kernels, as they were recorded), ./lib.so (a kernel library, spec/kernel_library.md, or a module that exports "
    "assay_runtime), python:MODULE, or a server of the protocol (spec/runtime_protocol.md): tcp:HOST:PORT, "
    "serial:DEVICE, or, at the end of the line, -- and a command";

inline constexpr const char* golden_help =
    "Folder of recorded calls; recorded programs are beside it [golden/operators of the checkout or installation]";

inline constexpr const char* timeout_help =
    "Seconds that a case or call may take: of processor time, or of the wall clock where the testee is another process "
    "or machine";

inline constexpr const char* thorough_help =
    "Make each call that is answered again with outs that are planned larger, with too little memory for them, and "
    "with its first allocations refused in turn";

// The contract of this name or file; if that is empty, the contract of the library.
Contract open_contract(const std::string& asked_for, const std::string& library);
inline constexpr const char* contract_help =
    "What the library promises: a file, or a name in conformance/data/contracts [that of the library, or everything]";

}  // namespace assay
