// Finding the target, joining the modules, and what the back end makes of them.
#include "driver/build.h"

#include "backend/c/module.h"
#include "driver/c_header.h"
#include "driver/copy.h"
#include "driver/machine.h"
#include "driver/native.h"
#include "driver/runnable.h"
#include "vm/format.h"
#include "vm/write.h"

bool tvms_build_find_target(const tvms_backend *TVMS_NULLABLE backend, const char *text,
                            tvms_unit *unit, tvms_target *target,
                            tvms_native_options *options, tvms_strbuf *why) {
  if (text && !tvms_target_parse(unit, text, target, why)) return false;
  options->target = text ? target : NULL;
  if (backend) return backend->check_target(options, why);
  if (!text || target->host || target->triple) return true;
  tvms_strbuf_printf(why, "C text cannot be scheduled for '%s'", target->kind);
  return false;
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
  if (whole && library->externs) tvms_build_collect_externs(module, library->externs);
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

bool tvms_build_machine_code(tvms_program *program, const tvms_backend *backend,
                             const tvms_native_options *given, tvms_native_form form,
                             const tvms_library_options *library, tvms_dialect dialect,
                             tvms_strbuf *out) {
  tvms_context *context = program->context;
  tvms_vm_executable executable;
  tvms_vm_executable_init(&executable, &context->memory);
  tvms_module *module = tvms_machine_compile(program, library, given, &executable);
  if (!module) return false;
  tvms_strbuf bundle;
  tvms_strbuf_init(&bundle, &context->memory);
  tvms_vm_write_bundle(&executable, dialect, &bundle);
  tvms_native_options options = *given;
  options.content_name = TVMS_VM_BUNDLE_SYMBOL;
  options.content = bundle.text;
  options.content_size = bundle.len;
  tvms_status status = TVMS_FOUND_ERRORS;
  if (library->externs) tvms_build_collect_externs(module, library->externs);
  if (tvms_native_lower(module, &options))
    status = backend->emit(context, module, &options, form, out);
  tvms_strbuf_fini(&bundle);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&context->memory, status);
  if (status != TVMS_OK) return false;
  tvms_copy_destroy(program, module);
  return true;
}

bool tvms_build_executable(tvms_program *program, const tvms_library_options *library,
                           tvms_dialect dialect, tvms_strbuf *out) {
  tvms_vm_executable executable;
  tvms_vm_executable_init(&executable, &program->context->memory);
  tvms_module *module = tvms_machine_compile(program, library, NULL, &executable);
  if (!module) return false;
  tvms_vm_write(&executable, dialect, out);
  tvms_copy_destroy(program, module);
  return true;
}
