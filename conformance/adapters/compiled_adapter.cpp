#include "conformance/adapters/compiled_adapter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

#include "conformance/testee/binaries.h"
#include "conformance/testee/data_folder.h"
#include "conformance/testee/no_testee.h"
#include "conformance/text/digest.h"
#include "reference/fault.h"

namespace assay::adapters {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char *runtime = "libexecutorch.so", *package_variable = "ASSAY_EXECUTORCH";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Null if the library cannot be opened; then `why` has the reason.
void* open_library(const fs::path& library, int visibility, std::string& why) {
  void* const opened = dlopen(fs::absolute(library).c_str(), RTLD_NOW | visibility);
  if (!opened) why = dlerror();
  return opened;
}

// -- the package --------------------------------------------------------------------------------------------------

std::string imported_by_python() {
  constexpr const char* ask =
      "python3 -c 'from importlib.util import find_spec as f; print(f(\"executorch\").submodule_search_locations[0])' "
      "2>/dev/null";
  const auto close = [](std::FILE* f) { pclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> said(popen(ask, "r"), close);
  std::string line(4096, '\0');
  if (!said || !std::fgets(line.data(), static_cast<int>(line.size()), said.get())) return {};
  return line.substr(0, line.find('\n'));
}

bool is_package(const fs::path& folder) {
  return fs::is_regular_file(folder / "lib" / runtime) && fs::is_directory(folder / "include" / "executorch");
}

// Finds the ExecuTorch package. `why_not` is the reason why the library itself could not be loaded.
fs::path package_of(const std::string& testee, const std::string& why_not) {
  if (const fs::path loaded = testee::loaded_file(runtime); !loaded.empty()) {
    const fs::path folder = fs::canonical(loaded).parent_path().parent_path();
    if (is_package(folder)) return folder;
    testee::no_testee("the testee ", testee, " loads ", loaded.string(),
                      ", beside which ../include/executorch is missing");
  }
  const std::string named = variable(package_variable), imported = named.empty() ? imported_by_python() : "";
  if (!named.empty() && !is_package(named))
    testee::no_testee(package_variable, " is ", named, ", where lib/", runtime, " or include/executorch is missing");
  if (!named.empty() || is_package(imported)) return fs::canonical(named.empty() ? imported : named);
  testee::no_testee("the testee ", testee, " needs the ExecuTorch package that it is built with, but ",
                    why_not.empty() ? concat("loads no ", runtime) : why_not, ", ", package_variable,
                    " names no folder of one, and python3 imports none");
}

// The version in the package's version.py.
std::string version_of(const fs::path& package) {
  std::istringstream lines(text_of_file(package / "version.py"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("__version__"))
      if (const auto first = line.find('"'); first != line.npos)
        return line.substr(first + 1, line.rfind('"') - first - 1);
  return "unknown";
}

// -- its adapter --------------------------------------------------------------------------------------------------

fs::path cache() {
  const std::string own = variable("XDG_CACHE_HOME"), home = variable("HOME");
  return (own.empty() ? home.empty() ? fs::temp_directory_path() : fs::path(home) / ".cache" : fs::path(own)) / "assay";
}

Words compiler() {
  std::istringstream words(variable("CXX"));
  Words all{std::istream_iterator<std::string>(words), {}};
  return all.empty() ? Words{"c++"} : all;
}

// The command that compiles the adapter's sources. The caller adds `-o` and the module's name.
Words command_for(const fs::path& room, const Words& sources, const fs::path& package) {
  const fs::path root = (room / "../../..").lexically_normal(), include = package / "include";
  Words words = compiler();
  const auto add = [&](const auto&... parts) { words.push_back(concat(parts...)); };
  for (const char* option : {"-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-w"}) add(option);
  // The package's libraries are built with these definitions. Without them, class layouts differ.
  for (const char* option : {"-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED"}) add(option);
  add("-DASSAY_EXECUTORCH_VERSION=\"", version_of(package), '"');
  add("-I", root.string());
  // The folders of the kernel library's header, in a checkout and in an installation.
  add("-I", (root / "conformance/api").string()), add("-I", (root / "../../include/assay").lexically_normal().string());
  add("-I", include.string()), add("-I", (include / "executorch/runtime/core/portable_type/c10").string());
  for (const std::string& source : sources) add((room / source).string());
  add("-Wl,--no-as-needed,-rpath,", (package / "lib").string());
  for (const char* library : {runtime, "libexecutorch_threadpool.so"})
    if (fs::exists(package / "lib" / library)) add((package / "lib" / library).string());
  return words;
}

// Runs a command with its output in the file `said` and returns the exit code. Throws std::system_error if the command
// does not exist.
int run(const Words& words, const fs::path& said) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::system_error(error, std::generic_category());
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void compile(const std::string& testee, Words words, const fs::path& module) {
  const fs::path part = concat(module.string(), '.', getpid()), said = concat(part.string(), ".log");
  words.insert(words.end(), {"-o", part.string()});
  try {
    if (run(words, said) != 0) {
      std::istringstream lines(text_of_file(said));
      std::string first, line;
      while (std::getline(lines, line))
        if (first.empty() || (first.find("error") == first.npos && line.find("error") != line.npos)) first = line;
      testee::no_testee("the adapter that the testee ", testee, " needs cannot be compiled: ", first,
                        " (all of it: ", said.string(), ')');
    }
  } catch (const std::system_error& e) {
    testee::no_testee("the testee ", testee, " needs a C++ compiler on first use, but ", words[0], ": ",
                      e.code().message(), "; CXX names another");
  }
  fs::rename(part, module);
  fs::remove(said);
}

// The adapter module. Its name holds a digest of the sources, this package and the compiler's command.
fs::path adapter_for(const std::string& testee, const fs::path& package, const Words& sources) {
  const fs::path room = testee::folder_of("conformance/adapters/executorch/kernels", "testee").parent_path();
  const Words command = command_for(room, sources, package);
  std::string all = text_of_file(package / "lib" / runtime);
  for (const std::string& word : command) all += word + '\n';
  for (const char* folder : {"kernels", "backends"})
    for (const auto& entry : fs::directory_iterator(room / folder)) all += testee::digest_of_file(entry.path());
  const fs::path module = cache() / concat("executorch-", text::digits_of(text::digest(all)), ".so");
  if (!fs::exists(module)) {
    std::error_code error;
    fs::create_directories(module.parent_path(), error);
    if (error) testee::no_testee("the folder ", module.parent_path().string(), " cannot be made: ", error.message());
    compile(testee, command, module);
  }
  return module;
}

}  // namespace

void* open_with_adapter(const std::string& name, const fs::path& file, const Words& sources) {
  if (!fs::exists(file)) testee::no_testee("the testee ", name, " needs ", file.string(), ", which is missing");
  std::string why;
  void* library = open_library(file, RTLD_LOCAL, why);
  if (!library && why.find(runtime) == why.npos && why.find("undefined symbol") == why.npos)
    testee::no_testee("the testee ", name, " cannot be loaded: ", why);
  // A library that brings no runtime of its own finds the adapter's.
  void* const adapter = open_library(adapter_for(name, package_of(name, why), sources), RTLD_GLOBAL, why);
  if (adapter && !library) library = open_library(file, RTLD_LOCAL, why);
  if (!adapter || !library) testee::no_testee("the testee ", name, " cannot be loaded: ", why);
  return adapter;
}

fs::path executorch_runtime() { return testee::loaded_file(runtime); }

}  // namespace assay::adapters
