#include "conformance/runner/blame.h"

#include <algorithm>
#include <limits>
#include <span>

#include "reference/fault.h"

namespace assay::runner {
namespace {

constexpr std::size_t most_repeated = 4;  // the number of cases that are repeated at the block's end
constexpr std::size_t first_confirmed = 2, confirmed_of = 16;  // with Confirm::some: the first 2, then one of 16

using Cases = std::span<const std::string>;  // their ids

// The case of a history after which a call begins to be answered differently than alone; none if the call is answered
// so without a history, or not always.
std::optional<std::size_t> culprit(JudgingChildren& children, Cases history, const std::string& id,
                                   std::uint64_t alone) {
  const auto is_spoilt_behind = [&](Cases calls) {
    std::vector<std::string> run(calls.begin(), calls.end());
    run.push_back(id);
    const std::vector<Judged> seen = children.run(run).judged;
    return seen.size() < run.size() || seen.back().answer != alone;
  };
  if (is_spoilt_behind({}) || !is_spoilt_behind(history)) return std::nullopt;
  std::size_t good = 0, bad = history.size();
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (is_spoilt_behind(history.first(middle)) ? bad : good) = middle;
  }
  return good;
}

class BlockJudge {
 public:
  BlockJudge(JudgingChildren& children, Cases block, Confirm confirm)
      : children_(children), block_(block), confirm_(confirm) {}

  std::vector<verdict::Record> records() && {
    while (judged_.size() < block_.size())
      if (is_next_lost())
        judge_sample();
      else
        judge_the_others();
    std::vector<verdict::Record> records;
    for (Judged& j : judged_) records.push_back(std::move(j.record));
    return records;
  }

 private:
  // Whether several cases of the next case's kind hang.
  bool is_next_lost() const {
    return judged_.size() < block_.size() && children_.patience().is_lost(block_[judged_.size()]);
  }

  // Leaves out some cases of such a kind, and judges the next of the kind alone.
  void judge_sample() {
    while (is_next_lost() && children_.patience().leaves_out(block_[judged_.size()]))
      judged_.push_back(children_.left_out(block_[judged_.size()]));
    if (is_next_lost()) judged_.push_back(children_.run_alone(block_[judged_.size()], Detail::failures, true));
  }

  // Runs the cases that have no judgement yet in a fresh child, as far as it lives, then the first cases of the block
  // again.
  void judge_the_others() {
    begin_ = judged_.size();
    const Cases rest = block_.subspan(begin_), first = block_.first(std::min(most_repeated, block_.size()));
    run_.assign(rest.begin(), rest.end());
    run_.insert(run_.end(), first.begin(), first.end());
    auto [seen, is_lost] = children_.run(run_, recovers_from_aborts_);
    seen_ = std::move(seen);
    recovers_from_aborts_ = recovers_from_aborts_ && !is_lost;
    failures_ = 0, is_any_unconfirmed_ = false;
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (!(i < rest.size() ? judge_first(i) : judge_again(i, i - rest.size()))) return;
  }

  // Whether the results of the cases after case i of the run still count.
  bool judge_first(std::size_t i) {
    judged_.push_back(seen_[i]);
    if (!verdict::is_failure(seen_[i].record.verdict)) return true;
    const bool hangs = seen_[i].record.verdict == verdict::Verdict::timeout;
    if (hangs && i == 0) return true;  // it was alone
    if (!hangs && !is_confirmed(i)) return true;
    const Judged alone = children_.run_alone(run_[i], Detail::failures, hangs);
    const bool hangs_alone = hangs && alone.record.verdict == verdict::Verdict::timeout;
    if (!hangs_alone) judged_.back().record = alone.record;
    if (hangs_alone || alone.answer == seen_[i].answer) return true;
    if (!is_any_unconfirmed_) return explain(i, begin_ + i, alone);
    confirm_ = Confirm::all;
    judged_.resize(begin_);
    return false;
  }

  // Whether case i of the run, which fails, runs again alone. After an abort each failing case does, because the abort
  // may be the reason of its failure.
  bool is_confirmed(std::size_t i) {
    const auto fails = [](const Judged& j) { return verdict::is_failure(j.record.verdict); };
    const std::size_t of_block = std::min(seen_.size(), block_.size() - begin_), nth = failures_++;
    const bool is_last = std::ranges::none_of(std::span(seen_).first(of_block).subspan(i + 1), fails);
    const bool is_some = nth < first_confirmed || nth % confirmed_of == 0 || is_last || last_outlived(i + 1);
    if (is_some || confirm_ == Confirm::all) return true;
    is_any_unconfirmed_ = true;
    return false;
  }

  // Case i of the run is the repeated case `first` of the block.
  bool judge_again(std::size_t i, std::size_t first) {
    if (seen_[i].answer == judged_[first].answer) return true;
    const Judged alone = children_.run_alone(run_[i]);
    if (alone.answer != seen_[i].answer) return explain(i, first, alone);
    return first < begin_ ||
           explain(first - begin_, first, alone);  // the case belongs to an earlier run, which is judged
  }

  // Case i of the run, case `at` of the block, is answered differently than alone.
  bool explain(std::size_t i, std::size_t at, const Judged& alone) {
    if (const auto outlived = last_outlived(i)) return still_count_after(*outlived);
    const auto found = culprit(children_, Cases(run_).first(i), run_[i], alone.answer);
    if (!found) {
      judged_[at].record = not_repeatable(children_.run_alone(run_[i], Detail::all).record);
      return true;
    }
    if (verdict::is_failure(alone.record.verdict))
      return true;  // it fails alone, so its effect on later cases is not examined
    const std::size_t cases = block_.size() - begin_;
    const bool is_again = *found >= cases;
    const std::size_t guilty = is_again ? *found - cases : begin_ + *found;
    verdict::Record& record = judged_[guilty].record;
    const std::string& there = seen_[i].record.message;  // what came of it behind this call
    const std::string deed = concat("after this call ", run_[i], " is answered otherwise than alone",
                                    there.empty() ? "" : ": ", there.substr(0, there.find('\n')));
    if (verdict::is_failure(record.verdict)) {
      record.message += "; " + deed;
    } else {
      record = children_.run_alone(run_[*found], Detail::all).record;
      record.verdict = verdict::Verdict::fail, record.failure = verdict::Class::spoils_state, record.message = deed;
      record.distance = std::numeric_limits<double>::infinity();
    }
    if (!is_again) judged_.resize(guilty + 1);
    return false;
  }

  // The last case before case i that aborted and whose abort the child survived.
  std::optional<std::size_t> last_outlived(std::size_t i) const {
    while (i > 0)
      if (seen_[--i].record.verdict == verdict::Verdict::crash) return i;
    return std::nullopt;
  }

  // The state after an abort may be why a later case is answered differently. The cases after the abort run again in a
  // fresh child, as after any other crash. Repeated cases after an abort tell nothing. Returns whether the later
  // results still count.
  bool still_count_after(std::size_t outlived) {
    if (begin_ + outlived >= block_.size()) return true;
    judged_.resize(begin_ + outlived + 1);
    recovers_from_aborts_ = false;
    return false;
  }

  JudgingChildren& children_;
  Cases block_;
  Confirm confirm_;
  std::size_t failures_ = 0;         // failing cases of the run so far
  bool is_any_unconfirmed_ = false;  // whether one of them did not run again alone
  bool recovers_from_aborts_ = true;
  std::size_t begin_ = 0;  // index in the block of the run's first case
  std::vector<std::string> run_;
  std::vector<Judged> seen_;
  std::vector<Judged> judged_;  // the block's judgements, in its order
};

}  // namespace

std::vector<verdict::Record> judge_in_turn(JudgingChildren& children, std::span<const std::string> block,
                                           Confirm confirm) {
  return BlockJudge(children, block, confirm).records();
}

verdict::Record not_repeatable(verdict::Record r) {
  r.verdict = verdict::Verdict::fail, r.failure = verdict::Class::not_repeatable;
  r.message = "the same call is answered in two ways";
  r.distance.reset();
  r.rule.clear(), r.got.clear(), r.bound.clear();
  return r;
}

}  // namespace assay::runner
