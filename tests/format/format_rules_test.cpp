#include <gmock/gmock-matchers.h>

#include <functional>
#include <iostream>
#include <map>

#include "bundled_program_bfbs_generated.h"
#include "conformance/corrupt/cases.h"
#include "flat_tensor_bfbs_generated.h"
#include "format/check.h"
#include "format/header.h"
#include "format_reasons.gen.h"
#include "program_bfbs_generated.h"
#include "reference/program/decoded.h"
#include "reference/program/memory.h"
#include "tests/support/required_fields.h"
#include "tests/support/rules_shown.h"

// For each rule of spec/format/rules.yaml that is checked while decoding or validating: a case that meets it, at its
// boundary, and one that breaks it.
namespace assay {
namespace format_rules_test {

using Faults = std::vector<Fault>;
using corrupt::byte_cases, corrupt::ByteCase, corrupt::table_cases, corrupt::TableCase;
using format::RuleId;

// -- what is wrong with a file ----------------------------------------------------------------------------------------

// All that is wrong with the sample's files, as they are read: data files, the program with them, the bundle.
Faults faults_of(const Sample& s) {
  const auto data = open_data(in_memory(encode(s.data)));
  if (!data) return data.faults;
  if (auto faults = faults_of(*data); !faults.empty()) return faults;
  const auto program = open_program(in_memory(encode(s.program)));
  if (!program) return program.faults;
  const auto valid = validate(*program, {*data});
  if (!valid) return valid.faults;
  const auto bundle = open_bundle(in_memory(s.encoded_bundle()));
  return bundle ? faults_of(*bundle, *valid) : bundle.faults;
}

// What is wrong with a file's bytes.
Faults faults_in(const Bytes& file) {
  switch (file_kind(file)) {
    case FileKind::data:
      return open_data(borrowed(file)).faults;
    case FileKind::bundle:
      return open_bundle(borrowed(file)).faults;
    default:
      return open_program(borrowed(file)).faults;
  }
}

Bytes program_file() { return encode(Sample().program); }
Bytes data_file() { return encode(Sample().data); }
Bytes bundle_file() { return Sample().encoded_bundle(); }

// -- memory and sizes ------------------------------------------------------------------------------------------------

Faults faults_told(const std::function<void(format::Findings&)>& check) {
  FaultList faults;
  check(faults.findings());
  return faults.take();
}

// The file opened where it begins so many bytes behind a multiple of 16.
Faults opened_at(const Bytes& file, std::size_t offset) {
  AlignedMemory memory(file.size() + offset);
  const auto bytes = memory.bytes().subspan(offset);
  std::ranges::copy(file, bytes.begin());
  return faults_told([&](format::Findings& f) {
    if (file_kind(file) == FileKind::bundle) return void(format::open_bundle(bytes, f));
    const bool is_data = file_kind(file) == FileKind::data;
    const auto extent =
        is_data ? format::locate_data(bytes, file.size(), f) : format::locate_program(bytes, file.size(), f);
    const auto segments = bytes.subspan(extent->segments_begin, extent->segments_size);
    if (is_data)
      format::open_data(bytes.first(extent->tables_size), segments, f);
    else
      format::open_program(bytes.first(extent->tables_size), segments, f);
  });
}

// A bundle whose program begins so many bytes behind a multiple of 16.
Bytes bundle_with_program_at(std::ptrdiff_t offset) {
  for (std::size_t padding = 0;; padding += 4) {
    flatbuffers::FlatBufferBuilder b;
    const auto program = b.CreateVector(std::vector<std::uint8_t>(64));
    b.CreateString(std::string(padding, ' '));  // stands before the program
    const auto suites = b.CreateVector(std::vector<flatbuffers::Offset<bpte::BundledMethodTestSuite>>());
    bpte::FinishBundledProgramBuffer(b, bpte::CreateBundledProgram(b, 0, suites, program));
    const auto* at = bpte::GetBundledProgram(b.GetBufferPointer())->program()->data();
    if ((at - b.GetBufferPointer()) % 16 != offset) continue;
    const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
    return {bytes.begin(), bytes.end()};
  }
}

// The head of a program without segments in a file of this size.
Faults located(std::uint64_t file_size) {
  Bytes head = encode(Program());
  head.resize(64);
  return faults_told([&](format::Findings& f) { format::locate_program(head, file_size, f); });
}

// The sample checked in a workspace that lacks so many bytes.
Faults checked_without(std::size_t bytes) {
  const auto program = open_program(in_memory(program_file()));
  const auto data = open_data(in_memory(data_file()));
  return faults_told([&](format::Findings& f) {
    format::Workspace counting;
    format::check(program->view(), {&data->view(), 1}, counting, f);
    AlignedMemory memory(counting.most() - bytes);
    format::Workspace workspace(memory.bytes());
    format::check(program->view(), {&data->view(), 1}, workspace, f);
  });
}

// The sample's method, whose memories have 16 and 8 bytes, given these.
Faults given(std::vector<std::size_t> sizes) {
  const auto program = open_program(in_memory(program_file()));
  std::array<std::byte, 16> bytes;
  std::vector<std::span<std::byte>> memories;
  for (const std::size_t size : sizes) memories.push_back(std::span(bytes).first(size));
  return faults_told(
      [&](format::Findings& f) { format::check_memories(*program->tables().execution_plan()->Get(0), memories, f); });
}

struct MemoryCase {
  RuleId rule;
  std::function<Faults()> meets, breaks;
};

const MemoryCase memory_cases[] = {
    {"H3", [] { return opened_at(program_file(), 16); }, [] { return opened_at(program_file(), 8); }},
    {"F4", [] { return opened_at(data_file(), 16); }, [] { return opened_at(data_file(), 8); }},
    {"B11", [] { return opened_at(bundle_file(), 16); }, [] { return opened_at(bundle_file(), 8); }},
    {"B11", [] { return opened_at(bundle_with_program_at(0), 0); },
     [] { return opened_at(bundle_with_program_at(8), 0); }},
    {"H13", [] { return located((std::uint64_t{1} << 31) - 1); }, [] { return located(std::uint64_t{1} << 31); }},
    {"V4", [] { return checked_without(0); }, [] { return checked_without(1); }},
    {"M11",
     [] {
       return given({16, 8});
     },
     [] {
       return given({16, 7});
     }},
    {"T17",
     [] {
       return given({16, 8});
     },
     [] { return given({16}); }},
};

// -- what must be present --------------------------------------------------------------------------------------------

// Files without segments, whose tables end with the file, and with every enum other than its default.
std::vector<RequiredFields> swept(const RequiredFields::Use& use) {
  Sample s;
  for (Bytes& segment : s.program.segments) segment.clear();
  for (Bytes& segment : s.data.segments) segment.clear();
  s.at_device(pte::DeviceType::CUDA);
  s.plan().non_const_buffer_device[0]->device_type = pte::DeviceType::CUDA;
  return {{encode(s.program), pte::ProgramBinarySchema::data(), use},
          {encode(s.data), ptd::FlatTensorBinarySchema::data(), use},
          {bundle_file(), bpte::BundledProgramBinarySchema::data(), use}};
}

std::size_t fields_with_rules(const std::uint8_t* schema) {
  std::size_t n = 0;
  for (const auto* object : *reflection::GetSchema(schema)->objects())
    for (const auto* field : *object->fields()) n += !rule_of(*field).empty();
  return n;
}

// -- the rules -------------------------------------------------------------------------------------------------------

std::string told(const Faults& faults) {
  std::string all;
  for (const Fault& f : faults) all += text(f.rule, " [", f.place, "] ", f.message, '\n');
  return all;
}

// What shows that a rule is checked: what its breakers are told.
using Shown = std::map<std::string_view, std::string>;

void expect_case(RuleId rule, const Faults& met, const Faults& broken, Shown& shown) {
  std::string& line = shown[rule->id];
  SCOPED_TRACE(text(rule->id, ", behind ", line));
  EXPECT_EQ(told(met), "");
  const auto fault = std::ranges::find(broken, rule->id, &Fault::rule);
  ASSERT_NE(fault, broken.end()) << told(broken);
  EXPECT_EQ(fault->outcome, rule->outcome);
  EXPECT_NE(fault->message, "");
  line += text(line.empty() ? "" : ", ", fault->place, fault->place.empty() ? "" : " ", fault->message);
}

Shown shown_by_cases() {
  Shown shown;
  for (const TableCase& c : table_cases()) {
    Sample meets, breaks;
    c.meets(meets), c.breaks(breaks);
    expect_case(c.rule, faults_of(meets), faults_of(breaks), shown);
  }
  for (const ByteCase& c : byte_cases()) expect_case(c.rule, faults_in(c.meets), faults_in(c.breaks), shown);
  for (const MemoryCase& c : memory_cases) expect_case(c.rule, c.meets(), c.breaks(), shown);
  return shown;
}

// The fields that are there in some file and missed where they are not, by their rules.
void show_fields(Shown& shown) {
  std::set<std::string> fields;
  for (RequiredFields& file : swept([&](const std::string&id, const std::string&field, const Bytes&edited) {
         const Faults faults = faults_in(edited);
         ASSERT_EQ(faults.size(), 1u) << field << '\n' << told(faults);
         EXPECT_EQ(faults[0].rule, id) << field;
         EXPECT_EQ(faults[0].outcome, Outcome::malformed) << field;
         EXPECT_NE(faults[0].place, "") << field;
         std::string& line = shown[find_format_rule(id)->id];
         if (fields.insert(field).second) line += text(line.empty() ? "without " : ", without ", field);
       }))
    file.run();
  EXPECT_EQ(fields.size(), fields_with_rules(pte::ProgramBinarySchema::data()) +
                               fields_with_rules(ptd::FlatTensorBinarySchema::data()) +
                               fields_with_rules(bpte::BundledProgramBinarySchema::data()));
}

TEST(FormatRules, TheSampleKeepsAll) { EXPECT_EQ(told(faults_of(Sample())), ""); }

TEST(FormatRules, EachHasACaseThatMeetsItAndOneThatBreaksIt) {
  using enum FormatRule::Checked;
  constexpr std::string_view where[] = {"decode", "validate", "runtime", "construction", "later"};
  Shown shown = shown_by_cases();
  show_fields(shown);
  for (const std::string_view rule : flow_rules) shown[rule] += "flow_test ";
  for (const std::string_view rule : runtime_rules) shown[rule] += "runtime_rules_test";
  for (const std::string_view rule : packed_rules) shown[rule] += "packed_test";
  for (std::size_t i = 0; i < std::size(format_rules); ++i) {
    const FormatRule& rule = format_rules[i];
    const std::string_view reason = format_reasons[i];
    const bool checked = rule.checked != construction && rule.checked != later;
    EXPECT_NE(checked, shown[rule.id].empty()) << rule.id << (checked ? " has no case" : " has a case");
    EXPECT_NE(checked, !reason.empty()) << rule.id << (checked ? " has a reason" : " has no reason");
    std::cout << rule.id << " | " << where[static_cast<std::size_t>(rule.checked)] << " | "
              << (checked ? shown[rule.id] : std::string(reason)) << '\n';
  }
}

TEST(FormatRules, EveryFaultIsReported) {
  Sample s;
  s.tensor(s.at.late).storage_offset = 1;
  s.tensor(s.at.late).layout = 1;
  s.kernel_call().op_index = 7;
  std::vector<std::string> rules;
  for (const Fault& f : faults_of(s)) rules.push_back(f.rule);
  EXPECT_THAT(rules, testing::ElementsAre("T1", "T23", "I1"));
}

TEST(FormatRules, AHundredFaultsAreReportedAndTheRestCounted) {
  Sample s;
  s.kernel_call().args.assign(1000, -1);
  const auto refused = validate(*open_program(in_memory(encode(s.program))));
  EXPECT_EQ(refused.faults.size(), 100u);
  EXPECT_EQ(refused.more, 900u);
}

}  // namespace format_rules_test
}  // namespace assay