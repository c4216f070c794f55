/* A server of the wire protocol for a kernel library, in C: assay kernels -- ./library
 * Link it with the library that exports assay_kernel_library_v1. Memory for a call is freed at the next request. */
#include <kernel_library.h>
#include <setjmp.h>

#include "wire.h"

enum { most_rank = 16, most_kept = 1024 };
typedef struct shape {
  int64_t sizes[most_rank], strides[most_rank];
  uint8_t dim_order[most_rank];
} shape;

static void* kept[most_kept]; /* memory of the current call */
static size_t kept_count;
static uint8_t fill;
static jmp_buf ended; /* ends a request that cannot be answered */
static reply why;

static void end(int status, const char* rule, const char* message) {
  why = (reply){status, rule, message};
  longjmp(ended, 1);
}

/* Returns memory that holds the fill byte, aligned to a power of two of at least 16, or null if there is none. */
static void* keep(size_t size, size_t alignment) {
  if (kept_count == most_kept || size > most_bytes || alignment > most_bytes) return NULL;
  void* memory = aligned_alloc(alignment, (size / alignment + 1) * alignment);
  return memory ? memset(kept[kept_count++] = memory, fill, size) : NULL;
}
static void* need(size_t count, size_t size) {
  void* memory = count <= most_bytes / size ? keep(count * size, 16) : NULL;
  if (!memory) end(EXHAUSTED, "limits.memory", "there is no memory left");
  return memory;
}

static void lay_out(assay_kernel_tensor* t, shape* s) {
  int64_t stride = 1;
  t->sizes = s->sizes, t->strides = s->strides, t->dim_order = s->dim_order;
  for (uint32_t i = t->rank; i-- > 0;) {
    const uint8_t d = s->dim_order[i];
    s->strides[d] = stride, stride *= s->sizes[d] > 0 ? s->sizes[d] : 1;
  }
}

/* -- what the host offers ----------------------------------------------------------------------------------------- */

static int resize(void* context, assay_kernel_tensor* out, uint32_t rank, const int64_t* sizes) {
  shape* s = rank <= most_rank ? keep(sizeof *s, 16) : NULL;
  uint64_t left = out->capacity / width_of(out->dtype); /* elements */
  for (uint32_t d = 0; s && d < rank; ++d) s->sizes[d] = sizes[d], s->dim_order[d] = rank == out->rank ? out->dim_order[d] : (uint8_t)d;
  for (uint32_t d = 0; d < rank; ++d) left = sizes[d] == 0 ? UINT64_MAX : left;
  for (uint32_t d = 0; s && d < rank; left /= sizes[d] > 0 ? (uint64_t)sizes[d] : 1, ++d)
    if (sizes[d] < 0 || (uint64_t)sizes[d] > left) s = NULL;
  if ((void)context, !s) return 0;
  return out->rank = rank, lay_out(out, s), 1;
}
static void* allocate(void* context, size_t size, size_t alignment) {
  if ((void)context, !alignment || alignment & (alignment - 1)) return NULL;
  return keep(size, alignment < 16 ? 16 : alignment);
}
static void say(void* context, const char* text) { (void)context, fprintf(stderr, "%s\n", text); }
static uint64_t ticks(void* context) { return (void)context, 0; }

static const assay_kernel_host host = {NULL, resize, allocate, say, ticks, 1};

/* -- values ------------------------------------------------------------------------------------------------------- */

/* The items of a list, aligned, with a zero byte after them. */
static void* items(reader* r, size_t* count, size_t size) {
  *count = number(r, 4);
  const wire_bytes from = take(r, *count > r->left / size ? SIZE_MAX : *count * size);
  char* copy = need(from.size + 1, 1);
  return copy[from.size] = 0, memcpy(copy, from.data, from.size);
}

static void read_tensor(reader* r, assay_kernel_tensor* t) {
  shape* s = need(1, sizeof *s);
  t->dtype = (int32_t)number(r, 1), t->rank = (uint32_t)number(r, 1);
  if (t->rank > most_rank || !width_of(t->dtype)) end(MALFORMED, "protocol.body", "a tensor has no such rank or dtype");
  for (uint32_t d = 0; d < t->rank; ++d) s->sizes[d] = (int64_t)number(r, 8);
  for (uint32_t d = 0; d < t->rank; ++d) s->dim_order[d] = (uint8_t)(number(r, 1) % most_rank);
  t->data = items(r, &t->capacity, 1), lay_out(t, s);
}

static void read_value(reader* r, assay_kernel_value* v, int is_out) {
  *v = (assay_kernel_value){.kind = (uint32_t)number(r, 1)};
  if (is_out && v->kind == ASSAY_KERNEL_NONE) { /* a number, whose dtype the kernel sets */
    v->kind = ASSAY_KERNEL_TENSOR, v->as.tensor = (assay_kernel_tensor){.dtype = 4, .data = need(8, 1), .capacity = 8};
    lay_out(&v->as.tensor, need(1, sizeof(shape)));
  } else if (v->kind == ASSAY_KERNEL_TENSOR) {
    read_tensor(r, &v->as.tensor);
  } else if (v->kind == ASSAY_KERNEL_TENSORS) {
    v->as.tensors.items = need(v->as.tensors.count = number(r, 4), sizeof *v);
    for (size_t i = 0; i < v->as.tensors.count; ++i) read_value(r, &v->as.tensors.items[i], 0);
  }
  if (v->kind == ASSAY_KERNEL_INT) v->as.integer = (int64_t)number(r, 8);
  if (v->kind == ASSAY_KERNEL_DOUBLE) memcpy(&v->as.real, &(uint64_t){number(r, 8)}, 8);
  if (v->kind == ASSAY_KERNEL_BOOL) v->as.boolean = (uint8_t)number(r, 1);
  if (v->kind == ASSAY_KERNEL_STRING) v->as.string.text = items(r, &v->as.string.length, 1);
  if (v->kind == ASSAY_KERNEL_INTS) v->as.integers.items = items(r, &v->as.integers.count, 8);
  if (v->kind == ASSAY_KERNEL_DOUBLES) v->as.reals.items = items(r, &v->as.reals.count, 8);
  if (v->kind == ASSAY_KERNEL_BOOLS) v->as.booleans.items = items(r, &v->as.booleans.count, 1);
}

static uint32_t put_tensors(writer* w, const assay_kernel_value* v) {
  uint32_t count = 0;
  for (size_t i = 0; v->kind == ASSAY_KERNEL_TENSORS && i < v->as.tensors.count; ++i) count += put_tensors(w, &v->as.tensors.items[i]);
  if (v->kind != ASSAY_KERNEL_TENSOR) return count;
  const assay_kernel_tensor* t = &v->as.tensor;
  size_t size = width_of(t->dtype);
  for (uint32_t d = 0; d < t->rank; ++d) size *= (size_t)t->sizes[d];
  put_number(w, (uint64_t)t->dtype, 1), put_number(w, t->rank, 1);
  return put(w, t->sizes, 8 * t->rank), put(w, t->dim_order, t->rank), put_bytes(w, t->data, size), 1;
}

/* -- requests ----------------------------------------------------------------------------------------------------- */

static reply call(const assay_kernel_library* l, reader* r, writer* w) {
  const char* op = items(r, &(size_t){0}, 1);
  fill = (uint8_t)number(r, 1);
  const size_t outs = number(r, 4), count = number(r, 4);
  assay_kernel_value* values = need(count, sizeof *values);
  for (size_t i = 0; i < count; ++i) read_value(r, &values[i], i + outs >= count);
  if (r->is_short || outs > count || !l->has(l->context, op)) return (reply){UNSUPPORTED, "protocol.call", "there is no such kernel"};
  if (l->fill) l->fill(l->context, fill);
  const assay_kernel_reply said = l->call(l->context, op, &host, values, count);
  uint32_t results = 0;
  put_number(w, 0, 4);
  for (size_t i = count - outs; i < count && said.outcome == ASSAY_KERNEL_OK; ++i) results += put_tensors(w, &values[i]);
  memcpy(w->data, &results, 4);
  return (reply){said.outcome, "", said.message ? said.message : ""};
}

static reply answer(int kind, reader* r, writer* w) {
  const assay_kernel_library* l = assay_kernel_library_v1();
  uint32_t count = 0;
  while (kept_count) free(kept[--kept_count]);
  if (setjmp(ended)) return why;
  if (kind == HELLO) put_introduction(w, l->name, l->fact_count);
  for (size_t i = 0; kind == HELLO && i < l->fact_count; ++i) put_text(w, l->facts[i].name), put_text(w, l->facts[i].text);
  while (l->kernel(l->context, count)) ++count;
  if (kind == CAPS) put_number(w, 2, 4), put_text(w, "ping"), put_text(w, "quit"), put_number(w, count, 4);
  for (size_t i = 0; kind == CAPS && i < count; ++i) put_text(w, l->kernel(l->context, i));
  if (kind == RESET && l->reset) l->reset(l->context);
  if (kind == KERNEL) return call(l, r, w);
  return kind <= KERNEL ? (reply){OK, "", ""} : (reply){UNSUPPORTED, "protocol.request", "there is no such request"};
}

int main(void) { return serve(answer); }
