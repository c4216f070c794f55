#include "fuzz/mutator/json_mutator.h"

#include "fuzz/mutator/bytes.h"

namespace assay::fuzz {
namespace {

std::vector<text::Json*> all_in(text::Json& json) {
  std::vector<text::Json*> all{&json};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]->is_structured())
      for (text::Json& inner : *all[i]) all.push_back(&inner);
  return all;
}

void change_text(text::Json& json, Random& random) {
  std::string text = json.get<std::string>();
  mutate_bytes(text, random);
  json = std::move(text);
}

void change_list(text::Json& list, const text::Json& piece, Random& random) {
  const auto at = list.begin() + static_cast<std::ptrdiff_t>(random.below(list.size()));
  if (list.empty() || random.one_in(3))
    list.insert(list.end(), list.empty() ? piece : text::Json(*at));
  else if (random.one_in(2))
    list.erase(at);
  else
    std::swap(*at, random.of(list));
}

void change_object(text::Json& object, const text::Json& piece, Random& random) {
  if (object.empty()) return void(object["key"] = piece);
  auto member = object.begin();
  std::advance(member, static_cast<std::ptrdiff_t>(random.below(object.size())));
  if (random.one_in(2))
    object.erase(member);
  else
    object[member.key() + (random.one_in(2) ? "" : "2")] = piece;
}

void change(text::Json& json, const text::Json& piece, Random& random) {
  if (random.one_in(6)) return void(json = piece);
  if (json.is_string()) return change_text(json, random);
  if (json.is_boolean()) return void(json = !json.get<bool>());
  if (json.is_number_integer()) return void(json = another_number(json.get<std::int64_t>(), random));
  if (json.is_number()) return void(json = another_real(json.get<double>(), random));
  if (json.is_array()) return change_list(json, piece, random);
  if (json.is_object()) return change_object(json, piece, random);
  json = static_cast<std::int64_t>(random.below(4));
}

}  // namespace

void mutate(text::Json& json, Random& random) {
  const std::vector<text::Json*> all = all_in(json);
  const text::Json piece = *random.of(all);
  change(*random.of(all), piece, random);
}

}  // namespace assay::fuzz
