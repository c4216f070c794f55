/* The wire of the runtime protocol in C: bodies are read and written, frames answered. spec/runtime_protocol.md says what
 * they are. Numbers are little endian there, as those of the machine must be. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELLO = 1, CAPS, RESET, KERNEL, LOAD, METHOD, SET_INPUT, EXECUTE, GET_OUTPUT, UNLOAD, PING, QUIT, STATE };
enum { OK, MALFORMED, INVALID, UNSUPPORTED, FAULT, EXHAUSTED, INTERNAL };
enum { most_bytes = 1 << 28 };

typedef struct wire_bytes {
  const void* data;
  size_t size;
} wire_bytes;

typedef struct reader {
  const char* at;
  size_t left;
  int is_short; /* more was asked for than there was */
} reader;

typedef struct writer {
  char* data;
  size_t size, capacity;
} writer;

static wire_bytes take(reader* r, size_t size) {
  if (size > r->left) r->is_short = 1, size = 0;
  const wire_bytes taken = {r->at, size};
  r->at += taken.size, r->left -= taken.size;
  return taken;
}
static uint64_t number(reader* r, size_t size) {
  uint64_t n = 0;
  const wire_bytes from = take(r, size);
  return memcpy(&n, from.data, from.size), n;
}
static wire_bytes bytes(reader* r) { return take(r, number(r, 4)); }

static void put(writer* w, const void* data, size_t size) {
  if (w->size + size > w->capacity) w->data = realloc(w->data, w->capacity = 2 * (w->size + size));
  if (size) memcpy(w->data + w->size, data, size);
  w->size += size;
}
static void put_number(writer* w, uint64_t n, size_t size) { put(w, &n, size); }
static void put_bytes(writer* w, const void* data, size_t size) { put_number(w, size, 4), put(w, data, size); }
static void put_text(writer* w, const char* text) { put_bytes(w, text, strlen(text)); }

/* Answers a request: its status, with a rule and a message where it is not OK. */
typedef struct reply {
  int status;
  const char *rule, *message;
} reply;

/* Answers requests by `answer` until nobody asks any more; not 0: what came was no frame. PING and QUIT are answered here. */
static int serve(reply (*answer)(int kind, reader* request, writer* data)) {
  unsigned char header[16]; /* mark, version, kind, number, length, checksum */
  uint32_t length;
  while (fread(header, 1, 16, stdin) == 16) {
    memcpy(&length, header + 8, 4);
    if (memcmp(header, "asay\1", 5) || length > most_bytes) return fputs("what came is no frame of version 1\n", stderr), 1;
    char* body = malloc(length + 1);
    if (!body || fread(body, 1, length, stdin) != length) return 0;
    reader request = {body, length, 0};
    writer data = {0}, all = {0};
    const int kind = header[5];
    reply said = {OK, "", ""};
    if (kind == PING)
      put(&data, body, length);
    else if (kind != QUIT)
      said = answer(kind, &request, &data);
    if (request.is_short) said = (reply){MALFORMED, "protocol.body", "a body ends too early"};
    put_number(&all, (uint64_t)said.status, 1), put_number(&all, 0, 8), put_number(&all, 0, 8); /* no ticks, no peak */
    put_text(&all, said.rule), put_text(&all, said.message);
    if (said.status == OK) put(&all, data.data, data.size);
    length = (uint32_t)all.size, header[5] |= 0x80;
    memcpy(header + 8, &length, 4), memset(header + 12, 0, 4); /* no checksum */
    fwrite(header, 1, 16, stdout), fwrite(all.data, 1, all.size, stdout), fflush(stdout);
    free(body), free(data.data), free(all.data);
    if (kind == QUIT) return 0;
  }
  return 0;
}
