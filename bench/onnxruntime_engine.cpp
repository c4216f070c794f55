#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bench/engines.h"
#include "bench/onnxruntime_api.h"
#include "bench/replied.h"
#include "dtype_lists.gen.h"
#include "reference/tensor.h"

namespace assay::bench {
namespace {

namespace ort = onnxruntime;

Fault refused(const auto&... sentence) { return {Outcome::unsupported, "onnxruntime", text(sentence...)}; }

int element_type_of(DType dtype) {
  for (const auto& [known, number] : onnx_numbers)
    if (known == dtype) return number;
  throw refused("onnxruntime has no dtype ", dtype);
}

DType dtype_of(int element_type) {
  for (const auto& [dtype, number] : onnx_numbers)
    if (number == element_type) return dtype;
  throw refused("onnxruntime has tensors of the element type ", element_type, ", which assay does not know");
}

// Calls functions of the library, releases what they give.
class Library {
 public:
  explicit Library(const std::filesystem::path& path) {
    // It exports nothing but its entry, so its names need no scope of their own, in which parts of the standard library
    // would be there twice.
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) throw refused("onnxruntime cannot be loaded: ", dlerror());
    void* entry = dlsym(module, "OrtGetApiBase");
    if (!entry) throw refused(path.string(), " is not onnxruntime: it does not export OrtGetApiBase");
    base_ = reinterpret_cast<const ort::ApiBase* (*)()>(entry)();
    api_ = base_->api(ort::api_version);
    if (!api_) throw refused("onnxruntime ", version(), " lacks version ", ort::api_version, " of its interface");
    file_ = std::filesystem::canonical(path).filename();
  }

  std::string version() const { return base_->version(); }
  const std::string& file() const { return file_; }

  template <class... Parameters>
  void call(const ort::Fallible<Parameters...>& function, std::type_identity_t<Parameters>... arguments) const {
    ort::Status* failed = function(api_, arguments...);
    if (!failed) return;
    const std::string message = ort::error_message(api_, failed);
    ort::release_status(api_, failed);
    throw Fault(Outcome::fault, "onnxruntime", message);
  }

  // What a function gives as its last argument.
  template <class T, class... Parameters>
  T got(const ort::Fallible<Parameters...>& function, auto... arguments) const {
    T result{};
    call(function, arguments..., &result);
    return result;
  }

  template <class T>
  void release(const ort::Release<T>& release, T* what) const {
    release(api_, what);
  }

  // The object that a function returns through its last argument. It is released with its last owner.
  template <class T, class... Parameters>
  std::shared_ptr<T> held(const ort::Release<T>& release, const ort::Fallible<Parameters...>& function,
                          auto... arguments) const {
    return {got<T*>(function, arguments...), [this, release](T* p) { release(api_, p); }};
  }

 private:
  const ort::ApiBase* base_ = nullptr;
  const ort::Api* api_ = nullptr;
  std::string file_;
};

// A session with onnxruntime's defaults. Outputs are made by the first run and written again by those that follow.
class OnnxRuntimeEngine final : public Engine {
 public:
  explicit OnnxRuntimeEngine(const std::filesystem::path& library) : library_(library) {}
  ~OnnxRuntimeEngine() override {
    for (std::vector<ort::Tensor*>* tensors : {&inputs_, &outputs_}) release(*tensors);
  }

  std::string version() const override { return library_.version(); }
  std::vector<std::string> binaries() const override { return {library_.file()}; }

  Reply load(const EngineSettings& settings) override {
    return replied([&] {
      const auto options = library_.held(ort::release_session_options, ort::create_session_options);
      library_.call(ort::set_threads_in_an_operator, options.get(), settings.threads);
      session_ = library_.held(ort::release_session, ort::create_session, environment_.get(), settings.program.c_str(),
                               options.get());
      input_names_ = names(ort::input_count, ort::input_name);
      output_names_ = names(ort::output_count, ort::output_name);
      outputs_.resize(output_names_.size());
    });
  }

  Reply set_inputs(std::span<const Value> inputs) override {
    return replied([&] {
      if (inputs.size() > input_names_.size())
        throw refused("the model has ", input_names_.size(), " inputs, but ", inputs.size(), " came");
      release(inputs_), values_.clear();
      for (std::size_t i = 0; i < input_names_.size(); ++i)
        values_.push_back(i < inputs.size() ? contiguous(inputs[i]) : initial_state(i));
      for (Tensor& value : values_) inputs_.push_back(alias(value));
    });
  }

  Reply run() override {
    return replied([&] {
      library_.call(ort::run, session_.get(), nullptr, input_names_.data(), inputs_.data(), inputs_.size(),
                    output_names_.data(), outputs_.size(), outputs_.data());
    });
  }

  std::vector<Value> outputs() const override {
    std::vector<Value> copies;
    for (ort::Tensor* output : outputs_) copies.emplace_back(copy(output));
    return copies;
  }

 private:
  // Few and short: they stay until the process ends.
  std::vector<const char*> names(const auto& count, const auto& name) const {
    auto* allocator = library_.got<ort::Allocator*>(ort::default_allocator);
    std::vector<const char*> all(library_.got<std::size_t>(count, session_.get()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = library_.got<char*>(name, session_.get(), i, allocator);
    return all;
  }

  void release(std::vector<ort::Tensor*>& tensors) const {
    for (ort::Tensor* tensor : tensors) library_.release(ort::release_tensor, tensor);
    tensors.clear();
  }

  static Tensor contiguous(const Value& value) {
    if (const Tensor* tensor = std::get_if<Tensor>(&value))
      return arranged(*tensor, make(tensor->dtype, tensor->sizes).dim_order);
    if (const auto number = number_in(value)) return tensor_of(*number);
    throw refused("onnxruntime takes tensors and numbers, no ", kind_name(value));
  }

  // Inputs that the program does not have are state of the converted model. They begin as zeros.
  Tensor initial_state(std::size_t input) const {
    const auto type = library_.held(ort::release_type, ort::input_type, session_.get(), input);
    return like(library_.got<const ort::TensorInfo*>(ort::tensor_info, type.get()));
  }

  Tensor like(const ort::TensorInfo* info) const {
    std::vector<std::int64_t> sizes(library_.got<std::size_t>(ort::rank_of, info));
    library_.call(ort::sizes_of, info, sizes.data(), sizes.size());
    if (std::ranges::any_of(sizes, [](std::int64_t n) { return n < 0; }))
      throw refused("the model's state must have sizes that are known");
    return make(dtype_of(library_.got<int>(ort::element_type, info)), Dims(Ints(sizes.begin(), sizes.end())));
  }

  ort::Tensor* alias(Tensor& t) const {
    const std::vector<std::int64_t> sizes(t.sizes.begin(), t.sizes.end());
    return library_.got<ort::Tensor*>(ort::tensor_of_memory, memory_.get(), t.bytes.data(), t.bytes.size(),
                                      sizes.data(), sizes.size(), element_type_of(t.dtype));
  }

  Tensor copy(ort::Tensor* output) const {
    const auto info = library_.held(ort::release_tensor_info, ort::info_of, output);
    Tensor tensor = like(info.get());
    const auto* bytes = static_cast<const std::byte*>(library_.got<void*>(ort::data_of, output));
    std::copy_n(bytes, tensor.bytes.size(), tensor.bytes.begin());
    return tensor;
  }

  Library library_;
  std::shared_ptr<ort::Environment> environment_ =
      library_.held(ort::release_environment, ort::create_environment, ort::warning, "assay");
  std::shared_ptr<ort::MemoryInfo> memory_ =
      library_.held(ort::release_memory_info, ort::processor_memory, ort::device_allocator, ort::default_memory_type);
  std::shared_ptr<ort::Session> session_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<Tensor> values_;                  // whose bytes the inputs are
  std::vector<ort::Tensor*> inputs_, outputs_;  // null until the first run makes it
};

}  // namespace

std::unique_ptr<Engine> make_onnxruntime(const std::filesystem::path& library) {
  if (!std::filesystem::exists(library))
    throw refused("the engine onnxruntime needs ", library.string(), ", which is missing: tools/bench puts it there");
  return std::make_unique<OnnxRuntimeEngine>(library);
}

}  // namespace assay::bench
