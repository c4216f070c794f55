// Mutants of what reads files and texts (fuzz.yaml), tested by the fuzzers: the oracle that the kind names must see the
// fault. fuzz.py compiles a mutant, links it and fuzzes it.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "proof/mutation/driver.h"

namespace assay::mutation {
namespace {

class Fuzz : public Subject {
 public:
  Fuzz() {
    FILE* const list = popen(ASSAY_MUTATION "/fuzz.py --list", "r");
    std::array<char, 256> line, of, kind, place, name;
    while (list && std::fgets(line.data(), line.size(), list))
      if (std::sscanf(line.data(), "%255s %255s %255s %255s", of.data(), kind.data(), place.data(), name.data()) == 4) {
        const auto kept = [&](const auto& text) -> std::string_view { return texts_.emplace_back(text.data()); };
        mutants_.push_back({kept(of), kept(kind), kept(place), kept(name)});
      }
    if (list) pclose(list);
    noticed_.resize(mutants_.size());
  }

  std::string_view name() const override { return "fuzz"; }
  std::span<const Mutant> mutants() const override { return mutants_; }

  void try_mutants(std::span<const std::size_t> chosen, Survivors&) override {
    for (const std::size_t i : chosen)
      noticed_[i] = std::system(fmt::format("{}/fuzz.py {}", ASSAY_MUTATION, mutants_[i].change).c_str()) == 0;
  }

  std::optional<Result> result(std::size_t i) const override { return Result{noticed_[i], "open", {mutants_[i].kind}}; }

 private:
  std::deque<std::string> texts_;
  std::vector<Mutant> mutants_;
  std::vector<bool> noticed_;
};

}  // namespace

std::unique_ptr<Subject> make_subject(const Options&) { return std::make_unique<Fuzz>(); }

}  // namespace assay::mutation
