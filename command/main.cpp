#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <new>
#include <stdexcept>
#include <string>

#include "command/addresses.h"
#include "command/command.h"
#include "conformance/text/fault_text.h"

namespace {

using assay::Fault;
using assay::Outcome;

int refuse(const Fault& fault) {
  std::cout.flush();
  std::cerr << "assay: " << assay::text::sentence(fault) << '\n';
  return assay::exit_code(fault.outcome);
}

// Opens each standard stream that the caller closed, so that no other file or pipe gets its number. Reading from and
// writing to these streams fail, as on a closed stream.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));  // takes the lowest number
}

int run(char** argv) {
  std::vector<std::string> words;
  for (char** word = argv + 1; *word != nullptr; ++word) words.emplace_back(*word);
  try {
    return assay::command::run_command_line(assay::command::program(), std::move(words));
  } catch (const assay::command::UsageError& error) {
    std::cerr << "assay: " << error.what() << '\n';
    return assay::command::usage_error;
  } catch (const Fault& fault) {
    return refuse(fault);
  } catch (const std::bad_alloc&) {
    return refuse(Fault(Outcome::exhausted, "limits.memory", "the machine has no memory left"));
  } catch (const std::length_error&) {
    return refuse(Fault(Outcome::exhausted, "limits.memory", "it fits no memory"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  std::ios::sync_with_stdio(false);
  if (const assay::command::Command* command = argc > 1 ? assay::command::find_command(argv[1]) : nullptr)
    if (command->has_fixed_addresses) assay::command::fix_addresses(argv);
  const int code = run(argv);
  if (std::cout.flush()) return code;
  return refuse(Fault(Outcome::exhausted, "output", "the output cannot be written"));
}
