#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>

#include "command/judging.h"
#include "conformance/delegates/build_search.h"
#include "conformance/delegates/defects.h"
#include "conformance/files/some_inputs.h"
#include "conformance/hosts/program_at_path.h"
#include "conformance/reproduce/call_program.h"
#include "conformance/scenarios/stage.h"
#include "conformance/text/printable.h"
#include "conformance/wire/address.h"

// assay delegate: judges how a runtime computes XNNPACK delegates, and names the first wrong node.
namespace assay::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* delegate_details =
    R"(spec/delegates.md defines the cases and the right answers. PROGRAM is a .pte or .bpte file. Its calls are the test cases of
a .bpte file or, if there are none, those in the file calls.json of the same folder (spec/program_calls.md). If there is
no such file, assay makes one call with small numbers. Without PROGRAM, the recorded programs in golden/delegated are
judged.

The reference runs each program. Each call of an XNNPACK delegate gives these cases: each node alone, each pair of
neighbouring nodes, and the whole delegate. TESTEE runs a case as a program of its own, with the inputs that the
reference has there. A node that fails is therefore wrong itself. Its inputs are right.

The delegates of other backends are opaque. With --graph, each call of PROGRAM is judged as a whole, whatever backends it
uses: its outputs must be right for PLAIN, a program of operators that computes the same, such as the program that the
exporter writes without a partitioner. With --build, assay then looks for the first wrong instruction of PLAIN in the
first wrong call. It gives parts of PLAIN to the command CMD, which builds a program with a delegate of each. In the words
of CMD, {} is the path of the part, and {out} is the path of the program that CMD must write. Exit code 0 means that CMD
built the program. assay names the instructions of the smallest wrong part that it finds. If TESTEE is a command, too,
it follows CMD behind another --.

)";

constexpr std::size_t all_of_it = std::string::npos;  // of a text

struct DelegateRequest : JudgingRequest {
  std::vector<std::string> programs;
  std::string cases, save, graph;
  bool builds = false;
  int build_seconds = 60;
  delegates::BuildCommand build{.most = 64};  // without words unless the option --build is given
  // Sized for a network of a hundred million weights.
  Budget::Limits limits{.bytes = Int{4} << 30, .work = Int{1} << 36};
};

// A call of a program's default method with made inputs.
hosts::ProgramCall some_call(const ValidProgram& program) {
  const hosts::Host host(program);
  hosts::ProgramCall call{host.default_method(), {}, {}, {}, {}};
  const Method method = inspect::value_or_throw(LoadedProgram(program).method(call.method));
  for (std::optional<Value>& input : files::some_inputs(method)) {
    if (!input)
      throw Fault(Outcome::unsupported, "delegate.calls", "an input is too large to be made: write calls.json");
    call.inputs.push_back(std::move(*input));
  }
  return call;
}

// A program with its calls. If it comes with none, there is a call with inputs that are made for `plain`, if that is
// given, or else for the program.
scenarios::RecordedProgram program_at(const fs::path& path, const ValidProgram* plain = nullptr) {
  const File file = files::open_file(path), program = hosts::program_in_file(file);
  hosts::ProgramCalls calls = hosts::calls_given_with(path, file).calls;
  const ValidProgram valid = hosts::valid_program(program, files::open_data_files(calls.data));
  if (calls.calls.empty()) calls.calls.push_back(some_call(plain ? *plain : valid));
  return scenarios::recorded_program(fs::path(path).replace_extension().string(), path, valid, std::move(calls));
}

delegates::Pieces pieces_at(const std::string& path, const std::vector<std::string>& requests, const Budget& budget) {
  try {
    delegates::Pieces all = delegates::pieces_of(program_at(path), requests, budget);
    if (all.empty()) throw Fault(Outcome::unsupported, "delegate.cases", concat(path, " calls no XNNPACK delegate"));
    return all;
  } catch (Fault& fault) {
    if (fault.rule == "D2") fault.message += "; with --graph, each call of the program is judged as a whole";
    throw;
  }
}

ValidProgram plain_at(const std::string& graph) {
  return hosts::valid_program(hosts::program_in_file(files::open_file(graph)));
}

delegates::Pieces pieces_against(const std::string& path, const std::string& graph, const Budget& budget) {
  const ValidProgram plain = plain_at(graph);
  return delegates::pieces_against(std::make_shared<scenarios::RecordedProgram>(program_at(path, &plain)), plain,
                                   budget);
}

delegates::Pieces pieces_for(const DelegateRequest& r, const std::vector<std::string>& requests) {
  delegates::Pieces all;
  Budget budget(r.limits);
  const auto add = [&](delegates::Pieces pieces) {
    std::ranges::move(pieces, std::back_inserter(all));
    budget = Budget({.bytes = budget.left().bytes, .work = r.limits.work});  // for the next program
  };
  if (!r.graph.empty() && r.programs.size() != 1)
    throw Fault(Outcome::invalid, "delegate.graph", "--graph needs exactly one PROGRAM");
  for (const std::string& program : r.programs)
    add(r.graph.empty() ? pieces_at(program, requests, budget) : pieces_against(program, r.graph, budget));
  if (r.programs.empty()) {
    for (const auto& program : scenarios::recorded_programs(golden_folder(r.golden).parent_path() / "delegated"))
      add(delegates::pieces_of(*program, requests, budget));
    add(delegates::broken_payloads());
  }
  std::erase_if(all, [&](const auto& piece) { return !r.cases.empty() && !cases::matches(r.cases, piece->id); });
  if (all.empty()) throw Fault(Outcome::unsupported, "delegate.cases", "there is no such case");
  return all;
}

std::vector<scenarios::Scenario> scenarios_of(const delegates::Pieces& pieces) {
  std::vector<scenarios::Scenario> all;
  std::ranges::transform(pieces, std::back_inserter(all), delegates::scenario);
  return all;
}

class DelegateRun final : public JudgingRun {
 public:
  explicit DelegateRun(DelegateRequest& request)
      : JudgingRun(request),
        request_(request),
        runtime_(open_program_runner(request.run.testee)),
        pieces_(pieces_for(request, runtime_->delegate_requests())),
        stage_(scenarios_of(pieces_), *runtime_, time_limit(), request.workers),
        findings_(pieces_) {
    request_.run.subject = "nodes";
    plan(stage_.blocks());
  }

  // Throws what ended the search for the first wrong instruction.
  void require_searched() const {
    if (search_failed_) std::rethrow_exception(search_failed_);
  }

 private:
  sandbox::TimeLimit time_limit() const {
    return sandbox::time_limit_of(std::chrono::seconds(request_.timeout), runtime_->is_remote(), &watch_interrupts());
  }

  // With --build: names the first wrong instruction of the first wrong call. The process must have no threads.
  void name_instruction() {
    const auto wrong = findings_.first_wrong_of_each_call();
    if (request_.build.words.empty() || wrong.empty()) return;
    const delegates::Piece& call = *wrong.front().piece;
    const ValidProgram plain = plain_at(request_.graph);
    const delegates::BuiltPart part = delegates::first_wrong_part({plain, call.method, call.arguments}, request_.build,
                                                                  *runtime_, time_limit(), Budget(request_.limits));
    searched_ = told(call.id, part), searched_call_ = call.id;
    if (part.instructions.empty()) return;
    findings_.name_part(call.id, name_of(part.instructions));
    if (!request_.save.empty())
      save({inspect::value_or_throw(decode_program(part.program.bytes)), part.inputs}, part.expected);
  }
  // "instruction 3 of forward, aten::mm.out", and how many follow.
  static std::string name_of(const std::vector<std::string>& instructions) {
    const std::string first = instructions.front().substr(0, instructions.front().find(": "));
    const std::size_t more = instructions.size() - 1;
    return more == 0 ? first
                     : fmt::format("{}, and the {} after it", first, more == 1 ? "one" : fmt::format("{}", more));
  }
  static std::string told(const std::string& id, const delegates::BuiltPart& part) {
    std::string lines = concat(part.instructions.empty() ? "no instruction is named: " : "first wrong part: ",
                               text::printable(id, all_of_it));
    for (const std::string& instruction : part.instructions)
      lines += concat("\n  ", text::printable(instruction, all_of_it));
    lines += fmt::format("\n  {}\n  CMD was started {}", text::printable(part.message, all_of_it),
                         part.builds == 1 ? "once" : fmt::format("{} times", part.builds));
    if (!part.not_judged.empty())
      lines += concat("; the last part that was not judged: ", text::printable(part.not_judged, all_of_it));
    return lines;
  }

  bool is_remote() const override { return runtime_->is_remote(); }
  verdict::Facts own_settings() const override {
    verdict::Facts facts = facts_of_testee(runtime_->name(), runtime_->facts(), runtime_->binaries());
    facts.insert(facts.begin() + 2, {"suite", "delegate"});
    facts.push_back(
        {"programs", request_.programs.empty() ? "all" : fmt::format("{}", fmt::join(request_.programs, " "))});
    if (!request_.graph.empty()) facts.push_back({"graph", request_.graph});
    if (request_.builds) facts.push_back({"build", wire::quoted(request_.build.words)});
    return facts;
  }
  void judge_blocks(const std::vector<runner::Ids>& blocks, const Add& add) override { stage_.judge(blocks, add); }
  std::string waits_for() const override { return stage_.patience().waits_for(); }
  void keep(const verdict::Record& record) override { findings_.add(record); }
  std::string_view why_not_judged() const override {
    return "each payload that it was to run it refused as unsupported";
  }

  void add_findings(RunLog& log, bool is_interrupted) override {
    log.progress().end_watch();
    try {
      if (!is_interrupted) name_instruction();
    } catch (const Fault&) {
      search_failed_ = std::current_exception();  // the verdicts are reported first
    }
    for (verdict::Defect& d : findings_.defects()) {
      if (std::ranges::find(d.case_ids, searched_call_) != d.case_ids.end())
        d.smallest.message += concat('\n', searched_);
      d.command = command_for(d.smallest.case_id);
      log.add(d);
    }
    if (const auto wrong = findings_.first_wrong(); wrong && !request_.save.empty()) save(*wrong->piece);
  }

  void print_rest() const override {
    std::vector<delegates::WrongPiece> all = findings_.first_wrong_of_each_call();
    all.resize(std::min(all.size(), request_.run.defects));
    for (const delegates::WrongPiece& wrong : all)
      std::cout << fmt::format("first wrong: {}: {}\n  {}\n", text::printable(wrong.piece->id, all_of_it),
                               text::printable(wrong.piece->description, all_of_it),
                               text::printable(wrong.message, all_of_it));
    if (!searched_.empty()) std::cout << searched_ << '\n';
  }

  // The command that judges one case again.
  std::string command_for(const std::string& id) const {
    std::vector<std::string> words{"assay", "delegate"};
    const bool is_command = request_.run.testee.starts_with("-- ");
    if (!is_command) words.push_back(request_.run.testee);
    for (const std::string& program : request_.programs) words.push_back(program);
    words.insert(words.end(), {"--cases", id});
    if (request_.graph.empty() || request_.builds) words.insert(words.end(), {"--save", "case.bpte"});
    if (!request_.graph.empty()) words.insert(words.end(), {"--graph", request_.graph});
    std::string line = wire::quoted(words);
    if (request_.builds) line += concat(" --build -- ", wire::quoted(request_.build.words));
    return is_command ? concat(line, ' ', request_.run.testee) : line;
  }

  // Writes the program of a piece with its inputs and the reference's outputs.
  void save(const delegates::Piece& piece) const {
    const delegates::Cut cut = piece.cut();
    save({cut.program(), cut.inputs},
         delegates::outputs_of(cut.part.payload, xnnpack::Form::folded, cut.inputs, Budget(piece.call->budget.left())));
  }
  void save(const reproduce::CallProgram& call, const std::vector<Tensor>& outputs) const {
    const std::vector<Value> outs(outputs.begin(), outputs.end());
    const bool is_bundle = fs::path(request_.save).extension() == ".bpte";
    files::write_file(request_.save, is_bundle ? encode(reproduce::bundle_of(call, outs)) : encode(call.program));
  }

  DelegateRequest& request_;
  const std::unique_ptr<testee::Runtime> runtime_;
  const delegates::Pieces pieces_;
  scenarios::Stage stage_;
  delegates::Findings findings_;
  std::string searched_call_, searched_;  // a wrong call, and the lines about its first wrong instruction
  std::exception_ptr search_failed_;
};

// Takes the testee from the end of the words behind the first "--": its command begins at the last "--" of them. The
// word in the place of the testee is the program.
void take_testee(DelegateRequest& r) {
  const auto dashes = std::find(r.build.words.rbegin(), r.build.words.rend(), "--");
  if (dashes == r.build.words.rend())
    throw UsageError("TESTEE or PROGRAM is missing; a testee that is a command follows CMD behind another --");
  const std::vector<std::string> testee(dashes.base(), r.build.words.end());
  r.build.words.erase(dashes.base() - 1, r.build.words.end());
  r.programs = {std::exchange(r.run.testee, concat("-- ", wire::quoted(testee)))};
}

// A command behind "--" is the last word of the line. It is the command of --build or, without this option, the testee;
// the other words are programs.
void take_command(DelegateRequest& r) {
  constexpr std::string_view command = "-- ";
  const bool has_command = !r.programs.empty() && r.programs.back().starts_with(command);
  if (r.builds) {
    if (has_command) {
      r.build.words = wire::words_of(std::string_view(r.programs.back()).substr(command.size()));
      r.programs.pop_back();
      if (r.programs.empty()) take_testee(r);
    }
    for (const std::string_view word : {"{}", "{out}"})
      if (std::ranges::find(r.build.words, word) == r.build.words.end())
        throw UsageError(concat("--build needs a command behind -- with the word ", word));
    r.build.time = std::chrono::seconds(r.build_seconds), r.build.interrupted = &watch_interrupts();
    return;
  }
  if (!r.graph.empty() && !r.save.empty()) throw UsageError("--save with --graph needs --build");
  if (!has_command) return;
  std::rotate(r.programs.begin(), r.programs.end() - 1, r.programs.end());
  std::swap(r.run.testee, r.programs.front());
}

void define_delegate(Options& options) {
  const auto r = std::make_shared<DelegateRequest>();
  options.add("TESTEE", r->run.testee, runtime_help).required();
  options.add("PROGRAM", r->programs,
              "Judges the delegates of these .pte or .bpte files; default: the recorded programs in golden/delegated");
  options.add("--cases", r->cases, "Judges only cases whose id matches PATTERN, such as 'f32_conv/0/0/*'")
      .value("PATTERN");
  options
      .add("--save", r->save,
           "Writes the program of the first wrong case to FILE; a FILE that ends in .bpte also gets the inputs and the "
           "expected outputs; with --graph, needs --build")
      .value("FILE");
  const Option graph =
      options
          .add("--graph", r->graph, "Judges each call of PROGRAM as a whole, by the right outputs of the program PLAIN")
          .value("PLAIN");
  options
      .flag("--build", r->builds,
            "Names the first wrong instruction of PLAIN: the command CMD behind -- builds programs from its parts")
      .needs(graph);
  options.add("--max-builds", r->build.most, "Starts CMD at most N times").value("N").within(1, 10'000).shows_default();
  options
      .add("--build-timeout", r->build_seconds,
           "Stops CMD when it takes more than SECONDS of processor time, or ten times as much wall-clock time")
      .value("SECONDS")
      .within(1, 86'400)
      .shows_default();
  options.add("--timeout", r->timeout, timeout_help).value("SECONDS").within(1, 3600).shows_default();
  options
      .add("--golden", r->golden,
           "Reads the recorded programs in FOLDER/../delegated; default: golden/operators of the checkout or the "
           "installation")
      .value("FOLDER");
  add_limit(options, "--max-bytes", r->limits.bytes, "BYTES",
            "Refuses to use more memory than BYTES for what is right; each worker uses this memory, too");
  add_limit(
      options, "--max-work", r->limits.work, "UNITS",
      "Refuses to do more work than UNITS to run a program on the reference, and to judge one case; a unit is the "
      "work of about one nanosecond");
  add_workers(options, r->workers);
  add_run_options(options, r->run);
  options.details(concat(delegate_details, runtime_kinds, "\n\n", run_exit_codes));
  options.action([r] {
    take_command(*r);
    DelegateRun run(*r);
    const int code = run.judge();
    run.require_searched();
    return code;
  });
}

const Registered registered_delegate(
    {"delegate",
     Group::judging,
     "Judges how a runtime computes XNNPACK delegates, and names the first wrong node",
     define_delegate,
     {{"assay delegate executorch+xnnpack", "judges the official runtime with the recorded programs"},
      {"assay delegate executorch+xnnpack model.pte --save wrong.bpte",
       "judges the delegates of a program, and writes the program of the first wrong node"},
      {"assay delegate model.pte -- ./my_runtime", "judges a runtime in another program"},
      {"assay delegate executorch+xnnpack model.pte --graph plain.pte",
       "judges the whole program by the program that was exported without a partitioner"},
      {"assay delegate backend:./libmine.so model.pte --graph plain.pte --build -- ./build {} {out}",
       "also names the first wrong instruction of plain.pte; ./build lowers a part of it to the backend"},
      {"assay delegate model.pte --graph plain.pte --build -- ./build {} {out} -- ./my_runtime",
       "the same for a runtime in another program"}},
     true});

}  // namespace
}  // namespace assay::command
