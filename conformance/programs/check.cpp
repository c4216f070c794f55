#include "conformance/programs/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <set>

#include "conformance/programs/fault_json.h"
#include "conformance/programs/listing.h"

namespace assay {
namespace {

void append(std::vector<Fault>& to, std::vector<Fault> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// What f decodes; its faults go to the report.
template <class T>
std::optional<T> decoded(Result<T> result, CheckReport& report) {
  append(report.faults, std::move(result.faults));
  return std::move(result.value);
}

void describe_needs(const pte::ProgramT& program, CheckReport& report) {
  std::set<std::string> operators, unknown, backends;
  for (const auto& plan : program.execution_plan) {
    MethodNeeds needs{plan->name, 0,
                      std::reduce(plan->non_const_buffer_sizes.begin(), plan->non_const_buffer_sizes.end(), Int{0})};
    for (const auto& chain : plan->chains) needs.instructions += chain->instructions.size();
    report.methods.push_back(std::move(needs));
    for (const auto& op : plan->operators) operators.insert(operator_name(*op));
    for (const auto& delegate : plan->delegates) backends.insert(delegate->id);
  }
  for (const std::string& name : operators)
    if (!is_known_operator(name)) report.unknown_operators.push_back(name);
  report.operators = operators.size();
  report.backends.assign(backends.begin(), backends.end());
}

// The program, if it is valid.
std::optional<unpacked::ValidProgram> check_program(std::span<const std::byte> file, std::span<const DataFile> data,
                                          CheckReport& report) {
  auto program = decoded(decode_program(file), report);
  if (!program) return {};
  auto valid = decoded(validate(std::move(*program), data), report);
  if (valid) describe_needs((*valid)->tables, report);
  return valid;
}

void check_data(std::span<const std::byte> file, CheckReport& report) {
  const auto data = decoded(decode_data_file(file), report);
  if (!data) return;
  append(report.faults, faults_of(*data));
  report.named = data->tables.named_data.size();
}

void check_bundle(std::span<const std::byte> file, std::span<const DataFile> data, CheckReport& report) {
  const auto bundle = decoded(decode_bundle(file), report);
  if (!bundle) return;
  for (const auto& suite : bundle->method_test_suites) report.cases += suite->test_cases.size();
  const auto program = check_program(std::as_bytes(std::span(bundle->program)), data, report);
  if (program) append(report.faults, faults_of(*bundle, *program));
}

constexpr std::string_view kinds[] = {"program", "data", "bundle", "program"};
std::string_view name(FileKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::string operators_text(const CheckReport& r) {
  if (r.operators == 0) return "it calls no operators";
  if (r.unknown_operators.empty())
    return fmt::format("the reference has {} that it calls",
                       r.operators == 1 ? "the operator" : fmt::format("all {} operators", r.operators));
  return fmt::format("the reference lacks {} of {} operators that it calls: {}", r.unknown_operators.size(),
                     r.operators, fmt::join(r.unknown_operators, ", "));
}

std::string valid_text(const CheckReport& r) {
  if (r.kind == FileKind::data) return fmt::format("valid\n  {} named data\n", r.named);
  std::string all = "valid\n";
  for (const MethodNeeds& m : r.methods)
    all += fmt::format("  {}: {} instructions, {} bytes of planned memory\n", m.name, m.instructions, m.planned);
  all += "  " + operators_text(r) + '\n';
  if (!r.backends.empty()) all += fmt::format("  it delegates to {}\n", fmt::join(r.backends, ", "));
  if (r.kind == FileKind::bundle) all += fmt::format("  {} cases\n", r.cases);
  return all;
}

}  // namespace

CheckReport check(std::span<const std::byte> file, std::span<const std::vector<std::byte>> data) {
  CheckReport report;
  const FileKind kind = file_kind(file);
  if (kind != FileKind::unknown) report.kind = kind;
  if (kind == FileKind::data) return check_data(file, report), report;
  std::vector<DataFile> files;
  for (const auto& bytes : data)
    if (auto one = decoded(decode_data_file(bytes), report)) files.push_back(std::move(*one));
  if (kind == FileKind::bundle)
    check_bundle(file, files, report);
  else
    check_program(file, files, report);
  return report;
}

std::string to_text(const CheckReport& report) {
  if (report.faults.empty()) return valid_text(report);
  std::string all;
  for (const Fault& f : report.faults)
    all += fmt::format("{}, {}: {}{}{}\n", name(f.outcome), f.rule, f.place, f.place.empty() ? "" : ": ", f.message);
  return all;
}

Json to_json(const CheckReport& r) {
  Json faults = Json::array(), methods = Json::array();
  for (const Fault& f : r.faults) faults.push_back(fault_json(f));
  for (const MethodNeeds& m : r.methods)
    methods.push_back({{"name", m.name}, {"instructions", m.instructions}, {"planned_bytes", m.planned}});
  Json json = {{"kind", name(r.kind)}, {"valid", r.faults.empty()}, {"faults", faults}};
  if (r.kind == FileKind::data)
    json["named_data"] = r.named;
  else
    json.update(Json{{"methods", methods},
                     {"operators", r.operators},
                     {"unknown_operators", r.unknown_operators},
                     {"backends", r.backends}});
  if (r.kind == FileKind::bundle) json["cases"] = r.cases;
  return json;
}

}  // namespace assay
