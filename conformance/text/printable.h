#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

// Texts that come from files and requests, as they are printed: what comes out is valid UTF-8 without control
// characters and without marks that turn the direction of text, so that it can neither forge lines nor move a cursor.
namespace assay {

inline constexpr std::size_t most_shown = 200;  // bytes of a name; what is longer ends with "..."
std::string cut(std::string_view name);         // no more than that, for a form that escapes by itself

// A sentence that has such texts in it: what must not be printed is escaped, as in \x1b.
std::string printable(std::string_view sentence, std::size_t most = 4000);

// A name: as it is where it is short and of letters, digits and . : _ - / only, else in quotes, in which quotes and
// backslashes are escaped too.
std::string shown(std::string_view name);
std::string in_quotes(std::string_view text);  // in quotes in any case

// A quoted text that is made only when the message is.
struct Quoted {
  std::string_view text;
};
inline std::ostream& operator<<(std::ostream& out, Quoted q) { return out << in_quotes(q.text); }

}  // namespace assay
