#ifndef ASSAY_LOADER_H
#define ASSAY_LOADER_H

#include <stddef.h>
#include <stdint.h>

/* The loader interface. Through it, `assay loader` and the fuzzers give valid and invalid files to a loader of programs
 * (.pte). The header is valid C11 and C++. No content of a file may crash the loader, hang it, or make it exceed its
 * limits. The memory of a file is aligned to 16 bytes and read-only. It stays valid until the program is unloaded. */

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_LOADER_VERSION = 1 };

enum assay_loader_outcome {
  ASSAY_LOADER_OK = 0,
  ASSAY_LOADER_REFUSED = 1,   /* the file is invalid, or it uses a feature that the loader does not support */
  ASSAY_LOADER_EXHAUSTED = 2, /* the program exceeds assay_loader_limits */
  ASSAY_LOADER_NO_METHOD = 3  /* the program has no method with this index */
};

typedef struct assay_loader_bytes {
  const void* data;
  size_t size;
} assay_loader_bytes;

typedef struct assay_loader_limits {
  uint64_t bytes;        /* the most bytes of memory that the program and all its methods may take together */
  uint64_t instructions; /* the most instructions that one execution may run */
} assay_loader_limits;

/* A loader. load, init and execute return an assay_loader_outcome. */
typedef struct assay_loader {
  uint32_t version; /* must be ASSAY_LOADER_VERSION */
  const char* name;

  /* Loads a program with the data files (.ptd) that it needs, and stores a handle in `*loaded`. If load returns
   * ASSAY_LOADER_OK, the caller calls `unload` later, whatever init and execute return. If load returns another
   * outcome, the caller does not call `unload`. */
  int32_t (*load)(assay_loader_bytes program, const assay_loader_bytes* data, size_t data_count,
                  const assay_loader_limits* limits, void** loaded);

  /* Prepares the method with index `method`, including its memory. The caller prepares the methods in order, from 0. */
  int32_t (*init)(void* loaded, size_t method);

  /* Runs a prepared method once with inputs that are zeros. The function pointer may be null. */
  int32_t (*execute)(void* loaded, size_t method);

  /* Unloads the program and its methods. */
  void (*unload)(void* loaded);

  /* Returns the reason for the last refusal as one sentence, which may be empty. */
  const char* (*message)(void);
} assay_loader;

/* Returns the loader's table, which never changes, or null if the loader has no variant of this name. Every loader
 * exports this function. `variant` is the text after the colon in the loader's name, such as "strict" in
 * "./mine.so:strict". It is "" if the name has no colon. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const assay_loader*
assay_loader_v1(const char* variant);

#ifdef __cplusplus
}
#endif
#endif
