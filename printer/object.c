// Attribute values and the other parts of a function: maps, lists, targets, lambdas.
#include "printer/object.h"

#include "ir/object.h"
#include "printer/access.h"
#include "printer/buffer.h"
#include "printer/expr.h"
#include "printer/metadata.h"
#include "printer/names.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/text.h"
#include "printer/tile.h"

static bool is_hidden(const char *key, const char *const *hidden) {
  for (; key && hidden && *hidden; hidden++) {
    if (strcmp(key, *hidden) == 0) return true;
  }
  return false;
}

// Keys of TIR itself begin with "tir." in classic releases and with "tirx." later.
static void print_key(tvms_printer *p, const tvms_node *key) {
  const char *text = tvms_object_as_text(key);
  bool was_classic =
      p->module && !tvms_release_has(p->module->dialect, TVMS_FACT_tir_is_tirx);
  if (!text || !p->module
      || was_classic == !tvms_release_has(p->dialect, TVMS_FACT_tir_is_tirx)) {
    tvms_print_object(p, key);
    return;
  }
  const char *before = was_classic ? "tir." : "tirx.";
  const char *after = was_classic ? "tirx." : "tir.";
  if (strncmp(text, before, strlen(before)) != 0) {
    tvms_print_object(p, key);
    return;
  }
  PUT(p, "\"");
  tvms_print_put(p, after);
  tvms_print_put(p, text + strlen(before));
  PUT(p, "\"");
}

bool tvms_print_map(tvms_printer *p, const tvms_node *map_node,
                    const char *const *hidden) {
  if (!map_node) return false;
  const tvms_object_map *map = tvms_as_object_map(map_node);
  bool first = true;
  for (uint32_t i = 0; i < map->keys.len; i++) {
    if (is_hidden(tvms_object_as_text(map->keys.items[i]), hidden)) continue;
    tvms_print_put(p, first ? "{" : ", ");
    first = false;
    print_key(p, map->keys.items[i]);
    PUT(p, ": ");
    tvms_print_object(p, map->values.items[i]);
  }
  if (!first) PUT(p, "}");
  return !first;
}

static void print_bytes(tvms_printer *p, const tvms_node *object) {
  tvms_bytes text = tvms_as_object_str(object)->value;
  if (text.len && memchr(text.text, '\n', text.len)
      && tvms_release_has(p->dialect, TVMS_FACT_texts_go_to_metadata))
    tvms_print_metadata_ref(p, object);
  else
    tvms_print_quoted(p, text.text, text.len);
}

static void print_target(tvms_printer *p, const tvms_node *object) {
  tvms_print_t(p, "target(");
  tvms_print_object(p, tvms_as_object_target(object)->config);
  PUT(p, ")");
}

static void print_vdevice(tvms_printer *p, const tvms_node *object) {
  const tvms_object_vdevice *device = tvms_as_object_vdevice(object);
  tvms_print_i(p, "vdevice(");
  tvms_print_object(p, tvms_as_object_target(device->target)->config);
  PUT(p, ", ");
  tvms_print_int(p, device->index);
  PUT(p, ", ");
  tvms_print_quoted(p, device->scope.text, device->scope.len);
  PUT(p, ")");
}

// The kind of target: config["kind"], or the text itself.
static const char *kind_of(const tvms_node *device) {
  const tvms_node *config =
      tvms_as_object_target(tvms_as_object_vdevice(device)->target)->config;
  const char *kind = config->kind == TVMS_NODE_OBJECT_MAP
                         ? tvms_object_as_text(tvms_object_map_get(config, "kind"))
                         : tvms_object_as_text(config);
  return kind ? kind : "";
}

static const tvms_node *infos_of(const tvms_printer *p, const char *key) {
  const tvms_module *module = p->module ? p->module : p->home;
  return module ? tvms_object_map_get(module->global_infos, key) : NULL;
}

// "cuda:1:global": the index counts the earlier devices of the same kind. In a message about
// something without a module only the kind is known to be true.
void tvms_print_vdevice_name(tvms_printer *p, const tvms_node *device) {
  const char *kind = kind_of(device);
  const tvms_node *infos = infos_of(p, "vdevice");
  int index = -1;
  int same = 0;
  uint32_t count = infos ? tvms_as_object_array(infos)->items.len : 0;
  for (uint32_t i = 0; i < count && index < 0; i++) {
    const tvms_node *other = tvms_as_object_array(infos)->items.items[i];
    if (other == device || tvms_print_same(other, device)) index = same;
    if (other->kind == TVMS_NODE_OBJECT_VDEVICE && strcmp(kind_of(other), kind) == 0) {
      same++;
    }
  }
  if (index < 0 && p->quiet) {
    tvms_strbuf_printf(p->out, "\"%s\"", kind);
    return;
  }
  tvms_strbuf_printf(p->out, "\"%s:%d", kind, index);
  if (tvms_release_has(p->dialect, TVMS_FACT_vdevices_say_scope)) {
    PUT(p, ":");
    tvms_bytes scope = tvms_as_object_vdevice(device)->scope;
    tvms_strbuf_add(p->out, scope.text, scope.len);
  }
  PUT(p, "\"");
}

static void print_mesh(tvms_printer *p, const tvms_node *object) {
  const tvms_object_mesh *mesh = tvms_as_object_mesh(object);
  const tvms_node *infos = p->token == PRINT_RELAX ? infos_of(p, "mesh") : NULL;
  uint32_t count = infos ? tvms_as_object_array(infos)->items.len : 0;
  for (uint32_t i = 0; i < count; i++) {
    if (tvms_as_object_array(infos)->items.items[i] != object) continue;
    tvms_strbuf_printf(p->out, "\"mesh[%u]\"", i);
    return;
  }
  tvms_print_r(p, "device_mesh((");
  tvms_print_list(p, mesh->shape);
  tvms_print_put(p, mesh->shape.len == 1 ? ",), " : "), ");
  tvms_print_object(p, mesh->devices);
  PUT(p, ")");
}

static void print_range(tvms_printer *p, const tvms_node *object) {
  const tvms_range *range = tvms_as_range(object);
  if (p->token == PRINT_RELAX)
    tvms_print_r(p, "Range(");
  else if (p->token == PRINT_TIR)
    tvms_print_t(p, "Range(");
  else
    tvms_print_i(p, "Range(");
  tvms_print_any(p, range->min);
  PUT(p, ", ");
  tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
  tvms_print_any(p, tvms_print_fold(p, TVMS_NODE_ADD, range->extent, range->min));
  tvms_arena_reset(&p->scratch.arena, mark);
  PUT(p, ")");
}

static const char *iter_type_name(uint32_t type) {
  static const char *const names[] = {
      [TVMS_ITER_DATA_PAR] = "DataPar",       [TVMS_ITER_THREAD_INDEX] = "ThreadIndex",
      [TVMS_ITER_COMM_REDUCE] = "CommReduce", [TVMS_ITER_ORDERED] = "Ordered",
      [TVMS_ITER_OPAQUE] = "Opaque",          [TVMS_ITER_UNROLLED] = "Unrolled",
      [TVMS_ITER_VECTORIZED] = "Vectorized",  [TVMS_ITER_PARALLELIZED] = "Parallelized",
      [TVMS_ITER_TENSORIZED] = "Tensorized",
  };
  return type < sizeof names / sizeof names[0] ? names[type] : "Opaque";
}

static void print_iter_var(tvms_printer *p, const tvms_node *object) {
  const tvms_iter_var *iter = tvms_as_iter_var(object);
  tvms_print_t(p, "iter_var(");
  tvms_print_var(p, iter->var);
  PUT(p, ", ");
  if (iter->dom)
    tvms_print_object(p, iter->dom);
  else
    PUT(p, "None");
  PUT(p, ", \"");
  tvms_print_put(p, iter_type_name(iter->iter_type));
  PUT(p, "\", \"");
  tvms_print_sym(p, iter->thread_tag);
  PUT(p, "\")");
}

static void print_lambda_vars(tvms_printer *p, tvms_list vars, uint32_t frame,
                              bool *first) {
  for (uint32_t i = 0; i < vars.len; i++) {
    tvms_print_comma(p, first);
    tvms_print_sym(p, tvms_print_define(p, vars.items[i], frame));
  }
}

static uint32_t push_lambda(tvms_printer *p, const tvms_node *node) {
  uint32_t frame = tvms_print_push(p, FRAME_TIR, node);
  tvms_print_top(p)->is_dropped = true;
  return frame;
}

static void print_reducer(tvms_printer *p, const tvms_node *object) {
  const tvms_comm_reducer *reducer = tvms_as_comm_reducer(object);
  tvms_print_t(p, "comm_reducer(lambda ");
  uint32_t frame = push_lambda(p, object);
  bool first = true;
  print_lambda_vars(p, reducer->lhs, frame, &first);
  print_lambda_vars(p, reducer->rhs, frame, &first);
  bool tuple = reducer->result.len != 1;
  tvms_print_put(p, tuple ? ": (" : ": ");
  tvms_print_list(p, reducer->result);
  if (tuple) PUT(p, ")");
  tvms_print_pop(p);
  PUT(p, ", [");
  tvms_print_list(p, reducer->identity);
  PUT(p, "])");
}

// `lambda i: (i,)`, or without the tuple.
static void print_mapping(tvms_printer *p, const tvms_node *object, bool tuple) {
  const tvms_index_map *map = tvms_as_index_map(object);
  PUT(p, "lambda ");
  uint32_t frame = push_lambda(p, object);
  bool first = true;
  print_lambda_vars(p, map->initial_indices, frame, &first);
  tvms_print_put(p, tuple ? ": (" : ": ");
  tvms_print_list(p, map->final_indices);
  if (tuple) tvms_print_put(p, map->final_indices.len == 1 ? ",)" : ")");
  tvms_print_pop(p);
}

void tvms_print_lambda(tvms_printer *p, const tvms_node *object) {
  print_mapping(p, object, false);
}

static void print_index_map(tvms_printer *p, const tvms_node *object) {
  tvms_print_t(p, "index_map(");
  print_mapping(p, object, true);
  if (tvms_as_index_map(object)->inverse) {
    PUT(p, ", inverse_index_map=");
    print_mapping(p, tvms_as_index_map(object)->inverse, true);
  }
  PUT(p, ")");
}

static void print_array(tvms_printer *p, const tvms_node *object) {
  PUT(p, "[");
  tvms_print_list(p, tvms_as_object_array(object)->items);
  PUT(p, "]");
}

static void print_buffer_region(tvms_printer *p, const tvms_node *object) {
  tvms_print_buffer(p, tvms_as_buffer_region(object)->buffer);
  tvms_print_region(p, tvms_as_buffer_region(object)->region);
}

// The rows of statements that may stand where an object is expected (a fragment).
static void print_fragment(tvms_printer *p, const tvms_node *object) {
  switch (tvms_node_class_of(object)) {
  case TVMS_CLASS_EXPR: tvms_print_any(p, object); return;
  case TVMS_CLASS_SINFO: tvms_print_sinfo(p, object); return;
  case TVMS_CLASS_STMT:
  case TVMS_CLASS_OBJECT:
  case TVMS_CLASS_TOP: tvms_print_metadata_ref(p, object); return;
  }
}

void tvms_print_object(tvms_printer *p, const tvms_node *object) {
  if (!object) {
    PUT(p, "None");
    return;
  }
  switch (object->kind) {
  case TVMS_NODE_OBJECT_NONE: PUT(p, "None"); return;
  case TVMS_NODE_OBJECT_BOOL:
    tvms_print_put(p, tvms_as_object_bool(object)->value ? "True" : "False");
    return;
  case TVMS_NODE_OBJECT_INT:
    tvms_print_int(p, tvms_as_object_int(object)->value);
    return;
  case TVMS_NODE_OBJECT_FLOAT:
    tvms_print_float(p, tvms_as_object_float(object)->value);
    return;
  case TVMS_NODE_OBJECT_STR: print_bytes(p, object); return;
  case TVMS_NODE_OBJECT_DTYPE:
    tvms_print_quoted_dtype(p, tvms_as_object_dtype(object)->value);
    return;
  case TVMS_NODE_OBJECT_ARRAY: print_array(p, object); return;
  case TVMS_NODE_OBJECT_MAP:
    if (!tvms_print_map(p, object, NULL)) PUT(p, "{}");
    return;
  case TVMS_NODE_OBJECT_TARGET: print_target(p, object); return;
  case TVMS_NODE_OBJECT_VDEVICE: print_vdevice(p, object); return;
  case TVMS_NODE_OBJECT_MESH: print_mesh(p, object); return;
  case TVMS_NODE_OBJECT_DUMMY: tvms_print_i(p, "dummy_global_info()"); return;
  case TVMS_NODE_BUFFER: tvms_print_buffer(p, object); return;
  case TVMS_NODE_BUFFER_REGION: print_buffer_region(p, object); return;
  case TVMS_NODE_RANGE: print_range(p, object); return;
  case TVMS_NODE_ITER_VAR: print_iter_var(p, object); return;
  case TVMS_NODE_COMM_REDUCER: print_reducer(p, object); return;
  case TVMS_NODE_INDEX_MAP: print_index_map(p, object); return;
  case TVMS_NODE_TILE_LAYOUT:
  case TVMS_NODE_COMPOSE_LAYOUT: tvms_print_layout_value(p, object); return;
  default: print_fragment(p, object); return;
  }
}
