#pragma once

#include <iostream>
#include <optional>

#include "command/program_runners.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/trace.h"
#include "conformance/text/output.h"

// What assay run prints about the calls that it makes.
namespace assay::command {

struct ReportOptions {
  text::Output& out;
  bool json, trace;
};

// Lines of JSON that are kept until it is their turn in the output.
class Kept {
 public:
  void add(const text::Json& json) {
    const std::string line = text::line_of(json);
    text_.insert(text_.end(), line.begin(), line.end());
    ends_.push_back(text_.size());
  }
  void write(std::string_view key, text::JsonOutput& out) const {
    out.list(key, [&] {
      for (std::size_t begin = 0; const std::size_t end : ends_) {
        out.line({text_.data() + begin, end - begin});
        begin = end;
      }
    });
  }

 private:
  Buffer<char> text_;
  Buffer<std::size_t> ends_;
};

// Prints steps at once, or keeps them for the JSON at the end.
class Trace {
 public:
  explicit Trace(const ReportOptions& options)
      : on_(options.trace), tracer_([this, options](const hosts::TracedStep& step) {
          options.json ? steps_.add(hosts::to_json(step)) : options.out.write(hosts::to_text(step));
        }) {}
  hosts::Tracer* tracer() { return on_ ? &tracer_ : nullptr; }
  void write(text::JsonOutput& out) const {
    if (on_) steps_.write("trace", out);
  }

 private:
  bool on_;
  Kept steps_;
  hosts::Tracer tracer_;
};

text::Json to_json(const hosts::Violation& violation);

// Which operators the reference answered in place of a testee, and the first instruction or delegate where the testee
// was wrong.
void write_text(const ProgramRunners& testee, text::Output& out);
void write_json(const ProgramRunners& testee, text::JsonOutput& out);  // writes the report as fields

// Prints the results of calls, and counts them.
class CallReport {
 public:
  explicit CallReport(const ReportOptions& options) : options_(options) {}

  void add(const hosts::ProgramCall& call, const std::string& method, const hosts::CallResult& result);

  // Returns the exit code. If a call was refused that should have been answered, throws the Fault of that refusal.
  // `against` may be null.
  int finish(const Trace& trace, const ProgramRunners& testee, const ProgramRunners* against) const;

 private:
  void print(const hosts::ProgramCall& call, const std::string& method, const hosts::CallResult& result) const;
  std::string outcome() const;  // "no difference", or how many calls differ or were not compared

  ReportOptions options_;
  Kept all_;
  // `refused_` counts the calls that were refused where no refusal was expected.
  std::size_t calls_ = 0, different_ = 0, compared_ = 0, refused_ = 0;
  std::optional<Fault> refusal_;
};

}  // namespace assay::command
