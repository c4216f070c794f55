#pragma once

#include <fmt/format.h>

#include <iosfwd>
#include <string_view>

#include "conformance/text/json.h"
#include "reference/budget.h"

// Printed text that is charged to a budget before it is printed.
namespace assay::text {

class Output {
 public:
  // Without a stream, the text is only counted.
  Output(std::ostream* to, Budget budget) : to_(to), budget_(std::move(budget)) {}

  void write(std::string_view text);  // faults: exhausted, limits.output
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... arguments) {
    write(fmt::format(format, std::forward<T>(arguments)...));
  }
  const Budget& budget() const { return budget_; }

 private:
  std::ostream* to_;
  Budget budget_;
};

// Writes JSON piece by piece, so that the whole JSON is never in memory.
class JsonOutput {
 public:
  explicit JsonOutput(Output& out) : out_(out) {}

  void value(const Json& small) { line(line_of(small)); }
  void line(std::string_view text) { separate(), out_.write(text); }  // text that is JSON already
  void field(std::string_view key, const Json& small) { name(key), value(small); }
  template <class F>
  void object(F fields) {
    enclose('{', fields, '}');
  }
  template <class F>
  void object(std::string_view key, F fields) {
    name(key), object(fields);
  }
  template <class F>
  void list(std::string_view key, F items) {
    name(key), enclose('[', items, ']');
  }

 private:
  void separate() {
    if (!first_) out_.write(",");
    first_ = false;
  }
  void name(std::string_view key) {
    separate(), out_.write(line_of(key) + ':');
    first_ = true;
  }
  template <class F>
  void enclose(char open, F inside, char close) {
    separate(), out_.write({&open, 1});
    first_ = true;
    inside();
    out_.write({&close, 1});
    first_ = false;
  }

  Output& out_;
  bool first_ = true;  // nothing is written yet on this level
};

}  // namespace assay::text
