// Types go upwards: each hook looks at the parts of its node, which have theirs already, and
// does nothing if the rewriter left them as they were.
//
// The type of a sequence speaks only of variables that are defined outside of it. The
// result of a function keeps the type in the source where the body says less, because a
// value that has lost its shape on the way still has it (TVM: ExprMutator of FunctionNode,
// and the constructor of Function, which takes the type of the body where it says more).
#include "passes/relax/retype.h"

#include "ir/equal.h"
#include "ir/walk.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "structinfo/omitted.h"
#include "structinfo/relate.h"
#include "support/trial.h"

static bool same_type(const tvms_rewriter *r, const tvms_node *TVMS_NULLABLE a,
                      const tvms_node *TVMS_NULLABLE b) {
  if (a == b) return true;
  return a && b && tvms_node_equal(r->unit->context, a, b);
}

// The node with that type: a copy, unless it is a fresh one already.
static tvms_node *with_type(tvms_rewriter *r, tvms_node *node, tvms_node *type) {
  if (same_type(r, node->sinfo, type)) return node;
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  copy->sinfo = type;
  return copy;
}

// A variable like `var` for a value of another type. In a function that calls itself by
// that name the new variable stands for the old one.
static tvms_node *retyped_variable(tvms_rewriter *r, tvms_var_binding *binding) {
  tvms_node *var = tvms_node_copy(r->unit, binding->var);
  var->sinfo = binding->value->sinfo;
  tvms_node_map_put(&r->known, binding->var, var);
  if (r->old && r->old->kind == TVMS_NODE_VAR_BINDING)
    tvms_node_map_put(&r->known, tvms_as_var_binding(r->old)->var, var);
  if (binding->value->kind == TVMS_NODE_FUNCTION)
    binding->value = tvms_substitute_one(r->unit, binding->value, binding->var, var);
  return var;
}

tvms_node *tvms_relax_retype_binding(tvms_rewriter *r, tvms_node *node) {
  tvms_var_binding *binding = tvms_as_var_binding(node);
  const tvms_node *type = binding->value->sinfo;
  // The type of a variable that is a scalar does not say its value.
  bool scalar = type && type->kind == TVMS_NODE_SINFO_PRIM
                && !tvms_dtype_is_void(binding->var->dtype)
                && tvms_dtype_same(binding->var->dtype, type->dtype);
  if (type && !scalar && !same_type(r, type, binding->var->sinfo))
    binding->var = retyped_variable(r, binding);
  return node;
}

static tvms_node *leave_binding(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  bool same = tvms_as_var_binding(node)->value == tvms_as_var_binding(r->old)->value;
  return same ? node : tvms_relax_retype_binding(r, node);
}

static tvms_node *leave_tuple(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  tvms_list fields = tvms_as_tuple(node)->fields;
  tvms_list types = tvms_list_copy(r->unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    types.items[i] = fields.items[i]->sinfo;
    if (!types.items[i]) return node;
  }
  return with_type(r, node, tvms_sinfo_tuple_new(r->unit, types.items, types.len));
}

static tvms_node *leave_item(tvms_rewriter *r, tvms_node *node) {
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(node);
  const tvms_node *type = item->tuple->sinfo;
  if (node == r->old || !type || type->kind != TVMS_NODE_SINFO_TUPLE) return node;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  bool inside = (uint64_t)item->index < fields.len;
  return inside ? with_type(r, node, fields.items[item->index]) : node;
}

tvms_node *tvms_relax_retype_if(tvms_rewriter *r, tvms_node *node) {
  const tvms_if *branch = tvms_as_if(node);
  tvms_node *a = branch->true_branch->sinfo, *b = branch->false_branch->sinfo;
  if (!a || !b) return node;
  tvms_prover prover;
  tvms_prover_init(&prover, r->unit);
  tvms_node *type = tvms_sinfo_join(&prover, a, b);
  tvms_prover_fini(&prover);
  return with_type(r, node, type);
}

static tvms_node *leave_if(tvms_rewriter *r, tvms_node *node) {
  return node == r->old ? node : tvms_relax_retype_if(r, node);
}

// ---- Sequences and functions ----

typedef struct {
  tvms_memory *memory;
  tvms_node_map
      map;       // what the sequence defines, by itself; NULL: it was defined before
  bool symbols;  // there is a symbol among it
} inner_definitions;

static tvms_walk_step note_definition(void *self, tvms_node *node,
                                      tvms_field_role role) {
  inner_definitions *inner = self;
  bool defined = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  if (!defined || node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  tvms_node_map_put(&inner->map, node, node);
  inner->symbols |= !tvms_dtype_is_void(node->dtype);
  return TVMS_WALK_ON;
}

static tvms_walk_step note_known(void *self, tvms_node *node, tvms_field_role role) {
  inner_definitions *inner = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR) tvms_node_map_put(&inner->map, node, NULL);
  return TVMS_WALK_ON;
}

// A symbol in the type of a variable from outside is not new where a match_cast names it again.
static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  inner_definitions *inner = self;
  bool outer = role == TVMS_ROLE_USE && node->kind == TVMS_NODE_VAR && node->sinfo
               && !tvms_node_map_get(&inner->map, node);
  if (!outer) return TVMS_WALK_ON;
  tvms_visitor visitor = {.self = inner, .enter = note_known};
  tvms_walk(inner->memory, node->sinfo, &visitor);
  return TVMS_WALK_ON;
}

// A shape that is a variable of Relax is nothing that a type outside can speak of.
static tvms_node *TVMS_NULLABLE visible_outside(void *self, tvms_node *var) {
  bool symbol = !tvms_dtype_is_void(var->dtype);
  return symbol && !tvms_node_map_get(self, var) ? var : NULL;
}

static tvms_node *erased(tvms_rewriter *r, tvms_node *type,
                         tvms_node *TVMS_NULLABLE (*visible)(void *, tvms_node *),
                         tvms_node_map *map) {
  tvms_prover prover;
  tvms_prover_init(&prover, r->unit);
  type = tvms_sinfo_erase(&prover, type, visible, map);
  tvms_prover_fini(&prover);
  return type;
}

// What the sequence says of its body to the outside.
static tvms_node *type_of_sequence(tvms_rewriter *r, tvms_node *sequence,
                                   tvms_node *type) {
  tvms_memory *memory = &r->unit->context->memory;
  inner_definitions inner = {.memory = memory};
  tvms_node_map_init(&inner.map, memory);
  tvms_visitor visitor = {.self = &inner, .enter = note_definition};
  tvms_walk(memory, sequence, &visitor);
  visitor.enter = note_use;
  if (inner.symbols) tvms_walk(memory, sequence, &visitor);
  type = erased(r, type, visible_outside, &inner.map);
  tvms_node_map_fini(&inner.map);
  return type;
}

tvms_node *tvms_relax_retype_sequence(tvms_rewriter *r, tvms_node *node) {
  tvms_node *type = tvms_as_seq_expr(node)->body->sinfo;
  return type ? with_type(r, node, type_of_sequence(r, node, type)) : node;
}

static tvms_node *leave_sequence(tvms_rewriter *r, tvms_node *node) {
  return node == r->old ? node : tvms_relax_retype_sequence(r, node);
}

static tvms_walk_step note_size(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_VAR) tvms_node_map_put(self, node, node);
  return TVMS_WALK_ON;
}

static tvms_node *TVMS_NULLABLE size_of_signature(void *self, tvms_node *var) {
  return tvms_node_map_get(self, var);
}

// What a function says of its body: in sizes that the types of its parameters speak of. A scalar
// parameter is not such a size, and a variable that nothing defines is none either.
static tvms_node *type_of_function(tvms_rewriter *r, const tvms_function *function) {
  tvms_memory *memory = &r->unit->context->memory;
  tvms_node *type = type_of_sequence(r, function->body, function->body->sinfo);
  tvms_node_map sizes;
  tvms_node_map_init(&sizes, memory);
  tvms_visitor visitor = {.self = &sizes, .enter = note_size};
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    if (param->sinfo) tvms_walk(memory, param->sinfo, &visitor);
  }
  type = erased(r, type, size_of_signature, &sizes);
  tvms_node_map_fini(&sizes);
  return type;
}

static tvms_node *TVMS_NULLABLE symbols_only(void *self, tvms_node *var) {
  (void)self;
  return tvms_dtype_is_void(var->dtype) ? NULL : var;
}

// What the body gives where it ends: symbols that a match_cast of the function defines are known
// there, so that the type contradicts one with numbers in their place.
static tvms_node *type_within(tvms_rewriter *r, const tvms_function *function) {
  const tvms_node *body = function->body;
  if (body->kind != TVMS_NODE_SEQ_EXPR) return body->sinfo;
  tvms_node *type = tvms_as_seq_expr(body)->body->sinfo;
  return type ? erased(r, type, symbols_only, NULL) : body->sinfo;
}

static bool is_base(tvms_prover *prover, tvms_node *base, tvms_node *derived) {
  return tvms_sinfo_relate(prover, base, derived) == TVMS_FIT_PROVED;
}

// Also where nothing changed: a signature that contradicts the body is corrected.
static tvms_node *leave_function(tvms_rewriter *r, tvms_node *node) {
  const tvms_function *old = tvms_as_function(node);
  tvms_node *type = old->body->sinfo;
  if (!type || same_type(r, type, old->ret)) return node;
  type = type_of_function(r, old);
  tvms_node *within = node == r->old ? type : type_within(r, old);
  tvms_prover prover;
  tvms_prover_init(&prover, r->unit);
  bool says_more = is_base(&prover, old->ret, within),
       says_less = is_base(&prover, within, old->ret);
  tvms_prover_fini(&prover);
  bool keeps = says_more ? node == r->old : says_less;
  if (keeps || same_type(r, type, old->ret)) return node;
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_as_function(copy)->ret = type;
  if (copy->sinfo)
    copy->sinfo = tvms_sinfo_func_new_of_vars(r->unit, old->params, type,
                                              copy->flags & TVMS_FLAG_PURE);
  return copy;
}

static bool same_items(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    const tvms_node *one = a.items[i], *other = b.items[i];
    if (one == other) continue;
    bool tuples = one->kind == TVMS_NODE_TUPLE && other->kind == TVMS_NODE_TUPLE;
    if (!tuples
        || !same_items(tvms_as_tuple(one)->fields, tvms_as_tuple(other)->fields))
      return false;
  }
  return true;
}

bool tvms_relax_keeps_type(tvms_context *context, tvms_list old, tvms_list now) {
  bool untold = false;
  if (old.len != now.len) return false;
  for (uint32_t i = 0; i < now.len; i++) {
    const tvms_node *a = old.items[i], *b = now.items[i];
    untold = untold || tvms_sinfo_is_untold(b);
    bool same =
        a == b || a->sinfo == b->sinfo
        || (a->sinfo && b->sinfo && tvms_node_equal(context, a->sinfo, b->sinfo));
    if (!same) return false;
  }
  return untold;
}

tvms_node *tvms_relax_retype_call(tvms_rewriter *rewriter, const tvms_module *module,
                                  tvms_node *node) {
  if (node == rewriter->old || !node->sinfo) return node;
  const tvms_call *call = tvms_as_call(node), *old = tvms_as_call(rewriter->old);
  // Where only the type was rewritten, that is the type (TVM: VisitExpr_(CallNode)).
  bool same = call->callee == old->callee && same_items(call->args, old->args)
              && same_items(call->type_args, old->type_args);
  bool kept = tvms_relax_keeps_type(rewriter->unit->context, old->args, call->args);
  if (same || kept) return node;
  tvms_prover prover;
  tvms_prover_init(&prover, rewriter->unit);
  tvms_inference in = {.prover = &prover,
                       .unit = rewriter->unit,
                       .module = module,
                       .call = tvms_as_call(node)};
  tvms_trial_mute(&rewriter->unit->context->diags);
  tvms_node *type = tvms_infer_call(&in);
  tvms_trial_unmute(&rewriter->unit->context->diags);
  tvms_prover_fini(&prover);
  if (type) node->sinfo = type;
  return node;
}

void tvms_relax_retype(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_VAR_BINDING] = leave_binding;
  rewriter->leave[TVMS_NODE_TUPLE] = leave_tuple;
  rewriter->leave[TVMS_NODE_TUPLE_GET_ITEM] = leave_item;
  rewriter->leave[TVMS_NODE_IF] = leave_if;
  rewriter->leave[TVMS_NODE_SEQ_EXPR] = leave_sequence;
  rewriter->leave[TVMS_NODE_FUNCTION] = leave_function;
}
