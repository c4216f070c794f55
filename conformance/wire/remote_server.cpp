#include "conformance/wire/remote_server.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
#include "conformance/testee/no_testee.h"

namespace assay::wire {
namespace {

using namespace std::chrono_literals;

constexpr auto time_to_introduce = 60s;          // an interpreter may have much to load
constexpr std::size_t most_output_bytes = 2048;  // of a command that fails, in a message

// What a command writes to its standard error, for the message if it fails.
class Output {
 public:
  Output() : file_(memfd_create("output", MFD_CLOEXEC)) {}
  ~Output() { ::close(file_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int file() const { return file_; }
  std::string end() const {
    std::array<char, most_output_bytes> bytes;
    const off_t size = lseek(file_, 0, SEEK_END);
    const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(most_output_bytes));
    const auto got = pread(file_, bytes.data(), bytes.size(), begin);
    std::string text(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

 private:
  int file_;
};

}  // namespace

RemoteServer::RemoteServer(const Address& address) : address_(address) {
  const Output output;
  try {
    if (command() && command()->forks) forker_.emplace(*command(), output.file());
    Connection connection(reached_by(), output.file());
    connection.limit(time_to_introduce);
    introduction_ = connection.introduction();
  } catch (const sandbox::Lost& lost) {
    const std::string end = output.end();
    testee::no_testee("the testee does not say who it is, but ", lost.text, end.empty() ? "" : ": ", end);
  }
}

std::vector<std::pair<std::string, std::string>> RemoteServer::identity() const {
  auto all = introduction_.facts;
  if (command()) std::ranges::move(testee::digests_of_command(command()->words), std::back_inserter(all));
  return all;
}

std::vector<std::pair<std::string, std::string>> RemoteServer::facts() const {
  auto all = identity();
  all.emplace_back("interface", "wire protocol 1");
  all.emplace_back("isolation", forker_     ? "a forked process for each block"
                                : command() ? "a process for each block"
                                            : "a RESET before each block");
  return all;
}

int RemoteServer::most_at_once() const {
  return command() || introduction_.has(has_connections) ? std::numeric_limits<int>::max() : 1;
}

void RemoteServer::lose(const char* rule, std::string sentence) {
  connection_->lose({Outcome::malformed, rule, std::move(sentence)});
}

testee::Reply RemoteServer::quit() {
  if (!connection_) connection_.emplace(reached_by());
  const ReplyHead head = connection_->quit();
  if (head.status == Status::ok) connection_.reset();
  return reply_of(head);
}

ReplyHead RemoteServer::too_long(const BodyWriter& body) const {
  return {Status::unsupported, 0, 0, "protocol.length",
          concat("the request takes ", body.bytes().size(), " bytes, but the testee takes ", introduction_.most_bytes)};
}

}  // namespace assay::wire
