// Running programs, interpreted or compiled, and building native code.
//
// context.h has the rule for threads.
#ifndef TVMS_RUN_H
#define TVMS_RUN_H

#include <tvms/program.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Tensors: the layouts of DLPack 1.0 ----

// Kinds of elements.
enum {
  TVMS_DL_INT = 0,
  TVMS_DL_UINT = 1,
  TVMS_DL_FLOAT = 2,
  TVMS_DL_HANDLE = 3,
  TVMS_DL_BFLOAT = 4,
  TVMS_DL_BOOL = 6  // one byte in memory, `bits` 8
};

enum { TVMS_DL_CPU = 1 };

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} tvms_dl_type;

typedef struct {
  int32_t type;
  int32_t id;
} tvms_dl_device;

// A strided view of memory that somebody else owns.
typedef struct {
  void *data;
  tvms_dl_device device;
  int32_t ndim;
  tvms_dl_type dtype;
  int64_t *shape;
  int64_t *strides;  // in elements; NULL: compact, row by row
  uint64_t byte_offset;
} tvms_dl_tensor;

// ---- Running ----

// A function of a program made ready to be called.
typedef struct tvms_runner tvms_runner;

typedef struct {
  size_t size;        // sizeof(tvms_runner_options)
  const char *entry;  // the function to call; NULL: main, or the only one
  bool native;        // compile PrimFuncs; Relax around them is interpreted
  bool unchecked;     // of native code: leave out the checks of indices and divisions
  uint64_t seed;      // of inputs that are not given
  uint64_t steps;     // most loop iterations and calls of one run; 0: no limit
  // Told each line that R.print writes, without its end; NULL: nobody. It may call functions
  // on the same context; those that would run, change or destroy the runner refuse it. It must
  // return.
  void (*print)(void *user, const char *line);
  void *user;
} tvms_runner_options;

// Makes a function ready: operators of Relax become PrimFuncs, in a copy of the program.
// TVMS_FOUND_ERRORS: there is not such a function, or it cannot be compiled, which was
// reported. TVMS_NOT_AVAILABLE: no native code in this build or installation.
// TVMS_BAD_ARGUMENT: the program was read with errors. `*runner` belongs to the context
// until it is destroyed; the program may be destroyed before; NULL on failure.
tvms_status tvms_runner_create(tvms_program *program,
                               const tvms_runner_options *options,
                               tvms_runner **runner);

// Frees a runner, its results and its compiled code. NULL is allowed. Does nothing while the
// function runs, which a function of the host may see. Runners of a context
// are freed with it, their compiled code, too.
void tvms_runner_destroy(tvms_runner *runner);

// How many parameters the function has.
uint32_t tvms_runner_param_count(const tvms_runner *runner);

// The name of a parameter: that of its buffer where it has one. Belongs to the runner. NULL:
// there is no such index.
const char *tvms_runner_param_name(const tvms_runner *runner, uint32_t index);

// Gives a parameter a tensor, which is copied, for the next run. TVMS_BAD_ARGUMENT: no such
// parameter, or a tensor that is not on the CPU or whose elements are not known. Whether it
// fits the parameter is checked when the function runs.
tvms_status tvms_runner_set_tensor(tvms_runner *runner, uint32_t index,
                                   const tvms_dl_tensor *tensor);

// Gives a parameter an integer or a truth value for the next run. TVMS_BAD_ARGUMENT: no such
// parameter.
tvms_status tvms_runner_set_int(tvms_runner *runner, uint32_t index, int64_t value);

// Gives a parameter a floating-point number for the next run. TVMS_BAD_ARGUMENT: no such
// parameter.
tvms_status tvms_runner_set_float(tvms_runner *runner, uint32_t index, double value);

// Runs the function. Parameters that were given nothing get random inputs, which depend on
// the seed and the parameter's name; sizes that no input decides are 16. TVMS_FOUND_ERRORS:
// an input does not fit or the program failed, which was reported. TVMS_BAD_ARGUMENT: the
// runner is running, as a function of the host may see. Results of the run before are freed.
tvms_status tvms_runner_run(tvms_runner *runner);

typedef enum {
  TVMS_RESULT_NONE,
  TVMS_RESULT_INT,
  TVMS_RESULT_FLOAT,
  TVMS_RESULT_BOOL,
  TVMS_RESULT_TEXT,
  TVMS_RESULT_SHAPE,
  TVMS_RESULT_TENSOR,
} tvms_result_kind;

typedef struct {
  size_t size;       // sizeof(tvms_result), set by the caller
  const char *name;  // "result", or "result.0" and so on
  tvms_result_kind kind;
  int64_t integer;        // of INT and BOOL
  double real;            // of FLOAT
  const char *text;       // of TEXT
  tvms_dl_tensor tensor;  // of TENSOR; of SHAPE `ndim` and `shape` only
} tvms_result;

// How many results the last run gave: fields of a tuple count one by one, and of a PrimFunc
// that returns nothing the buffers that it writes.
uint32_t tvms_runner_result_count(const tvms_runner *runner);

// Fills one of them in; what it points to belongs to the runner until it runs again. False:
// there is no such index.
bool tvms_runner_result(const tvms_runner *runner, uint32_t index, tvms_result *result);

// ---- Building ----

typedef enum {
  TVMS_BUILD_OBJECT,  // an object file, to be linked into a library
  TVMS_BUILD_ASSEMBLY,
  TVMS_BUILD_LLVM,  // LLVM's own text, optimised
} tvms_build_form;

typedef struct {
  size_t size;  // sizeof(tvms_program_build_options)
  tvms_build_form form;
  const char
      *target;  // NULL: this machine; else as for --target: TRIPLE[,CPU[,FEATURES]], a tag or JSON
  bool primfuncs_only;  // leave out in silence what is not a PrimFunc
  // Round each product before it is added to something, as a runner does. Without this, one
  // instruction computes both where the processor has it, and rounds once.
  bool strict_fp;
} tvms_program_build_options;

// Compiles the PrimFuncs of a program. TVMS_FOUND_ERRORS: something cannot be compiled, or
// would be left out, which was reported. TVMS_NOT_AVAILABLE: no native code in this build or
// installation. TVMS_BAD_ARGUMENT: LLVM does not know the target, or the program was read
// with errors. `*bytes` are owned by the caller, who may free them by tvms_context_free;
// NULL on failure.
tvms_status tvms_program_build(tvms_program *program,
                               const tvms_program_build_options *options, char **bytes,
                               size_t *size);

#ifdef __cplusplus
}
#endif

#endif
