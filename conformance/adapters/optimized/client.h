#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/adapters/optimized/testee.h"
#include "conformance/sandbox/client_memory.h"
#include "optimized/api/assay.h"
#include "reference/value.h"

namespace assay::adapters {

// The memories that a client gives a method, with their sizes: {"prepared", 4096}.
std::vector<std::pair<std::string, std::uint64_t>> memories(const assay_method_sizes& sizes);

// A program on the optimized runtime, with all memory from the heap. If the program has XNNPACK delegates, the runtime
// gets the undelegated program (reference/xnnpack/undelegate.h). All functions throw Fault.
class OptimizedClient {
 public:
  struct Method {
    assay_method_sizes sizes;
    sandbox::ClientMemory prepared, arena, scratch;
    assay_method* method;
    std::optional<sandbox::ClientMemory> packed = {};  // the packed constants that were read from a file
  };

  struct Options {
    bool deployable = false;  // whether to leave out the reference, which words refusals
    std::size_t threads = 1;
    // The function that runs tasks on threads; null for a pool of this client.
    decltype(assay_options::run) run = nullptr;
    std::size_t least_share = 0;  // the fewest elements that are worth a task; 0 means the default of the runtime
    bool as_written = false;      // whether to apply no rewrites
    bool share_arenas = false;    // methods share the arenas in which at least one of them keeps state
    OptimizedTestee testee = {};
    // The limit the most instructions of one execution; 0 means the default of the runtime.
    std::int64_t instructions = 0;
    // The budget for all memory that the runtime gets, except for files. Empty if nothing is charged.
    std::optional<Budget> budget = {};
    // A folder with packed constants of this program's methods. Files that fit are used; other files are replaced.
    // Empty if constants are packed anew.
    std::filesystem::path packed_cache = {};
  };
  using Bytes = std::span<const std::byte>;
  OptimizedClient(Bytes program, std::span<const Bytes> data,
                  const Options& options);  // The bytes must outlive the client.
  OptimizedClient(const std::filesystem::path& program, const std::vector<std::filesystem::path>& data,
                  const Options& options);
  ~OptimizedClient();
  OptimizedClient(const OptimizedClient&) = delete;
  OptimizedClient& operator=(const OptimizedClient&) = delete;

  const assay_program* program() const { return program_; }
  std::string default_method() const;  // "forward", or the only one
  std::vector<std::string> method_names() const;
  assay_method_sizes sizes(const std::string& name) const;
  const Method& method(const std::string& name);  // the method, which is made once, so that its state persists

  // Values that go in have the layout that the program declares.
  std::vector<Value> call(const std::string& name, std::span<const Value> inputs);
  static void set_input(const Method& method, std::size_t i, const Value& value);
  static void execute(const Method& method);
  static std::vector<Value> outputs(const Method& method);

 private:
  // Returns whether the program must outlive the client. Otherwise the client has the undelegated program.
  bool open(Bytes program, std::span<const Bytes> data, const Options& options);
  std::optional<sandbox::ClientMemory> without_payloads(Bytes program, std::span<const Bytes> data) const;
  void begin_pool(std::size_t threads);
  sandbox::ClientMemory memory(std::size_t bytes) const;  // charged to the budget
  void expect_method(const std::string& name) const;
  sandbox::ClientMemory workspace(const std::string& method) const;
  assay_method_sizes sizes(const std::string& method, const assay_options& options,
                           const sandbox::ClientMemory& workspace) const;
  Method make(const std::string& method, const assay_options& options, const sandbox::ClientMemory& workspace);
  std::filesystem::path packed_file(const std::string& method) const;
  std::optional<Method> make_with_kept(const std::string& method, const sandbox::ClientMemory& workspace);
  void keep_packed(const std::string& method, const Method& made) const;

  std::shared_ptr<void> pool_;
  OptimizedTestee testee_;
  std::filesystem::path packed_cache_;
  std::optional<Budget> budget_;
  std::vector<sandbox::ClientMemory> files_;
  assay_options options_{};
  std::optional<sandbox::ClientMemory> memory_, shared_;
  assay_program* program_ = nullptr;
  std::map<std::string, Method> methods_;
};

}  // namespace assay::adapters
