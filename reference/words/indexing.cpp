#include "reference/words/indexing.h"

#include "reference/families.h"
#include "reference/words/shapes.h"

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
  Int next = 0;
  for (const auto& index : at) {
    if (index) {
      in.push_back(families::Broadcast<Int>{*index, false}.at(in_block, 0));
    } else {
      in.push_back(i[next < first ? next : next + block.size()]);
      ++next;
    }
  }
  return in;
}

IndexedSizes indexed_sizes(const Tensors& indices, const Dims& sizes) {
  std::vector<std::optional<Dims>> along;
  for (const auto& index : indices) {
    if (index && is_mask(*index)) {
      const Int marked = nonzero_indices(read<Int>(*index)).sizes[0];
      along.insert(along.end(), static_cast<std::size_t>(index->rank()), Dims{marked});
    } else {
      along.push_back(index ? std::optional(index->sizes) : std::nullopt);
    }
  }
  along.resize(static_cast<std::size_t>(sizes.size()));
  shapes::Broadcasting together;
  for (const auto& index : along)
    if (index) together.add("an index", *index);
  IndexedSizes x{together.sizes(), 0, {}, {}};
  Dims indexed;
  for (Int d = 0; d < sizes.size(); ++d) (along[static_cast<std::size_t>(d)] ? indexed : x.whole).push_back(d);
  for (const Int d : x.whole) x.sizes.push_back(sizes[d]);
  const bool adjoin = indexed.size() > 0 && *(indexed.end() - 1) - indexed[0] == indexed.size() - 1;
  x.first = adjoin ? static_cast<int>(indexed[0]) : 0;
  for (int k = 0; k < x.block.size(); ++k) x.sizes.insert(x.first + k, x.block[k]);
  return x;
}

Indexing indexing(const Tensors& indices, const Dims& sizes) {
  Indexing x{indexed_sizes(indices, sizes), {}};
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
  for (Int d = 0; d < sizes.size(); ++d)
    if (auto& index = x.at[static_cast<std::size_t>(d)])
      for (Int& i : index->data) i += i < 0 ? sizes[d] : 0;
  return x;
}

}  // namespace assay
