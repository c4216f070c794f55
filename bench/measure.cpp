#include "bench/measure.h"

#include <algorithm>
#include <random>

#include "bench/process.h"
#include "bench/replied.h"
#include "bench/statistics.h"
#include "conformance/sandbox/processors.h"

namespace assay::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int least_rounds = 5, bursts_of_each = 5, least_in_a_burst = 3, most_together = 1'000'000;
// Shorter runs of a burst are timed together, because reading the clock takes time. A server gets them as one request,
// and each request leaves other data in its caches.
constexpr double enough_for_a_clock = 20e-6, enough_for_a_request = 2e-3;

files::Comparison missing() {
  files::Comparison comparison;
  comparison.difference = "there is no such output";
  return comparison;
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// An engine with what is known of it so far.
class Contestant {
 public:
  Contestant(const Contender& contender, std::unique_ptr<testee::Engine> engine)
      : contender_(contender), engine_(std::move(engine)) {
    measured_.contender = text_of(contender);
    measured_.version = engine_->version();
  }

  // Outputs stay in `given`.
  void begin(const Subject& subject, double most_of_one) {
    testee::EngineSettings settings = subject.settings;
    const auto file = program_of(contender_, settings.program);
    settings.program = file == settings.program ? subject.program.path : file;
    const PeakMemory peak;
    measured_.load = timed([&] { return engine_->load(settings); });
    if (runs()) measured_.failure = engine_->set_inputs(subject.inputs);
    if (runs()) measured_.first = timed([&] { return engine_->run(); });
    measured_.memory = peak.bytes();
    if (engine_->machine()) describe(*engine_->machine());
    if (runs()) measured_.failure = replied([&] { given = engine_->outputs(); });
    if (!runs()) return;
    const testee::EngineMachine* machine = engine_->machine();
    measured_.binaries = machine ? machine->identity : testee::digests_of_loaded(engine_->binaries());
    measured_.once = measured_.first > most_of_one;
  }

  void compare(const std::vector<Value>& wanted, const files::Tolerance& tolerance) {
    if (!runs()) return;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      measured_.outputs.push_back(i < given.size() ? files::compare(given[i], wanted[i], tolerance) : missing());
  }

  void alternate() { measured_.alternating.push_back(run()); }

  void burst(double seconds) {
    const auto begin = Clock::now();
    const double first = run(), one = measured_.counts_time ? first : seconds_since(begin);
    const double enough = engine_->machine() ? enough_for_a_request : enough_for_a_clock;
    const auto together = static_cast<std::uint32_t>(std::clamp<double>(enough / one, 1, most_together));
    for (int i = 0; runs() && (i < least_in_a_burst || seconds_since(begin) < seconds); ++i)
      measured_.bursts.push_back(timed([&] { return engine_->run_times(together); }, together));
  }

  void run_steps(double seconds) {
    std::vector<std::vector<double>> times;
    const auto begin = Clock::now();
    for (int i = 0; runs() && (i < least_rounds || seconds_since(begin) < seconds); ++i) {
      std::vector<testee::EngineStep> steps;
      measured_.failure = engine_->run_steps(steps);
      if (steps.empty()) return;
      times.resize(steps.size());  // the same in each run, for its inputs are
      for (std::size_t k = 0; k < steps.size(); ++k) times[k].push_back(steps[k].seconds);
      measured_.steps = std::move(steps);
    }
    for (std::size_t k = 0; k < times.size(); ++k) measured_.steps[k].seconds = spread_of(times[k]).median;
  }

  bool runs() const { return measured_.failure.outcome == Outcome::ok; }
  bool runs_often() const { return runs() && !measured_.once; }
  const Measurement& measured() const { return measured_; }

  std::vector<Value> given;

 private:
  double run() {
    return timed([&] { return engine_->run(); });
  }

  void describe(const testee::EngineMachine& machine) {
    measured_.clock = machine.clock, measured_.counts_time = machine.counts_time;
    measured_.memory = machine.peak > 0 ? std::optional(static_cast<Int>(machine.peak)) : std::nullopt;
  }

  // The time of one of `times` runs: by the engine's machine if it has a clock, else by this process.
  template <class F>
  double timed(F f, std::uint32_t times = 1) {
    const auto begin = Clock::now();
    testee::Reply reply = f();
    const double seconds = seconds_since(begin) / times;
    measured_.failure = std::move(reply);
    const testee::EngineMachine* machine = engine_->machine();
    return machine && machine->taken ? *machine->taken : seconds;
  }

  Contender contender_;
  std::unique_ptr<testee::Engine> engine_;
  Measurement measured_;
};

// While it lives, the calling thread stays on its first processor, so that a helper that is woken finds another free.
// Threads that it starts meanwhile stay there, too.
class OnFirstProcessor {
 public:
  OnFirstProcessor() : all_(sandbox::processors()) {
    sandbox::keep_on(std::span(all_).first(std::min<std::size_t>(all_.size(), 1)));
  }
  ~OnFirstProcessor() { sandbox::keep_on(all_); }
  OnFirstProcessor(const OnFirstProcessor&) = delete;
  OnFirstProcessor& operator=(const OnFirstProcessor&) = delete;

 private:
  std::vector<int> all_;
};

using Field = std::vector<Contestant*>;

template <class F>
void for_each_shuffled(Field field, std::mt19937& random, F f) {
  std::ranges::shuffle(field, random);
  for (Contestant* contestant : field) {
    wait_until_quiet();
    if (contestant->runs()) f(*contestant);
  }
}

void alternate(const Field& field, const Effort& effort, std::mt19937& random) {
  const auto begin = Clock::now();
  for (int round = 0; round < least_rounds || seconds_since(begin) < effort.seconds; ++round)
    for_each_shuffled(field, random, [](Contestant& c) { c.alternate(); });
}

void take_turns(const Field& field, const Effort& effort, std::mt19937& random) {
  const double share = effort.seconds / bursts_of_each / static_cast<double>(field.size());
  for (int i = 0; i < bursts_of_each; ++i) for_each_shuffled(field, random, [&](Contestant& c) { c.burst(share); });
}

}  // namespace

std::vector<Measurement> measure(const Subject& subject, std::span<const Contender> contenders, const Effort& effort,
                                 const std::function<std::unique_ptr<testee::Engine>(const std::string&)>& make) {
  std::vector<Contestant> all;
  for (const Contender& contender : contenders) all.emplace_back(contender, make(contender.name));
  for (Contestant& contestant : all) contestant.begin(subject, effort.most_of_one);
  for (Contestant& contestant : all)
    contestant.compare(subject.expected ? *subject.expected : all.front().given, subject.tolerance);
  Field field;
  for (Contestant& contestant : all)
    if (contestant.runs_often()) field.push_back(&contestant);
  std::mt19937 random(effort.seed);
  const OnFirstProcessor here;  // all threads have been started
  if (!field.empty()) alternate(field, effort, random), take_turns(field, effort, random);
  for (Contestant* contestant : field) contestant->run_steps(effort.seconds / bursts_of_each);
  std::vector<Measurement> measured;
  for (const Contestant& contestant : all) measured.push_back(contestant.measured());
  return measured;
}

std::vector<double> ratios(const Measurement& ours, const Measurement& other) {
  if (!ours.counts_time || !other.counts_time) return {};
  if (ours.once || other.once) {
    const auto typical = [](const Measurement& m) { return m.once ? m.first : spread_of(m.alternating).median; };
    return {typical(other) / typical(ours)};
  }
  std::vector<double> all;
  for (std::size_t i = 0; i < std::min(ours.alternating.size(), other.alternating.size()); ++i)
    all.push_back(other.alternating[i] / ours.alternating[i]);
  return all;
}

}  // namespace assay::bench
