#include <algorithm>

#include "format/xnnpack/check.h"

// The dims that nodes compute. Images have the dims [batch, height, width, channels].
namespace assay::format::xnnpack {
namespace {

using xnn::Operation;

constexpr std::size_t height = 1, width = 2, channels = 3;

// The number of positions of a window along a padded dim, or nothing if the window does not fit.
std::optional<std::uint64_t> positions(std::uint64_t n, std::uint64_t padding, std::uint64_t kernel,
                                       std::uint64_t dilation, std::uint64_t stride) {
  const std::uint64_t extent = (kernel - 1) * dilation + 1;
  return n + padding < extent ? std::nullopt : std::optional((n + padding - extent) / stride + 1);
}

// Numpy's broadcasting of the first a.rank - skipped and b.rank - skipped dims.
std::optional<Shape> broadcast(const Shape& a, const Shape& b, std::size_t skipped = 0) {
  Shape shape = a.rank >= b.rank ? a : b;
  const Shape& other = a.rank >= b.rank ? b : a;
  const std::size_t more = shape.rank - other.rank;
  for (std::size_t d = 0; d + skipped < other.rank; ++d) {
    const std::uint64_t x = shape.dims[d + more], y = other.dims[d];
    if (x != y && x != 1 && y != 1) return {};
    shape.dims[d + more] = x == 1 ? y : x;
  }
  return shape;
}

class ShapeOf {
 public:
  ShapeOf(const xnn::Node& node, const Values& values)
      : node_(node), inputs_(operands_of(node).inputs), values_(values) {}

  std::optional<Shape> run() {
    std::optional<Shape> shape;
    visit(node_, [&](const auto& table) { shape = of(table); });
    return shape;
  }

 private:
  Shape input(std::size_t i) const { return shape_of(values_.tensor(values_.find(inputs_[i].id))); }

  template <class Table>
  std::optional<Shape> of(const Table&) const {
    return input(0);
  }

  std::optional<Shape> of(const xnn::Unary&) const {
    Shape shape = input(0);
    if (node_.operation_type() == Operation::GlobalAvgPooling2d) shape.dims[height] = shape.dims[width] = 1;
    return shape;
  }

  std::optional<Shape> of(const xnn::Binary& t) const {
    if (node_.operation_type() == Operation::BatchMatrixMultiply) return product(t.flags());
    return broadcast(input(0), input(1));
  }
  std::optional<Shape> product(std::uint32_t flags) const {
    const Shape a = input(0), b = input(1);
    auto shape = broadcast(a, b, 2);
    const bool a_turned = flags & transposed_a, b_turned = flags & transposed_b;
    const std::uint64_t a_inner = a.dims[a.rank - (a_turned ? 2 : 1)], b_inner = b.dims[b.rank - (b_turned ? 1 : 2)];
    if (!shape || a_inner != b_inner) return {};
    shape->dims[shape->rank - 2] = a.dims[a.rank - (a_turned ? 1 : 2)];
    shape->dims[shape->rank - 1] = b.dims[b.rank - (b_turned ? 2 : 1)];
    return shape;
  }

  std::optional<Shape> of(const xnn::FullyConnected& t) const {
    Shape shape = input(0);
    shape.dims[shape.rank - 1] = input(1).dims[t.flags() & transposed_filter ? 1 : 0];
    return shape;
  }

  // The dims of an image after a window with these parameters moved over it.
  std::optional<Shape> windows(const auto& t, std::uint64_t dilation_height, std::uint64_t dilation_width,
                               std::uint64_t stride_height, std::uint64_t stride_width) const {
    Shape shape = input(0);
    const auto rows = positions(shape.dims[height], std::uint64_t{t.padding_top()} + t.padding_bottom(),
                                t.kernel_height(), dilation_height, stride_height);
    const auto columns = positions(shape.dims[width], std::uint64_t{t.padding_left()} + t.padding_right(),
                                   t.kernel_width(), dilation_width, stride_width);
    if (!rows || !columns) return {};
    shape.dims[height] = *rows, shape.dims[width] = *columns;
    return shape;
  }
  std::optional<Shape> of(const xnn::Pooling& t) const {
    return windows(t, std::max<std::uint32_t>(t.dilation_height(), 1), std::max<std::uint32_t>(t.dilation_width(), 1),
                   t.stride_height(), t.stride_width());
  }
  std::optional<Shape> of(const xnn::ArgMaxPooling& t) const {
    return windows(t, 1, 1, t.kernel_height(), t.kernel_width());
  }
  std::optional<Shape> of(const xnn::Convolution& t) const {
    auto shape = node_.operation_type() == Operation::ConvTranspose2d
                     ? transposed(t)
                     : windows(t, t.dilation_height(), t.dilation_width(), t.stride_height(), t.stride_width());
    if (shape) shape->dims[channels] = std::uint64_t{t.groups()} * t.group_outputs();
    return shape;
  }
  std::optional<Shape> transposed(const xnn::Convolution& t) const {
    Shape shape = input(0);
    const auto grown = [](std::uint64_t n, std::uint64_t stride, std::uint64_t kernel, std::uint64_t dilation,
                          std::uint64_t adjustment, std::uint64_t padding) -> std::optional<std::uint64_t> {
      const std::uint64_t full =
          (std::max<std::uint64_t>(n, 1) - 1) * stride + (kernel - 1) * dilation + 1 + adjustment;
      return full < padding ? std::nullopt : std::optional(full - padding);
    };
    const auto rows = grown(shape.dims[height], t.stride_height(), t.kernel_height(), t.dilation_height(),
                            t.adjustment_height(), std::uint64_t{t.padding_top()} + t.padding_bottom());
    const auto columns = grown(shape.dims[width], t.stride_width(), t.kernel_width(), t.dilation_width(),
                               t.adjustment_width(), std::uint64_t{t.padding_left()} + t.padding_right());
    if (!rows || !columns) return {};
    shape.dims[height] = *rows, shape.dims[width] = *columns;
    return shape;
  }

  // Query, key and value have the dims [batch, heads, tokens, channels].
  std::optional<Shape> of(const xnn::Attention&) const {
    const Shape query = input(0), key = input(1), value = input(2);
    Shape shape = query;
    shape.dims[3] = value.dims[3];
    const bool fit = key.dims[0] == query.dims[0] && value.dims[0] == query.dims[0] && key.dims[3] == query.dims[3] &&
                     key.dims[1] == value.dims[1] && key.dims[2] == value.dims[2];
    return fit ? std::optional(shape) : std::nullopt;
  }

  std::optional<Shape> of(const xnn::Resize& t) const {
    Shape shape = input(0);
    shape.dims[height] = t.height(), shape.dims[width] = t.width();
    return shape;
  }
  std::optional<Shape> of(const xnn::Transpose& t) const {
    const Shape from = input(0);
    Shape shape = from;
    for (std::size_t d = 0; d < from.rank; ++d) shape.dims[d] = from.dims[items(t.perm())[d]];
    return shape;
  }
  std::optional<Shape> of(const xnn::Reshape& t) const {
    const Shape from = input(0);
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t all = 1, stated = 1;
    for (const std::uint64_t n : std::span(from.dims).first(from.rank)) all *= n;
    Shape shape{{}, size_of(t.shape())};
    std::ranges::copy(items(t.shape()), shape.dims.begin());
    const auto inferred = std::find(shape.dims.begin(), shape.dims.begin() + shape.rank, 0u);
    for (const std::uint32_t n : items(t.shape())) {
      if (n > 0 && stated > most / n) return {};
      stated *= std::max<std::uint32_t>(n, 1);
    }
    if (inferred == shape.dims.begin() + shape.rank) return stated == all ? std::optional(shape) : std::nullopt;
    *inferred = all / stated;
    return all % stated == 0 ? std::optional(shape) : std::nullopt;
  }
  std::optional<Shape> of(const xnn::Slice& t) const {
    Shape shape = input(0);
    for (std::size_t d = 0; d < shape.rank; ++d) {
      const std::uint32_t size = items(t.sizes())[d];
      shape.dims[d] = size == 0 ? shape.dims[d] - items(t.offsets())[d] : size;
    }
    return shape;
  }
  std::optional<Shape> of(const xnn::Pad& t) const {
    Shape shape = input(0);
    for (std::size_t d = 0; d < shape.rank; ++d)
      shape.dims[d] += std::uint64_t{items(t.before())[d]} + items(t.after())[d];
    return shape;
  }
  std::optional<Shape> of(const xnn::Concatenation& t) const {
    Shape shape = input(0);
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      Shape other = input(i);
      const std::uint64_t all = shape.dims[t.axis()] + other.dims[t.axis()];
      shape.dims[t.axis()] = other.dims[t.axis()] = all;
      if (!equal(shape, other)) return {};
    }
    return shape;
  }

  const xnn::Node& node_;
  Operands inputs_;
  const Values& values_;
};

}  // namespace

Shape shape_of(const xnn::Tensor& t) {
  Shape shape{{}, size_of(t.dims())};
  std::ranges::copy(items(t.dims()), shape.dims.begin());
  return shape;
}

bool equal(const Shape& a, const Shape& b) {
  return std::ranges::equal(std::span(a.dims).first(a.rank), std::span(b.dims).first(b.rank));
}

std::optional<Shape> output_shape(const xnn::Node& node, const Values& values) { return ShapeOf(node, values).run(); }

}  // namespace assay::format::xnnpack
