#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/testees/client_memory.h"
#include "optimized/api/assay.h"
#include "reference/value.h"

struct pthreadpool;

namespace assay {

// A program on the optimized runtime, in memory from the heap. Everything here throws Fault.
class OptimizedClient {
 public:
  struct Method {
    assay_method_sizes sizes;
    ClientMemory prepared, arena, scratch;
    assay_method* method;
  };

  struct Options {
    bool deployable = false;  // without the fallback, and without a backend for what is delegated
    std::size_t threads = 1;
    decltype(assay_options::run) run = nullptr;  // who begins the threads; null: a pool
    std::size_t least_share = 0;                 // elements that are worth a task; 0: what the runtime thinks
    bool as_written = false;                     // without rewrites
  };
  OptimizedClient(const std::filesystem::path& program, const std::vector<std::filesystem::path>& data,
                  const Options& options);
  ~OptimizedClient();
  OptimizedClient(const OptimizedClient&) = delete;
  OptimizedClient& operator=(const OptimizedClient&) = delete;

  const assay_program* program() const { return program_; }
  std::string default_method() const;  // "forward", or the only one
  std::vector<std::string> method_names() const;
  const Method& method(const std::string& name);  // made once: its state stays

  static void set_input(const Method& method, std::size_t i, const Value& value);  // as the program has it
  static void execute(const Method& method);
  static std::vector<Value> outputs(const Method& method);

 private:
  struct EndPool {
    void operator()(pthreadpool* pool) const;
  };

  void begin_pool(std::size_t threads);

  std::unique_ptr<pthreadpool, EndPool> pool_;
  ClientMemory file_;
  std::vector<ClientMemory> data_;
  assay_options options_{};
  std::optional<ClientMemory> memory_, shared_;
  assay_program* program_ = nullptr;
  std::map<std::string, Method> methods_;
};

}  // namespace assay
