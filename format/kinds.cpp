#include <algorithm>

#include "bundled_program_bfbs_generated.h"
#include "flat_tensor_bfbs_generated.h"
#include "format/header.h"
#include "format/kind.h"
#include "format_tables.gen.h"
#include "program_bfbs_generated.h"

// The table of the kinds of files.
namespace assay::format {
namespace {

constexpr Area program_areas[] = {{'H', "file"},    {'G', "program"},      {'M', "methods"},   {'V', "values"},
                                  {'T', "tensors"}, {'I', "instructions"}, {'D', "delegates"}, {'R', "running"}};
constexpr Area data_areas[] = {{'F', "data files"}};
constexpr Area bundle_areas[] = {{'B', "bundles"}};
constexpr HeaderNumber program_numbers[] = {
    {"length", 12, 4}, {"end", 16, 8}, {"segments", 24, 8}, {"segments_size", 32, 8}};
constexpr HeaderNumber data_numbers[] = {
    {"length", 12, 4}, {"begin", 16, 8}, {"size", 24, 8}, {"segments", 32, 8}, {"segments_size", 40, 8}};

template <class View>
std::optional<AnyView> any(const std::optional<View>& view) {
  return view ? std::optional(AnyView(*view)) : std::nullopt;
}

Nested payload_of(const ProgramView& program, const pte::ExecutionPlan& plan, std::uint32_t index,
                  const NamedData* named, const Place& place) {
  const pte::BackendDelegate& delegate = *plan.delegates()->Get(index);
  const std::string_view backend = text_of(delegate.id());
  Nested nested{kind_of_payload(backend), {}, place, backend, &plan, index};
  const auto key = payload_key(delegate);
  const auto found = key && named ? named->find(*key) : std::nullopt;
  nested.bytes = !key ? payload(program, delegate) : found ? found->bytes : nested.bytes;
  if (key && !found) nested.missing = *key;
  return nested;
}

void payloads_of_program(const AnyView& file, const NamedData* named, Take<Nested> take) {
  const ProgramView program(file);
  for (const pte::ExecutionPlan* plan : *program.tables->execution_plan()) {
    const Place method{nullptr, text_of(plan->name()), -1, true};
    for (std::uint32_t i = 0; i < size_of(plan->delegates()); ++i)
      take(payload_of(program, *plan, i, named, method.in("delegate", i)));
  }
}

}  // namespace

constinit const FileKind program_kind{
    .name = "program",
    .noun = "program",
    .areas = program_areas,
    .has_methods = true,
    .backend = "ProgramBackend",
    .schema = program::schema,
    .reflection = pte::ProgramBinarySchema::data,
    .header = {{program_header_id.data(), program_header_id.size()}, header_at, program_numbers},
    .locate = locate_program,
    .open = [](auto tables, auto segments, Findings& f) { return any(open_program(tables, segments, f)); },
    .check = [](const AnyView& file, const Related& related, Workspace& workspace,
                Findings& f) { check(ProgramView(file), related.data, workspace, f); },
    .payloads = payloads_of_program,
};

constinit const FileKind data_kind{
    .name = "data",
    .noun = "data file",
    .areas = data_areas,
    .has_methods = false,
    .schema = flat_tensor::schema,
    .reflection = ptd::FlatTensorBinarySchema::data,
    .header = {{data_header_id.data(), data_header_id.size()}, header_at, data_numbers},
    .locate = locate_data,
    .open = [](auto tables, auto segments, Findings& f) { return any(open_data(tables, segments, f)); },
    .check = [](const AnyView& file, const Related&, Workspace& workspace,
                Findings& f) { check(DataView(file), workspace, f); },
};

constinit const FileKind bundle_kind{
    .name = "bundle",
    .noun = "bundle",
    .areas = bundle_areas,
    .has_methods = true,
    .schema = bundled_program::schema,
    .reflection = bpte::BundledProgramBinarySchema::data,
    .locate = locate_bundle,
    .open = [](auto tables, auto, Findings& f) { return any(open_bundle(tables, f)); },
    .check = [](const AnyView& file, const Related& related, Workspace& workspace,
                Findings& f) { check(BundleView(file), *related.program, workspace, f); },
    .parts =
        [](const AnyView& file, const NamedData*, Take<Nested> take) {
          take({&program_kind, program_in(BundleView(file)), {}});
        },
};

std::span<const FileKind* const> file_kinds() {
  static constexpr const FileKind* rows[] = {&program_kind, &data_kind, &bundle_kind, &xnnpack_kind};
  return rows;
}

const FileKind* file_kind(std::span<const std::byte> head) {
  const std::string_view wanted = identifier(head, identifier_at);
  const auto found = std::ranges::find_if(file_kinds(), [&](const FileKind* kind) {
    const auto others = kind->other_identifiers;
    return kind->schema.identifier == wanted || std::ranges::find(others, wanted) != others.end();
  });
  return found == file_kinds().end() ? nullptr : *found;
}

const FileKind* kind_of_payload(std::string_view backend) {
  const auto found = std::ranges::find(file_kinds(), backend, &FileKind::backend);
  return backend.empty() || found == file_kinds().end() ? nullptr : *found;
}

}  // namespace assay::format
