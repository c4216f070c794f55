#include "fuzz/mutator/tree_mutator.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <unordered_map>

#include "fuzz/mutator/bytes.h"

namespace assay::fuzz {
namespace {

using reflection::BaseType;

bool is_list(const reflection::Field& f) { return f.type()->base_type() == BaseType::Vector; }
bool is_real(const reflection::Field& f) {
  return (is_list(f) ? f.type()->element() : f.type()->base_type()) == BaseType::Double;
}
bool is_bool(const reflection::Field& f) {
  return (is_list(f) ? f.type()->element() : f.type()->base_type()) == BaseType::Bool;
}

// -- choosing a field ---------------------------------------------------------------------------------------------

// Runs f on a random field for which `wanted` is true, if there is one. Half of the time all such fields are equally
// likely; half of the time all kinds of such fields are equally likely.
template <class Wanted, class F>
void at_some_field(Table& root, Random& random, Wanted wanted, F f) {
  std::unordered_map<const reflection::Field*, std::size_t> counts;
  std::size_t all = 0;
  each_field(root, [&](const Site& s) { return wanted(s) && (++counts[&s.meta()], ++all, false); });
  if (all == 0) return;
  const reflection::Field* kind = nullptr;
  std::size_t skip = random.below(all);
  if (random.one_in(2)) {
    const auto chosen = std::next(counts.begin(), static_cast<std::ptrdiff_t>(random.below(counts.size())));
    kind = chosen->first, skip = random.below(chosen->second);
  }
  each_field(root, [&](const Site& s) {
    const bool counted = wanted(s) && (!kind || &s.meta() == kind);
    return counted && skip-- == 0 && (f(s), true);
  });
}

// -- indices that follow their elements ---------------------------------------------------------------------------

// Renumbers every index of `list`. The element that an index refers to may no longer exist.
template <class F>
void renumber(Table& root, const Field* list, F to) {
  each_field(root, [&](const Site& s) {
    if (list_indexed_by(s) == list)
      for (Number& n : numbers_in(s.value())) n = to(n);
    return false;
  });
}

// Reorders elements; some are removed and some are repeated. `order` has their old positions.
void rearrange(Table& root, Field& list, const std::vector<std::size_t>& order, Random& random) {
  const std::size_t size = size_of(list);
  const auto apply = [&](auto& elements) {
    std::remove_reference_t<decltype(elements)> now;
    for (const std::size_t i : order) now.push_back(elements[i]);
    elements = std::move(now);
  };
  if (!random.one_in(16))
    renumber(root, &list, [&](Number n) -> Number {
      if (n < 0 || static_cast<std::size_t>(n) >= size)
        return n == static_cast<Number>(size) ? static_cast<Number>(order.size()) : n;
      const auto at = std::ranges::find(order, static_cast<std::size_t>(n));
      return at == order.end() ? static_cast<Number>(random.below(order.size())) : at - order.begin();
    });
  if (auto* tables = std::get_if<Tables>(&list)) apply(*tables);
  if (auto* numbers = std::get_if<Numbers>(&list)) apply(*numbers);
}

// The member of the union that a table holds, or the table's own type.
const reflection::Object* type_of(const Table& table) {
  for (flatbuffers::uoffset_t i = 0; i < table.fields.size(); ++i)
    if (const auto* member = std::get_if<Tables>(&table.fields[i]);
        table.type->fields()->Get(i)->type()->base_type() == BaseType::Union && member && !member->empty())
      return member->front().type;
  return table.type;
}

// A random element of a list; one of the same kind as `like` if the list has one.
std::size_t similar(const Field& list, const Table* like, Random& random) {
  std::vector<std::size_t> choices;
  if (const auto* tables = std::get_if<Tables>(&list); tables && like)
    for (std::size_t i = 0; i < tables->size(); ++i)
      if (type_of((*tables)[i]) == type_of(*like)) choices.push_back(i);
  return choices.empty() ? random.below(size_of(list)) : random.of(choices);
}

const Table* element(const Field& list, Number i) {
  const auto* tables = std::get_if<Tables>(&list);
  return tables && i >= 0 && static_cast<std::size_t>(i) < tables->size() ? &(*tables)[static_cast<std::size_t>(i)]
                                                                          : nullptr;
}

// -- from one tree to another -------------------------------------------------------------------------------------

// Copies a field to another field of the same type, together with the elements that its indices refer to. These
// elements are appended to the lists of the target, or replaced by elements of their kind that the target already has.
class Transplant {
 public:
  Transplant(const Site& from, const Site& to, Random& random) : from_(from), to_(to), random_(random) {}

  void copy_field() {
    Field copy = from_.value();
    adapt_numbers(copy);
    if (auto* tables = std::get_if<Tables>(&copy))
      for (Table& t : *tables) adapt(t);
    to_.value() = std::move(copy);
  }

  // Appends copies to the elements of the target. Both fields are lists.
  void copy_elements(std::size_t begin, std::size_t n) {
    for (std::size_t i = begin; i < begin + n; ++i)
      if (const Table* original = element(from_.value(), static_cast<Number>(i))) {
        append(to_.value(), adapted(*original));
      } else {
        Field number = Numbers{std::get<Numbers>(from_.value())[i]};
        adapt_numbers(number);
        append(to_.value(), std::get<Numbers>(number).front());
      }
    extend(to_.value(), more_.extract(&to_.value()).mapped());
  }
  // Appends the elements that the copies refer to. Sites are invalid afterwards.
  void finish() {
    for (auto& [to, more] : more_) extend(*to, more);
  }

 private:
  // Adapts the field's own numbers.
  void adapt_numbers(Field& copy) { adapt(name_of_list(*from_.scope.table, from_.meta()), copy); }
  void adapt(std::string_view list, Field& value) {
    Field* from = list.empty() ? nullptr : list_named(list, &from_.scope);
    Field* to = list.empty() ? nullptr : list_named(list, &to_.scope);
    if (from && to && from != to)
      for (Number& n : numbers_in(value)) n = carried(*from, n, *to);
  }
  void adapt(Table& copy) {
    each_field(copy, [&](const Site& s) {
      if (!list_indexed_by(s)) adapt(name_of_list(*s.scope.table, s.meta()), s.value());
      return false;
    });
  }
  Table adapted(Table copy) {
    adapt(copy);
    return copy;
  }

  // The index in `to` of the element with index i in `from`.
  Number carried(const Field& from, Number i, Field& to) {
    if (i < 0 || static_cast<std::size_t>(i) >= size_of(from)) return i;
    const auto [at, is_new] = carried_.try_emplace({&from, i});
    if (!is_new) return at->second;
    const Table* original = element(from, i);
    if (size_of(to) > 0 && random_.one_in(3)) return at->second = static_cast<Number>(similar(to, original, random_));
    const Number place = at->second = static_cast<Number>(size_of(to) + size_of(more_[&to]));
    if (!original) return append(to, std::get<Numbers>(from)[static_cast<std::size_t>(i)]), place;
    append(to, *original);  // reserves its index before the elements that it refers to get theirs
    const std::size_t here = size_of(more_[&to]) - 1;
    Table copy = adapted(*original);
    std::get<Tables>(more_[&to])[here] = std::move(copy);
    return place;
  }

  template <class T>
  void append(Field& to, T element) {
    Field& list = more_[&to];
    if (!std::holds_alternative<std::vector<T>>(list)) list = std::vector<T>();
    std::get<std::vector<T>>(list).push_back(std::move(element));
  }
  static void extend(Field& to, const Field& more) {
    const auto extend = [&]<class T>(const T& elements) {
      if constexpr (std::is_same_v<T, Tables> || std::is_same_v<T, Numbers>) {
        if (!std::holds_alternative<T>(to)) to = T();
        std::get<T>(to).insert(std::get<T>(to).end(), elements.begin(), elements.end());
      }
    };
    std::visit(extend, more);
  }

  const Site &from_, &to_;
  Random& random_;
  std::map<std::pair<const Field*, Number>, Number> carried_;
  std::map<Field*, Field>
      more_;  // elements to append to each list when all is copied; until then tables keep their addresses
};

// Runs f on a random field of the same kind at another place.
template <class F>
void at_the_same_field(Table& root, const Site& like, Random& random, F f) {
  at_some_field(
      root, random, [&](const Site& s) { return &s.meta() == &like.meta(); }, f);
}

// -- changes of a field -------------------------------------------------------------------------------------------

class Change {
 public:
  Change(Table& root, Table& other, const Site& site, Random& random)
      : root_(root), other_(other), site_(site), random_(random) {}

  void make() {
    Field& value = site_.value();
    if (std::holds_alternative<std::monostate>(value) || random_.one_in(4)) return become_another();
    if (random_.one_in(32) && !is_list(site_.meta())) return void(value = Field());
    if (is_list(site_.meta()) && !std::holds_alternative<std::string>(value) && random_.one_in(2)) return change_list();
    const auto numbers = numbers_in(value);
    if (!numbers.empty()) return change_number(numbers[random_.below(numbers.size())]);
    if (auto* bytes = std::get_if<std::string>(&value)) return mutate_bytes(*bytes, random_);
    change_list();
  }

 private:
  // Replaces the value by the value of the same field at another place.
  void become_another() {
    if (std::holds_alternative<std::monostate>(site_.value())) begin();
    at_the_same_field(other_, site_, random_, [&](const Site& from) {
      Transplant transplant(from, site_, random_);
      transplant.copy_field();
      transplant.finish();
    });
  }

  // Gives an absent field its first value.
  void begin() {
    const auto type = site_.meta().type()->base_type();
    if (type <= BaseType::Double) site_.value() = Number{0};
    if (type == BaseType::String) site_.value() = std::string();
  }

  void change_number(Number& n) {
    if (Field* list = list_indexed_by(site_); list && !random_.one_in(8))
      n = static_cast<Number>(similar(*list, random_.one_in(4) ? nullptr : element(*list, n), random_));
    else if (is_real(site_.meta()))
      n = std::bit_cast<Number>(another_real(std::bit_cast<double>(n), random_));
    else
      n = is_bool(site_.meta()) ? n ^ 1 : another_number(n, random_);
  }

  void change_list() {
    const std::size_t size = size_of(site_.value());
    if (size == 0 || (size < 100'000 && random_.one_in(3))) return add_elements();
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t begin = random_.below(size),
                      n = std::max<std::size_t>(random_.few(std::min<std::size_t>(size - begin, 16)), 1);
    const std::vector<std::size_t> run(at(begin), at(begin + n));
    switch (random_.below(4)) {
      case 0:
        order.erase(at(begin), at(begin + n));
        break;
      case 1:
        order.insert(at(random_.below(size + 1)), run.begin(), run.end());
        break;
      case 2:
        order.erase(at(begin), at(begin + n));
        order.insert(at(random_.below(order.size() + 1)), run.begin(), run.end());
        break;
      default:
        std::swap(order[begin], order[random_.below(size)]);
    }
    rearrange(root_, site_.value(), order, random_);
  }

  // Inserts a run of elements from the same list at another place.
  void add_elements() {
    at_the_same_field(other_, site_, random_, [&](const Site& from) {
      const std::size_t size = size_of(from.value()), old = size_of(site_.value());
      if (size == 0) return;
      const std::size_t begin = random_.below(size),
                        n = std::max<std::size_t>(random_.few(std::min<std::size_t>(size - begin, 16)), 1);
      Transplant transplant(from, site_, random_);
      transplant.copy_elements(begin, n);
      const std::size_t now = size_of(site_.value());
      std::vector<std::size_t> order(now);
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto middle = order.begin() + static_cast<std::ptrdiff_t>(old);
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(random_.below(old + 1)), middle, order.end());
      rearrange(root_, site_.value(), order, random_);
      transplant.finish();
    });
  }

  Table &root_, &other_;
  const Site& site_;
  Random& random_;
};

}  // namespace

void mutate(Table& root, Table& other, Random& random) {
  at_some_field(
      root, random, [](const Site&) { return true; },
      [&](const Site& site) { Change(root, other, site, random).make(); });
}

}  // namespace assay::fuzz
