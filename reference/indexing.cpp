#include "reference/indexing.h"

#include "reference/families.h"
#include "reference/shapes.h"

namespace assay {
namespace {

Array<Int> column(const Array<Int>& rows, Int k) {
  Array<Int> one(Dims{rows.sizes[0]});
  for (Int i = 0; i < one.count(); ++i) one[i] = rows({i, k});
  return one;
}

}  // namespace

Slice slice(Int size, std::optional<Int> start, std::optional<Int> end, Int step) {
  const auto inside = [size](Int i) { return std::clamp(i < 0 ? i + size : i, Int{0}, size); };
  const Int first = inside(start.value_or(0)), span = std::max<Int>(inside(end.value_or(size)) - first, 0);
  return {first, span / step + (span % step != 0)};
}

Dims Indexing::source(const Dims& i) const {
  const Dims in_block(std::span(i.begin() + first, static_cast<std::size_t>(block.size())));
  Dims in;
  Int whole = 0;
  for (const auto& index : at) {
    if (index) {
      in.push_back(families::Broadcast<Int>{*index, false}.at(in_block, 0));
    } else {
      in.push_back(i[whole < first ? whole : whole + block.size()]);
      ++whole;
    }
  }
  return in;
}

Indexing indexing(const Tensors& indices, const Dims& sizes) {
  Indexing x;
  for (const auto& index : indices) {
    if (!index) {
      x.at.emplace_back();
    } else if (is_mask(*index)) {
      const Array<Int> rows = nonzero_indices(read<Int>(*index));
      for (Int k = 0; k < index->rank(); ++k) x.at.emplace_back(column(rows, k));
    } else {
      x.at.emplace_back(read<Int>(*index));
    }
  }
  x.at.resize(static_cast<std::size_t>(sizes.size()));
  shapes::Broadcasting together;
  for (const auto& index : x.at)
    if (index) together.add("an index", index->sizes);
  x.block = together.sizes();
  Dims indexed;
  for (Int d = 0; d < sizes.size(); ++d) {
    auto& index = x.at[static_cast<std::size_t>(d)];
    (index ? indexed : x.sizes).push_back(index ? d : sizes[d]);
    if (!index) continue;
    for (Int& i : index->data) i += i < 0 ? sizes[d] : 0;
  }
  const bool adjoin = indexed.size() > 0 && *(indexed.end() - 1) - indexed[0] == indexed.size() - 1;
  x.first = adjoin ? static_cast<int>(indexed[0]) : 0;
  for (int k = 0; k < x.block.size(); ++k) x.sizes.insert(x.first + k, x.block[k]);
  return x;
}

}  // namespace assay
