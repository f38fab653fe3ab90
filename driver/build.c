// Finding the target, joining the modules, and what the back end makes of them.
#include "driver/build.h"

#include "backend/c/module.h"
#include "driver/c_header.h"
#include "driver/copy.h"
#include "driver/native.h"
#include "driver/runnable.h"

bool tvms_build_find_target(const tvms_backend *backend, const char *text,
                            tvms_unit *unit, tvms_target *target,
                            tvms_native_options *options, tvms_strbuf *why) {
  if (text && !tvms_target_parse(unit, text, target, why)) return false;
  options->target = text ? target : NULL;
  return backend->check_target(options, why);
}

bool tvms_build_code(tvms_program *program, const tvms_backend *backend,
                     const tvms_native_options *options, tvms_native_form form,
                     const tvms_library_options *library, tvms_strbuf *out,
                     tvms_strbuf *header) {
  tvms_context *context = program->context;
  tvms_module *module = tvms_runnable_join(program, library, options);
  bool whole = module && tvms_runnable_check_library(module, library->prim_funcs_only)
               && !context->diags.errors && tvms_native_lower(module, options);
  tvms_status status = TVMS_FOUND_ERRORS;
  if (whole && backend)
    status = backend->emit(context, module, options, form, out);
  else if (whole)
    status = tvms_c_module(context, module, options, out);
  if (status == TVMS_OK && header)
    tvms_build_header(context, module, options->plain_prefix, header);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&context->memory, status);
  tvms_copy_destroy(program, module);
  return status == TVMS_OK;
}
