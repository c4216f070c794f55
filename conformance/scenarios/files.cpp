#include <algorithm>

#include "conformance/programs/file.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/negative_file.h"
#include "conformance/testees/file_in_memory.h"

namespace assay {
namespace {

constexpr int cuts = 12, bits = 24;  // of a program

// The rule by which the reference refuses bytes; empty where it takes them.
std::string rule_broken_by(const Bytes& bytes, const std::vector<std::filesystem::path>& data) {
  try {
    valid_program(borrowed(bytes), open_data_files(data));
    return {};
  } catch (const Fault& fault) {
    return fault.rule;
  }
}

struct Maker {
  const RecordedProgram& program;
  std::vector<NegativeFile> files = {};

  // Refused, if the reference does: what stands behind the last byte that counts may be missing.
  void add(std::string name, Bytes bytes) {
    std::string rule = rule_broken_by(bytes, program.calls.data);
    const auto expectation = rule.empty() ? NegativeFile::Expectation::either : NegativeFile::Expectation::refused;
    files.push_back({std::move(name), std::move(rule), std::move(bytes), expectation});
  }
};

}  // namespace

std::vector<NegativeFile> damaged(const RecordedProgram& program) {
  const File file = open_file(program.file);
  const Bytes whole(file.bytes.begin(), file.bytes.end());
  Maker maker{program};
  for (std::size_t i = 0; i < cuts; ++i) {
    const std::size_t length = whole.size() * i / cuts;
    maker.add(text("cut-", length), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
  }
  for (std::size_t at = 0; at < 64 && at < whole.size(); at += 4) {  // root, identifiers, the extended header
    Bytes changed = whole;
    for (std::size_t k = at; k < std::min(at + 4, whole.size()); ++k) changed[k] = std::byte{0xFF};
    maker.add(text("header-", at), std::move(changed));
  }
  for (std::size_t i = 0; i < bits; ++i) {
    Bytes changed = whole;
    const std::size_t at = (whole.size() * i / bits + 37 * i) % whole.size();
    changed[at] ^= std::byte{1} << (i % 8);
    maker.add(text("bit-", at, '.', i % 8), std::move(changed));
  }
  return std::move(maker.files);
}

void add_files(std::vector<Scenario>& all, const Recorded& made_of, std::vector<NegativeFile> files) {
  for (NegativeFile& one : files) {
    const bool is_refused_file = one.expectation == NegativeFile::Expectation::refused;
    Scenario s{.id = text("files/", made_of->name, ':', one.name), .kind = ScenarioKind::files, .valid = false};
    s.slices = {"invalid"};
    const auto kept = std::make_shared<const NegativeFile>(std::move(one));
    s.script = [=] {
      const auto file = std::make_shared<const FileInMemory>(kept->bytes);
      Script script{{file->path(), made_of->calls.data}, {{.what = Step::Do::load, .valid = false}}, file};
      const ProgramCall& first = made_of->calls.calls.front();
      script.steps.push_back({.method = first.method, .inputs = first.inputs, .valid = false});
      if (is_refused_file) script.steps.back().judge = is_refused(text("its file, which breaks ", kept->rule));
      return script;
    };
    all.push_back(std::move(s));
  }
}

}  // namespace assay
