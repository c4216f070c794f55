#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/testee/runtime.h"
#include "conformance/wire/remote_server.h"

namespace assay::wire {

// Makes requests until one is refused. Returns the head of the last reply.
template <class... Requests>
ReplyHead until_refused(Requests... requests) {
  ReplyHead head;
  static_cast<void>(((head = requests(), head.status == Status::ok) && ...));
  return head;
}

// A program that a server has loaded. Each function makes the requests of the same name and returns the head of the
// first reply that is not ok, else the head of the last reply. All of them throw Lost. The server must outlive it.
class RemoteProgram final : public testee::TesteeProgram {
 public:
  // LOAD. Returns null, and sets `head` to the server's refusal, if the server refuses the program.
  static std::unique_ptr<RemoteProgram> load(RemoteServer& server, const testee::LoadSettings& settings,
                                             ReplyHead& head);
  ~RemoteProgram() override;  // UNLOAD

  ReplyHead method(const std::string& name);
  ReplyHead set_inputs(std::span<const Value> inputs);
  ReplyHead set_generated_inputs(std::span<const Value> like);  // tensors of these shapes, which the server generates
  // Executes the method `times` times. Requires at least 1.
  ReplyHead execute_times(std::uint32_t times);
  ReplyHead execute_without_allocation(std::uint32_t k);  // once, with the k-th allocation refused
  ReplyHead get_outputs(std::vector<Value>& outputs);     // the outputs of the last execution

  testee::Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override;
  testee::Reply select(const std::string& method, std::span<const Value> inputs) override;
  testee::Reply execute(std::span<const Value> inputs, std::vector<Value>& outputs) override;
  std::vector<testee::StateEntry> kept(const std::string& method) override;

  static constexpr std::uint64_t seed = 1;  // of generated inputs

 private:
  RemoteProgram(RemoteServer& server, std::uint32_t handle) : server_(server), handle_(handle) {}

  template <class Write>
  ReplyHead set(std::span<const Value> inputs, Write write);
  ReplyHead ask_to_execute(const BodyWriter& body);
  BodyWriter about() const { return std::move(BodyWriter().number(handle_)); }

  RemoteServer& server_;
  std::uint32_t handle_, output_count_ = 0;
};

}  // namespace assay::wire
