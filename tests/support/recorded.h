#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "conformance/adapters/optimized/client.h"
#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"

namespace assay {

// A recorded program whose calls run on the optimized runtime.
struct Recorded {
  using Results = std::vector<std::vector<Value>>;  // one entry per call

  explicit Recorded(const std::filesystem::path& of)
      : folder(of),
        calls(hosts::read_calls(folder / "calls.json")),
        program(hosts::valid_program(files::open_file(folder / "program.pte"), files::open_data_files(calls.data))) {}

  adapters::OptimizedClient client(const adapters::OptimizedClient::Options& options = {}) const {
    return adapters::OptimizedClient(folder / "program.pte", calls.data, options);
  }

  // Calls f with each call of the named method that is not refused. An empty name selects all methods.
  template <class F>
  void each(const std::string& method, F f) const {
    for (const hosts::ProgramCall& call : calls.calls)
      if (call.fails.empty() && (method.empty() || call.method == method)) f(call);
  }

  // The results of the calls. `change` may change the inputs.
  Results run(
      adapters::OptimizedClient& client, const std::string& name = {},
      const std::function<void(Value&)>& change = [](Value&) {}) const {
    Results results;
    each(name, [&](const hosts::ProgramCall& call) {
      std::vector<Value> inputs = hosts::adapted(*program.plan(call.method), call.inputs);
      for (Value& input : inputs) change(input);
      results.push_back(client.call(call.method, inputs));
    });
    return results;
  }

  std::filesystem::path folder;
  hosts::ProgramCalls calls;
  ValidProgram program;
};

inline void expect_same(const Recorded::Results& got, const Recorded::Results& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    for (std::size_t i = 0; i < got[k].size(); ++i)
      EXPECT_TRUE(files::compare(got[k][i], want[k][i], {}).agrees()) << "call " << k << ", output " << i;
}

}  // namespace assay
