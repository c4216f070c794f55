#include <list>

#include "conformance/loaders/loader.h"
#include "conformance/loaders/read_only.h"
#include "reference/fault.h"

namespace assay::loaders {
namespace {

class CLoader final : public Loader {
 public:
  CLoader(const assay_loader& table, std::vector<std::string> binaries, const LoaderSettings& settings)
      : table_(table), binaries_(std::move(binaries)), settings_(settings) {}

  std::string_view name() const override { return table_.name; }
  std::vector<std::string> binaries() const override { return binaries_; }

  Taken take(const corrupt::Files& files) override {
    const ReadOnlyFile program(files.file);
    std::list<ReadOnlyFile> data;
    std::vector<assay_loader_bytes> views;
    for (const Bytes& file : files.data) {
      const auto bytes = data.emplace_back(file).bytes();
      views.push_back({bytes.data(), bytes.size()});
    }
    const assay_loader_limits limits{settings_.bytes, settings_.instructions};
    void* loaded = nullptr;
    const int32_t outcome =
        table_.load({program.bytes().data(), program.bytes().size()}, views.data(), views.size(), &limits, &loaded);
    if (outcome != ASSAY_LOADER_OK) return taken(outcome);
    const Taken all = take_methods(loaded);
    table_.unload(loaded);
    return all;
  }

 private:
  Taken take_methods(void* loaded) const {
    for (std::size_t i = 0;; ++i) {
      int32_t outcome = table_.init(loaded, i);
      if (outcome == ASSAY_LOADER_NO_METHOD) return {};
      if (outcome == ASSAY_LOADER_OK && settings_.executes && table_.execute) outcome = table_.execute(loaded, i);
      if (outcome != ASSAY_LOADER_OK) return taken(outcome);
    }
  }

  Taken taken(int32_t outcome) const {
    const char* words = table_.message ? table_.message() : nullptr;
    if (outcome != ASSAY_LOADER_REFUSED && outcome != ASSAY_LOADER_EXHAUSTED)
      throw Fault(Outcome::invalid, "loader.outcome",
                  concat(table_.name, " answers ", outcome, ", which is no outcome"));
    return {outcome == ASSAY_LOADER_REFUSED ? Taken::As::refused : Taken::As::exhausted, words ? words : ""};
  }

  const assay_loader& table_;
  std::vector<std::string> binaries_;
  LoaderSettings settings_;
};

}  // namespace

std::unique_ptr<Loader> make_c_loader(const assay_loader* table, std::vector<std::string> binaries,
                                      const LoaderSettings& settings) {
  if (table->version != ASSAY_LOADER_VERSION)
    throw Fault(Outcome::unsupported, "loader.version",
                concat("the loader speaks version ", table->version, ", not ", ASSAY_LOADER_VERSION + 0));
  if (!table->name || !table->load || !table->init || !table->unload)
    throw Fault(Outcome::invalid, "loader.table", "the loader's table lacks its name, load, init or unload");
  return std::make_unique<CLoader>(*table, std::move(binaries), settings);
}

}  // namespace assay::loaders
