#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::wire {

struct Command {
  std::vector<std::string> words;  // of which the first is the program
  bool forks = false;              // it is started once, as a Forker
};
struct Forked {
  int by;  // the socket of a Forker, which is there longer
};
struct Tcp {
  std::string host, port;
};
struct Serial {
  std::string device;
  unsigned baud = 115'200;
};
using Address = std::variant<Command, Forked, Tcp, Serial>;

// Where a testee is that speaks the protocol: "-- CMD ARGS...", "tcp:HOST:PORT", "serial:DEVICE[:BAUD]", or
// "python:MODULE[:ATTRIBUTE]", for which `python_end` is run, "torch", for which it is, too; none: the name is another
// testee's. Throws Fault (invalid, testee) where it is one and cannot be read.
std::optional<Address> address_of(std::string_view testee, const std::filesystem::path& python_end);

// Words as one line of a command, in quotes where they need it, and the other way, as a shell does it.
std::string quoted(const std::vector<std::string>& words);
std::vector<std::string> words_of(std::string_view line);  // throws Fault where a quotation does not end

}  // namespace assay::wire
