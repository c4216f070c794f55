#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/view.h"

// What operators do to their arguments, by spec/operators and spec/format/handles.yaml.
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

// The types of numbers, as the bits of a set.
enum NumberType : std::uint8_t { no_number = 0, boolean = 1, integer = 2, real = 4 };

// The types that a number may have as an argument of this kind; empty for a kind that is not a number.
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
  read,         // its elements, or the number
  asked,        // the dtype, sizes and dim order of a tensor
  changed,      // in place, after it was read
  overwritten,  // in place, as a whole, without having been read
  written,      // as a whole
  viewed,       // becomes a view of the first argument
  grown,        // the second argument becomes its last row, at the index of the third
  // Of instructions other than an operator's arguments:
  returned,  // becomes the handle of the argument that was changed in place
  moved,     // becomes the handle of another tensor
  freed,
  either,  // read or written: only a custom operator or a delegate knows
};

constexpr bool is_alias(Use use) { return use == Use::viewed || use == Use::returned || use == Use::moved; }

// Whether the value, or the bytes of it, are another afterwards.
constexpr bool writes(Use use) { return use != Use::read && use != Use::asked; }

struct ArgumentRole {
  ArgumentKind kind;
  bool optional;  // may be None
  Use use;
};

struct OperatorRoles {
  // number: an integer or a double, and a bool where an argument may be one
  enum class Result : std::uint8_t { none, tensors, boolean, integer, number };

  std::string_view name;  // "aten::add.out"
  std::uint16_t first, count;
  Result result;
  bool in_place;  // elementwise: an out may lie exactly where an argument does

  std::span<const ArgumentRole> arguments() const;  // of the schema; returned values come behind them
  bool has(Use use) const;                          // whether an argument has this use
  // Whether the call returns an argument that is changed in place, and not an out.
  bool returns_changed() const { return !has(Use::written) && (has(Use::changed) || has(Use::overwritten)); }
};

std::span<const OperatorRoles> all_roles();                // sorted by name
const OperatorRoles* find_roles(const pte::Operator& op);  // null: the specification does not have it

}  // namespace assay::format
