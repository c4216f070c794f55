#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

// Command lines. options.cpp alone includes the library that parses them, whose header takes seconds to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay {

struct Command;

// An exception: the command line is wrong.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One option of a command. A copy refers to the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required();
  Option& shows_default();          // the help ends with the value that the variable has now
  Option& value(const char* name);  // sets the name of the value in the help
  Option& existing_file();
  Option& within(std::int64_t smallest, std::int64_t largest);
  Option& at_least(std::int64_t smallest);
  Option& one_of(const std::vector<std::string>& words);
  // `problem` returns what is wrong with a word, or an empty text.
  Option& check(std::function<std::string(const std::string&)> problem);
  Option& needs(const Option& other);
  Option& excludes(const Option& other);

  // The option as it was given: its name and its value. Empty if it was not given.
  std::vector<std::string> words() const;

 private:
  Option& note(const std::string& more);  // adds "; more" to the help
  Option& limit(std::int64_t smallest, double largest, const std::string& range);

  CLI::Option* option_;
};

// An option as the help describes it.
struct OptionHelp {
  std::vector<std::string> names;  // "-h", "--help", or the name of a positional option
  std::string value, about;        // `value` is empty if the option takes no value
  bool is_positional;
};

// The options of a command.
class Options {
 public:
  // Stores the action of the command in `action`.
  Options(CLI::App& app, std::function<int()>& action) : app_(&app), action_(&action) {}

  // A name without dashes is positional. T may be a number, a string, an optional of these, or a vector of strings or
  // paths, which takes all words up to the next option. An unsigned number is whole and below 2^64.
  template <class T>
  Option add(const char* name, T& value, const std::string& help);
  // The option is given once for each value.
  template <class T>
  Option add_each(const char* name, std::vector<T>& values, const char* value, const std::string& help);
  // `take` reads the value, and returns what is wrong with it, or an empty text.
  Option add_parsed(const char* name, std::function<std::string(const std::string&)> take, const std::string& help);
  Option flag(const char* name, bool& value, const std::string& help, bool given = true);

  Options exactly_one();  // adds options of which a command line must have exactly one

  // Words that are not options are stored unchanged in `words`, also words after `--`.
  void take_rest(std::vector<std::string>& words);

  void details(const std::string& text);  // adds text that the help shows below the options
  void action(std::function<int()> action);

 private:
  CLI::App* app_;
  std::function<int()>* action_;
};

struct ProgramHelp {
  std::string name, about, version, details;
};

// Runs the command that the words request, or prints the help or the version. Returns the exit code. Throws UsageError,
// and the exceptions of the command.
int run_command_line(const ProgramHelp& program, std::vector<std::string> words);

// Parses options outside of a command line. Throws UsageError.
void parse_options(const std::vector<std::string>& words, const std::function<void(Options&)>& define);

// The contents of a command's help, for shell completion and manuals.
struct CommandHelp {
  std::vector<OptionHelp> options;
  std::string details;
};
CommandHelp help_of_program(const ProgramHelp& program);
CommandHelp help_of(const Command& command);

}  // namespace assay
