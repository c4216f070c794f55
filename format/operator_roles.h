#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/view.h"

// What operators do to their arguments. The table is generated from spec/operators and spec/format/handles.yaml.
namespace assay::format {

enum class ArgumentKind : std::uint8_t {
  tensor,
  tensors,
  optional_tensors,
  scalar,
  real,
  integer,
  boolean,
  integers,
  doubles,
  bools,
  string
};

// The types of numbers. Each is a bit, so that a sum of bits is a set of types.
enum NumberType : std::uint8_t { no_number = 0, boolean = 1, integer = 2, real = 4 };

// The types that a number may have as an argument of this kind. Empty for kinds that are not numbers.
constexpr std::uint8_t numbers_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::scalar:
      return boolean | integer | real;
    case ArgumentKind::real:
      return integer | real;
    case ArgumentKind::integer:
      return integer;
    case ArgumentKind::boolean:
      return boolean;
    default:
      return no_number;
  }
}

// What an instruction does to a value.
enum class Use : std::uint8_t {
  read,         // the elements of a tensor, or a number, are read
  asked,        // only the dtype, sizes and dim order of a tensor are read
  changed,      // the value is read and then written in place
  overwritten,  // the whole value is written in place without being read
  written,      // the whole value is written
  viewed,       // the value becomes a view of the first argument
  grown,        // the second argument is appended to it as a row; the third argument is the row's index
  // Uses of values that are not arguments of an operator's schema:
  returned,  // the value becomes the handle of the argument that was changed in place
  moved,     // the value becomes the handle of another tensor
  freed,
  either,  // a custom operator or a delegate reads or writes the value; which of them is not known
};

constexpr bool is_alias(Use use) { return use == Use::viewed || use == Use::returned || use == Use::moved; }

// Whether the use may change the value or its bytes.
constexpr bool writes(Use use) { return use != Use::read && use != Use::asked; }

struct ArgumentRole {
  ArgumentKind kind;
  bool optional;  // whether the argument may be None
  Use use;
};

struct OperatorRoles {
  // What an operator returns. `number` is an integer or a double, or a bool if an argument may be a bool.
  enum class Result : std::uint8_t { none, tensors, boolean, integer, number };

  std::string_view name;  // "aten::add.out"
  std::uint16_t first, count;
  Result result;
  // Whether an out may have exactly the same bytes as an argument. Elementwise operators allow it.
  bool in_place;
  // For an in-place form, such as aten::relu_: the index of the operator whose out is then self, aten::relu.out. Else
  // 0, which is no such operator.
  std::uint16_t with_out;

  // The arguments of the schema. In a call, the returned values follow these arguments.
  std::span<const ArgumentRole> arguments() const;
  bool has(Use use) const;  // whether an argument has this use
  // For an in-place form, the operator whose out is then self; else null. The arguments of a form stand at the same
  // places, and the out follows them.
  const OperatorRoles* operator_with_out() const;
  // Whether the call returns an argument that is changed in place, and not an out.
  bool returns_changed() const { return !has(Use::written) && (has(Use::changed) || has(Use::overwritten)); }
};

std::span<const OperatorRoles> all_roles();                // sorted by name
const OperatorRoles* find_roles(const pte::Operator& op);  // null if the specification lacks the operator

}  // namespace assay::format
