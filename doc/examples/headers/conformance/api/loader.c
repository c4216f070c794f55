#include <loader.h>
#include <stddef.h>

/* A loader that refuses every file. doc/examples/loader has one that accepts files. */

static int32_t load(assay_loader_bytes program, const assay_loader_bytes* data, size_t data_count,
                    const assay_loader_limits* limits, void** loaded) {
  return (void)program, (void)data, (void)data_count, (void)limits, (void)loaded, ASSAY_LOADER_REFUSED;
}
static int32_t init(void* loaded, size_t method) { return (void)loaded, (void)method, ASSAY_LOADER_NO_METHOD; }
static void unload(void* loaded) { (void)loaded; }
static const char* message(void) { return "it takes no files yet"; }

const assay_loader* assay_loader_v1(const char* variant) {
  static const assay_loader loader = {ASSAY_LOADER_VERSION, "none", load, init, NULL, unload, message};
  return *variant == '\0' ? &loader : NULL;
}

int main(void) {
  const assay_loader_limits limits = {1 << 20, 1000};
  const assay_loader_bytes file = {"", 0};
  void* loaded = NULL;
  return assay_loader_v1("")->load(file, NULL, 0, &limits, &loaded) == ASSAY_LOADER_REFUSED ? 0 : 1;
}
