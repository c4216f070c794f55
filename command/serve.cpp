#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <system_error>

#include "command/command.h"
#include "command/libraries.h"
#include "conformance/sandbox/child.h"
#include "conformance/wire/server.h"
#include "reference/fault.h"

namespace assay {
namespace {

struct ServeCommand {
  std::string testee, golden, address = "127.0.0.1";
  std::optional<std::uint16_t> port;
};

// The kernels of a testee, its runtime, or both.
struct Served {
  OpenLibrary open;
  std::unique_ptr<Runtime> runtime;

  explicit Served(const ServeCommand& request) {
    std::optional<Fault> no_kernels;
    try {
      open = open_library(request.testee, request.golden);
    } catch (const Fault& fault) {
      no_kernels = fault;
    }
    if (request.testee != "recorded") runtime = open_runtime(request.testee);
    if (!open.library && !runtime) throw Fault(*no_kernels);
  }
};

[[noreturn]] void fail(const std::string& where) {
  throw Fault(Outcome::exhausted, "serve.listen", text(where, ": ", std::generic_category().message(errno)));
}

// Only the server writes to the wire: what the testee prints goes to standard error.
void serve_stdio(Served& served) {
  const int wire = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (wire < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) fail("standard output");
  wire::Server(served.open.library.get(), served.runtime.get(), {}).serve(STDIN_FILENO, wire);
}

// Each connection has a process of its own, which may crash.
void serve_connections(Served& served, const ServeCommand& request) {
  const std::string where = text(request.address, ":", *request.port);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET, at.sin_port = htons(*request.port);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  if (inet_pton(AF_INET, request.address.c_str(), &at.sin_addr) != 1)
    throw Fault(Outcome::invalid, "serve.listen", text(request.address, " is no IPv4 address"));
  if (listener < 0 || bind(listener, address, size) != 0 || listen(listener, SOMAXCONN) != 0) fail(where);
  getsockname(listener, address, &size);
  std::cout << "listens at " << request.address << ':' << ntohs(at.sin_port) << std::endl;
  std::signal(SIGCHLD, SIG_IGN);  // children are not waited for
  const pid_t server = getpid();
  for (;;) {
    const int connection = uninterrupted([&] { return accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); });
    if (connection < 0) fail(where);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != server) _exit(0);
      close(listener);
      wire::Server(served.open.library.get(), served.runtime.get(), {std::string(wire::has_connections)})
          .serve(connection, connection);
      _exit(0);
    }
    close(connection);
  }
}

int serve(const ServeCommand& request) {
  Served served(request);
  std::signal(SIGPIPE, SIG_IGN);
  if (request.port)
    serve_connections(served, request);
  else
    serve_stdio(served);
  return exit_code(Outcome::ok);
}

void define_serve(Options& options) {
  const auto r = std::make_shared<ServeCommand>();
  options.add("TESTEE", r->testee, testee_help).required();
  const Option port =
      options
          .add("--listen", r->port,
               "Listens on TCP port PORT; 0 chooses a free port; default: serves on standard input and output")
          .value("PORT");
  options.add("--address", r->address, "Listens on this IPv4 address of the machine")
      .value("ADDRESS")
      .shows_default()
      .needs(port);
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  options.details(text("assay serve does not authenticate clients: a client may run whatever the testee can run.\n\n",
                       runner_kinds));
  options.action([r] { return serve(*r); });
}

const Registered registered_serve(
    {"serve",
     Group::judging,
     "Serves a testee over the wire protocol, so that assay can judge it from another process "
     "or machine",
     define_serve,
     {{"assay serve optimized --listen 4096", "serves the optimized runtime on a TCP port"},
      {"assay kernels --operators 'add*' -- assay serve reference",
       "judges a testee that is served on standard input and output"}}});

}  // namespace
}  // namespace assay
