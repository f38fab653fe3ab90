// Native code: what the plug-in that holds LLVM offers, and how to reach it.
//
// LLVM lives in a shared object of its own (libtvms-llvm.so), loaded when native code is
// asked for and never else. Nothing of LLVM appears in this header.
#ifndef TVMS_BACKEND_BACKEND_H
#define TVMS_BACKEND_BACKEND_H

#include "interp/interp.h"
#include "ir/target.h"
#include "support/strbuf.h"

typedef enum {
  TVMS_NATIVE_OBJECT,
  TVMS_NATIVE_ASSEMBLY,
  TVMS_NATIVE_IR,  // LLVM's own text, optimised
} tvms_native_form;

// The zero value is for a library made for this machine.
typedef struct {
  // NULL, or tvms_target.host: this machine, as the back end knows it. Of others triple, CPU
  // and features count; no CPU is the generic one.
  const tvms_target *TVMS_NULLABLE target;
  // For `run`: errors go to the tvms_raised that is passed as `self`, with their place.
  // Otherwise they are raised as TVM does.
  bool traced;
  const struct tvms_foreign *TVMS_NULLABLE
      foreign;      // what may be called beside the run time, if `traced`
  bool checked;     // every index is checked
  bool as_written;  // loops are not scheduled
  // A product that is added to something is rounded once, with the sum, where the processor
  // has such an instruction. Nothing else of floating point is rearranged, ever.
  bool contract;
  // Functions for C: each Relax function that became a PrimFunc is also `<prefix>_<name>`, which
  // takes structs (driver/c_header.h); NULL: there are none.
  const char *TVMS_NULLABLE plain_prefix;
  // Code has lines of this text (DWARF), whose name is relative to `folder`; NULL: none.
  tvms_source *TVMS_NULLABLE lines_of;
  const char *TVMS_NULLABLE folder;
  // Bytes that the library has inside, as an exported variable of this name; NULL: none.
  const char *TVMS_NULLABLE content_name;
  const char *content;
  size_t content_size;
} tvms_native_options;

// Native code in memory, which lives until the plug-in's `close`.
typedef struct tvms_jit tvms_jit;

// What the plug-in exports, as one table named TVMS_BACKEND_ENTRY. All functions report
// what is wrong with the program as diagnostics and return TVMS_FOUND_ERRORS.
typedef struct {
  uint32_t version;  // TVMS_BACKEND_VERSION of the build
  const char *name;  // "LLVM 19.1.7"
  // False, and a sentence in `why` with near names, if the target names a machine, a
  // processor or a feature that code cannot be made for. The others report the same as a
  // diagnostic; who has the options from a command line asks first.
  bool (*check_target)(const tvms_native_options *options, tvms_strbuf *why);
  // Compiles every PrimFunc of the module and appends the result. Private functions are
  // exported too if `traced`, or if the module has Relax functions, which call them.
  tvms_status (*emit)(tvms_context *context, const tvms_module *module,
                      const tvms_native_options *options, tvms_native_form form,
                      tvms_strbuf *out);
  // The same into memory. `*jit` is closed by the caller.
  tvms_status (*compile)(tvms_context *context, const tvms_module *module,
                         const tvms_native_options *options, tvms_jit **jit);
  // The entry of a PrimFunc by its name, or NULL if the code has none. It is valid until
  // `close`.
  tvms_safe_call (*find)(tvms_jit *jit, const char *name);
  // Frees the code.
  void (*close)(tvms_jit *jit);
} tvms_backend;

enum { TVMS_BACKEND_VERSION = 8 };
#define TVMS_BACKEND_ENTRY "tvms_backend_llvm"

#endif
