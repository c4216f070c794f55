#include "conformance/runner/suite.h"

#include "conformance/runner/parallel.h"

namespace assay::runner {

void judge_blocks(CaseRunner& case_runner, const std::vector<Block>& blocks, int workers,
                  const std::function<void(verdict::Record)>& done) {
  in_order(
      blocks.size(), case_runner.users(workers), [&](std::size_t i) { return case_runner.judge_block(blocks[i]); },
      [&](std::vector<verdict::Record> records) {
        for (verdict::Record& record : records) done(std::move(record));
      });
}

}  // namespace assay::runner
