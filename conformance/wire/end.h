#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/wire/connection.h"

namespace assay::wire {

// An end, and this process's connection with it, which the first request makes. Asks it who it is, and lets go of it.
class End {
 public:
  explicit End(const Address& address);  // throws Fault (invalid, testee) where it does not say who it is

  const Introduction& introduction() const { return said_; }
  std::vector<std::pair<std::string, std::string>> facts() const;  // what it says, and what its command is
  int most_at_once() const;                                        // processes that have connections with it

  template <class... Read>
  ReplyHead ask(Request request, const BodyWriter& body, Read... read) {
    if (body.bytes().size() > said_.most_bytes) return too_long(body);
    if (!connection_) connection_.emplace(reached_by());
    return connection_->ask(request, body.bytes(), read...);
  }

  // Its answers are none by this rule.
  [[noreturn]] void lose(const char* rule, std::string sentence);

  // The next request makes another connection.
  Reply quit();

 private:
  const Command* command() const { return std::get_if<Command>(&address_); }
  Address reached_by() const { return forker_ ? Address(forker_->end()) : address_; }
  ReplyHead too_long(const BodyWriter& body) const;

  Address address_;
  std::optional<Forker> forker_;
  Introduction said_;
  std::optional<Connection> connection_;
};

}  // namespace assay::wire
