// Defining names in a PrimFunc: what a name becomes when a value is bound to it.
//
// `name = value` runs the value and then asks what it is (tirx/script/parser/parser.py,
// bind_assign_value):
//
//   a buffer, an iterator, a variable     the name is another name for it, and the first one
//   that no name stands for yet           gives the node its own name
//   a frame                               it is entered flat; the name is what `as` would name
//   a region A[4:8], from 0.25 on         the region; an alias where 0.25 means one
//                                         (parser/tir/part.c)
//   a tuple or list                       the same for each part; the name stands for all
//   T.meta_var(x)                         x as it is
//   any other expression                  up to 0.24 a let: a variable that holds to the end of
//                                         the scope; from 0.25 on a mutable scalar, a local
//                                         buffer of one element, but a let for what has no
//                                         scalar type
//
// A name that its scope has already must get the same value again; that of a scalar is stored
// into instead (parser/tir/assign.c).
#include "parser/tir/define.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/origin.h"
#include "parser/eval/python.h"
#include "parser/eval/scope.h"
#include "parser/tir/access.h"
#include "parser/tir/buffer.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/let.h"
#include "parser/tir/names.h"
#include "parser/tir/part.h"
#include "parser/tir/stmt.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <stdio.h>

// ---- Defining names -------------------------------------------------------------------------

static bool same_value(const tvms_reader *reader, tvms_eval_value a,
                       tvms_eval_value b) {
  if (a.kind != b.kind) return false;
  if (a.kind == TVMS_EVAL_NODE) return a.as.node == b.as.node;
  return tvms_eval_values_equal(reader, a, b);
}

static tvms_node *buffer_of(tvms_eval_value value) {
  return tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
}

// Two parameters may share one buffer, which TVM 0.22 prints for each of them, under one name
// and the second time with its own pointer:
//   A = T.match_buffer(a, (1,))
//   A = T.match_buffer(b, (1,), data=A.data)
// Is `again` the second of these? Then it is replaced by the first.
static bool is_shared_parameter(tvms_reader *reader, tvms_node *first,
                                const tvms_node *again) {
  if (!first || !again || !tvms_tir_of(reader)) return false;
  if (tvms_as_buffer(first)->data != tvms_as_buffer(again)->data) return false;
  if (!tvms_node_equal_with(reader->context, first, again,
                            &(tvms_equal_options){.map_free = true})) {
    return false;
  }
  tvms_node **buffers = tvms_tir_of(reader)->buffers.items;
  uint32_t count = tvms_tir_of(reader)->buffers.len;
  bool first_is_matched = false;
  for (uint32_t i = 0; i < count; i++) {
    first_is_matched = first_is_matched || buffers[i] == first;
    if (buffers[i] != again) continue;
    if (first_is_matched) buffers[i] = first;
    return first_is_matched;
  }
  return false;
}

// What a block reads may lie in a buffer that it allocates. TVM writes that buffer above T.reads and once more where it
// is allocated:
//   B = T.Buffer((1,), "int32")
//   T.reads(A[0:B[0]])
//   B = T.sblock_alloc_buffer((1,), "int32")
// Is `again` the second of these? Then it is replaced by the first.
static bool is_allocated_late(tvms_reader *reader, tvms_node *first,
                              const tvms_node *again) {
  tvms_frame *block = tvms_frame_find(reader, TVMS_FRAME_BLOCK);
  if (!first || !again || !block || !block->as.block.alloc_buffers.len) return false;
  tvms_nodes *allocated = &block->as.block.alloc_buffers;
  tvms_node **last = &allocated->items[allocated->len - 1];
  if (!(first->spare & TVMS_SPARE_DECLARED) || *last != again) return false;
  if (!tvms_node_equal_with(reader->context, first, again,
                            &(tvms_equal_options){.map_free = true}))
    return false;
  first->spare &= (uint16_t)~TVMS_SPARE_DECLARED;
  *last = first;
  return true;
}

tvms_node *tvms_tir_declared_early(tvms_reader *reader, tvms_sym name) {
  const tvms_tir_state *tir = tvms_tir_of(reader);
  if (!tir) return NULL;
  // A module that is not checked is read by TVM, too.
  bool unchecked = tir->unchecked || (reader->module && reader->module->unchecked);
  if (!reader->as_written || unchecked || !tvms_reader_has_printed_header(reader))
    return NULL;
  const tvms_binding *binding = tvms_scope_lookup(reader, name);
  tvms_node *var =
      binding ? tvms_eval_value_node_of(binding->value, TVMS_NODE_VAR) : NULL;
  return var && var->spare & TVMS_SPARE_DECLARED ? var : NULL;
}

void tvms_tir_name_in_pragma(tvms_reader *reader, tvms_node *node) {
  bool declared = node->kind == TVMS_NODE_VAR
                  && tvms_tir_declared_early(reader, tvms_as_var(node)->name) == node;
  if (declared) node->flags |= TVMS_FLAG_EARLY;
}

void tvms_tir_define_early(tvms_node *var) {
  var->spare &= (uint16_t)~TVMS_SPARE_DECLARED;
  var->flags |= TVMS_FLAG_EARLY;
}

// Whether the name in front of this one, of the same targets, was reported as defined already.
static bool follows_clash(const tvms_reader *reader, tvms_span span) {
  const tvms_diags *diags = &reader->context->diags;
  const tvms_diag *last = diags->last;
  if (!last || last->id != TVMS_D_already_defined || last->source != diags->source
      || last->span.end >= span.begin)
    return false;
  const char *text = reader->surface->source->text;
  for (uint32_t at = last->span.end; at < span.begin; at++) {
    bool listed = text[at] == ',' || text[at] == ' ' || text[at] == '_'
                  || isalnum((unsigned char)text[at]);
    if (!listed) return false;
  }
  return true;
}

void tvms_tir_define(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                     tvms_span span) {
  tvms_binding *here =
      tvms_scope_binds_here(reader, name) ? tvms_scope_lookup(reader, name) : NULL;
  bool clash = here && tvms_eval_value_is_known(here->value)
               && tvms_eval_value_is_known(value)
               && !same_value(reader, here->value, value);
  if (clash
      && (is_shared_parameter(reader, buffer_of(here->value), buffer_of(value))
          || is_allocated_late(reader, buffer_of(here->value), buffer_of(value))))
    return;
  if (clash) {
    tvms_diags *diags = &reader->context->diags;
    reader->short_of_names = reader->unit;
    reader->failed = true;
    // Of a line that is there twice, once.
    if (!follows_clash(reader, span)) {
      tvms_diag *diag = tvms_diag_report(diags, TVMS_D_already_defined, span,
                                         tvms_symbol_text(reader->context, name));
      tvms_diag_note(diags, diag, here->span, "defined here before");
    }
  }
  if (value.kind == TVMS_EVAL_NODE) value.as.node->spare |= TVMS_SPARE_BOUND;
  tvms_scope_bind(reader, name, value, span);
}

// `name_0`, `name_1`, …: hints for the parts of a tuple bound to one name.
static tvms_sym part_name(tvms_reader *reader, tvms_sym name, uint32_t i) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  char *full = tvms_arena_alloc(&reader->values, text->len + 12);
  int len = sprintf(full, "%s_%u", text->text, i);
  return tvms_symbol_intern(reader->context, full, (size_t)len);
}

void tvms_tir_name_part(tvms_reader *reader, tvms_eval_value part, tvms_sym name,
                        uint32_t i) {
  if (part.kind == TVMS_EVAL_NODE) {
    tvms_tir_name_node(reader, part.as.node, part_name(reader, name, i));
  }
}

// ---- What a name becomes --------------------------------------------------------------------

static tvms_node *let(tvms_reader *reader, tvms_sym name, tvms_node *value,
                      tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node *var = tvms_var_new(reader->unit, name, value->dtype, span);
  var->sinfo = value->sinfo;
  tvms_tir_enter_let(reader, var, value, ref);
  return var;
}

// What a function of the module returns that returns nothing: an empty tuple from 0.27 on.
static bool is_empty_result(const tvms_reader *reader, const tvms_node *node) {
  return tvms_release_has(reader->dialect, TVMS_FACT_calls_return_empty_tuples)
         && node->kind == TVMS_NODE_CALL && tvms_dtype_is_void(node->dtype)
         && tvms_as_call(node)->callee->kind == TVMS_NODE_GLOBAL_VAR;
}

// A value without a type that TIR could give a variable.
static tvms_eval_value no_type(tvms_reader *reader, tvms_eval_value value,
                               tvms_ref ref) {
  tvms_diag *diag = tvms_reader_report(reader, no_type_for_name, ref,
                                       tvms_eval_describe(reader, value));
  if (value.kind == TVMS_EVAL_CALLABLE || value.kind == TVMS_EVAL_DTYPE)
    tvms_eval_suggest_call(reader, diag, ref);
  if (value.kind == TVMS_EVAL_LIST && diag)
    tvms_diag_remark(&reader->context->diags, diag,
                     "each of its items needs a name, as in 'a, b = ...'");
  return tvms_reader_failed(reader);
}

static tvms_eval_value bind_expression(tvms_reader *reader, tvms_sym name,
                                       tvms_eval_value value, tvms_ref ref) {
  bool classic_text =
      value.kind == TVMS_EVAL_STR
      && tvms_release_has(reader->dialect, TVMS_FACT_texts_can_be_bound);
  bool is_constant = value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
                     || value.kind == TVMS_EVAL_BOOL || classic_text;
  bool is_expr = value.kind == TVMS_EVAL_NODE
                 && (tvms_node_class_of(value.as.node) == TVMS_CLASS_EXPR
                     || value.as.node->kind == TVMS_NODE_BUFFER_REGION);
  if (!is_constant && !is_expr) return no_type(reader, value, ref);
  tvms_node *node = tvms_eval_to_expr(reader, value, ref);
  if (!node) return TVMS_UNKNOWN;
  bool pointer = node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_POINTER;
  if (!tvms_release_has(reader->dialect, TVMS_FACT_assignments_make_scalars)) {
    return tvms_eval_value_node(let(reader, name, node, ref));
  }
  if (pointer && !tvms_release_has(reader->dialect, TVMS_FACT_pointers_become_scalars)
      && tvms_scope_binds_here(reader, name)) {
    tvms_reader_report(reader, pointer_reassigned, ref,
                       tvms_symbol_text(reader->context, name));
    return tvms_reader_failed(reader);
  }
  // 0.25 makes a scalar of whatever is not text, even of a pointer.
  bool typed = tvms_release_has(reader->dialect, TVMS_FACT_pointers_become_scalars)
               || !(pointer || tvms_dtype_is_handle(node->dtype)
                    || is_empty_result(reader, node));
  if (!typed || node->kind == TVMS_NODE_STRING_IMM) {
    return tvms_eval_value_node(let(reader, name, node, ref));
  }
  tvms_eval_value scalar =
      tvms_tir_scalar_new(reader, node->dtype, TVMS_SYM_local, ref);
  tvms_node *buffer = tvms_as_buffer_load(scalar.as.node)->buffer;
  tvms_tir_name_node(reader, buffer, name);
  tvms_tir_store_into(reader, buffer, tvms_eval_value_int(0),
                      tvms_eval_value_node(node), NULL, ref);
  return scalar;
}

// TVM 0.25 lets nobody rename a buffer.
static bool check_second_name(tvms_reader *reader, const tvms_node *buffer,
                              tvms_sym name, tvms_ref ref) {
  tvms_sym first = tvms_as_buffer((tvms_node *)(uintptr_t)buffer)->name;
  if (!tvms_release_has(reader->dialect, TVMS_FACT_buffers_keep_first_name) || !first
      || first == name)
    return true;
  tvms_reader_report(reader, second_name, ref, tvms_symbol_text(reader->context, first),
                     tvms_symbol_text(reader->context, name));
  reader->failed = true;
  return false;
}

static bool are_one(const tvms_buffer *a, const tvms_buffer *b) {
  return a->data == b->data && tvms_dtype_same(a->element, b->element)
         && tvms_node_same_exprs(a->shape, b->shape)
         && tvms_node_same_exprs(a->strides, b->strides)
         && tvms_node_same_expr(a->elem_offset, b->elem_offset);
}

// The regions of a block may name a buffer that its body declares. The printer then writes
// the buffer before them and again in the body: one buffer, for all that 0.22 cannot read it.
// The buffer that `stmt` declares again, or NULL.
static tvms_node *TVMS_NULLABLE declared_again(tvms_reader *reader, tvms_sym name,
                                               tvms_node *stmt) {
  bool again = tvms_release_has(reader->dialect, TVMS_FACT_regions_predeclare_buffers)
               && tvms_scope_binds_here(reader, name);
  if (!again || stmt->kind != TVMS_NODE_DECL_BUFFER) return NULL;
  tvms_node *known =
      tvms_eval_value_node_of(tvms_scope_lookup(reader, name)->value, TVMS_NODE_BUFFER);
  tvms_decl_buffer *declares = tvms_as_decl_buffer(stmt);
  if (!known || known == declares->buffer) return NULL;
  if (!are_one(tvms_as_buffer(known), tvms_as_buffer(declares->buffer))) return NULL;
  declares->buffer = known;
  return known;
}

static tvms_eval_value bind_node(tvms_reader *reader, tvms_sym name,
                                 tvms_eval_value value, tvms_ref ref) {
  tvms_node *node = value.as.node;
  if (value.flags & TVMS_TIR_VALUE_SCALAR && !(node->spare & TVMS_SPARE_BOUND)) {
    tvms_tir_name_node(reader, tvms_as_buffer_load(node)->buffer, name);
    return value;
  }
  switch (node->kind) {
  case TVMS_NODE_BUFFER_REGION: {
    if (!tvms_release_has(reader->dialect, TVMS_FACT_names_bind_regions)) break;
    tvms_node *part = tvms_tir_buffer_of_part(reader, name, node, ref);
    if (!part) return value;
    tvms_tir_name_node(reader, part, name);
    return tvms_eval_value_node(part);
  }
  case TVMS_NODE_BUFFER:
    return check_second_name(reader, node, name, ref)
               ? (tvms_tir_name_node(reader, node, name), value)
               : TVMS_UNKNOWN;
  case TVMS_NODE_ITER_VAR: tvms_tir_name_node(reader, node, name); return value;
  case TVMS_NODE_TILE_LAYOUT:
  case TVMS_NODE_COMPOSE_LAYOUT: return value;
  case TVMS_NODE_VAR:
    if (node->spare & TVMS_SPARE_BOUND) break;
    tvms_tir_name_node(reader, node, name);
    node->spare |= TVMS_SPARE_DECLARED;
    return value;
  default: break;
  }
  return bind_expression(reader, name, value, ref);
}

tvms_eval_value tvms_tir_assigned(tvms_reader *reader, tvms_sym name,
                                  tvms_eval_value value, tvms_ref ref) {
  switch (value.kind) {
  case TVMS_EVAL_UNKNOWN: reader->failed = true; return value;
  case TVMS_EVAL_META: return value.as.items[0];
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST: {
    if (value.flags & TVMS_TIR_VALUE_ARRAY) return no_type(reader, value, ref);
    tvms_eval_value *items = tvms_eval_keep_items(reader, value.as.items, value.len);
    for (uint32_t i = 0; i < value.len; i++) {
      tvms_tir_assigned(reader, part_name(reader, name, i), items[i], ref);
    }
    return value;
  }
  case TVMS_EVAL_FRAME: {
    tvms_frame *frame = tvms_frame_of(value);
    if (frame->kind == TVMS_FRAME_BINDER) {
      tvms_node *known = declared_again(reader, name, frame->as.binder.stmt);
      if (known) frame->result = tvms_eval_value_node(known);
    }
    bool names_nothing = frame->kind != TVMS_FRAME_FOR
                         && frame->result.kind != TVMS_EVAL_NODE
                         && frame->result.kind != TVMS_EVAL_UNKNOWN;
    if (names_nothing) return no_type(reader, value, ref);
    if (!tvms_frame_enter(reader, frame, true)) return TVMS_UNKNOWN;
    if (frame->result.kind == TVMS_EVAL_NODE) {
      tvms_tir_name_node(reader, frame->result.as.node, name);
    }
    return frame->result;
  }
  case TVMS_EVAL_NODE: return bind_node(reader, name, value, ref);
  default:
    return tvms_eval_ops_of(reader, value)->held
               ? value
               : bind_expression(reader, name, value, ref);
  }
}

// ---- Targets --------------------------------------------------------------------------------

// True if an earlier target of the list `list` has bound the name.
static bool is_repeated(tvms_reader *reader, tvms_ref list, tvms_ref target) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  if (node->kind != TVMS_SURF_NAME || !tvms_scope_binds_here(reader, node->a))
    return false;
  tvms_span span = tvms_scope_lookup(reader, node->a)->span;
  return span.begin >= tvms_reader_at(reader, list)->begin && span.begin < node->begin;
}

static void bind_all(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                     tvms_binder *bind, tvms_ref source);

// The first item of a tuple or list that is written out; 0: the source is another value.
static tvms_ref first_part(const tvms_reader *reader, tvms_ref source) {
  if (!source) return 0;
  const tvms_surf *node = tvms_reader_at(reader, source);
  bool parts = node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST;
  return parts ? node->a : 0;
}

static void bind_items(tvms_reader *reader, tvms_ref target, tvms_eval_items items,
                       tvms_binder *bind, tvms_ref source) {
  tvms_ref list = tvms_reader_at(reader, target)->a;
  uint32_t count = tvms_surface_count(reader->surface, list);
  uint32_t at = 0;
  tvms_ref from = first_part(reader, source);
  tvms_surface_each(reader->surface, part, list) {
    const tvms_surf node = *tvms_reader_at(reader, part);
    bool starred = node.kind == TVMS_SURF_STAR;
    tvms_ref inner = starred ? node.a : part;
    uint32_t many = starred ? items.len + 1 - count : 1;
    tvms_eval_value value =
        starred ? tvms_eval_value_items(TVMS_EVAL_LIST, items.items + at, many)
                : items.items[at];
    if (is_repeated(reader, list, inner)) {
      tvms_reader_report(
          reader, repeated_target, inner,
          tvms_symbol_text(reader->context, tvms_reader_at(reader, inner)->a));
      reader->failed = true;
    } else {
      bind_all(reader, inner, value, bind, starred ? 0 : from);
    }
    at += many;
    if (from) from = tvms_reader_at(reader, from)->next;
  }
}

void tvms_tir_bind_unknown(tvms_reader *reader, tvms_ref target) {
  const tvms_surf node = *tvms_reader_at(reader, target);
  reader->failed = true;
  if (node.kind == TVMS_SURF_NAME) {
    tvms_scope_bind(reader, node.a, TVMS_UNKNOWN, tvms_reader_span_of(reader, target));
  } else if (node.kind == TVMS_SURF_TUPLE || node.kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, part, node.a) {
      tvms_tir_bind_unknown(reader, part);
    }
  } else if (node.kind == TVMS_SURF_STAR) {
    tvms_tir_bind_unknown(reader, node.a);
  }
}

static void bind_parts(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                       tvms_binder *bind, tvms_ref source) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, value, target, &items)) {
    tvms_tir_bind_unknown(reader, target);
    return;
  }
  tvms_ref list = tvms_reader_at(reader, target)->a;
  uint32_t count = tvms_surface_count(reader->surface, list), stars = 0;
  tvms_surface_each(reader->surface, part, list) {
    stars += tvms_reader_at(reader, part)->kind == TVMS_SURF_STAR;
  }
  if (stars ? items.len + 1 < count : items.len != count) {
    tvms_reader_report(reader, cannot_unpack, target, count, tvms_diag_plural(count),
                       items.len, items.len == 1 ? "" : "s");
    tvms_tir_bind_unknown(reader, target);
    if (items.len > count) reader->short_of_names = reader->unit;
    return;
  }
  bind_items(reader, target, items, bind, source);
}

static void bind_all(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                     tvms_binder *bind, tvms_ref source) {
  const tvms_surf node = *tvms_reader_at(reader, target);
  switch (node.kind) {
  case TVMS_SURF_NAME: {
    tvms_eval_value bound = bind(reader, node.a, value, source ? source : target);
    tvms_tir_define(reader, node.a, bound, tvms_reader_span_of(reader, target));
    break;
  }
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: bind_parts(reader, target, value, bind, source); break;
  case TVMS_SURF_BAD: reader->failed = true; break;
  default:
    tvms_reader_report(reader, bad_assignment_target, target);
    reader->short_of_names = reader->unit;
    reader->failed = true;
  }
}

void tvms_tir_bind_targets(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                           tvms_binder *bind, tvms_ref source) {
  bind_all(reader, target, value, bind, source);
}
