#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::wire {

struct Command {
  std::vector<std::string> words;  // the first is the program
  bool forks = false;              // whether the command is started once, as a Forker
};
struct Forked {
  int by;  // the socket of a Forker, which must outlive the address
};
struct Tcp {
  std::string host, port;
};
struct Serial {
  std::string device;
  unsigned baud = 115'200;
};
using Address = std::variant<Command, Forked, Tcp, Serial>;

// Addresses of servers by the parts of a testee's name. Each function throws Fault (invalid, testee) if it cannot read
// the text.
Address tcp_address(std::string_view host_and_port);       // "HOST:PORT"
Address serial_address(std::string_view device_and_baud);  // "DEVICE" or "DEVICE:BAUD"
Address command_address(std::string_view line);            // "CMD ARGS..."
Address python_address(std::string_view module);           // "MODULE" or "MODULE:ATTRIBUTE", served by assay's end.py

// Words as one line of a command, quoted where necessary, and the words of such a line, as a shell splits it.
std::string quoted(const std::vector<std::string>& words);
std::vector<std::string> words_of(std::string_view line);  // throws Fault if a quotation does not end

}  // namespace assay::wire
