// EliminateCommonSubexpr: what is computed twice is computed once.
//
// Before: a = R.add(x, y); b = R.add(x, y); c = R.multiply(a, b)
// After:  a = R.add(x, y); b = a;           c = R.multiply(a, a)
//
// The second binding stays as a copy. What a branch computes serves the branch, what a
// dataflow block computes for itself serves the block, and a local function shares nothing
// with what is around it. Calls with effects and allocations are left alone; with call_only,
// so is everything but calls, and with keep_packed what packed functions return,
// what is computed with objects, and what calls write over. TVM: relax.transform.EliminateCommonSubexpr.
#include "passes/relax/graph/eliminate_common_subexpr.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/relax/analysis/overwritten.h"
#include "passes/remarks.h"
#include "structinfo/definitions.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

// A value that was bound, with the variables that have it, the first one first.
typedef struct {
  uint64_t hash;
  const tvms_node *value;
  const tvms_node *TVMS_NULLABLE type;  // of a match_cast
  tvms_node_vec vars;                   // none: no scope here has it
  uint32_t next;                        // entry of the same bucket + 1
} entry;

enum { LEAST_BUCKETS = 64 };

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  bool call_only;
  bool keep_packed;
  bool keep_objects;
  bool tells;  // remarks are wanted of this pass, and not of one that shares by the way
  tvms_relax_overwritten *TVMS_NULLABLE overwritten;  // in all functions around
  TVMS_VEC(entry) entries;
  uint32_t *TVMS_NULLABLE buckets;  // entry + 1
  uint32_t bucket_count;            // a power of two, at least as many as entries
  // Entry to which a variable was added, in order: to take it back.
  struct {
    struct addition {
      uint32_t entry;
      tvms_node *var;
    } * items;
    uint32_t len;
    uint32_t cap;
  } additions;
  tvms_node_vec replaced;  // variables that others stand for, in order
} eliminator;

static tvms_memory *memory_of(const eliminator *e) {
  return &e->run->context->memory;
}

// ---- What may be shared ----

static tvms_walk_step find_effect(void *self, tvms_node *node, tvms_field_role role) {
  const eliminator *e = self;
  (void)role;
  if (node->kind == TVMS_NODE_FUNCTION) return TVMS_WALK_SKIP;
  bool impure = node->kind == TVMS_NODE_CALL && tvms_call_opcode(node) == TVMS_TIR_NONE
                && !tvms_infer_call_is_pure(e->run->module, tvms_as_call(node));
  return impure ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool allocates(const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return false;
  tvms_opcode op = tvms_op_called(value);
  return op == TVMS_R_builtin_alloc_tensor || op == TVMS_R_memory_alloc_storage
         || op == TVMS_R_memory_alloc_tensor || op == TVMS_R_vm_alloc_storage
         || op == TVMS_R_vm_alloc_tensor;
}

// Is there something of unknown kind among these, such as a cache?
static bool has_object(tvms_list values) {
  for (uint32_t i = 0; i < values.len; i++) {
    const tvms_node *value = values.items[i];
    if (value->kind == TVMS_NODE_TUPLE && has_object(tvms_as_tuple(value)->fields))
      return true;
    if (value->sinfo && value->sinfo->kind == TVMS_NODE_SINFO_OBJECT) return true;
  }
  return false;
}

// What a packed function returns may be changed by another one later, though both calls are said to be
// pure: caches of attention are.
static bool calls_packed(const tvms_node *value) {
  tvms_opcode op = value->kind == TVMS_NODE_CALL ? tvms_op_called(value) : TVMS_R_NONE;
  return op == TVMS_R_call_pure_packed || op == TVMS_R_call_inplace_packed;
}

// What is computed with a cache is another result each time.
static bool uses_object(const tvms_node *value) {
  return value->kind == TVMS_NODE_CALL && has_object(tvms_as_call(value)->args);
}

// Why a value may not be shared; NULL: it may.
static const char *TVMS_NULLABLE obstacle(eliminator *e, tvms_node *var,
                                          tvms_node *value) {
  if (e->call_only && value->kind != TVMS_NODE_CALL)
    return "with call_only, what is not a call stays";
  tvms_visitor visitor = {.self = e, .enter = find_effect};
  if (!tvms_walk(memory_of(e), value, &visitor)) return "it may have side effects";
  if (e->keep_packed && calls_packed(value))
    return "with keep_packed, calls of packed functions stay";
  if (e->overwritten && tvms_relax_is_overwritten(e->overwritten, var))
    return "with keep_packed, what a call writes over stays";
  if (e->keep_objects && uses_object(value)) return "an argument may have changed";
  return allocates(value) ? "it allocates memory" : NULL;
}

// ---- The table ----

// Are the symbols in two types that are equal the same ones? Those that a match_cast defines
// are others than those of another.
static bool same_symbols(const tvms_node *a, const tvms_node *b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  if (a->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list one = tvms_as_sinfo_tuple(a)->fields,
              two = tvms_as_sinfo_tuple(b)->fields;
    for (uint32_t i = 0; i < one.len && i < two.len; i++) {
      if (!same_symbols(one.items[i], two.items[i])) return false;
    }
    return one.len == two.len;
  }
  tvms_list dims, others;
  bool sized = a->kind == TVMS_NODE_SINFO_TENSOR || a->kind == TVMS_NODE_SINFO_SHAPE;
  if (!sized || !tvms_sinfo_dims(a, &dims) || !tvms_sinfo_dims(b, &others)) return true;
  for (uint32_t i = 0; i < dims.len && i < others.len; i++) {
    if (!tvms_node_same_expr(dims.items[i], others.items[i])) return false;
  }
  return true;
}

static bool same_type(const eliminator *e, const tvms_node *TVMS_NULLABLE a,
                      const tvms_node *TVMS_NULLABLE b) {
  if (!a || !b) return a == b;
  return tvms_node_equal(e->run->context, a, b) && same_symbols(a, b);
}

static uint32_t *bucket_of(const eliminator *e, uint64_t hash) {
  return &e->buckets[(hash >> 32) & (e->bucket_count - 1)];
}

static void link_entry(eliminator *e, uint32_t at) {
  uint32_t *bucket = bucket_of(e, e->entries.items[at].hash);
  e->entries.items[at].next = *bucket;
  *bucket = at + 1;
}

static void double_buckets(eliminator *e) {
  tvms_memory_free(memory_of(e), e->buckets);
  e->bucket_count = e->bucket_count ? e->bucket_count * 2 : LEAST_BUCKETS;
  e->buckets = tvms_memory_alloc(memory_of(e), e->bucket_count * sizeof *e->buckets);
  for (uint32_t i = 0; i < e->entries.len; i++)
    link_entry(e, i);
}

static uint32_t find_entry(const eliminator *e, uint64_t hash, const tvms_node *value,
                           const tvms_node *TVMS_NULLABLE type) {
  uint32_t at = e->buckets ? *bucket_of(e, hash) : 0;
  for (; at; at = e->entries.items[at - 1].next) {
    const entry *found = &e->entries.items[at - 1];
    if (found->hash != hash || !same_type(e, found->type, type)) continue;
    if (tvms_node_equal(e->run->context, found->value, value)) return at - 1;
  }
  return UINT32_MAX;
}

static void add_variable(eliminator *e, uint32_t at, tvms_node *var) {
  tvms_vec_push(memory_of(e), &e->entries.items[at].vars, var);
  tvms_vec_push(memory_of(e), &e->additions, ((struct addition){at, var}));
}

static uint32_t add_entry(eliminator *e, uint64_t hash, const tvms_node *value,
                          const tvms_node *TVMS_NULLABLE type) {
  if (e->entries.len >= e->bucket_count) double_buckets(e);
  entry made = {.hash = hash, .value = value, .type = type};
  tvms_vec_push(memory_of(e), &e->entries, made);
  link_entry(e, e->entries.len - 1);
  return e->entries.len - 1;
}

static void take_back(eliminator *e, struct addition added) {
  tvms_node_vec *vars = &e->entries.items[added.entry].vars;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < vars->len; i++) {
    if (vars->items[i] != added.var) vars->items[kept++] = vars->items[i];
  }
  vars->len = kept;
}

// ---- Scopes ----

typedef struct {
  uint32_t additions;
  uint32_t replaced;
} mark;

static mark here(const eliminator *e) {
  return (mark){e->additions.len, e->replaced.len};
}

// Takes back what was found out since the mark; `all`: not only what variables of dataflow
// blocks have.
static void leave_scope(eliminator *e, tvms_rewriter *r, mark since, bool all) {
  for (uint32_t i = e->additions.len; i > since.additions; i--) {
    struct addition added = e->additions.items[i - 1];
    if (all || added.var->flags & TVMS_FLAG_DATAFLOW) take_back(e, added);
  }
  if (all) e->additions.len = since.additions;
  while (e->replaced.len > since.replaced) {
    tvms_node_map_put(&r->known, e->replaced.items[--e->replaced.len], NULL);
  }
}

static tvms_node *rewrite_branch(tvms_rewriter *r, tvms_node *branch) {
  eliminator *e = r->self;
  mark since = here(e);
  tvms_node *made = tvms_rewrite(r, branch);
  leave_scope(e, r, since, true);
  return made;
}

static tvms_node *enter_if(tvms_rewriter *r, tvms_node *node) {
  const tvms_if *old = tvms_as_if(node);
  tvms_node *condition = tvms_rewrite(r, old->condition);
  tvms_node *a = rewrite_branch(r, old->true_branch),
            *b = rewrite_branch(r, old->false_branch);
  bool same =
      condition == old->condition && a == old->true_branch && b == old->false_branch;
  if (same) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_if(copy)->condition = condition;
  tvms_as_if(copy)->true_branch = a;
  tvms_as_if(copy)->false_branch = b;
  return copy;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *block) {
  if (!(block->flags & TVMS_FLAG_DATAFLOW)) return TVMS_REWRITE_BELOW;
  eliminator *e = r->self;
  mark since = here(e);
  tvms_node *made = tvms_rewrite_below(r, block);
  leave_scope(e, r, since, false);
  return made;
}

// ---- Bindings ----

static tvms_node *copy_of(eliminator *e, const tvms_node *binding, tvms_node *value) {
  tvms_var_binding *made = tvms_node_make(e->unit, VAR_BINDING, binding->span);
  made->head.flags = binding->kind == TVMS_NODE_VAR_BINDING ? binding->flags : 0;
  made->value = value;
  made->var = tvms_relax_binding_var(binding);
  return &made->head;
}

static void say_shared(const eliminator *e, const tvms_node *value,
                       const tvms_node *first) {
  if (!e->tells) return;
  tvms_pass_count(e->run, "values shared", 1);
  tvms_pass_remark(e->run, TVMS_REMARK_PASSED, TVMS_D_value_shared, value->span,
                   tvms_symbol_text(e->run->context, tvms_as_var(first)->name));
}

static void say_computed_again(const eliminator *e, const tvms_node *value,
                               const char *why) {
  if (!e->tells) return;
  tvms_pass_count(e->run, "values computed again", 1);
  tvms_pass_remark(e->run, TVMS_REMARK_MISSED, TVMS_D_value_not_shared, value->span,
                   why);
}

static tvms_node *leave_binding(tvms_rewriter *r, tvms_node *binding) {
  eliminator *e = r->self;
  tvms_node *value = tvms_relax_binding_value(binding);
  tvms_node *var = tvms_relax_binding_var(binding);
  const char *why = obstacle(e, var, value);
  if (why && !e->tells) return binding;
  const tvms_node *type =
      binding->kind == TVMS_NODE_MATCH_CAST ? tvms_as_match_cast(binding)->type : NULL;
  uint64_t hash = tvms_node_hash(e->run->context, value);
  uint32_t at = find_entry(e, hash, value, type);
  bool again = at != UINT32_MAX;
  if (!again) at = add_entry(e, hash, value, type);
  if (why || e->entries.items[at].vars.len == 0) {
    if (again)
      say_computed_again(e, value, why ? why : "the scope that has it has ended");
    if (!why) add_variable(e, at, var);
    return binding;
  }
  tvms_node *first = e->entries.items[at].vars.items[0];
  add_variable(e, at, var);
  tvms_node_map_put(&r->known, var, first);
  tvms_vec_push(memory_of(e), &e->replaced, var);
  say_shared(e, value, first);
  return copy_of(e, binding, first);
}

static tvms_node *share_values(const eliminator *like, tvms_unit *unit,
                               tvms_node *function);

// A function has a table of its own.
static tvms_node *enter_function(tvms_rewriter *r, tvms_node *node) {
  return share_values(r->self, r->unit, node);
}

// As `like` says, whose table is not looked at.
static tvms_node *share_values(const eliminator *like, tvms_unit *unit,
                               tvms_node *function) {
  eliminator e = {.run = like->run,
                  .unit = unit,
                  .call_only = like->call_only,
                  .keep_packed = like->keep_packed,
                  .keep_objects = like->keep_objects,
                  .tells = like->tells,
                  .overwritten = like->overwritten};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &e);
  rewriter.enter[TVMS_NODE_IF] = enter_if;
  rewriter.enter[TVMS_NODE_BINDING_BLOCK] = enter_block;
  rewriter.enter[TVMS_NODE_FUNCTION] = enter_function;
  rewriter.leave[TVMS_NODE_VAR_BINDING] = leave_binding;
  rewriter.leave[TVMS_NODE_MATCH_CAST] = leave_binding;
  tvms_node *result = tvms_rewrite_below(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  for (uint32_t i = 0; i < e.entries.len; i++)
    tvms_vec_fini(memory_of(&e), &e.entries.items[i].vars);
  tvms_memory_free(memory_of(&e), e.buckets);
  tvms_vec_fini(memory_of(&e), &e.entries);
  tvms_vec_fini(memory_of(&e), &e.additions);
  tvms_vec_fini(memory_of(&e), &e.replaced);
  return result;
}

// Shares nothing that calls write over.
static tvms_node *share_unwritten(eliminator *like, tvms_unit *unit,
                                  tvms_node *function) {
  tvms_relax_overwritten overwritten;
  tvms_relax_overwritten_init(&overwritten, like->run, function);
  like->overwritten = &overwritten;
  function = share_values(like, unit, function);
  tvms_relax_overwritten_fini(&overwritten);
  return function;
}

tvms_node *tvms_relax_share_values(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function, bool keep_objects) {
  eliminator like = {.run = run, .keep_objects = keep_objects};
  return keep_objects ? share_unwritten(&like, unit, function)
                      : share_values(&like, unit, function);
}

static tvms_node *eliminate(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  eliminator like = {.run = run, .tells = run->hooks && run->hooks->log};
  like.call_only = TVMS_OPTION(run, EliminateCommonSubexpr, call_only).number != 0;
  like.keep_packed = TVMS_OPTION(run, EliminateCommonSubexpr, keep_packed).number != 0;
  like.keep_objects = like.keep_packed;
  return like.keep_packed ? share_unwritten(&like, unit, function)
                          : share_values(&like, unit, function);
}

void tvms_pass_eliminate_common_subexpr(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, eliminate);
}
