#ifndef ASSAY_KERNEL_LIBRARY_H
#define ASSAY_KERNEL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* The kernel library interface, by which assay, the host, calls the kernels that it judges. spec/kernel_library.md
 * states the duties of both sides. C11 and C++; needs neither heap nor operating system. Whatever a library receives
 * belongs to the host and stays valid until the call returns. Texts are UTF-8. */

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_KERNEL_LIBRARY_VERSION = 1 };

/* -- values ------------------------------------------------------------------------------------------------------- */

/* Elements lie in dim_order, outermost first, without gaps. */
typedef struct assay_kernel_tensor {
  int32_t dtype; /* the format's ScalarType: 6 is float32; spec/dtypes.yaml lists all */
  uint32_t rank; /* at most 16 */
  const int64_t* sizes;
  const int64_t* strides; /* in elements */
  const uint8_t* dim_order;
  void* data;      /* aligned to 16 bytes and no more; never null */
  size_t capacity; /* bytes at data; an out may be resized within them */
} assay_kernel_tensor;

/* begin generated kernel_kinds from spec/protocol.yaml, by tools/specgen/blocks.py */
enum assay_kernel_kind {
  ASSAY_KERNEL_NONE = 0,
  ASSAY_KERNEL_TENSOR = 1,
  ASSAY_KERNEL_INT = 2, /* an int, or a Scalar that is an integer; the number of a dtype, layout or memory format */
  ASSAY_KERNEL_DOUBLE = 3,
  ASSAY_KERNEL_BOOL = 4,
  ASSAY_KERNEL_STRING = 5,
  ASSAY_KERNEL_INTS = 6,
  ASSAY_KERNEL_DOUBLES = 7,
  ASSAY_KERNEL_BOOLS = 8,
  ASSAY_KERNEL_TENSORS = 9 /* a list of items, each a tensor or none */
};
/* end generated kernel_kinds */

typedef struct assay_kernel_value {
  uint32_t kind; /* an assay_kernel_kind: the member of `as` that is set */
  union {
    assay_kernel_tensor tensor;
    int64_t integer;
    double real;
    uint8_t boolean; /* 0 or 1 */
    struct {
      const char* text; /* zero-terminated */
      size_t length;
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

/* What the host offers to a kernel during its call. Each function takes `context` first. */
typedef struct assay_kernel_host {
  void* context;

  /* Changes the sizes of an out in place. With the same rank the out keeps its dim order; else it becomes contiguous.
   * Returns 0, and changes nothing, if the sizes exceed the out's capacity or `out` is not an out of this call. */
  int (*resize)(void* context, assay_kernel_tensor* out, uint32_t rank, const int64_t* sizes);

  /* Returns temporary memory, which contains no zero byte and which the host frees after it has read the reply. Null:
   * there is too little memory, or the alignment is not a power of two. */
  void* (*allocate)(void* context, size_t bytes, size_t alignment);

  void (*log)(void* context, const char* text); /* a line, shown if the call ends the process */

  uint64_t (*ticks)(void* context); /* of a clock that never goes back */
  uint64_t ticks_per_second;

  const char* schema; /* of the operator, as ATen writes it; null: unknown to the host */
} assay_kernel_host;

/* -- the library -------------------------------------------------------------------------------------------------- */

/* The outcomes of spec/faults.yaml, counted from 0, and an internal failure. */
/* begin generated kernel_outcomes from spec/protocol.yaml, by tools/specgen/blocks.py */
enum assay_kernel_outcome {
  ASSAY_KERNEL_OK = 0,
  ASSAY_KERNEL_INVALID = 2,     /* the call breaks a rule on sizes, dtypes or ranges */
  ASSAY_KERNEL_UNSUPPORTED = 3, /* the library has no kernel for such a call */
  ASSAY_KERNEL_FAULT = 4,       /* the data break a rule, such as an index out of range */
  ASSAY_KERNEL_EXHAUSTED = 5,   /* there is too little memory, or another limit is reached */
  ASSAY_KERNEL_INTERNAL = 6     /* the library itself failed */
};
/* end generated kernel_outcomes */

typedef struct assay_kernel_reply {
  int32_t outcome;
  const char* message; /* a sentence; null: none. Valid until the next call of the library, or in the host's memory */
} assay_kernel_reply;

typedef struct assay_kernel_fact { /* a line of a report: a version, a setting */
  const char* name;
  const char* text;
} assay_kernel_fact;

/* Each function takes `context` first. One thread at a time calls them. */
typedef struct assay_kernel_library {
  uint32_t version; /* ASSAY_KERNEL_LIBRARY_VERSION */
  const char* name;
  void* context;

  const assay_kernel_fact* facts; /* null: none */
  size_t fact_count;

  /* Returns the name of kernel i, "aten::add.out", or null if there are fewer kernels. The pointer may be null. */
  const char* (*kernel)(void* context, size_t i);

  /* Whether the library has a kernel for the operator. */
  int (*has)(void* context, const char* op);

  /* Calls the kernel. `values` are the arguments of the operator's schema in order, outs last. */
  assay_kernel_reply (*call)(void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values,
                             size_t count);

  /* Returns the library to the state in which it was loaded. Called before the first call in each process. The pointer
   * may be null. */
  void (*reset)(void* context);

  /* Sets the byte that fills memory which the library takes from neither malloc nor the host, until something is
   * written to it. The pointer may be null. */
  void (*fill)(void* context, uint8_t byte);
} assay_kernel_library;

/* The function that a library exports. Returns its table, which never changes. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const assay_kernel_library*
assay_kernel_library_v1(void);

#ifdef __cplusplus
}
#endif
#endif
