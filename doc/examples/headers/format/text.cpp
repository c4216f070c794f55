#include <format/text.h>

#include <cstdio>

// Texts of a file are quoted, so that they cannot forge a line of output.
int main() {
  assay::format::Text sentence;
  sentence.add("there is no method ").add(assay::format::Quoted{"a\nb"}).add(" among ").add(3);
  std::printf("%.*s\n", static_cast<int>(sentence.view().size()), sentence.view().data());
  return sentence.view().find('\n') == std::string_view::npos ? 0 : 1;
}
