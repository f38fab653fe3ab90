// Let statements: a variable that has a value for the rest of its scope.
//
// Variable and value must have one data type. From 0.26 on a pointer also says to what it points,
// so that T.let[T.handle("float32")] is no type for a plain handle; before, all pointers are alike.
#include "parser/tir/let.h"

#include "ir/equal.h"
#include "parser/tir/frame.h"

#include <stdio.h>
#include <string.h>

// "int32", or a pointer as its annotation is written.
static const char *let_type_text(tvms_reader *reader, const tvms_node *node) {
  char dtype[TVMS_DTYPE_TEXT];
  const tvms_node *type = node->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_POINTER) {
    const char *plain = tvms_dtype_text(node->dtype, dtype);
    return tvms_arena_text(&reader->values, plain, strlen(plain));
  }
  tvms_sym scope = tvms_as_sinfo_pointer(type)->scope;
  char text[TVMS_DTYPE_TEXT + 128];
  int len = snprintf(text, sizeof text, "T.handle(\"%s\"%s%.64s%s)",
                     tvms_dtype_text(type->dtype, dtype), scope ? ", \"" : "",
                     scope ? tvms_symbol_text(reader->context, scope) : "",
                     scope ? "\"" : "");
  return tvms_arena_text(&reader->values, text, (size_t)len);
}

// A typed pointer or a plain handle; not a tensor map.
static bool is_pointer(const tvms_node *node) {
  return tvms_dtype_is_handle(node->dtype)
         && (!node->sinfo || node->sinfo->kind == TVMS_NODE_SINFO_POINTER);
}

// Its type; NULL if it points to anything.
static const tvms_node *TVMS_NULLABLE pointer_type(const tvms_node *node) {
  const tvms_node *type = node->sinfo;
  bool plain =
      !type || (tvms_dtype_is_void(type->dtype) && !tvms_as_sinfo_pointer(type)->scope);
  return plain ? NULL : type;
}

// Up to 0.25 all pointers are handles.
static bool same_let_type(tvms_reader *reader, const tvms_node *var,
                          const tvms_node *value) {
  if (!tvms_dtype_same(var->dtype, value->dtype)) return false;
  bool typed = tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types)
               && is_pointer(var) && is_pointer(value);
  if (!typed) return true;
  const tvms_node *a = pointer_type(var), *b = pointer_type(value);
  return a && b ? tvms_node_equal(reader->context, a, b) : a == b;
}

bool tvms_tir_check_let(tvms_reader *reader, const tvms_node *var,
                        const tvms_node *value, tvms_ref ref) {
  if (same_let_type(reader, var, value)) return true;
  // Some device intrinsics of later releases say their type by an argument.
  bool text = value->kind == TVMS_NODE_STRING_IMM && tvms_dtype_is_void(var->dtype);
  if (text && tvms_release_has(reader->dialect, TVMS_FACT_texts_are_void)) return true;
  if (tvms_dtype_is_void(value->dtype)
      && tvms_release_has(reader->dialect, TVMS_FACT_void_can_be_bound))
    return true;
  tvms_reader_report(reader, let_dtype, ref, let_type_text(reader, var),
                     let_type_text(reader, value));
  reader->failed = true;
  return false;
}

void tvms_tir_enter_let(tvms_reader *reader, tvms_node *var, tvms_node *value,
                        tvms_ref ref) {
  if (!tvms_tir_check_let(reader, var, value, ref)) return;
  tvms_struct_BIND *bind =
      tvms_node_make(reader->unit, BIND, tvms_reader_span_of(reader, ref));
  bind->var = var;
  bind->value = value;
  tvms_eval_value frame =
      tvms_frame_binder(reader, &bind->head, tvms_eval_value_node(var), ref);
  tvms_frame_enter(reader, tvms_frame_of(frame), true);
}
