// A library of kernels: those of the reference, with one that does wrong.

#include "conformance/testees/load.h"
#include "conformance/testees/reference_library.h"
#include "tests/planted.h"

namespace assay {
namespace {

class PlantedKernels final : public ReferenceLibrary {
 public:
  std::string_view name() const override { return "planted"; }
  bool may_crash() const override { return true; }
  bool has(const Operator& op) const override { return !is_planted(op, "lack"); }

  Reply call(const Operator& op, std::span<HostValue> arguments) override {
    do_planted(op);
    if (is_planted(op, "refuse")) return {Outcome::invalid, "not today"};
    const Reply reply = ReferenceLibrary::call(op, arguments);
    TensorView* out = std::get_if<TensorView>(&arguments.back());
    if (is_planted(op, "wrong") && out) out->data[out->bytes() - 1] ^= std::byte{0x40};
    if (is_planted(op, "damage") && out) out->data[out->capacity] ^= std::byte{1};
    return reply;
  }
};

}  // namespace
}  // namespace assay

extern "C" assay::KernelLibrary* assay_kernel_library() { return new assay::PlantedKernels; }
