#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

// Makes texts from files and requests safe to print. The result is valid UTF-8 without control characters and without
// marks that change the direction of text, so that it can neither forge lines nor move the cursor.
namespace assay::text {

inline constexpr std::size_t most_shown = 200;  // bytes of a name; a longer name ends with "..."
std::string cut(std::string_view name);         // cuts only, for output formats that escape by themselves

// A sentence that contains such texts. Characters that must not be printed are escaped, as in \x1b.
std::string printable(std::string_view sentence, std::size_t most = 4000);
std::string printable_lines(std::string_view text);  // keeps line feeds and tabs; for a form that shows where text ends

// A name. It stays as it is if it is short and consists of letters, digits and . : _ - / only. Else it is put in
// quotes, and quotes and backslashes in it are escaped too.
std::string shown(std::string_view name);
std::string in_quotes(std::string_view text);  // always in quotes

// A text that is quoted when a message is printed, and not before.
struct Quoted {
  std::string_view text;
};
inline std::ostream& operator<<(std::ostream& out, Quoted q) { return out << in_quotes(q.text); }

}  // namespace assay::text
