#include "conformance/wire/server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <system_error>

#include "conformance/sandbox/child.h"
#include "conformance/testee/binaries.h"
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

void send_all(int out, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = sandbox::uninterrupted([&] { return ::write(out, bytes.data(), bytes.size()); });
    if (sent < 0) throw std::system_error(errno, std::generic_category(), "write");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// The outs of a call, those of a list one by one.
std::vector<testee::TensorView> outs_of(const Operator& op, std::span<const testee::HostValue> arguments) {
  std::vector<testee::TensorView> all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    const auto* one = std::get_if<testee::TensorView>(&arguments[i]);
    const auto* list = std::get_if<testee::TensorViews>(&arguments[i]);
    if (!one && !list) text::malformed("protocol.call", op.arguments[i].name, " of ", op.name, " is not a tensor");
    if (one) all.push_back(*one);
    for (std::size_t k = 0; list && k < list->size(); ++k) {
      if (!(*list)[k]) text::malformed("protocol.call", op.arguments[i].name, " of ", op.name, " holds a none");
      all.push_back(*(*list)[k]);
    }
  }
  return all;
}

}  // namespace

struct Server::Exchange {
  BodyReader body;
  ReplyHead head = {};
  BodyWriter reply = {};

  void take(const testee::Reply& outcome) {
    head.status = static_cast<Status>(outcome.outcome);
    head.message = outcome.message;
  }
  void fail(Status status, std::string rule, std::string message) {
    head.status = status, head.rule = std::move(rule), head.message = std::move(message);
  }
};

constexpr std::uint32_t most_repetitions = 1'000'000;  // of one EXECUTE

// A function for each request. Each reads the whole body before it changes anything.
struct Server::Handlers {
  static void hello(Server& s, Exchange& e) {
    e.body.number<std::uint32_t>();  // the longest reply that the client takes: ours are shorter than any
    e.body.finish();
    auto facts = s.library_ ? s.library_->facts() : s.runtime_->facts();
    const auto binaries = s.library_ ? s.library_->binaries() : s.runtime_->binaries();
    std::ranges::move(testee::digests_of_loaded(binaries), std::back_inserter(facts));
    e.reply.text(s.library_ ? s.library_->name() : s.runtime_->name());
    e.reply.number(std::uint64_t{Clock::period::den / Clock::period::num})
        .number(sandbox::most_frame_bytes)
        .count(facts.size());
    for (const auto& [name, words] : facts) e.reply.text(name).text(words);
  }

  static void caps(Server& s, Exchange& e) {
    e.body.finish();
    e.reply.count(s.features_.size());
    for (const std::string& feature : s.features_) e.reply.text(feature);
    std::vector<std::string_view> kernels;
    for (const Operator& op : operator_table())
      if (s.library_ && s.library_->has(op)) kernels.push_back(op.name);
    e.reply.count(kernels.size());
    for (const std::string_view kernel : kernels) e.reply.text(kernel);
  }

  static void reset(Server& s, Exchange& e) {
    e.body.finish();
    s.programs_.clear();
  }

  static void kernel(Server& s, Exchange& e) {
    const std::string name = e.body.text();
    const auto fill = static_cast<std::byte>(e.body.number<std::uint8_t>());
    e.body.number<std::uint32_t>();  // the number of outs, which the schema tells, too
    std::vector<Value> values(e.body.count(1));
    for (Value& v : values) v = e.body.value();
    e.body.finish();
    const Operator* op = find_operator(name);
    if (!op || !s.library_ || !s.library_->has(*op))
      throw Fault(Outcome::unsupported, "protocol.call", concat("there is no kernel for ", name));
    if (values.size() != op->arguments.size())
      text::malformed("protocol.call", name, " has ", op->arguments.size(), " arguments, but ", values.size(), " came");
    std::vector<testee::HostValue> arguments;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (op->arguments[i].is_out_number()) values[i] = tensor_of(0.0);  // holds a number of any kind
      arguments.push_back(view_of(values[i]));
    }
    outs_of(*op, arguments);  // throws where an out is not a tensor
    s.library_->fill_memory(fill);
    e.take(s.library_->call(*op, arguments));
    if (e.head.status != Status::ok) return;
    const std::vector<testee::TensorView> outs = outs_of(*op, arguments);
    e.reply.count(outs.size());
    for (const testee::TensorView& out : outs) e.reply.tensor(out);
  }

  static void load(Server& s, Exchange& e) {
    if (!s.runtime_) throw Fault(Outcome::unsupported, "protocol.request", "this server runs no programs");
    const auto file = [&] { return std::make_unique<sandbox::FileInMemory>(std::as_bytes(std::span(e.body.bytes()))); };
    Loaded loaded;
    loaded.program = file();
    for (std::size_t left = e.body.count(4); left > 0; --left) loaded.data.push_back(file());
    testee::LoadSettings settings{loaded.program->path(), {}, e.body.number<std::uint8_t>() != 0};
    e.body.finish();
    for (const auto& data : loaded.data) settings.data.push_back(data->path());
    testee::Reply outcome;
    loaded.running = s.runtime_->load(settings, outcome);
    e.take(outcome);
    if (!loaded.running) return;
    e.reply.number(++s.last_handle_);
    s.programs_.emplace(s.last_handle_, std::move(loaded));
  }

  static void method(Server& s, Exchange& e) {
    Loaded& l = s.loaded(e.body);
    std::string method = e.body.text();
    e.body.finish();
    l.method = std::move(method);
    l.inputs.clear();
    l.outputs.clear();
  }

  static void set_input(Server& s, Exchange& e) {
    Loaded& l = s.loaded(e.body);
    const auto index = e.body.number<std::uint32_t>();
    Value value = e.body.input();
    e.body.finish();
    l.inputs.insert_or_assign(index, std::move(value));
  }

  static void execute(Server& s, Exchange& e) {
    Loaded& l = s.loaded(e.body);
    auto times = e.body.number<std::uint32_t>();
    const std::uint32_t refused = e.body.has_more() ? e.body.number<std::uint32_t>() : 0;
    e.body.finish();
    if (times > most_repetitions)
      throw Fault(Outcome::exhausted, "protocol.call",
                  concat(times, " repetitions are more than the limit of ", most_repetitions));
    if (refused > 0 && !s.runtime_->charges_memory())
      throw Fault(Outcome::unsupported, "protocol.request", "this server cannot refuse allocations");
    std::vector<Value> inputs;
    for (const auto& [index, value] : l.inputs) {
      if (index != inputs.size()) text::malformed("protocol.call", "input ", inputs.size(), " was not set");
      inputs.push_back(value);
    }
    const RefusedMemory scarcity(refused);
    for (; times > 0 && e.head.status == Status::ok; --times) e.take(l.running->call(l.method, inputs, l.outputs));
    e.reply.count(l.outputs.size());
  }

  static void get_output(Server& s, Exchange& e) {
    Loaded& l = s.loaded(e.body);
    const auto index = e.body.number<std::uint32_t>();
    e.body.finish();
    if (index >= l.outputs.size())
      text::malformed("protocol.call", "there is no output ", index, " of ", l.outputs.size());
    e.reply.value(l.outputs[index]);
  }

  static void unload(Server& s, Exchange& e) {
    const auto handle = e.body.number<std::uint32_t>();
    e.body.finish();
    if (s.programs_.erase(handle) == 0) text::malformed("protocol.call", "there is no program ", handle);
  }

  static void ping(Server&, Exchange& e) {
    const std::string_view bytes = e.body.bytes();
    e.body.finish();
    e.reply.text(bytes);
  }

  static void quit(Server& s, Exchange& e) {
    e.body.finish();
    s.has_quit_ = true;
    s.programs_.clear();
  }

  static void state(Server& s, Exchange& e) {
    Loaded& l = s.loaded(e.body);
    e.body.finish();
    if (l.method.empty()) text::malformed("protocol.call", "no method was chosen");
    const std::vector<testee::StateEntry> kept = l.running->kept(l.method);
    e.reply.count(kept.size());
    for (const testee::StateEntry& entry : kept) e.reply.text(entry.name).number(entry.bytes).number(entry.digest);
  }

  using Handler = void (*)(Server&, Exchange&);
  static Handler find(std::uint8_t kind) {
    static constexpr std::pair<Request, Handler> all[] = {
        {Request::hello, hello},         {Request::caps, caps},       {Request::reset, reset},
        {Request::kernel, kernel},       {Request::load, load},       {Request::method, method},
        {Request::set_input, set_input}, {Request::execute, execute}, {Request::get_output, get_output},
        {Request::unload, unload},       {Request::ping, ping},       {Request::quit, quit},
        {Request::state, state},
    };
    for (const auto& [request, handler] : all)
      if (static_cast<std::uint8_t>(request) == kind) return handler;
    throw Fault(Outcome::unsupported, "protocol.request", concat("there is no request ", +kind));
  }
};

Server::Server(testee::KernelLibrary* library, testee::Runtime* runtime, std::vector<std::string> features)
    : library_(library), runtime_(runtime), features_(std::move(features)) {
  const auto add = [this](std::string_view feature) { features_.emplace_back(feature); };
  add(has_ping), add(has_quit);
  if (!runtime_) return;
  add(has_programs), add(has_instances), add(has_generator);
  if (runtime_->shows_state()) add(has_state);
  if (runtime_->takes_dim_orders()) add(has_dim_orders);
  if (runtime_->charges_memory()) add(has_allocations);
}

void Server::serve(int in, int out) {
  sandbox::FrameReader frames;
  std::array<char, 1 << 16> bytes;
  for (;;) {
    while (const auto frame = frames.next()) {
      send_all(out, answer(*frame));
      if (has_quit_) return;
    }
    if (frames.broken()) throw Fault(*frames.broken());
    const auto got = sandbox::uninterrupted([&] { return ::read(in, bytes.data(), bytes.size()); });
    if (got < 0) throw std::system_error(errno, std::generic_category(), "read");
    if (got == 0) return;
    frames.append({bytes.data(), static_cast<std::size_t>(got)});
  }
}

std::string Server::answer(const sandbox::Frame& frame) {
  Exchange e{BodyReader(frame.text)};
  const auto begin = Clock::now();
  try {
    Handlers::find(frame.kind)(*this, e);
  } catch (const Fault& f) {
    e.fail(static_cast<Status>(f.outcome), f.rule, f.place.empty() ? f.message : concat(f.place, ": ", f.message));
  } catch (const std::bad_alloc&) {
    e.fail(Status::exhausted, "limits.memory", "there is not enough memory");
  } catch (const std::exception& error) {
    e.fail(Status::internal, {}, error.what());
  }
  e.head.ticks = static_cast<std::uint64_t>((Clock::now() - begin).count());
  e.head.peak = peak_memory();
  const std::string answer = e.head.status == Status::ok ? e.reply.bytes() : std::string();
  return sandbox::encode(reply_to(static_cast<Request>(frame.kind)), BodyWriter().head(e.head).bytes() + answer,
                         frame.number);
}

Server::Loaded& Server::loaded(BodyReader& body) {
  const auto handle = body.number<std::uint32_t>();
  const auto found = programs_.find(handle);
  if (found == programs_.end()) text::malformed("protocol.call", "there is no program ", handle);
  return found->second;
}

}  // namespace assay::wire
