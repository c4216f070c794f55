#ifndef ASSAY_KERNEL_LIBRARY_H
#define ASSAY_KERNEL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* The kernel library interface. assay is the host: it calls the kernels that it judges through this interface.
 * spec/kernel_library.md states the duties of both sides. The header is valid C11 and C++ and needs neither a heap nor
 * an operating system. All memory that the host passes to a function of the library belongs to the host and stays valid
 * until the function returns. All texts are UTF-8. */

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_KERNEL_LIBRARY_VERSION = 1 };

/* -- values ------------------------------------------------------------------------------------------------------- */

/* A dense tensor. Its elements lie in the order of dim_order, outermost dimension first, without gaps. */
typedef struct assay_kernel_tensor {
  /* The number of the dtype in ExecuTorch's ScalarType, such as 6 for float32. spec/dtypes.yaml lists all numbers. */
  int32_t dtype;
  uint32_t rank; /* at most 16 */
  const int64_t* sizes;
  const int64_t* strides; /* in elements */
  const uint8_t* dim_order;
  void* data;      /* never null; aligned to 16 bytes, and to no larger power of two */
  size_t capacity; /* the number of bytes at `data`; a resized out must fit in these bytes */
} assay_kernel_tensor;

/* begin generated kernel_kinds from spec/protocol.yaml, by tools/specgen/blocks.py */
enum assay_kernel_kind {
  ASSAY_KERNEL_NONE = 0,
  ASSAY_KERNEL_TENSOR = 1,
  ASSAY_KERNEL_INT = 2, /* an int, a Scalar that is an int, or the number of a dtype, layout or memory format */
  ASSAY_KERNEL_DOUBLE = 3,
  ASSAY_KERNEL_BOOL = 4,
  ASSAY_KERNEL_STRING = 5,
  ASSAY_KERNEL_INTS = 6,
  ASSAY_KERNEL_DOUBLES = 7,
  ASSAY_KERNEL_BOOLS = 8,
  ASSAY_KERNEL_TENSORS = 9 /* a list of items that are tensors or none */
};
/* end generated kernel_kinds */

typedef struct assay_kernel_value {
  uint32_t kind; /* an assay_kernel_kind, which decides which member of `as` is set; ASSAY_KERNEL_NONE sets none */
  union {
    assay_kernel_tensor tensor;
    int64_t integer;
    double real;
    uint8_t boolean; /* 0 or 1 */
    struct {
      const char* text; /* ends with a zero byte */
      size_t length;    /* in bytes, without the zero byte */
    } string;
    struct {
      const int64_t* items;
      size_t count;
    } integers;
    struct {
      const double* items;
      size_t count;
    } reals;
    struct {
      const uint8_t* items;
      size_t count;
    } booleans;
    struct {
      struct assay_kernel_value* items;
      size_t count;
    } tensors;
  } as;
} assay_kernel_value;

/* -- the host ----------------------------------------------------------------------------------------------------- */

/* The functions and facts that the host offers to a kernel while the kernel runs. The first argument of each function
 * is `context`. */
typedef struct assay_kernel_host {
  void* context;

  /* Changes the sizes of `*out`. If the rank does not change, the dim order does not change either. If the rank
   * changes, the out becomes contiguous. Returns 1 on success. Returns 0 and changes nothing if the sizes exceed
   * the out's capacity or if `out` is not an out of this call. */
  int (*resize)(void* context, assay_kernel_tensor* out, uint32_t rank, const int64_t* sizes);

  /* Returns temporary memory. At first, all its bytes are nonzero. The host frees the memory after it has read the
   * reply. Returns null if there is too little memory or the alignment is not a power of two. */
  void* (*allocate)(void* context, size_t bytes, size_t alignment);

  /* Keeps a line of text, which the host shows if the kernel's call ends the process. */
  void (*log)(void* context, const char* text);

  /* Returns the time of a monotonic clock, in ticks. */
  uint64_t (*ticks)(void* context);
  uint64_t ticks_per_second;

  const char* schema; /* the operator's schema as ATen writes it; null if the host does not know the operator */
} assay_kernel_host;

/* -- the library -------------------------------------------------------------------------------------------------- */

/* The outcomes that a kernel may return. The number of an outcome is its position in spec/faults.yaml, counted
 * from 0. ASSAY_KERNEL_INTERNAL is an additional outcome. */
/* begin generated kernel_outcomes from spec/protocol.yaml, by tools/specgen/blocks.py */
enum assay_kernel_outcome {
  ASSAY_KERNEL_OK = 0,
  ASSAY_KERNEL_INVALID = 2,     /* the call breaks a rule about shapes, dtypes or ranges */
  ASSAY_KERNEL_UNSUPPORTED = 3, /* the library has no kernel for such a call */
  ASSAY_KERNEL_FAULT = 4,       /* the data break a rule, such as an index out of range */
  ASSAY_KERNEL_EXHAUSTED = 5,   /* there is too little memory, or another limit is reached */
  ASSAY_KERNEL_INTERNAL = 6     /* the library failed for a reason that does not lie in the call */
};
/* end generated kernel_outcomes */

typedef struct assay_kernel_reply {
  int32_t outcome;
  /* One sentence, or null. The sentence must be in memory that `allocate` returned, or must stay valid until the host
   * calls the library again. */
  const char* message;
} assay_kernel_reply;

/* A fact about the library that the report shows, such as a version or a setting. */
typedef struct assay_kernel_fact {
  const char* name;
  const char* text;
} assay_kernel_fact;

/* A kernel library. The first argument of each function is `context`. Only one thread at a time calls the
 * functions. */
typedef struct assay_kernel_library {
  uint32_t version; /* must be ASSAY_KERNEL_LIBRARY_VERSION */
  const char* name;
  void* context;

  const assay_kernel_fact* facts; /* may be null if fact_count is 0 */
  size_t fact_count;

  /* Returns the name of the operator that kernel i computes, such as "aten::add.out". Returns null if i is not less
   * than the number of kernels. The function pointer may be null. */
  const char* (*kernel)(void* context, size_t i);

  /* Returns nonzero if the library has a kernel for the operator, else 0. */
  int (*has)(void* context, const char* op);

  /* Calls the operator's kernel. `values` has one item for each argument of the schema, in the order of the schema. The
   * outs are last. `count` is the number of items. */
  assay_kernel_reply (*call)(void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values,
                             size_t count);

  /* Restores the state that the library had when it was loaded. The host calls it before the first call in each
   * process. The function pointer may be null. */
  void (*reset)(void* context);

  /* Sets the fill byte. If the library uses memory that comes neither from malloc nor from `allocate`, it must fill
   * this memory with the fill byte before each use. The function pointer may be null. */
  void (*fill)(void* context, uint8_t byte);
} assay_kernel_library;

/* Returns the library's table, which never changes. Every kernel library exports this function. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const assay_kernel_library*
assay_kernel_library_v1(void);

#ifdef __cplusplus
}
#endif
#endif
