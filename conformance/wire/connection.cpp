#include "conformance/wire/connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>
#include <thread>

#include "conformance/sandbox/child.h"
#include "conformance/sandbox/descriptors.h"
#include "conformance/testee/no_testee.h"

namespace assay::wire {
namespace {

using namespace std::chrono_literals;

constexpr auto time_to_connect = 10s;  // a device may be restarting
constexpr auto time_to_exit = 1s;      // for a process that has closed its output
constexpr auto time_to_reset = 1s;     // after it a server has dropped a part of a frame
constexpr int most_resets = 15;        // on a shared machine a server may wait for a processor

std::string errno_text() { return std::generic_category().message(errno); }

speed_t speed_of(const Serial& line) {
  static constexpr std::array<std::pair<unsigned, speed_t>, 9> speeds{{{9'600, B9600},
                                                                       {19'200, B19200},
                                                                       {38'400, B38400},
                                                                       {57'600, B57600},
                                                                       {115'200, B115200},
                                                                       {230'400, B230400},
                                                                       {460'800, B460800},
                                                                       {921'600, B921600},
                                                                       {1'000'000, B1000000}}};
  for (const auto& [baud, speed] : speeds)
    if (baud == line.baud) return speed;
  testee::no_testee("there is no serial speed of ", line.baud, " baud");
}

int try_to_connect(const addrinfo& to) {
  const int socket = ::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC, to.ai_protocol);
  if (socket >= 0 && ::connect(socket, to.ai_addr, to.ai_addrlen) == 0) return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

// The message is the same whatever was asked before: it does not contain numbers of requests.
std::string why_no_reply(const sandbox::Frame& frame, Request request, std::uint16_t number) {
  const int wanted = reply_to(request);
  if (frame.kind != wanted) return concat("a frame of kind ", +frame.kind, " came instead of kind ", wanted);
  if (frame.number == number) return "the reply came before the request";
  if (frame.number == (number & 0xff)) return "the reply has only the lowest 8 bits of the request's number";
  return "the reply has another number than the request";
}

}  // namespace

bool Introduction::has(std::string_view feature) const { return std::ranges::binary_search(features, feature); }

Connection::Connection(const Address& address, int errors) {
  std::visit(
      [&]<class T>(const T& a) {
        if constexpr (std::is_same_v<T, Command>) start(a, errors);
        if constexpr (std::is_same_v<T, Forked>) fork(a, errors);
        if constexpr (std::is_same_v<T, Tcp>) connect(a);
        if constexpr (std::is_same_v<T, Serial>) open(a);
      },
      address);
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
  if (!is_process()) reset();
}

Connection::~Connection() { close(); }

void Connection::close() noexcept {
  for (int* const descriptor : {&descriptor_, &status_pipe_})
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  command_.reset();
}

// -- opening ------------------------------------------------------------------------------------------------------

int Connection::open_wire() {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  descriptor_ = sockets[0];
  return sockets[1];
}

void Connection::start(const Command& command, int errors) {
  const int theirs = open_wire();
  try {
    command_.emplace(command, theirs, errors);
  } catch (...) {
    ::close(theirs), close();
    throw;
  }
  ::close(theirs);
}

void Connection::fork(const Forked& forked, int errors) {
  std::array<int, 2> status{};
  if (pipe2(status.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  status_pipe_ = status[0];
  const int theirs = open_wire();
  std::string error;
  try {
    sandbox::send_descriptors(forked.by, std::array{theirs, errors, status[1]});
  } catch (const std::system_error& failure) {
    error = failure.code().message();
  }
  ::close(theirs);
  ::close(status[1]);
  if (error.empty()) return;
  close();
  testee::no_testee("the fork server of the testee has ended: ", error);
}

void Connection::connect(const Tcp& address) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  const std::string where = concat(address.host, ":", address.port);
  if (const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found); error != 0)
    testee::no_testee("there is no ", where, ": ", gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  const auto end = Clock::now() + time_to_connect;
  for (;;) {
    for (const addrinfo* to = found; to && descriptor_ < 0; to = to->ai_next) descriptor_ = try_to_connect(*to);
    if (descriptor_ >= 0) break;
    if (Clock::now() > end) testee::no_testee("no server answers at ", where, ": ", errno_text());
    std::this_thread::sleep_for(50ms);
  }
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Connection::open(const Serial& line) {
  const speed_t speed = speed_of(line);
  descriptor_ = ::open(line.device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  termios settings{};
  if (descriptor_ < 0 || tcgetattr(descriptor_, &settings) != 0) {
    const std::string error = errno_text();
    close();
    testee::no_testee(line.device, " is no serial line that can be opened: ", error);
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) close(), testee::no_testee(line.device, " is in use");
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  cfsetspeed(&settings, speed);
  tcsetattr(descriptor_, TCSANOW, &settings);
}

// Ignores what an earlier client was sent, and what a device prints while it starts.
void Connection::reset() {
  std::string sentence;
  for (int i = 0; i < most_resets; ++i) {
    tcflush(descriptor_, TCIOFLUSH);
    frames_ = {};
    std::string unsent = sandbox::encode(static_cast<std::uint8_t>(Request::reset), {}, ++number_);
    try {
      for (limit(time_to_reset); !end_ || Clock::now() < *end_;) {
        while (const auto frame = frames_.next())
          if (frame->kind == reply_to(Request::reset) && frame->number == number_) return limit(std::nullopt);
        if (frames_.broken())
          sentence = frames_.broken()->message, frames_.skip_to_mark();
        else
          exchange(unsent);
      }
    } catch (const sandbox::Lost& lost) {
      sentence = lost.text;
      if (descriptor_ < 0) break;
    }
  }
  close();
  testee::no_testee("the testee does not answer a RESET", sentence.empty() ? "" : ": ", sentence);
}

Introduction Connection::introduction() {
  Introduction all;
  const auto fail_unless_ok = [](const ReplyHead& head) {
    if (head.status != Status::ok) testee::no_testee("the testee does not say who it is: ", reply_of(head).message);
  };
  fail_unless_ok(ask(Request::hello, BodyWriter().number(sandbox::most_frame_bytes).bytes(), [&](BodyReader& body) {
    all.name = body.text();
    all.ticks_per_second = body.number<std::uint64_t>();
    all.most_bytes = body.number<std::uint32_t>();
    for (std::size_t left = body.count(8); left > 0; --left) {
      std::string name = body.text();
      all.facts.emplace_back(std::move(name), body.text());
    }
    if (all.name.empty()) throw Fault(Outcome::malformed, "protocol.body", "the testee has no name");
  }));
  fail_unless_ok(ask(Request::caps, {}, [&](BodyReader& body) {
    all.features = body.texts();
    all.kernels = body.texts();
  }));
  std::ranges::sort(all.features);
  std::ranges::sort(all.kernels);
  return all;
}

// -- asking -------------------------------------------------------------------------------------------------------

void Connection::limit(std::optional<std::chrono::milliseconds> time) {
  end_.reset();
  if (time) end_ = Clock::now() + *time;
}

std::string Connection::exchanged(Request request, std::string_view body) {
  if (descriptor_ < 0) throw sandbox::Lost{sandbox::TaskResult::End::exited, 0, why_lost_};
  receive(false);
  take_lines();
  std::string unsent = sandbox::encode(static_cast<std::uint8_t>(request), body, ++number_);
  for (;;) {
    auto frame = frames_.next();
    if (frames_.broken()) lose(*frames_.broken());
    if (!frame) {
      exchange(unsent);
    } else if (frame->kind == log_kind) {
      static_cast<void>(std::fprintf(stderr, "%s\n", frame->text.c_str()));
    } else if (!unsent.empty() || frame->kind != reply_to(request) || frame->number != number_) {
      lose({Outcome::malformed, "protocol.reply", why_no_reply(*frame, request, number_)});
    } else {
      take_lines();
      return std::move(frame->text);
    }
  }
}

void Connection::take_lines() {
  while (const auto frame = frames_.next()) {
    if (frame->kind != log_kind)
      lose({Outcome::malformed, "protocol.reply", concat("a frame of kind ", +frame->kind, " came unasked")});
    static_cast<void>(std::fprintf(stderr, "%s\n", frame->text.c_str()));
  }
  if (frames_.broken()) lose(*frames_.broken());
}

void Connection::exchange(std::string& unsent) {
  if (!unsent.empty()) {
    auto sent = sandbox::uninterrupted(
        [&] { return send(descriptor_, unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
    if (sent < 0 && errno == ENOTSOCK)
      sent = sandbox::uninterrupted([&] { return ::write(descriptor_, unsent.data(), unsent.size()); });
    if (sent > 0) unsent.erase(0, static_cast<std::size_t>(sent));
  }
  pollfd watched{descriptor_, static_cast<short>(unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  const auto left = end_ ? std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()) : -1ms;
  if (end_ && left <= 0ms) throw sandbox::Lost{sandbox::TaskResult::End::timed_out, 0, "does not answer in time"};
  if (poll(&watched, 1, static_cast<int>(left.count())) > 0 && watched.revents != POLLOUT) receive(true);
}

void Connection::receive(bool wait) {
  std::array<char, 1 << 16> bytes;
  const auto got = sandbox::uninterrupted([&] { return ::read(descriptor_, bytes.data(), bytes.size()); });
  if (got > 0) return frames_.append({bytes.data(), static_cast<std::size_t>(got)});
  if (got < 0 && errno == EAGAIN) return;
  if (wait) lose_closed();
}

// A process must exit with code 0, another server must close the connection.
ReplyHead Connection::quit() {
  ReplyHead head = ask(Request::quit);
  if (head.status != Status::ok) return head;
  const auto fail = [&](const std::string& sentence) { lose({Outcome::malformed, "protocol.quit", sentence}); };
  limit(time_to_exit);
  try {
    for (std::string nothing;;) exchange(nothing), take_lines();
  } catch (const sandbox::Lost& lost) {
    if (lost.end == sandbox::TaskResult::End::timed_out) fail("the server still runs after it answered QUIT");
    if (lost.end != sandbox::TaskResult::End::exited) throw;
    if (has_failed_) fail("the server " + lost.text + " after it answered QUIT");
  }
  return head;
}

// -- losing -------------------------------------------------------------------------------------------------------

void Connection::lose(const Fault& fault) {
  close();
  why_lost_ = concat("breaks the rule ", fault.rule, ": ", fault.message);
  throw sandbox::Lost{sandbox::TaskResult::End::garbled, 0, why_lost_};
}

// The wait status of a process tells how it ended.
void Connection::lose_closed() {
  ::close(std::exchange(descriptor_, -1));
  if (!is_process()) throw sandbox::Lost{sandbox::TaskResult::End::exited, 0, "closed the connection"};
  const std::optional<int> status = this->status();
  close();
  if (!status) throw sandbox::Lost{sandbox::TaskResult::End::exited, 0, "closed its output"};
  const sandbox::TaskResult death = sandbox::death_of(*status);
  has_failed_ = *status != 0;
  throw sandbox::Lost{death.end, death.signal, death.text};
}

std::optional<int> Connection::status() {
  if (command_) return command_->status(time_to_exit);
  pollfd watched{status_pipe_, POLLIN, 0};
  int status = 0;
  const bool is_told =
      poll(&watched, 1, static_cast<int>(std::chrono::milliseconds(time_to_exit).count())) > 0 &&
      sandbox::uninterrupted([&] { return ::read(status_pipe_, &status, sizeof status); }) == sizeof status;
  return is_told ? std::optional(status) : std::nullopt;
}

}  // namespace assay::wire
