#include "conformance/wire/remote_program.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "conformance/sandbox/child.h"
#include "conformance/text/malformed.h"

namespace assay::wire {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  text::well_formed(bool(in), "file", file.string(), " cannot be read");
  return bytes;
}

void read_kept(BodyReader& r, std::vector<testee::StateEntry>& all) {
  for (std::size_t left = r.count(16); left > 0; --left) {
    std::string name = r.text();
    const auto bytes = r.number<std::uint64_t>();
    text::well_formed(!name.empty(), "protocol.state", "an item of state has no name");
    text::well_formed(std::ranges::find(all, name, &testee::StateEntry::name) == all.end(), "protocol.state", name,
                      " occurs twice in the state");
    all.push_back({std::move(name), bytes, r.number<std::uint32_t>()});
  }
}

}  // namespace

std::unique_ptr<RemoteProgram> RemoteProgram::load(RemoteServer& server, const testee::LoadSettings& settings,
                                                   ReplyHead& head) {
  BodyWriter body;
  body.text(bytes_of(settings.program)).count(settings.data.size());
  for (const auto& file : settings.data) body.text(bytes_of(file));
  body.number(settings.share_arenas);
  std::uint32_t handle = 0;
  head = server.ask(Request::load, body, [&](BodyReader& r) { handle = r.number<std::uint32_t>(); });
  return std::unique_ptr<RemoteProgram>(head.status == Status::ok ? new RemoteProgram(server, handle) : nullptr);
}

RemoteProgram::~RemoteProgram() {
  try {
    server_.ask(Request::unload, about());
  } catch (const sandbox::Lost&) {  // the server is gone already
  }
}

ReplyHead RemoteProgram::method(const std::string& name) { return server_.ask(Request::method, about().text(name)); }

ReplyHead RemoteProgram::set_inputs(std::span<const Value> inputs) {
  return set(inputs, [](BodyWriter& body, const Value& v) { body.value(v); });
}

ReplyHead RemoteProgram::set_generated_inputs(std::span<const Value> like) {
  return set(like, [](BodyWriter& body, const Value& v) {
    const Tensor* t = std::get_if<Tensor>(&v);
    t ? body.generated(*t, seed) : body.value(v);
  });
}

template <class Write>
ReplyHead RemoteProgram::set(std::span<const Value> inputs, Write write) {
  ReplyHead head;
  for (std::uint32_t i = 0; i < inputs.size() && head.status == Status::ok; ++i) {
    BodyWriter body = about().number(i);
    write(body, inputs[i]);
    head = server_.ask(Request::set_input, body);
  }
  return head;
}

ReplyHead RemoteProgram::execute_times(std::uint32_t times) { return ask_to_execute(about().number(times)); }

ReplyHead RemoteProgram::execute_without_allocation(std::uint32_t k) {
  return ask_to_execute(about().number(std::uint32_t{1}).number(k));
}

ReplyHead RemoteProgram::ask_to_execute(const BodyWriter& body) {
  return server_.ask(Request::execute, body, [&](BodyReader& r) { output_count_ = r.number<std::uint32_t>(); });
}

ReplyHead RemoteProgram::get_outputs(std::vector<Value>& outputs) {
  ReplyHead head;
  outputs.clear();
  for (std::uint32_t i = 0; i < output_count_ && head.status == Status::ok; ++i)
    head = server_.ask(Request::get_output, about().number(i), [&](BodyReader& r) { outputs.push_back(r.value()); });
  return head;
}

testee::Reply RemoteProgram::call(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) {
  const testee::Reply selected = select(name, inputs);
  return selected.outcome == Outcome::ok ? execute({}, outputs) : selected;
}

testee::Reply RemoteProgram::select(const std::string& name, std::span<const Value> inputs) {
  return reply_of(until_refused([&] { return method(name); }, [&] { return set_inputs(inputs); }));
}

testee::Reply RemoteProgram::execute(std::span<const Value> inputs, std::vector<Value>& outputs) {
  return reply_of(until_refused([&] { return set_inputs(inputs); }, [&] { return execute_times(1); },
                                [&] { return get_outputs(outputs); }));
}

std::vector<testee::StateEntry> RemoteProgram::kept(const std::string& name) {
  std::vector<testee::StateEntry> all;
  const ReplyHead head =
      until_refused([&] { return method(name); },
                    [&] { return server_.ask(Request::state, about(), [&](BodyReader& r) { read_kept(r, all); }); });
  if (head.status != Status::ok) throw Fault(reply_of(head).outcome, "protocol.state", reply_of(head).message);
  return all;
}

}  // namespace assay::wire
