#pragma once

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "conformance/adapters/reference_library.h"
#include "conformance/runner/run_case.h"

namespace assay {

// A library that answers as the reference does but shows one fault in some calls. Each operator has its own fault. The
// contents of a call decide whether it is faulty; earlier calls do not.
class FaultyLibrary : public testee::KernelLibrary {
 public:
  std::string_view name() const override { return "faulty"; }
  bool has(const Operator& op) const override { return effects().contains(std::string(op.name)); }

  testee::Reply call(const Operator& op, std::span<testee::HostValue> a) override {
    const Effect& effect = effects().at(std::string(op.name));
    const std::size_t call = sum(bytes(a.front()));
    if (spoilt_by_ && *spoilt_by_ != call) return {Outcome::invalid, "not any more"};
    found_ = bytes(a.back()).empty() ? std::byte{} : out(a)[0];
    const testee::Reply reply = reference_.call(op, a);
    if (reply.outcome == Outcome::ok && is_wrong(effect, bytes(a.front())) && !bytes(a.back()).empty())
      (this->*effect.apply)(a);
    return reply;
  }

  struct Effect {
    void (FaultyLibrary::*apply)(std::span<testee::HostValue>);
    verdict::Class blamed;
    bool needs_no_sanitizer = false;
    std::size_t every = 7;
  };
  static bool is_wrong(const Effect& effect, std::span<const std::byte> input) {
    return sum(input) % effect.every == 3;
  }
  static const std::map<std::string, Effect>& effects() {
    using L = FaultyLibrary;
    static const std::map<std::string, Effect> all{
        {"aten::abs.out", {&L::write_behind_own, verdict::Class::heap_damage, true}},
        {"aten::ceil.out", {&L::write_before_own, verdict::Class::heap_damage, true}},
        {"aten::cos.out", {&L::write_freed, verdict::Class::uses_freed, true}},
        {"aten::exp.out", {&L::free_twice, verdict::Class::double_free, true}},
        {"aten::floor.out", {&L::read_own_unwritten, verdict::Class::reads_uninitialised, true}},
        {"aten::sin.out", {&L::write_behind_given, verdict::Class::writes_out_of_bounds}},
        {"aten::sqrt.out", {&L::write_before_given, verdict::Class::writes_out_of_bounds}},
        {"aten::tan.out", {&L::use_earlier_given, verdict::Class::uses_freed}},
        {"aten::relu.out", {&L::change_input, verdict::Class::changes_input}},
        {"aten::round.out", {&L::read_out, verdict::Class::reads_uninitialised}},
        {"aten::sign.out", {&L::read_stack, verdict::Class::reads_uninitialised, true}},
        {"aten::log.out", {&L::count, verdict::Class::not_repeatable}},
        {"aten::neg.out", {&L::spoil, verdict::Class::spoils_state}},
        {"aten::erf.out", {&L::segfault, verdict::Class::segmentation_fault}},
        {"aten::atan.out", {&L::trap, verdict::Class::arithmetic_trap}},
        {"aten::sinh.out", {&L::abort, verdict::Class::abort}},
        {"aten::tanh.out", {&L::assertion, verdict::Class::assertion}},
        {"aten::cosh.out", {&L::exit, verdict::Class::exit}},
        {"aten::sigmoid.out", {&L::hang, verdict::Class::none, false, 31}},  // each such call runs until its time limit
    };
    return all;
  }

 private:
  static std::span<std::byte> bytes(testee::HostValue& v) {
    testee::TensorView& t = std::get<testee::TensorView>(v);
    return {t.data, t.bytes()};
  }
  static std::byte* out(std::span<testee::HostValue> a) { return std::get<testee::TensorView>(a.back()).data; }
  static std::size_t sum(std::span<const std::byte> bytes) {
    std::size_t all = 0;
    for (const std::byte b : bytes) all = all * 31 + static_cast<std::size_t>(b);
    return all;
  }

  // volatile, so that the compiler keeps the write
  static void write(volatile std::byte* at) { *at = *at ^ std::byte{0xFF}; }
  std::byte* own() { return static_cast<std::byte*>(std::malloc(24)); }

  void write_behind_own(std::span<testee::HostValue>) { write(own() + 24); }
  void write_before_own(std::span<testee::HostValue>) { write(own() - 1); }
  void write_freed(std::span<testee::HostValue>) {
    std::byte* volatile old = own();
    std::free(old);
    write(old + 3);
  }
  void free_twice(std::span<testee::HostValue>) {
    std::byte* volatile old = own();
    std::free(old);
    std::free(old);
  }
  void read_own_unwritten(std::span<testee::HostValue> a) {
    std::byte* volatile mine = own();
    out(a)[0] = mine[5];
    std::free(mine);
  }
  void write_behind_given(std::span<testee::HostValue> a) { write(bytes(a.back()).data() + bytes(a.back()).size()); }
  void write_before_given(std::span<testee::HostValue> a) { write(out(a) - 7); }
  void use_earlier_given(std::span<testee::HostValue> a) {
    if (earlier_) write(earlier_);
    earlier_ = out(a);
  }
  void change_input(std::span<testee::HostValue> a) { write(bytes(a.front()).data()); }
  void read_out(std::span<testee::HostValue> a) { out(a)[0] = found_ ^ std::byte{1}; }
  void read_stack(std::span<testee::HostValue> a) { out(a)[0] = leftover(); }
  void count(std::span<testee::HostValue> a) { out(a)[0] = static_cast<std::byte>(++calls_); }
  void spoil(std::span<testee::HostValue> a) { spoilt_by_ = sum(bytes(a.front())); }
  void segfault(std::span<testee::HostValue>) { std::raise(SIGSEGV); }
  void trap(std::span<testee::HostValue>) { std::raise(SIGFPE); }
  void abort(std::span<testee::HostValue>) { std::abort(); }
  void assertion(std::span<testee::HostValue>) {
    std::fputs("faulty: Assertion `false' failed.\n", stderr);
    std::abort();
  }
  void exit(std::span<testee::HostValue>) { std::_Exit(3); }
  void hang(std::span<testee::HostValue>) {
    for (volatile bool forever = true; forever;) {
    }
  }

  // A stack frame deeper than any since the host made the call.
  [[gnu::noinline]] static std::byte leftover() {
    std::array<std::byte, 12'000> never_written;
    asm volatile("" : "=m"(never_written));
    return never_written[0];
  }

  adapters::ReferenceLibrary reference_;
  std::byte* earlier_ = nullptr;
  std::byte found_{};
  std::optional<std::size_t> spoilt_by_;
  unsigned calls_ = 0;
};

}  // namespace assay
