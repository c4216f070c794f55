#ifndef ASSAY_LOADER_H
#define ASSAY_LOADER_H

#include <stddef.h>
#include <stdint.h>

/* The loader interface: how something that takes programs (.pte) is given files, right ones and wrong ones, by assay
 * loader and by the fuzzers. C11 and C++. Nothing that a file says may crash it, hang it, or make it take more than its
 * limits. Files begin at a multiple of 16, are not to be written to, and are there until the program is unloaded. */

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_LOADER_VERSION = 1 };

enum assay_loader_outcome {
  ASSAY_LOADER_OK = 0,
  ASSAY_LOADER_REFUSED = 1,   /* something is wrong with the file, or is not supported */
  ASSAY_LOADER_EXHAUSTED = 2, /* it takes more than the limits */
  ASSAY_LOADER_NO_METHOD = 3  /* there are fewer methods */
};

typedef struct assay_loader_bytes {
  const void* data;
  size_t size;
} assay_loader_bytes;

typedef struct assay_loader_limits {
  uint64_t bytes;        /* of memory, for the program and its methods together */
  uint64_t instructions; /* of one execution */
} assay_loader_limits;

typedef struct assay_loader {
  uint32_t version; /* ASSAY_LOADER_VERSION */
  const char* name;

  /* Takes a program with the data files (.ptd) that it asks. What it gives is unloaded later, whatever becomes of it;
   * nothing is where it is refused. */
  int32_t (*load)(assay_loader_bytes program, const assay_loader_bytes* data, size_t data_count,
                  const assay_loader_limits* limits, void** loaded);

  /* Makes method i ready, with its memory. Methods are made ready one after another, from 0 on. */
  int32_t (*init)(void* loaded, size_t method);

  /* Runs a method that is ready once, with zeros for what it takes. May be null. */
  int32_t (*execute)(void* loaded, size_t method);

  void (*unload)(void* loaded);

  /* Why the last of these calls was refused, in a sentence; may be empty. */
  const char* (*message)(void);
} assay_loader;

/* What a loader exports: its table, which stays as it is. `variant` is what stands behind its name, in
 * "./mine.so:strict" "strict", else ""; null: there is no such variant. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const assay_loader*
assay_loader_v1(const char* variant);

#ifdef __cplusplus
}
#endif
#endif
