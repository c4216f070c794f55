/* A server of the wire protocol in C: reads and writes bodies, answers frames. spec/runtime_protocol.md defines them. The
 * machine must be little endian, as numbers on the wire are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* begin generated c from spec/protocol.yaml, by tools/specgen/blocks.py */
enum { HELLO = 1, CAPS = 2, RESET = 3, KERNEL = 4, LOAD = 5, METHOD = 6, SET_INPUT = 7, EXECUTE = 8, GET_OUTPUT = 9, UNLOAD = 10, PING = 11, QUIT = 12, STATE = 13 };
enum { OK = 0, MALFORMED = 1, INVALID = 2, UNSUPPORTED = 3, FAULT = 4, EXHAUSTED = 5, INTERNAL = 6 };
/* end generated c */
#ifndef MOST_BYTES
#define MOST_BYTES (1 << 28)
#endif
enum { most_bytes = MOST_BYTES }; /* of the longest body that is read */

/* The clock. A board that defines TICKS_PER_SECOND also defines now(), or defines 0 if it has no clock. */
#ifdef TICKS_PER_SECOND
uint64_t now(void);
#else
#include <time.h>
enum { TICKS_PER_SECOND = 1000000000 };
static uint64_t now(void) {
  struct timespec t;
  return timespec_get(&t, TIME_UTC), (uint64_t)t.tv_sec * TICKS_PER_SECOND + (uint64_t)t.tv_nsec;
}
#endif
#ifndef CLOCK
#define CLOCK "" /* what the ticks count if they do not measure time */
#endif

/* The bytes that the server uses, if it counts them. */
static size_t memory_in_use, most_memory_in_use;
static inline void use_memory(size_t size) {
  if ((memory_in_use += size) > most_memory_in_use) most_memory_in_use = memory_in_use;
}

typedef struct wire_bytes {
  const void* data;
  size_t size;
} wire_bytes;

typedef struct reader {
  const char* at;
  size_t left;
  int is_short; /* a read went past the end of the body */
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
static inline wire_bytes bytes(reader* r) { return take(r, number(r, 4)); }

static void put(writer* w, const void* data, size_t size) {
  if (w->size + size > w->capacity) w->data = realloc(w->data, w->capacity = 2 * (w->size + size));
  if (!w->data && w->size + size) abort();
  if (size) memcpy(w->data + w->size, data, size);
  w->size += size;
}
static void put_number(writer* w, uint64_t n, size_t size) { put(w, &n, size); }
static void put_bytes(writer* w, const void* data, size_t size) { put_number(w, size, 4), put(w, data, size); }
static void put_text(writer* w, const char* text) { put_bytes(w, text, strlen(text)); }

/* The reply to HELLO, up to the server's own facts. */
static void put_introduction(writer* w, const char* name, size_t fact_count) {
  put_text(w, name), put_number(w, TICKS_PER_SECOND, 8), put_number(w, most_bytes, 4);
  put_number(w, fact_count + (*CLOCK != 0), 4);
  if (*CLOCK) put_text(w, "clock"), put_text(w, CLOCK);
}

/* The bytes of an element of a dtype, by its number in the format; 0 for an unknown dtype. */
static size_t width_of(int dtype) {
  /* begin generated widths from spec/dtypes.yaml, by tools/specgen/blocks.py */
  static const unsigned char widths[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 0, 0, 0, 0, 2, 1, 1, 1, 1, 2, 4, 8};
  /* end generated widths */
  return dtype >= 0 && (size_t)dtype < sizeof widths ? widths[dtype] : 0;
}

/* -- frames ------------------------------------------------------------------------------------------------------- */

/* The CRC-32 of these bytes appended to bytes whose CRC-32 is `sum`. */
static uint32_t checksum(uint32_t sum, const void* data, size_t size) {
  static uint32_t of_byte[256];
  for (uint32_t i = 0; !of_byte[255] && i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    of_byte[i] = crc;
  }
  sum = ~sum;
  for (const unsigned char* at = data; size > 0; --size) sum = sum >> 8 ^ of_byte[(sum ^ *at++) & 255];
  return ~sum;
}

typedef struct frame_header {
  char mark[4];
  uint8_t version, kind;
  uint16_t number;
  uint32_t length, checksum;
} frame_header;

static void send_frame(int kind, int number, const void* body, size_t size) {
  frame_header h = {"asay", 1, (uint8_t)kind, (uint16_t)number, (uint32_t)size, 0};
  h.checksum = checksum(checksum(0, &h, 12), body, size);
  fwrite(&h, 1, sizeof h, stdout), fwrite(body, 1, size, stdout), fflush(stdout);
}

/* The answer to a request: its status, with a rule and a message unless it is OK. */
typedef struct reply {
  int status;
  const char *rule, *message;
} reply;

/* Answers requests by `answer` until the input ends, or QUIT. Returns 0, or 1 if the input is not a frame. Answers PING and QUIT itself. */
static int serve(reply (*answer)(int kind, reader* request, writer* data)) {
  frame_header h;
  while (fread(&h, 1, sizeof h, stdin) == sizeof h) {
    if (memcmp(&h, "asay\1", 5) || h.length > most_bytes) return fputs("the input is not a frame of version 1\n", stderr), 1;
    char* body = malloc(h.length + 1);
    if (!body || fread(body, 1, h.length, stdin) != h.length) return 0;
    if (h.checksum && h.checksum != checksum(checksum(0, &h, 12), body, h.length)) return fputs("a checksum is wrong\n", stderr), 1;
    reader request = {body, h.length, 0};
    writer data = {0}, all = {0};
    reply said = {OK, "", ""};
    const uint64_t begin = now();
    if (h.kind == PING)
      put(&data, body, h.length);
    else if (h.kind != QUIT)
      said = answer(h.kind, &request, &data);
    if (request.is_short) said = (reply){MALFORMED, "protocol.body", "a body ends too early"};
    put_number(&all, (uint64_t)said.status, 1), put_number(&all, now() - begin, 8), put_number(&all, most_memory_in_use, 8);
    put_text(&all, said.rule), put_text(&all, said.message);
    if (said.status == OK) put(&all, data.data, data.size);
    send_frame(h.kind | 0x80, h.number, all.data, all.size);
    free(body), free(data.data), free(all.data);
    if (h.kind == QUIT) return 0;
  }
  return 0;
}
