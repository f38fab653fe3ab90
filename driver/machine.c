// Lowering for the machine and making its code.
#include "driver/machine.h"

#include "driver/runnable.h"
#include "support/diag_ids.h"
#include "vm/codegen.h"
#include "vm/format.h"
#include "vm/library.h"
#include "vm/read.h"

#include <string.h>

static bool has_relax(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION) return true;
  }
  return false;
}

static tvms_module *TVMS_NULLABLE lower_for_code(const tvms_program *program,
                                                 const tvms_library_options *library,
                                                 const tvms_native_options *code) {
  tvms_library_options options = *library;
  options.for_machine = true;
  return tvms_runnable_join(program, &options, code);
}

tvms_module *tvms_machine_compile(tvms_program *program,
                                  const tvms_library_options *library,
                                  const tvms_native_options *code,
                                  tvms_vm_executable *executable) {
  tvms_context *context = program->context;
  tvms_module *module =
      code ? lower_for_code(program, library, code)
           : tvms_runnable_join_lowered(program, library, "default_build");
  if (!module || context->diags.errors) return NULL;
  if (!has_relax(module)) {
    tvms_diag_report(&context->diags, TVMS_D_nothing_for_machine, (tvms_span){0, 0});
    return NULL;
  }
  return tvms_vm_codegen(module, executable) ? module : NULL;
}

// ---- Files ----

bool tvms_machine_is_library(const tvms_source *source) {
  return tvms_vm_is_library(source->text, source->size);
}

bool tvms_machine_is_code(const tvms_source *source) {
  return tvms_machine_is_library(source)
         || tvms_vm_is_executable(source->text, source->size);
}

static void report_bytes(tvms_context *context, const tvms_source *source,
                         const char *begin, const tvms_vm_bytes_error *error) {
  uint64_t at = (uint64_t)(begin - source->text) + error->at;
  tvms_diag_report(&context->diags, TVMS_D_bad_executable, (tvms_span){0, 0},
                   (unsigned long long)at, error->what);
}

// The bytes of the executable in the file.
static const char *TVMS_NULLABLE find_bytes(tvms_context *context,
                                            const tvms_source *source, size_t *size) {
  *size = source->size;
  if (!tvms_machine_is_library(source)) return source->text;
  size_t room;
  tvms_vm_bytes_error error = {0, "the library does not export " TVMS_VM_BUNDLE_SYMBOL};
  const char *bundle = tvms_vm_library_variable(source->text, source->size,
                                                TVMS_VM_BUNDLE_SYMBOL, &room);
  const char *bytes =
      bundle ? tvms_vm_find_in_bundle(bundle, room, size, &error) : NULL;
  if (!bytes) report_bytes(context, source, bundle ? bundle : source->text, &error);
  return bytes;
}

bool tvms_machine_read(tvms_context *context, const tvms_source *source,
                       tvms_vm_executable *executable) {
  size_t size;
  tvms_vm_bytes_error error;
  // Findings name the file and have no line of it to show.
  context->diags.source = tvms_source_create(&context->memory, source->name, "", 0);
  const char *bytes = find_bytes(context, source, &size);
  if (!bytes) return false;
  if (!tvms_vm_read(bytes, size, &context->arena, executable, &error)) {
    report_bytes(context, source, bytes, &error);
    return false;
  }
  const char *wrong = tvms_vm_executable_check(executable, &context->arena);
  if (wrong)
    tvms_diag_report(&context->diags, TVMS_D_bad_machine_code, (tvms_span){0, 0},
                     wrong);
  return !wrong;
}

int64_t tvms_machine_entry(tvms_context *context, const tvms_vm_executable *executable,
                           const char *entry) {
  const char *wanted = entry ? entry : "main";
  int64_t found = tvms_vm_function_index(executable, wanted, strlen(wanted));
  int64_t only = -1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < executable->functions.len; i++) {
    if (executable->functions.items[i].kind != TVMS_VM_IS_BYTECODE) continue;
    only = i;
    count++;
  }
  if (found < 0 && !entry && count == 1) found = only;
  if (found >= 0 && executable->functions.items[found].kind == TVMS_VM_IS_BYTECODE)
    return found;
  tvms_diag_report(&context->diags, TVMS_D_no_such_entry, (tvms_span){0, 0}, wanted);
  return -1;
}
