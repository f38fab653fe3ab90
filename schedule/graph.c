// Index maps as traces in JSON have them: TVM's serialization of objects, a list of nodes that name each other by index.
//
//   {"root_index": 12, "nodes": [{"type": "None"}, {"type": "ir.Var", "data": {"name": 2, "ty": 1}}, …]}
#include "schedule/graph.h"

#include "ir/dtype.h"
#include "ir/fold_ops.h"
#include "schedule/map_text.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_sched_reader *reader;
  const char *text;
  tvms_span span;
} graph;

typedef struct {
  tvms_unit *unit;
  const tvms_sched_value *nodes;  // LIST
  tvms_node **made;               // by index; NULL: not yet
  const tvms_dtype *like;
  const tvms_sched_reader *reader;
  bool parameters;  // the variables of the map are being made; others may be results
  uint32_t depth;
} decoder;

static const tvms_sched_value *TVMS_NULLABLE field(const tvms_sched_value *dict,
                                                   const char *key) {
  for (uint32_t i = 0; dict && dict->kind == TVMS_VALUE_DICT && i + 1 < dict->len;
       i += 2)
    if (dict->items[i].kind == TVMS_VALUE_TEXT && strcmp(dict->items[i].text, key) == 0)
      return &dict->items[i + 1];
  return NULL;
}

static const tvms_sched_value *TVMS_NULLABLE
node_of(const decoder *d, const tvms_sched_value *TVMS_NULLABLE index) {
  bool fits = index && index->kind == TVMS_VALUE_INT && index->number >= 0
              && index->number < d->nodes->len;
  return fits ? &d->nodes->items[index->number] : NULL;
}

static const char *type_of(const tvms_sched_value *TVMS_NULLABLE node) {
  const tvms_sched_value *type = node ? field(node, "type") : NULL;
  return type && type->kind == TVMS_VALUE_TEXT ? type->text : "";
}

static bool dtype_of(const decoder *d, const tvms_sched_value *data,
                     tvms_dtype *dtype) {
  const tvms_sched_value *type = node_of(d, field(data, "ty"));
  // Before 0.26 the data type is a text in the node itself.
  const tvms_sched_value *text =
      type ? field(field(type, "data"), "dtype") : field(data, "dtype");
  return text && text->kind == TVMS_VALUE_TEXT
         && tvms_dtype_parse(text->text, strlen(text->text), dtype);
}

static tvms_node *TVMS_NULLABLE decode(decoder *d,
                                       const tvms_sched_value *TVMS_NULLABLE index);

static bool decode_list(decoder *d, const tvms_sched_value *TVMS_NULLABLE index,
                        tvms_list *list);

// T.if_then_else, the one function of index maps.
static tvms_node *TVMS_NULLABLE decode_call(decoder *d, const tvms_sched_value *data) {
  const tvms_sched_value *op = node_of(d, field(data, "op"));
  op = op ? field(op, "data") : NULL;
  const char *dot = op && op->kind == TVMS_VALUE_TEXT ? strrchr(op->text, '.') : NULL;
  tvms_list args;
  bool fits = dot && strcmp(dot, ".if_then_else") == 0
              && decode_list(d, field(data, "args"), &args) && args.len == 3;
  return fits ? tvms_build_if_then_else(d->unit, args.items[0], args.items[1],
                                        args.items[2], TVMS_NO_SPAN)
              : NULL;
}

// A number, or since 0.27 the index of a node that has it.
static int64_t number_of(const decoder *d, const tvms_sched_value *value) {
  const tvms_sched_value *node = node_of(d, value);
  const tvms_sched_value *any =
      strcmp(type_of(node), "int") == 0 ? field(node, "data") : NULL;
  return any ? any->number : value->number;
}

static tvms_node *TVMS_NULLABLE decode_data(decoder *d, const char *type,
                                            const tvms_sched_value *data) {
  tvms_dtype dtype = {0};
  const char *dot = strrchr(type, '.');
  const char *name = dot ? dot + 1 : type;
  const tvms_sched_value *value = field(data, "value");
  bool typed = dtype_of(d, data, &dtype);
  if (strcmp(name, "IntImm") == 0 && value && typed)
    return tvms_int_imm_new(d->unit, dtype, number_of(d, value), TVMS_NO_SPAN);
  if (strcmp(name, "Call") == 0) return decode_call(d, data);
  if (strcmp(name, "FloatImm") == 0 && value && typed)
    return tvms_float_imm_new(d->unit, dtype,
                              value->kind == TVMS_VALUE_INT ? (double)value->number
                                                            : value->real,
                              TVMS_NO_SPAN);
  if (strcmp(name, "Var") == 0 && typed) {
    const tvms_sched_value *text = node_of(d, field(data, "name"));
    text = text ? field(text, "data") : NULL;
    const char *hint = text && text->kind == TVMS_VALUE_TEXT ? text->text : "i";
    tvms_sym sym = tvms_symbol_intern(d->unit->context, hint, strlen(hint));
    const tvms_sched_value *result =
        d->parameters ? NULL : tvms_sched_reader_find(d->reader, sym);
    if (result && result->kind == TVMS_VALUE_INT)
      return tvms_int_imm_new(d->unit, dtype, result->number, TVMS_NO_SPAN);
    return tvms_var_new(d->unit, sym, dtype, TVMS_NO_SPAN);
  }
  const tvms_map_operator *row = tvms_sched_map_operator_named(name);
  tvms_node *a = row ? decode(d, field(data, "a")) : NULL;
  tvms_node *b = a ? decode(d, field(data, "b")) : NULL;
  return b ? tvms_binary_new(d->unit, row->kind, a, b, TVMS_NO_SPAN) : NULL;
}

static tvms_node *TVMS_NULLABLE decode(decoder *d,
                                       const tvms_sched_value *TVMS_NULLABLE index) {
  const tvms_sched_value *node = node_of(d, index);
  if (!node || d->depth > 100) return NULL;
  tvms_node **known = &d->made[index->number];
  if (*known) return *known;
  const tvms_sched_value *data = field(node, "data");
  d->depth++;
  *known = data ? decode_data(d, type_of(node), data) : NULL;
  d->depth--;
  return *known;
}

static bool decode_list(decoder *d, const tvms_sched_value *TVMS_NULLABLE index,
                        tvms_list *list) {
  const tvms_sched_value *node = node_of(d, index);
  const tvms_sched_value *items = node ? field(node, "data") : NULL;
  if (!items || items->kind != TVMS_VALUE_LIST) return false;
  tvms_node **made = tvms_arena_array(&d->unit->arena, tvms_node *, items->len + 1);
  for (uint32_t i = 0; i < items->len; i++) {
    made[i] = decode(d, &items->items[i]);
    if (!made[i]) return false;
  }
  *list = tvms_list_copy(d->unit, made, items->len);
  return true;
}

static tvms_node *TVMS_NULLABLE decode_map(decoder *d, const tvms_sched_value *text) {
  const tvms_sched_value *root = node_of(d, field(text, "root_index"));
  const tvms_sched_value *data = root ? field(root, "data") : NULL;
  if (!data || !strstr(type_of(root), "IndexMap")) return NULL;
  tvms_index_map *map = tvms_node_make(d->unit, INDEX_MAP, TVMS_NO_SPAN);
  d->parameters = true;
  bool fine = decode_list(d, field(data, "initial_indices"), &map->initial_indices);
  d->parameters = false;
  return fine && decode_list(d, field(data, "final_indices"), &map->final_indices)
             ? &map->head
             : NULL;
}

static bool read_text(tvms_sched_reader *r, const char *text, tvms_sched_value *value) {
  tvms_context *context = r->context;
  tvms_source *source =
      tvms_source_create(&context->memory, "index map", text, strlen(text));
  tvms_source *outer = context->diags.source;
  tvms_surface surface, *around = r->surface;
  context->diags.source = source;
  tvms_surface_parse(&surface, context, source);
  r->surface = &surface;
  tvms_ref stmt = surface.body;
  bool fine = stmt && tvms_surface_at(&surface, stmt)->kind == TVMS_SURF_EXPRESSION
              && tvms_sched_reader_value(r, tvms_surface_at(&surface, stmt)->a, value);
  r->surface = around;
  tvms_surface_fini(&surface);
  context->diags.source = outer;
  return fine;
}

static tvms_node *TVMS_NULLABLE make_map(void *self, tvms_unit *unit,
                                         const tvms_dtype *like, uint32_t count) {
  const graph *g = self;
  tvms_sched_value text;
  tvms_node *map = NULL;
  if (read_text(g->reader, g->text, &text)) {
    const tvms_sched_value *nodes = field(&text, "nodes");
    decoder d = {.unit = unit, .nodes = nodes, .like = like, .reader = g->reader};
    uint32_t len = nodes && nodes->kind == TVMS_VALUE_LIST ? nodes->len : 0;
    d.made = tvms_arena_array(&unit->arena, tvms_node *, len + 1);
    memset(d.made, 0, (len + 1) * sizeof *d.made);
    if (len) map = decode_map(&d, &text);
  }
  if (map && tvms_as_index_map(map)->initial_indices.len == count) return map;
  tvms_diag_report(&unit->context->diags, TVMS_D_schedule_syntax, g->span,
                   "an index map of as many indices as there are axes");
  return NULL;
}

tvms_sched_value tvms_sched_graph(tvms_sched_reader *r, const char *text,
                                  tvms_span span) {
  graph *made = tvms_arena_new(&r->schedule->arena, graph);
  *made = (graph){r, text, span};
  return (tvms_sched_value){.kind = TVMS_VALUE_LAMBDA,
                            .span = span,
                            .text = text,
                            .maker = make_map,
                            .self = made};
}
