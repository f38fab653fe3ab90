// A match_cast of a value whose type is known already defines symbols that are nothing new:
//
// Before: y = R.match_cast(x, R.Tensor(("n",)))   with x: R.Tensor((16,))
// After:  y = R.match_cast(x, R.Tensor((16,))), and 16 for n in all types and shapes behind it
//
// What a branch finds out holds in the branch. A symbol that is used as a number outside of
// shapes must still be defined, so a match_cast that defines one stays as it is.
// With `checks`, a symbol that a parameter or another match_cast has defined already is no news: what
// a match_cast says of it is a check, which stays unless it is proved. TVM takes the value that came
// last and drops the check.
// TVM: SymbolicVarCanonicalizer in canonicalize_bindings.cc.
#include "passes/relax/graph/canonicalize_symbols.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/blocks.h"
#include "passes/relax/retype.h"
#include "passes/relax/substitute.h"
#include "structinfo/definitions.h"
#include "structinfo/dims.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_prover prover;
  tvms_node_map values;   // symbol → what is known of it
  tvms_node_map sources;  // symbol → the variable whose match_cast said so
  tvms_node_map counted;  // symbols that are used as numbers
  tvms_node_map defined;  // symbols that have a definition already, if checks are kept
  bool checks;            // checks are kept
  tvms_node_vec symbols;  // keys of `values` in order
  uint32_t shapes;        // open ones
  bool off;               // in a match_cast that stays
  uint32_t calls;         // of Relax that were met
} canonicalizer;

static tvms_memory *memory_of(const canonicalizer *c) {
  return &c->run->context->memory;
}

static bool is_symbol(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
}

// ---- What match_casts say ----

static tvms_walk_step note_number(void *self, tvms_node *node, tvms_field_role role) {
  canonicalizer *c = self;
  if (node->kind == TVMS_NODE_SHAPE_EXPR) return TVMS_WALK_SKIP;
  if (is_symbol(node) && role == TVMS_ROLE_USE)
    tvms_node_map_put(&c->counted, node, node);
  return TVMS_WALK_ON;
}

static void report_conflict(canonicalizer *c, const tvms_node *symbol,
                            const tvms_node *var, const tvms_node *value) {
  tvms_context *context = c->run->context;
  const tvms_node *before = tvms_node_map_get(&c->values, symbol);
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_match_casts_conflict, var->span,
                       tvms_symbol_text(context, tvms_as_var(symbol)->name),
                       tvms_sinfo_describe(c->prover.unit, value),
                       tvms_sinfo_describe(c->prover.unit, before));
  const tvms_node *source = tvms_node_map_get(&c->sources, symbol);
  tvms_diag_note(&context->diags, diag, source->span, "it is said here");
}

static void learn_dim(canonicalizer *c, const tvms_node *var, tvms_node *symbol,
                      tvms_node *value, bool *counted) {
  if (!is_symbol(symbol) || tvms_node_map_get(&c->defined, symbol)) return;
  *counted |= tvms_node_map_get(&c->counted, symbol) != NULL;
  tvms_node *before = tvms_node_map_get(&c->values, symbol);
  if (!before) {
    tvms_node_map_put(&c->values, symbol, value);
    tvms_node_map_put(&c->sources, symbol, (tvms_node *)(uintptr_t)var);
    tvms_vec_push(memory_of(c), &c->symbols, symbol);
  } else if (tvms_dim_differ(&c->prover, before, value)) {
    report_conflict(c, symbol, var, value);
  }
}

// Pairs the dimensions of the type that a match_cast asks for with those of its value.
static void learn_type(canonicalizer *c, const tvms_node *var, const tvms_node *type,
                       const tvms_node *given, bool *counted) {
  if (type->kind != given->kind) return;
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields,
              other = tvms_as_sinfo_tuple(given)->fields;
    for (uint32_t i = 0; i < fields.len && fields.len == other.len; i++)
      learn_type(c, var, fields.items[i], other.items[i], counted);
    return;
  }
  bool sized =
      type->kind == TVMS_NODE_SINFO_TENSOR || type->kind == TVMS_NODE_SINFO_SHAPE;
  tvms_list dims, values;
  if (!sized || !tvms_sinfo_dims(type, &dims) || !tvms_sinfo_dims(given, &values))
    return;
  for (uint32_t i = 0; i < dims.len && dims.len == values.len; i++)
    learn_dim(c, var, dims.items[i], values.items[i], counted);
}

static tvms_node *enter_match_cast(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  const tvms_match_cast *cast = tvms_as_match_cast(node);
  bool counted = false;
  // Its sizes may be known by others themselves.
  const tvms_node *given = tvms_rewrite(r, tvms_sinfo_of(r->unit, cast->value));
  learn_type(c, cast->var, cast->type, given, &counted);
  if (c->checks) tvms_relax_symbols_of_type(&c->defined, cast->type);
  bool outer = c->off;
  c->off = counted;
  tvms_node *made = tvms_rewrite_below(r, node);
  c->off = outer;
  // Its result has the type that was asked for wherever it is used.
  if (counted) tvms_node_map_put(&r->known, cast->var, tvms_as_match_cast(made)->var);
  return made;
}

// ---- Putting it in ----

static tvms_node *enter_var(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  bool in_shape =
      c->shapes || r->role == TVMS_ROLE_TYPE || r->role == TVMS_ROLE_DEFINE_REC;
  if (!in_shape || c->off || !is_symbol(node)) return TVMS_REWRITE_BELOW;
  tvms_node *value = tvms_node_map_get(&c->values, node);
  return value ? value : TVMS_REWRITE_BELOW;
}

static tvms_node *enter_shape(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  c->shapes++;
  tvms_node *made = tvms_rewrite_below(r, node);
  c->shapes--;
  return tvms_relax_substituted_shape(r, &c->prover, made, node);
}

static tvms_node *leave_type(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  return tvms_relax_substituted_type(r, &c->prover, node, r->old);
}

// ---- Branches ----

// Forgets what was learned since there were `count` symbols.
static void forget(canonicalizer *c, tvms_rewriter *r, uint32_t count) {
  while (c->symbols.len > count) {
    const tvms_node *symbol = c->symbols.items[--c->symbols.len];
    tvms_node_map_put(&c->values, symbol, NULL);
    tvms_node_map_put(&r->known, symbol, NULL);
  }
}

static tvms_node *without_number(tvms_rewriter *r, tvms_node *node) {
  return tvms_sinfo_prim_new(r->unit, node->dtype, NULL);
}

// Are two types the same, as far as the release can say it?
static bool says_same(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  if (!tvms_release_has(unit->dialect, TVMS_FACT_prim_types_hold_values)) {
    tvms_rewriter r;
    tvms_rewriter_init(&r, unit, NULL);
    r.leave[TVMS_NODE_SINFO_PRIM] = without_number;
    a = tvms_rewrite(&r, a);
    b = tvms_rewrite(&r, b);
    tvms_rewriter_fini(&r);
  }
  return tvms_node_equal(unit->context, a, b);
}

// A branch that says another type than the If casts its result to that.
static tvms_node *with_type(canonicalizer *c, tvms_rewriter *r, tvms_node *branch,
                            tvms_node *type, const char *name) {
  tvms_node *body = tvms_as_seq_expr(branch)->body;
  if (says_same(r->unit, tvms_sinfo_of(r->unit, body), type)) return branch;
  tvms_sym symbol = tvms_symbol_intern(c->run->context, name, strlen(name));
  tvms_node *var = tvms_var_new(r->unit, symbol, (tvms_dtype){0}, branch->span);
  var->sinfo = type;
  tvms_match_cast *cast = tvms_node_make(r->unit, MATCH_CAST, branch->span);
  cast->value = body;
  cast->type = type;
  cast->var = var;
  return tvms_relax_append_binding(r->unit, branch, &cast->head, var);
}

static tvms_node *rewrite_branch(tvms_rewriter *r, tvms_node *branch) {
  canonicalizer *c = r->self;
  uint32_t count = c->symbols.len;
  tvms_node *made = tvms_rewrite(r, branch);
  forget(c, r, count);
  return made;
}

static tvms_node *enter_if(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  const tvms_if *old = tvms_as_if(node);
  tvms_node *condition = tvms_rewrite(r, old->condition);
  uint32_t calls = c->calls;
  tvms_node *a = rewrite_branch(r, old->true_branch),
            *b = rewrite_branch(r, old->false_branch);
  tvms_node *type = node->sinfo ? tvms_rewrite(r, node->sinfo) : NULL;
  // To TVM branches with calls are others than before.
  bool casts = type
               && (c->calls != calls || condition != old->condition
                   || a != old->true_branch || b != old->false_branch);
  if (casts) a = with_type(c, r, a, type, "then_branch_with_dyn");
  if (casts) b = with_type(c, r, b, type, "else_branch_with_dyn");
  bool same = condition == old->condition && a == old->true_branch
              && b == old->false_branch && type == node->sinfo;
  if (same) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  copy->sinfo = type;
  tvms_as_if(copy)->condition = condition;
  tvms_as_if(copy)->true_branch = a;
  tvms_as_if(copy)->false_branch = b;
  return copy;
}

// What a local function finds out holds in it.
static tvms_node *enter_function(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  uint32_t count = c->symbols.len;
  tvms_list params = tvms_as_function(node)->params;
  for (uint32_t i = 0; c->checks && i < params.len; i++)
    tvms_relax_symbols_of_type(&c->defined, params.items[i]->sinfo);
  tvms_node *made = tvms_rewrite_below(r, node);
  forget(c, r, count);
  return made;
}

// With other sizes in its arguments a call may be known better.
static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  canonicalizer *c = r->self;
  c->calls += tvms_dtype_is_void(node->dtype);
  return tvms_relax_retype_call(r, c->run->module, node);
}

tvms_node *tvms_relax_canonicalize_symbols(tvms_pass_run *run, tvms_unit *unit,
                                           tvms_node *function, bool checks) {
  canonicalizer c = {.run = run, .checks = checks};
  tvms_prover_init(&c.prover, unit);
  tvms_node_map_init(&c.values, memory_of(&c));
  tvms_node_map_init(&c.sources, memory_of(&c));
  tvms_node_map_init(&c.counted, memory_of(&c));
  tvms_node_map_init(&c.defined, memory_of(&c));
  if (checks || tvms_release_has(unit->dialect, TVMS_FACT_scalars_are_tir)) {
    tvms_visitor visitor = {.self = &c, .enter = note_number};
    tvms_walk(memory_of(&c), tvms_as_function(function)->body, &visitor);
  }
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &c);
  tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_CALL] = leave_call;
  rewriter.enter[TVMS_NODE_MATCH_CAST] = enter_match_cast;
  rewriter.enter[TVMS_NODE_VAR] = enter_var;
  rewriter.enter[TVMS_NODE_SHAPE_EXPR] = enter_shape;
  rewriter.enter[TVMS_NODE_IF] = enter_if;
  rewriter.enter[TVMS_NODE_FUNCTION] = enter_function;
  rewriter.leave[TVMS_NODE_SINFO_TENSOR] = leave_type;
  rewriter.leave[TVMS_NODE_SINFO_SHAPE] = leave_type;
  rewriter.leave[TVMS_NODE_SINFO_PRIM] = leave_type;
  rewriter.leave[TVMS_NODE_SINFO_TUPLE] = leave_type;
  rewriter.leave[TVMS_NODE_SINFO_FUNC] = leave_type;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_vec_fini(memory_of(&c), &c.symbols);
  tvms_node_map_fini(&c.values);
  tvms_node_map_fini(&c.sources);
  tvms_node_map_fini(&c.counted);
  tvms_node_map_fini(&c.defined);
  tvms_prover_fini(&c.prover);
  return result;
}
