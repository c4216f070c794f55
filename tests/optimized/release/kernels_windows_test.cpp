#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "optimized/kernels/pool.h"
#include "tests/support/fenced_kernels.h"

// Maxima and means of windows compared to plain loops, for every instruction set and for numbers of windows around each
// edge of a vector. The memory is between guard pages.
namespace assay::kernels {
namespace kernels_windows_test {

class Windows : public testing::TestWithParam<InstructionSet> {};
INSTANTIATE_TEST_SUITE_P(EachInstructionSet, Windows, testing::ValuesIn(sets()),
                         [](const auto& set) { return traits(set.param).name; });

constexpr std::size_t rows = 2, columns = 3;
constexpr float untouched = 17;

// Windows of neighbouring channels, or of a row of pixels that are `from` apart.
struct Case {
  Together together;
  std::ptrdiff_t row_stride, column_stride;

  std::size_t place(std::size_t window, std::size_t i, std::size_t j) const {
    return window * static_cast<std::size_t>(together.from) + i * static_cast<std::size_t>(row_stride) +
           j * static_cast<std::size_t>(column_stride);
  }
  std::size_t last() const { return together.count - 1; }
  std::size_t results() const { return last() * static_cast<std::size_t>(together.to) + 1; }
};

template <class Check>
void each_case(InstructionSet set, const Check& check) {
  const std::size_t lanes = traits(set).lanes;
  for (const std::size_t count : {std::size_t{1}, lanes - 1, lanes, lanes + 1, 2 * lanes, 2 * lanes + 1})
    for (const std::ptrdiff_t to : {1, 4}) {
      const auto n = static_cast<std::ptrdiff_t>(count);
      if (n == 0) continue;
      SCOPED_TRACE(testing::Message() << count << " windows, results " << to << " apart");
      check(Case{{count, 1, to}, n * std::ptrdiff_t{columns}, n});
      for (const std::ptrdiff_t from : {1, 2, 5}) check(Case{{count, from, to}, n * from + std::ptrdiff_t{columns}, 1});
    }
}

std::vector<float> image_of(const Case& c) {
  static std::mt19937 generator(7);
  std::vector<float> image(c.place(c.last(), rows - 1, columns - 1) + 1);
  for (float& x : image) x = static_cast<float>(std::uniform_int_distribution(-4, 5)(generator));
  for (float& x : image) x = x == 5 ? nan : x;
  return image;
}

Window window_of(const Case& c, const float* image) { return {image, rows, columns, c.row_stride, c.column_stride}; }

// Whether each result is wanted(window), and nothing is stored between results.
template <class T, class Wanted>
void expect(const Case& c, const FencedArray<T>& results, const Wanted& wanted) {
  for (std::size_t i = 0; i < c.results(); ++i) {
    const std::size_t window = i / static_cast<std::size_t>(c.together.to);
    const T want = i % static_cast<std::size_t>(c.together.to) == 0 ? wanted(window) : static_cast<T>(untouched);
    EXPECT_TRUE(results.data()[i] == want || (want != want && results.data()[i] != results.data()[i]))
        << results.data()[i] << " for " << want << " at " << i;
  }
}

TEST_P(Windows, HaveTheirLargestElementAndItsNumber) {
  each_case(GetParam(), [&](const Case& c) {
    const std::vector<float> image = image_of(c);
    const PixelNumbers number{3, 100, 10, 1000};
    const FencedArray<float> in(image), largest(std::vector<float>(c.results(), untouched)),
        alone(std::vector<float>(c.results(), untouched));
    const FencedArray<std::int64_t> numbers(std::vector<std::int64_t>(c.results(), static_cast<int>(untouched)));
    max_of_windows(GetParam(), window_of(c, in.data()), number, c.together, largest.data(), numbers.data());
    max_of_windows(GetParam(), window_of(c, in.data()), number, c.together, alone.data(), nullptr);
    struct Found {
      float largest = -infinity;
      std::int64_t number = 0;
    };
    const auto find = [&](std::size_t window) {
      Found found;
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          if (const float x = image[c.place(window, i, j)]; x > found.largest || std::isnan(x))
            found = {x, static_cast<std::int64_t>(3 + 100 * i + 10 * j + 1000 * window)};
      return found;
    };
    expect(c, largest, [&](std::size_t window) { return find(window).largest; });
    expect(c, alone, [&](std::size_t window) { return find(window).largest; });
    expect(c, numbers, [&](std::size_t window) { return find(window).number; });
  });
}

TEST_P(Windows, HaveTheirMean) {
  each_case(GetParam(), [&](const Case& c) {
    const std::vector<float> image = image_of(c);
    const FencedArray<float> in(image), mean(std::vector<float>(c.results(), untouched));
    mean_of_windows(GetParam(), window_of(c, in.data()), 4, c.together, mean.data());
    expect(c, mean, [&](std::size_t window) {
      float sum = 0;  // of integers, without rounding
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) sum += image[c.place(window, i, j)];
      return sum / 4;
    });
  });
}

}  // namespace kernels_windows_test
}  // namespace assay::kernels
