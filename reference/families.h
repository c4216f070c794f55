#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "reference/array.h"

// The loops of the operator families. An operator of a family is one small function, and this header has the loop
// around it. Every loop fills outputs `y`, whose sizes come from the entry's `shape`.
namespace assay::families {

// Reads an element of x by the index of a larger result. Dimensions of size 1 repeat.
template <class A>
struct Broadcast {
  const Array<A>& x;
  bool same;
  A at(const Dims& i, Int flat) const {
    if (same) return x[flat];
    Int at = 0;
    const int lead = i.size() - x.sizes.size();
    for (int d = 0; d < x.sizes.size(); ++d) at = at * x.sizes[d] + (x.sizes[d] == 1 ? 0 : i[lead + d]);
    return x[at];
  }
};
template <class A>
struct OptionalBroadcast {
  std::optional<Broadcast<A>> x;
  std::optional<A> at(const Dims& i, Int flat) const { return x ? std::optional(x->at(i, flat)) : std::nullopt; }
};
template <class A>
Broadcast<A> broadcast(const Array<A>& x, const Dims& sizes) {
  return {x, x.sizes == sizes};
}
template <class A>
OptionalBroadcast<A> broadcast(const std::optional<Array<A>>& x, const Dims& sizes) {
  return {x ? std::optional(broadcast(*x, sizes)) : std::nullopt};
}

// Computes y(i) = f(x(i)...) for each index i. Each x is broadcast to the sizes of y.
template <class R, class F, class... X>
void elementwise(Array<R>& y, F f, const X&... x) {
  Int flat = 0;
  const auto loop = [&](const auto&... operand) {
    for (const Dims& i : indices(y.sizes)) {
      y[flat] = static_cast<R>(f(operand.at(i, flat)...));
      ++flat;
    }
  };
  loop(broadcast(x, y.sizes)...);
}

// The rows of a tensor along some dimensions. A row has the elements whose indices differ only in these dimensions.
// `length` is the number of elements in a row, and `number` is the number of rows.
struct Rows {
  Int length = 1, number = 1;
  Buffer<Int> source;  // element k of row r is at source[r * length + k] in row-major order
};
Rows rows(const Dims& sizes, const Dims& dims);

// Calls f(row, r) for every row r of x along `dims`, in row-major order of the other dimensions.
template <class A, class F>
void each_row(const Array<A>& x, const Dims& dims, F f) {
  const Rows all = rows(x.sizes, dims);
  charge_visits(count({all.number, std::max<Int>(all.length, 1)}));
  Buffer<A> row(static_cast<std::size_t>(all.length));
  for (Int r = 0; r < all.number; ++r) {
    for (Int k = 0; k < all.length; ++k)
      row[static_cast<std::size_t>(k)] = x[all.source[static_cast<std::size_t>(r * all.length + k)]];
    f(std::span<const A>(row), r);
  }
}

// Computes y(i) = f(row i of x along `dims`).
template <class R, class A, class F>
void reduce(Array<R>& y, F f, const Array<A>& x, const Dims& dims) {
  each_row(x, dims, [&](std::span<const A> row, Int r) { y[r] = static_cast<R>(f(row)); });
}
template <class R, class S, class A, class F>
void reduce(Array<R>& y, Array<S>& z, F f, const Array<A>& x, const Dims& dims) {
  each_row(x, dims, [&](std::span<const A> row, Int r) { std::tie(y[r], z[r]) = f(row); });
}

// Writes the rows of the result y along `dims`, one at a time.
template <class R>
class ResultRows {
 public:
  ResultRows(Array<R>& y, const Dims& dims)
      : y_(y), rows_(rows(y.sizes, dims)), row_(static_cast<std::size_t>(rows_.length)) {}
  std::span<R> row() { return row_; }
  void store(Int r) {
    for (Int k = 0; k < rows_.length; ++k)
      y_[rows_.source[static_cast<std::size_t>(r * rows_.length + k)]] = row_[static_cast<std::size_t>(k)];
  }

 private:
  Array<R>& y_;
  Rows rows_;
  Buffer<R> row_;
};

// Calls f(row of x along dim, row of y along dim...) for each row. The rows of a y may be longer or shorter than the
// rows of x.
template <class A, class F, class... R>
void along(F f, const Array<A>& x, Int dim, Array<R>&... y) {
  const auto line = [dim](const Dims& sizes) { return sizes.size() == 0 ? Dims{} : Dims{wrap_dim(dim, sizes.size())}; };
  std::tuple<ResultRows<R>...> results{ResultRows<R>(y, line(y.sizes))...};
  each_row(x, line(x.sizes), [&](std::span<const A> row, Int r) {
    std::apply(
        [&](auto&... result) {
          f(row, result.row()...);
          (result.store(r), ...);
        },
        results);
  });
}

// Computes y(i) = x(source(i)). `source` maps an index of the result to an index of x.
template <class T, class F>
void move(Array<T>& y, F source, const Array<T>& x) {
  Int flat = 0;
  for (const Dims& i : indices(y.sizes)) y[flat++] = x(source(i));
}

// Computes the same, except that a source index outside of x gives the value `outside`.
template <class T, class F>
void move(Array<T>& y, F source, const Array<T>& x, T outside) {
  Int flat = 0;
  for (const Dims& i : indices(y.sizes)) {
    const Dims at = source(i);
    y[flat++] = inside(x.sizes, at) ? x(at) : outside;
  }
}

// Sets the k-th element of y in row-major order to f(k).
template <class T, class F>
void create(Array<T>& y, F f) {
  charge_visits(y.count());
  for (Int k = 0; k < y.count(); ++k) y[k] = f(k);
}

}  // namespace assay::families
