#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/sandbox/file_in_memory.h"
#include "conformance/sandbox/frames.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"
#include "conformance/wire/message.h"

namespace assay::wire {

// The testee's side of a wire: a library of kernels, a runtime, or both, of which either may be null. They outlive it.
class Server {
 public:
  Server(KernelLibrary* library, Runtime* runtime, std::vector<std::string> features);

  // Answers frames from the one until it ends, on the other. Throws what FrameReader::broken() says, std::system_error.
  void serve(int in, int out);

 private:
  struct Loaded {
    std::unique_ptr<FileInMemory> program;
    std::vector<std::unique_ptr<FileInMemory>> data;
    std::unique_ptr<TesteeProgram> running;
    std::string method;
    std::map<std::uint32_t, Value> inputs;
    std::vector<Value> outputs;
  };

  std::string answer(const Frame& frame);
  void answer(Request request, BodyReader& body, ReplyHead& head, BodyWriter& reply);
  void tell_who(BodyWriter& reply) const;
  void tell_what(BodyWriter& reply) const;
  void call_kernel(BodyReader& body, ReplyHead& head, BodyWriter& reply);
  void load(BodyReader& body, ReplyHead& head, BodyWriter& reply);
  void execute(Loaded& loaded, BodyReader& body, ReplyHead& head, BodyWriter& reply);
  static void tell_what_is_kept(Loaded& loaded, BodyWriter& reply);
  Loaded& loaded(BodyReader& body);

  KernelLibrary* library_;
  Runtime* runtime_;
  std::vector<std::string> features_;
  std::map<std::uint32_t, Loaded> programs_;
  std::uint32_t handles_ = 0;
  bool has_quit_ = false;
};

}  // namespace assay::wire
