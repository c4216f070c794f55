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

// The server of the wire protocol: answers requests from a library of kernels, a runtime, or both. Either may be
// null. They must outlive the server.
class Server {
 public:
  Server(testee::KernelLibrary* library, testee::Runtime* runtime, std::vector<std::string> features);

  // Reads requests from `in` and writes replies to `out`, until the input ends or after QUIT. Throws the Fault of
  // FrameReader::broken(), std::system_error.
  void serve(int in, int out);

 private:
  struct Loaded {
    std::unique_ptr<sandbox::FileInMemory> program;
    std::vector<std::unique_ptr<sandbox::FileInMemory>> data;
    std::unique_ptr<testee::TesteeProgram> running;
    std::string method;
    std::map<std::uint32_t, Value> inputs;
    std::vector<Value> outputs;
  };
  struct Exchange;  // a request and its reply
  struct Handlers;  // the table of requests

  std::string answer(const sandbox::Frame& frame);
  Loaded& loaded(BodyReader& body);

  testee::KernelLibrary* library_;
  testee::Runtime* runtime_;
  std::vector<std::string> features_;
  std::map<std::uint32_t, Loaded> programs_;  // the loaded programs by handle
  std::uint32_t last_handle_ = 0;
  bool has_quit_ = false;
};

}  // namespace assay::wire
