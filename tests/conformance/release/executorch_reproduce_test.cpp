#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/adapters/load.h"
#include "conformance/cases/host_call.h"
#include "conformance/files/file.h"
#include "conformance/reproduce/call_program.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/probe.h"
#include "reference/program/decoded.h"
#include "tests/support/golden.h"

// The program made from a call gives in the official runtime the result that the call gives in the official kernel.
namespace assay {
namespace executorch_reproduce_test {

namespace fs = std::filesystem;

fs::path folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string said(Outcome outcome, std::span<const Tensor> outs) {
  std::string all(name(outcome));
  for (const Tensor& t : outs)
    all +=
        concat(' ', describe(t), ' ', std::string_view(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size()));
  return all;
}

std::string by_the_kernel(const cases::Case& c, const cases::HostCall& host) {
  const auto library = adapters::load_executorch_library(folder());
  const sandbox::Observation seen =
      sandbox::Probe(*library).observe(*c.op, c.arguments, sandbox::plan_outs(*c.op, host.arguments));
  return said(seen.reply.outcome, seen.outs);
}

std::string by_the_runtime(const cases::Case& c, const cases::HostCall& host) {
  const reproduce::CallProgram call = reproduce::program_of_call(*c.op, host.arguments);
  const fs::path file = fs::temp_directory_path() / concat("reproduction.", getpid(), ".pte");
  files::write_file(file, encode(call.program));
  const auto runtime = adapters::load_executorch_runtime(folder());
  testee::Reply reply;
  const auto loaded = runtime->load({file, {}}, reply);
  fs::remove(file);
  std::vector<Value> outputs;
  const std::vector<Value> inputs(call.inputs.begin(), call.inputs.end());
  if (loaded) reply = loaded->call("forward", inputs, outputs);
  std::vector<Tensor> outs;
  for (const Value& v : outputs) outs.push_back(std::get<Tensor>(v));
  return said(reply.outcome, outs);
}

class OfficialRuntime : public testing::TestWithParam<const char*> {};

TEST_P(OfficialRuntime, GivesForAProgramTheAnswerOfTheKernel) {
  static const cases::Corpus corpus(golden_folder() / "operators");
  const cases::Case c = corpus.make(cases::case_id_from(GetParam()));
  const cases::HostCall host = cases::host_call(c);
  EXPECT_EQ(by_the_runtime(c, host), by_the_kernel(c, host));
}

TEST(OfficialRuntimes, DetectAnUnwrittenOut) {
  static const cases::Corpus corpus(golden_folder() / "operators");
  const cases::Case c = corpus.make(cases::case_id_from("aten::mm.out#00728f3f"));
  EXPECT_NE(by_the_runtime(c, cases::host_call(c)), said(Outcome::ok, cases::host_call(c).expected.outs));
}

INSTANTIATE_TEST_SUITE_P(RightAndWrong, OfficialRuntime,
                         testing::Values("aten::add.out#4321b778", "aten::_adaptive_avg_pool2d.out#0513ec80",
                                         "aten::_cdist_forward.out#be3ec995", "aten::_pdist_forward.out#2377e7ee",
                                         "aten::sign.out#be64b9d9", "aten::pixel_unshuffle.out#096b291d",
                                         "aten::eq.Scalar_out#1d577723", "aten::any.out#ac2851ec",
                                         "aten::max_pool2d_with_indices.out#70a80e61", "aten::cat.out#325d2519",
                                         "aten::exp.out#95751dd6"),
                         [](const auto& call) {
                           std::string name(call.param);
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace executorch_reproduce_test
}  // namespace assay
