#include "command/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "command/command.h"
#include "conformance/text/printable.h"
#include "conformance/wire/address.h"

namespace assay {
namespace {

template <class T>
struct Held {
  using type = T;
};
template <class T>
struct Held<std::optional<T>> {
  using type = T;
};

// CLI11 by itself reads -1 as the largest number.
std::string unsigned_problem(const std::string& given) {
  std::uint64_t value = 0;
  const char* end = given.data() + given.size();
  const auto [read, error] = std::from_chars(given.data(), end, value);
  return error == std::errc{} && read == end ? "" : given + " is no whole number below 2^64";
}

// "-h", "--help"
std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

OptionHelp help_of(const CLI::Option& option) {
  const bool takes_value = option.get_expected_max() > 0;
  return {names_of(option), takes_value ? option.get_type_name() : "", option.get_description(),
          option.get_positional()};
}

CommandHelp help_of(const CLI::App& app) {
  CommandHelp help{{}, app.get_footer()};
  for (const CLI::Option* option : app.get_options()) help.options.push_back(help_of(*option));
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
    for (const CLI::Option* option : group->get_options()) help.options.push_back(help_of(*option));
  return help;
}

std::string footer(const std::string& details, const std::vector<CommandExample>& examples) {
  std::string all = details.substr(0, details.find_last_not_of('\n') + 1);
  if (!examples.empty())
    all += (all.empty() ? "" : "\n\n") + std::string(examples.size() == 1 ? "Example:" : "Examples:");
  for (const CommandExample& e : examples) all += "\n  # " + e.about + "\n  " + e.line;
  return all;
}

void describe(CLI::App& app, const ProgramHelp& program) {
  app.name(program.name);
  app.description(program.about);
  app.set_version_flag("--version", program.name + " " + program.version);
  app.require_subcommand(0, 1);  // if at least one were required, CLI11 would not name a word that is not a command
  app.footer(program.details);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
}

// CLI11 takes the last word first. A command behind -- is one word: the address of a testee.
std::vector<std::string> as_parsed(std::vector<std::string> words, bool takes_rest) {
  const auto dashes = std::ranges::find(words, "--");
  if (dashes != words.end() && !takes_rest) {
    const std::string command = "-- " + wire::quoted({dashes + 1, words.end()});
    words.erase(dashes, words.end());
    words.push_back(command);
  }
  std::ranges::reverse(words);
  return words;
}

// One sentence, and where the help is.
[[noreturn]] void refuse(const char* problem, std::string_view command) {
  throw UsageError(printable(problem) + " (see assay " + std::string(command) + (command.empty() ? "" : " ") +
                   "--help)");
}

}  // namespace

// -- options ----------------------------------------------------------------------------------------------------------

Option& Option::required() { return option_->required(), *this; }
Option& Option::shows_default() {
  const std::string now = option_->capture_default_str()->get_default_str();
  option_->default_str("");  // CLI11 prints it before the help, and completion.cpp does not print it
  return note("default: " + now);
}
Option& Option::value(const char* name) { return option_->type_name(name), *this; }
Option& Option::existing_file() { return option_->check(CLI::Validator(CLI::ExistingFile).description("")), *this; }
Option& Option::within(std::int64_t smallest, std::int64_t largest) {
  return limit(smallest, static_cast<double>(largest), fmt::format("from {} to {}", smallest, largest));
}
Option& Option::at_least(std::int64_t smallest) {
  return limit(smallest, std::numeric_limits<double>::max(), fmt::format("at least {}", smallest));
}
Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words).description(""));
  return option_->type_name(fmt::format("{}", fmt::join(words, "|"))), *this;
}
Option& Option::check(std::function<std::string(const std::string&)> problem) {
  return option_->check(std::move(problem)), *this;
}
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }

Option& Option::note(const std::string& more) {
  return option_->description(option_->get_description() + "; " + more), *this;
}

// CLI11's own validators describe themselves in the name of the value: "INT:INT in [1 - 256]".
Option& Option::limit(std::int64_t smallest, double largest, const std::string& range) {
  const CLI::Validator valid = CLI::Range(static_cast<double>(smallest), largest);
  option_->check([valid, range](const std::string& given) {
    return valid(given).empty() ? std::string() : "must be " + range + ", but is " + given;
  });
  return note(range);
}

std::vector<std::string> Option::words() const {
  if (option_->count() == 0) return {};
  if (option_->get_expected_max() == 0) return {option_->get_name()};
  std::vector<std::string> words;
  for (const std::string& value : option_->results()) words.insert(words.end(), {option_->get_name(), value});
  return words;
}

template <class T>
Option Options::add(const char* name, T& value, const std::string& help) {
  Option option(*app_->add_option(name, value, help));
  if constexpr (std::is_unsigned_v<typename Held<T>::type>) option.check(unsigned_problem);
  return option;
}
template Option Options::add(const char*, int&, const std::string&);
template Option Options::add(const char*, std::int64_t&, const std::string&);
template Option Options::add(const char*, std::uint64_t&, const std::string&);
template Option Options::add(const char*, double&, const std::string&);
template Option Options::add(const char*, std::string&, const std::string&);
template Option Options::add(const char*, std::optional<std::int64_t>&, const std::string&);
template Option Options::add(const char*, std::optional<std::uint64_t>&, const std::string&);
template Option Options::add(const char*, std::optional<std::uint16_t>&, const std::string&);
template Option Options::add(const char*, std::optional<double>&, const std::string&);
template Option Options::add(const char*, std::optional<std::string>&, const std::string&);
template Option Options::add(const char*, std::vector<std::string>&, const std::string&);

template <class T>
Option Options::add_each(const char* name, std::vector<T>& values, const char* value, const std::string& help) {
  return Option(*app_->add_option(name, values, help + "; may be given several times")
                     ->allow_extra_args(false)
                     ->type_name(value));
}
template Option Options::add_each(const char*, std::vector<std::string>&, const char*, const std::string&);
template Option Options::add_each(const char*, std::vector<std::filesystem::path>&, const char*, const std::string&);

Option Options::add_parsed(const char* name, std::function<std::string(const std::string&)> take,
                           const std::string& help) {
  const auto read = [name, take = std::move(take)](const std::string& given) {
    if (const std::string problem = take(given); !problem.empty()) throw CLI::ValidationError(name, problem);
  };
  return Option(*app_->add_option_function<std::string>(name, read, help));
}

Option Options::flag(const char* name, bool& value, const std::string& help, bool given) {
  return Option(*app_->add_flag_callback(
      name, [&value, given] { value = given; }, help));
}

Options Options::exactly_one() {
  CLI::App* group = app_->add_option_group("what", "One of these");
  group->require_option(1);
  return Options(*group, *action_);
}

void Options::take_rest(std::vector<std::string>& words) {
  app_->allow_extras();
  app_->parse_complete_callback([app = app_, &words] { words = app->remaining(); });
}

void Options::details(const std::string& text) { app_->footer(text); }
void Options::action(std::function<int()> action) { *action_ = std::move(action); }

// -- command lines ----------------------------------------------------------------------------------------------------

int run_command_line(const ProgramHelp& program, std::vector<std::string> words) {
  CLI::App app;
  describe(app, program);
  std::function<int()> action;
  const Command* chosen = words.empty() ? nullptr : find_command(words.front());
  bool takes_rest = false;
  for (const Command& command : commands()) {
    CLI::App* subcommand = app.add_subcommand(std::string(command.name), std::string(command.about));
    subcommand->group(std::string(title(command.group)));
    if (&command != chosen) continue;
    Options options(*subcommand, action);
    command.define(options);
    subcommand->footer(footer(subcommand->get_footer(), command.examples));
    takes_rest = subcommand->get_allow_extras();
  }
  try {
    app.parse(as_parsed(std::move(words), takes_rest));
    if (!chosen) throw CLI::RequiredError::Subcommand(1);
    return action();
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    refuse(error.what(), chosen ? chosen->name : "");
  } catch (const UsageError& error) {
    refuse(error.what(), chosen->name);
  }
}

void parse_options(const std::vector<std::string>& words, const std::function<void(Options&)>& define) {
  CLI::App app;
  std::function<int()> none;
  Options options(app, none);
  define(options);
  try {
    app.parse(std::vector(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

CommandHelp help_of_program(const ProgramHelp& program) {
  CLI::App app;
  describe(app, program);
  return help_of(app);
}

CommandHelp help_of(const Command& command) {
  CLI::App app;
  std::function<int()> none;
  Options options(app, none);
  command.define(options);
  app.footer(footer(app.get_footer(), command.examples));
  return help_of(app);
}

}  // namespace assay
