#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs ExecuTorch programs (.pte) in memory that the client owns, without a heap and without exceptions.
 *
 * A client asks how many bytes a program or a method needs, and then supplies this memory. The memory must be aligned
 * to 64 bytes (rule R8 of spec/format/rules.yaml) and must stay valid as long as the program or method is used. Files
 * must be aligned to 16 bytes in memory and must not change. A pointer may be null only if its size is 0 (R8).
 *
 * A function that refuses a request returns an outcome other than ASSAY_OK and writes the reason to `*fault`. The
 * pointer `fault` may be null. In the comment of a function, "Faults:" lists the rules by which the function may refuse
 * a request.
 *
 * One thread at a time may use a method. Different methods and programs are independent of each other. Exception:
 * methods of a program may share state. */

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
  /* The id of the broken rule, which is in spec/format/rules.yaml or in the entry of an operator. If an option has a
   * wrong value, `rule` is the name of the option. */
  char rule[64];
  char place[256];   /* the place in the program where the rule is broken; may be empty */
  char message[512]; /* one sentence; a sentence that does not fit is cut */
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

/* The sizes in bytes of the memories that assay_program_open takes. */
typedef struct assay_program_sizes {
  size_t program;   /* the memory of the program, which must stay valid as long as the program is used */
  size_t workspace; /* temporary memory, which only assay_program_open uses */
} assay_program_sizes;

/* assay_program_open opens a program with at most ASSAY_MOST_DATA_FILES data files (.ptd), and checks every rule of the
 * files. assay_program_size tells how many bytes of memory assay_program_open needs. */
enum { ASSAY_MOST_DATA_FILES = 64 };
assay_outcome assay_program_size(assay_bytes file, const assay_bytes* data, size_t data_count,
                                 assay_program_sizes* sizes, assay_fault* fault);
assay_outcome assay_program_open(assay_bytes file, const assay_bytes* data, size_t data_count, assay_memory program,
                                 assay_memory workspace, assay_program** opened, assay_fault* fault);

/* Returns the number of methods. */
size_t assay_method_count(const assay_program* program);
/* Returns the name of method i and writes the length of the name in bytes to `*length`. The name has no terminating
 * zero. Returns null if i is not less than assay_method_count. */
const char* assay_method_name(const assay_program* program, size_t i, size_t* length);

/* -- methods ------------------------------------------------------------------------------------------------------ */

typedef struct assay_method assay_method;
typedef struct assay_refusals assay_refusals;
typedef struct assay_backend assay_backend;

/* Packed constants: the constants of a method in the memory layout that its kernels read, saved by an earlier process.
 * assay_packed_open sets the members. */
typedef struct assay_packed {
  assay_bytes constants;
  uint64_t layout;
} assay_packed;

typedef struct assay_options {
  const assay_refusals* refusals; /* words the refusals of calls that break a rule; may be null */
  const assay_backend* backends;  /* the backends that execute the delegates of a program */
  size_t backend_count;
  int64_t instructions; /* the most instructions that one execution may run; 0 means ten million */
  /* A function of the client that runs task(context, i) for each i < tasks on `threads` threads. If `run` is null, the
   * tasks run one after another. The results are the same in both cases. */
  void (*run)(void* pool, void (*task)(void* context, size_t i), void* context, size_t tasks);
  void* pool;         /* the first argument of `run` */
  size_t threads;     /* the number of threads on which `run` runs tasks */
  size_t least_share; /* the least number of elements that one task computes; 0 means 16384 */
  /* The instruction set of the kernels: "sse4", "avx2", "avx512", "amx", "neon" or "portable". Null means the best
   * instruction set that this machine has; "amx" is avx512 with the tiles of AMX for products of bytes. The runtime
   * asks Linux for the permission to use the tiles, which holds for the whole process. assay_method_size accepts each
   * instruction set of the build, even if this machine lacks the instruction set. */
  const char* instruction_set;
  /* Allows relaxed arithmetic (spec/numerics.md). A convolution may then sum other terms than the terms in its
   * definition. Its error bounds for finite numbers are wider than without this option. If an operand is infinite or
   * NaN, any result is allowed. */
  bool relaxed;
  /* Makes one step for each instruction. The runtime then neither fuses nor drops instructions, and it keeps each
   * tensor in the dim order that the program declares. */
  bool as_written;
  /* Lets methods also share state that has no name: all methods share each planned memory that holds state of any
   * method. Without this option they share only named state. The option must be the same for all methods of a program.
   */
  bool share_arenas;
  /* The packed constants to use. If null, the method packs its constants into the memory `prepared`. */
  const assay_packed* packed;
} assay_options;

/* The sizes in bytes of the memories of a method. */
typedef struct assay_method_sizes {
  size_t workspace; /* temporary memory, which only assay_method_size and assay_method_make use */
  size_t prepared;  /* holds values, steps and packed constants; must stay valid as long as the method is used */
  size_t arena;     /* holds computed tensors and state; must stay valid as long as the method is used */
  /* Holds the state that the program's methods share. The client must pass the same memory to all methods and must set
   * it to zero before it makes the first method. The size may be 0. */
  size_t shared;
  size_t scratch; /* temporary memory of an execution; methods that do not run at the same time may share it */
} assay_method_sizes;

typedef struct assay_method_memories {
  assay_memory workspace, prepared, arena, shared, scratch;
} assay_method_memories;

/* Prepares a method in three calls: the first tells the size of the workspace, the second uses the workspace to find
 * the sizes of the other memories, and the third makes the method in these memories. */
assay_outcome assay_method_workspace_size(const assay_program* program, const char* name, size_t* bytes,
                                          assay_fault* fault);
assay_outcome assay_method_size(const assay_program* program, const char* name, const assay_options* options,
                                assay_memory workspace, assay_method_sizes* sizes, assay_fault* fault);
assay_outcome assay_method_make(const assay_program* program, const char* name, const assay_options* options,
                                const assay_method_memories* memories, assay_method** made, assay_fault* fault);
/* Writes the method's packed constants to `file`, for use by a later process. `file` must have at least as many bytes
 * as assay_packed_size returns. */
size_t assay_packed_size(const assay_method* method);
assay_outcome assay_packed_save(const assay_program* program, const assay_method* method, assay_memory file,
                                assay_fault* fault);
/* Opens a file of packed constants without a copy. The file must be aligned to 64 bytes and must stay valid as long as
 * methods use it. assay only reads the file. assay_packed_open checks rules P1 to P5 on all bytes of the file.
 * assay_method_size and assay_method_make check rule P6: the file must belong to this method, instruction set and
 * build. */
assay_outcome assay_packed_open(const assay_program* program, assay_bytes file, assay_packed* opened,
                                assay_fault* fault);
/* Ends the delegates of a method. A client must call it before it frees the memory of a method that has delegates. */
void assay_method_end(assay_method* method);

/* -- values ------------------------------------------------------------------------------------------------------- */

typedef enum assay_kind { ASSAY_NONE, ASSAY_INTEGER, ASSAY_REAL, ASSAY_BOOLEAN, ASSAY_STRING, ASSAY_TENSOR } assay_kind;

/* A dense tensor. Its elements lie in the order of dim_order, outermost dimension first, without gaps. */
typedef struct assay_tensor {
  void* data;
  int dtype; /* the number of the dtype in ExecuTorch's ScalarType; spec/dtypes.yaml lists all numbers */
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

/* Returns the number of inputs. */
size_t assay_input_count(const assay_method* method);
/* Returns the number of outputs. */
size_t assay_output_count(const assay_method* method);
/* assay_input writes to `*value` the value to which input i was last set. If the input was never set, assay_input
 * writes the value that the program declares. assay_output writes output i of the last execution. The elements of an
 * output stay valid until the next execution. Both functions return ASSAY_INVALID if there is no input or output i.
 * assay_output also returns ASSAY_INVALID if the last execution has not ended or was refused. */
assay_outcome assay_input(const assay_method* method, size_t i, assay_value* value);
assay_outcome assay_output(const assay_method* method, size_t i, assay_value* value);

/* Sets input i to a copy of the value. Requires the kind, dtype, rank and dim order that the program declares. A static
 * tensor must have the declared sizes. Each size of a bounded tensor must be at most the declared size of that
 * dimension. A number, bool or string must equal the value with which the program was exported; for a float, rule R3
 * allows a small difference. An input that the program declares as Null accepts None, any number and any string.
 * Faults: R1, R2, R3, R6 to R8, and V4 if an unbounded tensor does not fit in its memory. */
assay_outcome assay_set_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault);
/* Sets input i without a copy: the method reads a tensor's elements from the client's memory until the input is set
 * again. The memory must stay valid and must not change during an execution. Refuses the input by rule R5 in four
 * cases: (a) the program writes to the input, (b) another value has the same bytes, (c) a kernel reads bytes beyond the
 * end of the tensor, (d) the memory is not aligned to the size of an element. Other faults: the same as those of
 * assay_set_input. */
assay_outcome assay_alias_input(assay_method* method, size_t i, const assay_value* value, assay_fault* fault);
/* Supplies the memory of output i. Requires an output to which the program's memory plan gives no memory.
 * Faults: R5 to R8. */
assay_outcome assay_set_output(assay_method* method, size_t i, assay_memory memory, assay_fault* fault);

/* -- executions --------------------------------------------------------------------------------------------------- */

/* Executes the method to its end. A refused instruction changes nothing. Faults: R4, R6, I17, and the faults of
 * operators and backends. */
assay_outcome assay_execute(assay_method* method, assay_fault* fault);
/* Executes one step. Begins an execution if none is running. Faults: the same as those of assay_execute. */
assay_outcome assay_step(assay_method* method, assay_fault* fault);
/* Returns whether an execution has begun and not ended. */
bool assay_running(const assay_method* method);
/* Abandons the execution that has begun. Call it between two steps. State keeps what the steps wrote. */
void assay_reset(assay_method* method);

/* What a step does: the work of its own instruction, and the work of other instructions that rewrites fused into it. */
typedef struct assay_step_info {
  uint32_t instruction; /* the index of the instruction, counted from 0 through all chains */
  const char* op;       /* the operator's name, or "" if the instruction calls none; the text has no terminating zero */
  size_t op_length;
  const char* kernel;     /* the name of the kernel; "reference" if none accepts the call, which is then refused */
  bool norm;              /* the step also applies a batch norm whose parameters are constants */
  bool residual;          /* the step also adds another tensor */
  bool safe;              /* the step also sets a row of a softmax to zeros if all operands of the row are -infinity */
  bool unread;            /* the step does not write the indices of a max pool, because nothing reads them */
  const char* activation; /* the activation function that the step also applies, or "" */
  bool attention;         /* the step computes a whole attention: scores, softmax and product; it stores no scores */
  bool views;             /* the step reads or writes tensors through strided views, which replace copies */
} assay_step_info;
/* Returns the name of the i-th rewrite that changed the method's calls, counted from 0. Returns null if i is not less
 * than the number of these rewrites. */
const char* assay_rewrite_at(const assay_method* method, size_t i);
/* Returns the number of steps. */
size_t assay_step_count(const assay_method* method);
/* Returns the number of calls that were computed once, while the method was made, because they read only constants.
 * They are numbered after the steps: assay_step_at and assay_step_operands also describe them. */
size_t assay_folded_step_count(const assay_method* method);
/* Describes step i. All fields are 0, false or "" if there is no step i. */
assay_step_info assay_step_at(const assay_method* method, size_t i);
/* Writes a text with the dtypes and layouts of the tensors of step i. A selective build needs a kernel that accepts
 * these dtypes and layouts. A text that does not fit in `size` bytes is cut. The text is empty if there is no step i.
 */
void assay_step_operands(const assay_method* method, size_t i, char* text, size_t size);
/* Returns the number of instructions in all chains. */
size_t assay_instruction_count(const assay_method* method);
/* Returns the index of the step that executes an instruction. Returns SIZE_MAX if no step executes it or if there is no
 * such instruction. */
size_t assay_step_of(const assay_method* method, size_t instruction);
/* Returns the index of the step that the running execution executes next. */
size_t assay_next_step(const assay_method* method);

/* A function of the client that assay calls after each step. It must not change the method (rule R6). If it returns
 * false, the execution ends. */
typedef bool (*assay_listener)(void* context, const assay_method* method, size_t step);
/* Sets the listener of all further executions. A null `done` removes the listener. */
void assay_listen(assay_method* method, assay_listener done, void* context);

#ifdef __cplusplus
}
#endif
#endif
