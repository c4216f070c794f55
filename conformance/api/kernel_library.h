#ifndef ASSAY_KERNEL_LIBRARY_H
#define ASSAY_KERNEL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* The kernel library interface: how a library of kernels is called by the host that judges it. What each side owes the
 * other says spec/kernel_library.md. C11 and C++; needs neither heap nor operating system. All that a library is given
 * belongs to the host and is there until the call returns; texts are UTF-8. */

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_KERNEL_LIBRARY_VERSION = 1 };

/* -- values ------------------------------------------------------------------------------------------------------- */

/* Elements lie in dim_order, outermost first, without gaps. */
typedef struct assay_kernel_tensor {
  int32_t dtype; /* the format's ScalarType: 6 is float32; spec/dtypes.yaml has all */
  uint32_t rank; /* at most 16 */
  const int64_t* sizes;
  const int64_t* strides; /* in elements */
  const uint8_t* dim_order;
  void* data;      /* at a multiple of 16 and no better; never null */
  size_t capacity; /* bytes at data; an out may be resized as long as it fits */
} assay_kernel_tensor;

enum assay_kernel_kind {
  ASSAY_KERNEL_NONE,
  ASSAY_KERNEL_TENSOR,
  ASSAY_KERNEL_INT, /* an int, or a number that is one; a dtype, layout or memory format by its number */
  ASSAY_KERNEL_DOUBLE,
  ASSAY_KERNEL_BOOL,
  ASSAY_KERNEL_STRING,
  ASSAY_KERNEL_INTS,
  ASSAY_KERNEL_DOUBLES,
  ASSAY_KERNEL_BOOLS,
  ASSAY_KERNEL_TENSORS /* of items that are tensors or none */
};

typedef struct assay_kernel_value {
  uint32_t kind; /* says which of these there is */
  union {
    assay_kernel_tensor tensor;
    int64_t integer;
    double real;
    uint8_t boolean; /* 0 or 1 */
    struct {
      const char* text; /* terminated, too */
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

/* What a kernel may ask for during its call; each takes `context` first. */
typedef struct assay_kernel_host {
  void* context;

  /* Gives an out, in place, other sizes; of the same rank it keeps its dim order, else it becomes contiguous. 0, and
   * nothing has changed: it does not fit in its capacity, or is no out of this call. */
  int (*resize)(void* context, assay_kernel_tensor* out, uint32_t rank, const int64_t* sizes);

  /* Temporary memory, until the host has read the reply; nobody gives it back. It holds no zeros. Null: there is not so
   * much, or the alignment is no power of two. */
  void* (*allocate)(void* context, size_t bytes, size_t alignment);

  void (*log)(void* context, const char* text); /* a line, shown where the call ends the process */

  uint64_t (*ticks)(void* context); /* of a clock that never goes back */
  uint64_t ticks_per_second;

  const char* schema; /* of the operator, as ATen writes it; null where the host knows its name alone */
} assay_kernel_host;

/* -- the library -------------------------------------------------------------------------------------------------- */

/* As spec/faults.yaml has them, counted from 0. */
enum assay_kernel_outcome {
  ASSAY_KERNEL_OK = 0,
  ASSAY_KERNEL_INVALID = 2,     /* a rule is broken: of shapes, dtypes, ranges */
  ASSAY_KERNEL_UNSUPPORTED = 3, /* there is no kernel for such a call */
  ASSAY_KERNEL_FAULT = 4,       /* the data break a rule, such as an index out of range */
  ASSAY_KERNEL_EXHAUSTED = 5,   /* there is too little memory, or another limit is reached */
  ASSAY_KERNEL_INTERNAL = 6     /* the library failed, for no reason that lies in the call */
};

typedef struct assay_kernel_reply {
  int32_t outcome;
  const char* message; /* a sentence; null: none. It stays until the library is called again, or is the host's memory */
} assay_kernel_reply;

typedef struct assay_kernel_fact { /* worth a line in a report: a version, a setting */
  const char* name;
  const char* text;
} assay_kernel_fact;

/* Functions take `context` first, and are called by one thread at a time. */
typedef struct assay_kernel_library {
  uint32_t version; /* ASSAY_KERNEL_LIBRARY_VERSION */
  const char* name;
  void* context;

  const assay_kernel_fact* facts; /* null where there are none */
  size_t fact_count;

  /* The name of kernel i, "aten::add.out"; null: there are fewer. May be null itself. */
  const char* (*kernel)(void* context, size_t i);

  /* Whether there is a kernel for the operator at all. */
  int (*has)(void* context, const char* op);

  /* Calls it. Values follow the operator's schema, out arguments last. */
  assay_kernel_reply (*call)(void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values,
                             size_t count);

  /* Makes the library as it was when it was loaded: before the first call of each process. May be null. */
  void (*reset)(void* context);

  /* What memory that the library takes from elsewhere than malloc and the host holds from now on, until it is written
   * to. May be null. */
  void (*fill)(void* context, uint8_t byte);
} assay_kernel_library;

/* What a library exports: its table, which stays as it is. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const assay_kernel_library*
assay_kernel_library_v1(void);

#ifdef __cplusplus
}
#endif
#endif
