// The reference's runtime with a planted fault: ASSAY_PLANTED names an operator with a fault, or one of the faults
// below.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

#include "conformance/testee/runtime.h"
#include "reference/runtime/runtime.h"
#include "tests/support/planted.h"

namespace assay {
namespace {

Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget) {
  do_planted(op);
  if (is_planted(op, "refuse")) return {Outcome::unsupported, "planted", "not today", {}};
  Answer answer = call(op, arguments, budget);
  Tensor* out = std::get_if<Tensor>(&arguments.back());
  if (is_planted(op, "wrong") && out) out->bytes.back() ^= std::byte{0x40};
  return answer;
}

File read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(all));
  return in_memory({bytes.begin(), bytes.end()});
}

testee::Reply reply_of(const Fault& fault) { return {fault.outcome, fault.rule + ": " + fault.message}; }

std::string contents(const File& file) { return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}; }

bool is_planted(std::string_view what) {
  const char* planted = std::getenv("ASSAY_PLANTED");
  return planted && planted == what;
}

void spoil(std::vector<Value>& outputs) {
  for (Value& v : outputs)
    if (Tensor* t = std::get_if<Tensor>(&v); t && !t->bytes.empty()) t->bytes.back() ^= std::byte{0x40};
}

// Whether the planted fault skips the check that this fault of an input comes from.
bool is_overlooked(const Fault& fault) {
  const auto says = [&](std::string_view words) {
    return fault.rule == "R1" && fault.message.find(words) != std::string::npos;
  };
  const bool is_size = says("has the upper bound") || says("but must have (");
  return is_planted("takes-any-size") ? is_size : is_planted("takes-any-dtype") && says(", but must be ");
}

// State that outlives programs.
struct Kept {
  std::string file;
  LoadedProgram program;
  std::map<std::string, Method> methods = {};
  std::set<std::string> called = {};
  std::map<std::string, std::vector<Value>> outputs = {};  // of the first call of each method
  bool has_refused = false;
  int calls = 0;
};

class PlantedProgram final : public testee::TesteeProgram {
 public:
  PlantedProgram(std::shared_ptr<Kept> kept, bool shares_arenas)
      : kept_(std::move(kept)), shares_arenas_(shares_arenas) {}

  testee::Reply call(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    outputs.clear();
    const testee::Reply reply = answer(name, inputs, outputs);
    if (reply.outcome != Outcome::ok) kept_->has_refused = true;
    if (reply.outcome == Outcome::ok) change(name, inputs, outputs);
    return reply;
  }

 private:
  testee::Reply answer(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) {
    const auto& plans = *kept_->program.program()->tables().execution_plan();
    if (is_planted("loses-the-second-method") && plans.size() > 1 && name == plans[1]->name()->string_view())
      return {Outcome::invalid, "there is only one method"};
    if (is_planted("forgets-state")) kept_->methods.clear();
    if (is_planted("forgets-the-other-state"))
      std::erase_if(kept_->methods, [&](const auto& m) { return m.first != name; });
    if (!kept_->methods.contains(name)) {
      auto made = kept_->program.method(name);
      if (!made) return reply_of(made.faults.front());
      kept_->methods.emplace(name, std::move(*made));
    }
    Method& method = kept_->methods.at(name);
    const std::size_t wanted = format::size_of(method.plan().inputs());
    const bool remembers = is_planted("remembers-inputs") && kept_->called.contains(name);
    if (inputs.size() > wanted && !is_planted("takes-too-many")) return {Outcome::invalid, "there are too many inputs"};
    if (inputs.size() < wanted && !remembers) return {Outcome::invalid, "an input is not set"};
    for (std::size_t i = 0; i < std::min(wanted, inputs.size()); ++i)
      if (const Refusal refused = method.set_input(i, taken(method, i, inputs[i])))
        return is_overlooked(*refused) ? testee::Reply{} : reply_of(*refused);
    if (const Refusal refused = method.execute()) return is_overlooked(*refused) ? testee::Reply{} : reply_of(*refused);
    kept_->called.insert(name);
    for (std::size_t i = 0; i < format::size_of(method.plan().outputs()); ++i) outputs.push_back(*method.output(i));
    return {};
  }

  static Value taken(const Method& method, std::size_t i, Value input) {
    Tensor* t = std::get_if<Tensor>(&input);
    if (is_planted("takes-false-as-true") && t && t->dtype == DType::boolean && t->rank() == 0)
      t->bytes[0] = std::byte{1};
    const auto declared = static_cast<std::uint32_t>(format::items(method.plan().inputs())[i]);
    const pte::Tensor* to = method.plan().values()->Get(declared)->val_as_Tensor();
    if (!t || !to || t->rank() != static_cast<int>(to->dim_order()->size())) return input;
    const auto items = format::items(to->dim_order());
    const Dims order(Ints(items.begin(), items.end()));
    if (is_planted("converts-dim-orders")) *t = arranged(*t, order);
    if (is_planted("misreads-dim-orders")) t->dim_order = order;
    return input;
  }

  // Applies the planted fault to right outputs.
  void change(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) {
    ++kept_->calls;
    const bool is_wrong = (is_planted("errs-behind-refusals") && kept_->has_refused) ||
                          (is_planted("errs-in-shared-arenas") && shares_arenas_) ||
                          (is_planted("errs-at-the-largest-size") && is_at_its_bound(inputs));
    if (is_wrong) spoil(outputs);
    if (is_planted("ends-after-calls") && kept_->calls == 5) std::raise(SIGSEGV);
    if (is_planted("keeps-the-first-sizes")) keep_sizes(name, outputs);
    if (is_planted("repeats-results")) outputs = kept_->outputs.try_emplace(name, outputs).first->second;
    if (is_planted("shares-outputs") && outputs.size() > 1) share_elements(outputs);
    if (is_planted("reverses-outputs")) std::ranges::reverse(outputs);
    if (!is_planted("writes-to-inputs")) return;
    for (const Value& v : inputs)
      if (const Tensor* t = std::get_if<Tensor>(&v); t && !t->bytes.empty())
        const_cast<std::byte&>(t->bytes[0]) ^= std::byte{1};
  }

  // An output of as many bytes as the last one has its elements.
  static void share_elements(std::vector<Value>& outputs) {
    const Tensor* last = std::get_if<Tensor>(&outputs.back());
    for (Value& v : outputs)
      if (Tensor* t = std::get_if<Tensor>(&v); t && last && t->bytes.size() == last->bytes.size())
        t->bytes = last->bytes;
  }

  // Whether the batch has its largest size, 16.
  static bool is_at_its_bound(std::span<const Value> inputs) {
    const Tensor* t = inputs.empty() ? nullptr : std::get_if<Tensor>(&inputs[0]);
    return t && t->rank() > 0 && t->sizes[0] == 16;
  }

  void keep_sizes(const std::string& name, std::vector<Value>& outputs) {
    const std::vector<Value>& kept = kept_->outputs.try_emplace(name, outputs).first->second;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Tensor* now = std::get_if<Tensor>(&outputs[i]);
      const Tensor* first = std::get_if<Tensor>(&kept[i]);
      if (!now || !first) continue;
      now->sizes = first->sizes;
      now->bytes.resize(first->bytes.size());
    }
  }

  std::shared_ptr<Kept> kept_;
  bool shares_arenas_;
};

class PlantedRuntime final : public testee::Runtime {
 public:
  std::string_view name() const override { return "planted"; }

  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply) override {
    const File file = read(settings.program);
    std::vector<File> files;
    for (const auto& one : settings.data) files.push_back(read(one));
    std::string bytes = contents(file);
    for (const File& one : files) bytes += contents(one);
    const auto found = std::ranges::find(kept_, bytes, [](const auto& kept) { return kept->file; });
    const bool is_in_use = found != kept_.end() && found->use_count() > 1;
    if (found != kept_.end() && is_planted(is_in_use ? "shares-instances" : "keeps-what-is-unloaded"))
      return reply = {}, std::make_unique<PlantedProgram>(*found, settings.share_arenas);
    RuntimeOptions options;
    options.call = answer, options.share_arenas = settings.share_arenas;
    auto loaded = LoadedProgram::load(file, std::move(files), std::move(options));
    if (!loaded) return refused(loaded.faults.front(), reply);
    auto kept = std::make_shared<Kept>(Kept{bytes, std::move(*loaded)});
    (found == kept_.end() ? kept_.emplace_back() : *found) = kept;
    return std::make_unique<PlantedProgram>(std::move(kept), settings.share_arenas);
  }

 private:
  // A program that is accepted although it is invalid; its methods give no outputs.
  class Nothing final : public testee::TesteeProgram {
    testee::Reply call(const std::string&, std::span<const Value>, std::vector<Value>&) override { return {}; }
  };

  static std::unique_ptr<testee::TesteeProgram> refused(const Fault& fault, testee::Reply& reply) {
    if (is_planted("ends-on-" + fault.rule)) std::raise(SIGSEGV);
    for (volatile bool forever = is_planted("hangs-on-" + fault.rule); forever;) {
    }
    if (is_planted("accepts-" + fault.rule)) return std::make_unique<Nothing>();
    reply = reply_of(fault);
    return nullptr;
  }

  std::vector<std::shared_ptr<Kept>> kept_;
};

}  // namespace
}  // namespace assay

extern "C" assay::testee::Runtime* assay_runtime() { return new assay::PlantedRuntime; }
