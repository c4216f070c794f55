#include "conformance/wire/server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <system_error>

#include "conformance/sandbox/child.h"
#include "conformance/text/malformed.h"
#include "reference/refused_memory.h"

namespace assay::wire {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void take_reply(ReplyHead& head, const Reply& reply) {
  head.status = static_cast<Status>(reply.outcome), head.message = reply.message;
}

void send_all(int out, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = uninterrupted([&] { return ::write(out, bytes.data(), bytes.size()); });
    if (sent < 0) throw std::system_error(errno, std::generic_category(), "write");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::vector<TensorView> outs_of(const Operator& op, std::span<const HostValue> arguments) {
  std::vector<TensorView> all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    const auto* one = std::get_if<TensorView>(&arguments[i]);
    const auto* list = std::get_if<TensorViews>(&arguments[i]);
    if (!one && !list) malformed("protocol.call", op.arguments[i].name, " of ", op.name, " is no out");
    if (one) all.push_back(*one);
    for (std::size_t k = 0; list && k < list->size(); ++k) {
      if (!(*list)[k]) malformed("protocol.call", op.arguments[i].name, " of ", op.name, " holds none");
      all.push_back(*(*list)[k]);
    }
  }
  return all;
}

}  // namespace

Server::Server(KernelLibrary* library, Runtime* runtime, std::vector<std::string> features)
    : library_(library), runtime_(runtime), features_(std::move(features)) {
  const auto add = [this](std::string_view feature) { features_.emplace_back(feature); };
  add(has_ping), add(has_quit);
  if (!runtime_) return;
  add(has_programs), add(has_instances), add(has_generator);
  if (runtime_->tells_what_is_kept()) add(has_state);
  if (runtime_->charges_memory()) add(has_allocations);
}

void Server::serve(int in, int out) {
  FrameReader frames;
  std::array<char, 1 << 16> bytes;
  for (;;) {
    while (const auto frame = frames.next()) {
      send_all(out, answer(*frame));
      if (has_quit_) return;
    }
    if (frames.broken()) throw Fault(*frames.broken());
    const auto got = uninterrupted([&] { return ::read(in, bytes.data(), bytes.size()); });
    if (got < 0) throw std::system_error(errno, std::generic_category(), "read");
    if (got == 0) return;
    frames.append({bytes.data(), static_cast<std::size_t>(got)});
  }
}

std::string Server::answer(const Frame& frame) {
  ReplyHead head;
  BodyWriter reply;
  const auto begin = Clock::now();
  try {
    BodyReader body(frame.text);
    answer(static_cast<Request>(frame.kind), body, head, reply);
  } catch (const Fault& f) {
    head.status = static_cast<Status>(f.outcome), head.rule = f.rule;
    head.message = f.place.empty() ? f.message : text(f.place, ": ", f.message);
  } catch (const std::bad_alloc&) {
    head.status = Status::exhausted, head.rule = "limits.memory", head.message = "there is not enough memory";
  } catch (const std::exception& e) {
    head.status = Status::internal, head.message = e.what();
  }
  head.ticks = static_cast<std::uint64_t>((Clock::now() - begin).count()), head.peak = peak_memory();
  const std::string body = BodyWriter().head(head).bytes() + (head.status == Status::ok ? reply.bytes() : "");
  return encode(reply_to(static_cast<Request>(frame.kind)), body, frame.number);
}

void Server::answer(Request request, BodyReader& body, ReplyHead& head, BodyWriter& reply) {
  switch (request) {
    case Request::hello:
      body.number<std::uint32_t>();  // what the host takes: more than any reply of ours
      body.finish();
      return tell_who(reply);
    case Request::caps:
      body.finish();
      return tell_what(reply);
    case Request::reset:
      body.finish();
      return programs_.clear();
    case Request::kernel:
      return call_kernel(body, head, reply);
    case Request::load:
      return load(body, head, reply);
    case Request::method: {
      Loaded& l = loaded(body);
      std::string method = body.text();
      body.finish();
      l.method = std::move(method);
      l.inputs.clear(), l.outputs.clear();
      return;
    }
    case Request::set_input: {
      Loaded& l = loaded(body);
      const auto index = body.number<std::uint32_t>();
      Value value = body.input();
      body.finish();
      l.inputs.insert_or_assign(index, std::move(value));
      return;
    }
    case Request::execute:
      return execute(loaded(body), body, head, reply);
    case Request::get_output: {
      Loaded& l = loaded(body);
      const auto index = body.number<std::uint32_t>();
      body.finish();
      if (index >= l.outputs.size()) malformed("protocol.call", "there is no output ", index, " of ", l.outputs.size());
      reply.value(l.outputs[index]);
      return;
    }
    case Request::unload: {
      const auto handle = body.number<std::uint32_t>();
      body.finish();
      if (programs_.erase(handle) == 0) malformed("protocol.call", "there is no program ", handle);
      return;
    }
    case Request::ping: {
      const std::string_view bytes = body.bytes();
      body.finish();
      reply.text(bytes);
      return;
    }
    case Request::quit:
      body.finish();
      has_quit_ = true;
      return programs_.clear();
    case Request::state: {
      Loaded& l = loaded(body);
      body.finish();
      return tell_what_is_kept(l, reply);
    }
  }
  throw Fault(Outcome::unsupported, "protocol.request", text("there is no request ", static_cast<int>(request)));
}

void Server::tell_who(BodyWriter& reply) const {
  auto facts = library_ ? library_->facts() : decltype(library_->facts()){};
  reply.text(library_ ? library_->name() : runtime_->name());
  reply.number(std::uint64_t{Clock::period::den / Clock::period::num}).number(most_frame_bytes).count(facts.size());
  for (const auto& [name, words] : facts) reply.text(name).text(words);
}

void Server::tell_what(BodyWriter& reply) const {
  reply.count(features_.size());
  for (const std::string& feature : features_) reply.text(feature);
  std::vector<std::string_view> kernels;
  for (const Operator& op : operator_table())
    if (library_ && library_->has(op)) kernels.push_back(op.name);
  reply.count(kernels.size());
  for (const std::string_view kernel : kernels) reply.text(kernel);
}

void Server::call_kernel(BodyReader& body, ReplyHead& head, BodyWriter& reply) {
  const std::string name = body.text();
  const auto fill = static_cast<std::byte>(body.number<std::uint8_t>());
  body.number<std::uint32_t>();  // how many outs there are says the schema
  std::vector<Value> values(body.count(1));
  for (Value& v : values) v = body.value();
  body.finish();
  const Operator* op = find_operator(name);
  if (!op || !library_ || !library_->has(*op))
    throw Fault(Outcome::unsupported, "protocol.call", text("there is no kernel for ", name));
  if (values.size() != op->arguments.size())
    malformed("protocol.call", name, " has ", op->arguments.size(), " arguments, but ", values.size(), " came");
  std::vector<HostValue> arguments;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (op->arguments[i].is_out_number()) values[i] = tensor_of(0.0);  // holds a number of any kind
    arguments.push_back(view_of(values[i]));
  }
  outs_of(*op, arguments);
  library_->fill_memory(fill);
  take_reply(head, library_->call(*op, arguments));
  if (head.status != Status::ok) return;
  const std::vector<TensorView> outs = outs_of(*op, arguments);
  reply.count(outs.size());
  for (const TensorView& out : outs) reply.tensor(out);
}

void Server::load(BodyReader& body, ReplyHead& head, BodyWriter& reply) {
  if (!runtime_) throw Fault(Outcome::unsupported, "protocol.request", "programs are not run here");
  const auto file = [&] { return std::make_unique<FileInMemory>(std::as_bytes(std::span(body.bytes()))); };
  Loaded loaded;
  loaded.program = file();
  for (std::size_t left = body.count(4); left > 0; --left) loaded.data.push_back(file());
  LoadSettings settings{loaded.program->path(), {}, body.number<std::uint8_t>() != 0};
  body.finish();
  for (const auto& data : loaded.data) settings.data.push_back(data->path());
  Reply said;
  loaded.running = runtime_->load(settings, said);
  take_reply(head, said);
  if (!loaded.running) return;
  reply.number(++handles_);
  programs_.emplace(handles_, std::move(loaded));
}

void Server::execute(Loaded& l, BodyReader& body, ReplyHead& head, BodyWriter& reply) {
  auto times = body.number<std::uint32_t>();
  const std::uint32_t refused = body.has_more() ? body.number<std::uint32_t>() : 0;
  body.finish();
  if (refused > 0 && !runtime_->charges_memory())
    throw Fault(Outcome::unsupported, "protocol.request", "no allocation can be refused here");
  std::vector<Value> inputs;
  for (const auto& [index, value] : l.inputs) {
    if (index != inputs.size()) malformed("protocol.call", "input ", inputs.size(), " was not set");
    inputs.push_back(value);
  }
  const RefusedMemory scarcity(refused);
  for (; times > 0 && head.status == Status::ok; --times)
    take_reply(head, l.running->call(l.method, inputs, l.outputs));
  reply.count(l.outputs.size());
}

void Server::tell_what_is_kept(Loaded& l, BodyWriter& reply) {
  if (l.method.empty()) malformed("protocol.call", "no method was chosen");
  const std::vector<StateEntry> all = l.running->kept(l.method);
  reply.count(all.size());
  for (const StateEntry& one : all) reply.text(one.name).number(one.bytes).number(one.digest);
}

Server::Loaded& Server::loaded(BodyReader& body) {
  const auto handle = body.number<std::uint32_t>();
  const auto found = programs_.find(handle);
  if (found == programs_.end()) malformed("protocol.call", "there is no program ", handle);
  return found->second;
}

}  // namespace assay::wire
