#include "format/xnnpack/check.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "format/bits.h"
#include "format/check_method.h"
#include "format/header.h"
#include "format/sorted.h"

// A payload's graph, values and constants, and the data flow between nodes.
namespace assay::format::xnnpack {
namespace {

using xnn::Parameters;

constexpr std::uint32_t most_externals = 4096;
constexpr std::int32_t least_group = 32;  // XNNPACK's smallest group of elements with one scale
constexpr std::uint64_t in_named_data = std::numeric_limits<std::uint64_t>::max();  // the offset of such a constant

float scale_at(const Scales& scales, std::span<const std::byte> bytes, std::uint32_t i) {
  if (!scales.list.empty()) return scales.list[i];
  if (!scales.bfloat16) return load<float>(bytes, i * sizeof(float));
  return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(bytes, i * sizeof(std::uint16_t))} << 16);
}

// A bound of the bytes of scales that a check reads: values may share scales, so that a few bytes are read many times.
std::uint64_t bytes_of_scales(const PayloadView& payload, const NamedData* named) {
  constexpr std::uint64_t least = 1 << 20, times = 8;
  std::uint64_t bytes = payload.bytes.size() + payload.segments.size();
  if (named)
    for (const NamedData::Entry& e : named->sorted())
      if (const auto found = named->find(named->key(e))) bytes += found->bytes.size();
  return std::max(least, times * bytes);
}

class ValueCheck {
 public:
  ValueCheck(const PayloadView& payload, const NamedData* named, Findings& findings)
      : payload_(payload), named_(named), f_(findings), scale_bytes_(bytes_of_scales(payload, named)) {}

  void run(const xnn::Value& value, const Place& place) {
    const xnn::Tensor& t = tensor_of(value);
    if (!datatype(t, place) || !dims(t, place)) return;
    parameters(value, t, place);
    external(t, place);
    if (t.constant() > 0) constant(t.constant(), *stored_bytes(t), place);
  }

 private:
  bool datatype(const xnn::Tensor& t, const Place& place) {
    const bool row_is_known =
        t.row_datatype() == 0 ||
        (find_datatype(t.row_datatype()) && find_datatype(t.row_datatype())->parameters != Parameters::NONE);
    f_.check(row_is_known && (t.row_datatype() == 0 || (is_external(t) && t.constant() == 0)), "X18", place,
             "is quantized row by row to datatype ", t.row_datatype(),
             ", but must be an external value without a constant, and the datatype quantized");
    return f_.check(find_datatype(t.datatype()) != nullptr, "X7", place, "has datatype ", t.datatype(),
                    ", which the format does not define");
  }

  bool dims(const xnn::Tensor& t, const Place& place) {
    return f_.check(size_of(t.dims()) <= most_dims, "X9", place, "has ", size_of(t.dims()), " dims, but ", most_dims,
                    " is the most") &&
           f_.check(t.rank() == size_of(t.dims()), "X9", place, "has rank ", t.rank(), ", but ", size_of(t.dims()),
                    " dims") &&
           f_.check(stored_bytes(t).has_value(), "X9", place, "its dims are those of more bytes than there can be");
  }

  void parameters(const xnn::Value& value, const xnn::Tensor& t, const Place& place) {
    const auto* quantized = value.content_as_QuantizedTensor();
    const DatatypeFacts& type = *find_datatype(t.datatype());
    const Parameters found = quantized ? quantized->parameters_type() : Parameters::NONE;
    if (!f_.check(found == type.parameters, "X17", place, "of datatype ", type.name, " has parameters of kind ",
                  EnumNameParameters(found), ", but must have ", EnumNameParameters(type.parameters)) ||
        !quantized)
      return;
    if (const auto* p = quantized->parameters_as_PerTensor()) {
      f_.check(is_scale(p->scale()), "X16", place, "its scale is not a normal number above 0");
      f_.check(p->zero_point() >= type.least && p->zero_point() <= type.most, "X16", place, "its zero point is ",
               p->zero_point(), ", but must be between ", type.least, " and ", type.most);
    }
    if (const auto* p = quantized->parameters_as_PerToken())
      f_.check(p->nonbatch_dims() > 0 && static_cast<std::size_t>(p->nonbatch_dims()) <= t.rank(), "X18", place,
               "its rows have ", p->nonbatch_dims(), " dims, but must have 1 to ", t.rank());
    if (quantized->parameters_as_PerChannel()) channels(*scales_of(value), t, place);
    if (const auto* p = quantized->parameters_as_PerGroup()) groups(*p, *scales_of(value), t, place);
  }

  void channels(const Scales& scales, const xnn::Tensor& t, const Place& place) {
    const auto channel = static_cast<std::size_t>(scales.channel_dim);  // a negative one is larger than each rank
    if (!f_.check(channel < t.rank(), "X19", place, "has its channels along dim ", scales.channel_dim, ", but has ",
                  t.rank(), " dims"))
      return;
    scales_of_value(scales, shape_of(t).dims[channel], "X19", place);
  }

  void groups(const xnn::PerGroup& p, const Scales& scales, const xnn::Tensor& t, const Place& place) {
    const auto dims = items(t.dims());
    const std::uint32_t row = dims.empty() ? 0 : dims.back();
    if (!f_.check(dims.size() == 2 && p.channel_dim() == 0, "X20", place, "has ", dims.size(),
                  " dims and channels along dim ", p.channel_dim(),
                  ", but must have 2 dims and channels along dim 0") ||
        !f_.check(p.group_size() > 0 && p.group_size() % least_group == 0 &&
                      row % static_cast<std::uint32_t>(p.group_size()) == 0,
                  "X20", place, "has groups of ", p.group_size(), " elements, which must be a multiple of ",
                  least_group, " that divides the row of ", row))
      return;
    scales_of_value(scales, std::uint64_t{dims[0]} * (row / static_cast<std::uint32_t>(p.group_size())), "X20", place);
  }

  void scales_of_value(const Scales& scales, std::uint64_t wanted, RuleId rule, const Place& place) {
    const std::uint64_t count = scales.list.empty() ? scales.count : scales.list.size();
    if (!f_.check(count == wanted, rule, place, "has ", count, " scales, but must have ", wanted)) return;
    std::span<const std::byte> bytes;
    if (scales.list.empty()) {
      const auto found = constant(scales.constant, count * scales.bytes(), place.in("scales"));
      if (!found) return;
      bytes = *found;
    }
    if (!f_.check(count * scales.bytes() <= scale_bytes_, "X32", place,
                  "values share scales so often that reading them exceeds the limit"))
      return;
    scale_bytes_ -= count * scales.bytes();
    for (std::uint32_t i = 0; i < count; ++i)
      if (!f_.check(is_scale(scale_at(scales, bytes, i)), "X42", place, "its scale ", i,
                    " is not a normal number above 0"))
        return;
  }

  void external(const xnn::Tensor& t, const Place& place) {
    f_.check((t.flags() & ~(input_flag | output_flag)) == 0, "X8", place, "has flags ", t.flags(),
             ", but the format defines only 1 and 2");
    if (is_external(t))
      f_.check(t.external() < payload_.tables->externals(), "X10", place, "has external id ", t.external(),
               ", but there are ", payload_.tables->externals(), " external values");
    const bool input = t.flags() & input_flag, output = t.flags() & output_flag;
    f_.check(is_external(t) == (input != output) && !(input && output) && (!is_external(t) || t.constant() == 0), "X31",
             place, is_external(t) ? "is external" : "is internal", " with flags ", t.flags(), " and constant ",
             t.constant(), ", but an external value is either input or output and no constant");
  }

  // The bytes of a constant, if they are there and at least as many as needed.
  std::optional<std::span<const std::byte>> constant(std::uint32_t index, std::uint64_t needed, const Place& place) {
    const std::uint32_t count = constant_count(payload_);
    if (!f_.check(index > 0 && index < count, "X11", place, "has constant ", index, ", but there are ", count,
                  " with entry 0, the placeholder"))
      return {};
    const std::string_view name = constant_name(payload_, index);
    const auto bytes = constant_bytes(payload_, index, named_);
    if (!bytes) return {};  // another data file may have it, or X12 is broken
    const RuleId rule = name.empty() ? RuleId("X13") : RuleId("X15");
    const bool enough = f_.check(bytes->size() >= needed, rule, place, "needs ", needed, " bytes, but constant ", index,
                                 " has ", bytes->size());
    return enough ? bytes : std::nullopt;
  }

  const PayloadView& payload_;
  const NamedData* named_;
  Findings& f_;
  std::uint64_t scale_bytes_;  // that the check may still read
};

class GraphCheck {
 public:
  GraphCheck(const PayloadView& payload, const Related& related, Workspace& workspace, Findings& findings)
      : payload_(payload),
        graph_(*payload.tables),
        related_(related),
        f_(findings),
        values_(payload, workspace),
        written_(workspace.take<std::uint32_t>(values_.size())) {}

  void run() {
    constants();
    const std::uint64_t before = f_.count();
    ValueCheck value(payload_, related_.named, f_);
    for (std::uint32_t i = 0; i < values_.size(); ++i) value.run(values_.value(i), {nullptr, "value", i});
    ids();
    externals();
    if (f_.count() > before) return;  // the checks of nodes require valid values
    lists();
    nodes();
    if (related_.plan) check_calls(values_, related_, graph_.externals(), written_, f_);
  }

 private:
  void constants() {
    const std::uint32_t count = size_of(graph_.constants());
    f_.check(count == 0 || size_of(graph_.buffers()) == 0, "X30", {}, "there are constants and buffers too");
    for (std::uint32_t i = 1; i < count; ++i) {
      const xnn::Constant& c = *graph_.constants()->Get(i);
      const Place place{nullptr, "constant", i};
      const bool named = c.name() && c.name()->size() > 0;
      if (!f_.check(named == (c.offset() == in_named_data), "X14", place, "must have either an offset or a name"))
        continue;
      f_.check(named || within(c.offset(), c.size(), payload_.segments.size()), "X12", place, c.size(), " bytes at ",
               c.offset(), " are not within the ", payload_.segments.size(), " bytes of constants");
    }
    const auto sizes = items(graph_.buffer_sizes());
    for (std::uint32_t i = 0; i < sizes.size(); ++i)
      f_.check(i < size_of(graph_.buffers()) && sizes[i] == size_of(graph_.buffers()->Get(i)->storage()), "X25",
               {nullptr, "buffer_sizes", i}, "is ", sizes[i], ", which is not the size of this buffer");
  }

  void ids() {
    each_repeated(
        values_.sorted(), [this](std::uint32_t i) { return values_.tensor(i).id(); },
        [this](std::uint32_t, std::uint32_t i) {
          f_.check(false, "X10", {nullptr, "value", i}, "has the id ", values_.tensor(i).id(), " of an earlier value");
        });
  }

  void externals() {
    if (!f_.check(graph_.externals() <= most_externals, "X6", {}, "there are ", graph_.externals(),
                  " external values, but ", most_externals, " is the most"))
      return;
    std::array<std::uint64_t, Bits::words(most_externals)> words{};
    Bits seen(words);
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      const std::uint32_t id = values_.tensor(i).external();
      if (id >= graph_.externals()) continue;
      f_.check(!seen.test(id), "X10", {nullptr, "value", i}, "has the external id ", id, " of an earlier value");
      seen.set(id);
    }
  }

  // Each list has the ids of the values with its flag, each once. A list that is absent is empty.
  void lists() {
    list(graph_.inputs(), input_flag, "inputs");
    list(graph_.outputs(), output_flag, "outputs");
  }
  void list(const flatbuffers::Vector<std::uint32_t>* ids, std::uint32_t flag, std::string_view name) {
    std::uint32_t flagged = 0;
    for (std::uint32_t i = 0; i < values_.size(); ++i) flagged += (values_.tensor(i).flags() & flag) != 0;
    std::array<std::uint64_t, Bits::words(most_externals)> words{};
    Bits seen(words);
    bool agrees = size_of(ids) == flagged;
    for (std::uint32_t i = 0; agrees && i < size_of(ids); ++i) {
      const std::uint32_t value = values_.find(ids->Get(i));
      agrees =
          value != no_id && (values_.tensor(value).flags() & flag) != 0 && !seen.test(values_.tensor(value).external());
      if (agrees) seen.set(values_.tensor(value).external());
    }
    f_.check(agrees, "X25", {nullptr, name}, "does not have the ids of the ", flagged, " values with flag ", flag,
             ", each once");
  }

  // A value is written by its constant, by the caller, or by one node.
  void nodes() {
    for (std::uint32_t i = 0; i < values_.size(); ++i)
      if (values_.tensor(i).constant() > 0 || (values_.tensor(i).flags() & input_flag) != 0) written_[i] = as_numbers;
    const bool fixed = has_fixed_sizes(related_);
    for (std::uint32_t i = 0; i < graph_.nodes()->size(); ++i) {
      const xnn::Node& node = *graph_.nodes()->Get(i);
      const Place index{nullptr, "node", i}, place = index.in(kind_name(node));
      if (!f_.check(is_known_kind(node.operation_type()), "X29", index, "is a ", kind_name(node),
                    ", kind 48, which exporters up to version 1.5.1 do not write"))
        continue;
      if (operands(node, place)) check_node(node, values_, fixed, place, f_);
    }
    for (std::uint32_t i = 0; i < values_.size(); ++i)
      f_.check(written_[i] || (values_.tensor(i).flags() & output_flag) == 0, "X34", {nullptr, "value", i},
               "is an output that no node writes");
  }

  bool operands(const xnn::Node& node, const Place& place) {
    const auto [inputs, outputs] = operands_of(node);
    bool exist = true;
    for (const Operand& o : inputs)
      if (const std::uint32_t value = known(o, place); value != no_id)
        f_.check(written_[value], "X33", place, "reads its ", o.name, ", value ", o.id,
                 ", which no earlier node writes");
      else
        exist = false;
    for (const Operand& o : outputs)
      if (const std::uint32_t value = known(o, place); value != no_id) {
        f_.check(!written_[value], "X34", place, "writes value ", o.id,
                 ", which is a constant, an input or the output of another node");
        written_[value] = o.name == "index" ? as_positions : as_numbers;
      } else {
        exist = false;
      }
    return exist;
  }

  std::uint32_t known(const Operand& o, const Place& place) {
    const std::uint32_t value = values_.find(o.id);
    f_.check(value != no_id, "X22", place, "its ", o.name, " is value ", o.id, ", which does not exist");
    return value;
  }

  const PayloadView& payload_;
  const xnn::Graph& graph_;
  const Related& related_;
  Findings& f_;
  Values values_;
  std::span<std::uint32_t> written_;  // for each value, how it is written up to the current node
};

}  // namespace

void check(const PayloadView& payload, const Related& related, Workspace& workspace, Findings& findings) {
  const Workspace::Scope scope(workspace);
  GraphCheck graph(payload, related, workspace, findings);
  if (has_room(workspace, findings)) graph.run();
}

}  // namespace assay::format::xnnpack
