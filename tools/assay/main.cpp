#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>

#include "conformance/text/fault_text.h"
#include "conformance/wire/address.h"
#include "tools/assay/addresses.h"
#include "tools/assay/subcommands.h"
#include "version.h"

namespace {

using assay::Fault;

constexpr int usage_error = 2;

int refuse(const Fault& fault) {
  std::cout.flush();
  std::cerr << "assay: " << sentence(fault) << '\n';
  return assay::exit_code(fault.outcome);
}

// One sentence, and where the help is.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::cerr << "assay: " << assay::printable(error.what()) << " (see assay "
            << (chosen.empty() ? "" : chosen.front()->get_name() + " ") << "--help)\n";
  return usage_error;
}

// What CLI11 parses, last first. A command behind -- is one word: a testee. An operator's arguments may begin with a
// dash.
std::vector<std::string> words(int argc, char** argv) {
  std::vector<std::string> all(argv + 1, argv + argc);
  const auto dashes = std::ranges::find(all, "--");
  if (dashes != all.end() && all.front() != "call") {
    const std::string command = "-- " + assay::wire::quoted({dashes + 1, all.end()});
    all.erase(dashes, all.end());
    all.push_back(command);
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  for (const std::string_view judges : {"kernels", "loader", "runtime", "merge", "case", "contract"})
    if (argc > 1 && argv[1] == judges) assay::fix_addresses(argv);
  CLI::App app("Says what a PyTorch operator means, and whether somebody else's kernels or runtime agree.");
  app.name("assay");
  app.set_version_flag("--version", std::string("assay ") + assay::version);
  app.require_subcommand(0, 1);  // with at least one, CLI11 would not say which word is none
  app.footer(
      "Exit codes: 0 ok, 1 the answers differ, 2 usage, 3 malformed, 4 invalid, 5 unsupported, 6 fault, 7 exhausted.");
  int exit_code = 0;
  assay::add_kernels(app, exit_code);
  assay::add_case(app, exit_code);
  assay::add_cases(app, exit_code);
  assay::add_contract(app, exit_code);
  assay::add_runtime(app, exit_code);
  assay::add_merge(app, exit_code);
  assay::add_compare(app, exit_code);
  assay::add_report(app, exit_code);
  assay::add_call(app, exit_code);
  assay::add_operators(app, exit_code);
  assay::add_run(app, exit_code);
  assay::add_check(app, exit_code);
  assay::add_corrupt(app, exit_code);
  assay::add_loader(app, exit_code);
  assay::add_inspect(app, exit_code);
  assay::add_explain(app, exit_code);
  assay::add_select(app, exit_code);
  assay::add_bench(app, exit_code);
  assay::add_serve(app, exit_code);
  assay::add_suite(app, exit_code);
  assay::add_completion(app, exit_code);
  try {
    app.parse(words(argc, argv));
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  } catch (const Fault& fault) {
    return refuse(fault);
  } catch (const std::bad_alloc&) {
    return refuse(Fault(assay::Outcome::exhausted, "limits.memory", "the machine has no memory left"));
  } catch (const std::length_error&) {
    return refuse(Fault(assay::Outcome::exhausted, "limits.memory", "it fits no memory"));
  }
  if (std::cout.flush()) return exit_code;
  return refuse(Fault(assay::Outcome::exhausted, "output", "the output cannot be written"));
}
