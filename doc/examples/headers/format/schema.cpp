#include <format/schema.h>

using namespace assay::format;

// The reflection of: table Point { x: int; y: int; }
constexpr Field fields[] = {{"x", FieldKind::scalar, 4, sizeof(std::int32_t), -1},
                            {"y", FieldKind::scalar, 6, sizeof(std::int32_t), -1}};
constexpr std::span<const Field> tables[] = {fields};
constexpr Schema schema{tables, {}, 0, "PNT1", "pnt"};

int main() { return schema.tables[schema.root].size() == 2 ? 0 : 1; }
