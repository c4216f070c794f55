#pragma once

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>

#include "reference/words/rules.h"

// Functions that the C++ code of the expressions in spec/rules.md calls. tools/specgen/expression.py generates that
// code.
namespace assay::words {

template <class T>
bool given(const Argument<const T*>& a) {
  return a.value != nullptr;
}
template <class T>
bool given(const Argument<std::optional<T>>& a) {
  return a.value.has_value();
}

// list[i]; a negative i counts from the end.
template <class List>
decltype(auto) at(const List& list, Int i) {
  const Int k = i < 0 ? i + std::ssize(list) : i;
  assert(0 <= k && k < std::ssize(list));
  return list.begin()[k];
}

// list[first:last]; a negative bound counts from the end.
template <class List>
std::span<const Int> slice(const List& list, Int first, Int last) {
  const Int n = std::ssize(list), from = first < 0 ? first + n : first, to = last < 0 ? last + n : last;
  assert(0 <= from && from <= to && to <= n);
  return {list.begin() + from, list.begin() + to};
}

// The product of sizes, with the same limit as assay::count.
template <class List>
Int elements(const List& sizes) {
  return count(Dims(std::span<const Int>(sizes.begin(), sizes.end())));
}

// The integers first, first + 1, ... last - 1.
struct Numbers {
  Int first, last;
};

template <class List, class F>
bool all(const List& list, F holds) {
  return std::all_of(list.begin(), list.end(), holds);
}
template <class F>
bool all(Numbers numbers, F holds) {
  for (Int n = numbers.first; n < numbers.last; ++n)
    if (!holds(n)) return false;
  return true;
}
template <class List, class F>
bool any(const List& list, F holds) {
  return std::any_of(list.begin(), list.end(), holds);
}

inline bool contains(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Lists of names for sentences: "float16, float32", or "\"mean\", \"sum\"".
std::string names(DTypeSet set);
std::string names(std::initializer_list<std::string_view> words);

}  // namespace assay::words
