// Running functions before and behind passes.
#include "driver/semantics.h"

#include "driver/copy.h"
#include "driver/inputs.h"
#include "driver/late.h"
#include "driver/runnable.h"
#include "driver/values.h"
#include "interp/operators.h"
#include "interp/packed_entry.h"
#include "interp/prim.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Most loop iterations and calls of one run; what takes longer is not compared. A pass that makes of a small
// program one that takes so many times as long is not waited for, either.
enum { MOST_STEPS = 200 * 1000 * 1000, FEW_STEPS = 32 * 1000 * 1000, MOST_TIMES = 64 };

// What T.undef() is in the second run; 0 in all others.
enum { OTHER_NUMBER = 85 };

// How a run ended.
typedef enum { RAN, FAULTY, CANNOT_RUN } ending;

static tvms_memory *memory_of(const tvms_semantics *s) {
  return &s->context->memory;
}

// ---- How exact results must be ----

static tvms_walk_step find_narrowest(void *self, tvms_node *node,
                                     tvms_field_role role) {
  int *bits = self;
  (void)role;
  bool tensor = node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_TENSOR;
  tvms_dtype dtype = tensor ? node->sinfo->dtype : node->dtype;
  if (tvms_dtype_is_real(dtype) && dtype.bits < *bits) *bits = dtype.bits;
  return TVMS_WALK_ON;
}

static double tolerance_of(tvms_memory *memory, const tvms_module *module) {
  int bits = 64;
  tvms_visitor visitor = {.self = &bits, .enter = find_narrowest};
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (module->members[i].function)
      tvms_walk(memory, module->members[i].function, &visitor);
  }
  return bits == 64 ? 1e-9 : bits == 32 ? 1e-4 : bits == 16 ? 4e-2 : 0.25;
}

// ---- One run ----

// The program with one module, lowered; to be freed by tvms_copy_destroy.
typedef struct {
  tvms_program *copy;
  tvms_module *TVMS_NULLABLE module;
} runnable;

static runnable make_runnable(const tvms_semantics *s, const tvms_module *module) {
  tvms_module *modules[] = {(tvms_module *)(uintptr_t)module};
  tvms_program alone = *s->program;
  alone.modules = modules;
  alone.count = 1;
  runnable r = {.copy = tvms_copy_program(&alone)};
  r.module = tvms_runnable_lowered(r.copy, NULL, s->lowering);
  return r;
}

// The lowering of what has no definition.
static const char *lowering_of(tvms_semantics *s) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(s));
  const char *separator = "dispatch,LegalizeOps{inside=true,skip_ops=";
  for (int i = 1; i <= TVMS_OP_COUNT; i++) {
    if (!tvms_interp_defines((tvms_opcode)i)) continue;
    tvms_strbuf_printf(&text, "%s%s", separator, tvms_op_of((tvms_opcode)i)->name);
    separator = ";";
  }
  tvms_strbuf_putc(&text, '}');
  const char *copy = tvms_arena_text(&s->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  return copy;
}

typedef struct {
  tvms_semantics *s;
  tvms_semantics_results *results;
} collecting;

static void collect(void *self, const char *name, tvms_value value) {
  collecting *c = self;
  tvms_semantics_result result = {tvms_arena_text(&c->s->arena, name, strlen(name)),
                                  tvms_value_keep(value)};
  tvms_vec_push(memory_of(c->s), c->results, result);
}

static bool is_lack(tvms_diag_id id) {
  return id == TVMS_D_not_interpreted || id == TVMS_D_call_not_interpreted
         || id == TVMS_D_unknown_function || id == TVMS_D_no_random_input
         || id == TVMS_D_too_many_steps || id == TVMS_D_too_much_memory
         || id == TVMS_D_no_memory_of_kind;
}

// ---- Inputs ----

// A value that a run may write to.
static tvms_value copy_of(tvms_heap *heap, tvms_value value) {
  if (value.kind != TVMS_VALUE_TENSOR) return tvms_value_keep(value);
  const tvms_dl_tensor *view = &value.tensor->view;
  tvms_tensor *copy = tvms_tensor_new(heap, view->dtype, view->ndim, view->shape);
  if (!copy) return (tvms_value){0};
  if (value.tensor->bytes) memcpy(copy->view.data, view->data, value.tensor->bytes);
  return tvms_value_of_tensor(copy);
}

// Does a PrimFunc take what were tensors as addresses? MakeUnpackedAPI makes such ones.
static bool takes_addresses(const tvms_semantics_function *f,
                            const tvms_member *member) {
  if (member->function->kind != TVMS_NODE_PRIM_FUNC) return false;
  const tvms_prim_func *prim = tvms_as_prim_func(member->function);
  for (uint32_t i = 0; i < prim->params.len && i < f->param_count; i++) {
    bool address =
        !prim->buffers.items[i] && tvms_dtype_is_handle(prim->params.items[i]->dtype);
    if (address && f->inputs[i].kind == TVMS_VALUE_TENSOR) return true;
  }
  return false;
}

// Random inputs for `member`, kept with the function if they are its first; what is lowered for
// calls from outside gets those that were kept.
static bool make_inputs(tvms_semantics *s, tvms_semantics_function *f,
                        const tvms_member *member, bool lowered, tvms_heap *heap,
                        tvms_value *values) {
  for (uint32_t i = 0; lowered && i < f->param_count; i++)
    values[i] = copy_of(heap, f->inputs[i]);
  if (lowered) return true;
  tvms_inputs inputs;
  tvms_inputs_init(&inputs, s->context, member, heap, values);
  bool filled = tvms_inputs_fill(&inputs);
  tvms_inputs_fini(&inputs);
  if (!filled || f->inputs) return filled;
  f->inputs = tvms_arena_array(&s->arena, tvms_value, f->param_count + 1);
  for (uint32_t i = 0; i < f->param_count; i++)
    f->inputs[i] = copy_of(&f->heap, values[i]);
  return true;
}

// Steps that a run may take, by those of the first one.
static uint64_t limit_of(const tvms_semantics_function *f) {
  uint64_t steps = MOST_TIMES * f->steps;
  if (f->steps == 0 || steps > MOST_STEPS) return MOST_STEPS;
  return steps > FEW_STEPS ? steps : FEW_STEPS;
}

// Calls `member`; inside of a trial, whose first finding says why not.
static tvms_status call(tvms_semantics *s, tvms_semantics_function *f,
                        const tvms_module *module, const tvms_member *member,
                        tvms_heap *heap, int8_t undefined,
                        tvms_semantics_results *results) {
  bool packed = tvms_interp_is_packed_entry(member->function);
  bool by_address = !packed && f->inputs && takes_addresses(f, member);
  uint32_t count = packed ? f->param_count : tvms_inputs_param_count(member);
  tvms_value *values = tvms_arena_array(&s->arena, tvms_value, count + 1);
  if (!make_inputs(s, f, member, f->inputs && (packed || by_address), heap, values))
    return TVMS_FOUND_ERRORS;
  tvms_interp interp = {.context = s->context,
                        .module = module,
                        .heap = heap,
                        .step_limit = limit_of(f),
                        .defines = true,
                        .foreign = s->foreign,
                        .undefined = undefined};
  tvms_late late = {0};
  tvms_runnable_use_late(&late, &interp);
  tvms_value result;
  tvms_status status = tvms_interp_call(&interp, member, values, count, &result);
  tvms_runnable_close_late(&late);
  if (f->steps == 0) f->steps = interp.steps;
  if (status != TVMS_OK) return status;
  // What takes addresses returns an error code.
  if (by_address && result.kind == TVMS_VALUE_INT && !result.i)
    result = (tvms_value){0};
  collecting c = {s, results};
  bool is_prim = member->function->kind == TVMS_NODE_PRIM_FUNC;
  // Which buffers it writes is no question: a pass may write by way of views.
  for (uint32_t i = 0; is_prim && i < count; i++) {
    if (values[i].kind == TVMS_VALUE_TENSOR) collect(&c, f->params[i], values[i]);
  }
  if (!is_prim || result.kind != TVMS_VALUE_NONE)
    tvms_values_each_result(s->context, member, values, result, collect, &c);
  return TVMS_OK;
}

// Runs a function of a module; `why` gets the reason if it does not end well.
static ending run(tvms_semantics *s, const runnable *r, tvms_semantics_function *f,
                  tvms_heap *heap, int8_t undefined, tvms_semantics_results *results,
                  const char **why) {
  const tvms_member *member = r->module ? tvms_module_find(r->module, f->name) : NULL;
  *why = "its module cannot be lowered";
  if (!member || !member->function) return CANNOT_RUN;
  tvms_trial trial;
  tvms_trial_begin(&trial, &s->context->diags);
  tvms_status status = call(s, f, r->module, member, heap, undefined, results);
  const tvms_diag *first = s->context->diags.first;
  while (first && first->severity != TVMS_SEVERITY_ERROR)
    first = first->next;
  *why = first ? first->text : "it reaches a limit";
  bool lacks = !first || is_lack(first->id);
  tvms_trial_drop(&trial);
  return status == TVMS_OK ? RAN : lacks ? CANNOT_RUN : FAULTY;
}

// ---- Before the first pass ----

static void say_not_compared(tvms_semantics *s, tvms_sym name, tvms_span span,
                             const char *why) {
  tvms_diag_report(&s->context->diags, TVMS_D_semantics_unknown, span,
                   tvms_symbol_text(s->context, name), why);
}

static void note_params(tvms_semantics *s, tvms_semantics_function *f,
                        const tvms_member *member) {
  f->param_count = tvms_inputs_param_count(member);
  f->params = tvms_arena_array(&s->arena, const char *, f->param_count);
  for (uint32_t i = 0; i < f->param_count; i++)
    f->params[i] = tvms_inputs_param_name(s->context, member, i);
}

static tvms_walk_step find_undefined(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self, (void)role;
  return tvms_call_opcode(node) == TVMS_TIR_undef ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool mentions_undefined(tvms_memory *memory, const tvms_module *module) {
  tvms_visitor visitor = {.enter = find_undefined};
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    if (function && !tvms_walk(memory, function, &visitor)) return true;
  }
  return false;
}

static void begin_function(tvms_semantics *s, const runnable *r,
                           const tvms_member *member) {
  tvms_semantics_function *f = tvms_arena_new(&s->arena, tvms_semantics_function);
  *f = (tvms_semantics_function){.name = member->name};
  tvms_heap_init(&f->heap, memory_of(s));
  note_params(s, f, member);
  const char *why;
  f->runs = run(s, r, f, &f->heap, 0, &f->results, &why) == RAN;
  if (f->runs && s->has_undefined) {
    f->runs = run(s, r, f, &f->heap, OTHER_NUMBER, &f->others, &why) == RAN;
    why = "whether it ends well depends on T.undef()";
  }
  if (!f->runs) say_not_compared(s, f->name, member->name_span, why);
  tvms_vec_push(memory_of(s), &s->functions, f);
}

static bool is_public(const tvms_member *member) {
  const tvms_node *function = member->function;
  return function && function->kind != TVMS_NODE_EXTERN_FUNC
         && !(function->flags & TVMS_FLAG_PRIVATE);
}

// Makes the module runnable; what is said about it is forgotten.
static runnable open_runnable(const tvms_semantics *s, const tvms_module *module) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &s->context->diags);
  runnable r = make_runnable(s, module);
  tvms_trial_drop(&trial);
  return r;
}

void tvms_semantics_begin(tvms_semantics *s, const tvms_program *program,
                          const tvms_module *module, const tvms_foreign *foreign) {
  *s = (tvms_semantics){
      .context = program->context, .program = program, .foreign = foreign};
  tvms_arena_init(&s->arena, memory_of(s));
  s->tolerance = tolerance_of(memory_of(s), module);
  s->lowering = lowering_of(s);
  s->has_undefined = mentions_undefined(memory_of(s), module);
  runnable r = open_runnable(s, module);
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (is_public(&module->members[i])) begin_function(s, &r, &module->members[i]);
  }
  tvms_copy_destroy(r.copy, r.module);
}

// ---- Behind a pass ----

// A difference in words: at which element, what it is and what it was.
typedef struct {
  char place[128];
  char now[32], before[32];
} difference;

static void write_scalar(char text[32], bool real, tvms_scalar value) {
  if (real)
    snprintf(text, 32, "%.9g", value.f);
  else
    snprintf(text, 32, "%lld", (long long)value.i);
}

static void write_index(char place[128], const char *name, const tvms_tensor *tensor,
                        int64_t at) {
  int64_t rest = at, index[16];
  int ndim = tensor->view.ndim < 16 ? tensor->view.ndim : 0;
  for (int i = ndim; i > 0; i--) {
    index[i - 1] = rest % tensor->shape[i - 1];
    rest /= tensor->shape[i - 1];
  }
  int len = snprintf(place, 128, "%s%s", name, ndim ? "[" : "");
  for (int i = 0; i < ndim && len < 100; i++)
    len += snprintf(place + len, (size_t)(128 - len), "%s%lld", i ? ", " : "",
                    (long long)index[i]);
  if (ndim) snprintf(place + len, (size_t)(128 - len), "]");
}

static double largest_of(const tvms_tensor *tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tvms_tensor_len(tensor); i++) {
    double value = fabs(tvms_tensor_get(tensor, i).f);
    if (isfinite(value) && value > largest) largest = value;
  }
  return largest;
}

static bool is_near(double a, double b, double bound) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= bound;
}

// Whether an element depends on T.undef().
static bool is_undefined(const tvms_tensor *a, const tvms_tensor *other, int64_t at) {
  tvms_scalar x = tvms_tensor_get(a, at), y = tvms_tensor_get(other, at);
  bool real = tvms_scalar_kind_is_real(a->view.dtype.code);
  return real ? !is_near(x.f, y.f, 0) : x.i != y.i;
}

static bool same_type(const tvms_tensor *a, const tvms_tensor *b) {
  return memcmp(&a->view.dtype, &b->view.dtype, sizeof a->view.dtype) == 0
         && a->view.ndim == b->view.ndim
         && memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->view.ndim) == 0;
}

// other: what `a` is if T.undef() is another number; NULL: the same.
static bool same_tensor(const tvms_semantics *s, const char *name, const tvms_tensor *a,
                        const tvms_tensor *b, const tvms_tensor *TVMS_NULLABLE other,
                        difference *d) {
  if (!same_type(a, b)) {
    snprintf(d->place, sizeof d->place, "%s", name);
    snprintf(d->now, sizeof d->now, "of another type or shape");
    snprintf(d->before, sizeof d->before, "of its own");
    return false;
  }
  bool real = tvms_scalar_kind_is_real(a->view.dtype.code);
  double bound = real ? s->tolerance * largest_of(a) : 0;
  for (int64_t i = 0; i < tvms_tensor_len(a); i++) {
    tvms_scalar x = tvms_tensor_get(a, i), y = tvms_tensor_get(b, i);
    if (real ? is_near(x.f, y.f, bound) : x.i == y.i) continue;
    if (other && is_undefined(a, other, i)) continue;
    write_index(d->place, name, a, i);
    write_scalar(d->before, real, x);
    write_scalar(d->now, real, y);
    return false;
  }
  return true;
}

static bool same_value(const tvms_semantics *s, const tvms_semantics_result *before,
                       const tvms_semantics_result *TVMS_NULLABLE other, tvms_value now,
                       difference *d) {
  tvms_value was = before->value;
  snprintf(d->place, sizeof d->place, "%s", before->name);
  snprintf(d->now, sizeof d->now, "another kind of value");
  snprintf(d->before, sizeof d->before, "of its own");
  if (was.kind != now.kind) return false;
  bool real = was.kind == TVMS_VALUE_FLOAT;
  if (was.kind == TVMS_VALUE_TENSOR)
    return same_tensor(s, before->name, was.tensor, now.tensor,
                       other ? other->value.tensor : NULL, d);
  if (!real && was.kind != TVMS_VALUE_INT && was.kind != TVMS_VALUE_BOOL) return true;
  bool same = real ? is_near(was.f, now.f, s->tolerance * fabs(was.f)) : was.i == now.i;
  if (other && (real ? was.f != other->value.f : was.i != other->value.i)) return true;
  write_scalar(d->before, real, (tvms_scalar){.i = was.i});
  write_scalar(d->now, real, (tvms_scalar){.i = now.i});
  return same;
}

static bool same_results(const tvms_semantics *s, const tvms_semantics_function *f,
                         const tvms_semantics_results *now, difference *d) {
  const tvms_semantics_results *before = &f->results;
  if (before->len != now->len) {
    snprintf(d->place, sizeof d->place, "the number of results");
    snprintf(d->now, sizeof d->now, "%u", now->len);
    snprintf(d->before, sizeof d->before, "%u", before->len);
    return false;
  }
  for (uint32_t i = 0; i < before->len; i++) {
    const tvms_semantics_result *other = i < f->others.len ? &f->others.items[i] : NULL;
    if (!same_value(s, &before->items[i], other, now->items[i].value, d)) return false;
  }
  return true;
}

static bool same_params(const tvms_semantics *s, const tvms_semantics_function *f,
                        const tvms_member *member) {
  bool same = tvms_inputs_param_count(member) == f->param_count;
  for (uint32_t i = 0; same && i < f->param_count; i++)
    same = strcmp(f->params[i], tvms_inputs_param_name(s->context, member, i)) == 0;
  return same;
}

static void compare_function(tvms_semantics *s, const runnable *r,
                             tvms_semantics_function *f,
                             const tvms_semantics_change *change) {
  const char *name = tvms_symbol_text(s->context, f->name);
  tvms_heap heap;
  tvms_heap_init(&heap, memory_of(s));
  tvms_semantics_results results = {0};
  const char *why;
  difference d;
  ending end = run(s, r, f, &heap, 0, &results, &why);
  tvms_diags *diags = &s->context->diags;
  if (end == CANNOT_RUN) {
    f->runs = false;
    say_not_compared(s, f->name, change->span, why);
  } else if (end == FAULTY) {
    tvms_diag_report(diags, TVMS_D_semantics_fault, change->span, name, change->name,
                     why);
  } else if (!same_results(s, f, &results, &d)) {
    tvms_diag_report(diags, TVMS_D_semantics_differ, change->span, name, change->name,
                     d.place, d.now, d.before);
  }
  tvms_vec_fini(memory_of(s), &results);
  tvms_heap_fini(&heap);
}

void tvms_semantics_compare(tvms_semantics *s, const tvms_semantics_change *change,
                            const tvms_module *module) {
  tvms_diags *diags = &s->context->diags;
  tvms_source *source = diags->source;
  runnable r = open_runnable(s, module);
  diags->source = change->source;
  double tolerance = tolerance_of(memory_of(s), module);
  if (tolerance > s->tolerance && !s->fixed) s->tolerance = tolerance;
  for (uint32_t i = 0; i < s->functions.len && !diags->errors; i++) {
    tvms_semantics_function *f = s->functions.items[i];
    if (!f->runs) continue;
    const tvms_member *member = tvms_module_find(module, f->name);
    bool there = member && member->function && is_public(member);
    bool packed = there && tvms_interp_is_packed_entry(member->function);
    if (packed || (there && same_params(s, f, member))) {
      compare_function(s, &r, f, change);
      continue;
    }
    f->runs = false;
    say_not_compared(s, f->name, change->span,
                     there ? "its parameters are others from here on"
                           : "it is gone, private or has another name from here on");
  }
  diags->source = source;
  tvms_copy_destroy(r.copy, r.module);
}

void tvms_semantics_compare_programs(const tvms_program *before,
                                     const tvms_program *now, tvms_source *source,
                                     double tolerance, const tvms_foreign *foreign) {
  for (uint32_t i = 0; i < before->count && i < now->count; i++) {
    tvms_semantics s;
    tvms_semantics_begin(&s, before, before->modules[i], foreign);
    s.fixed = tolerance >= 0;
    if (s.fixed) s.tolerance = tolerance;
    s.program = now;
    tvms_semantics_change change = {source, now->modules[i]->name_span, source->name};
    tvms_semantics_compare(&s, &change, now->modules[i]);
    tvms_semantics_end(&s);
  }
}

void tvms_semantics_end(tvms_semantics *s) {
  for (uint32_t i = 0; i < s->functions.len; i++) {
    tvms_vec_fini(memory_of(s), &s->functions.items[i]->results);
    tvms_vec_fini(memory_of(s), &s->functions.items[i]->others);
    tvms_heap_fini(&s->functions.items[i]->heap);
  }
  tvms_vec_fini(memory_of(s), &s->functions);
  tvms_arena_fini(&s->arena);
}
