#include "conformance/reproduce/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "conformance/cases/tensors.h"
#include "conformance/judge/choice.h"
#include "conformance/reproduce/kinds.h"
#include "reference/fault.h"

namespace assay::reproduce {
namespace {

using enum ReproductionKind;

constexpr std::array kinds = std::to_array<ReproductionRow>({
    {python, "python",
     "a script that makes the call in ExecuTorch's official runtime and in eager PyTorch, and needs both"},
    {cpp, "cpp", "a C++ program that calls a kernel in ExecuTorch's registry, and needs the package executorch"},
    {bpte, "bpte", "a bundled program that makes this call, with its inputs and expected outputs, for any runtime"},
    {json, "json", "a line of JSON with the request for assay call --jsonl and the expected answer"},
});

// Whether f(tensor) is true for any of the tensors.
template <class F>
bool any_tensor(const Reproduced& call, F f) {
  bool any = false;
  cases::each_tensor(call.host.arguments, [&](const Tensor& t, std::size_t) { any = any || f(t); });
  return any;
}

bool is_too_large(const Tensor& t) {
  Real strides = 1;
  for (const Int n : t.sizes) strides *= static_cast<Real>(std::max<Int>(n, 1));
  return strides > std::numeric_limits<std::int32_t>::max();
}

bool has_usual_dim_order(const Tensor& t) { return cases::is_contiguous(t) || t.dim_order == Dims{0, 2, 3, 1}; }

// A feature that some kinds cannot express.
struct Limit {
  std::string_view what;
  std::initializer_list<ReproductionKind> kinds;
  bool (*is_met)(const Reproduced&);
};

const Limit limits[] = {
    {"a call that exceeds the limits of the reference",
     {python, cpp, bpte},
     [](const Reproduced& call) { return call.host.expected.answer.outcome == Outcome::exhausted; }},
    {"a call that has more than one right result: its operator draws random numbers or picks among equal elements",
     {python, cpp, bpte},
     [](const Reproduced& call) { return !judge::has_one_answer(call.op(), call.host.arguments); }},
    {"a call with sizes or strides beyond 32 bits",
     {python, cpp, bpte},
     [](const Reproduced& call) { return any_tensor(call, is_too_large); }},
    {"an invalid call, because a valid program cannot make it",
     {bpte},
     [](const Reproduced& call) { return !call.host.valid(); }},
    {"a call with a dtype that has no arithmetic, such as quint8: PyTorch cannot make such tensors from bytes",
     {python},
     [](const Reproduced& call) {
       return any_tensor(call, [](const Tensor& t) { return info(t.dtype).kind == Kind::opaque; });
     }},
    {"a call with complex numbers, because assay judges the real and the imaginary parts one by one",
     {cpp},
     [](const Reproduced& call) { return any_tensor(call, [](const Tensor& t) { return is_complex(t.dtype); }); }},
    {"a call with a dim order that is neither contiguous nor 4-D channels last: the Python interface refuses it",
     {python},
     [](const Reproduced& call) { return any_tensor(call, [](const Tensor& t) { return !has_usual_dim_order(t); }); }},
};

bool speaks_of(const Limit& limit, ReproductionKind kind) {
  return std::ranges::find(limit.kinds, kind) != limit.kinds.end();
}

std::string made(const Reproduced& call, ReproductionKind kind) {
  switch (kind) {
    case python:
      return python_reproduction(call);
    case cpp:
      return cpp_reproduction(call);
    case bpte:
      return bpte_reproduction(call);
    default:
      return json_reproduction(call);
  }
}

}  // namespace

std::span<const ReproductionRow> reproduction_kinds() { return kinds; }

std::string describe_reproductions() {
  std::string all;
  for (const ReproductionRow& row : kinds) {
    all += fmt::format("  {:<8}{}\n", row.name, row.is);
    if (std::ranges::any_of(limits, [&](const Limit& limit) { return speaks_of(limit, row.kind); }))
      all += "          This form cannot express these calls:\n";
    for (const Limit& limit : limits)
      if (speaks_of(limit, row.kind)) all += fmt::format("          - {}\n", limit.what);
  }
  return all;
}

std::string reproduction(const cases::Case& c, ReproductionKind kind, const std::string& library) {
  const Reproduced call{c, cases::host_call(c), library};
  for (const Limit& limit : limits)
    if (speaks_of(limit, kind) && limit.is_met(call))
      throw Fault(Outcome::unsupported, "case.as",
                  concat(kinds[static_cast<std::size_t>(kind)].name, " cannot express ", limit.what));
  return made(call, kind);
}

}  // namespace assay::reproduce
