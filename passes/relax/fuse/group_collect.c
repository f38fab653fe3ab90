// First what each group takes from outside, then, over all bindings, what others take from it.
#include "passes/relax/fuse/group_collect.h"

#include "ir/op.h"
#include "ir/walk.h"
#include "passes/relax/analysis/symbols.h"

#include <string.h>

static tvms_memory *memory_of(const tvms_fuse_collector *f) {
  return &f->run->context->memory;
}

uint32_t tvms_fuse_group_of(const tvms_fuse_collector *f, const tvms_node *var) {
  bool known = var->id < f->given->ids && f->given->group_of[var->id];
  return known ? f->given->group_of[var->id] - 1 : UINT32_MAX;
}

bool tvms_fuse_group_is_made(const tvms_fuse_collector *f, uint32_t index) {
  if (index == UINT32_MAX) return false;
  return f->given->sizes[index] > 1 || (f->given->attrs && f->given->attrs[index]);
}

bool tvms_fuse_group_gives(const tvms_fuse_group *g, const tvms_node *var) {
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    if (g->outputs.items[i] == var) return true;
  }
  return false;
}

bool tvms_fuse_group_defines(const tvms_fuse_group *g, const tvms_node *var) {
  for (uint32_t i = 0; i < g->bindings.len; i++) {
    if (tvms_relax_binding_var(g->bindings.items[i]) == var) return true;
  }
  return false;
}

static tvms_fuse_argument *find_argument(tvms_fuse_group *g, const tvms_node *value) {
  for (uint32_t i = 0; i < g->args.len; i++) {
    if (g->args.items[i].value == value) return &g->args.items[i];
  }
  return NULL;
}

static tvms_walk_step stop_at_symbol(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self, (void)role;
  return node->kind == TVMS_NODE_VAR ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// A shape or scalar without symbols, or a tuple of them: it is written where it is used.
static bool is_literal(const tvms_fuse_collector *f, tvms_node *node) {
  if (node->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(node)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      if (!is_literal(f, fields.items[i])) return false;
    }
    return true;
  }
  bool plain = node->kind == TVMS_NODE_SHAPE_EXPR || node->kind == TVMS_NODE_PRIM_VALUE
               || !tvms_dtype_is_void(node->dtype);
  tvms_visitor visitor = {.enter = stop_at_symbol};
  return plain && node->kind != TVMS_NODE_VAR
         && tvms_walk(memory_of(f), node, &visitor);
}

tvms_node *TVMS_NULLABLE tvms_fuse_group_literal(const tvms_fuse_collector *f,
                                                 tvms_node *var) {
  if (var->kind != TVMS_NODE_VAR) return NULL;
  tvms_node *value = tvms_relax_definitions_unwrap(&f->definitions, var);
  return value != var && is_literal(f, value) ? value : NULL;
}

// A symbol that is passed as a scalar stands for itself.
static tvms_node *passed(const tvms_fuse_collector *f, tvms_node *value) {
  if (value->kind != TVMS_NODE_PRIM_VALUE) return value;
  tvms_node *scalar = tvms_as_prim_value(value)->value;
  bool symbol = scalar->kind == TVMS_NODE_VAR
                && tvms_release_has(f->run->module->dialect, TVMS_FACT_scalars_are_tir);
  return symbol ? scalar : value;
}

static void add_argument(tvms_fuse_collector *f, tvms_fuse_group *g, tvms_node *value) {
  if (find_argument(g, value) || is_literal(f, value)
      || tvms_fuse_group_literal(f, value))
    return;
  if (value->kind == TVMS_NODE_VAR && tvms_fuse_group_defines(g, value)) return;
  if (value->kind == TVMS_NODE_CONSTANT && f->given->keep_constants) return;
  bool tuple = value->sinfo && value->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
  tvms_fuse_argument arg = {.value = value, .items_only = tuple};
  tvms_vec_push(memory_of(f), &g->args, arg);
}

static void add_whole(tvms_fuse_collector *f, tvms_fuse_group *g, tvms_node *given) {
  tvms_node *value = passed(f, given);
  add_argument(f, g, value);
  tvms_fuse_argument *arg = find_argument(g, value);
  if (arg) arg->items_only = false;
}

static void add_item(tvms_fuse_collector *f, tvms_fuse_group *g,
                     const tvms_tuple_get_item *item) {
  add_argument(f, g, item->tuple);
  tvms_fuse_argument *arg = find_argument(g, item->tuple);
  if (arg && arg->items_only) tvms_vec_push(memory_of(f), &arg->items, item->index);
}

// Names of operators lose their dots, as all names of functions do.
static void name_after(tvms_fuse_collector *f, tvms_fuse_group *g,
                       const tvms_call *call) {
  const tvms_node *callee = call->callee;
  bool tir = tvms_op_called(&call->head) == TVMS_R_call_tir
             || tvms_op_called(&call->head) == TVMS_R_call_tir_inplace;
  if (tir) callee = call->args.items[0];
  tvms_sym name = 0;
  if (callee->kind == TVMS_NODE_GLOBAL_VAR) name = tvms_as_global_var(callee)->name;
  if (callee->kind == TVMS_NODE_OPERATOR) name = tvms_as_operator(callee)->name;
  if (!name) return;
  const char *text = tvms_symbol_text(f->run->context, name);
  if (!tir && strncmp(text, "fused_", 6) == 0) text += 6;
  tvms_strbuf_puts(&g->name, "_");
  for (; *text; text++)
    tvms_strbuf_printf(&g->name, "%c", *text == '.' ? '_' : *text);
}

static void add_call(tvms_fuse_collector *f, tvms_fuse_group *g,
                     const tvms_call *call) {
  tvms_opcode op = tvms_op_called(&call->head);
  bool tir = op == TVMS_R_call_tir || op == TVMS_R_call_tir_inplace;
  name_after(f, g, call);
  for (uint32_t i = tir ? 1 : 0; i < call->args.len; i++) {
    tvms_node *arg = call->args.items[i];
    if (arg->kind != TVMS_NODE_TUPLE) {
      add_whole(f, g, arg);
      continue;
    }
    tvms_list fields = tvms_as_tuple(arg)->fields;
    for (uint32_t k = 0; k < fields.len; k++)
      add_whole(f, g, fields.items[k]);
    if (tir) break;  // sizes behind the arguments are symbols
  }
}

static void add_binding(tvms_fuse_collector *f, tvms_fuse_group *g,
                        tvms_node *binding) {
  tvms_node *value = tvms_relax_binding_value(binding);
  if (value->kind == TVMS_NODE_CALL) {
    add_call(f, g, tvms_as_call(value));
  } else if (value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    add_item(f, g, tvms_as_tuple_get_item(value));
  }
  const tvms_node *var = tvms_relax_binding_var(binding);
  if (!(var->flags & TVMS_FLAG_DATAFLOW))
    tvms_vec_push(memory_of(f), &g->outputs, (tvms_node *)(uintptr_t)var);
}

// ---- Scalars that types tell ----

static tvms_walk_step note_symbol(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  tvms_node_map *told = self;
  if (tvms_relax_is_symbol(node)) tvms_node_map_put(told, node, node);
  return TVMS_WALK_ON;
}

static tvms_walk_step stop_at_untold(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  const tvms_node_map *told = self;
  bool untold = tvms_relax_is_symbol(node) && !tvms_node_map_get(told, node);
  return untold ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_scalar(const tvms_node *value) {
  return !tvms_dtype_is_void(value->dtype) || value->kind == TVMS_NODE_PRIM_VALUE;
}

// A scalar over symbols that types of the group have is no argument: the symbols are the function's own, by its
// parameters' types or handed over with the sizes.
static void drop_told_scalars(tvms_fuse_collector *f, tvms_fuse_group *g) {
  tvms_node_map told;
  tvms_node_map_init(&told, memory_of(f));
  tvms_visitor note = {.self = &told, .enter = note_symbol};
  for (uint32_t i = 0; i < g->args.len; i++) {
    tvms_node *value = g->args.items[i].value;
    if (!is_scalar(value) && value->sinfo) tvms_walk(memory_of(f), value->sinfo, &note);
  }
  for (uint32_t i = 0; i < g->bindings.len; i++) {
    tvms_node *type = tvms_relax_binding_var(g->bindings.items[i])->sinfo;
    if (type) tvms_walk(memory_of(f), type, &note);
  }
  tvms_visitor check = {.self = &told, .enter = stop_at_untold};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g->args.len; i++) {
    tvms_node *value = g->args.items[i].value;
    bool drop = is_scalar(value) && tvms_walk(memory_of(f), value, &check);
    if (!drop) g->args.items[kept++] = g->args.items[i];
  }
  g->args.len = kept;
  tvms_node_map_fini(&told);
}

static void collect(tvms_fuse_collector *f, tvms_list bindings) {
  for (uint32_t i = 0; i < bindings.len; i++) {
    tvms_node *binding = bindings.items[i];
    uint32_t index = tvms_fuse_group_of(f, tvms_relax_binding_var(binding));
    if (index == UINT32_MAX) continue;
    tvms_fuse_group *g = &f->groups[index];
    if (tvms_fuse_group_is_made(f, index)) {
      if (g->bindings.len == 0) {
        tvms_strbuf_init(&g->name, memory_of(f));
        tvms_strbuf_puts(&g->name, "fused");
      }
      add_binding(f, g, binding);
    }
    tvms_vec_push(memory_of(f), &g->bindings, binding);
  }
}

// A use of a variable of another group makes it an output of that group.
typedef struct {
  tvms_fuse_collector *f;
  uint32_t user;
} use_visit;

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  use_visit *visit = self;
  tvms_fuse_collector *f = visit->f;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  uint32_t index = tvms_fuse_group_of(f, node);
  if (index == UINT32_MAX || index == visit->user) return TVMS_WALK_SKIP;
  tvms_fuse_group *maker = &f->groups[index];
  if (visit->user != UINT32_MAX)
    tvms_vec_push(memory_of(f), &f->groups[visit->user].needs, index);
  if (tvms_fuse_group_is_made(f, index) && tvms_fuse_group_defines(maker, node)
      && !tvms_fuse_group_gives(maker, node))
    tvms_vec_push(memory_of(f), &maker->outputs, node);
  return TVMS_WALK_SKIP;
}

static void find_outputs(tvms_fuse_collector *f, tvms_list bindings) {
  for (uint32_t i = 0; i < bindings.len; i++) {
    tvms_node *binding = bindings.items[i];
    use_visit visit = {f, tvms_fuse_group_of(f, tvms_relax_binding_var(binding))};
    tvms_visitor visitor = {.self = &visit, .enter = note_use};
    tvms_walk(memory_of(f), tvms_relax_binding_value(binding), &visitor);
  }
}

void tvms_fuse_groups_collect(tvms_fuse_collector *f, tvms_list bindings) {
  collect(f, bindings);
  bool told = tvms_release_has(f->run->module->dialect, TVMS_FACT_scalars_are_tir);
  for (uint32_t i = 0; told && i < bindings.len; i++) {
    uint32_t index = tvms_fuse_group_of(f, tvms_relax_binding_var(bindings.items[i]));
    if (tvms_fuse_group_is_made(f, index)) drop_told_scalars(f, &f->groups[index]);
  }
  find_outputs(f, bindings);
}

void tvms_fuse_group_drop(tvms_fuse_collector *f, tvms_fuse_group *g) {
  for (uint32_t i = 0; i < g->args.len; i++)
    tvms_vec_fini(memory_of(f), &g->args.items[i].items);
  tvms_vec_fini(memory_of(f), &g->args);
  tvms_vec_fini(memory_of(f), &g->bindings);
  tvms_vec_fini(memory_of(f), &g->outputs);
  tvms_vec_fini(memory_of(f), &g->needs);
  if (g->name.memory) tvms_strbuf_fini(&g->name);
  *g = (tvms_fuse_group){.written = true};
}
