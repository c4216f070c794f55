#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/testees/frames.h"
#include "conformance/testees/wire/address.h"
#include "conformance/testees/wire/message.h"

namespace assay::wire {

// What an end says of itself.
struct Introduction {
  std::string name;
  std::uint64_t ticks_per_second = 0;
  std::uint32_t most_bytes = 0;  // of the body of a request that it takes
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> features, kernels;  // sorted

  bool has(std::string_view feature) const;
};

// The host's side of a wire, as it was opened. Whatever an end does but reply is thrown as Lost: then the command that
// it is was killed, and nothing more may be asked.
class Connection {
 public:
  // Starts the command, whose errors go to `errors`, or connects, as long as it is worth trying. An end that nobody can
  // start anew is reset. Throws Fault (invalid, testee) where there is no end at all.
  explicit Connection(const Address& address, int errors = 2);
  ~Connection();  // ends a command
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Its reply; `read` reads what stands behind the head where the status is ok.
  template <class Read>
  ReplyHead ask(Request request, std::string_view body, Read read) {
    const std::string reply = exchanged(request, body);
    try {
      BodyReader reader(reply);
      const ReplyHead head = reader.head();
      if (head.status != Status::ok) return head;
      read(reader);
      reader.finish();
      return head;
    } catch (const Fault& fault) {
      lose(fault);
    }
  }
  ReplyHead ask(Request request, std::string_view body = {}) {
    return ask(request, body, [](BodyReader&) {});
  }

  // HELLO and CAPS.
  Introduction introduction();

  // QUIT, after which nothing more may be asked: lost where the end stays.
  ReplyHead quit();

  // Ends a command and throws Lost, which names the rule: what was answered breaks it.
  [[noreturn]] void lose(const Fault& fault);

  // From now on until the next: lost when it is over.
  void limit(std::optional<std::chrono::milliseconds> time);

 private:
  using Clock = std::chrono::steady_clock;

  std::string exchanged(Request request, std::string_view body);
  void exchange(std::string& unsent);  // sends and receives what there is, or waits for it
  void receive(bool wait);
  void take_lines();  // all that came unasked; Lost unless these are lines for people
  void start(const Command& command, int errors);
  void connect(const Tcp& address);
  void open(const Serial& line);
  void reset();
  void close() noexcept;
  [[noreturn]] void lose_closed();

  int descriptor_ = -1;
  pid_t command_ = -1;
  bool has_failed_ = false;  // the command, as its exit code says
  std::uint16_t number_ = 0;
  FrameReader frames_;
  std::optional<Clock::time_point> end_;
};

}  // namespace assay::wire
