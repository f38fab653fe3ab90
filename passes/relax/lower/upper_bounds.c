// A variable is bounded by its name; without an upper bound a lower one only says that it is not
// negative.
#include "passes/relax/lower/upper_bounds.h"

#include "arith/bound.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_relax_bounds *bounds;
  tvms_unit *unit;
  const tvms_node *TVMS_NULLABLE attrs;
} reader;

static bool bound_of(const reader *r, const char *attr, const char *name,
                     int64_t *value) {
  const tvms_node *map = tvms_object_map_get(r->attrs, attr);
  bool known = map && map->kind == TVMS_NODE_OBJECT_MAP;
  return known && tvms_object_as_int(tvms_object_map_get(map, name), value);
}

// An attribute that gives bounds has a number for each name; any other is an error, as in TVM.
static void check_numbers(const reader *r, const tvms_node *function,
                          const char *attr) {
  const tvms_node *map = tvms_object_map_get(r->attrs, attr);
  if (!map) return;
  bool fits = map->kind == TVMS_NODE_OBJECT_MAP;
  tvms_list values = fits ? tvms_as_object_map(map)->values : (tvms_list){0};
  int64_t number;
  for (uint32_t i = 0; i < values.len && fits; i++)
    fits = tvms_object_as_int(values.items[i], &number);
  if (!fits)
    tvms_diag_report(&r->unit->context->diags, TVMS_D_wrong_type, function->span, attr,
                     "a map from names to numbers", "to anything else");
}

static bool is_listed(const reader *r, const char *name) {
  const tvms_node *list = tvms_object_map_get(r->attrs, "tir_non_negative_var");
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list items = tvms_as_object_array(list)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    const char *text = tvms_object_as_text(items.items[i]);
    if (text && strcmp(text, name) == 0) return true;
  }
  return false;
}

static void bind(const reader *r, tvms_node *var) {
  const char *name = tvms_symbol_text(r->unit->context, tvms_as_var(var)->name);
  int64_t upper, lower = 0;
  bool least = bound_of(r, "tir_var_lower_bound", name, &lower);
  if (bound_of(r, "tir_var_upper_bound", name, &upper)) {
    tvms_dtype dtype = TVMS_DTYPE(INT, 64);
    tvms_node *min = tvms_int_imm_new(r->unit, dtype, lower, TVMS_NO_SPAN);
    tvms_node *extent =
        tvms_int_imm_new(r->unit, dtype, upper - lower + 1, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(r->bounds->analyzer, var, min, extent);
    tvms_domains_set(&r->bounds->domains, var,
                     tvms_int_set_of_range(r->unit, min, extent));
  } else if ((least && lower >= 0) || is_listed(r, name)) {
    tvms_analyzer_mark_nonnegative(r->bounds->analyzer, var);
  }
}

static tvms_walk_step bind_var(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  bool size = node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
  if (size && !tvms_domains_get(&((reader *)self)->bounds->domains, node))
    bind(self, node);
  return TVMS_WALK_ON;
}

void tvms_relax_bounds_init(tvms_relax_bounds *bounds, tvms_unit *unit,
                            tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  bounds->analyzer = tvms_analyzer_new(unit);
  tvms_domains_init(&bounds->domains, unit);
  reader r = {bounds, unit, function->attrs};
  check_numbers(&r, node, "tir_var_upper_bound");
  check_numbers(&r, node, "tir_var_lower_bound");
  tvms_visitor visitor = {.self = &r, .enter = bind_var};
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *type = function->params.items[i]->sinfo;
    if (type) tvms_walk(&unit->context->memory, type, &visitor);
  }
  if (function->ret) tvms_walk(&unit->context->memory, function->ret, &visitor);
}

void tvms_relax_bounds_fini(tvms_relax_bounds *bounds) {
  tvms_domains_fini(&bounds->domains);
  tvms_analyzer_free(bounds->analyzer);
}

// The hull of a product depends on the sign of a factor, which the attributes may tell.
static tvms_node *decide(tvms_rewriter *r, tvms_node *node) {
  const tvms_select *select = tvms_as_select(node);
  bool holds = tvms_analyzer_can_prove(r->self, select->condition);
  return holds ? select->true_value : node;
}

static tvms_node *decided(tvms_relax_bounds *bounds, tvms_node *size) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, bounds->domains.unit, bounds->analyzer);
  rewriter.leave[TVMS_NODE_SELECT] = decide;
  size = tvms_rewrite(&rewriter, size);
  tvms_rewriter_fini(&rewriter);
  return size;
}

tvms_node *tvms_relax_bounds_largest(tvms_relax_bounds *bounds, tvms_node *size) {
  int64_t max = tvms_analyzer_const_int_bound(bounds->analyzer, size).max;
  if (max != TVMS_POS_INF)
    return tvms_int_imm_new(bounds->domains.unit, TVMS_DTYPE(INT, 64), max, size->span);
  tvms_int_set set = tvms_int_set_of_expr(&bounds->domains, size);
  return set.max ? decided(bounds, set.max) : size;
}
