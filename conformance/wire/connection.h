#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/sandbox/frames.h"
#include "conformance/wire/address.h"
#include "conformance/wire/message.h"
#include "conformance/wire/process.h"

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

// The host's side of a wire, as it was opened. Whatever an end does but reply is thrown as Lost: then the process that
// it is was killed, and nothing more may be asked.
class Connection {
 public:
  // Starts the command or has it forked, whose errors go to `errors`, or connects, as long as it is worth trying. An
  // end that nobody can start anew is reset. Throws Fault (invalid, testee) where there is no end at all.
  explicit Connection(const Address& address, int errors = 2);
  ~Connection();  // ends a process that is ours
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

  // Ends it and throws Lost, which names the rule: what was answered breaks it.
  [[noreturn]] void lose(const Fault& fault);

  // From now on until the next: lost when it is over.
  void limit(std::optional<std::chrono::milliseconds> time);

 private:
  using Clock = std::chrono::steady_clock;

  std::string exchanged(Request request, std::string_view body);
  void exchange(std::string& unsent);  // sends and receives what there is, or waits for it
  void receive(bool wait);
  void take_lines();  // all that came unasked; Lost unless these are lines for people
  int open_wire();    // the other side of it
  void start(const Command& command, int errors);
  void fork(const Forked& end, int errors);
  void connect(const Tcp& address);
  void open(const Serial& line);
  void reset();
  void close() noexcept;
  [[noreturn]] void lose_closed();
  bool is_process() const { return command_ || told_ >= 0; }
  std::optional<int> status();  // that it ended with, by now

  int descriptor_ = -1;
  std::optional<Process> command_;
  int told_ = -1;            // where the status of a fork comes; closed, it ends
  bool has_failed_ = false;  // the process, as its exit code says
  std::uint16_t number_ = 0;
  FrameReader frames_;
  std::optional<Clock::time_point> end_;
};

}  // namespace assay::wire
