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

// Makes the pieces of one delegate call.
class Maker {
 public:
  Maker(const DelegateCall& call, std::string id)
      : call_(call),
        id_(std::move(id)),
        graph_(call.payload->bytes, {}, call.payload->finder(), xnnpack::Form::literal),
        net_(graph_) {
    Nodes all(net_.size());
    std::iota(all.begin(), all.end(), 0u);
    know_values(all);
    for (std::uint32_t i = 0; i < net_.size(); ++i) add(Extent::node, net_.alone(i));
    for (std::uint32_t i = 0; i < net_.size(); ++i) add(Extent::pair, net_.pair(i));
    whole_ = made(Extent::whole, all);
    if (net_.size() > 1) pieces_.push_back(whole_);
  }

  Pieces take() { return std::move(pieces_); }
  const std::shared_ptr<Piece>& whole() const { return whole_; }

 private:
  // The values of the literal graph.
  void know_values(const Nodes& all) {
    const Part open = part_of(*call_.payload, all, Outputs::all);
    for (const Id id : open.inputs) values_[id] = call_.inputs.at(graph_.tensor(id).external());
    std::vector<Tensor> inputs;
    for (const Id id : open.inputs) inputs.push_back(values_.at(id));
    std::vector<Tensor> outputs = outputs_of(open.payload, xnnpack::Form::literal, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) values_[open.outputs[i]] = std::move(outputs[i]);
  }

  void add(Extent extent, const Nodes& nodes) {
    if (!nodes.empty()) pieces_.push_back(made(extent, nodes));
  }

  std::shared_ptr<Piece> made(Extent extent, const Nodes& nodes) const {
    auto piece = std::make_shared<Piece>();
    piece->extent = extent, piece->nodes = nodes, piece->is_dynamic = call_.is_dynamic;
    std::vector<std::string> kinds, described;
    for (const std::uint32_t n : nodes) {
      kinds.emplace_back(format::xnnpack::kind_name(net_.node(n)));
      described.push_back(describe(n));
    }
    const bool is_whole = extent == Extent::whole;
    piece->id = fmt::format("{}/{}", id_, is_whole ? "all" : fmt::to_string(fmt::join(nodes, "+")));
    piece->kinds = is_whole ? "delegate" : fmt::to_string(fmt::join(kinds, " + "));
    piece->description = fmt::format("delegate {} of {}{}{}", call_.delegate, call_.method, is_whole ? "" : ", ",
                                     fmt::join(is_whole ? std::vector<std::string>() : described, "; then "));
    piece->part = part_of(*call_.payload, nodes, Outputs::needed);
    for (const Id id : piece->part.inputs) piece->inputs.push_back(values_.at(id));
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

  const DelegateCall& call_;
  std::string id_;
  Graph graph_;
  Net net_;
  std::map<Id, Tensor> values_;
  Pieces pieces_;
  std::shared_ptr<Piece> whole_;
};

// The program of a piece as a file.
struct PieceFile {
  explicit PieceFile(const Piece& piece) : bytes(encode(piece.program())), file(bytes) {}
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

scenarios::Step step_of(const Piece& piece) {
  return {.method = "forward", .inputs = {piece.inputs.begin(), piece.inputs.end()}};
}

// The judge of a piece. A part of a payload may have a meaning that is not known, although the payload has one.
scenarios::StepJudge judge_of(const Piece& piece) {
  try {
    return is_within(std::make_shared<const RightGraphs>(right_graphs(piece.part.payload, piece.inputs)));
  } catch (const Fault& fault) {
    return {.judge = [message = concat("the reference cannot judge this: ", fault.message)](const auto&) {
      return scenarios::unsupported(message);
    }};
  }
}

// The call is made again after a call with other inputs: a delegate has no state.
scenarios::Script script(const Piece& piece) {
  const auto file = std::make_shared<const PieceFile>(piece);
  scenarios::Step call = step_of(piece);
  scenarios::Step other{.method = "forward", .judge = scenarios::is_answered()};
  for (const Tensor& input : piece.inputs) other.inputs.emplace_back(reversed(input));
  call.judge = judge_of(piece);
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
    const auto file = std::make_shared<const PieceFile>(*whole);
    scenarios::Step ask = step_of(*whole);
    ask.what = scenarios::Step::Do::ask, ask.request = request, ask.judge = scenarios::is_answered();
    return scenarios::Script{{file->file.path(), {}}, {std::move(ask)}, file};
  };
  return piece;
}

// A delegate that is called with several sizes, one after the other.
std::shared_ptr<const Piece> resized(const std::vector<std::shared_ptr<const Piece>>& calls) {
  auto piece = about(*calls.front(), "sizes");
  piece->own->script = [calls] {
    const auto file = std::make_shared<const PieceFile>(*calls.front());
    scenarios::Script script{{file->file.path(), {}}, {scenarios::load()}, file};
    for (const auto& call : calls) {
      script.steps.push_back(step_of(*call));
      script.steps.back().judge = judge_of(*call);
    }
    return script;
  };
  return piece;
}

bool same_sizes(const Piece& a, const Piece& b) {
  return std::ranges::equal(a.inputs, b.inputs, [](const Tensor& x, const Tensor& y) { return x.sizes == y.sizes; });
}

}  // namespace

Pieces pieces_of(const DelegateCall& call, const std::string& id) { return Maker(call, id).take(); }

Pieces pieces_of(const scenarios::RecordedProgram& program, std::span<const std::string> requests) {
  const auto calls = delegate_calls(program.program, program.calls.calls);
  Pieces all;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::shared_ptr<const Piece>>> delegates;
  for (std::size_t c = 0; c < calls.size(); ++c)
    for (std::size_t d = 0; d < calls[c].size(); ++d) {
      Maker maker(calls[c][d], concat(program.name, '/', c, '/', d));
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

Pieces pieces_against(const scenarios::Recorded& program, const ValidProgram& plain) {
  std::map<std::string, IntervalMethod, std::less<>> methods;
  scenarios::Script script{program->settings(), {scenarios::load()}, program};
  Pieces all;
  for (const hosts::ProgramCall& call : program->calls.calls) {
    if (!call.fails.empty()) continue;
    IntervalMethod& method = methods.try_emplace(call.method, plain, call.method).first->second;
    const std::vector<Value> inputs = hosts::adapted(method.plan(), call.inputs);
    auto piece = std::make_shared<Piece>();
    piece->id = concat(program->name, '/', all.size(), "/all"), piece->extent = Extent::whole;
    piece->kinds = "program", piece->description = concat("method ", call.method);
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
