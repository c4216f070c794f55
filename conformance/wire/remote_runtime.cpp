#include <algorithm>

#include "conformance/text/malformed.h"
#include "conformance/wire/generator.h"
#include "conformance/wire/remote.h"
#include "conformance/wire/remote_program.h"

namespace assay::wire {
namespace {

bool are_the_same(const Value& a, const Value& b) {
  return BodyWriter().value(a).bytes() == BodyWriter().value(b).bytes();
}

class RemoteRuntime final : public testee::Runtime {
 public:
  explicit RemoteRuntime(const Address& address) : server_(address) { server_.announce_requests(); }

  std::string_view name() const override { return server_.introduction().name; }
  std::vector<std::pair<std::string, std::string>> facts() const override { return server_.facts(); }
  bool is_remote() const override { return true; }
  int most_at_once() const override { return server_.most_at_once(); }
  bool has_instances() const override { return server_.introduction().has(assay::wire::has_instances); }
  bool shows_state() const override { return server_.introduction().has(has_state); }
  bool sets_inputs() const override { return true; }
  bool takes_dim_orders() const override { return server_.introduction().has(has_dim_orders); }
  std::vector<std::string> requests() const override {
    std::vector<std::string> all;
    for (const std::string_view feature : {has_ping, has_generator, has_state, has_allocations, has_quit})
      if (server_.introduction().has(feature)) all.emplace_back(feature);
    return all;
  }
  bool runs_programs() const { return server_.introduction().has(has_programs); }

  testee::Reply ask(std::string_view request, const testee::LoadSettings& settings, const std::string& method,
                    std::span<const Value> inputs) override {
    try {
      if (request == has_ping) return ping();
      if (request == has_generator) return generator(settings, method, inputs);
      if (request == has_state) return state(settings, method, inputs);
      if (request == has_allocations) return allocations(settings, method, inputs);
      return server_.quit();
    } catch (const Fault& refused) {
      return {refused.outcome, refused.message};
    }
  }

  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply) override {
    return load_remote(settings, reply);
  }

 private:
  // Each PING has other bytes than the one before, so that an earlier answer does not count. There are so many that the
  // number of a request exceeds a byte.
  testee::Reply ping() {
    ReplyHead head;
    for (std::size_t i = 0; i < 260; ++i) {
      const std::string bytes(i == 2 ? 1000 : i % 2, static_cast<char>('a' + i % 26));
      head = server_.ask(Request::ping, std::move(BodyWriter().text(bytes)), [&](BodyReader& r) {
        text::well_formed(r.bytes() == bytes, "protocol.ping", "a PING of ", bytes.size(),
                          " bytes is answered with others");
      });
      if (head.status != Status::ok) break;
    }
    return reply_of(head);
  }

  // Inputs that the server generates must give the same outputs as the same inputs that are sent.
  testee::Reply generator(const testee::LoadSettings& settings, const std::string& method,
                          std::span<const Value> inputs) {
    std::vector<Value> here(inputs.begin(), inputs.end()), from_here, from_there;
    for (Value& v : here)
      if (Tensor* t = std::get_if<Tensor>(&v))
        v = generated(std::move(*t), static_cast<std::uint8_t>(Generator::small_numbers), RemoteProgram::seed);
    testee::Reply reply;
    if (auto program = load_remote(settings, reply))
      reply = reply_of(
          until_refused([&] { return program->method(method); }, [&] { return program->set_generated_inputs(inputs); },
                        [&] { return program->execute_times(1); }, [&] { return program->get_outputs(from_there); }));
    if (reply.outcome != Outcome::ok) return reply;
    if (auto program = load_remote(settings, reply)) reply = program->call(method, here, from_here);
    if (reply.outcome == Outcome::ok && !std::ranges::equal(from_here, from_there, are_the_same))
      server_.lose("protocol.generator", "inputs that the server makes give other outputs than these inputs do");
    return reply;
  }

  // A program that is loaded again must begin with the state that it had at first.
  testee::Reply state(const testee::LoadSettings& settings, const std::string& method, std::span<const Value> inputs) {
    std::vector<testee::StateEntry> first;
    testee::Reply reply;
    for (const bool again : {false, true}) {
      auto program = load_remote(settings, reply);
      if (!program) return reply;
      std::vector<testee::StateEntry> kept = program->kept(method);
      if (again && kept != first)
        server_.lose("protocol.state",
                     "a program that is loaded again does not begin with the state that it had at first");
      first = std::move(kept);
      std::vector<Value> outputs;
      reply = program->call(method, inputs, outputs);
      if (reply.outcome != Outcome::ok) return reply;
    }
    return reply;
  }

  // Whichever allocation of an execution is refused, the server must answer `exhausted` and continue as if it had not
  // been asked. If it answers ok, it needed fewer allocations.
  testee::Reply allocations(const testee::LoadSettings& settings, const std::string& method,
                            std::span<const Value> inputs) {
    constexpr std::uint32_t most = 32;
    std::vector<Value> right, outputs;
    testee::Reply reply;
    const auto program = load_remote(settings, reply);
    if (program) reply = program->call(method, inputs, right);
    for (std::uint32_t k = 1; reply.outcome == Outcome::ok && k <= most; ++k) {
      const auto get = [&] { return program->get_outputs(outputs); };
      const testee::Reply refused =
          reply_of(until_refused([&] { return program->execute_without_allocation(k); }, get));
      if (refused.outcome != Outcome::ok && refused.outcome != Outcome::exhausted)
        server_.lose("protocol.allocations",
                     concat("an EXECUTE without its allocation ", k, " is answered ", assay::name(refused.outcome)));
      if (refused.outcome == Outcome::exhausted)
        reply = reply_of(until_refused([&] { return program->execute_times(1); }, get));
      if (reply.outcome == Outcome::ok && !std::ranges::equal(outputs, right, are_the_same))
        server_.lose("protocol.allocations",
                     concat("an EXECUTE gives other outputs when allocation ", k, " was refused"));
      if (refused.outcome == Outcome::ok) break;
    }
    return reply;
  }

  std::unique_ptr<RemoteProgram> load_remote(const testee::LoadSettings& settings, testee::Reply& reply) {
    ReplyHead head;
    auto program = RemoteProgram::load(server_, settings, head);
    reply = reply_of(head);
    return program;
  }

  RemoteServer server_;
};

}  // namespace

std::unique_ptr<testee::Runtime> make_remote_runtime(const Address& address) {
  auto runtime = std::make_unique<RemoteRuntime>(address);
  return runtime->runs_programs() ? std::move(runtime) : nullptr;
}

}  // namespace assay::wire
