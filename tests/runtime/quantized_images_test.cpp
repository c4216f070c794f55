#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "conformance/adapters/optimized/client.h"
#include "conformance/corrupt/delegated.h"
#include "conformance/files/compare.h"
#include "conformance/hosts/host.h"
#include "tests/support/methods.h"

// Convolutions of XNNPACK payloads whose images are quantized when they run. The reference computes them by separate
// operators, the optimized runtime by one kernel of 8-bit integers. Both give the same bits.
namespace assay {
namespace quantized_images_test {

using format::xnnpack::Datatype;
using xnnpack::Form;

struct Case {
  std::uint32_t images = 2, height = 5, width = 6, groups = 1, inputs = 3, outputs = 4, kernel = 3, stride = 1,
                padding = 1;
  bool has_bias = true, has_bounds = false, is_shared = false;

  std::uint32_t channels() const { return groups * inputs; }
  std::uint32_t out_channels() const { return groups * outputs; }
  std::uint32_t out(std::uint32_t in, std::uint32_t k) const { return (in + 2 * padding - k) / stride + 1; }
};

std::mt19937 generator(5);
template <class T>
Bytes random_bytes(std::size_t n, float low, float high) {
  std::vector<T> all(n);
  for (T& x : all) x = static_cast<T>(std::uniform_real_distribution(low, high)(generator));
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

// A payload that quantizes images and convolves them. If they are shared, a convolution of one tap reads them, too.
corrupt::Delegated payload(const Case& c) {
  corrupt::Delegated d;
  d.clear();
  d.x = d.input({c.images, c.height, c.width, c.channels()});
  const auto rows = d.inner({c.images, c.channels(), c.height, c.width});
  xnn::PerTokenT token;
  token.nonbatch_dims = 3;
  d.quantize(rows, Datatype::qdint8, token);
  d.unary(xnn::Operation::Convert, d.x, rows);
  const auto convolve = [&](std::uint32_t kernel, std::uint32_t padding, std::uint32_t stride) {
    Case of = c;
    of.padding = padding, of.stride = stride;
    xnn::ConvolutionT t;
    t.kernel_height = t.kernel_width = kernel;
    t.padding_top = t.padding_left = t.padding_bottom = t.padding_right = padding;
    t.stride_height = t.stride_width = stride, t.dilation_height = t.dilation_width = 1;
    t.groups = c.groups, t.group_inputs = c.inputs, t.group_outputs = c.outputs, t.input = rows;
    const std::uint32_t channels = c.out_channels(), weights = channels * kernel * kernel * c.inputs;
    t.filter = d.constant({channels, kernel, kernel, c.inputs}, random_bytes<std::int8_t>(weights, -128, 127));
    std::vector<float> scales(channels);
    for (float& s : scales) s = std::uniform_real_distribution(0.001f, 0.01f)(generator);
    d.per_channel(t.filter, Datatype::qcint8, 0, scales);
    t.bias = c.has_bias ? d.constant({channels}, random_bytes<float>(channels, -1, 1)) : format::xnnpack::no_id;
    t.output = d.output({c.images, of.out(c.height, kernel), of.out(c.width, kernel), channels});
    d.node(xnn::Operation::Conv2d, t);
    if (c.has_bounds) {
      d.graph().nodes.back()->bounds = std::make_unique<xnn::BoundsT>();
      d.graph().nodes.back()->bounds->min = -0.5f, d.graph().nodes.back()->bounds->max = 1;
    }
  };
  convolve(c.kernel, c.padding, c.stride);
  if (c.is_shared) convolve(1, 0, 1);
  return d;
}

// Images with different ranges.
Tensor images_of(const Case& c, Real special) {
  std::vector<Real> all;
  for (std::uint32_t i = 0; i < c.images; ++i)
    for (std::uint32_t k = 0; k < c.height * c.width * c.channels(); ++k)
      all.push_back(std::uniform_real_distribution(-1.0f, 2.0f)(generator) * float(1 + 3 * i));
  if (special != 0) all[all.size() / 2] = special;
  return tensor(float32, {c.images, c.height, c.width, c.channels()}, all);
}

// All NaN are equal.
bool equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::equal(a, b, [](const Value& x, const Value& y) { return files::compare(x, y, {}).agrees(); });
}

std::vector<Value> by_reference(const Bytes& file, const std::vector<Value>& inputs, Form form = Form::folded) {
  RuntimeOptions options;
  options.payload_form = form;
  return hosts::Host(hosts::valid_program(borrowed(file), {}), options).call("forward", inputs);
}

void expect_agreement(const Case& c, std::size_t steps = 3) {
  const Bytes file = payload(c).method_file();
  adapters::OptimizedClient client(file, {}, {});
  for (const Real special : {0.0, 3e4, double(NAN), double(INFINITY)}) {
    const std::vector<Value> inputs{images_of(c, special)};
    EXPECT_TRUE(equal(client.call("forward", inputs), by_reference(file, inputs))) << "for images with " << special;
  }
  EXPECT_EQ(assay_step_count(client.method("forward").method), steps);
}

TEST(QuantizedImages, AreConvolved) {
  expect_agreement({});
  expect_agreement({.images = 1, .inputs = 40, .outputs = 20, .has_bias = false});
  expect_agreement({.kernel = 5, .stride = 2, .padding = 2});
}
TEST(QuantizedImages, AreConvolvedByGroups) {
  expect_agreement({.groups = 3, .inputs = 2, .outputs = 3});
  expect_agreement({.groups = 6, .inputs = 1, .outputs = 1});
}
TEST(QuantizedImages, AreMultipliedPixelByPixel) {
  expect_agreement({.kernel = 1, .padding = 0});
  expect_agreement({.inputs = 50, .outputs = 30, .kernel = 1, .padding = 0, .has_bounds = true});
}
TEST(QuantizedImages, AreClamped) { expect_agreement({.has_bounds = true}); }
TEST(QuantizedImages, AreSharedByConvolutions) { expect_agreement({.is_shared = true}, 5); }

// XNNPACK computes a convolution of single pixels as a fully connected layer, whose rows are the pixels.
TEST(QuantizedImages, ArePixelsForXnnpackOnly) {
  const auto forms_agree = [](const Case& c) {
    const Bytes file = payload(c).method_file();
    const std::vector<Value> inputs{images_of(c, 0)};
    return equal(by_reference(file, inputs), by_reference(file, inputs, Form::literal));
  };
  EXPECT_FALSE(forms_agree({.kernel = 1, .padding = 0}));
  EXPECT_TRUE(forms_agree({}));
  EXPECT_TRUE(forms_agree({.kernel = 1, .padding = 1}));
  EXPECT_TRUE(forms_agree({.kernel = 1, .stride = 2, .padding = 0}));
  EXPECT_TRUE(forms_agree({.groups = 2, .kernel = 1, .padding = 0}));
}

// The other convolution reads the images with one scale each, as if it were alone.
TEST(QuantizedImages, KeepTheirRowsForOtherReaders) {
  const Case c{.is_shared = true};
  const Bytes file = payload(c).method_file();
  const std::vector<Value> inputs{images_of(c, 0)};
  const auto folded = by_reference(file, inputs), literal = by_reference(file, inputs, Form::literal);
  EXPECT_TRUE(equal({folded[0]}, {literal[0]}));
  EXPECT_FALSE(equal({folded[1]}, {literal[1]}));
}

}  // namespace quantized_images_test
}  // namespace assay
