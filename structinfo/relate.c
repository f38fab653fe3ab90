// Subsumption, joins and erasure of StructInfo (src/relax/analysis/type_analysis.cc).
//
// Three questions about two types, or one and a scope. Does a value of this type fit where that
// one is asked for (tvms_sinfo_relate)? The answer is one of four, because dimensions are
// expressions: proved, refuted, to be checked when the program runs, or not to be told from the
// type at all. What do two types have in common (tvms_sinfo_join), as the branches of an if?
// What is left of a type where its variables are not known (tvms_sinfo_erase), as in the
// signature of a function: R.Tensor((n, 4)) becomes R.Tensor(ndim=2) if `n` is the callee's own.
#include "structinfo/relate.h"

#include "ir/equal.h"
#include "structinfo/intern.h"
#include "structinfo/make.h"

typedef struct {
  tvms_prover *prover;
  tvms_dim_map *TVMS_NULLABLE map;  // of a call; NULL: plain subsumption
  bool conflict;
} checker;

static tvms_sinfo_fit worse(tvms_sinfo_fit a, tvms_sinfo_fit b) {
  return a < b ? a : b;
}

tvms_node *TVMS_NULLABLE tvms_sinfo_dim_map_find(const tvms_dim_map *map,
                                                 const tvms_node *var) {
  for (uint32_t i = 0; i < map->bindings.len; i++) {
    if (map->bindings.items[i].var == var) return map->bindings.items[i].value;
  }
  return NULL;
}

static void bind_dim(checker *check, tvms_node *var, tvms_node *value) {
  tvms_memory *memory = &check->prover->unit->context->memory;
  tvms_vec_push(memory, &check->map->bindings, ((tvms_dim_binding){var, value}));
}

// A dimension of the base against one of the derived type.
static tvms_sinfo_fit fit_dim(checker *check, tvms_node *base, tvms_node *derived) {
  if (check->map && base->kind == TVMS_NODE_VAR) {
    tvms_node *known = tvms_sinfo_dim_map_find(check->map, base);
    if (!known) {
      bind_dim(check, base, derived);
      return TVMS_FIT_PROVED;
    }
    if (tvms_dim_equal(check->prover, known, derived)) return TVMS_FIT_PROVED;
    if (tvms_dim_differ(check->prover, known, derived)) check->conflict = true;
    return TVMS_FIT_RUNTIME;
  }
  int64_t a, b;
  if (tvms_sinfo_dim_int(base, &a) && tvms_sinfo_dim_int(derived, &b)) {
    return a == b ? TVMS_FIT_PROVED : TVMS_FIT_NEVER;
  }
  return tvms_dim_equal(check->prover, base, derived) ? TVMS_FIT_PROVED
                                                      : TVMS_FIT_RUNTIME;
}

static tvms_sinfo_fit fit_dims(checker *check, tvms_list base, tvms_list derived) {
  if (base.len != derived.len) return TVMS_FIT_NEVER;
  tvms_sinfo_fit fit = TVMS_FIT_PROVED;
  for (uint32_t i = 0; i < base.len && fit != TVMS_FIT_NEVER; i++) {
    fit = worse(fit, fit_dim(check, base.items[i], derived.items[i]));
  }
  return fit;
}

// True if two shapes given as values are proved equal.
static bool same_shape(tvms_prover *prover, const tvms_node *a, const tvms_node *b) {
  if (a == b) return true;
  if (a->kind != TVMS_NODE_SHAPE_EXPR || b->kind != TVMS_NODE_SHAPE_EXPR) return false;
  tvms_list x = tvms_as_shape_expr(a)->values, y = tvms_as_shape_expr(b)->values;
  if (x.len != y.len) return false;
  for (uint32_t i = 0; i < x.len; i++) {
    if (!tvms_dim_equal(prover, x.items[i], y.items[i])) return false;
  }
  return true;
}

static tvms_sinfo_fit fit_shape_values(checker *check, tvms_node *base,
                                       tvms_node *derived) {
  // Closed types are equal if they are the same; others may be read differently by a map.
  if (base == derived && (!check->map || tvms_types_is_interned(base))) {
    return TVMS_FIT_PROVED;
  }
  if (check->map && base->kind == TVMS_NODE_VAR) {
    tvms_node *known = tvms_sinfo_dim_map_find(check->map, base);
    if (!known) {
      bind_dim(check, base, derived);
      return TVMS_FIT_PROVED;
    }
    return same_shape(check->prover, known, derived) ? TVMS_FIT_PROVED
                                                     : TVMS_FIT_RUNTIME;
  }
  if (base->kind != TVMS_NODE_SHAPE_EXPR || derived->kind != TVMS_NODE_SHAPE_EXPR) {
    return TVMS_FIT_RUNTIME;
  }
  return fit_dims(check, tvms_as_shape_expr(base)->values,
                  tvms_as_shape_expr(derived)->values);
}

static tvms_sinfo_fit fit(checker *check, tvms_node *base, tvms_node *derived);

static tvms_sinfo_fit fit_list(checker *check, tvms_list base, tvms_list derived) {
  if (base.len != derived.len) return TVMS_FIT_NEVER;
  tvms_sinfo_fit result = TVMS_FIT_PROVED;
  for (uint32_t i = 0; i < base.len && result != TVMS_FIT_NEVER; i++) {
    result = worse(result, fit(check, base.items[i], derived.items[i]));
  }
  return result;
}

static tvms_sinfo_fit fit_prim(checker *check, const tvms_node *base,
                               const tvms_node *derived) {
  if (!tvms_dtype_same(base->dtype, derived->dtype)) return TVMS_FIT_NEVER;
  tvms_node *want = tvms_as_sinfo_prim(base)->value;
  tvms_node *have = tvms_as_sinfo_prim(derived)->value;
  // From 0.26 on a primitive type does not hold its value.
  if (!want
      || !tvms_release_has(check->prover->unit->dialect,
                           TVMS_FACT_prim_types_hold_values))
    return TVMS_FIT_PROVED;
  return have ? fit_dim(check, want, have) : TVMS_FIT_RUNTIME;
}

static tvms_sinfo_fit fit_shape(checker *check, const tvms_node *base,
                                const tvms_node *derived) {
  const tvms_sinfo_shape *a = tvms_as_sinfo_shape(base);
  const tvms_sinfo_shape *b = tvms_as_sinfo_shape(derived);
  if (a->ndim == TVMS_UNKNOWN_NDIM) return TVMS_FIT_PROVED;
  if (a->ndim != b->ndim) {
    return b->ndim == TVMS_UNKNOWN_NDIM ? TVMS_FIT_WEAK : TVMS_FIT_NEVER;
  }
  if (!(base->flags & TVMS_FLAG_KNOWN)) return TVMS_FIT_PROVED;
  if (!(derived->flags & TVMS_FLAG_KNOWN)) return TVMS_FIT_RUNTIME;
  return fit_dims(check, a->values, b->values);
}

bool tvms_sinfo_same_place(const tvms_unit *unit, const tvms_node *a,
                           const tvms_node *b) {
  return a == b || tvms_node_equal(unit->context, a, b);
}

static bool same_place(const checker *check, const tvms_node *a, const tvms_node *b) {
  return tvms_sinfo_same_place(check->prover->unit, a, b);
}

static tvms_sinfo_fit fit_tensor(checker *check, const tvms_node *base,
                                 const tvms_node *derived) {
  const tvms_sinfo_tensor *a = tvms_as_sinfo_tensor(base);
  const tvms_sinfo_tensor *b = tvms_as_sinfo_tensor(derived);
  bool any_dtype = tvms_dtype_is_void(base->dtype);
  if (!any_dtype && tvms_dtype_is_void(derived->dtype)) return TVMS_FIT_WEAK;
  if (!any_dtype && !tvms_dtype_same(base->dtype, derived->dtype))
    return TVMS_FIT_NEVER;
  if (a->ndim != TVMS_UNKNOWN_NDIM && a->ndim != b->ndim) {
    return b->ndim == TVMS_UNKNOWN_NDIM ? TVMS_FIT_WEAK : TVMS_FIT_NEVER;
  }
  if (a->vdevice && !b->vdevice) return TVMS_FIT_WEAK;
  if (a->vdevice && !same_place(check, a->vdevice, b->vdevice)) return TVMS_FIT_NEVER;
  if (!a->shape) return TVMS_FIT_PROVED;
  if (!b->shape) return TVMS_FIT_RUNTIME;
  return fit_shape_values(check, a->shape, b->shape);
}

static tvms_sinfo_fit fit_func(checker *check, tvms_node *base, tvms_node *derived) {
  const tvms_sinfo_func *a = tvms_as_sinfo_func(base);
  const tvms_sinfo_func *b = tvms_as_sinfo_func(derived);
  if ((base->flags & TVMS_FLAG_PURE) && !(derived->flags & TVMS_FLAG_PURE)) {
    return TVMS_FIT_NEVER;
  }
  if (!(base->flags & TVMS_FLAG_KNOWN)) {
    if (!a->derive.len) return fit(check, a->ret, b->ret);
    return tvms_bytes_same(a->derive, b->derive) ? TVMS_FIT_PROVED : TVMS_FIT_RUNTIME;
  }
  if (!(derived->flags & TVMS_FLAG_KNOWN)) return TVMS_FIT_RUNTIME;
  // The variables of a function type are its own: two signatures agree if those of one
  // can be given to those of the other.
  tvms_dim_map map = {{0}};
  checker inner = {check->prover, &map, false};
  tvms_sinfo_fit params = fit_list(&inner, a->params, b->params);
  if (params == TVMS_FIT_WEAK) params = TVMS_FIT_RUNTIME;
  tvms_sinfo_fit result = worse(params, fit(&inner, a->ret, b->ret));
  tvms_vec_fini(&check->prover->unit->context->memory, &inner.map->bindings);
  return result;
}

static tvms_sinfo_fit fit_dtensor(checker *check, tvms_node *base, tvms_node *derived) {
  const tvms_sinfo_dtensor *a = tvms_as_sinfo_dtensor(base);
  const tvms_sinfo_dtensor *b = tvms_as_sinfo_dtensor(derived);
  tvms_sinfo_fit tensor = fit(check, a->tensor, b->tensor);
  bool same = same_place(check, a->mesh, b->mesh)
              && tvms_bytes_same(a->placement, b->placement);
  return worse(tensor, same ? TVMS_FIT_PROVED : TVMS_FIT_WEAK);
}

// Everything is an object; only texts, and objects that may be one, are texts.
static tvms_sinfo_fit fit_object(const tvms_node *base, const tvms_node *derived) {
  if (!(base->flags & TVMS_FLAG_STRING)) return TVMS_FIT_PROVED;
  if (derived->kind != TVMS_NODE_SINFO_OBJECT) return TVMS_FIT_NEVER;
  return derived->flags & TVMS_FLAG_STRING ? TVMS_FIT_PROVED : TVMS_FIT_WEAK;
}

static tvms_sinfo_fit fit(checker *check, tvms_node *base, tvms_node *derived) {
  if (!check->map && base == derived) return TVMS_FIT_PROVED;
  if (base->kind == TVMS_NODE_SINFO_OBJECT) return fit_object(base, derived);
  if (base->kind != derived->kind) {
    return derived->kind == TVMS_NODE_SINFO_OBJECT ? TVMS_FIT_WEAK : TVMS_FIT_NEVER;
  }
  switch ((int)base->kind) {
  case TVMS_NODE_SINFO_PRIM: return fit_prim(check, base, derived);
  case TVMS_NODE_SINFO_SHAPE: return fit_shape(check, base, derived);
  case TVMS_NODE_SINFO_TENSOR: return fit_tensor(check, base, derived);
  case TVMS_NODE_SINFO_TUPLE:
    return fit_list(check, tvms_as_sinfo_tuple(base)->fields,
                    tvms_as_sinfo_tuple(derived)->fields);
  case TVMS_NODE_SINFO_FUNC: return fit_func(check, base, derived);
  case TVMS_NODE_SINFO_DTENSOR: return fit_dtensor(check, base, derived);
  default: return TVMS_FIT_PROVED;
  }
}

tvms_sinfo_fit tvms_sinfo_relate(tvms_prover *prover, tvms_node *base,
                                 tvms_node *derived) {
  checker check = {prover, NULL, false};
  return fit(&check, base, derived);
}

tvms_sinfo_fit tvms_sinfo_relate_argument(tvms_prover *prover, tvms_dim_map *map,
                                          tvms_node *param, tvms_node *argument,
                                          bool *conflict) {
  checker check = {prover, map, false};
  tvms_sinfo_fit result = fit(&check, param, argument);
  *conflict = check.conflict;
  return result;
}

// ---- Joins ----

static tvms_node *join_shape(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  int64_t ndim = tvms_as_sinfo_shape(a)->ndim;
  if (tvms_sinfo_relate(prover, a, b) == TVMS_FIT_PROVED
      && tvms_sinfo_relate(prover, b, a) == TVMS_FIT_PROVED) {
    return a;
  }
  if (ndim != tvms_as_sinfo_shape(b)->ndim) ndim = TVMS_UNKNOWN_NDIM;
  return tvms_sinfo_shape_new_ndim(prover->unit, ndim);
}

static tvms_node *join_tensor(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  const tvms_sinfo_tensor *x = tvms_as_sinfo_tensor(a), *y = tvms_as_sinfo_tensor(b);
  tvms_dtype dtype = tvms_dtype_same(a->dtype, b->dtype) ? a->dtype : (tvms_dtype){0};
  bool shared = x->vdevice && y->vdevice
                && tvms_sinfo_same_place(prover->unit, x->vdevice, y->vdevice);
  tvms_node *vdevice = shared ? x->vdevice : NULL;
  if (x->shape && y->shape && same_shape(prover, x->shape, y->shape)) {
    return tvms_sinfo_tensor_new(prover->unit, x->shape, dtype, vdevice);
  }
  int64_t ndim = x->ndim == y->ndim ? x->ndim : TVMS_UNKNOWN_NDIM;
  return tvms_sinfo_tensor_new_ndim(prover->unit, ndim, dtype, vdevice);
}

static tvms_list join_list(tvms_prover *prover, tvms_list a, tvms_list b) {
  tvms_list joined = tvms_list_copy(prover->unit, a.items, a.len);
  for (uint32_t i = 0; i < a.len; i++) {
    joined.items[i] = tvms_sinfo_join(prover, a.items[i], b.items[i]);
  }
  return joined;
}

static tvms_node *join_func(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  tvms_unit *unit = prover->unit;
  const tvms_sinfo_func *x = tvms_as_sinfo_func(a), *y = tvms_as_sinfo_func(b);
  bool pure = a->flags & b->flags & TVMS_FLAG_PURE;
  bool known = a->flags & b->flags & TVMS_FLAG_KNOWN;
  if (!known && x->derive.len) {
    if (tvms_bytes_same(x->derive, y->derive)) return a;
    return tvms_sinfo_func_new_opaque(unit, tvms_sinfo_object_new(unit), pure);
  }
  if (known && tvms_sinfo_relate(prover, a, b) == TVMS_FIT_PROVED
      && tvms_sinfo_relate(prover, b, a) == TVMS_FIT_PROVED) {
    return a;
  }
  tvms_node *ret = tvms_sinfo_join(prover, x->ret, y->ret);
  if (!known || x->params.len != y->params.len)
    return tvms_sinfo_func_new_opaque(unit, ret, pure);
  tvms_list params = join_list(prover, x->params, y->params);
  return tvms_sinfo_func_new(unit, params.items, params.len, ret, pure);
}

tvms_node *tvms_sinfo_join(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  if (a == b) return a;
  if (a->kind != b->kind || a->kind == TVMS_NODE_SINFO_OBJECT)
    return tvms_sinfo_object_new(prover->unit);
  switch ((int)a->kind) {
  case TVMS_NODE_SINFO_PRIM:
    if (!tvms_as_sinfo_prim(a)->value && tvms_dtype_same(a->dtype, b->dtype)) return a;
    if (tvms_release_has(prover->unit->dialect, TVMS_FACT_prim_types_hold_values)
        && tvms_sinfo_relate(prover, a, b) == TVMS_FIT_PROVED)
      return a;
    if (!tvms_dtype_same(a->dtype, b->dtype))
      return tvms_sinfo_object_new(prover->unit);
    return tvms_sinfo_prim_new(prover->unit, a->dtype, NULL);
  case TVMS_NODE_SINFO_SHAPE: return join_shape(prover, a, b);
  case TVMS_NODE_SINFO_TENSOR: return join_tensor(prover, a, b);
  case TVMS_NODE_SINFO_TUPLE: {
    tvms_list x = tvms_as_sinfo_tuple(a)->fields, y = tvms_as_sinfo_tuple(b)->fields;
    if (x.len != y.len) return tvms_sinfo_object_new(prover->unit);
    tvms_list joined = join_list(prover, x, y);
    return tvms_sinfo_tuple_new(prover->unit, joined.items, joined.len);
  }
  case TVMS_NODE_SINFO_FUNC: return join_func(prover, a, b);
  default: return a;
  }
}

// ---- Erasure ----

typedef struct {
  tvms_prover *prover;
  tvms_dim_lookup *lookup;
  void *data;
  bool undefined;  // a variable without a value was met
} eraser;

static tvms_node *TVMS_NULLABLE erase_var(void *data, tvms_node *var) {
  eraser *erase = data;
  tvms_node *value = erase->lookup(erase->data, var);
  if (!value) erase->undefined = true;
  return value;
}

// The dimensions after substitution. Returns false if one of them is undefined.
static bool erase_dims(eraser *erase, tvms_list dims, tvms_list *result) {
  tvms_unit *unit = erase->prover->unit;
  *result = tvms_list_copy(unit, dims.items, dims.len);
  erase->undefined = false;
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_node *dim = dims.items[i];
    if (erase->lookup) dim = tvms_dim_substitute(unit, dim, erase_var, erase);
    if (dim != dims.items[i] || !erase->lookup)
      dim = tvms_dim_simplify(erase->prover, dim);
    result->items[i] = dim;
  }
  return !erase->undefined;
}

static bool same_items(tvms_list a, tvms_list b) {
  for (uint32_t i = 0; i < a.len; i++) {
    if (a.items[i] != b.items[i]) return false;
  }
  return true;
}

static tvms_node *erase_tensor(eraser *erase, tvms_node *sinfo) {
  tvms_unit *unit = erase->prover->unit;
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(sinfo);
  tvms_node *shape = tensor->shape;
  if (!shape) return sinfo;
  tvms_list dims;
  if (shape->kind == TVMS_NODE_SHAPE_EXPR) {
    tvms_list values = tvms_as_shape_expr(shape)->values;
    if (!erase_dims(erase, values, &dims)) shape = NULL;
    if (shape && same_items(values, dims)) return sinfo;
    if (shape)
      shape = tvms_sinfo_shape_value_new(unit, dims.items, dims.len, shape->span);
  } else {
    if (erase->lookup) shape = erase->lookup(erase->data, shape);
    if (shape == tensor->shape) return sinfo;
  }
  if (!shape) {
    return tvms_sinfo_tensor_new_ndim(unit, tensor->ndim, sinfo->dtype,
                                      tensor->vdevice);
  }
  return tvms_sinfo_tensor_new(unit, shape, sinfo->dtype, tensor->vdevice);
}

static tvms_node *erase_shape(eraser *erase, tvms_node *sinfo) {
  if (!(sinfo->flags & TVMS_FLAG_KNOWN)) return sinfo;
  tvms_list values = tvms_as_sinfo_shape(sinfo)->values, dims;
  if (!erase_dims(erase, values, &dims)) {
    return tvms_sinfo_shape_new_ndim(erase->prover->unit, values.len);
  }
  if (same_items(values, dims)) return sinfo;
  return tvms_sinfo_shape_new(erase->prover->unit, dims.items, dims.len);
}

static tvms_node *erase_prim(eraser *erase, tvms_node *sinfo) {
  tvms_node *value = tvms_as_sinfo_prim(sinfo)->value;
  if (!value) return sinfo;
  tvms_list dims;
  if (!erase_dims(erase, (tvms_list){&value, 1}, &dims)) {
    return tvms_sinfo_prim_new(erase->prover->unit, sinfo->dtype, NULL);
  }
  if (dims.items[0] == value) return sinfo;
  return tvms_sinfo_prim_new(erase->prover->unit, sinfo->dtype, dims.items[0]);
}

static tvms_node *erase_any(eraser *erase, tvms_node *sinfo) {
  if (tvms_types_is_interned(sinfo)) return sinfo;
  switch ((int)sinfo->kind) {
  case TVMS_NODE_SINFO_PRIM: return erase_prim(erase, sinfo);
  case TVMS_NODE_SINFO_SHAPE: return erase_shape(erase, sinfo);
  case TVMS_NODE_SINFO_TENSOR: return erase_tensor(erase, sinfo);
  case TVMS_NODE_SINFO_TUPLE: {
    tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
    tvms_list erased = tvms_list_copy(erase->prover->unit, fields.items, fields.len);
    for (uint32_t i = 0; i < fields.len; i++) {
      erased.items[i] = erase_any(erase, fields.items[i]);
    }
    if (same_items(fields, erased)) return sinfo;
    return tvms_sinfo_tuple_new(erase->prover->unit, erased.items, erased.len);
  }
  case TVMS_NODE_SINFO_DTENSOR: {
    tvms_sinfo_dtensor *old = tvms_as_sinfo_dtensor(sinfo);
    tvms_node *tensor = erase_tensor(erase, old->tensor);
    if (tensor == old->tensor) return sinfo;
    tvms_sinfo_dtensor *made =
        tvms_node_make(erase->prover->unit, SINFO_DTENSOR, TVMS_NO_SPAN);
    made->tensor = tensor;
    made->mesh = old->mesh;
    made->placement = old->placement;
    return &made->head;
  }
  default: return sinfo;
  }
}

tvms_node *tvms_sinfo_erase(tvms_prover *prover, tvms_node *sinfo,
                            tvms_dim_lookup *lookup, void *data) {
  eraser erase = {prover, lookup, data, false};
  return erase_any(&erase, sinfo);
}

tvms_node *tvms_sinfo_simplify(tvms_prover *prover, tvms_node *sinfo) {
  eraser erase = {.prover = prover};
  return erase_any(&erase, sinfo);
}
