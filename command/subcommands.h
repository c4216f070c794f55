#pragma once

#include <CLI/App.hpp>

// Each adds one subcommand. When it is on the command line and does not succeed it throws a Fault, throws a
// CLI::ParseError where the command line makes no sense, or sets `exit_code`.
namespace assay {

inline constexpr int answers_differ = 1;

void add_bench(CLI::App& app, int& exit_code);
void add_call(CLI::App& app, int& exit_code);
void add_case(CLI::App& app, int& exit_code);
void add_cases(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_contract(CLI::App& app, int& exit_code);
void add_corrupt(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_kernels(CLI::App& app, int& exit_code);
void add_loader(CLI::App& app, int& exit_code);
void add_merge(CLI::App& app, int& exit_code);
void add_operators(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_runtime(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_select(CLI::App& app, int& exit_code);
void add_suite(CLI::App& app, int& exit_code);

}  // namespace assay
