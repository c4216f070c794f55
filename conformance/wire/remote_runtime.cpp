#include <algorithm>
#include <fstream>
#include <iterator>

#include "conformance/sandbox/child.h"
#include "conformance/sandbox/death.h"
#include "conformance/text/malformed.h"
#include "conformance/wire/generator.h"
#include "conformance/wire/remote.h"
#include "conformance/wire/remote_server.h"

namespace assay::wire {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  text::well_formed(bool(in), "file", file.string(), " cannot be read");
  return bytes;
}

bool are_the_same(const Value& a, const Value& b) {
  return BodyWriter().value(a).bytes() == BodyWriter().value(b).bytes();
}

// Sends a request. This child tells its parent what it waits for, because the reply may never come.
template <class... Read>
ReplyHead asked(RemoteServer& server, Request request, const BodyWriter& body, Read... read) {
  const std::string_view name = request_names.at(static_cast<std::size_t>(request) - 1);
  const sandbox::Circumstance told(concat(sandbox::waiting_for, name));
  return server.ask(request, body, read...);
}

class RemoteProgram final : public testee::TesteeProgram {
 public:
  RemoteProgram(RemoteServer& server, std::uint32_t handle) : server_(server), handle_(handle) {}
  ~RemoteProgram() override {
    try {
      asked(server_, Request::unload, about());
    } catch (const sandbox::Lost&) {  // the server is gone already
    }
  }

  testee::Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    return reply_of(call(method, inputs, outputs, [](BodyWriter& body, const Value& v) { body.value(v); }));
  }

  // With inputs that the server generates, tensors of the shapes of these.
  testee::Reply call_generated(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) {
    return reply_of(call(method, inputs, outputs, [](BodyWriter& body, const Value& v) {
      const Tensor* t = std::get_if<Tensor>(&v);
      t ? body.generated(*t, seed) : body.value(v);
    }));
  }

  std::vector<testee::StateEntry> kept(const std::string& method) override {
    std::vector<testee::StateEntry> all;
    ReplyHead head = asked(server_, Request::method, about().text(method));
    if (head.status == Status::ok)
      head = asked(server_, Request::state, about(), [&](BodyReader& r) { read_kept(r, all); });
    if (head.status != Status::ok) throw Fault(reply_of(head).outcome, "protocol.state", reply_of(head).message);
    return all;
  }

  // Repeats the last call with its inputs and with the k-th allocation refused; 0 refuses none.
  testee::Reply call_again(std::uint32_t k, std::vector<Value>& outputs) {
    BodyWriter body = about().number(std::uint32_t{1});
    if (k > 0) body.number(k);
    return reply_of(executed(body, outputs));
  }

  static constexpr std::uint64_t seed = 1;

 private:
  static void read_kept(BodyReader& r, std::vector<testee::StateEntry>& all) {
    for (std::size_t left = r.count(16); left > 0; --left) {
      std::string name = r.text();
      const auto bytes = r.number<std::uint64_t>();
      text::well_formed(!name.empty(), "protocol.state", "an item of state has no name");
      text::well_formed(std::ranges::find(all, name, &testee::StateEntry::name) == all.end(), "protocol.state", name,
                        " occurs twice in the state");
      all.push_back({std::move(name), bytes, r.number<std::uint32_t>()});
    }
  }

  template <class Write>
  ReplyHead call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs, Write write) {
    ReplyHead head = asked(server_, Request::method, about().text(method));
    for (std::uint32_t i = 0; i < inputs.size() && head.status == Status::ok; ++i) {
      BodyWriter body = about().number(i);
      write(body, inputs[i]);
      head = asked(server_, Request::set_input, body);
    }
    return head.status == Status::ok ? executed(about().number(std::uint32_t{1}), outputs) : head;
  }

  ReplyHead executed(const BodyWriter& body, std::vector<Value>& outputs) {
    std::uint32_t results = 0;
    ReplyHead head =
        asked(server_, Request::execute, body, [&](BodyReader& r) { results = r.number<std::uint32_t>(); });
    outputs.clear();
    for (std::uint32_t i = 0; i < results && head.status == Status::ok; ++i)
      head =
          asked(server_, Request::get_output, about().number(i), [&](BodyReader& r) { outputs.push_back(r.value()); });
    return head;
  }

  BodyWriter about() const { return std::move(BodyWriter().number(handle_)); }

  RemoteServer& server_;
  std::uint32_t handle_;
};

class RemoteRuntime final : public testee::Runtime {
 public:
  explicit RemoteRuntime(const Address& address) : server_(address) {}

  std::string_view name() const override { return server_.introduction().name; }
  std::vector<std::pair<std::string, std::string>> facts() const override { return server_.facts(); }
  bool is_remote() const override { return true; }
  int most_at_once() const override { return server_.most_at_once(); }
  bool has_instances() const override { return server_.introduction().has(assay::wire::has_instances); }
  bool shows_state() const override { return server_.introduction().has(has_state); }
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
  // Each PING has other bytes, so that an earlier answer does not count.
  testee::Reply ping() {
    ReplyHead head;
    for (const std::size_t length : {0u, 1u, 1000u}) {
      const std::string bytes(length, static_cast<char>('a' + length % 26));
      head = asked(server_, Request::ping, std::move(BodyWriter().text(bytes)), [&](BodyReader& r) {
        text::well_formed(r.bytes() == bytes, "protocol.ping", "a PING of ", length, " bytes is answered with others");
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
    if (auto program = load_remote(settings, reply)) reply = program->call_generated(method, inputs, from_there);
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
      const testee::Reply refused = program->call_again(k, outputs);
      if (refused.outcome != Outcome::ok && refused.outcome != Outcome::exhausted)
        server_.lose("protocol.allocations",
                     concat("an EXECUTE without its allocation ", k, " is answered ", assay::name(refused.outcome)));
      if (refused.outcome == Outcome::exhausted) reply = program->call_again(0, outputs);
      if (reply.outcome == Outcome::ok && !std::ranges::equal(outputs, right, are_the_same))
        server_.lose("protocol.allocations",
                     concat("an EXECUTE gives other outputs when allocation ", k, " was refused"));
      if (refused.outcome == Outcome::ok) break;
    }
    return reply;
  }

  std::unique_ptr<RemoteProgram> load_remote(const testee::LoadSettings& settings, testee::Reply& reply) {
    BodyWriter body;
    body.text(bytes_of(settings.program)).count(settings.data.size());
    for (const auto& file : settings.data) body.text(bytes_of(file));
    body.number(settings.share_arenas);
    std::uint32_t handle = 0;
    const ReplyHead head =
        asked(server_, Request::load, body, [&](BodyReader& r) { handle = r.number<std::uint32_t>(); });
    reply = reply_of(head);
    return head.status == Status::ok ? std::make_unique<RemoteProgram>(server_, handle) : nullptr;
  }

  RemoteServer server_;
};

}  // namespace

std::unique_ptr<testee::Runtime> make_remote_runtime(const Address& address) {
  auto runtime = std::make_unique<RemoteRuntime>(address);
  return runtime->runs_programs() ? std::move(runtime) : nullptr;
}

}  // namespace assay::wire
