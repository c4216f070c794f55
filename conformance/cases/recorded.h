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

// A recorded call of an operator and what eager PyTorch answered.
struct RecordedCall {
  std::vector<Value> arguments;  // the schema's, out arguments last: zeroed, of the recorded dtype, sizes and dim order
  std::vector<Tensor> results;   // one for each out tensor; empty when eager refused
  std::vector<Tensor> fresh;     // what eager makes where it is given no outs, without bytes; empty where it refuses
                                 // the call then, too, or its results are not dense
  bool has_values = true;  // false where results are unspecified (empty) and only their dtype and sizes were recorded
  bool refused = false;
  std::string refusal;  // eager's message
  std::string origin;   // the generator that made the call
};

// The recorded calls of one operator, each once: a file of golden/operators, in the format of golden/calls.fbs. A call
// is known by the digest of its fingerprint, so that recording others beside it, or in another order, changes nothing.
class RecordedCalls {
 public:
  // Reads and verifies a file. Throws Fault (malformed, rule "calls.…") naming the file and what is wrong with it, and
  // Fault (unsupported, "calls.operator") when it is of an operator that the spec does not have.
  explicit RecordedCalls(const std::filesystem::path& file);

  // The same of many, whose bytes lie in one place: what a fork costs grows with the number of places.
  static std::vector<RecordedCalls> read_all(std::span<const std::filesystem::path> files);

  const Operator& op() const { return *op_; }
  std::size_t size() const { return calls_.size(); }

  RecordedCall at(std::size_t i) const { return read(calls_.at(i).second); }  // in the order of digests
  std::uint32_t digest(std::size_t i) const { return calls_.at(i).first; }
  std::optional<RecordedCall> find(std::uint32_t digest) const;

 private:
  using Bytes = std::shared_ptr<const std::uint8_t>;  // which processes share: a fork copies nothing for them
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
