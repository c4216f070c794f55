/* A server of the wire protocol for the optimized runtime, in C: assay runtime -- ./runtime
 * Link it with assay::optimized. A call without a kernel is unsupported. */
#include <optimized/api/assay.h>
#include <setjmp.h>

#include "wire.h"

enum { most_programs = 8, most_methods = 16, most_inputs = 64, most_kept = 160, most_rank = 16, most_memory = 1 << 30 };

typedef struct loaded {
  assay_program* program; /* null if none is loaded */
  assay_options options;
  assay_memory shared;
  size_t made, kept_count, kept_bytes;
  char names[most_methods][64];
  assay_method *methods[most_methods], *chosen;
  wire_bytes inputs[most_inputs]; /* each as its request gave it, in malloc's memory; null if it is not set */
  void* kept[most_kept];
} loaded;

static loaded programs[most_programs];
static assay_fault fault; /* of the current request */
static jmp_buf no_memory; /* ends the request */

static assay_outcome refuse(assay_outcome outcome, const char* why) { return strcpy(fault.message, why), outcome; }

/* Returns zeroed memory that lives as long as the program. */
static assay_memory keep(loaded* l, size_t size) {
  const assay_memory memory = {size < most_memory ? aligned_alloc(64, size + 64 - size % 64) : NULL, size};
  if (!memory.data || l->kept_count == most_kept) longjmp(no_memory, 1);
  return use_memory(size), l->kept_bytes += size, l->kept[l->kept_count++] = memset(memory.data, 0, size), memory;
}
static assay_bytes copy(loaded* l, wire_bytes from) { return (assay_bytes){memcpy(keep(l, from.size).data, from.data, from.size), from.size}; }
static void forget_inputs(loaded* l) { for (size_t i = 0; i < most_inputs; ++i) free((void*)l->inputs[i].data), l->inputs[i].data = NULL; }
static void end(loaded* l) {
  for (size_t i = 0; i < l->made; ++i) assay_method_end(l->methods[i]);
  while (l->kept_count) free(l->kept[--l->kept_count]);
  forget_inputs(l), memory_in_use -= l->kept_bytes, memset(l, 0, sizeof *l);
}

static assay_outcome load(reader* r, writer* w) {
  uint32_t free_one = 0, count;
  while (free_one < most_programs && programs[free_one].program) ++free_one;
  if (free_one == most_programs) return refuse(ASSAY_EXHAUSTED, "there are 8 programs already");
  loaded* l = &programs[free_one];
  assay_bytes data[ASSAY_MOST_DATA_FILES];
  const assay_bytes file = copy(l, bytes(r));
  assay_program_sizes sizes;
  if ((count = (uint32_t)number(r, 4)) > ASSAY_MOST_DATA_FILES) return refuse(ASSAY_EXHAUSTED, "there are more than 64 data files");
  for (uint32_t i = 0; i < count; ++i) data[i] = copy(l, bytes(r));
  l->options.share_arenas = number(r, 1);
  assay_outcome outcome = assay_program_size(file, data, count, &sizes, &fault);
  if (!outcome) outcome = assay_program_open(file, data, count, keep(l, sizes.program), keep(l, sizes.workspace), &l->program, &fault);
  if (outcome) return end(l), outcome;
  return put_number(w, free_one, 4), outcome;
}

static assay_outcome choose(loaded* l, wire_bytes name) {
  assay_method_sizes sizes;
  assay_outcome outcome;
  size_t i = 0, work = 0;
  forget_inputs(l);
  for (; i < l->made; ++i)
    if (strlen(l->names[i]) == name.size && !memcmp(l->names[i], name.data, name.size)) return l->chosen = l->methods[i], ASSAY_OK;
  if (i == most_methods || name.size >= sizeof *l->names) return refuse(ASSAY_EXHAUSTED, "too many methods, or too long a name");
  memset(l->names[i], 0, sizeof *l->names), memcpy(l->names[i], name.data, name.size);
  if ((outcome = assay_method_workspace_size(l->program, l->names[i], &work, &fault))) return outcome;
  const assay_memory workspace = keep(l, work);
  if ((outcome = assay_method_size(l->program, l->names[i], &l->options, workspace, &sizes, &fault))) return outcome;
  if (!l->shared.data) l->shared = keep(l, sizes.shared);
  const assay_method_memories memories = {workspace, keep(l, sizes.prepared), keep(l, sizes.arena), l->shared, keep(l, sizes.scratch)};
  if ((outcome = assay_method_make(l->program, l->names[i], &l->options, &memories, &l->methods[i], &fault))) return outcome;
  return ++l->made, l->chosen = l->methods[i], ASSAY_OK;
}

static assay_outcome set_input(loaded* l, size_t i, reader* r) {
  assay_value v = {.kind = ASSAY_NONE};
  int32_t sizes[most_rank];
  const size_t kind = number(r, 1);
  if (kind == 1) { /* a tensor; dtypes are the format's */
    v.kind = ASSAY_TENSOR, v.as.tensor.dtype = (int)number(r, 1), v.as.tensor.rank = number(r, 1) % (most_rank + 1);
    for (size_t d = 0; d < v.as.tensor.rank; ++d) sizes[d] = (int32_t)number(r, 8);
    v.as.tensor.sizes = sizes, v.as.tensor.dim_order = take(r, v.as.tensor.rank).data, v.as.tensor.data = (void*)bytes(r).data;
  }
  if (kind == 2) v.kind = ASSAY_INTEGER, v.as.integer = (int64_t)number(r, 8);
  if (kind == 3) v.kind = ASSAY_REAL, memcpy(&v.as.real, take(r, 8).data, 8);
  if (kind == 4) v.kind = ASSAY_BOOLEAN, v.as.boolean = number(r, 1);
  if (kind == 5) v.kind = ASSAY_STRING, v.as.string.length = number(r, 4), v.as.string.text = take(r, v.as.string.length).data;
  return assay_set_input(l->chosen, i, &v, &fault);
}
static assay_outcome set(loaded* l, reader* r) {
  const size_t i = number(r, 4);
  if (i >= assay_input_count(l->chosen) || i >= most_inputs) return refuse(ASSAY_MALFORMED, "there is no such input");
  void* kept = realloc((void*)l->inputs[i].data, r->left + 1);
  if (!kept) longjmp(no_memory, 1);
  l->inputs[i] = (wire_bytes){memcpy(kept, r->at, r->left), r->left};
  return set_input(l, i, r);
}

static assay_outcome run(loaded* l, reader* r, writer* w) {
  assay_outcome outcome = ASSAY_OK;
  for (uint64_t times = number(r, 4); times > 0 && outcome == ASSAY_OK; --times) {
    for (size_t i = 0; i < assay_input_count(l->chosen) && outcome == ASSAY_OK; ++i) { /* an execution may overwrite inputs */
      if (i >= most_inputs || !l->inputs[i].data) return refuse(ASSAY_MALFORMED, "an input was not set");
      outcome = set_input(l, i, &(reader){l->inputs[i].data, l->inputs[i].size, 0});
    }
    if (outcome == ASSAY_OK) outcome = assay_execute(l->chosen, &fault);
  }
  if (!strcmp(fault.rule, "I11")) outcome = ASSAY_UNSUPPORTED; /* no kernel supports the sizes */
  return put_number(w, assay_output_count(l->chosen), 4), outcome;
}

static assay_outcome get(loaded* l, reader* r, writer* w) {
  static const int kinds[] = {0, 2, 3, 4, 5, 1};
  assay_value v;
  if (assay_output(l->chosen, number(r, 4), &v) != ASSAY_OK) return refuse(ASSAY_MALFORMED, "there is no such output");
  put_number(w, (uint64_t)kinds[v.kind], 1);
  if (v.kind == ASSAY_INTEGER || v.kind == ASSAY_REAL) put(w, &v.as, 8);
  if (v.kind == ASSAY_BOOLEAN) put_number(w, v.as.boolean, 1);
  if (v.kind == ASSAY_STRING) put_bytes(w, v.as.string.text, v.as.string.length);
  if (v.kind != ASSAY_TENSOR) return ASSAY_OK;
  const assay_tensor* t = &v.as.tensor;
  size_t size = width_of(t->dtype);
  put_number(w, (uint64_t)t->dtype, 1), put_number(w, t->rank, 1);
  for (size_t d = 0; d < t->rank; ++d) size *= (size_t)t->sizes[d], put_number(w, (uint64_t)t->sizes[d], 8);
  return put(w, t->dim_order, t->rank), put_bytes(w, t->data, size), ASSAY_OK;
}

static assay_outcome outcome_of(int kind, reader* r, writer* w) {
  if (kind == HELLO) return put_introduction(w, "optimized core in C", 0), ASSAY_OK;
  if (kind == CAPS) return put_number(w, 5, 4), put_text(w, "dim_orders"), put_text(w, "instances"), put_text(w, "programs"), put_text(w, "ping"), put_text(w, "quit"), put_number(w, 0, 4), ASSAY_OK;
  for (size_t i = 0; kind == RESET && i < most_programs; ++i) end(&programs[i]);
  if (kind == LOAD || kind == RESET) return kind == LOAD ? load(r, w) : ASSAY_OK;
  if (kind < METHOD || kind > UNLOAD) return refuse(ASSAY_UNSUPPORTED, "there is no such request");
  const size_t handle = number(r, 4);
  if (handle >= most_programs || !programs[handle].program) return refuse(ASSAY_MALFORMED, "there is no such program");
  loaded* l = &programs[handle];
  if (kind == METHOD || kind == UNLOAD) return kind == METHOD ? choose(l, bytes(r)) : (end(l), ASSAY_OK);
  if (!l->chosen) return refuse(ASSAY_MALFORMED, "there is no method");
  return kind == SET_INPUT ? set(l, r) : kind == EXECUTE ? run(l, r, w) : get(l, r, w);
}

static reply answer(int kind, reader* request, writer* data) {
  memset(&fault, 0, sizeof fault);
  if (setjmp(no_memory)) return (reply){EXHAUSTED, "limits.memory", "there is no memory left"};
  const assay_outcome outcome = outcome_of(kind, request, data); /* statuses are outcomes */
  return (reply){(int)outcome, fault.rule, fault.message};
}

int main(void) { return serve(answer); }
