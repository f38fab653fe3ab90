// Joining the modules of a program and lowering the operators of Relax.
#include "driver/runnable.h"

#include "driver/copy.h"
#include "driver/native.h"
#include "interp/interp.h"
#include "interp/relax_ops.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/manager.h"
#include "passes/pipeline.h"
#include "passes/remarks.h"
#include "support/diag_ids.h"
#include "support/names.h"
#include "support/trial.h"

#include <string.h>

static const char to_prim_funcs[] = "dispatch,LegalizeOps{inside=true}";
enum { MOST_SHOWN = 8 };

static void report_twice(const tvms_program *program, const tvms_member *first,
                         const tvms_member *second) {
  tvms_context *context = program->modules[0]->context;
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_compiled_twice, second->name_span,
                       tvms_symbol_text(context, second->name));
  tvms_diag_note(&context->diags, diag, first->name_span,
                 "the first definition is here");
  tvms_diag_remark(&context->diags, diag, "--definition NAME builds one definition");
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
      tvms_memory_free(&all->context->memory, copy->unit);
      copy->unit = member->unit;
      copy->function = member->function;
    }
  }
  return all;
}

// Frees a joined module that cannot be used, with the functions that it has got.
static void abandon(const tvms_program *program, tvms_module *module) {
  bool joined = true;
  for (uint32_t i = 0; i < program->count; i++) {
    joined = joined && program->modules[i] != module;
  }
  if (!joined) return;
  for (uint32_t i = 0; i < program->count; i++) {
    program->modules[i]->member_count = 0;
  }
  tvms_module_destroy(module);
}

// The module, lowered; NULL after a report, now or earlier.
static tvms_module *TVMS_NULLABLE
lower(const tvms_program *program, tvms_module *module, const char *lowering,
      const tvms_library_options *TVMS_NULLABLE library) {
  tvms_context *context = program->context;
  tvms_pass_log log = {.memory = &context->memory, .remarks = true, .of_weights = true};
  tvms_pass_hooks hooks = {.log = library && library->explain ? &log : NULL};
  bool done =
      !context->diags.errors && tvms_native_run_passes(module, lowering, &hooks);
  tvms_vec_fini(&context->memory, &log.numbers);
  if (done) return module;
  abandon(program, module);
  return NULL;
}

static tvms_sym symbol_of(tvms_context *context, const char *TVMS_NULLABLE entry) {
  return entry ? tvms_symbol_intern(context, entry, strlen(entry)) : TVMS_SYM_main;
}

// The class that defines the entry: its functions call each other by names that other
// classes of the file may use as well. NULL: there is none.
static tvms_module *class_of_entry(const tvms_program *program, tvms_sym entry) {
  for (uint32_t i = 0; i < program->count; i++) {
    tvms_module *module = program->modules[i];
    if (!module->bare && tvms_module_find(module, entry)) return module;
  }
  return NULL;
}

static bool has_relax(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION) return true;
  }
  return false;
}

// The function whose parameters weights take the place of: the one that is named, main, or the
// only Relax function. NULL: there is none, which is reported.
static const tvms_member *TVMS_NULLABLE weighed(const tvms_module *module,
                                                const char *TVMS_NULLABLE entry) {
  tvms_context *context = module->context;
  tvms_sym wanted = symbol_of(context, entry);
  const tvms_member *found = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (!member->function || member->function->kind != TVMS_NODE_FUNCTION) continue;
    if (member->name == wanted) return member;
    found = member;
    count++;
  }
  if (!entry && count == 1) return found;
  tvms_diag_report(&context->diags, TVMS_D_no_such_entry, (tvms_span){0, 0},
                   tvms_symbol_text(context, wanted));
  return NULL;
}

// Puts weights in the place of parameters. False after a report.
static bool bind_weights(const tvms_program *program, tvms_module *module,
                         const tvms_library_options *options) {
  tvms_context *context = program->context;
  const tvms_member *member = weighed(module, options->entry);
  if (!member) return false;
  tvms_sym name = member->name;
  uint32_t params = tvms_as_function(member->function)->params.len;
  tvms_strbuf passes;
  tvms_strbuf_init(&passes, &context->memory);
  char quote = strchr(options->params, '\'') ? '"' : '\'';
  tvms_strbuf_printf(&passes, "BindParams{func_name=%s,params=%c%s%c}",
                     tvms_symbol_text(context, name), quote, options->params, quote);
  bool bound = lower(program, module, tvms_strbuf_text(&passes), options) != NULL;
  tvms_strbuf_fini(&passes);
  if (!bound) return false;
  member = tvms_module_find(module, name);
  if (tvms_as_function(member->function)->params.len < params) return true;
  tvms_diag_report(&context->diags, TVMS_D_weights_unread, member->name_span,
                   options->params, "no tensor has the name of a parameter");
  abandon(program, module);
  return false;
}

static tvms_walk_step look_for_lambda(void *self, tvms_node *node,
                                      tvms_field_role role) {
  (void)role;
  bool *found = self;
  *found |= node->kind == TVMS_NODE_VAR_BINDING
            && tvms_as_var_binding(node)->value->kind == TVMS_NODE_FUNCTION;
  return *found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Neither code nor the interpreter has local functions: LambdaLift comes first where there are some.
static void add_lifting(const tvms_module *module, tvms_strbuf *passes) {
  bool found = false;
  tvms_visitor visitor = {.self = &found, .enter = look_for_lambda};
  for (uint32_t i = 0; i < module->member_count && !found; i++) {
    tvms_node *function = module->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION)
      tvms_walk(&module->context->memory, function, &visitor);
  }
  if (found) tvms_strbuf_puts(passes, "LambdaLift,");
}

// ScheduleCPU, where weights need it in front of what follows, or where it is to be explained: lowering to
// code schedules whatever is not scheduled then, and says nothing of it.
static void add_schedule(const tvms_library_options *options,
                         const tvms_native_options *code, bool needed,
                         tvms_strbuf *passes) {
  if (!needed && !(options->explain && options->level >= 1)) return;
  tvms_strbuf_putc(passes, ',');
  tvms_native_schedule(code, passes);
}

// The passes that make PrimFuncs of operators and lower what calls them, up to code.
static void add_lowering(tvms_context *context, const tvms_library_options *options,
                         const tvms_native_options *code, tvms_strbuf *passes) {
  static const char *const first[] = {
      to_prim_funcs, "dispatch,fused", "kernels",
      "AdjustMatmulOrder,CombineParallelMatmul,kernels"};
  // Sizes that constants tell are no unknown ones. TVM's machine does not check these, and its
  // code is to be TVM's.
  tvms_strbuf_puts(
      passes,
      options->for_machine
          ? "NameUnknownSizes,"
          : "FoldConstant{keep_written=true,sizes=true},"
            "CanonicalizeBindings{keep_checks=true},NameUnknownSizes{checks=true},");
  if (options->level >= 2) {
    if (code->contract && tvms_target_has_quads(context, code->target))
      tvms_strbuf_puts(passes, "MultiplyQuantized,");
    tvms_strbuf_puts(passes, "SimplifyMatmul,");
    tvms_native_fuse_attention(code, passes);
    tvms_strbuf_putc(passes, ',');
  }
  tvms_strbuf_puts(passes, first[options->level]);
  add_schedule(options, code, options->level >= 2, passes);
  if (options->level >= 2) tvms_strbuf_puts(passes, ",weights");
  tvms_strbuf_puts(passes, options->for_machine ? ",machine" : ",memory");
}

// All modules as one, with the weights that the options name. NULL after a report.
static tvms_module *TVMS_NULLABLE join_with_weights(
    const tvms_program *program, const tvms_library_options *TVMS_NULLABLE options) {
  tvms_context *context = program->context;
  if (!program->count) {
    tvms_diag_report(&context->diags, TVMS_D_nothing_to_compile, (tvms_span){0, 0});
    return NULL;
  }
  tvms_module *module = join_modules(program, true);
  if (options && options->params && !context->diags.errors
      && !bind_weights(program, module, options))
    return NULL;
  return module;
}

tvms_module *
tvms_runnable_join_lowered(const tvms_program *program,
                           const tvms_library_options *TVMS_NULLABLE options,
                           const char *lowering) {
  tvms_module *module = join_with_weights(program, options);
  if (!module) return NULL;
  tvms_strbuf passes;
  tvms_strbuf_init(&passes, &program->context->memory);
  add_lifting(module, &passes);
  tvms_strbuf_puts(&passes, lowering);
  module = lower(program, module, tvms_strbuf_text(&passes), options);
  tvms_strbuf_fini(&passes);
  return module;
}

tvms_module *tvms_runnable_join(const tvms_program *program,
                                const tvms_library_options *options,
                                const tvms_native_options *code) {
  tvms_module *module = join_with_weights(program, options);
  if (!module) return NULL;
  tvms_strbuf passes;
  tvms_strbuf_init(&passes, &program->context->memory);
  if (options->prim_funcs_only || !has_relax(module)) {
    tvms_strbuf_puts(&passes, to_prim_funcs);
    add_schedule(options, code, false, &passes);
  } else {
    add_lifting(module, &passes);
    add_lowering(program->context, options, code, &passes);
  }
  module = lower(program, module, tvms_strbuf_text(&passes), options);
  tvms_strbuf_fini(&passes);
  return module;
}

// ---- What a library lacks ----

static bool holds_tensor(const tvms_node *TVMS_NULLABLE type) {
  if (!type) return false;
  if (type->kind == TVMS_NODE_SINFO_TENSOR) return true;
  if (type->kind != TVMS_NODE_SINFO_TUPLE) return false;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (holds_tensor(fields.items[i])) return true;
  }
  return false;
}

// Operators that call another function, which makes their tensors.
static bool calls_function(const tvms_call *call) {
  if (!call->args.len) return false;
  tvms_node_kind kind = call->args.items[0]->kind;
  return kind == TVMS_NODE_GLOBAL_VAR || kind == TVMS_NODE_EXTERN_FUNC;
}

static tvms_walk_step report_operator(void *self, tvms_node *node,
                                      tvms_field_role role) {
  tvms_module *module = self;
  (void)role;
  tvms_opcode opcode =
      node->kind == TVMS_NODE_CALL ? tvms_op_called(node) : TVMS_R_NONE;
  bool computes = opcode != TVMS_R_NONE && !tvms_interp_runs_operator(opcode)
                  && holds_tensor(node->sinfo) && !calls_function(tvms_as_call(node));
  if (!computes) return TVMS_WALK_ON;
  tvms_diag_report(&module->context->diags, TVMS_D_operator_without_prim_func,
                   node->span, tvms_op_of(opcode)->name);
  return TVMS_WALK_ON;
}

bool tvms_runnable_check_library(tvms_module *module, bool prim_funcs_only) {
  tvms_context *context = module->context;
  tvms_visitor visitor = {.self = module, .enter = report_operator};
  uint32_t compiled = 0;
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    if (!function) continue;
    if (function->kind == TVMS_NODE_FUNCTION)
      tvms_walk(&context->memory, function, &visitor);
    compiled += function->kind == TVMS_NODE_PRIM_FUNC;
  }
  if (!compiled) {
    tvms_diag_report(&context->diags, TVMS_D_nothing_to_compile, (tvms_span){0, 0});
    return false;
  }
  for (uint32_t i = 0; i < module->member_count && !prim_funcs_only; i++) {
    const tvms_member *left = &module->members[i];
    if (!left->function || left->function->kind == TVMS_NODE_PRIM_FUNC) continue;
    tvms_diag *diag =
        tvms_diag_report(&context->diags, TVMS_D_not_a_prim_func, left->name_span,
                         tvms_symbol_text(context, left->name));
    tvms_diag_remark(&context->diags, diag,
                     "--primfuncs-only leaves out what is not a PrimFunc");
  }
  return true;
}

// ---- One function ----

// Says that the entry is one of several: of classes, or of functions outside of them.
static void tell_several(const tvms_program *program, bool classes, tvms_sym entry) {
  tvms_context *context = program->context;
  const tvms_member *first = NULL, *others[MOST_SHOWN];
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_member *member = tvms_module_find(program->modules[i], entry);
    if (!member || program->modules[i]->bare == classes) continue;
    if (!first) first = member;
    if (count++ && count - 2 < MOST_SHOWN) others[count - 2] = member;
  }
  if (count < 2) return;
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_several_entries, first->name_span, count,
                       tvms_symbol_text(context, entry));
  for (uint32_t i = 0; i < count - 1 && i < MOST_SHOWN; i++) {
    tvms_diag_note(&context->diags, diag, others[i]->name_span, "another one");
  }
  tvms_diag_remark(&context->diags, diag, "--definition NAME takes that of another");
}

tvms_module *tvms_runnable_for(const tvms_program *program, const char *entry) {
  return tvms_runnable_lowered(program, entry, to_prim_funcs);
}

tvms_module *tvms_runnable_lowered(const tvms_program *program, const char *entry,
                                   const char *lowering) {
  tvms_context *context = program->context;
  tvms_sym wanted = symbol_of(context, entry);
  if (!program->count) {
    tvms_diag_report(&context->diags, TVMS_D_no_such_entry, (tvms_span){0, 0},
                     tvms_symbol_text(context, wanted));
    return NULL;
  }
  tvms_module *module = class_of_entry(program, wanted);
  tell_several(program, module != NULL, wanted);
  if (!module) module = join_modules(program, false);
  tvms_strbuf passes;
  tvms_strbuf_init(&passes, &context->memory);
  add_lifting(module, &passes);
  tvms_strbuf_puts(&passes, lowering);
  module = lower(program, module, tvms_strbuf_text(&passes), NULL);
  tvms_strbuf_fini(&passes);
  return module;
}

static tvms_walk_step find_object(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  bool found = node->kind == TVMS_NODE_CALL
               && tvms_call_opcode(node) == TVMS_TIR_anylist_setitem_call_packed;
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Objects are of libraries: code that tells where it failed has none.
static bool has_objects(const tvms_module *module) {
  tvms_visitor visitor = {.enter = find_object};
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    bool compiled = function && function->kind == TVMS_NODE_PRIM_FUNC;
    if (compiled && !tvms_walk(&module->context->memory, function, &visitor))
      return true;
  }
  return false;
}

tvms_module *tvms_runnable_host(const tvms_program *program, const char *entry) {
  tvms_context *context = program->context;
  tvms_program *copy = tvms_copy_program(program);
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_module *module = tvms_runnable_lowered(copy, entry, "host");
  const tvms_member *found = module ? tvms_runnable_entry(module, entry) : NULL;
  bool whole = found && found->function->kind == TVMS_NODE_PRIM_FUNC
               && !context->diags.errors && !has_objects(module);
  tvms_trial_drop(&trial);
  if (whole) return module;
  tvms_copy_destroy(copy, module);
  return NULL;
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

const tvms_member *tvms_runnable_entry(const tvms_module *module, const char *entry) {
  tvms_context *context = module->context;
  tvms_sym wanted = symbol_of(context, entry);
  const tvms_member *found = tvms_module_find(module, wanted);
  if (!found && !entry) found = only_member(module);
  bool runs =
      found && found->function && found->function->kind != TVMS_NODE_EXTERN_FUNC;
  if (runs) return found;
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_no_such_entry, (tvms_span){0, 0},
                       tvms_symbol_text(context, wanted));
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_diag_note(&context->diags, diag, module->members[i].name_span, "there is '%s'",
                   tvms_symbol_text(context, module->members[i].name));
  }
  return NULL;
}
