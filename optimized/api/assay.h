#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs ExecuTorch programs (.pte) in memory that the client owns: no heap, no exceptions.
 *
 * A client asks how many bytes a program or a method needs and gives that memory, at a multiple of 64 (R8). The memory
 * must stay as long as the program or method is used. Files begin at a multiple of 16 in memory and must not change.
 * Where a size is 0, the pointer beside it may be null.
 *
 * A function that refuses a request returns an outcome other than ASSAY_OK, and the fault tells why. `fault` may be
 * null.
 *
 * One thread at a time may use a method. Different methods and programs are independent of each other, except for state
 * that methods share. */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_outcome { /* defined in spec/faults.yaml */
                             ASSAY_OK,
                             ASSAY_MALFORMED,
                             ASSAY_INVALID,
                             ASSAY_UNSUPPORTED,
                             ASSAY_FAULT,
                             ASSAY_EXHAUSTED
} assay_outcome;

typedef struct assay_fault {
  char rule[64];   /* the id of the broken rule: in spec/format/rules.yaml, of an operator, or the name of an option */
  char place[256]; /* the place in the program; may be empty */
  char message[512]; /* one sentence, cut if it does not fit */
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
  size_t program;   /* used as long as the program */
  size_t workspace; /* used only while the program is opened */
} assay_program_sizes;

/* Opens a program with its data files (.ptd). Every rule of the files is checked. */
enum { ASSAY_MOST_DATA_FILES = 64 };
assay_outcome assay_program_size(assay_bytes file, const assay_bytes* data, size_t data_count,
                                 assay_program_sizes* sizes, assay_fault* fault);
assay_outcome assay_program_open(assay_bytes file, const assay_bytes* data, size_t data_count, assay_memory program,
                                 assay_memory workspace, assay_program** opened, assay_fault* fault);

size_t assay_method_count(const assay_program* program);
/* The name of method i, without a terminating zero. Null: there are fewer methods. */
const char* assay_method_name(const assay_program* program, size_t i, size_t* length);

/* -- methods ------------------------------------------------------------------------------------------------------ */

typedef struct assay_method assay_method;
typedef struct assay_fallback assay_fallback;
typedef struct assay_backend assay_backend;

/* The packed constants of a method, which kernels made of its constants in an earlier run. assay_packed_open sets it.
 */
typedef struct assay_packed {
  assay_bytes constants;
  uint64_t layout;
} assay_packed;

typedef struct assay_options {
  const assay_fallback* fallback; /* does the calls that have no kernel; may be null */
  const assay_backend* backends;  /* execute what is delegated */
  size_t backend_count;
  int64_t instructions; /* limit of one execution; 0: ten million */
  /* Runs task(context, i) for each i < tasks, on `threads` threads. Null: the tasks run one after another. The results
   * are the same. */
  void (*run)(void* pool, void (*task)(void* context, size_t i), void* context, size_t tasks);
  void* pool;
  size_t threads;
  size_t least_share; /* least number of elements of a task; 0: 16384 */
  /* "sse4", "avx2", "avx512", "neon" or "portable". Null: the best one of this machine. Sizes can be asked for each
   * instruction set of the build. */
  const char* instruction_set;
  /* Allows relaxed arithmetic (spec/numerics.md): convolutions may use other sums. The bounds for finite numbers are
   * wider; infinities and NaN may give anything. */
  bool relaxed;
  bool as_written; /* one step for each instruction: nothing is merged, dropped or stored in another order */
  /* Methods also share state that has no name: a planned memory that holds state of one method is shared by all
   * methods. The option must be the same for all methods of a program. */
  bool share_arenas;
  const assay_packed* packed; /* used instead of packing constants in prepared memory; may be null */
} assay_options;

typedef struct assay_method_sizes {
  size_t workspace; /* used only while the method is made */
  size_t prepared;  /* values, steps and packed constants: used as long as the method */
  size_t arena;     /* what the method computes, and its state: used as long as the method */
  size_t shared;  /* state that the program's methods share: one memory for all, zeroed before the first is made; may be
                     0 */
  size_t scratch; /* used during an execution; methods that do not run at the same time may share it */
} assay_method_sizes;

typedef struct assay_method_memories {
  assay_memory workspace, prepared, arena, shared, scratch;
} assay_method_memories;

/* Ask for the workspace's size first: assay_method_size uses the workspace to count the other memories. */
assay_outcome assay_method_workspace_size(const assay_program* program, const char* name, size_t* bytes,
                                          assay_fault* fault);
assay_outcome assay_method_size(const assay_program* program, const char* name, const assay_options* options,
                                assay_memory workspace, assay_method_sizes* sizes, assay_fault* fault);
assay_outcome assay_method_make(const assay_program* program, const char* name, const assay_options* options,
                                const assay_method_memories* memories, assay_method** made, assay_fault* fault);
/* Writes the method's packed constants to a file for the next process. The file has assay_packed_size bytes. */
size_t assay_packed_size(const assay_method* method);
assay_outcome assay_packed_save(const assay_program* program, const assay_method* method, assay_memory file,
                                assay_fault* fault);
/* Opens such a file. It begins at a multiple of 64 in memory, must stay as long as methods use it, and is only read.
 * Rules P1 to P5 are checked on all of its bytes. P6, whether it belongs to this method, instruction set and build, is
 * checked when a size is asked for and when the method is made. */
assay_outcome assay_packed_open(const assay_program* program, assay_bytes file, assay_packed* opened,
                                assay_fault* fault);
/* Ends the delegates of a method. Call it before the memory of a method that delegates is given up. */
void assay_method_end(assay_method* method);

/* -- values ------------------------------------------------------------------------------------------------------- */

typedef enum assay_kind { ASSAY_NONE, ASSAY_INTEGER, ASSAY_REAL, ASSAY_BOOLEAN, ASSAY_STRING, ASSAY_TENSOR } assay_kind;

/* Elements are in the order of dim_order, outermost dimension first, without gaps. */
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
/* Input i as it was set last, or else as the program declares it. Output i of the last execution; its elements stay
 * until the next execution. ASSAY_INVALID: the method has no such input or output, or, for an output, the last
 * execution has not ended or was refused. */
assay_outcome assay_input(const assay_method* method, size_t i, assay_value* value);
assay_outcome assay_output(const assay_method* method, size_t i, assay_value* value);

/* Copies a value of the kind, dtype, dim order and sizes that the program declares. */
assay_outcome assay_set_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault);
/* The same, but uses a tensor's elements in place until the input is set again. The memory must stay, and must not
 * change during an execution. R5: the program writes to this input, its bytes are another value's, too, or a kernel
 * reads bytes behind it. */
assay_outcome assay_alias_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault);
/* Sets the memory of an output that has no place in the plan. */
assay_outcome assay_set_output(assay_method* method, size_t i, assay_memory memory, assay_fault* fault);

/* -- executions --------------------------------------------------------------------------------------------------- */

assay_outcome assay_execute(assay_method* method, assay_fault* fault);
/* Executes one step. It begins an execution if none is running. */
assay_outcome assay_step(assay_method* method, assay_fault* fault);
bool assay_running(const assay_method* method);
void assay_reset(assay_method* method); /* gives up an execution between two steps; state stays */

/* A step: the instruction, counted through all chains; the operator, "" if the instruction calls none; the kernel,
 * "reference" for the fallback; and the work of other instructions that the step does, too. */
typedef struct assay_step_info {
  uint32_t instruction;
  const char* op;
  size_t op_length;
  const char* kernel;
  bool norm, residual;    /* a batch norm of constants; the sum with another tensor */
  bool safe;              /* a row of a softmax that is -infinity throughout becomes zeros */
  bool unread;            /* the indices of a pool are not written, as nothing reads them */
  const char* activation; /* "": none */
  bool attention;         /* scores, softmax and product with the values; the scores are not stored */
  bool views; /* operands are read, or the result is written, through views instead of copies that change strides */
} assay_step_info;
/* The name of the i-th rewrite that changed the method's calls. Null: there are fewer. */
const char* assay_rewrite_at(const assay_method* method, size_t i);
size_t assay_step_count(const assay_method* method);
/* Requires i < assay_step_count; for other steps all fields are 0, null or "". */
assay_step_info assay_step_at(const assay_method* method, size_t i);
/* Writes the dtypes and layouts of a step's tensors, for which a selective build must have a kernel. The text is cut if
 * it does not fit in `size` bytes, and empty if there is no step i. */
void assay_step_operands(const assay_method* method, size_t i, char* text, size_t size);
/* The step that executes an instruction. SIZE_MAX: there is nothing to execute, or no such instruction. */
size_t assay_instruction_count(const assay_method* method);
size_t assay_step_of(const assay_method* method, size_t instruction);
size_t assay_next_step(const assay_method* method); /* of a running execution */

/* Calls `done` after each step of the method's executions. `done` must not change the method (R6). Null: no call. */
typedef bool (*assay_listener)(void* context, const assay_method* method, size_t step); /* false: the execution ends */
void assay_listen(assay_method* method, assay_listener done, void* context);

#ifdef __cplusplus
}
#endif
#endif
