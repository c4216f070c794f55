#include <format/text.h>

#include <cstdio>

// What a file says is quoted, so that it cannot forge a line.
int main() {
  assay::format::Text sentence;
  sentence.add("there is no method ").add(assay::format::Quoted{"a\nb"}).add(" among ").add(3);
  std::printf("%.*s\n", static_cast<int>(sentence.view().size()), sentence.view().data());
  return sentence.view().find('\n') == std::string_view::npos ? 0 : 1;
}
