#include <algorithm>
#include <fstream>
#include <iterator>

#include "conformance/sandbox/child.h"
#include "conformance/text/malformed.h"
#include "conformance/wire/end.h"
#include "conformance/wire/generator.h"
#include "conformance/wire/remote.h"

namespace assay::wire {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  well_formed(bool(in), "file", file.string(), " cannot be read");
  return bytes;
}

bool are_the_same(const Value& a, const Value& b) {
  return BodyWriter().value(a).bytes() == BodyWriter().value(b).bytes();
}

class RemoteProgram final : public TesteeProgram {
 public:
  RemoteProgram(End& end, std::uint32_t handle) : end_(end), handle_(handle) {}
  ~RemoteProgram() override {
    try {
      end_.ask(Request::unload, about());
    } catch (const Lost&) {  // it was lost before
    }
  }

  Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    return reply_of(call(method, inputs, outputs, [](BodyWriter& body, const Value& v) { body.value(v); }));
  }

  // With tensors like these inputs, made there.
  Reply call_generated(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) {
    return reply_of(call(method, inputs, outputs, [](BodyWriter& body, const Value& v) {
      const Tensor* t = std::get_if<Tensor>(&v);
      t ? body.generated(*t, seed) : body.value(v);
    }));
  }

  std::vector<StateEntry> kept(const std::string& method) override {
    std::vector<StateEntry> all;
    ReplyHead head = end_.ask(Request::method, about().text(method));
    if (head.status == Status::ok) head = end_.ask(Request::state, about(), [&](BodyReader& r) { read_kept(r, all); });
    if (head.status != Status::ok) throw Fault(reply_of(head).outcome, "protocol.state", reply_of(head).message);
    return all;
  }

  // Once more, on the inputs of the last call, with the k-th allocation refused; 0: with none.
  Reply call_again(std::uint32_t k, std::vector<Value>& outputs) {
    BodyWriter body = about().number(std::uint32_t{1});
    if (k > 0) body.number(k);
    return reply_of(executed(body, outputs));
  }

  static constexpr std::uint64_t seed = 1;

 private:
  static void read_kept(BodyReader& r, std::vector<StateEntry>& all) {
    for (std::size_t left = r.count(16); left > 0; --left) {
      std::string name = r.text();
      const auto bytes = r.number<std::uint64_t>();
      well_formed(!name.empty(), "protocol.state", "what is kept has no name");
      well_formed(std::ranges::find(all, name, &StateEntry::name) == all.end(), "protocol.state", name,
                  " is kept twice");
      all.push_back({std::move(name), bytes, r.number<std::uint32_t>()});
    }
  }

  template <class Write>
  ReplyHead call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs, Write write) {
    ReplyHead head = end_.ask(Request::method, about().text(method));
    for (std::uint32_t i = 0; i < inputs.size() && head.status == Status::ok; ++i) {
      BodyWriter body = about().number(i);
      write(body, inputs[i]);
      head = end_.ask(Request::set_input, body);
    }
    return head.status == Status::ok ? executed(about().number(std::uint32_t{1}), outputs) : head;
  }

  ReplyHead executed(const BodyWriter& body, std::vector<Value>& outputs) {
    std::uint32_t results = 0;
    ReplyHead head = end_.ask(Request::execute, body, [&](BodyReader& r) { results = r.number<std::uint32_t>(); });
    outputs.clear();
    for (std::uint32_t i = 0; i < results && head.status == Status::ok; ++i)
      head = end_.ask(Request::get_output, about().number(i), [&](BodyReader& r) { outputs.push_back(r.value()); });
    return head;
  }

  BodyWriter about() const { return std::move(BodyWriter().number(handle_)); }

  End& end_;
  std::uint32_t handle_;
};

class RemoteRuntime final : public Runtime {
 public:
  explicit RemoteRuntime(const Address& address) : end_(address) {}

  std::string_view name() const override { return end_.introduction().name; }
  std::vector<std::pair<std::string, std::string>> facts() const override { return end_.facts(); }
  bool is_remote() const override { return true; }
  int most_at_once() const override { return end_.most_at_once(); }
  bool has_instances() const override { return end_.introduction().has(assay::wire::has_instances); }
  bool tells_what_is_kept() const override { return end_.introduction().has(has_state); }
  std::vector<std::string> requests() const override {
    std::vector<std::string> all;
    for (const std::string_view feature : {has_ping, has_generator, has_state, has_allocations, has_quit})
      if (end_.introduction().has(feature)) all.emplace_back(feature);
    return all;
  }
  bool runs_programs() const { return end_.introduction().has(has_programs); }

  Reply ask(std::string_view request, const LoadSettings& settings, const std::string& method,
            std::span<const Value> inputs) override {
    try {
      if (request == has_ping) return ping();
      if (request == has_generator) return generator(settings, method, inputs);
      if (request == has_state) return state(settings, method, inputs);
      if (request == has_allocations) return allocations(settings, method, inputs);
      return end_.quit();
    } catch (const Fault& refused) {
      return {refused.outcome, refused.message};
    }
  }

  std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) override {
    return load_remote(settings, reply);
  }

 private:
  // What was answered before is no answer: each is of other bytes.
  Reply ping() {
    ReplyHead head;
    for (const std::size_t length : {0u, 1u, 1000u}) {
      const std::string bytes(length, static_cast<char>('a' + length % 26));
      head = end_.ask(Request::ping, std::move(BodyWriter().text(bytes)), [&](BodyReader& r) {
        well_formed(r.bytes() == bytes, "protocol.ping", "a PING of ", length, " bytes is answered with others");
      });
      if (head.status != Status::ok) break;
    }
    return reply_of(head);
  }

  // What is made there gives what the same gives that comes from here.
  Reply generator(const LoadSettings& settings, const std::string& method, std::span<const Value> inputs) {
    std::vector<Value> here(inputs.begin(), inputs.end()), from_here, from_there;
    for (Value& v : here)
      if (Tensor* t = std::get_if<Tensor>(&v))
        v = generated(std::move(*t), static_cast<std::uint8_t>(Generator::small_numbers), RemoteProgram::seed);
    Reply reply;
    if (auto program = load_remote(settings, reply)) reply = program->call_generated(method, inputs, from_there);
    if (reply.outcome != Outcome::ok) return reply;
    if (auto program = load_remote(settings, reply)) reply = program->call(method, here, from_here);
    if (reply.outcome == Outcome::ok && !std::ranges::equal(from_here, from_there, are_the_same))
      end_.lose("protocol.generator", "inputs that the end makes give other outputs than these inputs do");
    return reply;
  }

  // It is as at first when the program is loaded again.
  Reply state(const LoadSettings& settings, const std::string& method, std::span<const Value> inputs) {
    std::vector<StateEntry> first;
    Reply reply;
    for (const bool again : {false, true}) {
      auto program = load_remote(settings, reply);
      if (!program) return reply;
      std::vector<StateEntry> kept = program->kept(method);
      if (again && kept != first)
        end_.lose("protocol.state",
                  "a program that is loaded again does not begin with the state that it had at first");
      first = std::move(kept);
      std::vector<Value> outputs;
      reply = program->call(method, inputs, outputs);
      if (reply.outcome != Outcome::ok) return reply;
    }
    return reply;
  }

  // Whichever allocation of an execution is refused, the end says so, and lives on as if it had not been asked. One
  // that answers has done with fewer.
  Reply allocations(const LoadSettings& settings, const std::string& method, std::span<const Value> inputs) {
    constexpr std::uint32_t most = 32;
    std::vector<Value> right, outputs;
    Reply reply;
    const auto program = load_remote(settings, reply);
    if (program) reply = program->call(method, inputs, right);
    for (std::uint32_t k = 1; reply.outcome == Outcome::ok && k <= most; ++k) {
      const Reply refused = program->call_again(k, outputs);
      if (refused.outcome != Outcome::ok && refused.outcome != Outcome::exhausted)
        end_.lose("protocol.allocations",
                  text("an EXECUTE without its allocation ", k, " is answered ", assay::name(refused.outcome)));
      if (refused.outcome == Outcome::exhausted) reply = program->call_again(0, outputs);
      if (reply.outcome == Outcome::ok && !std::ranges::equal(outputs, right, are_the_same))
        end_.lose("protocol.allocations", text("an EXECUTE gives other outputs when allocation ", k, " was refused"));
      if (refused.outcome == Outcome::ok) break;
    }
    return reply;
  }

  std::unique_ptr<RemoteProgram> load_remote(const LoadSettings& settings, Reply& reply) {
    BodyWriter body;
    body.text(bytes_of(settings.program)).count(settings.data.size());
    for (const auto& file : settings.data) body.text(bytes_of(file));
    body.number(settings.share_arenas);
    std::uint32_t handle = 0;
    const ReplyHead head = end_.ask(Request::load, body, [&](BodyReader& r) { handle = r.number<std::uint32_t>(); });
    reply = reply_of(head);
    return head.status == Status::ok ? std::make_unique<RemoteProgram>(end_, handle) : nullptr;
  }

  End end_;
};

}  // namespace

std::unique_ptr<Runtime> make_remote_runtime(const Address& address) {
  auto runtime = std::make_unique<RemoteRuntime>(address);
  return runtime->runs_programs() ? std::move(runtime) : nullptr;
}

}  // namespace assay::wire
