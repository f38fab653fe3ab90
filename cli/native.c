// Loading, lowering and compiling programs for the verbs that run them.
#include "cli/native.h"

#include "cli/program.h"
#include "ir/walk.h"
#include "passes/manager.h"
#include "support/names.h"

static const char lowering[] = "LegalizeOps";

static void report_twice(const tvms_program *program, const tvms_member *first,
                         const tvms_member *second) {
  tvms_context *context = program->modules[0]->context;
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_compiled_twice, second->name_span,
                       tvms_symbol_text(context, second->name));
  tvms_diag_note(&context->diags, diag, first->name_span, "the first one is here");
}

// One module with the members of all; the functions stay where they are. `distinct`:
// members of one name are an error; otherwise the first one is found by it.
static tvms_module *join_modules(const tvms_program *program, bool distinct) {
  if (program->count == 1) return program->modules[0];
  const tvms_module *first = program->modules[0];
  tvms_module *all = tvms_module_create(first->context, first->dialect, first->name);
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    for (uint32_t j = 0; j < module->member_count; j++) {
      const tvms_member *member = &module->members[j];
      const tvms_member *other = tvms_module_find(all, member->name);
      if (other && distinct) report_twice(program, other, member);
      tvms_member *copy = tvms_module_add(all, member->name, member->name_span);
      copy->unit = member->unit;
      copy->function = member->function;
    }
  }
  return all;
}

static bool lower(tvms_run *run, tvms_module *module) {
  tvms_pipeline pipeline;
  if (!tvms_pipeline_parse(run->context, lowering, &pipeline)) return false;
  return tvms_pipeline_run(run->context, module, &pipeline, UINT32_MAX, NULL, NULL);
}

static tvms_sym entry_name(tvms_run *run) {
  const char *name = run->options.entry;
  return name ? tvms_symbol_intern(run->context, name, strlen(name)) : TVMS_SYM_main;
}

// The class that defines the entry: its functions call each other by names that other
// classes of the file may use as well. NULL: there is none.
static tvms_module *class_of_entry(tvms_run *run, const tvms_program *program) {
  tvms_sym wanted = entry_name(run);
  for (uint32_t i = 0; i < program->count; i++) {
    tvms_module *module = program->modules[i];
    if (!module->bare && tvms_module_find(module, wanted)) return module;
  }
  return NULL;
}

tvms_module *tvms_native_load_runnable(tvms_run *run, tvms_source *source,
                                       bool for_entry) {
  tvms_program *program = tvms_program_load(run, source);
  if (run->context->diags.errors) return NULL;
  if (!program->count) {
    if (for_entry) {
      tvms_diag_report(&run->context->diags, TVMS_D_no_such_entry, (tvms_span){0, 0},
                       tvms_symbol_text(run->context, entry_name(run)));
    } else {
      tvms_diag_report(&run->context->diags, TVMS_D_nothing_to_compile,
                       (tvms_span){0, 0});
    }
    return NULL;
  }
  tvms_module *module = for_entry ? class_of_entry(run, program) : NULL;
  if (!module) module = join_modules(program, !for_entry);
  if (run->context->diags.errors) return NULL;
  return lower(run, module) && !run->context->diags.errors ? module : NULL;
}

// The one function that the source defines, or NULL; lowering adds others.
static const tvms_member *only_member(const tvms_module *module) {
  const tvms_member *found = NULL;
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (!module->members[i].name_span.end) continue;
    if (found) return NULL;
    found = &module->members[i];
  }
  return found;
}

const tvms_member *tvms_native_find_entry(tvms_run *run, const tvms_module *module) {
  tvms_sym wanted = entry_name(run);
  const tvms_member *found = tvms_module_find(module, wanted);
  if (!found && !run->options.entry) found = only_member(module);
  bool runs =
      found && found->function && found->function->kind != TVMS_NODE_EXTERN_FUNC;
  if (runs) return found;
  tvms_diag *diag =
      tvms_diag_report(&run->context->diags, TVMS_D_no_such_entry, (tvms_span){0, 0},
                       tvms_symbol_text(run->context, wanted));
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_diag_note(&run->context->diags, diag, module->members[i].name_span,
                   "there is '%s'",
                   tvms_symbol_text(run->context, module->members[i].name));
  }
  return NULL;
}

const tvms_backend *tvms_load_backend(tvms_run *run) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  const tvms_backend *backend = tvms_backend_load(&why);
  if (!backend) tvms_run_complain(run, "no native code: %s", tvms_strbuf_text(&why));
  tvms_strbuf_fini(&why);
  return backend;
}

static void close_jit(void *what) {
  tvms_compiled *compiled = what;
  compiled->backend->close(compiled->jit);
}

// The functions that the entry calls, directly or not, as a module that borrows them.
typedef struct {
  const tvms_module *module;
  tvms_module *reached;
} reach;

static tvms_walk_step add_called(void *self, tvms_node *node, tvms_field_role role) {
  reach *r = self;
  (void)role;
  if (node->kind != TVMS_NODE_GLOBAL_VAR) return TVMS_WALK_ON;
  const tvms_member *called =
      tvms_module_find(r->module, tvms_as_global_var(node)->name);
  if (!called || tvms_module_find(r->reached, called->name)) return TVMS_WALK_ON;
  r->reached->members[r->reached->member_count++] = *called;
  return TVMS_WALK_ON;
}

static tvms_module *reachable(tvms_context *context, const tvms_module *module,
                              const tvms_member *entry) {
  tvms_module *reached = tvms_arena_new(&context->arena, tvms_module);
  *reached = *module;
  reached->members =
      tvms_arena_array(&context->arena, tvms_member, module->member_count);
  reached->index = NULL;
  reached->members[0] = *entry;
  reached->member_count = 1;
  reach r = {module, reached};
  tvms_visitor visitor = {.self = &r, .enter = add_called};
  for (uint32_t i = 0; i < reached->member_count; i++) {
    tvms_node *function = reached->members[i].function;
    if (function) tvms_walk(&context->memory, function, &visitor);
  }
  return reached;
}

bool tvms_native_open(tvms_run *run, const tvms_module *module,
                      const tvms_member *entry, const char *backend_name, bool checked,
                      tvms_compiled *compiled) {
  tvms_native_options options = {.traced = true, .checked = checked};
  *compiled = (tvms_compiled){.context = run->context, .module = module};
  const char *asked = run->options.backend ? run->options.backend : backend_name;
  if (strcmp(asked, "llvm") != 0) return true;
  const tvms_backend *backend = tvms_load_backend(run);
  if (!backend) {
    tvms_run_worsen(run, TVMS_FAILED_IO);
    return false;
  }
  const tvms_module *needed = reachable(run->context, module, entry);
  tvms_status status = backend->compile(run->context, needed, &options, &compiled->jit);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&run->context->memory, status);
  if (status != TVMS_OK) return false;
  compiled->backend = backend;
  compiled->kernels =
      tvms_arena_array(&run->context->arena, tvms_safe_call, module->member_count);
  tvms_memory_hold(&run->context->memory, &compiled->resource, close_jit, compiled);
  return true;
}

void tvms_native_close(tvms_compiled *compiled) {
  if (!compiled->backend) return;
  tvms_memory_release(&compiled->context->memory, &compiled->resource);
  close_jit(compiled);
}

static tvms_safe_call find_kernel(void *state, const tvms_member *member) {
  tvms_compiled *compiled = state;
  tvms_safe_call *kernel = &compiled->kernels[member - compiled->module->members];
  if (!*kernel) {
    const char *name = tvms_symbol_text(compiled->context, member->name);
    *kernel = compiled->backend->find(compiled->jit, name);
  }
  return *kernel;
}

tvms_interp tvms_native_interpreter_for(tvms_run *run, const tvms_module *module,
                                        tvms_heap *heap, tvms_compiled *compiled) {
  tvms_interp interp = {.context = run->context, .module = module, .heap = heap};
  if (compiled->backend) {
    interp.kernel = find_kernel;
    interp.kernel_state = compiled;
  }
  return interp;
}
