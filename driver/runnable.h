// A program made ready to run: one module, in which operators of Relax are calls of
// PrimFuncs.
//
// The module borrows the functions of the program, which was read without an error.
#ifndef TVMS_DRIVER_RUNNABLE_H
#define TVMS_DRIVER_RUNNABLE_H

#include "backend/backend.h"
#include "driver/externs.h"
#include "ir/module.h"

// What becomes of a program that goes into a library.
typedef struct {
  bool prim_funcs_only;  // what is not a PrimFunc is left out
  // A file of weights (.npz, .safetensors) that take the place of parameters of the function
  // `entry` (NULL: main, or the only Relax function); NULL: none.
  const char *TVMS_NULLABLE params;
  const char *TVMS_NULLABLE entry;
  bool explain;  // report, as notes, what became of weights and loops
  // What may be done to Relax functions: 0 their operators become PrimFuncs, 1 these are fused as TVM
  // does, 2 constants and norms are folded, layouts chosen and weights that are constants laid out for
  // the code, 3 products of matrices are taken in another order, too.
  uint8_t level;
  // Gets the functions of C that the code calls and must be linked with; NULL: nobody asks.
  tvms_externs *TVMS_NULLABLE externs;
  bool
      for_machine;  // Relax functions stay what they are, lowered for TVM's virtual machine
} tvms_library_options;

// For a library: all modules become one, whose functions have different names, and Relax
// functions become PrimFuncs, unless there shall be the PrimFuncs of the program only. NULL:
// something is wrong and was reported.
tvms_module *TVMS_NULLABLE tvms_runnable_join(const tvms_program *program,
                                              const tvms_library_options *options,
                                              const tvms_native_options *code);

// The same, lowered by a pipeline of the caller's. Of the options, which may be NULL, only weights
// count.
tvms_module *TVMS_NULLABLE tvms_runnable_join_lowered(
    const tvms_program *program, const tvms_library_options *TVMS_NULLABLE options,
    const char *lowering);

// What a library made of a joined module lacks. Reports each operator that no PrimFunc
// computes (a warning) and, unless `prim_funcs_only`, each function that is not a PrimFunc
// (an error). False if there is no PrimFunc at all, which is reported as well.
TVMS_NODISCARD bool tvms_runnable_check_library(tvms_module *module,
                                                bool prim_funcs_only);

// To run one function, `entry` or, if that is NULL, `main`: the class that defines it, or
// else all modules as one, where the first function is found by a name. What is lowered takes the
// place of the program's functions, so that this is done once. NULL: something is wrong and was
// reported.
tvms_module *TVMS_NULLABLE tvms_runnable_for(const tvms_program *program,
                                             const char *TVMS_NULLABLE entry);

// The same, lowered by a pipeline of the caller's.
tvms_module *TVMS_NULLABLE tvms_runnable_lowered(const tvms_program *program,
                                                 const char *TVMS_NULLABLE entry,
                                                 const char *lowering);

// The function to run: `entry`, or if that is NULL `main` or the only one. NULL after a
// report.
const tvms_member *TVMS_NULLABLE tvms_runnable_entry(const tvms_module *module,
                                                     const char *TVMS_NULLABLE entry);

// The module of the entry with Relax functions as PrimFuncs, as a library has them; the program stays
// as it is. NULL: they cannot become such, of which nothing is said.
tvms_module *TVMS_NULLABLE tvms_runnable_host(const tvms_program *program,
                                              const char *TVMS_NULLABLE entry);

#endif
