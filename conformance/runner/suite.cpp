#include "conformance/runner/suite.h"

#include "conformance/cases/generated.h"
#include "conformance/runner/parallel.h"

namespace assay {
namespace {

Defect shrunk(Laboratory& laboratory, const Record& failing) {
  Defect defect{failing.case_id, failing};
  Shrinking search(case_id_from(failing.case_id));
  while (const auto candidate = search.next()) {
    const Judged judged = laboratory.run_alone(*candidate);
    const bool alike = judged.record.verdict == failing.verdict && judged.record.failure == failing.failure;
    if (alike) defect.smallest = judged.record;
    search.answer(alike);
  }
  return defect;
}

}  // namespace

void judge_blocks(Laboratory& laboratory, const std::vector<Block>& blocks, int workers,
                  const std::function<void(Record)>& done) {
  in_order(
      blocks.size(), workers, [&](std::size_t i) { return judge_block(laboratory, blocks[i]); },
      [&](std::vector<Record> records) {
        for (Record& record : records) done(std::move(record));
      });
}

void shrink(Laboratory& laboratory, const std::vector<Record>& failing, int workers,
            const std::function<void(const Defect&)>& done) {
  in_order(
      failing.size(), workers, [&](std::size_t i) { return shrunk(laboratory, failing[i]); }, done);
}

}  // namespace assay
