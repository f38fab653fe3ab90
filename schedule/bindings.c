#include "schedule/bindings.h"

#include "arith/int_set.h"
#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "ir/object.h"

#include <stdio.h>

tvms_node *tvms_sched_build(tvms_sched *sched, tvms_node_kind kind, tvms_node *a,
                            tvms_node *b) {
  tvms_node *made = tvms_build_binary(sched->unit, kind, a, b, TVMS_NO_SPAN);
  TVMS_CHECK(made);
  return made;
}

tvms_node *tvms_sched_int(tvms_sched *sched, tvms_dtype dtype, int64_t value) {
  return tvms_int_imm_new(sched->unit, dtype, value, TVMS_NO_SPAN);
}

tvms_node *tvms_sched_cast(tvms_sched *sched, tvms_dtype dtype, tvms_node *value) {
  tvms_node *made = tvms_build_cast(sched->unit, dtype, value, TVMS_NO_SPAN);
  TVMS_CHECK(made);
  return made;
}

tvms_node *tvms_sched_var(tvms_sched *sched, const tvms_node *var, const char *suffix,
                          tvms_dtype dtype) {
  char name[256];
  int len = snprintf(name, sizeof name, "%s%s",
                     tvms_symbol_text(sched->context, tvms_as_var(var)->name), suffix);
  size_t room = sizeof name - 1;
  tvms_sym sym =
      tvms_symbol_intern(sched->context, name, (size_t)len < room ? (size_t)len : room);
  return tvms_var_new(sched->unit, sym, dtype, TVMS_NO_SPAN);
}

tvms_node *tvms_sched_for(tvms_sched *sched, tvms_node *var, tvms_node *extent,
                          tvms_node *body) {
  tvms_for *loop = tvms_node_make(sched->unit, FOR, TVMS_NO_SPAN);
  loop->var = var;
  loop->min = tvms_sched_int(sched, var->dtype, 0);
  loop->extent = tvms_sched_cast(sched, var->dtype, extent);
  loop->for_kind = TVMS_FOR_SERIAL;
  loop->body = body;
  return &loop->head;
}

// ---- Predicates ----

static tvms_node *add_condition(tvms_rewriter *r, tvms_node *node) {
  tvms_node *condition = r->self;
  tvms_block_realize *realize = tvms_as_block_realize(tvms_node_copy(r->unit, node));
  realize->predicate = tvms_build_binary(r->unit, TVMS_NODE_AND, realize->predicate,
                                         condition, TVMS_NO_SPAN);
  return &realize->head;
}

tvms_node *tvms_sched_add_predicate(tvms_sched *sched, tvms_node *stmt,
                                    tvms_node *condition) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, sched->unit, condition);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_BLOCK_REALIZE] = add_condition;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- Simplification ----

typedef struct {
  tvms_sched *sched;
  tvms_domain_vec domains;
  bool keep_units;
} simplification;

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  simplification *s = r->self;
  const tvms_for *loop = tvms_as_for(node);
  tvms_iter_domain domain = {loop->var, loop->min, loop->extent};
  tvms_vec_push(&s->sched->context->memory, &s->domains, domain);
  tvms_node *made = tvms_rewrite_below(r, node);
  s->domains.len--;
  return made;
}

static bool simplify(simplification *s, tvms_list values, tvms_node *predicate,
                     tvms_node **made) {
  tvms_analyzer *analyzer = tvms_analyzer_new(s->sched->unit);
  bool found =
      tvms_iter_map_simplify(s->sched->unit, analyzer, s->domains.items, s->domains.len,
                             values.items, values.len, predicate, s->keep_units, made);
  tvms_analyzer_free(analyzer);
  return found;
}

static tvms_node *enter_realize(tvms_rewriter *r, tvms_node *node) {
  simplification *s = r->self;
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  tvms_list values = realize->iter_values;
  if (!values.len) return TVMS_REWRITE_BELOW;
  tvms_node **made = tvms_arena_array(&r->unit->arena, tvms_node *, values.len);
  if (!simplify(s, values, realize->predicate, made)) return node;
  tvms_block_realize *copy = tvms_as_block_realize(tvms_node_copy(r->unit, node));
  copy->iter_values = tvms_list_copy(r->unit, made, values.len);
  return &copy->head;
}

tvms_node *tvms_sched_simplify_bindings(tvms_sched *sched, tvms_node *stmt,
                                        const tvms_domain_vec *outer, bool keep_units) {
  tvms_memory *memory = &sched->context->memory;
  simplification s = {.sched = sched, .keep_units = keep_units};
  for (uint32_t i = 0; i < outer->len; i++)
    tvms_vec_push(memory, &s.domains, outer->items[i]);
  tvms_rewriter r;
  tvms_rewriter_init(&r, sched->unit, &s);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_BLOCK_REALIZE] = enter_realize;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(memory, &s.domains);
  return made;
}

// ---- Loops ----

bool tvms_sched_check_plain_loop(tvms_sched *sched, int32_t site) {
  const tvms_for *loop = tvms_sched_loop(sched, site);
  if (!tvms_object_map_count(loop->annotations) && !loop->thread) return true;
  return tvms_sched_refuse(
      sched, "loop '%s' has annotations or is bound to a thread",
      tvms_symbol_text(sched->context, tvms_as_var(loop->var)->name));
}

bool tvms_sched_check_zero(tvms_sched *sched, int32_t site) {
  const tvms_for *loop = tvms_sched_loop(sched, site);
  tvms_node *zero = tvms_sched_int(sched, loop->min->dtype, 0);
  if (tvms_arith_prove_equal(sched->unit, loop->min, zero)) return true;
  return tvms_sched_refuse(
      sched, "loop '%s' does not begin at 0",
      tvms_symbol_text(sched->context, tvms_as_var(loop->var)->name));
}

// ---- Statements ----

tvms_node *tvms_sched_inserted(tvms_sched *s, tvms_node *body, uint32_t index,
                               tvms_node *stage) {
  tvms_node_vec stmts = {0};
  bool many = body->kind == TVMS_NODE_SEQ;
  uint32_t count = many ? tvms_as_seq(body)->stmts.len : 1;
  for (uint32_t i = 0; i <= count; i++) {
    if (i == index) tvms_stmt_push(s->unit, &stmts, stage);
    if (i < count)
      tvms_stmt_push(s->unit, &stmts, many ? tvms_as_seq(body)->stmts.items[i] : body);
  }
  return tvms_stmt_seq(s->unit, &stmts, TVMS_NO_SPAN);
}

// ---- Proofs ----

// The least that an expression can be, as far as the variables are concerned; NULL: unknown.
static tvms_node *TVMS_NULLABLE least(tvms_sched *sched, const tvms_domain_vec *domains,
                                      tvms_node *node) {
  tvms_domains sets;
  tvms_domains_init(&sets, sched->unit);
  for (uint32_t i = 0; i < domains->len; i++)
    tvms_domains_set(&sets, domains->items[i].var,
                     tvms_int_set_of_range(sched->unit, domains->items[i].min,
                                           domains->items[i].extent));
  tvms_int_set set = tvms_int_set_of_expr(&sets, node);
  tvms_domains_fini(&sets);
  return set.min ? tvms_arith_simplify(sched->unit, set.min) : NULL;
}

// x % n < n, and x // n < c where x < n * c.
static bool holds_of_division(tvms_sched *sched, tvms_analyzer *analyzer,
                              const tvms_domain_vec *domains, const tvms_binary *less) {
  if (less->head.kind != TVMS_NODE_LT) return false;
  const tvms_node *left = less->a;
  if (left->kind == TVMS_NODE_FLOOR_MOD)
    return tvms_node_same_expr(tvms_as_binary(left)->b, less->b);
  if (left->kind != TVMS_NODE_FLOOR_DIV) return false;
  const tvms_binary *division = tvms_as_binary(left);
  tvms_node *end = tvms_sched_build(sched, TVMS_NODE_MUL, division->b, less->b);
  tvms_node *claim = tvms_sched_build(sched, TVMS_NODE_LT, division->a, end);
  return claim->kind == TVMS_NODE_LT
         && tvms_sched_proves(sched, analyzer, domains, claim);
}

bool tvms_sched_proves(tvms_sched *sched, tvms_analyzer *analyzer,
                       const tvms_domain_vec *domains, tvms_node *claim) {
  if (tvms_analyzer_can_prove(analyzer, claim)) return true;
  bool compares = claim->kind >= TVMS_NODE_LT && claim->kind <= TVMS_NODE_GE;
  if (!compares) return false;
  const tvms_binary *c = tvms_as_binary(claim);
  bool less = claim->kind == TVMS_NODE_LT || claim->kind == TVMS_NODE_LE;
  bool strict = claim->kind == TVMS_NODE_LT || claim->kind == TVMS_NODE_GT;
  tvms_node *difference =
      tvms_sched_build(sched, TVMS_NODE_SUB, less ? c->b : c->a, less ? c->a : c->b);
  tvms_node *low = least(sched, domains, tvms_analyzer_simplify(analyzer, difference));
  return (low && tvms_analyzer_can_prove_ge(analyzer, low, strict))
         || holds_of_division(sched, analyzer, domains, c);
}
