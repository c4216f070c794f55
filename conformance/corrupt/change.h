#pragma once

#include "conformance/corrupt/site.h"
#include "reference/program/program.h"

// Changes of one place of a file.
namespace assay::corrupt {

// The names of the changes of a site of this kind, in their order. `width` is the number of bytes of a number,
// `is_index` tells whether the number is an index.
std::vector<std::string_view> changes_of(SiteKind kind, std::size_t width, bool is_index);

// A file, its sites, and its changes.
class Corrupter {
 public:
  // A .pte, .ptd or .bpte file whose structure holds. Throws Fault for a file of no known kind.
  explicit Corrupter(Bytes file);

  const Bytes& file() const { return file_; }
  const std::vector<Site>& sites() const { return sites_; }
  std::vector<std::string_view> changes(const Site& site) const;

  // The file with this change at one of its sites. It equals the file if the site has that value already.
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
