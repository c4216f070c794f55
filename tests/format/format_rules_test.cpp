#include <gmock/gmock-matchers.h>

#include <functional>
#include <iostream>
#include <map>

#include "conformance/corrupt/cases.h"
#include "conformance/corrupt/complete.h"
#include "conformance/corrupt/delegated.h"
#include "format/check.h"
#include "format/header.h"
#include "format_reasons.gen.h"
#include "reference/program/decoded.h"
#include "reference/program/memory.h"
#include "tests/support/required_fields.h"
#include "tests/support/rules_shown.h"

// For each rule of spec/format/rules.yaml that is checked on decoding or validation: a case at its boundary that keeps
// it, and a case that breaks it.
namespace assay {
namespace format_rules_test {

using Faults = std::vector<Fault>;
using corrupt::byte_cases, corrupt::ByteCase, corrupt::table_cases, corrupt::TableCase;
using corrupt::Delegated, corrupt::payload_cases, corrupt::PayloadCase;
using format::RuleId;

// -- the faults of a file ---------------------------------------------------------------------------------------------

// All faults of the sample's files in the order of reading: data file, program, bundle.
Faults faults_of(const corrupt::Sample& s) {
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

// The faults of a program with a payload or, for a lint, the lints of the payload.
Faults faults_of(const PayloadCase& c, void (*change)(Delegated&)) {
  Delegated delegated;
  change(delegated);
  const Bytes file = delegated.file();
  auto faults = faults_of(in_memory(file), format::program_kind);
  if (c.rule->checked != FormatRule::Checked::lint || !faults.empty()) return faults;
  const auto valid = validate(*open_program(in_memory(file)));
  format::program_kind.payloads(format::AnyView(valid->operator*().view()), &valid->named_data(),
                                [&](const format::Nested& nested) {
                                  const auto payload = open_as(borrowed(nested.bytes), *nested.kind);
                                  faults = lints_of(*payload, *nested.kind, related_to(*valid, nested));
                                });
  return faults;
}

// The faults of a file that does not open; a file without an identifier is read as a program.
Faults faults_in(const Bytes& file) {
  const FileKind* kind = file_kind(file);
  return open_as(borrowed(file), kind ? *kind : format::program_kind).faults;
}

Bytes program_file() { return encode(corrupt::Sample().program); }
Bytes data_file() { return encode(corrupt::Sample().data); }
Bytes bundle_file() { return corrupt::Sample().encoded_bundle(); }

// -- memory and sizes ------------------------------------------------------------------------------------------------

Faults faults_told(const std::function<void(format::Findings&)>& check) {
  FaultList faults;
  check(faults.findings());
  return faults.take();
}

// The faults of the file at an address `offset` bytes after a multiple of 16.
Faults opened_at(const Bytes& file, std::size_t offset) {
  AlignedMemory memory(file.size() + offset);
  const auto bytes = memory.bytes().subspan(offset);
  std::ranges::copy(file, bytes.begin());
  return faults_told([&](format::Findings& f) {
    const FileKind& kind = *file_kind(file);
    const auto extent = kind.locate(bytes, file.size(), f);
    kind.open(bytes.first(extent->tables_size), bytes.subspan(extent->segments_begin, extent->segments_size), f);
  });
}

// A bundle whose program begins `offset` bytes after a multiple of 16.
Bytes bundle_with_program_at(std::ptrdiff_t offset) {
  for (std::size_t padding = 0;; padding += 4) {
    flatbuffers::FlatBufferBuilder b;
    const auto program = b.CreateVector(std::vector<std::uint8_t>(64));
    b.CreateString(std::string(padding, ' '));  // precedes the program
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

// A payload of this size, of which only the first bytes are read.
Faults located_payload(std::uint64_t size) {
  const Bytes head(std::min<std::uint64_t>(size, format::head_bytes));
  return faults_told([&](format::Findings& f) { format::xnnpack::locate_payload(head, size, f); });
}

// The faults of the sample in a workspace that is smaller than required by this number of bytes.
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

// The faults when a client supplies memories of these sizes to the sample's method, which plans 16 and 8 bytes.
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
    {"X1", [] { return located_payload(30); }, [] { return located_payload(29); }},
    {"X4", [] { return located_payload((std::uint64_t{1} << 31) - 1); },
     [] { return located_payload(std::uint64_t{1} << 31); }},
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

// -- required fields -------------------------------------------------------------------------------------------------

// Files without segments, whose tables end with the file. No enum has its default.
std::vector<RequiredFields> swept(const RequiredFields::Use& use) {
  corrupt::Sample s;
  for (Bytes& segment : s.program.segments) segment.clear();
  for (Bytes& segment : s.data.segments) segment.clear();
  s.at_device(pte::DeviceType::CUDA);
  s.plan().non_const_buffer_device[0]->device_type = pte::DeviceType::CUDA;
  std::vector<RequiredFields> files{{encode(s.program), use}, {encode(s.data), use}, {bundle_file(), use}};
  for (const corrupt::CompleteFile& complete : corrupt::complete_files())
    if (complete.kind == &format::xnnpack_kind)
      files.emplace_back(encode_tables(decode_xnnpack(complete.file)->graph), use);
  return files;
}

std::size_t fields_with_rules() {
  std::size_t n = 0;
  for (const FileKind* kind : format::file_kinds())
    for (const auto* object : *reflection::GetSchema(kind->reflection())->objects())
      for (const auto* field : *object->fields()) n += !rule_of(*field).empty();
  return n;
}

// -- the rules -------------------------------------------------------------------------------------------------------

std::string told(const Faults& faults) {
  std::string all;
  for (const Fault& f : faults) all += concat(f.rule, " [", f.place, "] ", f.message, '\n');
  return all;
}

// By rule, the messages for the files that break it.
using Shown = std::map<std::string_view, std::string>;

void expect_case(RuleId rule, const Faults& met, const Faults& broken, Shown& shown) {
  std::string& line = shown[rule->id];
  SCOPED_TRACE(concat(rule->id, ", behind ", line));
  EXPECT_EQ(told(met), "");
  const auto fault = std::ranges::find(broken, rule->id, &Fault::rule);
  ASSERT_NE(fault, broken.end()) << told(broken);
  EXPECT_EQ(fault->outcome, rule->outcome);
  EXPECT_NE(fault->message, "");
  EXPECT_TRUE(!fault->place.starts_with("plan ") || fault->rule == "G2") << fault->place;
  line += concat(line.empty() ? "" : ", ", fault->place, fault->place.empty() ? "" : " ", fault->message);
}

Shown shown_by_cases() {
  Shown shown;
  for (const TableCase& c : table_cases()) {
    corrupt::Sample meets, breaks;
    c.meets(meets), c.breaks(breaks);
    expect_case(c.rule, faults_of(meets), faults_of(breaks), shown);
  }
  for (const ByteCase& c : byte_cases()) expect_case(c.rule, faults_in(c.meets), faults_in(c.breaks), shown);
  for (const PayloadCase& c : payload_cases())
    expect_case(c.rule, faults_of(c, c.meets), faults_of(c, c.breaks), shown);
  for (const MemoryCase& c : memory_cases) expect_case(c.rule, c.meets(), c.breaks(), shown);
  return shown;
}

// Removes each required field from a file that has it, and adds the fields to the messages of their rules.
void show_fields(Shown& shown) {
  std::set<std::string> fields;
  for (RequiredFields& file : swept([&](const std::string&id, const std::string&field, const Bytes&edited) {
         const Faults faults = faults_in(edited);
         ASSERT_EQ(faults.size(), 1u) << field << '\n' << told(faults);
         EXPECT_EQ(faults[0].rule, id) << field;
         EXPECT_EQ(faults[0].outcome, Outcome::malformed) << field;
         EXPECT_NE(faults[0].place, "") << field;
         std::string& line = shown[find_format_rule(id)->id];
         if (fields.insert(field).second) line += concat(line.empty() ? "without " : ", without ", field);
       }))
    file.run();
  EXPECT_EQ(fields.size(), fields_with_rules());
}

TEST(FormatRules, TheSampleMeetsEveryRule) { EXPECT_EQ(told(faults_of(corrupt::Sample())), ""); }

TEST(FormatRules, EachHasACaseThatMeetsItAndOneThatBreaksIt) {
  using enum FormatRule::Checked;
  Shown shown = shown_by_cases();
  show_fields(shown);
  for (const std::string_view rule : flow_rules) shown[rule] += "flow_test ";
  for (const std::string_view rule : runtime_rules) shown[rule] += "runtime_rules_test";
  for (const std::string_view rule : client_rules) shown[rule] += "optimized_memory_test";
  for (const std::string_view rule : packed_rules) shown[rule] += "packed_test";
  for (std::size_t i = 0; i < std::size(format_rules); ++i) {
    const FormatRule& rule = format_rules[i];
    const std::string_view reason = format_reasons[i];
    const bool checked = rule.checked != construction && rule.checked != later;
    EXPECT_NE(checked, shown[rule.id].empty()) << rule.id << (checked ? " has no case" : " has a case");
    EXPECT_NE(checked, !reason.empty()) << rule.id << (checked ? " has a reason" : " has no reason");
    std::cout << rule.id << " | " << name(rule.checked) << " | " << (checked ? shown[rule.id] : std::string(reason))
              << '\n';
  }
}

TEST(FormatRules, EveryFaultIsReported) {
  corrupt::Sample s;
  s.tensor(s.at.late).storage_offset = 1;
  s.tensor(s.at.late).layout = 1;
  s.kernel_call().op_index = 7;
  std::vector<std::string> rules;
  for (const Fault& f : faults_of(s)) rules.push_back(f.rule);
  EXPECT_THAT(rules, testing::ElementsAre("T1", "T23", "I1"));
}

TEST(FormatRules, PlacesNameTheMethodAndTheOperator) {
  const auto place = [](const std::function<void(corrupt::Sample&)>& change) {
    corrupt::Sample s;
    change(s);
    return faults_of(s).front().place;
  };
  EXPECT_EQ(place([](auto& s) { s.kernel_call().args[0] = -1; }),
            "argument 0 of instruction 0 of forward, aten::add.out");
  EXPECT_EQ(place([](auto& s) { s.kernel_call().op_index = 7; }), "instruction 0 of forward");
  EXPECT_EQ(place([](auto& s) { s.tensor(s.at.late).layout = 1; }), "value 18 of forward");
  EXPECT_EQ(place([](auto& s) { s.plan().chains.clear(); }), "method forward");
  EXPECT_EQ(place([](auto& s) { s.plan().name = "a\nb", s.tensor(s.at.late).layout = 1; }), R"(value 18 of "a\x0ab")");
  EXPECT_EQ(place([](auto& s) { s.plan().name.clear(); }), "plan 0");
}

TEST(FormatRules, TheFaultsOfAllPartsOfAFileAreReported) {
  corrupt::Sample s;
  s.tensor(s.at.late).layout = 1;
  FileKind twice = format::bundle_kind;
  twice.parts = [](const format::AnyView& file, const format::NamedData* named, format::Take<format::Nested> take) {
    for (int i = 0; i < 2; ++i) format::bundle_kind.parts(file, named, take);
  };
  const std::string one = told(faults_of(in_memory(s.encoded_bundle()), format::bundle_kind));
  EXPECT_NE(one, "");
  EXPECT_EQ(told(faults_of(in_memory(s.encoded_bundle()), twice)), one + one);
}

TEST(FormatRules, AHundredFaultsAreReportedAndTheRestCounted) {
  corrupt::Sample s;
  s.kernel_call().args.assign(1000, -1);
  const auto refused = validate(*open_program(in_memory(encode(s.program))));
  EXPECT_EQ(refused.faults.size(), 100u);
  EXPECT_EQ(refused.more, 900u);
}

}  // namespace format_rules_test
}  // namespace assay