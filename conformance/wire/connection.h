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

// What a server states in its replies to HELLO and CAPS.
struct Introduction {
  std::string name;
  std::uint64_t ticks_per_second = 0;
  std::uint32_t most_bytes = 0;  // the largest number of bytes in the body of a request
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> features, kernels;  // sorted

  bool has(std::string_view feature) const;
};

// The client's side of an open wire. Anything but a correct reply throws Lost: the process of the server has then been
// killed, and the connection must not be used any more.
class Connection {
 public:
  // Starts the command, or requests a fork from the fork server, with `errors` as its standard error. For other
  // addresses it connects within a time limit and sends RESET, because a server that was not started here may have the
  // state of an earlier client. Throws Fault (invalid, testee) if it reaches no server.
  explicit Connection(const Address& address, int errors = 2);
  ~Connection();  // kills a process that it started
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends a request and returns the head of the reply; `read` reads the rest, if the status is ok.
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

  // Sends QUIT, the last request. Throws Lost where the server does not exit.
  ReplyHead quit();

  // Closes the connection and throws Lost, which names the rule that an answer breaks.
  [[noreturn]] void lose(const Fault& fault);

  // Limits the time of all requests from now until the next call of limit(); then they throw Lost.
  void limit(std::optional<std::chrono::milliseconds> time);

 private:
  using Clock = std::chrono::steady_clock;

  std::string exchanged(Request request, std::string_view body);
  void exchange(std::string& unsent);  // sends and receives what is ready, or waits for it
  void receive(bool wait);
  void take_lines();  // shows the lines for people that have come; throws Lost for other frames
  int open_wire();    // returns the server's side
  void start(const Command& command, int errors);
  void fork(const Forked& forked, int errors);
  void connect(const Tcp& address);
  void open(const Serial& line);
  void reset();
  void close() noexcept;
  [[noreturn]] void lose_closed();
  bool is_process() const { return command_ || status_pipe_ >= 0; }
  std::optional<int> status();  // the wait status of the server's process, if it has ended

  std::string why_lost_ = "was lost before";  // what a request after the loss is answered with
  int descriptor_ = -1;
  std::optional<Process> command_;
  // The pipe from which the wait status of a fork is read. Closing it kills the fork.
  int status_pipe_ = -1;
  bool has_failed_ = false;  // the exit code of the process is not 0
  std::uint16_t number_ = 0;
  sandbox::FrameReader frames_;
  std::optional<Clock::time_point> end_;
};

}  // namespace assay::wire
