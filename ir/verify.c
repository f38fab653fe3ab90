// The invariants of the IR, and the walk that checks them.
//
// *Units* (here). Analyses are arrays indexed by id, and a unit dies as a whole:
//   U1 a node lies in the arena of its function's unit, a closed type in the context's, a
//      device or mesh that a type names there or in the module's;
//   U2 its id is 1 … next_id - 1, and no other node of the unit has it;
//   U3 id 0 and the flag INTERNED go together, only types and their parts have them, and
//      what is below such a node has them too: it outlives every unit;
//   U4 a statement, a binding and a block of bindings stand in one place: a pass that
//      changes one does not change another, and what it defines is defined once.
// *Shape* (here, from the columns of ir/nodes.def). Casts like tvms_as_range rely on it:
//   S1 only an OPTIONAL field and the items of OPTIONALS are NULL;
//   S2 a field holds what its column says: a kind, a class or one of the sets below;
//   S3 a node has no flag that means nothing for its kind;
//   S4 a text ends with NUL; an empty one may be NULL.
// *Single nodes* (ir/verify_node.c). Folding, arithmetic and both back ends compute with the
// dtypes of operands without asking again:
//   N1 operands, results, constants, indices and loop variables agree in dtype;
//   N2 lists that belong together have one length: parameters and buffers, axes and values,
//      indices and dimensions, a shape and its rank;
//   N3 enumerations are in range;
//   N4 a SEQ has two statements at least, and one in another is a scope of its own.
// *Relax* (ir/verify_node.c). Inference is not repeated:
//   R1 variables, bound values and parts of values have their StructInfo; names of
//      functions may do without;
//   R2 values are in A-normal form: arguments and fields are leaves or tuples.
// *Scopes* (ir/verify_scope.c). An analyzer keeps what it learns of a variable for good:
//   D1 a variable or buffer is defined in one place;
//   D2 it is used only behind it, in the scope of its definition.
// *Modules* (here):
//   M1 a function has the unit, the release and the name of its member; no two members
//      have one name.
#include "ir/verify.h"

#include "ir/equal.h"
#include "ir/verify_node.h"
#include "ir/verify_scope.h"
#include "ir/walk.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

// ---- What may stand where ----

static bool is_class(const tvms_node *node, tvms_node_class class) {
  return tvms_node_class_of(node) == class;
}

static bool is_one_of(const tvms_node *node, tvms_node_kind a, tvms_node_kind b,
                      tvms_node_kind c) {
  return node->kind == a || node->kind == b || node->kind == c;
}

static bool may_hold(tvms_holds holds, const tvms_node *node) {
  bool expr = is_class(node, TVMS_CLASS_EXPR);
  switch ((int)holds) {
  case TVMS_HOLDS_DATA: return false;
  case TVMS_HOLDS_ANY: return true;
  case TVMS_HOLDS_EXPR: return expr;
  case TVMS_HOLDS_STMT: return is_class(node, TVMS_CLASS_STMT);
  case TVMS_HOLDS_SINFO: return is_class(node, TVMS_CLASS_SINFO);
  case TVMS_HOLDS_VALUE: return expr || node->kind == TVMS_NODE_BUFFER_REGION;
  case TVMS_HOLDS_ARGUMENT:
    return expr
           || is_one_of(node, TVMS_NODE_BUFFER_REGION, TVMS_NODE_BUFFER,
                        TVMS_NODE_FUNCTION);
  case TVMS_HOLDS_CALLEE:
    return node->kind == TVMS_NODE_VAR
           || is_one_of(node, TVMS_NODE_OPERATOR, TVMS_NODE_GLOBAL_VAR,
                        TVMS_NODE_EXTERN_FUNC);
  case TVMS_HOLDS_BINDING:
    return node->kind == TVMS_NODE_VAR_BINDING || node->kind == TVMS_NODE_MATCH_CAST;
  case TVMS_HOLDS_BOUND: return expr || node->kind == TVMS_NODE_FUNCTION;
  case TVMS_HOLDS_SHAPE:
    return node->kind == TVMS_NODE_SHAPE_EXPR || node->kind == TVMS_NODE_VAR;
  case TVMS_HOLDS_LAYOUT:
    return is_one_of(node, TVMS_NODE_TILE_LAYOUT, TVMS_NODE_COMPOSE_LAYOUT,
                     TVMS_NODE_OBJECT_NONE);
  default: return (int)node->kind == (int)holds;
  }
}

// The flags that mean something for a kind.
static unsigned flags_of(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR:
    return TVMS_FLAG_DATAFLOW | TVMS_FLAG_SIZE_VAR | TVMS_FLAG_ASSUMED
           | TVMS_FLAG_EARLY;
  case TVMS_NODE_BINDING_BLOCK: return TVMS_FLAG_DATAFLOW;
  case TVMS_NODE_VAR_BINDING: return TVMS_FLAG_ANNOTATED;
  case TVMS_NODE_INT_IMM: return TVMS_FLAG_LARGE;
  case TVMS_NODE_OPERATOR: return TVMS_FLAG_TIR;
  case TVMS_NODE_SINFO_SHAPE: return TVMS_FLAG_KNOWN;
  case TVMS_NODE_SINFO_FUNC: return TVMS_FLAG_KNOWN | TVMS_FLAG_PURE;
  case TVMS_NODE_SINFO_OBJECT: return TVMS_FLAG_STRING;
  case TVMS_NODE_PRIM_FUNC:
    return TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR | TVMS_FLAG_PERSISTENT
           | TVMS_FLAG_UNCHECKED;
  case TVMS_NODE_FUNCTION:
    return TVMS_FLAG_PRIVATE | TVMS_FLAG_PURE | TVMS_FLAG_UNCHECKED;
  default: return 0;
  }
}

static bool may_be_interned(const tvms_node *node) {
  return is_class(node, TVMS_CLASS_SINFO) || node->kind == TVMS_NODE_SHAPE_EXPR
         || is_one_of(node, TVMS_NODE_INT_IMM, TVMS_NODE_FLOAT_IMM,
                      TVMS_NODE_PRIM_VALUE);
}

// ---- The walk ----

typedef struct {
  tvms_unit *unit;
  const tvms_node **by_id;  // the node that has the id, once it was seen
  tvms_violation found;
} verifier;

static void visit(verifier *v, tvms_node *node, bool below_interned);

static bool fail(verifier *v, const tvms_node *node, const char *what) {
  if (!v->found.what) v->found = (tvms_violation){node, what};
  return false;
}

// Its place, its id and its flags. *known: it was seen before.
static bool check_identity(verifier *v, const tvms_node *node, bool below_interned,
                           bool *known) {
  bool interned = node->flags & TVMS_FLAG_INTERNED;
  if (node->kind == TVMS_NODE_INVALID || node->kind >= TVMS_NODE_COUNT)
    return fail(v, node, "the kind is unknown");
  if (interned != (node->id == 0)) return fail(v, node, "an id of 0 is not interned");
  if (below_interned && !interned)
    return fail(v, node, "it is not interned, but what it is a part of is");
  if ((node->flags & ~flags_of(node)) & ~(unsigned)TVMS_FLAG_INTERNED)
    return fail(v, node, "it has a flag that means nothing for its kind");
  if (interned) {
    *known = false;
    bool own = tvms_arena_owns(&v->unit->context->arena, node);
    if (!may_be_interned(node))
      return fail(v, node, "nodes of its kind are not shared");
    return own || fail(v, node, "it is not the context's");
  }
  *known = true;
  if (tvms_module_shares(v->unit, node)) return true;
  if (node->id >= v->unit->next_id || !tvms_arena_owns(&v->unit->arena, node))
    return fail(v, node, "it is not of this unit");
  const tvms_node *other = v->by_id[node->id];
  if (other && other != node) return fail(v, node, "another node has its id");
  *known = other != NULL;
  v->by_id[node->id] = node;
  bool single = is_class(node, TVMS_CLASS_STMT) || is_class(node, TVMS_CLASS_TOP)
                || is_one_of(node, TVMS_NODE_BINDING_BLOCK, TVMS_NODE_VAR_BINDING,
                             TVMS_NODE_MATCH_CAST);
  return !(single && *known) || fail(v, node, "it stands in two places");
}

static bool fail_field(verifier *v, const tvms_node *node, const tvms_field *field,
                       const char *what, const char *of) {
  tvms_context *context = v->unit->context;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_strbuf_printf(&text, "field '%s' %s%s", field->name, what, of);
  fail(v, node, tvms_arena_text(&context->arena, text.text, text.len));
  tvms_strbuf_fini(&text);
  return false;
}

static bool check_part(verifier *v, const tvms_node *node, const tvms_field *field,
                       const tvms_node *TVMS_NULLABLE part) {
  if (!part) return field->nullable || fail_field(v, node, field, "is missing", "");
  if (may_hold((tvms_holds)field->holds, part)) return true;
  const char *kind = part->kind < TVMS_NODE_COUNT
                         ? tvms_node_schema_of((tvms_node_kind)part->kind)->name
                         : "?";
  return fail_field(v, node, field, "holds a node of kind ", kind);
}

static bool is_text(tvms_bytes text) {
  return text.text ? text.text[text.len] == '\0' : text.len == 0;
}

// Fields against their columns, and then what is in them.
static void check_fields(verifier *v, tvms_node *node) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  bool interned = node->flags & TVMS_FLAG_INTERNED;
  for (uint32_t i = 0; i < schema->field_count && !v->found.what; i++) {
    const tvms_field *field = &schema->fields[i];
    const void *at = (const char *)node + field->offset;
    tvms_list list = {NULL, 0};
    tvms_node *part;
    if (field->type == TVMS_TYPE_TEXT && !is_text(*(const tvms_bytes *)at))
      fail_field(v, node, field, "is a text without an end", "");
    if (field->type == TVMS_TYPE_LIST) list = *(const tvms_list *)at;
    if (field->type == TVMS_TYPE_NODE) {
      part = *(tvms_node *const *)at;
      list = (tvms_list){&part, 1};
    }
    for (uint32_t k = 0; k < list.len && !v->found.what; k++) {
      part = list.items[k];
      if (check_part(v, node, field, part) && part) visit(v, part, interned);
    }
  }
}

static void visit(verifier *v, tvms_node *node, bool below_interned) {
  bool known;
  if (v->found.what || !check_identity(v, node, below_interned, &known) || known)
    return;
  tvms_memory *memory = &v->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  check_fields(v, node);
  if (node->sinfo && !v->found.what) {
    if (!is_class(node->sinfo, TVMS_CLASS_SINFO)) fail(v, node, "its type is not one");
    visit(v, node->sinfo, false);
  }
  if (!v->found.what) {
    const char *what = tvms_verify_node(node);
    if (what) fail(v, node, what);
  }
  tvms_memory_leave(memory);
}

// ---- Results ----

static const char *text_of(tvms_context *context, const tvms_violation *found,
                           const char *TVMS_NULLABLE function) {
  bool known = found->node && found->node->kind < TVMS_NODE_COUNT;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  if (function) tvms_strbuf_printf(&text, "%s: ", function);
  if (found->node) {
    tvms_strbuf_printf(
        &text, "node '%s' (id %u): ",
        known ? tvms_node_schema_of((tvms_node_kind)found->node->kind)->name : "?",
        found->node->id);
  }
  tvms_strbuf_puts(&text, found->what);
  const char *kept = tvms_arena_text(&context->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

static bool is_function(const tvms_node *node) {
  return node->kind == TVMS_NODE_PRIM_FUNC || node->kind == TVMS_NODE_FUNCTION;
}

static tvms_violation verify_root(tvms_unit *unit, tvms_node *root) {
  tvms_memory *memory = &unit->context->memory;
  verifier v = {.unit = unit};
  v.by_id = tvms_memory_alloc(memory, unit->next_id * sizeof *v.by_id);
  visit(&v, root, false);
  tvms_memory_free(memory, v.by_id);
  if (v.found.what || !is_function(root) || root->flags & TVMS_FLAG_UNCHECKED)
    return v.found;
  return tvms_verify_scopes(unit, root);
}

const char *TVMS_NULLABLE tvms_verify(tvms_unit *unit, tvms_node *root) {
  tvms_violation found = verify_root(unit, root);
  return found.what ? text_of(unit->context, &found, NULL) : NULL;
}

static tvms_sym name_of(const tvms_node *function) {
  return function->kind == TVMS_NODE_PRIM_FUNC ? tvms_as_prim_func(function)->name
                                               : tvms_as_function(function)->name;
}

static tvms_violation verify_member(const tvms_module *module, uint32_t index) {
  const tvms_member *member = &module->members[index];
  tvms_node *function = member->function;
  if (member->unit->dialect != module->dialect)
    return (tvms_violation){function, "its unit is of another release"};
  for (uint32_t i = 0; i < index; i++) {
    if (module->members[i].name == member->name)
      return (tvms_violation){function, "another function has its name"};
  }
  if (!function || function->kind == TVMS_NODE_EXTERN_FUNC)
    return (tvms_violation){NULL, NULL};
  if (!is_function(function)) return (tvms_violation){function, "it is not a function"};
  if (name_of(function) != member->name)
    return (tvms_violation){function, "it does not have the name of its member"};
  if (module->unchecked) return (tvms_violation){NULL, NULL};
  return verify_root(member->unit, function);
}

const char *TVMS_NULLABLE tvms_verify_module(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_violation found = verify_member(module, i);
    const char *name = tvms_symbol_text(module->context, module->members[i].name);
    if (found.what) return text_of(module->context, &found, name);
  }
  return NULL;
}

static void give_up(tvms_context *context, const char *format, const char *a,
                    const char *b) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_strbuf_printf(&text, format, a, b);
  TVMS_UNREACHABLE(tvms_strbuf_text(&text));
}

void tvms_verify_expect(const tvms_module *module, const char *when) {
  tvms_context *context = module->context;
  if (!context->verifies || context->diags.errors) return;
  const char *wrong = tvms_verify_module(module);
  if (!wrong) return;
  give_up(context, "an invariant is violated after %s: %s", when, wrong);
}

uint64_t tvms_verify_mark(const tvms_module *module) {
  tvms_context *context = module->context;
  if (!context->verifies) return 0;
  uint64_t mark = module->member_count;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    mark = mark * 31 + member->name;
    if (member->function) mark = mark * 31 + tvms_node_hash(context, member->function);
  }
  if (module->attrs) mark = mark * 31 + tvms_node_hash(context, module->attrs);
  if (!module->global_infos) return mark;
  return mark * 31 + tvms_node_hash(context, module->global_infos);
}

void tvms_verify_expect_same(const tvms_module *module, uint64_t mark,
                             const char *who) {
  tvms_context *context = module->context;
  if (!context->verifies || context->diags.errors) return;
  if (tvms_verify_mark(module) != mark)
    give_up(context, "%s changed the module %s", who, "without saying so");
}
