#include "conformance/wire/generator.h"

#include "conformance/sandbox/frames.h"
#include "conformance/text/malformed.h"
#include "conformance/wire/message.h"

namespace assay::wire {
namespace {

// Four bits of the i-th number of splitmix64 (Steele, Lea, Flood 2014).
int nibble(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<int>((x ^ (x >> 31)) >> 60);
}

// Whether the elements would take more bytes than a frame, without overflow.
bool is_too_large(const Tensor& shape) {
  Int left = Int{sandbox::most_frame_bytes} / info(shape.dtype).bytes;
  for (const Int n : shape.sizes) {
    if (n == 0) return false;
    left /= n;
  }
  return left == 0;
}

}  // namespace

Tensor generated(Tensor shape, std::uint8_t generator, std::uint64_t seed) {
  if (generator != static_cast<std::uint8_t>(Generator::small_numbers))
    text::malformed("protocol.generator", "there is no generator ", +generator);
  const Kind kind = info(shape.dtype).kind;
  if (kind != Kind::floating && kind != Kind::integer && kind != Kind::boolean)
    text::malformed("protocol.generator", "the generator makes no ", info(shape.dtype).name);
  if (is_too_large(shape)) text::malformed("protocol.generator", describe(shape), " is larger than a frame");
  const Dims flat{shape.count()};
  Array<Real> values(flat);
  for (Int i = 0; i < values.count(); ++i) {
    const int n = nibble(seed, static_cast<std::uint64_t>(i));
    values[i] = kind == Kind::floating ? (n - 8) / 4.0 : n % 2;
  }
  Tensor all = make(shape.dtype, flat);
  write(values, all);
  shape.bytes = std::move(all.bytes);
  return shape;
}

}  // namespace assay::wire
