#pragma once

#include <cstddef>
#include <cstdint>

// The part of onnxruntime's C interface that is called. Its library comes without headers. It exports a table of
// functions, to which later versions only append. A function is identified by its index in the table; the indices here
// are those of version 14 of the interface.
namespace assay::bench::onnxruntime {

struct Environment;
struct SessionOptions;
struct Session;
struct RunOptions;
struct Tensor;
struct TypeInfo;
struct TensorInfo;
struct MemoryInfo;
struct Allocator;
struct Status;  // null on success

constexpr std::uint32_t api_version = 14;
struct Api;  // an array of pointers to functions
struct ApiBase {
  const Api* (*api)(std::uint32_t version);
  const char* (*version)();
};

// A function at a place of the table.
template <class Result, class... Arguments>
struct Function {
  std::size_t place;

  Result operator()(const Api* api, Arguments... arguments) const {
    return reinterpret_cast<Result (*const*)(Arguments...)>(api)[place](arguments...);
  }
};
template <class... Arguments>
using Fallible = Function<Status*, Arguments...>;
template <class T>
using Release = Function<void, T*>;

constexpr Function<const char*, const Status*> error_message{2};
constexpr Fallible<int, const char*, Environment**> create_environment{3};
constexpr Fallible<const Environment*, const char*, const SessionOptions*, Session**> create_session{7};
constexpr Fallible<Session*, const RunOptions*, const char* const*, const Tensor* const*, std::size_t,
                   const char* const*, std::size_t, Tensor**>
    run{9};
constexpr Fallible<SessionOptions**> create_session_options{10};
constexpr Fallible<SessionOptions*, int> set_threads_in_an_operator{24};
constexpr Fallible<const Session*, std::size_t*> input_count{30}, output_count{31};
constexpr Fallible<const Session*, std::size_t, TypeInfo**> input_type{33};
constexpr Fallible<const Session*, std::size_t, Allocator*, char**> input_name{36}, output_name{37};
constexpr Fallible<const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, int, Tensor**>
    tensor_of_memory{49};
constexpr Fallible<Tensor*, void**> data_of{51};
constexpr Fallible<const TypeInfo*, const TensorInfo**> tensor_info{55};
constexpr Fallible<const TensorInfo*, int*> element_type{60};
constexpr Fallible<const TensorInfo*, std::size_t*> rank_of{61};
constexpr Fallible<const TensorInfo*, std::int64_t*, std::size_t> sizes_of{62};
constexpr Fallible<const Tensor*, TensorInfo**> info_of{65};
constexpr Fallible<int, int, MemoryInfo**> processor_memory{69};
constexpr Fallible<Allocator*, void*> free_memory{76};
constexpr Fallible<Allocator**> default_allocator{78};
constexpr Release<Environment> release_environment{92};
constexpr Release<Status> release_status{93};
constexpr Release<MemoryInfo> release_memory_info{94};
constexpr Release<Session> release_session{95};
constexpr Release<Tensor> release_tensor{96};
constexpr Release<TypeInfo> release_type{98};
constexpr Release<TensorInfo> release_tensor_info{99};
constexpr Release<SessionOptions> release_session_options{100};

constexpr int warning = 2;  // the logging level for warnings
constexpr int device_allocator = 0, default_memory_type = 0;

}  // namespace assay::bench::onnxruntime
