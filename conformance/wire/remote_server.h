#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/sandbox/death.h"
#include "conformance/wire/connection.h"

namespace assay::wire {

// A server, and this process's connection to it, which the first request opens. The constructor requests the server's
// introduction over a separate connection.
class RemoteServer {
 public:
  explicit RemoteServer(const Address& address);  // throws Fault (invalid, testee) without an introduction

  const Introduction& introduction() const { return introduction_; }
  // What identifies the server: the facts that it states, and digests of the files of its command.
  std::vector<std::pair<std::string, std::string>> identity() const;
  // The same facts, the interface, and how cases are kept apart.
  std::vector<std::pair<std::string, std::string>> facts() const;
  int most_at_once() const;  // The number of connections that it accepts at the same time.

  // From now on this child tells its parent which request it waits for, because the reply may never come.
  void announce_requests() { announces_ = true; }

  template <class... Read>
  ReplyHead ask(Request request, const BodyWriter& body, Read... read) {
    if (body.bytes().size() > introduction_.most_bytes) return too_long(body);
    std::optional<sandbox::Circumstance> waiting;
    if (announces_)
      waiting.emplace(concat(sandbox::waiting_for, request_names.at(static_cast<std::size_t>(request) - 1)));
    if (!connection_) connection_.emplace(reached_by());
    return connection_->ask(request, body.bytes(), read...);
  }

  // Closes the connection and throws Lost: an answer breaks the rule.
  [[noreturn]] void lose(const char* rule, std::string sentence);

  // Sends QUIT. The next request opens another connection.
  testee::Reply quit();

 private:
  const Command* command() const { return std::get_if<Command>(&address_); }
  Address reached_by() const { return forker_ ? Address(forker_->forked()) : address_; }
  ReplyHead too_long(const BodyWriter& body) const;

  Address address_;
  std::optional<Forker> forker_;
  Introduction introduction_;
  std::optional<Connection> connection_;
  bool announces_ = false;
};

}  // namespace assay::wire
