#include "format/structure.h"
#include "format/xnnpack/payload.h"
#include "format_tables.gen.h"

namespace assay::format::xnnpack {
namespace {

constexpr Place header_place{nullptr, "header"};

bool has_container(std::span<const std::byte> payload) {
  return identifier(payload, identifier_at) == container_id && payload.size() >= header_bytes;
}

}  // namespace

std::optional<Extent> locate_payload(std::span<const std::byte> head, std::uint64_t file_size, Findings& f) {
  if (!f.check(head.size() >= header_bytes, "X1", {}, "the payload has ", file_size, " bytes, but must have at least ",
               header_bytes))
    return {};
  if (!has_container(head)) return of_possible_size({file_size}, f, "X4");
  const std::uint64_t length = load<std::uint16_t>(head, length_at), begin = load<std::uint32_t>(head, begin_at),
                      size = load<std::uint32_t>(head, size_at), constants = load<std::uint32_t>(head, constants_at),
                      constants_size = load<std::uint64_t>(head, constants_size_at);
  const bool ends =
      f.check(length >= header_bytes && length <= begin, "X2", header_place, "its length is ", length,
              ", but must be at least ", header_bytes, " and at most ", begin, ", the offset of the tables");
  const bool fits =
      f.check(within(begin, size, file_size) && begin + size <= constants, "X3", header_place, "tables of ", size,
              " bytes at ", begin, " do not end before the constants at ", constants, " of ", file_size, " bytes") &&
      f.check(within(constants, constants_size, file_size), "X3", header_place, "constants of ", constants_size,
              " bytes at ", constants, " do not fit the payload of ", file_size, " bytes");
  if (!ends || !fits) return {};
  return of_possible_size({begin + size, constants, constants_size}, f, "X4");
}

std::optional<PayloadView> open_payload(std::span<const std::byte> tables, std::span<const std::byte> constants,
                                        Findings& f) {
  const auto graph = has_container(tables) ? tables.subspan(load<std::uint32_t>(tables, begin_at)) : tables;
  const std::string_view found = identifier(graph, identifier_at);
  if (!f.check(found == "XN00" || found == xnn::GraphIdentifier(), "X5", {}, "the tables have the identifier ",
               Quoted{found}, ", but must have \"XN00\" or \"XN01\""))
    return {};
  const auto verify = [](flatbuffers::Verifier& verifier, const char*) {
    return verifier.VerifyBuffer<xnn::Graph>(nullptr);
  };
  const void* root = root_of(graph, xnnpack_payload::schema, verify, {"X4", "X5", "X5"}, f);
  if (!root) return {};
  return PayloadView{static_cast<const xnn::Graph*>(root), constants, graph};
}

}  // namespace assay::format::xnnpack
