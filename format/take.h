#pragma once

namespace assay::format {

// A non-owning reference to a function that takes a `const T&`, such as a lambda. It is valid only during the call that
// it is passed to.
template <class T>
class Take {
 public:
  template <class F>
  Take(const F& f)  // NOLINT(google-explicit-constructor)
      : function_(&f), call_([](const void* function, const T& value) { (*static_cast<const F*>(function))(value); }) {}

  void operator()(const T& value) const { call_(function_, value); }

 private:
  const void* function_;
  void (*call_)(const void* function, const T& value);
};

}  // namespace assay::format
