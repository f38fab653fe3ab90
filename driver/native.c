// Compiling what one function calls, and finding it from the interpreter.
#include "driver/native.h"

#include "driver/copy.h"
#include "interp/meaning.h"
#include "ir/clone.h"
#include "ir/contract.h"
#include "ir/target_json.h"
#include "ir/walk.h"
#include "passes/manager.h"
#include "passes/pipeline.h"

bool tvms_native_run_passes(tvms_module *module, const char *passes,
                            const tvms_pass_hooks *hooks) {
  tvms_context *context = module->context;
  tvms_pipeline pipeline;
  uint32_t errors = context->diags.errors;
  if (!tvms_pipeline_parse(context, "<lowering>", passes, &pipeline)) return false;
  bool before = context->lowers;
  context->lowers = true;
  bool done = tvms_pipeline_run(context, module, &pipeline, UINT32_MAX, hooks, NULL);
  context->lowers = before;
  tvms_pipeline_fini(context, &pipeline);
  return done && context->diags.errors == errors;
}

// The target as passes read it: what a config says of it beside processor and features has no other form than JSON.
static void write_target(const tvms_native_options *options, tvms_strbuf *passes) {
  const tvms_target *target = options->target;
  if (!target || target->host) {
    tvms_strbuf_puts(passes, "host");
  } else if (target->config) {
    tvms_target_json_write(target, passes);
  } else {
    tvms_strbuf_puts(passes, target->triple);
    const char *const parts[] = {target->cpu, target->features};
    for (uint32_t i = 0; i < 2 && (target->cpu || target->features); i++)
      tvms_strbuf_printf(passes, ",%s", parts[i] ? parts[i] : "");
  }
}

void tvms_native_fuse_attention(const tvms_native_options *options,
                                tvms_strbuf *passes) {
  tvms_strbuf_puts(passes, "FuseAttention{target='");
  write_target(options, passes);
  tvms_strbuf_puts(passes, "'}");
}

void tvms_native_schedule(const tvms_native_options *options, tvms_strbuf *passes) {
  if (options->contract) tvms_strbuf_puts(passes, "WidenSums,");
  tvms_strbuf_puts(passes, "ScheduleCPU{target='");
  write_target(options, passes);
  tvms_strbuf_puts(passes, options->contract ? "',reorder=true}" : "'}");
}

// Memory of tensors stays with the threads that have a share of each. Loops over sums that have room in registers are
// written out: three quarters are for sums, the others for what is added.
static void lower_for_target(tvms_module *module, const tvms_native_options *options,
                             bool scheduled, tvms_strbuf *passes) {
  tvms_target host = {0};
  if (!options->target) tvms_target_from_host(&module->unit, &host);
  const tvms_target *target = options->target ? options->target : &host;
  tvms_strbuf_printf(passes, "native-loops,LiftAllocations{shares=%u}",
                     target->cores ? target->cores : 1);
  uint32_t bytes = target->vector_registers / 4 * 3 * (target->vector_bits / 8);
  if (bytes && scheduled)
    tvms_strbuf_printf(passes, ",UnrollLoop{local_bytes=%u,fold=true}", bytes);
}

bool tvms_native_lower(tvms_module *module, const tvms_native_options *options) {
  bool scheduled = !options->checked && !options->as_written;
  tvms_strbuf passes;
  tvms_strbuf_init(&passes, &module->context->memory);
  if (scheduled) {
    tvms_native_schedule(options, &passes);
    tvms_strbuf_puts(&passes, ",");
  }
  if (options->checked)
    tvms_strbuf_puts(&passes, "native-checked");
  else
    lower_for_target(module, options, scheduled, &passes);
  if (options->contract && tvms_target_has_fma(module->context, options->target))
    tvms_strbuf_puts(&passes, ",VectorMath");
  bool done = tvms_native_run_passes(module, tvms_strbuf_text(&passes), NULL);
  tvms_strbuf_fini(&passes);
  return done;
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
  // A function may be called by a text, too.
  const tvms_member *called = node->kind == TVMS_NODE_STRING_IMM
                                  ? tvms_meaning_of_named(r->module, node)
                                  : tvms_module_named(r->module, node);
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

// ---- What is interpreted ----

// Lists of objects are those of the interpreter, which knows what pointers into them mean.
static tvms_walk_step find_objects(void *self, tvms_node *node, tvms_field_role role) {
  bool *found = self;
  (void)role;
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_anylist_getitem:
  case TVMS_TIR_anylist_resetitem:
  case TVMS_TIR_anylist_setitem_call_packed: *found = true; break;
  default: break;
  }
  return *found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does a function call one that is not in the module any more?
typedef struct {
  const tvms_module *all, *left;
  bool found;
} missing;

static tvms_walk_step find_missing(void *self, tvms_node *node, tvms_field_role role) {
  missing *m = self;
  (void)role;
  const tvms_member *called = node->kind == TVMS_NODE_STRING_IMM
                                  ? tvms_meaning_of_named(m->all, node)
                                  : tvms_module_named(m->all, node);
  m->found |= called && !tvms_module_find(m->left, called->name);
  return m->found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_interpreted(const tvms_module *all, const tvms_module *left,
                           tvms_node *function) {
  bool found = false;
  tvms_memory *memory = &all->context->memory;
  if (function->kind != TVMS_NODE_PRIM_FUNC) return false;
  tvms_visitor objects = {.self = &found, .enter = find_objects};
  tvms_walk(memory, function, &objects);
  missing m = {all, left, false};
  tvms_visitor calls = {.self = &m, .enter = find_missing};
  if (!found) tvms_walk(memory, function, &calls);
  return found || m.found;
}

// Leaves PrimFuncs out that have lists of objects, and those that call such ones.
static void leave_out(const tvms_module *all, tvms_module *module) {
  uint32_t before;
  do {
    before = module->member_count;
    for (uint32_t i = module->member_count; i-- > 0;) {
      tvms_node *function = module->members[i].function;
      if (!function || !is_interpreted(all, module, function)) continue;
      module->members[i] = module->members[--module->member_count];
    }
  } while (module->member_count != before);
}

// The code of what was a Relax function may take more memory from its caller than the text says
// (LiftAllocations): the entry gets the parameters of its code.
static void take_params(const tvms_module *module, const tvms_module *lowered,
                        tvms_sym name) {
  const tvms_member *made = tvms_module_find(lowered, name);
  tvms_member *entry = tvms_module_find(module, name);
  if (!made || entry->function->kind != TVMS_NODE_PRIM_FUNC) return;
  if (!tvms_call_contract(tvms_as_prim_func(entry->function)).result_text) return;
  entry->function = tvms_clone(entry->unit, made->function, NULL);
}

bool tvms_compiled_open(tvms_compiled *compiled, const tvms_backend *backend,
                        tvms_module *module, const tvms_member *entry,
                        const tvms_native_options *given) {
  tvms_context *context = module->context;
  tvms_native_options options = *given;
  options.traced = true;
  *compiled = (tvms_compiled){.context = context, .module = module};
  tvms_module *reached = reachable(context, module, entry);
  leave_out(module, reached);
  tvms_module *lowered = tvms_copy_module(reached);
  tvms_status status = TVMS_FOUND_ERRORS;
  if (tvms_native_lower(lowered, &options))
    status = backend->compile(context, lowered, &options, &compiled->jit);
  if (status == TVMS_OK) take_params(module, lowered, entry->name);
  tvms_module_destroy(lowered);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&context->memory, status);
  if (status != TVMS_OK) return false;
  compiled->backend = backend;
  compiled->kernels =
      tvms_arena_array(&context->arena, tvms_safe_call, module->member_count);
  tvms_memory_hold(&context->memory, &compiled->resource, close_jit, compiled);
  compiled->held = true;
  return true;
}

void tvms_compiled_keep(tvms_compiled *compiled) {
  if (compiled->held)
    tvms_memory_release(&compiled->context->memory, &compiled->resource);
  compiled->held = false;
}

void tvms_compiled_close(tvms_compiled *compiled) {
  if (!compiled->backend) return;
  tvms_compiled_keep(compiled);
  close_jit(compiled);
  compiled->backend = NULL;
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

void tvms_compiled_use(tvms_compiled *compiled, tvms_interp *interp) {
  if (!compiled->backend) return;
  interp->kernel = find_kernel;
  interp->kernel_state = compiled;
}
