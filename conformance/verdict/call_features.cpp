#include "conformance/verdict/call_features.h"

#include <fmt/format.h>

#include <stdexcept>

#include "reference/dtype.h"

namespace assay::verdict {
namespace {

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (int k = 0; k < 64; ++k) names.push_back(dtype_numbered(k) ? info(*dtype_numbered(k)).name : "none");
  return names;
}

}  // namespace

const std::array<CallFeature, call_feature_count>& call_features() {
  static const std::vector<std::string_view> alike{"equal", "different"}, usual{"usual", "another", "different"},
      truths{"false", "true"};
  static const std::array<CallFeature, call_feature_count> all{{
      {"dtype", dtype_names()},
      {"dtypes of tensors", alike},
      {"rank", {"0", "1", "2", "3", "4", "more"}},
      {"layout", {"contiguous", "channels last", "another"}},
      {"layouts of tensors", alike},
      {"sizes of tensors", alike},
      {"first size", {"0", "1", "up to 16", "more"}},
      {"last size", {"0", "1", "up to 16", "more"}},
      {"elements", {"0", "1", "up to 64", "more"}},
      {"optional tensors", {"none", "some", "all"}},
      {"groups", {"1", "several", "one a channel"}},
      {"stride", usual},
      {"padding", usual},
      {"dilation", usual},
      {"output padding", usual},
      {"taps", usual},
      {"transposed", truths},
      {"keepdim", truths},
      {"dim", {"none", "first", "inner", "last", "negative", "several"}},
      {"first flag", truths},
      {"second flag", truths},
      {"number", {"1", "0", "an integer", "a fraction", "a bool", "none"}},
      {"entries of a list", {"0", "1", "2", "more"}},
      {"sizes given", usual},
  }};
  return all;
}

std::string to_text(const CallFeatures& features) {
  std::string text;
  for (std::size_t k = 1; k < features.size(); ++k)
    text += features[k] == no_value ? '-' : static_cast<char>('0' + features[k]);
  return text;
}

CallFeatures features_from(std::string_view text) {
  CallFeatures features;
  features.fill(no_value);
  if (text.size() + 1 != features.size())
    throw std::invalid_argument(
        fmt::format("\"features\" must have {} characters, got {}", features.size() - 1, text.size()));
  for (std::size_t k = 1; k < features.size(); ++k) {
    const char digit = text[k - 1];
    const std::size_t count = call_features()[k].values.size();
    if (digit == '-') continue;
    if (digit < '0' || static_cast<std::size_t>(digit - '0') >= count)
      throw std::invalid_argument(fmt::format("\"features\" must have a digit below {} or - for {}, got {}", count,
                                              call_features()[k].name, text.substr(k - 1, 1)));
    features[k] = static_cast<std::int8_t>(digit - '0');
  }
  return features;
}

}  // namespace assay::verdict
