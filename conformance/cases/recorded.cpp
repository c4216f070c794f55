#include "conformance/cases/recorded.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "calls_generated.h"
#include "conformance/cases/fingerprint.h"
#include "conformance/text/digest.h"
#include "reference/fault.h"

namespace assay {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Fault(Outcome::malformed, "calls.file", fmt::format("{} cannot be read", file.string()));
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

constexpr std::size_t alignment = 64;  // the alignment of each file in memory

std::size_t aligned(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

// The files one after another, in read-only memory. A child that could write to it would change the data of other
// children.
std::vector<std::shared_ptr<const std::uint8_t>> shared_by_processes(std::span<const std::string> files) {
  std::size_t size = alignment;
  for (const std::string& file : files) size += aligned(file.size());
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  const std::shared_ptr<std::uint8_t> all(static_cast<std::uint8_t*>(memory),
                                          [size](std::uint8_t* b) { munmap(b, size); });
  std::vector<std::shared_ptr<const std::uint8_t>> each;
  std::uint8_t* at = all.get();
  for (const std::string& file : files) {
    std::memcpy(at, file.data(), file.size());
    each.emplace_back(all, at);
    at += aligned(file.size());
  }
  if (mprotect(memory, size, PROT_READ) != 0) throw std::system_error(errno, std::generic_category(), "mprotect");
  return each;
}

template <class List>
std::vector<Int> integers(const List* list) {
  return list ? std::vector<Int>(list->begin(), list->end()) : std::vector<Int>{};
}

bool is_list(std::string_view type) { return type == "Tensor[]"; }

}  // namespace

RecordedCalls::RecordedCalls(const std::filesystem::path& file)
    : RecordedCalls(std::move(read_all({&file, 1}).front())) {}

std::vector<RecordedCalls> RecordedCalls::read_all(std::span<const std::filesystem::path> files) {
  std::vector<std::string> all;
  for (const auto& file : files) all.push_back(contents(file));
  const auto bytes = shared_by_processes(all);
  std::vector<RecordedCalls> calls;
  for (std::size_t i = 0; i < files.size(); ++i)
    calls.push_back(RecordedCalls(files[i].filename().string(), bytes[i], all[i].size()));
  return calls;
}

RecordedCalls::RecordedCalls(std::string file, Bytes shared, std::size_t size)
    : file_(std::move(file)), bytes_(std::move(shared)) {
  const std::uint8_t* bytes = bytes_.get();
  if (size < 8 || !golden::CallsBufferHasIdentifier(bytes))
    malformed("calls.identifier", "does not begin as recorded calls do");
  flatbuffers::Verifier verifier(bytes, size, 64, 100'000'000);
  if (!golden::VerifyCallsBuffer(verifier)) malformed("calls.structure", "is truncated or damaged");
  const golden::Calls* calls = golden::GetCalls(bytes);
  if (!calls->schema() || !calls->calls()) malformed("calls.structure", "has no schema or no calls");
  const std::string schema = calls->schema()->str();
  op_ = find_operator(schema.substr(0, schema.find('(')));
  if (!op_)
    throw Fault(Outcome::unsupported, "calls.operator",
                fmt::format("{} records {}, which the spec does not have", file_, schema));
  if (op_->schema != schema)
    malformed("calls.schema", fmt::format("records {}, but the spec's schema is {}", schema, op_->schema));
  index();
}

void RecordedCalls::index() {
  std::map<std::uint32_t, std::size_t> calls;
  const std::size_t recorded = golden::GetCalls(bytes_.get())->calls()->size();
  for (std::size_t i = 0; i < recorded; ++i) {
    const std::string print = fingerprint(*op_, read(i).arguments);
    const auto short_digest = static_cast<std::uint32_t>(assay::digest(print) >> 32);
    const auto [same, is_new] = calls.try_emplace(short_digest, i);
    if (!is_new && fingerprint(*op_, read(same->second).arguments) != print)
      malformed("calls.digest", fmt::format("has two calls whose digest is {:08x}, {} and {}: record one of them with "
                                            "other values",
                                            short_digest, same->second, i));
  }
  calls_.assign(calls.begin(), calls.end());
}

std::optional<RecordedCall> RecordedCalls::find(std::uint32_t digest) const {
  const auto at = std::ranges::lower_bound(calls_, digest, {}, &std::pair<std::uint32_t, std::size_t>::first);
  return at == calls_.end() || at->first != digest ? std::nullopt : std::optional(read(at->second));
}

std::string RecordedCalls::Place::text() const { return fmt::format("call {}, {}", call, what); }

void RecordedCalls::malformed(std::string_view rule, const std::string& sentence) const {
  throw Fault(Outcome::malformed, std::string(rule), fmt::format("{} {}", file_, sentence));
}

// Dtype, sizes and dim order.
Tensor RecordedCalls::metadata(const void* recorded, const Place& place) const {
  const auto* t = static_cast<const golden::Tensor*>(recorded);
  const auto dtype = dtype_numbered(t->dtype());
  const std::vector<Int> sizes = integers(t->sizes()), order = integers(t->dim_order());
  const bool sized = sizes.size() <= max_rank && std::ranges::all_of(sizes, [](Int n) { return n >= 0; });
  if (!dtype || !sized || order.size() > max_rank || !is_dim_order(Dims(order), static_cast<int>(sizes.size())))
    malformed("calls.tensor", fmt::format("has a tensor of an unknown dtype, sizes or dim order at {}", place.text()));
  // Outs without recorded elements are as small as recorded outs. Larger sizes show that the file is not a recording.
  constexpr Int most = Int{1} << 24;
  Int elements = 1;
  for (Int n : sizes) elements = std::min(most + 1, elements * std::min(n, most + 1));
  if (elements > most)
    malformed("calls.tensor", fmt::format("has a tensor of more than {} elements at {}", most, place.text()));
  return {*dtype, Dims(sizes), Dims(order), {}};
}

Tensor RecordedCalls::tensor(const void* recorded, const Place& place, bool with_data) const {
  const auto* t = static_cast<const golden::Tensor*>(recorded);
  const Tensor described = metadata(recorded, place);
  const std::size_t recorded_bytes = t->data() ? t->data()->size() : 0;
  Tensor out = make(described.dtype, described.sizes, described.dim_order);
  if (with_data && recorded_bytes != out.bytes.size())
    malformed("calls.tensor", fmt::format("has {} bytes where {} takes {}, at {}", recorded_bytes, describe(out),
                                          out.bytes.size(), place.text()));
  if (with_data && recorded_bytes > 0) std::memcpy(out.bytes.data(), t->data()->data(), recorded_bytes);
  return out;
}

Value RecordedCalls::value(const void* recorded, const Place& place, bool with_data) const {
  const auto* a = static_cast<const golden::Argument*>(recorded);
  switch (a->value_type()) {
    case golden::Value::NONE:
      return {};
    case golden::Value::Tensor:
      return tensor(a->value_as_Tensor(), place, with_data);
    case golden::Value::Int:
      return static_cast<Int>(a->value_as_Int()->value());
    case golden::Value::Double:
      return a->value_as_Double()->value();
    case golden::Value::Bool:
      return a->value_as_Bool()->value();
    case golden::Value::String:
      return a->value_as_String()->value() ? a->value_as_String()->value()->str() : std::string();
    case golden::Value::Ints:
      return integers(a->value_as_Ints()->values());
    case golden::Value::Doubles: {
      const auto* list = a->value_as_Doubles()->values();
      return list ? Doubles(list->begin(), list->end()) : Doubles{};
    }
    case golden::Value::Bools: {
      const auto* list = a->value_as_Bools()->values();
      return list ? Bools(list->begin(), list->end()) : Bools{};
    }
    case golden::Value::Tensors: {
      Tensors tensors;
      if (const auto* entries = a->value_as_Tensors()->entries())
        for (const golden::Entry* e : *entries)
          tensors.push_back(e->tensor() ? std::optional(tensor(e->tensor(), place, with_data)) : std::nullopt);
      return tensors;
    }
  }
  malformed("calls.argument", fmt::format("has a value of an unknown kind at {}", place.text()));
}

RecordedCall RecordedCalls::read(std::size_t i) const {
  const golden::Call* call = golden::GetCalls(bytes_.get())->calls()->Get(static_cast<flatbuffers::uoffset_t>(i));
  const auto* arguments = call->arguments();
  const std::size_t count = arguments ? arguments->size() : 0;
  if (count != op_->arguments.size())
    malformed("calls.arguments", fmt::format("has {} arguments where {} takes {}, in call {}", count, op_->name,
                                             op_->arguments.size(), i));
  RecordedCall out;
  std::size_t outs = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const SchemaArgument& a = op_->arguments[k];
    out.arguments.push_back(value(arguments->Get(static_cast<flatbuffers::uoffset_t>(k)), {i, a.name}, !a.out));
    if (a.out)
      outs += is_list(a.type) && std::holds_alternative<Tensors>(out.arguments.back())
                  ? std::get<Tensors>(out.arguments.back()).size()
                  : 1;
  }
  if (call->origin()) out.origin = call->origin()->str();
  if (call->refusal()) out.refusal = call->refusal()->str();
  out.refused = call->refusal() != nullptr;
  if (call->fresh())
    for (const golden::Tensor* t : *call->fresh()) out.fresh.push_back(metadata(t, {i, "fresh"}));
  if (out.refused) return out;
  if (!call->results() || call->results()->size() != outs)
    malformed("calls.results", fmt::format("has no result for each of the {} outs of call {}", outs, i));
  for (const golden::Tensor* t : *call->results()) {
    out.results.push_back(tensor(t, {i, "results"}, t->data() != nullptr));
    out.has_values = out.has_values && (t->data() || out.results.back().count() == 0);
  }
  return out;
}

std::vector<std::filesystem::path> recorded_files(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw Fault(Outcome::malformed, "calls.folder", fmt::format("{} is no folder of recorded calls", folder.string()));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".calls") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace assay
