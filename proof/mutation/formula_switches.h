#pragma once

#include <bitset>
#include <functional>
#include <type_traits>
#include <utility>

#include "proof/mutation/mutant.h"

// The switches in mutated formulas of reference/operators (formulas.py).
namespace assay::mutation {

inline bool fits = true;  // false if the type of the place does not allow what the mutant puts there
inline std::bitset<std::size_t{1} << 13> evaluated;  // the places that were evaluated, by the first mutant of each

// Whether the k-th mutant of a place is switched on.
inline bool mutated(int first, int k = 0) {
  evaluated.set(static_cast<std::size_t>(first));
  return on(first + k);
}

// Returns f(operands) converted to R, or `otherwise` if f does not accept the operands or its result cannot be
// converted.
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

// An operator and the operators that replace it, between two operands: `a < Switch<std::less<>, std::less_equal<>>{n} <
// b`.
template <class Right, class... Faulty>
struct Switch {
  int first;

  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    using R = std::remove_cvref_t<decltype(Right()(a, b))>;
    R result = Right()(a, b);
    int k = 0;
    (..., (mutated(first, k++) ? void(result = as<R>(Faulty(), result, a, b)) : void()));
    return result;
  }
};

// A place and the operand on one side of it.
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

// Each precedence is served by one of its operators.
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

// Assignments group from the right to the left.
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
  return mutated(place.first) ? static_cast<decltype(-a)>(a) : -a;
}
inline Negated negated(int first) { return {first}; }

// One more or one less of an integer; twice or half of a real number.
template <class T>
T constant(int first, T n) {
  constexpr bool whole = std::is_integral_v<T>;
  if (mutated(first)) return static_cast<T>(whole ? n + 1 : n * 2);
  if (mutated(first, 1)) return static_cast<T>(whole ? n - 1 : n / 2);
  return n;
}

// A function that is replaced by another one, or by its first argument, or, if it is a predicate, by its negation.
template <class F, class G>
auto swapped(int first, F f, G other) {
  return [=](const auto&... arguments) {
    auto result = f(arguments...);
    if (mutated(first)) result = as<decltype(result)>(other, result, arguments...);
    return result;
  };
}
template <class F>
auto called(int first, F f) {
  return [=](const auto&... arguments) {
    auto result = f(arguments...);
    if constexpr (std::is_same_v<decltype(result), bool>)
      return result != mutated(first);
    else
      return mutated(first) ? as<decltype(result)>(First(), result, arguments...) : result;
  };
}

}  // namespace assay::mutation
