#include <gtest/gtest.h>

#include <numeric>

#include "conformance/adapters/optimized/client.h"
#include "conformance/files/compare.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"
#include "reference/xnnpack/undelegate.h"
#include "tests/support/golden.h"

// Rows that are quantized in each execution are multiplied in one step if kernels read such weights and scales. Else
// their calls are made as written. The programs are recorded delegates, as operators, in which a test changes a weight
// or scales.
namespace assay {
namespace optimized_rows_test {

using Sizes = std::vector<std::int32_t>;

struct Changed {
  explicit Changed(const std::string& name) : folder(golden_folder() / "delegated" / name) {
    const ValidProgram recorded = hosts::valid_program(files::open_file(folder / "program.pte"), {});
    program = std::move(*decode_program(xnnpack::undelegated(recorded, xnnpack::Form::folded, Budget())));
  }

  pte::TensorT& tensor(std::size_t i) { return *program.tables.execution_plan[0]->values[i]->val.AsTensor(); }
  // The first value, from value `i` on, that is a constant of these sizes.
  std::size_t constant(const Sizes& sizes, std::size_t i = 0) const {
    const auto& values = program.tables.execution_plan[0]->values;
    for (; i < values.size(); ++i)
      if (const auto* t = values[i]->val.AsTensor(); t && t->data_buffer_idx > 0 && t->sizes == sizes) return i;
    throw std::out_of_range("the program has no such constant");
  }
  std::byte& first_byte(std::size_t constant) {
    const std::size_t data = tensor(constant).data_buffer_idx;
    return program.segments[0][program.tables.constant_segment->offsets[data]];
  }
  void resize(std::size_t i, const Sizes& sizes) {
    tensor(i).sizes = sizes, tensor(i).dim_order.resize(sizes.size());
    std::iota(tensor(i).dim_order.begin(), tensor(i).dim_order.end(), 0);
  }

  // The optimized runtime agrees with the reference. Returns the number of its steps.
  std::size_t expect_agreement() const {
    const Bytes file = encode(program);
    hosts::Host host(hosts::valid_program(borrowed(file), {}));
    adapters::OptimizedClient client(file, {}, {});
    for (const hosts::ProgramCall& call : hosts::read_calls(folder / "calls.json").calls) {
      const std::vector<Value> want = host.call("forward", call.inputs), got = client.call("forward", call.inputs);
      const auto comparison = files::compare(got.at(0), want.at(0), files::Tolerance{1e-6, 1e-6});
      EXPECT_TRUE(comparison.agrees()) << files::sentence(comparison, {1e-6, 1e-6});
    }
    return assay_step_count(client.method("forward").method);
  }

  std::filesystem::path folder;
  Program program;
};

// Kernels keep half a byte of each code in a group.
TEST(OptimizedRows, OfGroupsHaveCodesOfFourBits) {
  for (const int code : {-9, -8, 7, 8}) {
    SCOPED_TRACE(code);
    Changed p("8da4w_linear");
    p.first_byte(p.constant({8, 2, 32})) = static_cast<std::byte>(code);
    EXPECT_EQ(p.expect_agreement() == 1, code == -8 || code == 7);
  }
}

TEST(OptimizedRows, AreScaledByChannelsAlone) {
  for (const Sizes& sizes : {Sizes{8}, Sizes{1}, Sizes{3, 1}}) {
    SCOPED_TRACE(testing::PrintToString(sizes));
    Changed p("dynamic_int4_linear");
    const std::size_t scales = p.constant({8}), cast = scales + 1;
    p.resize(scales, sizes), p.resize(cast, sizes);
    EXPECT_EQ(p.expect_agreement() == 1, sizes.size() == 1);
  }
}

// One bias of all outputs is added by a call of its own, in float32 behind a product of groups.
TEST(OptimizedRows, HaveABiasOfEachChannel) {
  Changed p("dynamic_int4_linear"), of_groups("8da4w_linear");
  const std::size_t bias = p.constant({8}, p.constant({8}) + 1);
  p.resize(bias, {1}), p.resize(bias + 1, {1});
  EXPECT_GT(p.expect_agreement(), 2u);
  of_groups.resize(of_groups.constant({8}), {1});
  EXPECT_EQ(of_groups.expect_agreement(), 2u);
}

TEST(OptimizedRows, OfPixelsAreScaledByChannelsAlone) {
  for (const Sizes& sizes : {Sizes{5, 1, 1}, Sizes{1}, Sizes{3}, Sizes{2, 1}}) {
    SCOPED_TRACE(testing::PrintToString(sizes));
    Changed p("dynamic_int8_pixels");
    const std::size_t scales = p.constant({5, 1, 1}), cast = scales + 1;
    p.resize(scales, sizes), p.resize(cast, sizes);
    EXPECT_EQ(p.expect_agreement() == 3, sizes == Sizes({5, 1, 1}) || sizes == Sizes{1});
  }
}

}  // namespace optimized_rows_test
}  // namespace assay
