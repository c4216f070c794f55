#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs ExecuTorch programs (.pte) in memory that the client owns: no heap, no exceptions. A client asks how much memory
 * something needs, gives it, at a multiple of 64, and keeps it as long as what lies in it is used. Files begin at a
 * multiple of 16 in memory and do not change. What is refused comes back as an outcome other than ASSAY_OK, the fault
 * saying why. One thread at a time uses a method; different methods, and programs, are independent of each other but
 * for state that they share. */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_outcome { /* as spec/faults.yaml has them */
                             ASSAY_OK,
                             ASSAY_MALFORMED,
                             ASSAY_INVALID,
                             ASSAY_UNSUPPORTED,
                             ASSAY_FAULT,
                             ASSAY_EXHAUSTED
} assay_outcome;

typedef struct assay_fault {
  char rule[64];   /* the id of the broken rule: of spec/format/rules.yaml, an operator's, or an option that is none */
  char place[256]; /* where in the program; may be empty */
  char message[512]; /* one sentence; cut where it does not fit */
} assay_fault;

typedef struct assay_bytes {
  const void* data;
  size_t size;
} assay_bytes;

typedef struct assay_memory {
  void* data;
  size_t size;
} assay_memory;

/* -- programs ----------------------------------------------------------------------------------------------------- */

typedef struct assay_program assay_program;

typedef struct assay_program_sizes {
  size_t program;   /* stays as long as the program */
  size_t workspace; /* of the checks; not needed any more afterwards */
} assay_program_sizes;

/* A program with the data files (.ptd) that it is used with. Opening checks every rule of the files. */
enum { ASSAY_MOST_DATA_FILES = 64 };
assay_outcome assay_program_size(assay_bytes file, const assay_bytes* data, size_t data_count,
                                 assay_program_sizes* sizes, assay_fault* fault);
assay_outcome assay_program_open(assay_bytes file, const assay_bytes* data, size_t data_count, assay_memory program,
                                 assay_memory workspace, assay_program** opened, assay_fault* fault);

size_t assay_method_count(const assay_program* program);
/* The name of method i, which is not terminated; null: there are fewer. */
const char* assay_method_name(const assay_program* program, size_t i, size_t* length);

/* -- methods ------------------------------------------------------------------------------------------------------ */

typedef struct assay_method assay_method;
typedef struct assay_fallback assay_fallback;
typedef struct assay_backend assay_backend;

/* What kernels made of a method's constants, kept from an earlier time: as assay_packed_open gives it. */
typedef struct assay_packed {
  assay_bytes constants;
  uint64_t layout;
} assay_packed;

typedef struct assay_options {
  const assay_fallback* fallback; /* does calls for which there is no kernel; may be null */
  const assay_backend* backends;  /* do what is delegated */
  size_t backend_count;
  int64_t instructions; /* of one execution, at most; 0: ten million */
  /* Runs task(context, i) for each i < tasks, on `threads` threads; null: one after another. Results are the same. */
  void (*run)(void* pool, void (*task)(void* context, size_t i), void* context, size_t tasks);
  void* pool;
  size_t threads;
  size_t least_share; /* elements that are worth a task; 0: 16384 */
  /* "sse4", "avx2", "avx512", "neon" or "portable"; null: the best of this machine. Sizes can be asked for any of the
   * build. */
  const char* instruction_set;
  /* Convolutions may be made of other sums, within wider bounds for finite numbers, with anything for others: the
   * relaxed arithmetic of spec/numerics.md. */
  bool relaxed;
  bool as_written; /* one step an instruction: nothing is merged, left out or laid out otherwise */
  /* State is shared by its place in the plan, too, not by name alone: all methods share the planned memories into which
   * one of them plans state. Of all methods alike. */
  bool share_arenas;
  const assay_packed* packed; /* instead of making them anew, in prepared memory; may be null */
} assay_options;

typedef struct assay_method_sizes {
  size_t workspace; /* while it is made */
  size_t prepared;  /* values, steps and packed constants: stays as long as the method */
  size_t arena;     /* what it computes, and its state: stays likewise */
  size_t shared;    /* state of all methods of the program: one for all, zeros before the first is made; may be 0 */
  size_t scratch;   /* of one execution; methods that do not run at once may share it */
} assay_method_sizes;

typedef struct assay_method_memories {
  assay_memory workspace, prepared, arena, shared, scratch;
} assay_method_memories;

/* The workspace comes first, since the others are found in it. */
assay_outcome assay_method_workspace_size(const assay_program* program, const char* name, size_t* bytes,
                                          assay_fault* fault);
assay_outcome assay_method_size(const assay_program* program, const char* name, const assay_options* options,
                                assay_memory workspace, assay_method_sizes* sizes, assay_fault* fault);
assay_outcome assay_method_make(const assay_program* program, const char* name, const assay_options* options,
                                const assay_method_memories* memories, assay_method** made, assay_fault* fault);
/* A file of the method's packed constants, for the next process: this many bytes, and how they are written. */
size_t assay_packed_size(const assay_method* method);
assay_outcome assay_packed_save(const assay_program* program, const assay_method* method, assay_memory file,
                                assay_fault* fault);
/* Of a file that begins at a multiple of 64 in memory and stays there as long as methods that use it; it is read only.
 * Rules P1 to P5 are asked of all its bytes; P6, whether it is of this method, instruction set and build, when a size
 * is asked for or the method made. */
assay_outcome assay_packed_open(const assay_program* program, assay_bytes file, assay_packed* opened,
                                assay_fault* fault);
/* Before the memory of a method that delegates is given up. */
void assay_method_end(assay_method* method);

/* -- values ------------------------------------------------------------------------------------------------------- */

typedef enum assay_kind { ASSAY_NONE, ASSAY_INTEGER, ASSAY_REAL, ASSAY_BOOLEAN, ASSAY_STRING, ASSAY_TENSOR } assay_kind;

/* Elements lie in dim_order, outermost first, without gaps. */
typedef struct assay_tensor {
  void* data;
  int dtype; /* the format's ScalarType */
  size_t rank;
  const int32_t* sizes;
  const uint8_t* dim_order;
} assay_tensor;

typedef struct assay_value {
  assay_kind kind;
  union {
    int64_t integer;
    double real;
    bool boolean;
    struct {
      const char* text;
      size_t length;
    } string;
    assay_tensor tensor;
  } as;
} assay_value;

size_t assay_input_count(const assay_method* method);
size_t assay_output_count(const assay_method* method);
/* As the program declares input i, or as it was set last; output i of the last execution, whose elements stay until the
 * next one. Outcome ASSAY_INVALID: there are fewer. */
assay_outcome assay_input(const assay_method* method, size_t i, assay_value* value);
assay_outcome assay_output(const assay_method* method, size_t i, assay_value* value);

/* Copies a value of the kind, dtype, dim order and sizes that the program declares. */
assay_outcome assay_set_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault);
/* Likewise, but uses a tensor's elements where they lie, until the input is set again: the memory stays, and is not
 * written to amid an execution. R5: the program writes to this input, or takes its bytes for another value, too, or a
 * kernel reads bytes behind it. */
assay_outcome assay_alias_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault);
/* Memory for an output that the plan gives none. */
assay_outcome assay_set_output(assay_method* method, size_t i, assay_memory memory, assay_fault* fault);

/* -- executions --------------------------------------------------------------------------------------------------- */

assay_outcome assay_execute(assay_method* method, assay_fault* fault);
/* One step of an execution, which it begins where none is running. */
assay_outcome assay_step(assay_method* method, assay_fault* fault);
bool assay_running(const assay_method* method);
void assay_reset(assay_method* method); /* gives up an execution amid its steps; state stays */

/* What a step is: the instruction, counted through all chains, the operator ("" for what is none), the kernel that does
 * it, "reference" where that is the fallback, and what it does besides, of other instructions. */
typedef struct assay_step_info {
  uint32_t instruction;
  const char* op;
  size_t op_length;
  const char* kernel;
  bool norm, residual;    /* a batch norm of constants; the sum with something else */
  bool safe;              /* rows of a softmax that are nothing but -infinity become zeros */
  bool unread;            /* indices of a pool, which nobody reads, are left out */
  const char* activation; /* "" for none */
  bool attention;         /* scores, softmax and product with the values, without the scores in memory */
  bool views;             /* operands are read, or the result is written, without copies that change strides */
} assay_step_info;
/* The rewrites that changed the method's calls, by name; null: there are fewer. */
const char* assay_rewrite_at(const assay_method* method, size_t i);
size_t assay_step_count(const assay_method* method);
assay_step_info assay_step_at(const assay_method* method, size_t i);
/* The dtypes of its tensors and how they lie, which a selective build must have a kernel for, as text; cut where it
 * does not fit in `size`, more than 0. */
void assay_step_operands(const assay_method* method, size_t i, char* text, size_t size);
/* The step that does an instruction; SIZE_MAX where none has to. */
size_t assay_instruction_count(const assay_method* method);
size_t assay_step_of(const assay_method* method, size_t instruction);
size_t assay_next_step(const assay_method* method); /* of a running execution */

/* A method whose execution tells `done` of each step, amid which nothing of the method is changed (R6). Null: nobody.
 */
typedef bool (*assay_listener)(void* context, const assay_method* method, size_t step); /* false: the execution ends */
void assay_listen(assay_method* method, assay_listener done, void* context);

#ifdef __cplusplus
}
#endif
#endif
