#include "format/kind.h"
#include "format/header.h"
#include "format/xnnpack/payload.h"
#include "format_tables.gen.h"
#include "xnnpack_payload_bfbs_generated.h"

// The row of XNNPACK payloads in the table of the kinds of files.
namespace assay::format {
namespace {

constexpr Area payload_areas[] = {{'X', "XNNPACK payloads"}};
constexpr std::string_view payload_identifiers[] = {xnnpack::container_id, "XN00"};
constexpr HeaderNumber payload_numbers[] = {
    {"length", xnnpack::length_at, 2},
    {"begin", xnnpack::begin_at, 4},
    {"size", xnnpack::size_at, 4},
    {"segments", xnnpack::constants_at, 4},
    {"segments_size", xnnpack::constants_size_at, 8},
};

}  // namespace

constinit const FileKind xnnpack_kind{
    .name = "xnnpack",
    .noun = "XNNPACK payload",
    .areas = payload_areas,
    .has_methods = false,
    .backend = xnnpack::backend,
    .schema = xnnpack_payload::schema,
    .reflection = xnn::GraphBinarySchema::data,
    .other_identifiers = payload_identifiers,
    .header = {xnnpack::container_id, identifier_at, payload_numbers, true},
    .locate = xnnpack::locate_payload,
    .open = [](auto tables, auto constants, Findings& f) -> std::optional<AnyView> {
      const auto view = xnnpack::open_payload(tables, constants, f);
      return view ? std::optional(AnyView(*view)) : std::nullopt;
    },
    .check = [](const AnyView& file, const Related& related, Workspace& workspace,
                Findings& f) { xnnpack::check(xnnpack::PayloadView(file), related, workspace, f); },
    .lint = [](const AnyView& file, const Related& related, Workspace& workspace,
               Findings& lints) { xnnpack::lint(xnnpack::PayloadView(file), related, workspace, lints); },
};

}  // namespace assay::format
