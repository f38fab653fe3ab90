// First what is given, which decides symbolic sizes; then what is random.
#include "driver/inputs.h"

#include "interp/meaning.h"
#include "interp/prim.h"
#include "ir/contract.h"
#include "ir/walk.h"
#include "runtime/npy.h"
#include "runtime/random.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <stdio.h>
#include <string.h>

static tvms_list params_of(const tvms_member *entry) {
  const tvms_node *function = entry->function;
  return function->kind == TVMS_NODE_FUNCTION ? tvms_as_function(function)->params
                                              : tvms_as_prim_func(function)->params;
}

static const tvms_buffer *TVMS_NULLABLE buffer_of(const tvms_member *entry,
                                                  uint32_t index) {
  if (entry->function->kind != TVMS_NODE_PRIM_FUNC) return NULL;
  const tvms_node *buffer = tvms_as_prim_func(entry->function)->buffers.items[index];
  return buffer ? tvms_as_buffer(buffer) : NULL;
}

uint32_t tvms_inputs_param_count(const tvms_member *entry) {
  return params_of(entry).len;
}

const char *tvms_inputs_param_name(const tvms_context *context,
                                   const tvms_member *entry, uint32_t index) {
  const tvms_buffer *buffer = buffer_of(entry, index);
  tvms_sym name =
      buffer ? buffer->name : tvms_as_var(params_of(entry).items[index])->name;
  return tvms_symbol_text(context, name);
}

// Is it a result of what was a Relax function (ir/contract.h)?
static bool is_result(const tvms_contract *contract, uint32_t index) {
  return contract->result_text && index >= contract->inputs
         && index < contract->inputs + contract->results;
}

bool tvms_inputs_param_is_object(const tvms_member *entry, uint32_t index) {
  if (entry->function->kind != TVMS_NODE_PRIM_FUNC || buffer_of(entry, index))
    return false;
  const tvms_prim_func *function = tvms_as_prim_func(entry->function);
  tvms_contract contract = tvms_call_contract(function);
  return is_result(&contract, index)
         && tvms_dtype_is_handle(function->params.items[index]->dtype);
}

void tvms_inputs_init(tvms_inputs *inputs, tvms_context *context,
                      const tvms_member *entry, tvms_heap *heap, tvms_value *values) {
  *inputs =
      (tvms_inputs){.context = context, .entry = entry, .heap = heap, .values = values};
  uint32_t ids = entry->unit->next_id;
  tvms_arena_init(&inputs->arena, &context->memory);
  inputs->sizes = tvms_arena_array(&inputs->arena, int64_t, ids);
  inputs->known = tvms_arena_array(&inputs->arena, bool, ids);
}

void tvms_inputs_fini(tvms_inputs *inputs) {
  tvms_arena_fini(&inputs->arena);
}

int64_t tvms_inputs_find(const tvms_inputs *inputs, const char *name, size_t len) {
  for (uint32_t i = 0; i < tvms_inputs_param_count(inputs->entry); i++) {
    const char *own = tvms_inputs_param_name(inputs->context, inputs->entry, i);
    if (strlen(own) == len && memcmp(own, name, len) == 0) return i;
  }
  return -1;
}

void tvms_inputs_refuse(const tvms_inputs *inputs, const char *name, const char *why) {
  tvms_diag_report(&inputs->context->diags, TVMS_D_bad_input, inputs->entry->name_span,
                   name, why);
}

// "it takes x, w0, b0", and how many more there are of very many.
static void add_names(const tvms_inputs *inputs, tvms_strbuf *out) {
  enum { MOST_SHOWN = 12 };
  uint32_t count = tvms_inputs_param_count(inputs->entry);
  tvms_strbuf_puts(out, count ? "it takes " : "it takes no parameters");
  for (uint32_t i = 0; i < count && i < MOST_SHOWN; i++)
    tvms_strbuf_printf(out, "%s%s", i ? ", " : "",
                       tvms_inputs_param_name(inputs->context, inputs->entry, i));
  if (count > MOST_SHOWN) tvms_strbuf_printf(out, " and %u more", count - MOST_SHOWN);
}

void tvms_inputs_unknown(const tvms_inputs *inputs, const char *name, size_t len) {
  char text[256];
  snprintf(text, sizeof text, "%.*s", (int)(len < 255 ? len : 255), name);
  tvms_diags *diags = &inputs->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_no_such_input, inputs->entry->name_span,
                       tvms_symbol_text(inputs->context, inputs->entry->name), text);
  tvms_strbuf names;
  tvms_strbuf_init(&names, &inputs->context->memory);
  add_names(inputs, &names);
  tvms_diag_remark(diags, diag, "%s", tvms_strbuf_text(&names));
  tvms_strbuf_fini(&names);
}

// ---- What is given ----

// What a value shall be: of a type of Relax, or a number or the elements of a buffer.
typedef struct {
  const tvms_node *TVMS_NULLABLE type;
  tvms_dtype dtype;  // without a type; void: anything
  bool number;
} wanted;

static wanted wanted_of_type(const tvms_node *type) {
  wanted w = {type, type->dtype, type->kind == TVMS_NODE_SINFO_PRIM};
  if (w.number && tvms_dtype_is_void(w.dtype)) w.dtype = TVMS_DTYPE(INT, 64);
  if (!w.number && type->kind != TVMS_NODE_SINFO_TENSOR) w.dtype = (tvms_dtype){0};
  return w;
}

static wanted wanted_of_param(const tvms_inputs *m, uint32_t index) {
  const tvms_buffer *buffer = buffer_of(m->entry, index);
  if (buffer) return (wanted){NULL, buffer->element, false};
  const tvms_node *param = params_of(m->entry).items[index];
  if (param->sinfo) return wanted_of_type(param->sinfo);
  bool number =
      !tvms_dtype_is_void(param->dtype) && !tvms_dtype_is_handle(param->dtype);
  return (wanted){NULL, param->dtype, number};
}

static bool is_tuple(wanted w) {
  return w.type && w.type->kind == TVMS_NODE_SINFO_TUPLE;
}

static const char *TVMS_NULLABLE give_array(tvms_inputs *m, wanted w, const char *path,
                                            tvms_value *value) {
  const char *wrong = tvms_inputs_array(m->context, m->heap, m->files, path,
                                        tvms_interp_dl_type_of(w.dtype), value);
  if (!wrong && w.number) *value = tvms_inputs_unbox(*value);
  return wrong;
}

// A tensor without dimensions that holds a number.
static bool give_scalar(tvms_inputs *m, wanted w, const char *text, tvms_value *value) {
  tvms_dl_type type = tvms_interp_dl_type_of(w.dtype);
  bool scalar = w.type && w.type->kind == TVMS_NODE_SINFO_TENSOR
                && tvms_as_sinfo_tensor(w.type)->ndim == 0
                && tvms_dl_element_size(type);
  if (!scalar || !tvms_inputs_number(type, text, value)) return false;
  *value = tvms_inputs_scalar_tensor(m->heap, type, *value);
  return true;
}

static const char *TVMS_NULLABLE give_value(tvms_inputs *m, wanted w, const char *text,
                                            tvms_value *value);

static const char *TVMS_NULLABLE give_tuple(tvms_inputs *m, tvms_list types,
                                            const char *text, tvms_value *value) {
  const char **parts,
      *wrong = tvms_inputs_tuple(m->context, m->heap, text, types.len, &parts, value);
  for (uint32_t i = 0; i < types.len && !wrong; i++)
    wrong = give_value(m, wanted_of_type(types.items[i]), parts[i],
                       &value->tuple->items[i]);
  return wrong;
}

static const char *TVMS_NULLABLE give_value(tvms_inputs *m, wanted w, const char *text,
                                            tvms_value *value) {
  if (is_tuple(w))
    return give_tuple(m, tvms_as_sinfo_tuple(w.type)->fields, text, value);
  bool shape = w.type && w.type->kind == TVMS_NODE_SINFO_SHAPE;
  if (shape && tvms_inputs_shape(&m->context->arena, m->heap, text, value)) return NULL;
  if (w.number && tvms_inputs_number(tvms_interp_dl_type_of(w.dtype), text, value))
    return NULL;
  if (give_scalar(m, w, text, value)) return NULL;
  return give_array(m, w, text, value);
}

// Goes down to the field that the place names; the tuples on the way are made. NULL: there is no such field.
static tvms_value *TVMS_NULLABLE find_place(tvms_inputs *m, wanted *w,
                                            const char *place, tvms_value *value) {
  while (*place) {
    int64_t field = tvms_inputs_next_field(&place);
    if (field < 0 || !is_tuple(*w)) return NULL;
    tvms_list types = tvms_as_sinfo_tuple(w->type)->fields;
    if (field >= types.len) return NULL;
    if (value->kind == TVMS_VALUE_NONE)
      *value = (tvms_value){.kind = TVMS_VALUE_TUPLE,
                            .tuple = tvms_tuple_new(m->heap, types.len)};
    *w = wanted_of_type(types.items[field]);
    value = &value->tuple->items[field];
  }
  return value;
}

void tvms_inputs_give(tvms_inputs *inputs, uint32_t index, const char *place,
                      const char *text) {
  wanted w = wanted_of_param(inputs, index);
  tvms_value *value = find_place(inputs, &w, place, &inputs->values[index]);
  const char *wrong =
      value ? give_value(inputs, w, text, value) : "it has no such field";
  char name[256];
  snprintf(name, sizeof name, "%s%.128s",
           tvms_inputs_param_name(inputs->context, inputs->entry, index), place);
  if (wrong)
    tvms_inputs_refuse(
        inputs, tvms_arena_text(&inputs->context->arena, name, strlen(name)), wrong);
}

// ---- Sizes ----

static tvms_list sizes_of(const tvms_node *TVMS_NULLABLE type) {
  const tvms_node *shape = NULL;
  if (type && type->kind == TVMS_NODE_SINFO_TENSOR) {
    shape = tvms_as_sinfo_tensor(type)->shape;
  }
  if (type && type->kind == TVMS_NODE_SINFO_SHAPE) {
    return tvms_as_sinfo_shape(type)->values;
  }
  bool known = shape && shape->kind == TVMS_NODE_SHAPE_EXPR;
  return known ? tvms_as_shape_expr(shape)->values : (tvms_list){NULL, 0};
}

static void learn(tvms_inputs *m, const tvms_node *size, int64_t value) {
  if (size->kind != TVMS_NODE_VAR || m->known[size->id]) return;
  m->sizes[size->id] = value;
  m->known[size->id] = true;
}

static void learn_dims(tvms_inputs *m, tvms_list sizes, tvms_value value) {
  bool sized = value.kind == TVMS_VALUE_TENSOR || value.kind == TVMS_VALUE_SHAPE;
  if (!sized || (uint32_t)value.tensor->view.ndim != sizes.len) return;
  for (uint32_t i = 0; i < sizes.len; i++)
    learn(m, sizes.items[i], value.tensor->shape[i]);
}

// What a value decides of the sizes in its type.
static void learn_value(tvms_inputs *m, const tvms_node *type, tvms_value value) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE && value.kind == TVMS_VALUE_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len && i < value.tuple->len; i++)
      learn_value(m, fields.items[i], value.tuple->items[i]);
  }
  const tvms_node *size =
      type->kind == TVMS_NODE_SINFO_PRIM ? tvms_as_sinfo_prim(type)->value : NULL;
  if (size && value.kind == TVMS_VALUE_INT) learn(m, size, value.i);
  learn_dims(m, sizes_of(type), value);
}

static void learn_sizes(tvms_inputs *m, uint32_t index, tvms_value value) {
  const tvms_buffer *buffer = buffer_of(m->entry, index);
  const tvms_node *param = params_of(m->entry).items[index];
  if (buffer) {
    learn_dims(m, buffer->shape, value);
  } else if (param->sinfo) {
    learn_value(m, param->sinfo, value);
  } else if (value.kind == TVMS_VALUE_INT) {
    learn(m, param, value.i);
  }
}

// Sizes that are a variable and nothing else are free.
static void learn_alone(tvms_inputs *m, tvms_list sizes) {
  for (uint32_t i = 0; i < sizes.len; i++) {
    learn(m, sizes.items[i], TVMS_FREE_SIZE);
  }
}

// ---- Random values ----

static bool find_shape(tvms_inputs *m, tvms_list sizes, int64_t *shape) {
  learn_alone(m, sizes);
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (!tvms_interp_size_of(sizes.items[i], m->sizes, m->known, &shape[i]))
      return false;
  }
  return true;
}

static bool random_tensor(tvms_inputs *m, tvms_list sizes, tvms_dtype dtype,
                          const char *name, tvms_value *value) {
  tvms_dl_type type = tvms_interp_dl_type_of(dtype);
  int64_t *shape = tvms_arena_array(&m->arena, int64_t, sizes.len);
  if (!tvms_dl_element_size(type) || !find_shape(m, sizes, shape)) return false;
  tvms_tensor *tensor = tvms_tensor_new(m->heap, type, (int32_t)sizes.len, shape);
  if (!tensor) return false;
  tvms_random_fill(tensor, m->seed, name);
  *value = tvms_value_of_tensor(tensor);
  return true;
}

static bool random_number(tvms_inputs *m, const tvms_node *param, tvms_dtype dtype,
                          const char *name, tvms_value *value) {
  if (tvms_dtype_is_handle(dtype) || tvms_dtype_is_void(dtype)) return false;
  // A number that is also a size of some tensor has that value.
  if (param->kind == TVMS_NODE_VAR && m->known[param->id]) {
    *value = (tvms_value){.kind = TVMS_VALUE_INT, .i = m->sizes[param->id]};
    return true;
  }
  tvms_scalar number = tvms_random_scalar(tvms_interp_dl_type_of(dtype), m->seed, name);
  bool real = tvms_dtype_is_real(dtype);
  *value = real ? (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = number.f}
                : (tvms_value){.kind = TVMS_VALUE_INT, .i = number.i};
  if (!real) learn(m, param, number.i);
  return true;
}

static bool random_of_type(tvms_inputs *m, const tvms_node *type, const char *name,
                           tvms_value *value);

static bool random_tuple(tvms_inputs *m, tvms_list fields, const char *name,
                         tvms_value *value) {
  tvms_items *tuple = value->kind == TVMS_VALUE_TUPLE
                          ? value->tuple
                          : tvms_tuple_new(m->heap, fields.len);
  for (uint32_t i = 0; i < fields.len && i < tuple->len; i++) {
    char part[256];
    snprintf(part, sizeof part, "%s.%u", name, i);
    if (!random_of_type(m, fields.items[i], part, &tuple->items[i])) return false;
  }
  *value = (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
  return true;
}

// A value that is given already stays; a tuple gets the fields that it lacks.
static bool random_of_type(tvms_inputs *m, const tvms_node *type, const char *name,
                           tvms_value *value) {
  if (value->kind != TVMS_VALUE_NONE && value->kind != TVMS_VALUE_TUPLE) return true;
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: {
    const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
    bool known = shape && shape->kind == TVMS_NODE_SHAPE_EXPR;
    return known && random_tensor(m, sizes_of(type), type->dtype, name, value);
  }
  case TVMS_NODE_SINFO_SHAPE: {
    tvms_list sizes = sizes_of(type);
    int64_t *shape = tvms_arena_array(&m->arena, int64_t, sizes.len);
    if (!(type->flags & TVMS_FLAG_KNOWN) || !find_shape(m, sizes, shape)) return false;
    tvms_tensor *made = tvms_shape_new(m->heap, (int32_t)sizes.len, shape);
    *value = (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = made};
    return true;
  }
  case TVMS_NODE_SINFO_PRIM: {
    const tvms_node *prim = tvms_as_sinfo_prim(type)->value;
    return random_number(m, prim ? prim : type, type->dtype, name, value);
  }
  case TVMS_NODE_SINFO_TUPLE:
    return random_tuple(m, tvms_as_sinfo_tuple(type)->fields, name, value);
  default: return false;
  }
}

typedef struct {
  const tvms_node *param;
  const tvms_node *TVMS_NULLABLE type;
} cast_search;

static tvms_walk_step find_cast(void *self, tvms_node *node, tvms_field_role role) {
  cast_search *search = self;
  (void)role;
  if (node->kind != TVMS_NODE_MATCH_CAST) return TVMS_WALK_ON;
  const tvms_match_cast *cast = tvms_as_match_cast(node);
  if (cast->value != search->param) return TVMS_WALK_ON;
  search->type = cast->type;
  return TVMS_WALK_STOP;
}

static bool has_sizes(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TENSOR) return true;
  const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
  return shape && shape->kind == TVMS_NODE_SHAPE_EXPR
         && !tvms_dtype_is_void(type->dtype);
}

// The type of a parameter of a Relax function; what it leaves open the function may ask for in
// a match_cast of the parameter.
static const tvms_node *type_of_param(const tvms_inputs *m, const tvms_node *param) {
  if (!param->sinfo || has_sizes(param->sinfo)) return param->sinfo;
  cast_search search = {.param = param};
  tvms_visitor visitor = {.self = &search, .enter = find_cast};
  (void)tvms_walk(&m->context->memory, m->entry->function, &visitor);
  return search.type ? search.type : param->sinfo;
}

static bool random_param(tvms_inputs *m, uint32_t index, tvms_value *value) {
  const char *name = tvms_inputs_param_name(m->context, m->entry, index);
  const tvms_buffer *buffer = buffer_of(m->entry, index);
  if (buffer) return random_tensor(m, buffer->shape, buffer->element, name, value);
  const tvms_node *param = params_of(m->entry).items[index];
  const tvms_node *type = type_of_param(m, param);
  if (type) return random_of_type(m, type, name, value);
  return random_number(m, param, param->dtype, name, value);
}

static tvms_list sizes_of_param(const tvms_inputs *m, uint32_t index) {
  const tvms_buffer *buffer = buffer_of(m->entry, index);
  return buffer ? buffer->shape
                : sizes_of(type_of_param(m, params_of(m->entry).items[index]));
}

bool tvms_inputs_fill(tvms_inputs *m) {
  const tvms_member *entry = m->entry;
  tvms_value *values = m->values;
  uint32_t count = tvms_inputs_param_count(entry);
  if (m->context->diags.errors) return false;
  for (uint32_t i = 0; i < count; i++) {
    learn_sizes(m, i, values[i]);
  }
  // Numbers first, and then again: a size may stand further right than its first use.
  for (uint32_t i = 0; i < count; i++) {
    if (tvms_inputs_param_is_object(entry, i) && values[i].kind == TVMS_VALUE_NONE)
      values[i] = (tvms_value){.kind = TVMS_VALUE_STATE,
                               .tuple = tvms_items_new(m->heap, TVMS_VALUE_STATE, 1)};
    bool number = !buffer_of(entry, i) && !params_of(entry).items[i]->sinfo;
    if (values[i].kind == TVMS_VALUE_NONE && number) random_param(m, i, &values[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (values[i].kind == TVMS_VALUE_NONE) learn_alone(m, sizes_of_param(m, i));
  }
  for (uint32_t i = 0; i < count; i++) {
    bool given =
        values[i].kind != TVMS_VALUE_NONE && values[i].kind != TVMS_VALUE_TUPLE;
    if (given || random_param(m, i, &values[i])) continue;
    tvms_diag_report(&m->context->diags, TVMS_D_no_random_input, entry->name_span,
                     tvms_inputs_param_name(m->context, entry, i));
  }
  return !m->context->diags.errors;
}
