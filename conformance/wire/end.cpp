#include "conformance/wire/end.h"

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

constexpr auto patience_with_introduction = 60s;  // an interpreter may have much to load
constexpr std::size_t most_words = 2048;          // of what a command says while it fails

// What a command says is kept, and told if it is no testee.
class Said {
 public:
  Said() : file_(memfd_create("said", MFD_CLOEXEC)) {}
  ~Said() { ::close(file_); }
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  int file() const { return file_; }
  std::string words() const {
    std::array<char, most_words> bytes;
    const off_t size = lseek(file_, 0, SEEK_END), begin = std::max<off_t>(0, size - static_cast<off_t>(most_words));
    const auto got = pread(file_, bytes.data(), bytes.size(), begin);
    std::string words(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    while (words.ends_with('\n')) words.pop_back();
    return words;
  }

 private:
  int file_;
};

}  // namespace

End::End(const Address& address) : address_(address) {
  const Said said;
  try {
    if (command() && command()->forks) forker_.emplace(*command(), said.file());
    Connection connection(reached_by(), said.file());
    connection.limit(patience_with_introduction);
    said_ = connection.introduction();
  } catch (const Lost& lost) {
    const std::string words = said.words();
    no_testee("the testee does not say who it is, but ", lost.text, words.empty() ? "" : ": ", words);
  }
}

std::vector<std::pair<std::string, std::string>> End::facts() const {
  auto all = said_.facts;
  all.emplace_back("interface", "runtime protocol 1");
  all.emplace_back("isolation", forker_     ? "a forked process for each block"
                                : command() ? "a process for each block"
                                            : "a RESET before each block");
  if (command()) std::ranges::move(digests_of_command(command()->words), std::back_inserter(all));
  return all;
}

int End::most_at_once() const { return command() || said_.has(has_connections) ? std::numeric_limits<int>::max() : 1; }

void End::lose(const char* rule, std::string sentence) {
  connection_->lose({Outcome::malformed, rule, std::move(sentence)});
}

Reply End::quit() {
  if (!connection_) connection_.emplace(reached_by());
  const ReplyHead head = connection_->quit();
  if (head.status == Status::ok) connection_.reset();
  return reply_of(head);
}

ReplyHead End::too_long(const BodyWriter& body) const {
  return {Status::unsupported, 0, 0, "protocol.length",
          text("the request takes ", body.bytes().size(), " bytes, but the testee takes ", said_.most_bytes)};
}

}  // namespace assay::wire
