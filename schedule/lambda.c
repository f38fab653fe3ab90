// Functions of indices: a lambda of the script becomes an INDEX_MAP, with arithmetic folded as TVM folds it.
#include "schedule/lambda.h"

#include "grammar/literal_values.h"
#include "ir/fold_ops.h"
#include "support/strbuf.h"

#include <string.h>

typedef struct {
  tvms_sched_reader *reader;
  tvms_ref ref;
} lambda;

typedef struct {
  tvms_sched_reader *reader;
  tvms_unit *unit;
  const tvms_sym *names;  // of the parameters
  tvms_node *const *vars;
  uint32_t count;
  tvms_sym star;  // of lambda *q, which is all of them; else 0
} scope;

static tvms_node *TVMS_NULLABLE build(const scope *s, tvms_ref ref);

static const tvms_surf *at(const scope *s, tvms_ref ref) {
  return tvms_surface_at(s->reader->surface, ref);
}

static tvms_node *TVMS_NULLABLE expected(const scope *s, tvms_ref ref,
                                         const char *what) {
  (void)!tvms_sched_reader_expected(s->reader, ref, what);
  return NULL;
}

static tvms_node *TVMS_NULLABLE build_name(const scope *s, tvms_ref ref) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->names[i] == at(s, ref)->a) return s->vars[i];
  const tvms_sched_value *value = tvms_sched_reader_find(s->reader, at(s, ref)->a);
  if (value && value->kind == TVMS_VALUE_INT)
    return tvms_build_literal_int(s->unit, value->number, TVMS_NO_SPAN);
  return expected(s, ref, "an index or a number");
}

// q[0], q[-1] of lambda *q
static tvms_node *TVMS_NULLABLE build_item(const scope *s, tvms_ref ref) {
  const tvms_surf *object = at(s, at(s, ref)->a);
  tvms_sched_value index;
  if (!s->star || object->kind != TVMS_SURF_NAME || object->a != s->star)
    return expected(s, ref, "an expression of indices");
  if (!tvms_sched_reader_value(s->reader, at(s, ref)->b, &index)) return NULL;
  int64_t place = index.number < 0 ? index.number + s->count : index.number;
  return index.kind == TVMS_VALUE_INT && place >= 0 && place < s->count
             ? s->vars[place]
             : expected(s, at(s, ref)->b, "the number of an index");
}

static const struct {
  tvms_surf_op op;
  tvms_node_kind kind;
} operators[] = {
    {TVMS_OP_ADD, TVMS_NODE_ADD},       {TVMS_OP_SUB, TVMS_NODE_SUB},
    {TVMS_OP_MUL, TVMS_NODE_MUL},       {TVMS_OP_FLOOR_DIV, TVMS_NODE_FLOOR_DIV},
    {TVMS_OP_MOD, TVMS_NODE_FLOOR_MOD}, {TVMS_OP_DIV, TVMS_NODE_DIV},
    {TVMS_OP_EQ, TVMS_NODE_EQ},         {TVMS_OP_NE, TVMS_NODE_NE},
    {TVMS_OP_LT, TVMS_NODE_LT},         {TVMS_OP_LE, TVMS_NODE_LE},
    {TVMS_OP_GT, TVMS_NODE_GT},         {TVMS_OP_GE, TVMS_NODE_GE},
    {TVMS_OP_AND, TVMS_NODE_AND},       {TVMS_OP_OR, TVMS_NODE_OR},
};

static tvms_node *TVMS_NULLABLE combine(const scope *s, tvms_ref ref, tvms_surf_op op,
                                        tvms_ref left, tvms_ref right) {
  tvms_node *a = build(s, left), *b = a ? build(s, right) : NULL;
  if (!b) return NULL;
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
    if (operators[i].op == op)
      return tvms_build_binary(s->unit, operators[i].kind, a, b, TVMS_NO_SPAN);
  return expected(s, ref, "an operator of integers");
}

static const struct {
  const char *name;
  tvms_node_kind kind;
} functions[] = {
    {"floordiv", TVMS_NODE_FLOOR_DIV},
    {"floormod", TVMS_NODE_FLOOR_MOD},
    {"truncdiv", TVMS_NODE_DIV},
    {"truncmod", TVMS_NODE_MOD},
    {"min", TVMS_NODE_MIN},
    {"max", TVMS_NODE_MAX},
    {"And", TVMS_NODE_AND},
    {"Or", TVMS_NODE_OR},
};

// T.int64(4), T.float32(0.0)
static tvms_node *TVMS_NULLABLE build_constant(const scope *s, tvms_ref ref,
                                               tvms_dtype dtype, tvms_ref arg) {
  tvms_sched_value value;
  if (!tvms_sched_reader_value(s->reader, arg, &value)) return NULL;
  if (value.kind == TVMS_VALUE_FLOAT)
    return tvms_build_float(s->unit, dtype, value.real, TVMS_NO_SPAN);
  if (value.kind != TVMS_VALUE_INT) return expected(s, ref, "a number");
  return dtype.code == TVMS_FLOAT
             ? tvms_build_float(s->unit, dtype, (double)value.number, TVMS_NO_SPAN)
             : tvms_build_int(s->unit, dtype, value.number, TVMS_NO_SPAN);
}

static tvms_node *TVMS_NULLABLE build_call(const scope *s, tvms_ref ref) {
  tvms_ref callee = at(s, ref)->a, args = at(s, ref)->b;
  bool attribute = at(s, callee)->kind == TVMS_SURF_ATTRIBUTE;
  if (!attribute && at(s, callee)->kind != TVMS_SURF_NAME)
    return expected(s, ref, "a function of integers");
  const char *name = tvms_symbol_text(s->reader->context,
                                      attribute ? at(s, callee)->b : at(s, callee)->a);
  uint32_t count = tvms_surface_count(s->reader->surface, args);
  tvms_dtype dtype;
  if (count == 1 && tvms_dtype_parse(name, strlen(name), &dtype))
    return build_constant(s, ref, dtype, args);
  for (size_t i = 0; count == 2 && i < sizeof functions / sizeof functions[0]; i++) {
    if (strcmp(functions[i].name, name) != 0) continue;
    tvms_node *a = build(s, args), *b = a ? build(s, at(s, args)->next) : NULL;
    return b ? tvms_build_binary(s->unit, functions[i].kind, a, b, TVMS_NO_SPAN) : NULL;
  }
  if (count != 3 || strcmp(name, "if_then_else") != 0)
    return expected(s, ref, "a function of integers");
  tvms_ref second = at(s, args)->next;
  tvms_node *c = build(s, args), *a = c ? build(s, second) : NULL;
  tvms_node *b = a ? build(s, at(s, second)->next) : NULL;
  return b ? tvms_build_if_then_else(s->unit, c, a, b, TVMS_NO_SPAN) : NULL;
}

static tvms_node *TVMS_NULLABLE build_plain(const scope *s, tvms_ref ref) {
  const tvms_surf *node = at(s, ref);
  uint64_t number;
  switch ((int)node->kind) {
  case TVMS_SURF_NAME: return build_name(s, ref);
  case TVMS_SURF_INT:
    return tvms_surface_int(s->reader->surface, ref, &number) && number <= INT64_MAX
               ? tvms_build_literal_int(s->unit, (int64_t)number, TVMS_NO_SPAN)
               : expected(s, ref, "a smaller number");
  case TVMS_SURF_FLOAT:
    return tvms_build_float(s->unit, TVMS_DTYPE(FLOAT, 32),
                            tvms_surface_float(s->reader->surface, ref), TVMS_NO_SPAN);
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL: return combine(s, ref, (tvms_surf_op)node->op, node->a, node->b);
  case TVMS_SURF_COMPARE: {
    const tvms_surf *other = at(s, node->b);
    return combine(s, ref, (tvms_surf_op)other->op, node->a, other->a);
  }
  case TVMS_SURF_UNARY: {
    tvms_node *a = node->op == TVMS_OP_NEGATE ? build(s, node->a) : NULL;
    return a ? tvms_build_negative(s->unit, a, TVMS_NO_SPAN)
             : expected(s, ref, "an operator of integers");
  }
  case TVMS_SURF_CALL: return build_call(s, ref);
  case TVMS_SURF_SUBSCRIPT: return build_item(s, ref);
  default: return expected(s, ref, "an expression of indices");
  }
}

static tvms_node *TVMS_NULLABLE build(const scope *s, tvms_ref ref) {
  tvms_memory *memory = &s->unit->context->memory;
  tvms_node *made =
      tvms_memory_enter(memory)
          ? build_plain(s, ref)
          : expected(s, ref, "an expression that is not nested so deeply");
  tvms_memory_leave(memory);
  return made;
}

// One expression, or a list of them; pairs in it count as two.
static bool build_body(const scope *s, tvms_ref body, tvms_node_vec *finals) {
  bool many =
      at(s, body)->kind == TVMS_SURF_TUPLE || at(s, body)->kind == TVMS_SURF_LIST;
  tvms_memory *memory = &s->unit->context->memory;
  for (tvms_ref item = many ? at(s, body)->a : body; item;
       item = many ? at(s, item)->next : 0) {
    bool pair = many && at(s, item)->kind == TVMS_SURF_TUPLE;
    if (pair && !build_body(s, item, finals)) return false;
    if (pair) continue;
    tvms_node *made = build(s, item);
    if (!made) return false;
    tvms_vec_push(memory, finals, made);
  }
  return true;
}

static tvms_sym numbered(tvms_sched_reader *r, tvms_ref star, uint32_t number) {
  tvms_strbuf name;
  tvms_strbuf_init(&name, &r->context->memory);
  tvms_strbuf_printf(&name, "%s_%u",
                     tvms_symbol_text(r->context, tvms_surface_at(r->surface, star)->a),
                     number);
  tvms_sym made = tvms_symbol_intern(r->context, name.text, name.len);
  tvms_strbuf_fini(&name);
  return made;
}

static tvms_node *TVMS_NULLABLE make_map(void *self, tvms_unit *unit,
                                         const tvms_dtype *like, uint32_t count) {
  const lambda *l = self;
  tvms_sched_reader *r = l->reader;
  const tvms_surf *node = tvms_surface_at(r->surface, l->ref);
  tvms_ref body = node->b, list = node->a;
  // lambda *q: …, whose indices are q_0, q_1 …, as TVM names them
  bool star = list && !tvms_surface_at(r->surface, list)->next
              && tvms_surface_at(r->surface, list)->op == TVMS_OP_STAR;
  if (!star && tvms_surface_count(r->surface, list) != count) {
    (void)!tvms_sched_reader_expected(
        r, l->ref, "a function of as many indices as there are axes");
    return NULL;
  }
  tvms_sym *names = tvms_arena_array(&unit->arena, tvms_sym, count + 1);
  tvms_node **vars = tvms_arena_array(&unit->arena, tvms_node *, count + 1);
  for (uint32_t k = 0; k < count; k++) {
    names[k] = star ? 0 : tvms_surface_at(r->surface, list)->a;
    tvms_sym sym = star ? numbered(r, list, k) : names[k];
    vars[k] = tvms_var_new(unit, sym, like[k], TVMS_NO_SPAN);
    if (!star) list = tvms_surface_at(r->surface, list)->next;
  }
  scope s = {r,    unit,  names,
             vars, count, star ? tvms_surface_at(r->surface, list)->a : 0};
  tvms_node_vec finals = {0};
  tvms_index_map *map = tvms_node_make(unit, INDEX_MAP, TVMS_NO_SPAN);
  map->initial_indices = tvms_list_copy(unit, vars, count);
  bool fine = build_body(&s, body, &finals);
  map->final_indices = tvms_list_copy(unit, finals.items, finals.len);
  tvms_vec_fini(&r->context->memory, &finals);
  return fine ? &map->head : NULL;
}

tvms_sched_value tvms_sched_lambda(tvms_sched_reader *r, tvms_ref ref) {
  lambda *made = tvms_arena_new(&r->schedule->arena, lambda);
  *made = (lambda){r, ref};
  tvms_span span = tvms_surface_span(r->surface, ref);
  return (tvms_sched_value){.kind = TVMS_VALUE_LAMBDA,
                            .span = span,
                            .text =
                                tvms_arena_text(&r->schedule->arena,
                                                r->surface->source->text + span.begin,
                                                span.end - span.begin),
                            .maker = make_map,
                            .self = made};
}
