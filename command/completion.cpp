#include <fmt/ostream.h>

#include <iostream>
#include <memory>

#include "command/subcommands.h"

// What shells and the manual are told is what CLI11 knows of the command line.
namespace assay {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return !o->get_positional(); });
}

// "-h", "--help"
std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.get_snames()) words.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

// With a backslash before each of these characters.
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

// -- bash -------------------------------------------------------------------------------------------------------------

std::string option_words(const CLI::App& app) {
  std::string all;
  for (const CLI::Option* option : options_of(app))
    for (const std::string& word : words_of(*option)) all += (all.empty() ? "" : " ") + word;
  return all;
}

void write_bash(std::ostream& out, const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), option_words(*command));
  }
  fmt::print(out, R"(_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  case $COMP_CWORD:${{COMP_WORDS[1]}} in
    1:*) words='{1}{2}' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] || case ${{COMP_WORDS[1]}} in
{3}  esac
  [ "$COMP_CWORD" -gt 1 ] && [[ $word != -* ]] || COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _{0} {0}
)",
             app.get_name(), commands, option_words(app), cases);
}

// -- zsh --------------------------------------------------------------------------------------------------------------

std::string zsh_specs(const CLI::App& app) {
  std::string all;
  for (const CLI::Option* option : options_of(app))
    for (const std::string& word : words_of(*option))
      all += " " + quoted(fmt::format("*{}[{}]{}", word, escaped(option->get_description(), "\\[]:"),
                                      takes_value(*option) ? ":value:_files" : ""));
  return all;
}

void write_zsh(std::ostream& out, const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += " " + quoted(escaped(command->get_name(), ":") + ":" + escaped(command->get_description(), ":\\"));
    cases += fmt::format("    {}) _arguments{} '*:file:_files' ;;\n", command->get_name(), zsh_specs(*command));
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
             app.get_name(), commands, cases);
}

// -- troff ------------------------------------------------------------------------------------------------------------

// A line that begins with a dot or a quote would be a request.
std::string troff(std::string_view s) {
  std::string all;
  for (const char c : escaped(s, "\\-")) {
    if ((all.empty() || all.back() == '\n') && (c == '.' || c == '\'')) all += "\\&";
    all += c;
  }
  return all;
}

void write_options(std::ostream& out, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string value = takes_value(*option) && !option->get_positional() ? " " + option->get_type_name() : "";
    const std::string name =
        option->get_positional() ? option->get_name(true) : fmt::format("{}", fmt::join(words_of(*option), ", "));
    fmt::print(out, ".TP\n.B {}\n{}\n", troff(name + value), troff(option->get_description()));
  }
}

void write_footer(std::ostream& out, const CLI::App& app) {
  if (!app.get_footer().empty()) fmt::print(out, ".PP\n.nf\n{}\n.fi\n", troff(app.get_footer()));
}

void write_manual(std::ostream& out, const CLI::App& app) {
  fmt::print(out, ".TH {0} 1\n.SH NAME\n{0} \\- {1}\n.SH SYNOPSIS\n.B {0}\nCOMMAND [ARGUMENT]...\n", app.get_name(),
             troff(app.get_description()));
  fmt::print(out, ".SH OPTIONS\n");
  write_options(out, app);
  for (const CLI::App* command : commands_of(app)) {
    fmt::print(out, ".SH {} {}\n{}\n", app.get_name(), troff(command->get_name()), troff(command->get_description()));
    write_options(out, *command);
    write_footer(out, *command);
  }
  fmt::print(out, ".SH EXIT STATUS\n{}\n", troff(app.get_footer()));
}

}  // namespace

void add_completion(CLI::App& app, int&) {
  CLI::App* command =
      app.add_subcommand("completion", "Prints what a shell completes command lines by, or the manual page");
  const auto form = std::make_shared<std::string>();
  command->add_option("FORM", *form, "bash, zsh or man")->required()->check(CLI::IsMember({"bash", "zsh", "man"}));
  command->footer("Example:\n  source <(assay completion bash)");
  command->callback([&app, form] {
    (*form == "bash" ? write_bash : *form == "zsh" ? write_zsh : write_manual)(std::cout, app);
  });
}

}  // namespace assay
