#pragma once

#include <bitset>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include "tools/plant/scores.h"

// The formulas of reference/operators, in which one fault may be there at a time; mutantgen.py plants them.
namespace assay::mutants {

std::span<const plant::Planted> all();   // of a file, in a line; their kinds are "comparison", "operator",
                                         // "assignment", "constant", "call", "logic"
int first_of_place(std::size_t mutant);  // those of one place follow one another

inline int active = -1;                          // a position in all(); -1: none
inline bool fits = true;                         // no: what is active cannot stand where it was to, for its type
inline std::bitset<std::size_t{1} << 13> asked;  // the places that were evaluated, by their first faults

// Whether the k-th fault of a place is there.
inline bool planted(int first, int k = 0) {
  asked.set(static_cast<std::size_t>(first));
  return active == first + k;
}

// What f(operands) is, as an R; nothing of the kind where it is none.
template <class R, class F, class... Operands>
R as(F f, R otherwise, const Operands&... operands) {
  if constexpr (requires { static_cast<R>(f(operands...)); }) return static_cast<R>(f(operands...));
  fits = false;
  return otherwise;
}

struct First {
  template <class A, class... Others>
  A operator()(const A& a, const Others&...) const {
    return a;
  }
};

// An operator with its faults, between two operands: `a < Switch<std::less<>, std::less_equal<>>{n} < b`.
template <class Right, class... Faulty>
struct Switch {
  int first;

  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    using R = std::remove_cvref_t<decltype(Right()(a, b))>;
    R result = Right()(a, b);
    int k = 0;
    (..., (planted(first, k++) ? void(result = as<R>(Faulty(), result, a, b)) : void()));
    return result;
  }
};

// The operand on one side of a place, and the place.
template <class A, class P>
struct Side {
  const A& operand;
  P place;
};

template <class>
inline constexpr bool is_switch = false;
template <class... Operators>
inline constexpr bool is_switch<Switch<Operators...>> = true;
template <class P>
concept ASwitch = is_switch<P>;

// One operator of each precedence, for all that have it.
template <class A, ASwitch P>
Side<A, P> operator*(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator+(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator<<(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator<(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator==(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator&(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator^(const A& a, P place) {
  return {a, place};
}
template <class A, ASwitch P>
Side<A, P> operator|(const A& a, P place) {
  return {a, place};
}
template <class A, class P, class B>
auto operator*(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator+(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator<<(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator<(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator==(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator&(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator^(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}
template <class A, class P, class B>
auto operator|(const Side<A, P>& left, const B& b) {
  return left.place(left.operand, b);
}

// Assignments group from the right.
template <ASwitch P, class B>
Side<B, P> operator+=(P place, const B& b) {
  return {b, place};
}
template <class A, class B, class P>
A& operator+=(A& a, const Side<B, P>& right) {
  return a = static_cast<A>(right.place(a, right.operand));
}

// `negated(n) - x`
struct Negated {
  int first;
};
template <class A>
auto operator-(Negated place, const A& a) {
  return planted(place.first) ? static_cast<decltype(-a)>(a) : -a;
}
inline Negated negated(int first) { return {first}; }

// One more or one less; twice as much or half.
template <class T>
T constant(int first, T n) {
  constexpr bool whole = std::is_integral_v<T>;
  if (planted(first)) return static_cast<T>(whole ? n + 1 : n * 2);
  if (planted(first, 1)) return static_cast<T>(whole ? n - 1 : n / 2);
  return n;
}

// A function, and instead another, or the first argument, or no for yes.
template <class F, class G>
auto swapped(int first, F f, G other) {
  return [=](const auto&... arguments) {
    auto result = f(arguments...);
    if (planted(first)) result = as<decltype(result)>(other, result, arguments...);
    return result;
  };
}
template <class F>
auto called(int first, F f) {
  return [=](const auto&... arguments) {
    auto result = f(arguments...);
    if constexpr (std::is_same_v<decltype(result), bool>)
      return result != planted(first);
    else
      return planted(first) ? as<decltype(result)>(First(), result, arguments...) : result;
  };
}

}  // namespace assay::mutants
