/* A kernel library behind the runtime protocol, in C: assay kernels -- ./library
 * It is linked with what exports assay_kernel_library_v1. What a call needs stands in memory of its own until the next one. */
#include <kernel_library.h>
#include <setjmp.h>

#include "wire.h"

enum { most_rank = 16, most_kept = 1024 };

typedef struct shape {
  int64_t sizes[most_rank], strides[most_rank];
  uint8_t dim_order[most_rank];
} shape;

static void* kept[most_kept]; /* of the present call */
static size_t kept_count;
static uint8_t fill;
static assay_kernel_value* values;
static size_t value_count, out_count; /* outs are the last values */
static jmp_buf ended;                 /* a request that cannot be done */
static reply why;

static void give_up(int status, const char* rule, const char* message) {
  why = (reply){status, rule, message};
  longjmp(ended, 1);
}

/* Filled memory at a multiple of the alignment, a power of two; null: there is none. */
static void* keep(size_t size, size_t alignment) {
  if (alignment < 16) alignment = 16;
  if (kept_count == most_kept || size > most_bytes || alignment > most_bytes) return NULL;
  void* memory = aligned_alloc(alignment, (size / alignment + 1) * alignment);
  return memory ? memset(kept[kept_count++] = memory, fill, size) : NULL;
}
static void* need(size_t count, size_t size) {
  void* memory = count > most_bytes ? NULL : keep(count * size, 16);
  if (!memory) give_up(EXHAUSTED, "limits.memory", "there is no memory left");
  return memory;
}
static void forget(void) {
  while (kept_count) free(kept[--kept_count]);
}

/* -- the host of a kernel ----------------------------------------------------------------------------------------- */

static size_t bytes_of(const assay_kernel_tensor* t) {
  size_t size = width_of(t->dtype);
  for (uint32_t d = 0; d < t->rank; ++d) size *= (size_t)t->sizes[d];
  return size;
}

static void lay_out(assay_kernel_tensor* t, shape* s) {
  int64_t stride = 1;
  for (uint32_t d = t->rank; d-- > 0; stride *= s->sizes[s->dim_order[d]] > 0 ? s->sizes[s->dim_order[d]] : 1) s->strides[s->dim_order[d]] = stride;
  t->sizes = s->sizes, t->strides = s->strides, t->dim_order = s->dim_order;
}

static int is_out(const assay_kernel_tensor* t) {
  for (const assay_kernel_value* v = values + value_count - out_count; v < values + value_count; ++v) {
    if (v->kind == ASSAY_KERNEL_TENSOR && &v->as.tensor == t) return 1;
    for (size_t i = 0; v->kind == ASSAY_KERNEL_TENSORS && i < v->as.tensors.count; ++i)
      if (&v->as.tensors.items[i].as.tensor == t) return 1;
  }
  return 0;
}

static int resize(void* context, assay_kernel_tensor* out, uint32_t rank, const int64_t* sizes) {
  shape s;
  uint64_t left = out->capacity / width_of(out->dtype);
  int is_empty = 0;
  (void)context;
  if (!is_out(out) || rank > most_rank) return 0;
  for (uint32_t d = 0; d < rank; ++d) {
    if (sizes[d] < 0) return 0;
    is_empty |= sizes[d] == 0, s.sizes[d] = sizes[d], s.dim_order[d] = (uint8_t)(rank == out->rank ? out->dim_order[d] : d);
  }
  for (uint32_t d = 0; d < rank && !is_empty; left /= (uint64_t)sizes[d++])
    if ((uint64_t)sizes[d] > left) return 0;
  shape* kept_shape = keep(sizeof s, 16);
  if (!kept_shape) return 0;
  *kept_shape = s, out->rank = rank;
  return lay_out(out, kept_shape), 1;
}

static void* allocate(void* context, size_t size, size_t alignment) {
  (void)context;
  return alignment & (alignment - 1) || !alignment ? NULL : keep(size, alignment);
}
static void say(void* context, const char* text) { (void)context, fprintf(stderr, "%s\n", text); }
static uint64_t ticks(void* context) { return (void)context, 0; }

static const assay_kernel_host host = {NULL, resize, allocate, say, ticks, 1};

/* -- values ------------------------------------------------------------------------------------------------------- */

/* The items of a list, aligned, and a zero behind them. */
static void* items(reader* r, size_t* count, size_t size) {
  *count = number(r, 4);
  const wire_bytes from = take(r, *count > most_bytes ? SIZE_MAX : *count * size);
  char* copy = need(from.size + 1, 1);
  return copy[from.size] = 0, memcpy(copy, from.data, from.size);
}

static void read_tensor(reader* r, assay_kernel_tensor* t) {
  shape* s = need(1, sizeof *s);
  t->dtype = (int32_t)number(r, 1), t->rank = (uint32_t)number(r, 1);
  if (t->rank > most_rank || !width_of(t->dtype)) give_up(MALFORMED, "protocol.body", "a tensor has no such rank or dtype");
  for (uint32_t d = 0; d < t->rank; ++d) s->sizes[d] = (int64_t)number(r, 8);
  for (uint32_t d = 0; d < t->rank; ++d) s->dim_order[d] = (uint8_t)(number(r, 1) % most_rank);
  t->data = items(r, &t->capacity, 1);
  lay_out(t, s);
}

static void read_value(reader* r, assay_kernel_value* v, int is_out) {
  v->kind = (uint32_t)number(r, 1);
  if (is_out && v->kind == ASSAY_KERNEL_NONE) { /* a number, which the kernel gives its dtype */
    v->kind = ASSAY_KERNEL_TENSOR, v->as.tensor = (assay_kernel_tensor){.dtype = 4, .data = need(8, 1), .capacity = 8};
    return lay_out(&v->as.tensor, need(1, sizeof(shape)));
  }
  if (v->kind == ASSAY_KERNEL_TENSOR) read_tensor(r, &v->as.tensor);
  if (v->kind == ASSAY_KERNEL_INT) v->as.integer = (int64_t)number(r, 8);
  if (v->kind == ASSAY_KERNEL_DOUBLE) memcpy(&v->as.real, take(r, 8).data, r->is_short ? 0 : 8);
  if (v->kind == ASSAY_KERNEL_BOOL) v->as.boolean = (uint8_t)number(r, 1);
  if (v->kind == ASSAY_KERNEL_STRING) v->as.string.text = items(r, &v->as.string.length, 1);
  if (v->kind == ASSAY_KERNEL_INTS) v->as.integers.items = items(r, &v->as.integers.count, 8);
  if (v->kind == ASSAY_KERNEL_DOUBLES) v->as.reals.items = items(r, &v->as.reals.count, 8);
  if (v->kind == ASSAY_KERNEL_BOOLS) v->as.booleans.items = items(r, &v->as.booleans.count, 1);
  if (v->kind != ASSAY_KERNEL_TENSORS) return;
  v->as.tensors.count = number(r, 4);
  v->as.tensors.items = need(v->as.tensors.count, sizeof *v);
  for (size_t i = 0; i < v->as.tensors.count && !r->is_short; ++i) read_value(r, &v->as.tensors.items[i], 0);
}

static uint32_t put_value(writer* w, const assay_kernel_value* v) {
  uint32_t count = 0;
  for (size_t i = 0; v->kind == ASSAY_KERNEL_TENSORS && i < v->as.tensors.count; ++i) count += put_value(w, &v->as.tensors.items[i]);
  if (v->kind != ASSAY_KERNEL_TENSOR) return count;
  const assay_kernel_tensor* t = &v->as.tensor;
  put_number(w, (uint64_t)t->dtype, 1), put_number(w, t->rank, 1);
  put(w, t->sizes, 8 * t->rank), put(w, t->dim_order, t->rank);
  return put_bytes(w, t->data, bytes_of(t)), 1;
}

/* -- requests ----------------------------------------------------------------------------------------------------- */

static reply call(reader* r, writer* w) {
  const assay_kernel_library* library = assay_kernel_library_v1();
  const wire_bytes op = bytes(r);
  writer outs = {0};
  fill = (uint8_t)number(r, 1), out_count = number(r, 4), value_count = number(r, 4);
  char* name = need(op.size + 1, 1);
  memcpy(name, op.data, op.size), name[op.size] = 0;
  if (!library->has(library->context, name)) return (reply){UNSUPPORTED, "protocol.call", "there is no such kernel"};
  if (out_count > value_count) return (reply){MALFORMED, "protocol.call", "there are more outs than values"};
  values = need(value_count, sizeof *values);
  for (size_t i = 0; i < value_count && !r->is_short; ++i) read_value(r, &values[i], i >= value_count - out_count);
  if (r->is_short) return why;
  if (library->fill) library->fill(library->context, fill);
  const assay_kernel_reply said = library->call(library->context, name, &host, values, value_count);
  uint32_t count = 0;
  for (size_t i = value_count - out_count; i < value_count && said.outcome == ASSAY_KERNEL_OK; ++i) count += put_value(&outs, &values[i]);
  put_number(w, count, 4), put(w, outs.data, outs.size), free(outs.data);
  return (reply){said.outcome, "", said.message ? said.message : ""};
}

static reply answer(int kind, reader* r, writer* w) {
  const assay_kernel_library* library = assay_kernel_library_v1();
  forget();
  if (setjmp(ended)) return why;
  if (kind == HELLO) {
    put_text(w, library->name), put_number(w, 1, 8), put_number(w, most_bytes, 4), put_number(w, library->fact_count, 4);
    for (size_t i = 0; i < library->fact_count; ++i) put_text(w, library->facts[i].name), put_text(w, library->facts[i].text);
  }
  if (kind == CAPS) {
    uint32_t count = 0;
    while (library->kernel(library->context, count)) ++count;
    put_number(w, 2, 4), put_text(w, "ping"), put_text(w, "quit"), put_number(w, count, 4);
    for (size_t i = 0; i < count; ++i) put_text(w, library->kernel(library->context, i));
  }
  if (kind == RESET && library->reset) library->reset(library->context);
  if (kind == KERNEL) return call(r, w);
  return kind <= KERNEL ? (reply){OK, "", ""} : (reply){UNSUPPORTED, "protocol.request", "there is no such request"};
}

int main(void) { return serve(answer); }
