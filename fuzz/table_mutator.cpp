#include "fuzz/table_mutator.h"

#include <flatbuffers/reflection.h>

#include <cstring>
#include <vector>

namespace assay {
namespace {

using flatbuffers::Table;
using reflection::BaseType;

// A number's bytes.
struct Place {
  std::uint8_t* at;
  std::size_t size;
};

class Numbers {
 public:
  explicit Numbers(const reflection::Schema& schema) : schema_(schema) {}

  void table(const reflection::Object& type, Table& t) {
    for (const auto* f : *type.fields()) field(*f, t);
  }
  std::vector<Place> places;

 private:
  void field(const reflection::Field& f, Table& t) {
    std::uint8_t* at = t.GetAddressOf(f.offset());
    const BaseType kind = f.type()->base_type();
    if (!at || places.size() > most) return;
    if (kind <= BaseType::Double)
      places.push_back({at, flatbuffers::GetTypeSize(kind)});
    else if (kind == BaseType::Obj)
      table(object(f.type()->index()), *reinterpret_cast<Table*>(target(at)));
    else if (kind == BaseType::Vector)
      vector(f, target(at));
    else if (kind == BaseType::Union)
      member(f, t, target(at));
  }

  void vector(const reflection::Field& f, std::uint8_t* elements) {
    const auto n = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(elements);
    const BaseType kind = f.type()->element();
    const std::size_t size = flatbuffers::GetTypeSize(kind);
    for (std::size_t i = 0; i < n && places.size() <= most; ++i) {
      std::uint8_t* at = elements + sizeof n + i * size;
      if (kind == BaseType::Obj)
        table(object(f.type()->index()), *reinterpret_cast<Table*>(target(at)));
      else if (kind <= BaseType::Double)
        places.push_back({at, size});
    }
  }

  void member(const reflection::Field& f, Table& t, std::uint8_t* value) {
    const auto tag =
        t.GetField<std::uint8_t>(static_cast<flatbuffers::voffset_t>(f.offset() - sizeof(flatbuffers::voffset_t)), 0);
    const auto* type =
        schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(f.type()->index()))->values()->LookupByKey(tag);
    if (tag != 0 && type) table(object(type->union_type()->index()), *reinterpret_cast<Table*>(value));
  }

  static std::uint8_t* target(std::uint8_t* offset) {
    return offset + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(offset);
  }
  const reflection::Object& object(int i) const {
    return *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(i));
  }

  static constexpr std::size_t most = 100'000;
  const reflection::Schema& schema_;
};

// Numbers at which checks turn, and neighbours of what is there; negative ones modulo 2^64.
std::uint64_t another(std::uint64_t now, std::minstd_rand& random) {
  constexpr std::uint64_t limits[] = {0,   1,   2,    3,     4,          7,          8,          16,
                                      127, 255, 4096, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF};
  switch (random() % 5) {
    case 0:
      return limits[random() % std::size(limits)];
    case 1:
      return 0 - limits[random() % std::size(limits)];
    case 2:
      return now + 1;
    case 3:
      return now - 1;
    default:
      return random() % 64;
  }
}

}  // namespace

bool mutate_table(std::span<std::uint8_t> tables, const std::uint8_t* schema, std::minstd_rand& random) {
  const reflection::Schema& s = *reflection::GetSchema(schema);
  Numbers numbers(s);
  numbers.table(*s.root_table(), *flatbuffers::GetMutableRoot<Table>(tables.data()));
  if (numbers.places.empty()) return false;
  const Place place = numbers.places[random() % numbers.places.size()];
  std::uint64_t value = 0;
  std::memcpy(&value, place.at, place.size);
  value = another(value, random);
  std::memcpy(place.at, &value, place.size);
  return true;
}

}  // namespace assay
