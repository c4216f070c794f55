#include <fmt/ostream.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/libraries.h"
#include "reference/fault.h"

// Completion for shells, the manual page and doc/commands.md, all generated from the help of the commands.
namespace assay {
namespace {

struct HelpOf {
  const Command& command;
  CommandHelp help;
};

std::vector<HelpOf> described() {
  std::vector<HelpOf> all;
  for (const Command& command : commands()) all.push_back({command, help_of(command)});
  return all;
}

// Returns s with a backslash before each character of `special`.
std::string escaped(std::string_view s, std::string_view special) {
  std::string all;
  for (const char c : s) all += special.find(c) == std::string_view::npos ? std::string(1, c) : std::string{'\\', c};
  return all;
}

// For shells, in single quotes.
std::string quoted(const std::string& s) {
  std::string all = "'";
  for (const char c : s) all += c == '\'' ? "'\\''" : std::string(1, c);
  return all + "'";
}

// "-o, --output PATH"
std::string usage(const OptionHelp& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  return option.is_positional || option.value.empty() ? names : names + " " + option.value;
}

// -- bash -------------------------------------------------------------------------------------------------------------

std::string option_words(const CommandHelp& help) {
  std::string all;
  for (const OptionHelp& option : help.options)
    if (!option.is_positional) all += fmt::format("{}{}", all.empty() ? "" : " ", fmt::join(option.names, " "));
  return all;
}

bool takes_testee(const CommandHelp& help) {
  return std::ranges::any_of(help.options, [](const OptionHelp& option) {
    return option.is_positional && (option.about == testee_help || option.about == runtime_help);
  });
}

// A word that begins with a dash is an option; any other word is a testee where the command takes one, else a file.
void write_bash(std::ostream& out, const ProgramHelp& program) {
  const std::string testees = fmt::format("{}", fmt::join(testee_words(), " "));
  std::string names, cases;
  for (const auto& [command, help] : described()) {
    names += fmt::format("{} ", command.name);
    cases += fmt::format("    {}) words='{}' testees='{}' ;;\n", command.name, option_words(help),
                         takes_testee(help) ? testees : "");
  }
  fmt::print(out, R"(_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words= testees=
  case $COMP_CWORD:${{COMP_WORDS[1]}} in
    1:*) words='{1}{2}' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] || case ${{COMP_WORDS[1]}} in
{3}  esac
  [ "$COMP_CWORD" -eq 1 ] || [[ $word == -* ]] || words=$testees
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _{0} {0}
)",
             program.name, names, option_words(help_of_program(program)), cases);
}

// -- zsh --------------------------------------------------------------------------------------------------------------

std::string zsh_specs(const CommandHelp& help) {
  std::string all;
  for (const OptionHelp& option : help.options)
    for (const std::string& name : option.is_positional ? std::vector<std::string>() : option.names)
      all += " " + quoted(fmt::format("*{}[{}]{}", name, escaped(option.about, "\\[]:"),
                                      option.value.empty() ? "" : ":value:_files"));
  return all;
}

void write_zsh(std::ostream& out, const ProgramHelp& program) {
  std::string names, cases;
  for (const auto& [command, help] : described()) {
    names += " " + quoted(escaped(command.name, ":") + ":" + escaped(command.about, ":\\"));
    cases += fmt::format("    {}) _arguments{} '*:file:_files' ;;\n", command.name, zsh_specs(help));
  }
  fmt::print(out, R"(#compdef {0}
_{0}() {{
  local -a commands=({1})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{2}  esac
}}
_{0} "$@"
)",
             program.name, names, cases);
}

// -- troff ------------------------------------------------------------------------------------------------------------

// troff reads a line that begins with a dot or a quote as a request.
std::string troff(std::string_view s) {
  std::string all;
  for (const char c : escaped(s, "\\-")) {
    if ((all.empty() || all.back() == '\n') && (c == '.' || c == '\'')) all += "\\&";
    all += c;
  }
  return all;
}

void write_options(std::ostream& out, const CommandHelp& help) {
  for (const OptionHelp& option : help.options)
    fmt::print(out, ".TP\n.B {}\n{}\n", troff(usage(option)), troff(option.about));
}

void write_manual(std::ostream& out, const ProgramHelp& program) {
  const CommandHelp own = help_of_program(program);
  fmt::print(out, ".TH {0} 1\n.SH NAME\n{0} \\- {1}\n.SH SYNOPSIS\n.B {0}\nCOMMAND [ARGUMENT]...\n", program.name,
             troff(program.about));
  fmt::print(out, ".SH OPTIONS\n");
  write_options(out, own);
  for (const auto& [command, help] : described()) {
    fmt::print(out, ".SH {} {}\n{}\n", program.name, troff(command.name), troff(command.about));
    write_options(out, help);
    if (!help.details.empty()) fmt::print(out, ".PP\n.nf\n{}\n.fi\n", troff(help.details));
  }
  fmt::print(out, ".SH EXIT STATUS\n{}\n", troff(own.details));
}

// -- Markdown ---------------------------------------------------------------------------------------------------------

// Wrapped at 120 columns, the lines behind the first indented.
std::string wrapped(const std::string& paragraph, const std::string& indent) {
  constexpr std::size_t columns = 120;
  std::string all, line, word;
  for (std::istringstream words(paragraph); words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      all += line + '\n';
      line = indent;
    }
    line += (line.empty() || line == indent ? "" : " ") + word;
  }
  return all + line + '\n';
}

std::string markdown(std::string_view s) { return escaped(s, "\\`*<>|"); }

void write_markdown(std::ostream& out, const ProgramHelp& program) {
  fmt::print(out,
             "# The commands of {}\n\n`{} completion markdown` writes this page. `{} COMMAND --help` prints the "
             "section of a command.\n\n",
             program.name, program.name, program.name);
  fmt::print(out, "```text\n{}\n```\n", help_of_program(program).details);
  Group group = Group::shell;
  bool is_first = true;
  for (const auto& [command, help] : described()) {
    if (is_first || command.group != group) fmt::print(out, "\n## {}\n", title(command.group));
    is_first = false, group = command.group;
    fmt::print(out, "\n### {} {}\n\n{}.\n\n", program.name, command.name, command.about);
    for (const OptionHelp& option : help.options)
      if (option.names.back() != "--help")
        fmt::print(out, "{}", wrapped(fmt::format("- `{}`: {}", usage(option), markdown(option.about)), "  "));
    if (!help.details.empty()) fmt::print(out, "\n```text\n{}\n```\n", help.details);
  }
}

// -- the command ------------------------------------------------------------------------------------------------------

struct Form {
  const char* name;
  void (*write)(std::ostream&, const ProgramHelp&);
};
constexpr Form forms[] = {
    {"bash", write_bash}, {"zsh", write_zsh}, {"man", write_manual}, {"markdown", write_markdown}};

int complete(const std::string& form) {
  std::ranges::find_if(forms, [&](const Form& f) { return f.name == form; })->write(std::cout, program());
  return exit_code(Outcome::ok);
}

void define_completion(Options& options) {
  const auto form = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Form& f : forms) names.emplace_back(f.name);
  options.add("FORM", *form, fmt::format("Prints this form: {}", fmt::join(names, ", "))).required().one_of(names);
  options.action([form] { return complete(*form); });
}

const Registered registered_completion(
    {"completion",
     Group::shell,
     "Prints the completion of command lines for a shell, the manual page, or doc/commands.md",
     define_completion,
     {{"source <(assay completion bash)", "completes command lines in this shell"}}});

}  // namespace
}  // namespace assay
