#include <limits>

#include "reference/runtime/interpreter.h"

// Operators that work on places in memory, not on values.
namespace assay {
namespace {

// The sizes of a view. At most one of them is -1; it follows from the number of elements.
Dims view_sizes(const HeldTensor& self, const Ints& size) {
  const bool open = std::ranges::count(size, -1) == 1;
  const bool possible = std::ranges::count_if(size, [](Int n) { return n < 0; }) == (open ? 1 : 0);
  if (!possible || size.size() > max_rank) throw broken("I11", {}, "a view cannot have sizes ", size);
  Dims sizes, known;
  for (const Int n : size) sizes.push_back(n), known.push_back(n == -1 ? 1 : n);
  const Int elements = count(self.sizes), of_known = count(known);
  if (open && of_known == 0)
    throw broken("I11", {}, "a view of sizes ", size, " does not determine -1, because another size is 0");
  for (int d = 0; d < sizes.size(); ++d)
    if (sizes[d] == -1) sizes[d] = elements / of_known;
  if (count(sizes) != elements)
    throw broken("I11", {}, "a view of a tensor of sizes ", self.sizes, " cannot have sizes ", size);
  return sizes;
}

void check_count(Args args, std::string_view name) {
  if (args.size() != 3) throw broken("I9", {}, "has ", args.size(), " arguments, but ", name, " takes 3");
}

}  // namespace

// et_view(self, size, out): out becomes self's memory with other sizes. A planned out has the place of self.
void Interpreter::view(Args args) {
  check_count(args, "et_view");
  const HeldTensor& self = held(index(args[0]));
  const Value size = value(index(args[1]));
  if (!std::holds_alternative<Ints>(size)) throw broken("I10", {}, "the size of a view must be a list of integers");
  HeldTensor& out = held(index(args[2]));
  if (out.dtype != self.dtype) throw broken("I11", {}, "a view of ", self.dtype, " cannot be ", out.dtype);
  const Dims sizes = view_sizes(self, std::get<Ints>(size));
  out.check_sizes(sizes, "T24", {nullptr, "result"});
  if (out.home.memory->is_constant()) throw broken("T15", {}, "the result of a view cannot be a constant");
  if (out.home.memory->is_planned() && out.home != self.storage)
    throw broken("T27", {}, "the plan gives the view other bytes than the tensor that it views");
  out.sizes = sizes, out.storage = self.storage;
}

// et_copy_index(copy_to, copy_from, index): copy_to gets at least index + 1 rows, and copy_from becomes the last of
// them. Rows are written in order, so that no unwritten row is read.
void Interpreter::copy_index(Args args) {
  check_count(args, "et_copy_index");
  HeldTensor& to = held(index(args[0]));
  const HeldTensor& from = held(index(args[1]));
  const Int* row = std::get_if<Int>(&slots_[index(args[2])]);
  if (!row || *row < 0 || *row == std::numeric_limits<Int>::max() || to.dtype != from.dtype)
    throw broken("I11", {}, "et_copy_index requires rows with the dtype of copy_to and an index that is not negative");
  if (from.sizes.size() == max_rank) throw broken("I11", {}, "a tensor cannot have rows of ", max_rank, " dimensions");
  Dims sizes{*row + 1};
  for (const Int n : from.sizes) sizes.push_back(n);
  if (to.dynamism == HeldTensor::Dynamism::fixed && sizes.size() == to.declared.size())
    sizes[0] = std::max(sizes[0], to.declared[0]);
  to.check_sizes(sizes, "T24", {nullptr, "copy_to"});
  const Tensor copied = from.read();
  const std::size_t at = static_cast<std::size_t>(*row) * copied.bytes.size();
  if (const std::size_t there = to.storage.memory->written(to.storage.at); at > there)
    throw broken("T16", {}, "row ", *row, " begins at byte ", at, ", but before it only ", there, " bytes are written");
  to.prepare(at + copied.bytes.size(), 1);
  to.sizes = sizes;
  to.storage.memory->write_part(to.storage.at, at, copied.bytes);
  moved_ += 2 * copied.bytes.size();
}

}  // namespace assay
