#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay {

// A recorded call of an operator and the answer of eager PyTorch.
struct RecordedCall {
  // The arguments in the order of the schema. Out arguments are last; they are zeros with the recorded dtype, sizes
  // and dim order.
  std::vector<Value> arguments;
  std::vector<Tensor> results;  // the result for each out tensor; empty if eager PyTorch refused the call
  // The results of eager PyTorch without given outs, as tensors without bytes. Empty if eager PyTorch then refuses the
  // call or makes results that are not dense.
  std::vector<Tensor> fresh;
  bool has_values = true;  // false if results are unspecified (empty), so that only dtype and sizes were recorded
  bool refused = false;
  std::string refusal;  // the message of eager PyTorch
  std::string origin;   // the generator that made the call
};

// The recorded calls of one operator, each once: a file of golden/operators, in the format of golden/calls.fbs. A call
// is identified by the digest of its fingerprint, so that other recordings and another order change nothing.
class RecordedCalls {
 public:
  // Reads and verifies a file. Throws Fault (malformed, rule "calls.…") that names the file and the error, and
  // Fault (unsupported, "calls.operator") if the spec lacks the operator.
  explicit RecordedCalls(const std::filesystem::path& file);

  // Reads many files into one block of memory: the cost of fork() grows with the number of blocks.
  static std::vector<RecordedCalls> read_all(std::span<const std::filesystem::path> files);

  const Operator& op() const { return *op_; }
  std::size_t size() const { return calls_.size(); }

  RecordedCall at(std::size_t i) const { return read(calls_.at(i).second); }  // call i in the order of digests
  std::uint32_t digest(std::size_t i) const { return calls_.at(i).first; }
  std::optional<RecordedCall> find(std::uint32_t digest) const;

 private:
  using Bytes = std::shared_ptr<const std::uint8_t>;  // shared by processes: fork() copies nothing
  struct Place {
    std::size_t call;
    std::string_view what;  // an argument's name, or "results"
    std::string text() const;
  };

  RecordedCalls(std::string file, Bytes bytes, std::size_t size);
  RecordedCall read(std::size_t position) const;
  void index();
  [[noreturn]] void malformed(std::string_view rule, const std::string& sentence) const;
  Tensor metadata(const void* recorded, const Place& place) const;
  Tensor tensor(const void* recorded, const Place& place, bool with_data) const;
  Value value(const void* argument, const Place& place, bool with_data) const;

  std::string file_;
  Bytes bytes_;
  const Operator* op_ = nullptr;
  std::vector<std::pair<std::uint32_t, std::size_t>> calls_;  // digests, sorted, and positions in the file
};

// The files of a folder of recorded calls, by operator name.
std::vector<std::filesystem::path> recorded_files(const std::filesystem::path& folder);

}  // namespace assay
