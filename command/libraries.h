#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/testee/engine.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"

namespace assay {

// The folder of recorded calls: the given one, or the one that is installed with the command. Throws Fault (malformed,
// "calls.folder") if it does not exist.
std::filesystem::path golden_folder(const std::string& given);

// The folder of recorded programs beside the folder of recorded calls. Throws the same Fault.
std::filesystem::path programs_beside(const std::filesystem::path& golden);

std::filesystem::path executable_folder();  // the modules of testees are in it

// The testee of that name, of a kind in the table of libraries.cpp, as a library of kernels. `corpus` must outlive it.
// Throws Fault with rule "testee" if there is no such testee or it has no kernels.
std::unique_ptr<KernelLibrary> open_library(const std::string& testee, const Corpus& corpus);

// A library, and the recorded calls if it answers from them.
struct OpenLibrary {
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<KernelLibrary> library;
};
OpenLibrary open_library(const std::string& testee, const std::string& golden);

// The testee as a runtime, or null if it only has kernels. Throws the same Fault.
std::unique_ptr<Runtime> open_runtime(const std::string& testee);
std::unique_ptr<Runtime> open_program_runner(
    const std::string& testee);  // Throws Fault (invalid, "testee") in place of returning null.

// The testee as an engine that is timed. Throws the same Fault.
std::unique_ptr<Engine> open_engine(const std::string& testee);

inline constexpr const char* usual_testee = "executorch";  // the default testee of `assay case`
inline std::string unless_usual(const std::string& testee) { return testee == usual_testee ? "" : testee; }

// Sentences for the argument TESTEE in --help. Each names the kinds of testees that answer calls of operators, run
// programs, do either, or are timed.
extern const std::string testee_help, runtime_help, runner_help, engine_help;

// The kinds of testees as a shell completes them: whole names, and prefixes.
std::vector<std::string> testee_words();

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
