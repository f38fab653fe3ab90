// AlterOpImpl: PrimFuncs are replaced by others, which take their buffers in other layouts.
//
// Before: y = R.call_tir(cls.add, (a, b), …), where add has the attribute operator_name="relax.add"
// After:  lv = R.layout_transform(a, index_map=…), and lv1 of b
//         lv2 = R.call_tir(cls.relax_add_replacement, (lv, lv1), …)
//         y = R.layout_transform(lv2, index_map=…), with the map that undoes that of the result
//
// Replacements stand in a file, or in a class of the same text, and are found by their attribute operator_name.
// "tvms.buffer_transforms" has for each of their parameters an index map, T.index_map(lambda i: (i // 4, i % 4)),
// or None; without it calls keep their layouts. Up to 0.25 "tvms.axis_separators" and
// "tvms.input_axis_separators" have a list of axes for each parameter, which layout_transform gets.
// Where a map pads, the PrimFunc remove_pad takes the elements out of what it is undone to. It is made for
// each rank and dtype, where TVM takes that of the first dtype for all. Constants of rank 0 are not transformed.
// TVM: relax.transform.AlterOpImpl.
#include "arith/index_map.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/relax/make.h"
#include "passes/relax/mutator.h"
#include "passes/relax/own_functions.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"
#include "te/te.h"

#include <stdio.h>
#include <string.h>

static const char operator_key[] = "operator_name";
static const char maps_key[] = "tvms.buffer_transforms";
static const char outer_key[] = "tvms.axis_separators";
static const char inner_key[] = "tvms.input_axis_separators";

// Per parameter; NULL: nothing is said.
typedef struct {
  const tvms_member *member;
  const char *name;  // operator_name
  const tvms_object_array *TVMS_NULLABLE maps;
  const tvms_object_array *TVMS_NULLABLE outer;
  const tvms_object_array *TVMS_NULLABLE inner;
} replacement;

typedef struct {
  tvms_relax_emitter names;  // drawn for all functions together
  tvms_source *TVMS_NULLABLE source;
  tvms_analyzer *TVMS_NULLABLE analyzer;
  TVMS_VEC(replacement) items;
} whole_module;

// ---- The replacements ----

static const tvms_node *TVMS_NULLABLE attr_of(const tvms_node *function,
                                              const char *key) {
  const tvms_node *attrs = tvms_as_prim_func(function)->attrs;
  return attrs ? tvms_object_map_get(attrs, key) : NULL;
}

static bool is_axes(const tvms_node *node) {
  if (node->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list items = tvms_as_object_array(node)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    int64_t axis;
    if (!tvms_object_as_int(items.items[i], &axis)) return false;
  }
  return true;
}

static bool is_map(const tvms_node *node) {
  return node->kind == TVMS_NODE_INDEX_MAP || node->kind == TVMS_NODE_OBJECT_NONE;
}

// A list with an item of the kind asked for per parameter. False: it is something else.
static bool read_list(const tvms_node *function, const char *key,
                      bool (*fits)(const tvms_node *), const tvms_object_array **list) {
  const tvms_node *said = attr_of(function, key);
  if (!said) return true;
  if (said->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  const tvms_object_array *array = tvms_as_object_array(said);
  for (uint32_t i = 0; i < array->items.len; i++) {
    if (!fits(array->items.items[i])) return false;
  }
  *list = array;
  return array->items.len == 0
         || array->items.len == tvms_as_prim_func(function)->params.len;
}

static const char *TVMS_NULLABLE read_replacement(const whole_module *whole,
                                                  tvms_context *context,
                                                  replacement *made) {
  const tvms_node *function = made->member->function;
  for (uint32_t i = 0; i < whole->items.len; i++) {
    if (strcmp(whole->items.items[i].name, made->name) == 0)
      return "another PrimFunc has the same operator_name";
  }
  if (!tvms_relax_own_function_stands_alone(context, made->member))
    return "it calls another function";
  if (!read_list(function, maps_key, is_map, &made->maps))
    return "\"tvms.buffer_transforms\" is no list with an index map or None for each "
           "parameter";
  if (!read_list(function, outer_key, is_axes, &made->outer))
    return "\"tvms.axis_separators\" is no list with a list of axes for each parameter";
  if (!read_list(function, inner_key, is_axes, &made->inner))
    return "\"tvms.input_axis_separators\" is no list with a list of axes for each "
           "parameter";
  if (made->maps && made->maps->items.len == 0) made->maps = NULL;
  return NULL;
}

static void add_replacement(void *self, tvms_context *context,
                            const tvms_member *member) {
  whole_module *whole = self;
  if (member->function->kind != TVMS_NODE_PRIM_FUNC) return;
  const tvms_node *said = attr_of(member->function, operator_key);
  replacement made = {.member = member,
                      .name = said ? tvms_object_as_text(said) : NULL};
  if (!made.name) return;
  const char *why = read_replacement(whole, context, &made);
  if (!why) {
    tvms_vec_push(&context->memory, &whole->items, made);
    return;
  }
  tvms_diag_report(&context->diags, TVMS_D_no_replacement, member->name_span,
                   tvms_symbol_text(context, member->name), why);
}

static bool read_replacements(whole_module *whole, tvms_pass_run *run,
                              const char *name) {
  tvms_context *context = run->context;
  uint32_t errors = context->diags.errors;
  whole->source = tvms_relax_own_functions_each(run, name, add_replacement, whole);
  if (context->diags.errors == errors && !whole->items.len)
    tvms_diag_report(&context->diags, TVMS_D_replacements_unread, (tvms_span){0, 0},
                     name, "no PrimFunc in it has the attribute \"operator_name\"");
  return context->diags.errors == errors;
}

static const replacement *TVMS_NULLABLE replacement_of(const whole_module *whole,
                                                       const tvms_node *function) {
  const tvms_node *said = attr_of(function, operator_key);
  const char *name = said ? tvms_object_as_text(said) : NULL;
  for (uint32_t i = 0; name && i < whole->items.len; i++) {
    if (strcmp(whole->items.items[i].name, name) == 0) return &whole->items.items[i];
  }
  return NULL;
}

// ---- One call ----

typedef struct {
  tvms_relax_mutator *m;
  whole_module *whole;
  const replacement *by;
  const tvms_node *call;
} exchange;

static tvms_node *TVMS_NULLABLE refuse(const exchange *x, const char *why) {
  tvms_context *context = x->m->run->context;
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_replacement_unfit, x->call->span,
                       tvms_symbol_text(context, x->by->member->name), why);
  if (x->whole->source)
    tvms_diag_note_in(&context->diags, diag, x->whole->source, x->by->member->name_span,
                      "the replacement is here");
  return NULL;
}

static const tvms_node *TVMS_NULLABLE map_at(const exchange *x, uint32_t param) {
  const tvms_node *map = x->by->maps->items.items[param];
  return map->kind == TVMS_NODE_INDEX_MAP ? map : NULL;
}

static tvms_node *axes_at(const exchange *x, const tvms_object_array *lists,
                          uint32_t param) {
  bool said = lists && param < lists->items.len;
  return said ? tvms_clone(x->m->unit, lists->items.items[param], NULL)
              : tvms_object_array_new(x->m->unit, NULL, 0, TVMS_NO_SPAN);
}

// `value` in the layout that `map`, which lies in the unit, leads to.
static tvms_node *TVMS_NULLABLE transformed(const exchange *x, tvms_node *value,
                                            tvms_node *map, uint32_t param) {
  tvms_list dims;
  if (!value->sinfo || value->sinfo->kind != TVMS_NODE_SINFO_TENSOR
      || !tvms_sinfo_tensor_dims(value->sinfo, &dims))
    return refuse(x, "the shape of an operand or result is not known");
  if (tvms_as_index_map(map)->initial_indices.len != dims.len)
    return refuse(x, "an index map takes another number of indices than a tensor has "
                     "dimensions");
  tvms_node *attrs[TVMS_ATTR_layout_transform_COUNT] = {
      map, NULL, axes_at(x, x->by->outer, param), axes_at(x, x->by->inner, param)};
  return tvms_relax_op_with(x->m, TVMS_R_layout_transform, &value, 1, attrs);
}

static tvms_node *TVMS_NULLABLE operands_of(const exchange *x) {
  tvms_node *old = tvms_as_call(x->call)->args.items[1];
  if (!x->by->maps) return old;
  if (old->kind != TVMS_NODE_TUPLE)
    return refuse(x, "its operands are not written out as a tuple");
  tvms_list fields = tvms_as_tuple(old)->fields;
  tvms_list made = tvms_list_copy(x->m->unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    tvms_list dims;
    bool scalar = fields.items[i]->kind == TVMS_NODE_CONSTANT
                  && fields.items[i]->sinfo->kind == TVMS_NODE_SINFO_TENSOR
                  && tvms_sinfo_tensor_dims(fields.items[i]->sinfo, &dims)
                  && dims.len == 0;
    const tvms_node *map = scalar ? NULL : map_at(x, i);
    if (!map) continue;
    made.items[i] =
        transformed(x, fields.items[i], tvms_clone(x->m->unit, map, NULL), i);
    if (!made.items[i]) return NULL;
  }
  return tvms_relax_make_tuple(x->m, made.items, made.len);
}

// The name of the PrimFunc that takes the first elements along each axis, which is added to the module.
static tvms_sym remove_pad(tvms_pass_run *run, uint32_t rank, tvms_dtype dtype) {
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node **dims[2];
  for (int side = 0; side < 2; side++) {
    dims[side] = tvms_arena_array(&unit->arena, tvms_node *, rank + 1);
    for (uint32_t i = 0; i < rank; i++) {
      char text[16];
      int len = snprintf(text, sizeof text, "%c%u", side ? 'i' : 'p', i);
      dims[side][i] =
          tvms_var_new(unit, tvms_symbol_intern(run->context, text, (size_t)len),
                       TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
    }
  }
  tvms_te te;
  tvms_te_init(&te, unit);
  tvms_node *input =
      tvms_te_input(&te, "input", tvms_list_copy(unit, dims[0], rank), dtype);
  tvms_stage stage;
  tvms_te_open(&te, &stage, tvms_list_copy(unit, dims[1], rank), "ax");
  tvms_node *value = tvms_te_load(&te, input, stage.axes.items, rank);
  tvms_te_output(&te, tvms_te_close(&stage, "output", value));
  tvms_node *function = tvms_te_finish(&te);
  tvms_te_fini(&te);
  tvms_prim_func *prim = tvms_as_prim_func(function);
  static const char name[] = "remove_pad";
  tvms_node *text = tvms_object_str_new(unit, name, strlen(name), TVMS_NO_SPAN);
  prim->attrs = tvms_object_map_with(unit, prim->attrs, operator_key, text);
  return tvms_functions_add_unique(run, name, unit, function);
}

// `value`, a result of the replacement, in the layout of the result of type `old`.
static tvms_node *TVMS_NULLABLE restored(const exchange *x, tvms_node *value,
                                         tvms_node *old, uint32_t param) {
  const tvms_node *map = map_at(x, param);
  tvms_unit *unit = x->m->unit;
  tvms_list dims;
  if (!map) return value;
  tvms_index_inverse inverse;
  if (!tvms_sinfo_tensor_dims(old, &dims))
    return refuse(x, "the shape of an operand or result is not known");
  if (!tvms_arith_map_inverse(unit, x->whole->analyzer, map, dims, &inverse))
    return refuse(x, "the index map of a result cannot be undone");
  tvms_node *moved = transformed(x, value, inverse.map, param);
  if (!moved || tvms_node_is_int(inverse.padding, 0)) return moved;
  moved = tvms_relax_settle(x->m, moved);
  tvms_sym name = remove_pad(x->m->run, dims.len, moved->sinfo->dtype);
  return tvms_relax_make_call_tir(unit, name, tvms_list_copy(unit, &moved, 1), old,
                                  x->call->span);
}

// The type of a result as the replacement has it.
static tvms_node *TVMS_NULLABLE type_of(const exchange *x, tvms_node *old,
                                        uint32_t param) {
  const tvms_node *map = map_at(x, param);
  if (!map) return old;
  tvms_node *place = tvms_var_new(x->m->unit, 0, (tvms_dtype){0}, TVMS_NO_SPAN);
  place->sinfo = old;
  tvms_node *made = transformed(x, place, tvms_clone(x->m->unit, map, NULL), param);
  return made ? made->sinfo : NULL;
}

static tvms_list results_of(tvms_unit *unit, tvms_node *type) {
  return type->kind == TVMS_NODE_SINFO_TUPLE ? tvms_as_sinfo_tuple(type)->fields
                                             : tvms_list_copy(unit, &type, 1);
}

// Every result in its old layout; a tuple of them if there are several.
static tvms_node *TVMS_NULLABLE restored_all(const exchange *x, tvms_node *made,
                                             tvms_list old, uint32_t first) {
  if (x->call->sinfo->kind != TVMS_NODE_SINFO_TUPLE)
    return restored(x, made, old.items[0], first);
  if (old.len == 0) return made;
  tvms_list values = tvms_list_copy(x->m->unit, old.items, old.len);
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_node *item = tvms_relax_settle(x->m, tvms_relax_make_item(x->m, made, i));
    values.items[i] = restored(x, item, old.items[i], first + i);
    if (!values.items[i]) return NULL;
  }
  return tvms_relax_make_tuple(x->m, values.items, values.len);
}

static tvms_sym add_function(const exchange *x) {
  tvms_pass_run *run = x->m->run;
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *function = tvms_clone_fresh(unit, x->by->member->function);
  function->flags |= TVMS_FLAG_PRIVATE;
  tvms_prim_func *prim = tvms_as_prim_func(function);
  const char *const marks[] = {maps_key, outer_key, inner_key, NULL};
  prim->attrs = tvms_relax_own_function_attrs(unit, prim->attrs, marks);
  size_t room = strlen(x->by->name) + sizeof "_replacement";
  char *name = tvms_arena_alloc(&unit->context->scratch, room);
  snprintf(name, room, "%s_replacement", x->by->name);
  for (char *at = name; *at; at++)
    if (*at == '.') *at = '_';
  return tvms_functions_add_unique(run, name, unit, function);
}

static bool check_call(const exchange *x, const tvms_node *callee) {
  uint32_t params = tvms_as_prim_func(callee)->params.len;
  if (tvms_as_prim_func(x->by->member->function)->params.len != params)
    return refuse(x, "it has another number of parameters than the PrimFunc it "
                     "replaces");
  if (!x->by->maps) return true;
  if (tvms_as_call(x->call)->args.len > 2)
    return refuse(x, "the call hands over tir_vars, which no index map is for");
  tvms_node *operands = tvms_as_call(x->call)->args.items[1];
  uint32_t given =
      results_of(x->m->unit, x->call->sinfo).len
      + (operands->kind == TVMS_NODE_TUPLE ? tvms_as_tuple(operands)->fields.len : 0);
  return operands->kind != TVMS_NODE_TUPLE || given == params
         || refuse(x, "the call has not as many operands and results as it has "
                      "parameters");
}

static tvms_node *TVMS_NULLABLE exchanged(const exchange *x, const tvms_node *callee) {
  tvms_unit *unit = x->m->unit;
  if (!check_call(x, callee)) return NULL;
  tvms_node *operands = operands_of(x);
  if (!operands) return NULL;
  tvms_node *type = x->call->sinfo;
  tvms_list old = results_of(unit, type);
  uint32_t first = tvms_as_prim_func(callee)->params.len - old.len;
  if (x->by->maps) {
    tvms_list types = tvms_list_copy(unit, old.items, old.len);
    for (uint32_t i = 0; i < old.len; i++) {
      types.items[i] = type_of(x, old.items[i], first + i);
      if (!types.items[i]) return NULL;
    }
    type = type->kind == TVMS_NODE_SINFO_TUPLE
               ? tvms_sinfo_tuple_new(unit, types.items, types.len)
               : types.items[0];
  }
  tvms_node *made = tvms_node_copy(unit, x->call);
  tvms_call *call = tvms_as_call(made);
  call->args = tvms_list_copy(unit, call->args.items, call->args.len);
  call->args.items[0] = tvms_relax_make_global_var(unit, add_function(x));
  call->args.items[1] = operands;
  call->type_args = tvms_list_copy(unit, &type, 1);
  made->sinfo = type;
  return x->by->maps ? restored_all(x, made, old, first) : made;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  if (m->failed || tvms_op_called(node) != TVMS_R_call_tir) return node;
  const tvms_node *callee = tvms_as_call(node)->args.items[0];
  const tvms_member *member =
      callee->kind == TVMS_NODE_GLOBAL_VAR
          ? tvms_module_find(m->run->module, tvms_as_global_var(callee)->name)
          : NULL;
  const tvms_node *function = member ? member->function : NULL;
  if (!function || function->kind != TVMS_NODE_PRIM_FUNC) return node;
  whole_module *whole = m->self;
  exchange x = {m, whole, replacement_of(whole, function), node};
  tvms_node *made = x.by ? exchanged(&x, function) : NULL;
  return made ? tvms_relax_settle(m, made) : node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  whole_module *whole = run->state;
  tvms_relax_mutator mutator;
  tvms_relax_mutator_init(&mutator, run, unit, whole);
  mutator.emitter = whole->names;
  mutator.emitter.unit = unit;
  mutator.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  whole->analyzer = tvms_analyzer_new(unit);
  tvms_node *changed = tvms_relax_mutate(&mutator, function);
  tvms_analyzer_free(whole->analyzer);
  whole->names = mutator.emitter;
  tvms_relax_emitter_init(&mutator.emitter, unit);
  tvms_relax_mutator_fini(&mutator);
  return changed;
}

void tvms_pass_alter_op_impl(tvms_pass_run *run) {
  tvms_memory *memory = &run->context->memory;
  whole_module whole = {.names = {.memory = memory}};
  const char *with = TVMS_OPTION(run, AlterOpImpl, with).text;
  void *outer = run->state;
  run->state = &whole;
  if (with[0] && read_replacements(&whole, run, with))
    tvms_functions_change_by_name(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
  tvms_vec_fini(memory, &whole.items);
  tvms_vec_fini(memory, &whole.names.names);
}
