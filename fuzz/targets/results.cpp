#include "conformance/scenarios/results.h"

#include "conformance/sandbox/child.h"
#include "conformance/text/printable.h"
#include "fuzz/folder.h"
#include "fuzz/printed.h"
#include "fuzz/target.h"

// A file of results, as assay runtime results:FILE reads it.
namespace assay::fuzz {
namespace {

// An id that a line of the input may have.
constexpr std::string_view known_case = "recorded/mlp";

}  // namespace

void attack_results(Input input) {
  static const Folder folder;
  const std::string file = folder.with("results.jsonl", input).string();
  printed(input.size(), [&](text::Output& out) {
    const std::unique_ptr<testee::Runtime> runtime = scenarios::make_results(file);
    out.print("{}\n", text::printable(runtime->name()));
    runtime->begin(known_case);
    try {
      testee::Reply reply;
      const std::unique_ptr<testee::TesteeProgram> program = runtime->load({}, reply);
      while (program) {  // until no step is left
        std::vector<Value> outputs;
        reply = program->call("forward", {}, outputs);
        out.print("{} {}\n", name(reply.outcome), text::printable(std::string_view(reply.message)));
      }
    } catch (const testee::NotAsked& missing) {
      out.print("{}\n", text::printable(missing.what()));
    } catch (const sandbox::Lost& lost) {
      out.print("{}\n", lost.text);
    }
  });
}

}  // namespace assay::fuzz
