#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "conformance/adapters/load.h"
#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "reference/program/build.h"
#include "tests/support/golden.h"
#include "tests/support/methods.h"
#include "tests/support/program_folders.h"

// The official runtime reads the files that assay writes: after decoding and encoding, every recorded program has
// exactly the same result there as before, whether right, wrong or a crash. It loads all methods before the first call.
namespace assay {
namespace executorch_programs_test {

namespace fs = std::filesystem;

constexpr std::string_view not_run = "not run: ";

template <class F>
std::string said_by(F f) {
  try {
    return f();
  } catch (const std::exception& e) {
    return concat(not_run, e.what());
  }
}

// The text that f returns, from a child process, and how the child ended if it crashed.
template <class F>
std::string in_child(F f) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string said = said_by(f);
    const bool written = ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    said.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? said : concat("crashed with status ", status);
}

std::string in_words(const Value& value) {
  if (const Tensor* t = std::get_if<Tensor>(&value))
    return concat(describe(*t), ' ',
                  std::hash<std::string_view>()({reinterpret_cast<const char*>(t->bytes.data()), t->bytes.size()}));
  return std::visit(
      []<class T>(const T& v) -> std::string {
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          return concat(v);
        else
          return "other";
      },
      value);
}

// The inputs in the dim orders that the program declares.
std::vector<Value> arranged_for(const pte::ExecutionPlanT& plan, std::vector<Value> inputs) {
  for (std::size_t i = 0; i < inputs.size() && i < plan.inputs.size(); ++i) {
    const pte::TensorT* declared = plan.values[static_cast<std::size_t>(plan.inputs[i])]->val.AsTensor();
    Tensor* t = std::get_if<Tensor>(&inputs[i]);
    if (!t || !declared) continue;
    Dims order;
    for (const auto d : declared->dim_order) order.push_back(d);
    if (is_dim_order(order, t->rank())) *t = arranged(*t, order);
  }
  return inputs;
}

std::string behaviour(const fs::path& program, const std::vector<fs::path>& data, const Program& decoded,
                      const hosts::ProgramCalls& calls) {
  const auto runtime = adapters::load_executorch_runtime(fs::read_symlink("/proc/self/exe").parent_path());
  testee::Reply reply;
  const auto loaded = runtime->load({program, data}, reply);
  if (!loaded) return concat("load: ", name(reply.outcome), ' ', reply.message);
  std::string said;
  for (const hosts::ProgramCall& call : calls.calls) {
    const auto plan =
        std::ranges::find_if(decoded.tables.execution_plan, [&](const auto& p) { return p->name == call.method; });
    std::vector<Value> outputs;
    reply = loaded->call(call.method, arranged_for(**plan, call.inputs), outputs);
    said += concat(call.method, ": ", name(reply.outcome), ' ', reply.message);
    for (const Value& v : outputs) said += ", " + in_words(v);
    said += '\n';
  }
  return said;
}

class RecordedPrograms : public testing::TestWithParam<fs::path> {};

TEST_P(RecordedPrograms, GiveTheSameResultsAfterDecodingAndEncoding) {
  const fs::path folder = GetParam(), copy = fs::temp_directory_path() / ("assay-encoded-" + std::to_string(getpid()));
  const hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
  const auto program = decode_program(files::open_file(folder / "program.pte").bytes);
  ASSERT_TRUE(program);
  files::make_folder(copy);
  files::write_file(copy / "program.pte", encode(*program));
  std::vector<fs::path> data;
  for (const fs::path& file : calls.data) {
    data.push_back(copy / file.filename());
    const auto decoded = decode_data_file(files::open_file(file).bytes);
    ASSERT_TRUE(decoded);
    files::write_file(data.back(), encode(*decoded));
  }
  const std::string before = in_child([&] { return behaviour(folder / "program.pte", calls.data, *program, calls); });
  const std::string after = in_child([&] { return behaviour(copy / "program.pte", data, *program, calls); });
  EXPECT_EQ(before, after);
  EXPECT_NE(before, "");
  EXPECT_FALSE(before.starts_with(not_run)) << before;
  fs::remove_all(copy);
}

// Gives each state an initial value of ones.
Bytes with_initial_state(const fs::path& file) {
  ProgramBuilder program;
  program.program() = *decode_program(files::open_file(file).bytes);
  const auto initial = program.initial(bytes_of({1, 1, 1, 1}));
  for (const auto& plan : program.program().tables.execution_plan)
    for (const auto& value : plan->values)
      if (pte::TensorT* t = value->val.AsTensor(); t && t->extra_tensor_info) t->data_buffer_idx = initial;
  return program.bytes();
}

// The method `write` replaces the state, which `read` multiplies. An initial value that `read` stores when it is loaded
// must not change a result.
TEST(ExecuTorchRuntime, LoadsAllMethodsBeforeTheFirstCall) {
  const fs::path folder = golden_folder() / "programs" / "shared_state";
  const fs::path changed = fs::temp_directory_path() / ("assay-initial-" + std::to_string(getpid()));
  const hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
  files::write_file(changed, with_initial_state(folder / "program.pte"));
  const auto program = decode_program(files::open_file(changed).bytes);
  ASSERT_TRUE(program);
  const auto results = [&](const fs::path& f) { return in_child([&] { return behaviour(f, {}, *program, calls); }); };
  EXPECT_EQ(results(changed), results(folder / "program.pte"));
  fs::remove(changed);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedPrograms, testing::ValuesIn(program_folders()), name_of_folder);

}  // namespace executorch_programs_test
}  // namespace assay
