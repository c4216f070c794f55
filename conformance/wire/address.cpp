#include "conformance/wire/address.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "conformance/testee/data_folder.h"
#include "conformance/testee/no_testee.h"
#include "reference/fault.h"

namespace assay::wire {
namespace {

bool is_plain(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_letter || std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

std::string quoted_word(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string all = "'";
  for (const char c : word) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return all + "'";
}

}  // namespace

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted_word(word);
  return line;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool is_open = false;  // the last word
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      is_open = false;
      continue;
    }
    if (!std::exchange(is_open, true)) words.emplace_back();
    if (c == '\\' && quote != '\'' && i + 1 < line.size())
      words.back() += line[++i];
    else if (quote ? c == quote : c == '\'' || c == '"')
      quote = quote ? 0 : c;
    else
      words.back() += c;
  }
  if (quote) no_testee("the command ", line, " has a quotation that does not end");
  return words;
}

Address tcp_address(std::string_view rest) {
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size())
    no_testee("a testee behind TCP is tcp:HOST:PORT, not tcp:", rest);
  return Tcp{std::string(rest.substr(0, colon)), std::string(rest.substr(colon + 1))};
}

Address serial_address(std::string_view rest) {
  Serial line{std::string(rest.substr(0, rest.find(':')))};
  const std::string_view baud = rest.substr(std::min(rest.size(), line.device.size() + 1));
  const auto [end, error] = std::from_chars(baud.data(), baud.data() + baud.size(), line.baud);
  const bool is_number = error == std::errc{} && end == baud.data() + baud.size();
  if (line.device.empty() || (rest.size() > line.device.size() && !is_number))
    no_testee("a testee on a serial line is serial:DEVICE or serial:DEVICE:BAUD, not serial:", rest);
  return line;
}

Address command_address(std::string_view line) {
  Command command{words_of(line)};
  if (command.words.empty()) no_testee("behind -- there is no command");
  return command;
}

Address python_address(std::string_view module) {
  const std::filesystem::path folder = find_folder("conformance/wire/python");
  if (folder.empty())
    no_testee("the testee python:", module, " needs share/assay/conformance/wire/python, which is missing");
  return Command{{"python3", (folder / "end.py").string(), "--fork", std::string(module)}, true};
}

}  // namespace assay::wire
