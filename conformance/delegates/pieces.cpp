#include "conformance/delegates/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "conformance/corrupt/cases.h"
#include "conformance/inspect/describe_payload.h"
#include "conformance/sandbox/file_in_memory.h"
#include "conformance/scenarios/expectation.h"
#include "reference/xnnpack/translate.h"

namespace assay::delegates {
namespace {

using xnnpack::Graph;
using xnnpack::Id;
using Nodes = std::vector<std::uint32_t>;

// The nodes of a graph and their operands.
class Net {
 public:
  explicit Net(const Graph& graph) : graph_(graph) {
    for (std::uint32_t i = 0; i < size(); ++i) {
      for (const auto& o : operands(i).inputs) readers_[o.id].push_back(i);
      for (const auto& o : operands(i).outputs) writer_[o.id] = i;
    }
  }

  std::uint32_t size() const { return graph_.tables().nodes()->size(); }
  const xnn::Node& node(std::uint32_t i) const { return *graph_.tables().nodes()->Get(i); }

  // The node with the nodes that quantize its inputs row by row. Empty for a node that only quantizes rows.
  Nodes alone(std::uint32_t i) const {
    if (std::ranges::any_of(operands(i).outputs, [&](const auto& o) { return is_of_rows(graph_, o.id); })) return {};
    Nodes nodes{i};
    for (const auto& o : operands(i).inputs)
      if (is_of_rows(graph_, o.id) && writer_.contains(o.id)) nodes.push_back(writer_.at(o.id));
    return sorted(std::move(nodes));
  }

  // The node and the only node that reads its output. Empty if there is no such node.
  Nodes pair(std::uint32_t i) const {
    const auto outputs = operands(i).outputs;
    if (outputs.size() != 1 || is_of_rows(graph_, outputs[0].id) || graph_.is_output(outputs[0].id)) return {};
    const auto readers = readers_.find(outputs[0].id);
    if (readers == readers_.end() || readers->second.size() != 1) return {};
    Nodes reader = alone(readers->second.front()), nodes = alone(i);
    if (reader.empty()) return {};
    nodes.insert(nodes.end(), reader.begin(), reader.end());
    return sorted(std::move(nodes));
  }

  // The nodes that read the rows which the node makes, with all nodes that quantize rows for them. Empty if there are
  // not several.
  Nodes sharing(std::uint32_t i) const {
    const auto outputs = operands(i).outputs;
    if (outputs.size() != 1 || !is_of_rows(graph_, outputs[0].id)) return {};
    const auto readers = readers_.find(outputs[0].id);
    if (readers == readers_.end() || readers->second.size() < 2) return {};
    Nodes nodes;
    for (const std::uint32_t reader : readers->second) std::ranges::copy(alone(reader), std::back_inserter(nodes));
    return sorted(std::move(nodes));
  }

 private:
  format::xnnpack::NodeOperands operands(std::uint32_t i) const { return format::xnnpack::operands_of(node(i)); }
  static Nodes sorted(Nodes nodes) {
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  const Graph& graph_;
  std::map<Id, Nodes> readers_;
  std::map<Id, std::uint32_t> writer_;
};

Nodes all_nodes(const Graph& graph) {
  Nodes all(graph.tables().nodes()->size());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

// Makes the pieces of one delegate call.
class Maker {
 public:
  Maker(DelegateCall call, std::string id, const Budget& budget)
      : call_(std::make_shared<const KnownCall>(std::move(call), budget)),
        id_(std::move(id)),
        graph_(call_->cutter.graph()),
        net_(graph_) {
    for (std::uint32_t i = 0; i < net_.size(); ++i) add(Extent::node, net_.alone(i));
    for (std::uint32_t i = 0; i < net_.size(); ++i) add(Extent::pair, net_.pair(i));
    for (std::uint32_t i = 0; i < net_.size(); ++i) add(Extent::pair, net_.sharing(i));
    whole_ = made(Extent::whole, all_nodes(graph_));
    if (net_.size() > 1) pieces_.push_back(whole_);
  }

  Pieces take() { return std::move(pieces_); }
  const std::shared_ptr<Piece>& whole() const { return whole_; }

 private:
  void add(Extent extent, const Nodes& nodes) {
    if (!nodes.empty()) pieces_.push_back(made(extent, nodes));
  }

  std::shared_ptr<Piece> made(Extent extent, const Nodes& nodes) const {
    auto piece = std::make_shared<Piece>();
    piece->extent = extent, piece->nodes = nodes, piece->call = call_;
    std::vector<std::string> kinds, described;
    for (const std::uint32_t n : nodes) {
      kinds.emplace_back(format::xnnpack::kind_name(net_.node(n)));
      described.push_back(describe(n));
    }
    const bool is_whole = extent == Extent::whole;
    piece->id = fmt::format("{}/{}", id_, is_whole ? "all" : fmt::to_string(fmt::join(nodes, "+")));
    piece->kinds = is_whole ? "delegate" : fmt::to_string(fmt::join(kinds, " + "));
    piece->description =
        fmt::format("delegate {} of {}{}{}", call_->call.delegate, call_->call.method, is_whole ? "" : ", ",
                    fmt::join(is_whole ? std::vector<std::string>() : described, "; then "));
    return piece;
  }

  // "node 3, Conv2d, input=qint8[1,6,6,2] filter=... -> output=..., padding_top=1, debug handle 12"
  std::string describe(std::uint32_t n) const {
    const xnn::Node& node = net_.node(n);
    const auto operands = format::xnnpack::operands_of(node);
    std::string text = concat(xnnpack::place_of_node(graph_, n), ':');
    const auto add_operand = [&](const auto& o) { text += concat(' ', o.name, '=', value_text(o.id)); };
    std::ranges::for_each(operands.inputs, add_operand);
    text += " ->";
    std::ranges::for_each(operands.outputs, add_operand);
    for (const auto& [name, value] : inspect::node_parameters(node)) text += concat(", ", name, '=', value);
    return text + concat(", debug handle ", node.debug_handle());
  }
  std::string value_text(Id id) const {
    const auto& t = graph_.tensor(id);
    return fmt::format("{}[{}]", format::xnnpack::find_datatype(t.datatype())->name, fmt::join(*t.dims(), ","));
  }

  std::shared_ptr<const KnownCall> call_;
  std::string id_;
  const Graph& graph_;
  Net net_;
  Pieces pieces_;
  std::shared_ptr<Piece> whole_;
};

// The program of a part as a file.
struct PartFile {
  explicit PartFile(const Cut& cut) : bytes(encode(cut.program())), file(bytes) {}
  Bytes bytes;
  sandbox::FileInMemory file;
};

// The elements in reverse order: other inputs of the same sizes.
Tensor reversed(const Tensor& t) {
  Array<Element> elements = read<Element>(t);
  std::ranges::reverse(elements.data);
  Tensor result = t;
  write(elements, result);
  return result;
}

scenarios::Step step_of(const Cut& cut) {
  return {.method = "forward", .inputs = {cut.inputs.begin(), cut.inputs.end()}};
}

// The judge of a part. A part of a payload may have a meaning that is not known, although the payload has one.
scenarios::StepJudge judge_of(const Cut& cut, const Budget& budget) {
  try {
    return is_within(std::make_shared<const RightGraphs>(right_graphs(cut.part.payload, cut.inputs, budget)));
  } catch (const Fault& fault) {
    judge::Judgement none = scenarios::unsupported(concat("the reference cannot judge this: ", fault.message));
    if (fault.outcome == Outcome::exhausted) none.verdict = verdict::Verdict::undecided;
    return {.judge = [none](const auto&) { return none; }};
  }
}

// The call is made again after a call with other inputs: a delegate has no state.
scenarios::Script script(const Piece& piece) {
  const Cut cut = piece.cut();
  const auto file = std::make_shared<const PartFile>(cut);
  scenarios::Step call = step_of(cut);
  scenarios::Step other{.method = "forward", .judge = scenarios::is_answered()};
  for (const Tensor& input : cut.inputs) other.inputs.emplace_back(reversed(input));
  call.judge = judge_of(cut, Budget(piece.call->budget.left()));
  return {{file->file.path(), {}}, {scenarios::load(), call, std::move(other), call}, file};
}

// A case about a whole delegate that has a script of its own. `what` is the last part of its id.
std::shared_ptr<Piece> about(const Piece& whole, const std::string& what) {
  auto piece = std::make_shared<Piece>(whole);
  piece->id = concat(whole.id.substr(0, whole.id.rfind('/') + 1), what);
  piece->own = {.id = piece->id, .group = piece->kinds};
  return piece;
}

std::shared_ptr<const Piece> asked(const std::shared_ptr<const Piece>& whole, const std::string& request) {
  auto piece = about(*whole, request);
  piece->own->promised = request != "reads";  // XNNPACK may read behind inputs
  piece->own->script = [whole, request] {
    const Cut cut = whole->cut();
    const auto file = std::make_shared<const PartFile>(cut);
    scenarios::Step ask = step_of(cut);
    ask.what = scenarios::Step::Do::ask, ask.request = request, ask.judge = scenarios::is_answered();
    return scenarios::Script{{file->file.path(), {}}, {std::move(ask)}, file};
  };
  return piece;
}

// A delegate that is called with several sizes, one after the other.
std::shared_ptr<const Piece> resized(const std::vector<std::shared_ptr<const Piece>>& calls) {
  auto piece = about(*calls.front(), "sizes");
  piece->own->script = [calls] {
    const auto file = std::make_shared<const PartFile>(calls.front()->cut());
    scenarios::Script script{{file->file.path(), {}}, {scenarios::load()}, file};
    for (const auto& call : calls) {
      const Cut cut = call->cut();
      script.steps.push_back(step_of(cut));
      script.steps.back().judge = judge_of(cut, Budget(call->call->budget.left()));
    }
    return script;
  };
  return piece;
}

bool same_sizes(const Piece& a, const Piece& b) {
  return std::ranges::equal(a.call->call.inputs, b.call->call.inputs,
                            [](const Tensor& x, const Tensor& y) { return x.sizes == y.sizes; });
}

}  // namespace

KnownCall::KnownCall(DelegateCall made, const Budget& budget)
    : call(std::move(made)), cutter(*call.payload), budget(budget) {
  const Budget::Scope scope(budget, "the values of a delegate");
  const Part open = cutter.part_of(all_nodes(cutter.graph()), Outputs::all);
  std::vector<Tensor> inputs;
  for (const Id id : open.inputs) inputs.push_back(values[id] = call.inputs.at(cutter.graph().tensor(id).external()));
  std::vector<Tensor> outputs = outputs_of(open.payload, xnnpack::Form::literal, inputs, budget);
  for (std::size_t i = 0; i < outputs.size(); ++i) values[open.outputs[i]] = std::move(outputs[i]);
}

Cut Piece::cut() const {
  Cut cut{call->cutter.part_of(nodes, Outputs::needed), call->call.is_dynamic, {}};
  for (const Id input : cut.part.inputs) cut.inputs.push_back(call->values.at(input));
  return cut;
}

Pieces pieces_of(DelegateCall call, const std::string& id, const Budget& budget) {
  return Maker(std::move(call), id, budget).take();
}

Pieces pieces_of(const scenarios::RecordedProgram& program, std::span<const std::string> requests,
                 const Budget& budget) {
  auto calls = delegate_calls(program.program, program.calls.calls, budget);
  Pieces all;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::shared_ptr<const Piece>>> delegates;
  for (std::size_t c = 0; c < calls.size(); ++c)
    for (std::size_t d = 0; d < calls[c].size(); ++d) {
      Maker maker(calls[c][d], concat(program.name, '/', c, '/', d), budget);
      std::ranges::move(maker.take(), std::back_inserter(all));
      delegates[{calls[c][d].method, calls[c][d].delegate}].push_back(maker.whole());
    }
  for (const auto& [delegate, wholes] : delegates) {
    for (const std::string& request : requests) all.push_back(asked(wholes.front(), request));
    if (!std::ranges::all_of(wholes, [first = wholes.front()](const auto& w) { return same_sizes(*w, *first); }))
      all.push_back(resized(wholes));
  }
  return all;
}

Pieces broken_payloads() {
  Pieces all;
  for (const corrupt::BrokenPayload& broken : corrupt::broken_payloads()) {
    auto piece = std::make_shared<Piece>();
    piece->id = concat("broken/", broken.name, "/all"), piece->extent = Extent::whole;
    piece->kinds = "broken payload", piece->description = concat("a payload that breaks the rule ", broken.name);
    piece->own = {.id = piece->id, .group = piece->kinds, .valid = false};
    piece->own->script = [broken] {
      const auto file = std::make_shared<const sandbox::FileInMemory>(broken.file);
      scenarios::Step load = scenarios::load(), call{.method = "forward"};
      load.judge = {}, load.valid = call.valid = false;
      call.inputs = broken.inputs;
      return scenarios::Script{{file->path(), {}}, {std::move(load), std::move(call)}, file};
    };
    all.push_back(std::move(piece));
  }
  return all;
}

Pieces pieces_against(const scenarios::Recorded& program, const ValidProgram& plain, const Budget& budget) {
  std::map<std::string, IntervalMethod, std::less<>> methods;
  scenarios::Script script{program->settings(), {scenarios::load()}, program};
  Pieces all;
  for (const hosts::ProgramCall& call : program->calls.calls) {
    if (!call.fails.empty()) continue;
    IntervalMethod& method =
        methods.try_emplace(call.method, plain, call.method, std::vector<Arithmetic>(), budget).first->second;
    const std::vector<Value> inputs = hosts::adapted(method.plan(), call.inputs);
    auto piece = std::make_shared<Piece>();
    piece->id = concat(program->name, '/', all.size(), "/all"), piece->extent = Extent::whole;
    piece->kinds = "program", piece->description = concat("method ", call.method);
    piece->method = call.method, piece->arguments = inputs;
    scenarios::Step step{.method = call.method, .inputs = call.inputs};
    step.judge = is_within(std::make_shared<const RightGraphs>(RightGraphs{method.run(inputs)}));
    script.steps.push_back(step);
    piece->own = {.id = piece->id, .group = piece->kinds, .script = [script] { return script; }};
    script.steps.back().judge = scenarios::is_answered();
    all.push_back(std::move(piece));
  }
  return all;
}

scenarios::Scenario scenario(const std::shared_ptr<const Piece>& piece) {
  if (piece->own) return *piece->own;
  scenarios::Scenario s{.id = piece->id};
  s.group = piece->kinds;
  s.script = [piece] { return script(*piece); };
  return s;
}

}  // namespace assay::delegates
