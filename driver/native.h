// Compiled code of a module for the interpreter, which runs it in place of PrimFuncs.
#ifndef TVMS_DRIVER_NATIVE_H
#define TVMS_DRIVER_NATIVE_H

#include "backend/backend.h"
#include "passes/manager.h"

// Appends FuseAttention for the machine of this code, as text of a pipeline.
void tvms_native_fuse_attention(const tvms_native_options *options,
                                tvms_strbuf *passes);

// Appends ScheduleCPU with its options for this code, as text of a pipeline, behind WidenSums where sums may be rounded
// otherwise than in the text.
void tvms_native_schedule(const tvms_native_options *options, tvms_strbuf *passes);

// Runs passes, text of a pipeline, that a module becomes code by: with arithmetic that is sound, also where that of its release is
// not. False after a report.
TVMS_NODISCARD bool tvms_native_run_passes(tvms_module *module, const char *passes,
                                           const tvms_pass_hooks *TVMS_NULLABLE hooks);

// Lowers the PrimFuncs of a module to what back ends read, by the pipeline native, behind ScheduleCPU
// for the target of the options (unless loops stay as written), or, if indices are checked, by native-checked. If products may be contracted and the target has an instruction for
// that, functions of C become polynomials (VectorMath), too. False after a report.
TVMS_NODISCARD bool tvms_native_lower(tvms_module *module,
                                      const tvms_native_options *options);

// The zero value: nothing is compiled.
typedef struct {
  const tvms_backend *TVMS_NULLABLE backend;  // NULL: everything is interpreted
  tvms_jit *jit;
  tvms_context *context;
  const tvms_module *module;
  tvms_safe_call *kernels;  // by member, as they are asked for
  tvms_resource resource;
  bool held;  // the resource is open
} tvms_compiled;

// Compiles what `entry` calls, directly or not. False after a report; else
// tvms_compiled_close must follow; an unwinding closes it as well, until tvms_compiled_keep.
// The code is traced, whatever `options` say. An entry that was a Relax function has the parameters
// of its code from then on, whose workspace may be larger (LiftAllocations).
TVMS_NODISCARD bool tvms_compiled_open(tvms_compiled *compiled,
                                       const tvms_backend *backend, tvms_module *module,
                                       const tvms_member *entry,
                                       const tvms_native_options *options);

// Unloads the code. Functions that were taken from it must not be called any more.
void tvms_compiled_close(tvms_compiled *compiled);

// Makes the code outlive the protected call that it was made in: only tvms_compiled_close
// closes it from now on.
void tvms_compiled_keep(tvms_compiled *compiled);

// Makes the interpreter run the compiled code where there is some.
void tvms_compiled_use(tvms_compiled *compiled, tvms_interp *interp);

#endif
