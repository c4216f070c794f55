#pragma once

#include "conformance/corrupt/site.h"
#include "reference/program/program.h"

// What is written over a place of a file, so that it is wrong there.
namespace assay::corrupt {

// The names of what is tried at a place of this kind, in the order in which it is. `width` is that of a number in
// bytes, `is_index` whether it is one.
std::vector<std::string_view> changes_of(SiteKind kind, std::size_t width, bool is_index);

// A file, and what can be made of it.
class Corrupter {
 public:
  // A .pte, .ptd or .bpte file, whose structure holds. Throws Fault where it does not.
  explicit Corrupter(Bytes file);

  const Bytes& file() const { return file_; }
  const std::vector<Site>& sites() const { return sites_; }
  std::vector<std::string_view> changes(const Site& site) const;

  // The file with this change of one of its places. It may be the file itself, where that says so already.
  Bytes changed(const Site& site, std::string_view change) const;

 private:
  Bytes with_number(const Site& site, std::string_view change) const;
  Bytes with_own_slots(std::size_t table, std::size_t slot, std::uint16_t says) const;
  Bytes cut(std::string_view change) const;

  Bytes file_;
  std::size_t tables_end_;
  std::vector<Site> sites_;
};

}  // namespace assay::corrupt
