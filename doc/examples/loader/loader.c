/* A loader with the C interface of assay/loader.h, which counts the methods of a program. The variant "careless" does
 * not check the file. */
#include <stdlib.h>
#include <string.h>

#include "loader.h"

typedef struct file {
  const uint8_t* bytes;
  size_t size;
  int careless;
} file;

/* Returns whether the file has n bytes at `at`. */
static int there(const file* f, uint64_t at, uint64_t n) { return f->careless || (at <= f->size && n <= f->size - at); }

/* Reads the number at `at`. Returns 0 if the file has too few bytes. */
static int number(const file* f, uint64_t at, size_t bytes, uint32_t* value) {
  *value = 0;
  if (!there(f, at, bytes)) return 0;
  memcpy(value, f->bytes + at, bytes);
  return 1;
}

/* The start of the list of methods, field 1 of the root table. */
static int find_methods(const file* f, uint32_t* count) {
  enum { slot_of_methods = 6 };
  uint32_t root, back, slots, slot, offset;
  if (!number(f, 0, 4, &root) || !number(f, root, 4, &back)) return 0;
  const uint64_t table = (uint64_t)((int64_t)root - (int32_t)back);
  if (!number(f, table, 2, &slots) || slots <= slot_of_methods) return 0;
  if (!number(f, table + slot_of_methods, 2, &slot) || slot == 0) return 0;
  if (!number(f, (uint64_t)root + slot, 4, &offset)) return 0;
  const uint64_t list = (uint64_t)root + slot + offset;
  return number(f, list, 4, count) && there(f, list + 4, (uint64_t)*count * 4);
}

typedef struct program {
  uint32_t methods;
} program;

static const char* words = "";
static int32_t refuse(const char* why) { return words = why, ASSAY_LOADER_REFUSED; }

static int32_t open(const file* f, const assay_loader_limits* limits, void** loaded) {
  program p;
  if (f->size < 8 || memcmp(f->bytes + 4, "ET12", 4) != 0) return refuse("it is no program");
  if (!find_methods(f, &p.methods)) return refuse("its tables lie outside of it");
  if (sizeof p > limits->bytes || !(*loaded = malloc(sizeof p))) return ASSAY_LOADER_EXHAUSTED;
  memcpy(*loaded, &p, sizeof p);
  return ASSAY_LOADER_OK;
}

static int32_t load(assay_loader_bytes bytes, const assay_loader_bytes* data, size_t data_count,
                    const assay_loader_limits* limits, void** loaded) {
  const file f = {bytes.data, bytes.size, 0};
  (void)data, (void)data_count;
  return open(&f, limits, loaded);
}
static int32_t load_carelessly(assay_loader_bytes bytes, const assay_loader_bytes* data, size_t data_count,
                               const assay_loader_limits* limits, void** loaded) {
  const file f = {bytes.data, bytes.size, 1};
  (void)data, (void)data_count;
  return open(&f, limits, loaded);
}

static int32_t init(void* loaded, size_t method) {
  return method < ((const program*)loaded)->methods && method < 1000 ? ASSAY_LOADER_OK : ASSAY_LOADER_NO_METHOD;
}
static void unload(void* loaded) { free(loaded); }
static const char* message(void) { return words; }

const assay_loader* assay_loader_v1(const char* variant) {
  static const assay_loader careful = {ASSAY_LOADER_VERSION, "mine", load, init, NULL, unload, message};
  static const assay_loader careless = {ASSAY_LOADER_VERSION, "mine:careless", load_carelessly, init, NULL, unload,
                                        message};
  return strcmp(variant, "careless") == 0 ? &careless : *variant == '\0' ? &careful : NULL;
}
