// Statements that open a scope: what stands after `with`, or alone in their flat form.
//
// A statement whose body is the rest of its sequence (ir/stmt.h) is written
//
//     with T.attr(x, "key", 1):     or flat:    T.attr(x, "key", 1)
//         rest                                  rest
//
// stmt.c decides which; here is what the two have in common: the text to the right of `with` or
// '=', what it defines, and how many statements of the sequence TVM writes as this one.
#include "printer/scope.h"

#include "ir/object.h"
#include "printer/buffer.h"
#include "printer/expr.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/state.h"
#include "printer/stmt.h"
#include "printer/text.h"

static void print_dict_attrs(tvms_printer *p, tvms_node *const *stmts, uint32_t count,
                             uint32_t *taken) {
  PUT(p, "({");
  for (uint32_t i = 0; i < count; i++) {
    const tvms_attr_stmt *attr = tvms_as_attr_stmt(stmts[i]);
    if (i) PUT(p, ", ");
    tvms_print_quoted(p, attr->key.text, attr->key.len);
    PUT(p, ": ");
    tvms_print_object(p, attr->value);
  }
  PUT(p, "})");
  *taken = count;
}

// An attribute of nothing in particular: its node is the number 0.
static bool is_dict_attr(const tvms_printer *p, const tvms_node *stmt) {
  if (!tvms_release_has(p->dialect, TVMS_FACT_attrs_take_dicts)
      || stmt->kind != TVMS_NODE_ATTR_STMT)
    return false;
  const tvms_node *node = tvms_as_attr_stmt(stmt)->node;
  if (node->kind == TVMS_NODE_OBJECT_INT) return tvms_as_object_int(node)->value == 0;
  // TVM writes T.attr(0, …) here, and reads that as the number.
  return tvms_node_is_int(node, 0) && node->dtype.bits == 32;
}

static void add_env_thread(tvms_printer *p, const tvms_iter_var *iter) {
  uint32_t frame = tvms_print_lowest_frame(p, iter->var);
  if (frame == UINT32_MAX) frame = tvms_print_top_index(p);
  tvms_sym name = tvms_print_define(p, iter->var, frame);
  print_added line;
  tvms_print_begin_line(p, &line, frame);
  tvms_print_sym(p, name);
  PUT(p, " = ");
  tvms_print_t(p, "env_thread");
  PUT(p, "(\"");
  tvms_print_sym(p, iter->thread_tag);
  PUT(p, "\")");
  tvms_print_end_line(p, &line);
}

// Returns the variable that the launch itself defines, or NULL.
static const tvms_node *print_launch(tvms_printer *p, const tvms_node *stmt) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(stmt);
  const tvms_iter_var *iter = tvms_as_iter_var(attr->node);
  const tvms_node *defined = NULL;
  if (!tvms_print_defined(p, iter->var)) {
    if (tvms_print_encloses(p, stmt, iter->var))
      defined = iter->var;
    else
      add_env_thread(p, iter);
  }
  tvms_print_t(p, "launch_thread");
  PUT(p, "(");
  if (defined) {
    PUT(p, "\"");
    tvms_print_sym(p, iter->thread_tag);
    PUT(p, "\"");
  } else {
    tvms_print_var(p, iter->var);
  }
  PUT(p, ", ");
  tvms_print_any(p, attr->value);
  PUT(p, ")");
  return defined;
}

static void print_bounds(tvms_printer *p, tvms_list bounds) {
  tvms_print_put(p, bounds.len ? "[" : "[()");
  for (uint32_t i = 0; i < bounds.len; i++) {
    const tvms_range *range = tvms_as_range(bounds.items[i]);
    if (i) PUT(p, ", ");
    tvms_print_any(p, range->min);
    PUT(p, ":");
    tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
    tvms_print_any(p, tvms_print_fold(p, TVMS_NODE_ADD, range->min, range->extent));
    tvms_arena_reset(&p->scratch.arena, mark);
  }
  PUT(p, "]");
}

static void print_realize(tvms_printer *p, const tvms_buffer_realize *node,
                          const tvms_node *TVMS_NULLABLE value) {
  tvms_print_t(p, "realize");
  PUT(p, "(");
  tvms_print_buffer(p, node->buffer);
  print_bounds(p, node->bounds);
  if (value) {
    PUT(p, ", ");
    tvms_print_object(p, value);
  }
  if (!tvms_node_is_true(node->condition)) {
    PUT(p, ", condition=");
    tvms_print_any(p, node->condition);
  }
  PUT(p, ")");
}

// T.hint("message", key=value …).
static void print_hint(tvms_printer *p, const tvms_object_map *map) {
  tvms_print_t(p, "hint");
  PUT(p, "(");
  bool first = true;
  for (uint32_t i = 0; i < map->keys.len; i++) {
    const char *key = tvms_object_as_text(map->keys.items[i]);
    if (!key || strcmp(key, "message") != 0) continue;
    tvms_print_comma(p, &first);
    tvms_print_object(p, map->values.items[i]);
  }
  for (uint32_t i = 0; i < map->keys.len; i++) {
    const char *key = tvms_object_as_text(map->keys.items[i]);
    if (!key || strcmp(key, "message") == 0) continue;
    tvms_print_comma(p, &first);
    tvms_print_put(p, key);
    PUT(p, "=");
    tvms_print_object(p, map->values.items[i]);
  }
  PUT(p, ")");
}

static bool is_realize_scope(const tvms_printer *p, tvms_node *const *stmts,
                             uint32_t count) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(stmts[0]);
  return tvms_release_has(p->dialect, TVMS_FACT_realize_says_scope) && count > 1
         && stmts[1]->kind == TVMS_NODE_BUFFER_REALIZE
         && tvms_bytes_is(attr->key, "realize_scope")
         && tvms_as_buffer_realize(stmts[1])->buffer == attr->node;
}

// The null pointer, which 0.26 cannot have as the value of an attribute: it writes 0.
static bool is_null_pointer(const tvms_printer *p, const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL || !tvms_dtype_is_handle(value->dtype))
    return false;
  const tvms_call *call = tvms_as_call(value);
  return call->callee->kind == TVMS_NODE_OPERATOR && call->args.len == 1
         && strcmp(tvms_symbol_text(p->context, tvms_as_operator(call->callee)->name),
                   "reinterpret")
                == 0
         && tvms_node_is_int(call->args.items[0], 0);
}

static void print_attr_value(tvms_printer *p, const tvms_node *value) {
  if (tvms_release_has(p->dialect, TVMS_FACT_attrs_refuse_pointers)
      && is_null_pointer(p, value))
    PUT(p, "0");
  else
    tvms_print_object(p, value);
}

static print_opening open_attr(tvms_printer *p, tvms_node *const *stmts,
                               uint32_t count) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(stmts[0]);
  print_opening opening = {.node = stmts[0], .taken = 1};
  if (tvms_attr_stmt_threads(&attr->head)) {
    opening.defines = print_launch(p, stmts[0]);
  } else if (is_realize_scope(p, stmts, count)) {
    print_realize(p, tvms_as_buffer_realize(stmts[1]), attr->value);
    opening.taken = 2;
  } else if (tvms_bytes_is(attr->key, "tirx_hint")
             && attr->node->kind == TVMS_NODE_OBJECT_MAP
             && tvms_release_has(p->dialect, TVMS_FACT_hints_are_written)) {
    print_hint(p, tvms_as_object_map(attr->node));
  } else if (is_dict_attr(p, stmts[0])) {
    uint32_t same = 1;
    while (same < count && is_dict_attr(p, stmts[same])) {
      same++;
    }
    tvms_print_t(p, "attr");
    print_dict_attrs(p, stmts, same, &opening.taken);
  } else {
    tvms_print_t(p, "attr");
    PUT(p, "(");
    tvms_print_object(p, attr->node);
    PUT(p, ", ");
    tvms_print_quoted(p, attr->key.text, attr->key.len);
    PUT(p, ", ");
    print_attr_value(p, attr->value);
    PUT(p, ")");
  }
  return opening;
}

// ---- Classic scopes ----

static print_opening open_let(tvms_printer *p, const tvms_node *stmt, bool flat) {
  const tvms_bind *bind = tvms_as_bind(stmt);
  bool known = tvms_print_defined(p, bind->var);
  print_opening opening = {.node = stmt, .taken = 1, .annotate = true};
  if (!known) opening.defines = bind->var;
  if (flat && !known) {
    tvms_print_any(p, bind->value);
    return opening;
  }
  tvms_print_t(p, "LetStmt");
  PUT(p, "(");
  tvms_print_any(p, bind->value);
  if (known) {
    PUT(p, ", var=");
    tvms_print_var(p, bind->var);
  } else if (tvms_dtype_is_handle(bind->var->dtype) && bind->var->sinfo) {
    PUT(p, ", ");
    tvms_print_type_of_var(p, bind->var);
  }
  PUT(p, ")");
  return opening;
}

static void print_message(tvms_printer *p, const tvms_assert *node) {
  if (node->message.len == 1) {
    tvms_print_object(p, node->message.items[0]);
    return;
  }
  // Parts of a message are one text to a classic release.
  tvms_strbuf all;
  tvms_strbuf_init(&all, p->memory);
  for (uint32_t i = 0; i < node->message.len; i++) {
    if (node->message.items[i]->kind != TVMS_NODE_STRING_IMM) continue;
    tvms_bytes part = tvms_as_string_imm(node->message.items[i])->value;
    tvms_strbuf_add(&all, part.text, part.len);
  }
  tvms_print_quoted(p, all.text, all.len);
  tvms_strbuf_fini(&all);
}

static print_opening open_assert(tvms_printer *p, const tvms_node *stmt, bool flat) {
  const tvms_assert *node = tvms_as_assert(stmt);
  bool plain =
      node->error_kind.len == 0 || tvms_bytes_is(node->error_kind, "RuntimeError");
  if (!plain) tvms_print_cannot(p, stmt, "the kind of error of an assertion");
  if (flat) {
    PUT(p, "assert ");
  } else {
    tvms_print_t(p, "Assert");
    PUT(p, "(");
  }
  tvms_print_any(p, node->condition);
  PUT(p, ", ");
  print_message(p, node);
  if (!flat) PUT(p, ")");
  return (print_opening){.node = stmt, .taken = 1};
}

bool tvms_print_is_all_of(const tvms_node *allocate, const tvms_node *declared) {
  const tvms_allocate *node = tvms_as_allocate(allocate);
  const tvms_buffer *buffer = tvms_as_buffer(declared);
  bool annotated = node->annotations && tvms_as_object_map(node->annotations)->keys.len;
  if (buffer->data != node->var || annotated || !tvms_node_is_true(node->condition)
      || !tvms_dtype_same(buffer->element, node->element)
      || buffer->shape.len != node->extents.len) {
    return false;
  }
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (!tvms_print_same(buffer->shape.items[i], node->extents.items[i])) return false;
  }
  return true;
}

bool tvms_print_declares_all(const tvms_node *allocate, const tvms_node *next) {
  return next->kind == TVMS_NODE_DECL_BUFFER
         && tvms_print_is_all_of(allocate, tvms_as_decl_buffer(next)->buffer);
}

static print_opening open_declaration(tvms_printer *p, const tvms_node *stmt,
                                      const tvms_node *buffer,
                                      print_definitions definitions, uint32_t taken) {
  tvms_print_buffer_decl(p, buffer, "decl_buffer", NULL, tvms_print_top_index(p),
                         definitions);
  return (print_opening){.defines = buffer, .node = stmt, .taken = taken};
}

static void print_allocate_args(tvms_printer *p, const tvms_node *var,
                                tvms_list extents, tvms_dtype element) {
  tvms_print_t(p, "allocate");
  PUT(p, "([");
  tvms_print_list(p, extents);
  PUT(p, "], ");
  tvms_print_quoted_dtype(p, element);
  PUT(p, ", \"");
  tvms_sym scope = 0;
  if (var->sinfo && var->sinfo->kind == TVMS_NODE_SINFO_POINTER) {
    scope = tvms_as_sinfo_pointer(var->sinfo)->scope;
  }
  tvms_print_put(p, scope ? tvms_symbol_text(p->context, scope) : "global");
  PUT(p, "\"");
}

static void print_annotations(tvms_printer *p, const tvms_node *annotations) {
  if (annotations && tvms_as_object_map(annotations)->keys.len) {
    PUT(p, ", annotations=");
    tvms_print_object(p, annotations);
  }
  PUT(p, ")");
}

static print_opening open_allocate(tvms_printer *p, tvms_node *const *stmts,
                                   uint32_t count) {
  const tvms_allocate *node = tvms_as_allocate(stmts[0]);
  if (count > 1 && tvms_print_declares_all(stmts[0], stmts[1])) {
    return open_declaration(p, stmts[1], tvms_as_decl_buffer(stmts[1])->buffer,
                            DEFINES_DATA, 2);
  }
  print_allocate_args(p, node->var, node->extents, node->element);
  if (!tvms_node_is_true(node->condition)) {
    PUT(p, ", ");
    tvms_print_any(p, node->condition);
  }
  print_annotations(p, node->annotations);
  // The name belongs to the frame around the scope.
  tvms_print_define(p, node->var, tvms_print_top_index(p));
  return (print_opening){.defines = node->var, .node = stmts[0], .taken = 1};
}

// A later release's allocation of a buffer: allocation and declaration in one.
static print_opening open_alloc_buffer(tvms_printer *p, const tvms_node *stmt) {
  const tvms_alloc_buffer *node = tvms_as_alloc_buffer(stmt);
  bool annotated = node->annotations && tvms_as_object_map(node->annotations)->keys.len;
  if (annotated) tvms_print_cannot(p, stmt, "annotations of an allocated buffer");
  return open_declaration(p, stmt, node->buffer, DEFINES_DATA, 1);
}

// ---- Constant data ----

enum { SHOWN_VALUES = 201 };

static double value_of_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? __builtin_nan("") : sign * __builtin_inf();
  if (exponent == 0) return sign * __builtin_ldexp(fraction, -24);
  return sign * __builtin_ldexp(fraction + 1024, exponent - 25);
}

// TVM writes the bits of a float16 as if they were its value, and reads another value.
static void print_element(tvms_printer *p, const char *at, tvms_dtype d) {
  int64_t integer = 0;
  uint32_t bytes = d.bits / 8u;
  if (d.code == TVMS_FLOAT && d.bits >= 32) {
    float single;
    double value;
    memcpy(&single, at, sizeof single);
    memcpy(&value, at, d.bits == 64 ? sizeof value : sizeof single);
    tvms_print_float(p, d.bits == 64 ? value : (double)single);
    return;
  }
  memcpy(&integer, at, bytes);
  if (d.code == TVMS_FLOAT && d.bits == 16) {
    tvms_print_float(p, value_of_half((uint16_t)integer));
    return;
  }
  if (d.code != TVMS_UINT && bytes < 8) {
    uint32_t unused = 64 - bytes * 8;
    integer = (int64_t)((uint64_t)integer << unused) >> unused;
  }
  if (d.code == TVMS_UINT && bytes == 8)
    tvms_strbuf_printf(p->out, "%llu", (unsigned long long)integer);
  else
    tvms_print_int(p, integer);
}

static print_opening open_constant(tvms_printer *p, const tvms_node *stmt) {
  const tvms_allocate_const *node = tvms_as_allocate_const(stmt);
  uint32_t bytes = node->element.bits / 8u;
  uint32_t count = bytes ? node->data.len / bytes : 0;
  tvms_print_t(p, "allocate_const");
  PUT(p, "([");
  for (uint32_t i = 0; i < count && i < SHOWN_VALUES; i++) {
    if (i) PUT(p, ", ");
    print_element(p, node->data.text + (size_t)i * bytes, node->element);
  }
  PUT(p, "], ");
  tvms_print_quoted_dtype(p, node->element);
  PUT(p, ", [");
  tvms_print_list(p, node->extents);
  PUT(p, "])");
  return (print_opening){.defines = node->var, .node = stmt, .taken = 1};
}

print_opening tvms_print_opening(tvms_printer *p, tvms_node *const *stmts,
                                 uint32_t count, bool flat) {
  const tvms_node *stmt = stmts[0];
  switch (stmt->kind) {
  case TVMS_NODE_BIND: return open_let(p, stmt, flat);
  case TVMS_NODE_ASSERT: return open_assert(p, stmt, flat);
  case TVMS_NODE_ALLOCATE: return open_allocate(p, stmts, count);
  case TVMS_NODE_ALLOCATE_CONST: return open_constant(p, stmt);
  case TVMS_NODE_ALLOC_BUFFER: return open_alloc_buffer(p, stmt);
  case TVMS_NODE_DECL_BUFFER:
    tvms_print_bind_data(p, stmt);
    p->source =
        tvms_print_defined(p, tvms_as_buffer(tvms_as_decl_buffer(stmt)->buffer)->data)
            ? NULL
            : tvms_as_decl_buffer(stmt)->source;
    return open_declaration(p, stmt, tvms_as_decl_buffer(stmt)->buffer, DEFINES_NOTHING,
                            1);
  case TVMS_NODE_BUFFER_REALIZE:
    print_realize(p, tvms_as_buffer_realize(stmt), NULL);
    return (print_opening){.node = stmt, .taken = 1};
  default: return open_attr(p, stmts, count);
  }
}
