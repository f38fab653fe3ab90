// StaticPlanBlockMemory: tensors that are not alive together share storage.
//
// Before: alloc = R.builtin.alloc_tensor(R.shape([2, 4]), …); cls.f(x, alloc)
//         alloc1 = R.builtin.alloc_tensor(R.shape([8]), …); cls.g(alloc, alloc1) …
// After:  storage = R.memory.alloc_storage(R.shape([32]), …)
//         alloc = R.memory.alloc_tensor(storage, 0, R.shape([2, 4]), …) …
//
// First every tensor gets a token, and calls that need it are counted. A tensor is not planned
// if it is a result, if it is used in another block than the one that allocates it, by an If,
// or by anything but PrimFuncs, packed functions and what gives it another shape. Then the calls
// are gone through in order: a token whose last call is past is free, and the next tensor may
// get it (storage_pool.h). Symbolic sizes count with the upper bounds that the function states
// (upper_bounds.h). With the attribute relax.memory_plan_dynamic_func_output the other tensors of
// symbolic shapes get storage of their largest size, too. Storage is not given back here:
// KillAfterLastUse does that. Textures are not known. What is free in a branch of an If stays
// there, where TVM might use it outside, undefined. With keep_returned, what a packed function gives may be one of
// its arguments, whose storage is then needed as long. TVM: relax.transform.StaticPlanBlockMemory.
#include "ir/fold.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/lower/storage_pool.h"
#include "passes/relax/lower/upper_bounds.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "passes/remarks.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

#include <string.h>

// The tokens that a value uses: one, one per field of a tuple, any of several, or none.
typedef struct tokens tokens;
struct tokens {
  tvms_relax_token *TVMS_NULLABLE token;
  uint32_t count;
  tokens **fields;
  bool any;  // which of the fields a part of the value is, is not known
};

typedef struct {
  tvms_relax_emitter emitter;
  tvms_pass_run *run;
  tvms_unit *unit;
  tvms_arena *arena;  // scratch
  tokens **used;      // by id of the value
  uint32_t limit;     // of ids
  tvms_relax_pool pool;
  tvms_relax_bounds bounds;
  tvms_node_vec blocks;  // around the walk, innermost last
  bool plans;            // second walk; the first counts
  bool dynamic_results;
  bool keeps_returned;
  bool shares_unknown;  // pieces of different symbolic sizes are shared
  // For remarks: of the function at hand, sizes that are numbers only.
  struct {
    uint32_t tensors, storages;
    int64_t tensor_bytes, storage_bytes;
  } plan;
  const char *why;  // a tensor is not planned
} planner;

typedef void token_action(planner *p, tvms_relax_token *token);

static tvms_memory *memory_of(const planner *p) {
  return &p->run->context->memory;
}

static void each_token(planner *p, const tokens *TVMS_NULLABLE used,
                       token_action *act) {
  if (!used) return;
  if (used->token && !used->token->discarded) act(p, used->token);
  for (uint32_t i = 0; i < used->count; i++)
    each_token(p, used->fields[i], act);
}

static void set_tokens(planner *p, const tvms_node *value, tokens *TVMS_NULLABLE used) {
  if (value->id < p->limit) p->used[value->id] = used;
}

static void visit(planner *p, tvms_node *value);

static tokens *TVMS_NULLABLE tokens_of(planner *p, tvms_node *value) {
  visit(p, value);
  return value->id < p->limit ? p->used[value->id] : NULL;
}

// ---- Counting ----

// The tensor is not planned; why stands in p->why.
static void discard(planner *p, tvms_relax_token *token) {
  token->discarded = true;
  tvms_pass_count(p->run, "tensors not planned", 1);
  tvms_pass_remark(p->run, TVMS_REMARK_MISSED, TVMS_D_not_planned, token->span, p->why);
}

static const tvms_node *current_block(const planner *p) {
  return p->blocks.items[p->blocks.len - 1];
}

static void count_use(planner *p, tvms_relax_token *token) {
  p->why = "it is used in another block than the one that allocates it";
  if (token->block != current_block(p))
    discard(p, token);
  else
    token->uses++;
}

static tvms_node *TVMS_NULLABLE multiply(planner *p, tvms_node *TVMS_NULLABLE a,
                                         tvms_node *b) {
  return a ? tvms_build_binary(p->unit, TVMS_NODE_MUL, a, b, TVMS_NO_SPAN) : NULL;
}

static tvms_node *int64_of(planner *p, int64_t value) {
  return tvms_int_imm_new(p->unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

// The shape of an allocation, as its type says.
static bool shape_of(const tvms_node *call, tvms_list *sizes) {
  return tvms_sinfo_is_tensor(call->sinfo)
         && tvms_sinfo_tensor_dims(call->sinfo, sizes);
}

// Constant factors first, then symbolic ones in their order.
static tvms_node *TVMS_NULLABLE planned_bytes(planner *p, tvms_list sizes,
                                              tvms_dtype dtype) {
  int64_t factor = tvms_relax_element_bytes(dtype);
  tvms_node *rest = int64_of(p, 1);
  for (uint32_t i = 0; i < sizes.len; i++) {
    tvms_node *size = tvms_relax_bounds_largest(&p->bounds, sizes.items[i]);
    if (size->kind != TVMS_NODE_INT_IMM)
      rest = multiply(p, rest, size);
    else if (__builtin_mul_overflow(factor, tvms_as_int_imm(size)->value, &factor))
      return NULL;
  }
  return rest ? multiply(p, int64_of(p, factor), rest) : NULL;
}

static void create_token(planner *p, const tvms_node *node) {
  tvms_list sizes, args = tvms_as_call(node)->args;
  tvms_node *bytes =
      shape_of(node, &sizes) ? planned_bytes(p, sizes, node->sinfo->dtype) : NULL;
  if (!bytes || args.items[3]->kind != TVMS_NODE_STRING_IMM) return;
  tvms_relax_token *token = tvms_arena_new(p->arena, tvms_relax_token);
  *token = (tvms_relax_token){.bytes = bytes,
                              .dtype = node->sinfo->dtype,
                              .scope = tvms_as_string_imm(args.items[3])->value,
                              .span = node->span,
                              .block = current_block(p)};
  tokens *used = tvms_arena_new(p->arena, tokens);
  *used = (tokens){.token = token};
  set_tokens(p, node, used);
}

// ---- Calls ----

// The result is the memory of the first argument.
static bool is_inplace(const planner *p, const tvms_node *node) {
  const tvms_node *callee = tvms_as_call(node)->callee;
  if (callee->kind == TVMS_NODE_EXTERN_FUNC) {
    bool counts = tvms_release_has(p->unit->dialect, TVMS_FACT_texts_have_a_type);
    return counts
           && tvms_bytes_is(tvms_as_extern_func(callee)->symbol, "vm.builtin.reshape");
  }
  tvms_opcode opcode = tvms_op_called(node);
  return opcode == TVMS_R_reshape || opcode == TVMS_R_memory_view
         || opcode == TVMS_R_memory_ensure_zero_offset;
}

// A callee that keeps no memory of its arguments.
static bool is_plain_callee(const planner *p, const tvms_node *node) {
  const tvms_node *callee = tvms_as_call(node)->callee;
  if (callee->kind == TVMS_NODE_EXTERN_FUNC) return true;
  const tvms_member *member = tvms_module_named(p->run->module, callee);
  if (!member) return tvms_op_called(node) == TVMS_R_vm_call_tir_dyn;
  return member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
}

// May a packed function return one of its arguments? Of those of the run time it is known.
static bool returns_argument(const planner *p, const tvms_node *node) {
  static const char own[] = "vm.builtin.";
  const tvms_node *callee = tvms_as_call(node)->callee;
  if (!p->keeps_returned || callee->kind != TVMS_NODE_EXTERN_FUNC) return false;
  tvms_bytes name = tvms_as_extern_func(callee)->symbol;
  return name.len < sizeof own - 1 || memcmp(name.text, own, sizeof own - 1) != 0
         || tvms_bytes_is(name, "vm.builtin.copy")
         || tvms_bytes_is(name, "vm.builtin.reshape");
}

static void set_any_token(planner *p, const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tokens *used = tvms_arena_new(p->arena, tokens);
  *used = (tokens){.count = args.len,
                   .fields = tvms_arena_array(p->arena, tokens *, args.len + 1),
                   .any = true};
  for (uint32_t i = 0; i < args.len; i++)
    used->fields[i] = tokens_of(p, args.items[i]);
  set_tokens(p, node, used);
}

static void visit_args(planner *p, const tvms_node *node, token_action *act) {
  tvms_list args = tvms_as_call(node)->args;
  for (uint32_t i = 0; i < args.len; i++)
    each_token(p, tokens_of(p, args.items[i]), act);
}

static void take_storage(planner *p, const tvms_node *node) {
  tokens *used = node->id < p->limit ? p->used[node->id] : NULL;
  if (!used || !used->token || used->token->discarded) return;
  tvms_relax_token *wish = used->token;
  int64_t bytes = tvms_relax_token_bytes(wish);
  tvms_relax_token *given = tvms_relax_pool_take(&p->pool, wish);
  used->token = given ? given : wish;
  used->token->allocated = true;
  p->plan.tensors++;
  p->plan.tensor_bytes += bytes > 0 ? bytes : 0;
  if (given)
    tvms_pass_remark(p->run, TVMS_REMARK_PASSED, TVMS_D_storage_shared, node->span);
}

static void end_use(planner *p, tvms_relax_token *token) {
  if (token->uses > 0 && --token->uses == 0) tvms_relax_pool_release(&p->pool, token);
}

static void visit_call(planner *p, tvms_node *node) {
  if (returns_argument(p, node)) set_any_token(p, node);
  if (tvms_op_called(node) == TVMS_R_builtin_alloc_tensor) {
    if (p->plans)
      take_storage(p, node);
    else
      create_token(p, node);
  } else if (is_inplace(p, node)) {
    set_tokens(p, node, tokens_of(p, tvms_as_call(node)->args.items[0]));
  } else if (p->plans) {
    visit_args(p, node, end_use);
  } else {
    bool plain = is_plain_callee(p, node);
    p->why = "a function of Relax or an operator uses it";
    visit_args(p, node, plain ? count_use : discard);
  }
}

// ---- The walk ----

static void visit_tuple(planner *p, const tvms_node *node) {
  tvms_list fields = tvms_as_tuple(node)->fields;
  tokens *used = tvms_arena_new(p->arena, tokens);
  *used = (tokens){.count = fields.len,
                   .fields = tvms_arena_array(p->arena, tokens *, fields.len + 1)};
  for (uint32_t i = 0; i < fields.len; i++)
    used->fields[i] = tokens_of(p, fields.items[i]);
  set_tokens(p, node, used);
}

static void visit_item(planner *p, const tvms_node *node) {
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(node);
  tokens *used = tokens_of(p, item->tuple);
  if (used && used->any) {
    set_tokens(p, node, used);
    return;
  }
  bool known = used && (uint64_t)item->index < used->count;
  set_tokens(p, node, known ? used->fields[item->index] : NULL);
}

static void visit_block(planner *p, tvms_node *node) {
  tvms_vec_push(memory_of(p), &p->blocks, node);
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  for (uint32_t i = 0; i < bindings.len; i++) {
    bool is_cast = bindings.items[i]->kind == TVMS_NODE_MATCH_CAST;
    tvms_node *value = is_cast ? tvms_as_match_cast(bindings.items[i])->value
                               : tvms_as_var_binding(bindings.items[i])->value;
    const tvms_node *var = is_cast ? tvms_as_match_cast(bindings.items[i])->var
                                   : tvms_as_var_binding(bindings.items[i])->var;
    set_tokens(p, var, tokens_of(p, value));
  }
  p->blocks.len--;
  bool hidden = p->plans && node->flags & TVMS_FLAG_DATAFLOW;
  if (hidden) tvms_relax_pool_drop_block(&p->pool, node);
}

static void visit_sequence(planner *p, const tvms_node *node) {
  const tvms_seq_expr *seq = tvms_as_seq_expr(node);
  for (uint32_t i = 0; i < seq->blocks.len; i++)
    visit_block(p, seq->blocks.items[i]);
  tokens *used = tokens_of(p, seq->body);
  p->why = "it is a result";
  if (!p->plans) each_token(p, used, discard);
  for (uint32_t i = 0; i < seq->blocks.len && p->plans; i++)
    tvms_relax_pool_drop_block(&p->pool, seq->blocks.items[i]);
}

static void visit_if(planner *p, const tvms_node *node) {
  const tvms_if *choice = tvms_as_if(node);
  tokens *used = tokens_of(p, choice->condition);
  visit(p, choice->true_branch);
  visit(p, choice->false_branch);
  p->why = "a branch depends on it";
  if (!p->plans) each_token(p, used, discard);
}

static void visit(planner *p, tvms_node *value) {
  if (!tvms_memory_enter(memory_of(p)))
    tvms_memory_unwind(memory_of(p), TVMS_OVER_LIMIT);
  switch ((int)value->kind) {
  case TVMS_NODE_CALL: visit_call(p, value); break;
  case TVMS_NODE_TUPLE: visit_tuple(p, value); break;
  case TVMS_NODE_TUPLE_GET_ITEM: visit_item(p, value); break;
  case TVMS_NODE_SEQ_EXPR: visit_sequence(p, value); break;
  case TVMS_NODE_IF: visit_if(p, value); break;
  case TVMS_NODE_FUNCTION: visit(p, tvms_as_function(value)->body); break;
  default: break;
  }
  tvms_memory_leave(memory_of(p));
}

// ---- Rewriting ----

static tvms_node *place(tvms_rewriter *r, const tvms_node *node, tvms_node *storage) {
  tvms_node **old = tvms_as_call(node)->args.items;
  tvms_node *args[] = {storage, tvms_relax_make_int(r->unit, 0),
                       tvms_as_sinfo_tensor(node->sinfo)->shape,
                       tvms_relax_make_dtype(r->unit, node->sinfo->dtype), old[2]};
  return tvms_relax_make_operator_call(r->unit, TVMS_R_memory_alloc_tensor, args, 5,
                                       node->span);
}

static tvms_node *emit_storage(tvms_rewriter *r, const tvms_node *node,
                               tvms_node *bytes, tvms_node *scope, tvms_dtype dtype) {
  planner *p = r->self;
  tvms_node *args[] = {tvms_relax_make_size(r->unit, bytes),
                       tvms_as_call(node)->args.items[2], scope,
                       tvms_relax_make_dtype(r->unit, dtype)};
  tvms_node *call = tvms_relax_make_operator_call(r->unit, TVMS_R_memory_alloc_storage,
                                                  args, 4, node->span);
  return tvms_relax_emit(&p->emitter, r, call, "storage");
}

static bool is_static(tvms_list sizes) {
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind != TVMS_NODE_INT_IMM) return false;
  }
  return true;
}

// A result of symbolic shape in storage of its largest size.
static tvms_node *place_largest(tvms_rewriter *r, tvms_node *node) {
  planner *p = r->self;
  tvms_list sizes;
  if (!shape_of(node, &sizes) || is_static(sizes)) return node;
  tvms_node *bytes = tvms_relax_bounds_largest(&p->bounds, sizes.items[0]);
  for (uint32_t i = 1; i < sizes.len; i++)
    bytes = multiply(p, bytes, tvms_relax_bounds_largest(&p->bounds, sizes.items[i]));
  bytes = multiply(p, bytes, int64_of(p, tvms_relax_element_bytes(node->sinfo->dtype)));
  if (!bytes) return node;
  tvms_node *scope = tvms_as_call(node)->args.items[3];
  return place(r, node, emit_storage(r, node, bytes, scope, node->sinfo->dtype));
}

static tvms_node *rewrite_call(tvms_rewriter *r, tvms_node *node) {
  planner *p = r->self;
  if (node != r->old) tvms_relax_infer_call(r->unit, p->run->module, node);
  if (tvms_op_called(node) != TVMS_R_builtin_alloc_tensor) return node;
  const tokens *used = r->old->id < p->limit ? p->used[r->old->id] : NULL;
  tvms_relax_token *token = used ? used->token : NULL;
  if (!token || token->discarded || !token->allocated)
    return p->dynamic_results ? place_largest(r, node) : node;
  if (!token->variable) {
    tvms_node *scope = tvms_as_call(node)->args.items[3];
    token->variable = emit_storage(r, node, token->bytes, scope, token->dtype);
    int64_t bytes = tvms_relax_token_bytes(token);
    p->plan.storages++;
    p->plan.storage_bytes += bytes > 0 ? bytes : 0;
  }
  return place(r, node, token->variable);
}

static const char results_attr[] = "relax.memory_plan_dynamic_func_output";

static tvms_node *rewrite_function(planner *p, tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, p->unit, p);
  tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_CALL] = rewrite_call;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  if (!p->dynamic_results) return function;
  function = tvms_node_copy(p->unit, function);
  tvms_function *made = tvms_as_function(function);
  made->attrs = tvms_object_map_with(p->unit, made->attrs, results_attr, NULL);
  if (!tvms_object_map_count(made->attrs)) made->attrs = NULL;
  return function;
}

static void tell_plan(const planner *p, const tvms_node *function) {
  if (!p->plan.tensors) return;
  tvms_pass_count(p->run, "tensors", p->plan.tensors);
  tvms_pass_count(p->run, "bytes of tensors", p->plan.tensor_bytes);
  tvms_pass_count(p->run, "storages", p->plan.storages);
  tvms_pass_count(p->run, "bytes of storage", p->plan.storage_bytes);
  tvms_pass_remark(p->run, TVMS_REMARK_ANALYSIS, TVMS_D_memory_planned, function->span,
                   (long long)p->plan.storage_bytes, p->plan.storages,
                   tvms_diag_plural(p->plan.storages), p->plan.tensors,
                   tvms_diag_plural(p->plan.tensors), (long long)p->plan.tensor_bytes);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  planner *p = run->state;
  tvms_mark mark = tvms_arena_mark(p->arena);
  p->unit = p->emitter.unit = unit;
  p->limit = unit->next_id;
  p->used = tvms_arena_array(p->arena, tokens *, p->limit);
  memset(p->used, 0, sizeof *p->used * p->limit);
  int64_t dynamic = 0;
  const tvms_node *wish =
      tvms_object_map_get(tvms_as_function(function)->attrs, results_attr);
  p->dynamic_results = tvms_object_as_int(wish, &dynamic) && dynamic;
  tvms_relax_bounds_init(&p->bounds, unit, function);
  p->pool = (tvms_relax_pool){.unit = unit,
                              .analyzer = p->bounds.analyzer,
                              .memory = memory_of(p),
                              .shares_unknown = p->shares_unknown};
  p->plans = false;
  visit(p, function);
  memset(&p->plan, 0, sizeof p->plan);
  p->plans = true;
  visit(p, function);
  tvms_node *changed = rewrite_function(p, function);
  tell_plan(p, function);
  tvms_relax_bounds_fini(&p->bounds);
  tvms_vec_fini(memory_of(p), &p->pool.free);
  tvms_arena_reset(p->arena, mark);
  return changed;
}

void tvms_pass_static_plan_block_memory(tvms_pass_run *run) {
  planner p = {.run = run, .arena = &run->context->scratch};
  p.shares_unknown = TVMS_OPTION(run, StaticPlanBlockMemory, share_unknown).number != 0;
  p.keeps_returned = TVMS_OPTION(run, StaticPlanBlockMemory, keep_returned).number != 0;
  tvms_relax_emitter_init(&p.emitter, &run->module->unit);
  run->state = &p;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_vec_fini(memory_of(&p), &p.blocks);
  tvms_relax_emitter_fini(&p.emitter);
}
