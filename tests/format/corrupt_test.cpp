#include <gmock/gmock-matchers.h>

#include <iostream>
#include <map>
#include <set>

#include "conformance/corrupt/complete.h"
#include "conformance/corrupt/corruption.h"
#include "conformance/corrupt/references.h"
#include "conformance/files/file.h"
#include "tests/support/golden.h"
#include "tests/support/program_folders.h"

// Every field of every schema is changed in every way. Each resulting file has the fault that its name states.
namespace assay::corrupt {
namespace corrupt_test {

using reflection::BaseType;
using Tried = std::set<std::string>;

Bytes recorded(const std::string& name) {
  const File file = files::open_file(golden_folder() / "programs" / name / "program.pte");
  return {file.bytes.begin(), file.bytes.end()};
}

std::string what(const std::string& field, SiteKind kind, std::string_view change) {
  return concat(field, ' ', word(kind), ' ', change);
}

// -- the changes to try -----------------------------------------------------------------------------------------------

class Applicable {
 public:
  explicit Applicable(const reflection::Schema& schema) {
    for (const auto* object : *schema.objects()) table(*object);
  }
  Tried take() { return std::move(all_); }

 private:
  void add(const std::string& field, SiteKind kind, std::size_t width = 4, bool is_index = false) {
    for (const std::string_view change : changes_of(kind, width, is_index)) all_.insert(what(field, kind, change));
  }

  void table(const reflection::Object& object) {
    const std::string name(short_name(object));
    add(name, SiteKind::table);
    for (const auto* f : *object.fields()) {
      const std::string field = name + "." + f->name()->str();
      add(field, SiteKind::slot);
      content(field, f->type()->base_type(), f->type()->element());
    }
  }

  void content(const std::string& field, BaseType type, BaseType element) {
    if (type == BaseType::UType) return add(field, SiteKind::tag);
    if (type <= BaseType::Double) return number(field, field, type);
    add(field, SiteKind::offset);
    if (type == BaseType::String || type == BaseType::Vector) add(field, SiteKind::length);
    if (type == BaseType::String) add(field, SiteKind::terminator);
    if (type != BaseType::Vector) return;
    if (element == BaseType::Obj)
      add(field + "[]", SiteKind::offset);
    else
      number(field, field + "[]", element);
  }

  void number(const std::string& field, const std::string& site, BaseType type) {
    add(site, SiteKind::number, flatbuffers::GetTypeSize(type), !list_indexed_by(field).empty());
  }

  Tried all_;
};

Tried tried_on(const FileKind& kind) {
  Tried all;
  for (CompleteFile& complete : complete_files())
    if (complete.kind == &kind)
      Corruptions(std::move(complete.file)).each_name([&](const Site& site, std::string_view change) {
        all.insert(what(site.field, site.kind, change));
      });
  return all;
}

TEST(Corrupt, EachFieldOfEachSchemaIsChangedInEachWay) {
  for (const FileKind* kind : format::file_kinds()) {
    const Tried wanted = Applicable(schema_of(*kind)).take(), tried = tried_on(*kind);
    EXPECT_GT(tried.size(), 0u) << "complete_files() has no " << kind->noun;
    for (const std::string& w : wanted) EXPECT_TRUE(tried.contains(w)) << w << " is tried in no file";
    std::cout << wanted.size() << " changes of fields (" << kind->noun << ")\n";
  }
}

TEST(Corrupt, JumpsOfTheSamplesGoToThemselves) {
  for (const auto& [name, file] : sample_programs()) {
    const std::optional<Attempt> found =
        Corruptions(file).find("execution_plan.1.chains.0.instructions.2.instr_args.destination_instruction=self");
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->expectation.faults.at(0).rule, "I21") << name;
  }
}

TEST(Corrupt, ANameReproducesItsFile) {
  const Corruptions corruptions(recorded("mlp"), {}, 1);
  std::size_t n = 0;
  std::set<std::string> names;
  corruptions.each([&](const Attempt& a) {
    EXPECT_TRUE(names.insert(a.name).second) << a.name;
    const bool looked_at = n++ % 50 == 0;
    EXPECT_TRUE(!looked_at || corruptions.find(a.name)->files.file == a.files.file) << a.name;
    return true;
  });
  EXPECT_GT(n, 500u);
}

TEST(Corrupt, OneChangeBreaksOneRuleIfPossible) {
  const Corruptions corruptions(recorded("mlp"));
  for (const char* rule : {"H1", "H2", "H5", "H7", "H8",  "H12", "G1",  "G2", "G9", "M1", "M2",
                           "V2", "T2", "T4", "T5", "T10", "T11", "T16", "I1", "I2", "I8", "I9"}) {
    const auto broken = corruptions.that_breaks(rule);
    ASSERT_TRUE(broken) << rule;
    EXPECT_EQ(broken->expectation.expected, Expected::refused);
    for (const Fault& f : broken->expectation.faults) EXPECT_EQ(f.rule, rule) << broken->name;
  }
  EXPECT_FALSE(corruptions.that_breaks("B3"));
}

bool wrong(const Attempt& a) {
  return std::ranges::any_of(a.expectation.faults, [](const Fault& f) {
    return f.outcome == Outcome::malformed || f.outcome == Outcome::invalid;
  });
}

TEST(Corrupt, AFileOfEqualMeaningMustBeAccepted) {
  std::map<Expected, std::size_t> counts;
  Corruptions(recorded("mlp"), {}, 1).each([&](const Attempt& a) {
    ++counts[a.expectation.expected];
    EXPECT_EQ(a.expectation.expected == Expected::refused, wrong(a)) << a.name;
    EXPECT_TRUE(a.expectation.expected != Expected::accepted || a.expectation.faults.empty()) << a.name;
    return true;
  });
  for (const Expected e : {Expected::refused, Expected::accepted, Expected::either}) EXPECT_GT(counts[e], 0u);
  const Corruptions corruptions(recorded("mlp"));
  EXPECT_EQ(corruptions.find("execution_plan.0.container_meta_type:slot=absent")->expectation.expected,
            Expected::accepted);
}

TEST(Corrupt, EachCaseOfARuleMeetsItOrBreaksIt) {
  std::set<std::string> rules;
  for (const auto each : {each_case, each_payload_case})
    each([&](const Attempt& a) {
      const auto& faults = a.expectation.faults;
      const bool broken = std::ranges::find(faults, a.subject, &Fault::rule) != faults.end();
      EXPECT_EQ(broken, a.name != a.control) << a.name;
      rules.insert(a.subject);
      return true;
    });
  EXPECT_GT(rules.size(), 130u);
}

}  // namespace corrupt_test
}  // namespace assay::corrupt
