#include "conformance/hosts/command_runtime.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "conformance/files/file.h"
#include "conformance/files/temporary_folder.h"
#include "conformance/hosts/host.h"
#include "conformance/inspect/listing.h"
#include "conformance/inspect/memory_use.h"
#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
#include "conformance/testee/no_testee.h"
#include "conformance/wire/address.h"

namespace assay::hosts {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t most_words = 2048;  // characters that are kept of the output of a failing command

// A folder that has a folder for each process; those of workers stay until the parent removes all.
class Folder {
 public:
  fs::path own() const {
    fs::path folder = all_ / std::to_string(getpid());
    fs::create_directories(folder);
    return folder;
  }

 private:
  files::TemporaryFolder all_;
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void become(const Words& command, const fs::path& output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY), said = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(nothing, STDIN_FILENO), dup2(said, STDOUT_FILENO), dup2(said, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

struct Ended {
  int status;
  std::string words;  // the end of its output on both streams
};

Ended run(const Words& command, const fs::path& output) {
  const pid_t pid = fork();
  if (pid == 0) become(command, output);
  int status = 0;
  if (pid < 0 || sandbox::uninterrupted([&] { return waitpid(pid, &status, 0); }) < 0)
    throw Fault(Outcome::exhausted, "testee", concat(command[0], " cannot be started"));
  std::string words = bytes_of(output);
  if (words.size() > most_words) words.erase(0, words.size() - most_words);
  return {status, std::move(words)};
}

// A runner refuses by an exit code or by aborting. Its output then names the official runtime's status: 0x10 not
// supported, 0x11 not implemented, 0x14 an operator is missing.
testee::Reply reply_of(const Ended& ended) {
  if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return {};
  if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 127) return {Outcome::invalid, "cannot be started"};
  if (WIFSIGNALED(ended.status) && WTERMSIG(ended.status) != SIGABRT) {
    const sandbox::TaskResult death = sandbox::death_of(ended.status);
    throw sandbox::Lost{death.end, death.signal, death.text + "\n" + ended.words};
  }
  const auto said = [&](std::string_view word) { return ended.words.find(word) != std::string::npos; };
  const bool is_unsupported = said("status 0x10") || said("status 0x11") || said("status 0x14");
  return {is_unsupported ? Outcome::unsupported : Outcome::invalid, ended.words};
}

// The reason why a runner's command line cannot express the inputs: it takes only the elements of tensors. Returns null
// if it can.
const char* unsayable(const pte::ExecutionPlan& plan, std::span<const Value> inputs) {
  const auto declared = format::items(plan.inputs());
  if (inputs.size() != declared.size()) return "a number of inputs that the method does not have";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&inputs[i]);
    const pte::Tensor* d = inspect::value_at(plan, declared[i])->val_as_Tensor();
    if (!t || !d) return "an input that is no tensor";
    if (static_cast<int>(t->dtype) != d->scalar_type()) return "an input of another dtype";
    if (!std::ranges::equal(t->sizes, format::items(d->sizes()))) return "sizes other than the program declares";
  }
  return nullptr;
}

class CommandProgram final : public testee::TesteeProgram {
 public:
  CommandProgram(const Words& command, fs::path folder, testee::LoadSettings settings)
      : command_(command), folder_(std::move(folder)), settings_(std::move(settings)) {
    fs::copy_file(settings_.program, program_, fs::copy_options::overwrite_existing);
    try {
      read_.emplace(valid_program(files::open_file(program_), files::open_data_files(settings_.data)));
    } catch (const Fault&) {  // the runner must refuse the program itself
    }
  }

  testee::Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    const pte::ExecutionPlan* plan = read_ ? read_->plan(method) : nullptr;
    if (read_ && !plan) throw testee::NotAsked("a runner's command line names no method that is not there");
    if (plan && called_ && keeps_state()) throw testee::NotAsked("a runner keeps no state from call to call");
    if (const char* what = plan ? unsayable(*plan, inputs) : nullptr)
      throw testee::NotAsked(concat("a runner's command line cannot say ", what));
    called_ = true;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().extension() == ".bin") fs::remove(entry.path());
    const Ended ended = run(command_of(method, inputs), folder_ / "said");
    const testee::Reply reply = reply_of(ended);
    if (reply.outcome == Outcome::ok && plan) outputs = outputs_of(*plan);
    return reply;
  }

 private:
  bool keeps_state() const {
    for (const auto& plan : inspect::tables((*read_)->tables().execution_plan()))
      for (const auto& value : inspect::tables(plan.values()))
        if (const pte::Tensor* t = value.val_as_Tensor(); t && t->allocation_info() && inspect::is_state(*t))
          return true;
    return false;
  }

  Words command_of(const std::string& method, std::span<const Value> inputs) const {
    Words words = command_;
    words.push_back("--model_path=" + program_.string());
    if (!settings_.data.empty()) words.push_back("--data_path=" + settings_.data.front().string());
    std::string files;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const Tensor* t = std::get_if<Tensor>(&inputs[i])) {
        const fs::path file = folder_ / concat("input-", i, ".bin");
        files::write_file(file, t->bytes);
        files += (files.empty() ? "" : ",") + file.string();
      }
    if (!files.empty()) words.push_back("--inputs=" + files);
    words.push_back("--output_file=" + (folder_ / "output").string());
    if (method != "forward") words.push_back("--method_name=" + method);
    return words;
  }

  // Reads the outputs. A runner writes bytes only; the program declares dtypes, sizes and dim orders.
  std::vector<Value> outputs_of(const pte::ExecutionPlan& plan) const {
    std::vector<Value> outputs;
    const auto declared = format::items(plan.outputs());
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const fs::path file = folder_ / concat("output-", i, ".bin");
      const pte::Tensor* d = inspect::value_at(plan, declared[i])->val_as_Tensor();
      if (!d || !fs::exists(file)) throw testee::NotAsked(concat("a runner does not show output ", i));
      const std::string bytes = bytes_of(file);
      Dims sizes, order;
      for (const auto n : format::items(d->sizes())) sizes.push_back(n);
      for (const auto n : format::items(d->dim_order())) order.push_back(n);
      Tensor t = make(*dtype_numbered(d->scalar_type()), sizes, order);
      if (bytes.size() != t.bytes.size() && d->shape_dynamism() != pte::TensorShapeDynamism::STATIC)
        throw testee::NotAsked(concat("a runner does not show the sizes of output ", i));
      if (bytes.size() != t.bytes.size()) t = make(DType::uint8, {static_cast<Int>(bytes.size())});
      std::ranges::copy(std::as_bytes(std::span(bytes)), t.bytes.begin());
      outputs.emplace_back(std::move(t));
    }
    return outputs;
  }

  const Words& command_;
  fs::path folder_;
  testee::LoadSettings settings_;
  fs::path program_ = folder_ / "program.pte";
  std::optional<ValidProgram> read_;
  bool called_ = false;
};

class CommandRuntime final : public testee::Runtime {
 public:
  explicit CommandRuntime(Words command) : command_(std::move(command)) {}

  std::string_view name() const override { return name_; }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    std::vector<std::pair<std::string, std::string>> all{{"interface", "the command line of executor_runner"}};
    std::ranges::move(testee::digests_of_command(command_), std::back_inserter(all));
    return all;
  }
  bool is_remote() const override { return true; }
  bool has_instances() const override { return false; }
  bool takes_dim_orders() const override { return false; }  // it gets bytes only

  // Only a call tells whether the runner accepts the program.
  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply) override {
    reply = {};
    if (settings.data.size() > 1) throw testee::NotAsked("a runner's command line takes one data file");
    return std::make_unique<CommandProgram>(command_, folder_.own(), settings);
  }

 private:
  Words command_;
  std::string name_ = fs::path(command_[0]).filename().string();
  Folder folder_;
};

}  // namespace

std::unique_ptr<testee::Runtime> make_command_runtime(std::string_view line) {
  Words command = wire::words_of(line);
  if (command.empty()) testee::no_testee("behind runner: there is no command");
  return std::make_unique<CommandRuntime>(std::move(command));
}

}  // namespace assay::hosts
