#include <filesystem>
#include <iostream>
#include <set>

#include "conformance/cases/recorded.h"
#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "conformance/text/literal.h"
#include "fuzz/attached.h"
#include "fuzz/deployed.h"
#include "fuzz/mutator/call_mutator.h"
#include "fuzz/target.h"
#include "reference/program/decoded.h"

// fuzz_seeds GOLDEN FOLDER: writes the first inputs of each target, made from recorded files, to FOLDER/TARGET.
namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest = 1 << 16;

class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) {
    for (const Target& t : targets()) files::make_folder(folder_ / t.name);
  }

  void add(std::initializer_list<std::string_view> to, const std::string& name, const std::string& bytes) {
    if (bytes.size() > largest) return;
    for (const std::string_view target : to)
      files::write_file(folder_ / target / name, std::as_bytes(std::span(bytes)));
  }

 private:
  fs::path folder_;
};

std::string contents(const fs::path& file) { return std::string(files::characters(files::open_file(file))); }

bpte::ValueT bundled(const Value& value) {
  bpte::ValueT v;
  if (const auto* t = std::get_if<Tensor>(&value)) {
    bpte::TensorT tensor;
    tensor.scalar_type = static_cast<std::int8_t>(t->dtype);
    tensor.sizes.assign(t->sizes.begin(), t->sizes.end());
    tensor.dim_order.assign(t->dim_order.begin(), t->dim_order.end());
    for (const std::byte b : t->bytes) tensor.data.push_back(std::to_integer<std::uint8_t>(b));
    v.val.Set(std::move(tensor));
  }
  const auto set = [&]<class T>(T table, auto T::*field, auto number) {
    table.*field = number;
    v.val.Set(std::move(table));
  };
  if (const Int* n = std::get_if<Int>(&value)) set(bpte::IntT(), &bpte::IntT::int_val, *n);
  if (const bool* b = std::get_if<bool>(&value)) set(bpte::BoolT(), &bpte::BoolT::bool_val, *b);
  if (const double* x = std::get_if<double>(&value)) set(bpte::DoubleT(), &bpte::DoubleT::double_val, *x);
  return v;
}

std::vector<std::unique_ptr<bpte::ValueT>> bundled(const std::vector<Value>& values) {
  std::vector<std::unique_ptr<bpte::ValueT>> all;
  for (const Value& v : values) all.push_back(std::make_unique<bpte::ValueT>(bundled(v)));
  return all;
}

// A program with its recorded calls, one suite per call.
std::string bundle(const std::string& program, const std::vector<hosts::ProgramCall>& calls) {
  BundledProgram b;
  b.program.assign(program.begin(), program.end());
  for (const hosts::ProgramCall& call : calls) {
    auto test = std::make_unique<bpte::BundledMethodTestCaseT>();
    test->inputs = bundled(call.inputs);
    if (call.outputs) test->expected_outputs = bundled(*call.outputs);
    auto& suite = b.method_test_suites.emplace_back(std::make_unique<bpte::BundledMethodTestSuiteT>());
    suite->method_name = call.method;
    suite->test_cases.push_back(std::move(test));
  }
  const Bytes bytes = encode(b);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A program with the packed constants of its first method.
void add_packed(const fs::path& folder, const std::string& program, Seeds& seeds) {
  const DeployedProgram opened(std::as_bytes(std::span(program)), {});
  if (!opened.program()) return;
  const auto made = execute(*opened.program(), *opened.program()->view().tables->execution_plan()->Get(0), {});
  if (!made || !made->packed) return;
  const auto packed = made->packed->bytes();
  seeds.add({"packed"}, folder.filename().string(),
            attach(program, std::string(reinterpret_cast<const char*>(packed.data()), packed.size())));
}

// The payloads of a program's delegates.
void add_payloads(const std::string& name, const std::string& program, Seeds& seeds) {
  const auto valid = validate(*open_program(borrowed(std::as_bytes(std::span(program)))));
  if (!valid) return;
  std::size_t n = 0;
  format::program_kind.payloads(format::AnyView((*valid)->view()), &valid->named_data(), [&](const auto& nested) {
    if (nested.kind == &format::xnnpack_kind)
      seeds.add({"payload"}, concat(name, '-', n++),
                std::string(reinterpret_cast<const char*>(nested.bytes.data()), nested.bytes.size()));
  });
}

void add_program(const fs::path& folder, Seeds& seeds) {
  const std::string group = folder.parent_path().filename().string() + '-' + folder.filename().string();
  std::string data;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = group + '-' + entry.path().filename().string();
    const auto extension = entry.path().extension();
    if (extension == ".ptd") seeds.add({"decode", "check", "rules", "inspect", "data"}, name, data = contents(entry));
    if (extension == ".bpte") seeds.add({"decode", "check", "inspect", "bundle"}, name, contents(entry));
    if (extension == ".npy") seeds.add({"npy"}, name, contents(entry));
    if (extension == ".json") seeds.add({"calls"}, name, contents(entry));
  }
  const std::string program = contents(folder / "program.pte");
  seeds.add({"decode", "check", "rules", "inspect", "run", "optimized", "loader"}, folder.filename().string(),
            attach(program, data));
  if (data.empty()) add_packed(folder, program, seeds);
  add_payloads(folder.filename().string(), program, seeds);
  if (fs::exists(folder / "calls.json"))
    seeds.add({"decode", "check", "inspect", "bundle"}, folder.filename().string() + ".bpte",
              bundle(program, hosts::read_calls(folder / "calls.json").calls));
}

// Small calls of an operator: the first call of each generator.
void add_calls(const cases::RecordedCalls& calls, Seeds& seeds) {
  std::set<std::string> origins;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    cases::RecordedCall call = calls.at(i);
    const std::string line = line_of(text::CallRequest{&calls.op(), call.arguments, Budget()});
    if (line.size() > 2000 || !origins.insert(call.origin).second) continue;
    seeds.add({"call", "oracle"}, concat(calls.op().name, '-', i), line);
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const SchemaArgument& a = calls.op().arguments[k];
      if (!a.out)
        seeds.add({"literal"}, concat(calls.op().name, '-', i, '-', k),
                  concat(a.type, '\n', text::literal(call.arguments[k], a.type)));
    }
  }
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
  using namespace assay::fuzz;
  if (argc != 3) return std::cerr << "usage: fuzz_seeds GOLDEN FOLDER\n", 2;
  Seeds seeds(argv[2]);
  for (const auto& entry : fs::recursive_directory_iterator(argv[1]))
    if (entry.path().filename() == "program.pte") add_program(entry.path().parent_path(), seeds);
  for (const auto& file : assay::cases::recorded_files(fs::path(argv[1]) / "operators"))
    add_calls(assay::cases::RecordedCalls(file), seeds);
}
