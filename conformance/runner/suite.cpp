#include "conformance/runner/suite.h"

#include "conformance/runner/parallel.h"

namespace assay {

void judge_blocks(Laboratory& laboratory, const std::vector<Block>& blocks, int workers,
                  const std::function<void(Record)>& done) {
  in_order(
      blocks.size(), laboratory.users(workers), [&](std::size_t i) { return laboratory.judge_block(blocks[i]); },
      [&](std::vector<Record> records) {
        for (Record& record : records) done(std::move(record));
      });
}

}  // namespace assay
