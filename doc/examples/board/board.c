/* Starts a program on the Cortex-M55 of the board MPS3 with the image AN547 (mps3-an547 in qemu-system-arm). Standard
 * input and output of the program are the first UART. Its standard error becomes log frames of the wire protocol
 * there. When the program ends or faults, the board restarts; qemu with -no-reboot ends. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Registers, named by their effect: see the manuals of Armv8-M and of the CMSDK. */
typedef volatile uint32_t reg;
static struct uart {
  reg data, state, control, interrupts, divisor;
}* const uart = (struct uart*)0x59303000;
enum { is_full = 1, has_byte = 2, sends_and_receives = 3, interrupts_by_byte = 8, of_received = 2, number_of_received = 33 };
static struct systick {
  reg control, reload, value;
}* const systick = (struct systick*)0xE000E010;
enum { interrupts_of_clock = 7, has_come_round = 1 << 16, hertz = 32000000 };
static struct mpu {
  reg control, number, base, limit, others[6], attributes;
}* const mpu = (struct mpu*)0xE000ED94;
static reg *const interrupt_enable = (reg*)0xE000E104, *const interrupt_forget = (reg*)0xE000E284; /* interrupts 32 to 63 */
static reg *const counter_control = (reg*)0x58100000, *const counter = (reg*)0x48101000; /* of the system: 64 bits, TICKS_PER_SECOND */
static reg *const clock_forget = (reg*)0xE000ED04, *const restart = (reg*)0xE000ED0C, *const stops = (reg*)0xE000ED14;
static reg *const reasons = (reg*)0xE000ED28, *const coprocessors = (reg*)0xE000ED88;

extern char code_end[], stack_limit[], stack_top[], data_stored[], data_begin[], data_end[], bss_begin[], bss_end[], heap_begin[], heap_end[];
int main(void);

/* The clock of wire.h. The high half is read again, because a carry may come between the halves. */
uint64_t now(void) {
  for (;;) {
    const uint32_t high = counter[1], low = counter[0];
    if (high == counter[1]) return (uint64_t)high << 32 | low;
  }
}

/* -- system calls of the C library ---------------------------------------------------------------------------------- */

static int amid; /* inside a frame; a pause of a second between its bytes ends the input */

int _read(int file, char* to, int size) {
  (void)file;
  for (int i = 0; i < size; ++i) {
    systick->value = 0;
    for (int quarters = 0; !(uart->state & has_byte); quarters += (systick->control & has_come_round) != 0) {
      if (amid && quarters == 4) return 0;
      __asm volatile("wfi");
      uart->interrupts = of_received, *interrupt_forget = 1 << (number_of_received - 32), *clock_forget = 1 << 25;
    }
    to[i] = (char)uart->data, amid = 1;
  }
  return size;
}

static void send(const void* bytes, int size) {
  for (const char* at = bytes; size > 0; --size) {
    while (uart->state & is_full) {}
    uart->data = (uint8_t)*at++;
  }
}
int _write(int file, const char* from, int size) {
  const uint32_t header[] = {0x79617361 /* asay */, 127 << 8 | 1, (uint32_t)size, 0};
  if (file == 2) send(header, sizeof header);
  amid = 0;
  return send(from, size), size;
}

void* _sbrk(ptrdiff_t size) {
  static char* end = heap_begin;
  return size <= heap_end - end ? (end += size) - size : (void*)-1;
}
void _exit(int code) {
  (void)code;
  for (*restart = 0x05FA0004;;) {}
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); } /* newlib has none */
int _kill(int process, int signal) { (void)process, _exit(signal); }
int _getpid(void) { return 1; }
int _isatty(int file) { return (void)file, 0; }
int _close(int file) { return (void)file, -1; }
int _lseek(int file, int offset, int whence) { return (void)file, (void)offset, (void)whence, -1; }
int _fstat(int file, struct stat* s) { return (void)file, s->st_mode = S_IFCHR, 0; }

/* -- from reset to reset ------------------------------------------------------------------------------------------- */

static void hexadecimal(char* to, uint32_t n) {
  for (int i = 8; i-- > 0; n >>= 4) to[i] = "0123456789abcdef"[n & 15];
}

/* In the stack frame that the processor pushed, word 5 is the link register, word 6 the program counter. */
__attribute__((used)) static void tell(const uint32_t* pushed) {
  static char line[] = "stopped at ........, called from ........, CFSR ........";
  hexadecimal(line + 11, pushed[6]), hexadecimal(line + 33, pushed[5]), hexadecimal(line + 48, *reasons);
  _write(2, line, sizeof line - 1);
  _exit(1);
}
__attribute__((naked)) static void stopped(void) { /* a stack overflow may be the reason: use the whole stack again */
  __asm volatile("mrs r0, msp\n ldr r1, =stack_top\n msr msp, r1\n b tell");
}

__attribute__((noreturn)) static void start(void) {
  __asm volatile("cpsid i\n msr msplim, %0" ::"r"(stack_limit)); /* interrupts wake the processor but call no handler */
  *coprocessors |= 15 << 20;                                     /* floating point and vectors */
  *stops |= 1 << 4;                                              /* also fault at integer divisions by zero */
  mpu->attributes = 0xAA, mpu->base = 0 | 3 << 1, mpu->limit = ((uint32_t)code_end - 32) | 1, mpu->control = 5; /* also fault at writes to code */
  __asm volatile("dsb\n isb");
  memcpy(data_begin, data_stored, (size_t)(data_end - data_begin)), memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  *counter_control = 1;
  uart->divisor = hertz / 115200, uart->control = sends_and_receives | interrupts_by_byte;
  *interrupt_enable = 1 << (number_of_received - 32), systick->reload = hertz / 4, systick->control = interrupts_of_clock;
  setvbuf(stdin, NULL, _IONBF, 0);
  const int code = main();
  fflush(stdout), _exit(code);
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) static const handler vectors[16] = {(handler)stack_top, start, stopped, stopped, stopped, stopped, stopped, stopped};
