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

namespace assay::command {

// The folder of recorded calls: the given one, or the one that is installed with the command. Throws Fault (malformed,
// "calls.folder") if it does not exist.
std::filesystem::path golden_folder(const std::string& given);

// The folder of recorded programs beside the folder of recorded calls. Throws the same Fault.
std::filesystem::path programs_beside(const std::filesystem::path& golden);

std::filesystem::path executable_folder();  // the modules of testees are in it

// The testee of that name, of a kind in the table of libraries.cpp, as a library of kernels. `corpus` must outlive it.
// Throws Fault with rule "testee" if there is no such testee or it has no kernels.
std::unique_ptr<testee::KernelLibrary> open_library(const std::string& testee, const cases::Corpus& corpus);

// A library, and the recorded calls if it answers from them.
struct OpenLibrary {
  std::unique_ptr<cases::Corpus> corpus;
  std::unique_ptr<testee::KernelLibrary> library;
};
OpenLibrary open_library(const std::string& testee, const std::string& golden);

// The testee as a runtime, or null if it only has kernels. Throws the same Fault.
std::unique_ptr<testee::Runtime> open_runtime(const std::string& testee);
// The same, but throws Fault (invalid, "testee") in place of returning null.
std::unique_ptr<testee::Runtime> open_program_runner(const std::string& testee);

// The testee as an engine that is timed. Throws the same Fault.
std::unique_ptr<testee::Engine> open_engine(const std::string& testee);

inline constexpr const char* usual_testee = "executorch";  // the default testee of `assay case`
inline std::string unless_usual(const std::string& testee) { return testee == usual_testee ? "" : testee; }

// The help of an argument that names a testee that answers calls of operators, a testee that runs programs, a testee
// that does either, or an engine that is timed.
inline constexpr const char* testee_help = "The testee that answers the calls; the kinds of testees are listed below";
inline constexpr const char* runtime_help = "The testee that runs the programs; the kinds of testees are listed below";
inline constexpr const char* runner_help = "Runs the program on TESTEE; the kinds of testees are listed below";
inline constexpr const char* engine_help = "Times ENGINE; the engines are listed below";

// The lists of these kinds, for the end of the help.
extern const std::string testee_kinds, runtime_kinds, runner_kinds, engine_kinds;

// The kinds of testees as a shell completes them: whole names, and prefixes.
std::vector<std::string> testee_words();

inline constexpr const char* golden_help =
    "Reads the recorded calls in FOLDER and the recorded programs in FOLDER/../programs; default: golden/operators of "
    "the checkout or the installation";

inline constexpr const char* timeout_help =
    "Stops each case (in assay run: each call) after SECONDS of processor time; if the testee runs in another "
    "program or on another machine, SECONDS is wall-clock time";

inline constexpr const char* thorough_help =
    "Repeats each successful call under harder conditions: once with larger outs, once with outs that have too little "
    "memory, and up to eight times with one of its allocations refused";

// The contract of this name or file; if that is empty, the contract of the library.
contract::Contract open_contract(const std::string& asked_for, const std::string& library);
inline constexpr const char* contract_help =
    "Judges by CONTRACT, which is the path of a file or a name in conformance/data/contracts; default: the contract "
    "that has the name of the testee or, if no contract has this name, the contract 'everything', which promises all "
    "calls";

}  // namespace assay::command
