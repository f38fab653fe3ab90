// Values of a Relax function that becomes a PrimFunc, and the workspace.
//
// Every tensor of the workspace begins at a multiple of 64 bytes. What has a size in numbers is
// counted first; the rest is a sum of expressions.
#include "passes/relax/host/values.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/make.h"
#include "support/diag.h"
#include "support/diag_ids.h"

#include <string.h>

enum { WORKSPACE_ALIGN = 64 };

void *tvms_host_refuse(tvms_host *h, tvms_span span, const char *reason) {
  tvms_context *context = h->run->context;
  const tvms_member *member = &h->run->module->members[h->member];
  if (!h->failed)
    tvms_diag_report(&context->diags, TVMS_D_not_lowered,
                     span.end ? span : member->name_span,
                     tvms_symbol_text(context, member->name), reason);
  h->failed = true;
  return NULL;
}

tvms_host_value *tvms_host_value_new(tvms_host *h, tvms_host_kind kind) {
  tvms_host_value *value = tvms_arena_new(&h->run->context->scratch, tvms_host_value);
  *value = (tvms_host_value){.kind = kind, .depth = h->branches};
  return value;
}

tvms_host_value *tvms_host_value_of(tvms_host *h, tvms_host_kind kind, uint32_t count) {
  tvms_host_value *value = tvms_host_value_new(h, kind);
  value->count = count;
  value->fields = tvms_arena_array(&h->run->context->scratch, tvms_host_value *, count);
  return value;
}

tvms_host_value *tvms_host_number(tvms_host *h, tvms_node *number) {
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_NUMBER);
  value->number = number;
  return value;
}

tvms_node *tvms_host_number_var(tvms_host *h, const char *name, tvms_dtype dtype) {
  tvms_sym symbol = tvms_symbol_intern(h->run->context, name, strlen(name));
  return tvms_var_new(h->unit, symbol, dtype, TVMS_NO_SPAN);
}

tvms_host_value *tvms_host_bound(tvms_host *h, const char *name, tvms_node *number) {
  tvms_bind *bind = tvms_node_make(h->unit, BIND, TVMS_NO_SPAN);
  bind->var = tvms_host_number_var(h, name, number->dtype);
  bind->value = number;
  tvms_host_push(h, &bind->head);
  return tvms_host_number(h, bind->var);
}

tvms_node *tvms_host_int(tvms_host *h, int64_t value) {
  return tvms_int_imm_new(h->unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

void tvms_host_push(tvms_host *h, tvms_node *stmt) {
  tvms_vec_push(tvms_host_memory(h), &h->stmts, stmt);
}

// ---- Expressions ----

static tvms_walk_step find_unknown(void *self, tvms_node *node, tvms_field_role role) {
  tvms_host *h = self;
  (void)role;
  bool unknown = tvms_relax_is_symbol(node) && !tvms_node_map_get(&h->known, node);
  return unknown ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

tvms_node *tvms_host_expr(tvms_host *h, tvms_node *expr, tvms_span span) {
  tvms_visitor visitor = {.self = h, .enter = find_unknown};
  if (!tvms_walk(tvms_host_memory(h), expr, &visitor))
    return tvms_host_refuse(h, span, "a size is known only when it runs");
  tvms_node *made = tvms_clone(h->unit, expr, &h->known);
  // Two sizes that only the run tells may turn out to be one.
  return tvms_dtype_same(made->dtype, TVMS_DTYPE(INT, 64))
             ? tvms_arith_simplify(h->unit, made)
             : made;
}

bool tvms_host_knows(tvms_host *h, tvms_list exprs) {
  tvms_visitor visitor = {.self = h, .enter = find_unknown};
  for (uint32_t i = 0; i < exprs.len; i++) {
    if (!tvms_walk(tvms_host_memory(h), exprs.items[i], &visitor)) return false;
  }
  return true;
}

bool tvms_host_exprs(tvms_host *h, tvms_list exprs, tvms_span span, tvms_list *made) {
  *made = tvms_list_copy(h->unit, exprs.items, exprs.len);
  for (uint32_t i = 0; i < exprs.len && !h->failed; i++)
    made->items[i] = tvms_host_expr(h, exprs.items[i], span);
  return !h->failed;
}

void tvms_host_assert(tvms_host *h, tvms_node *condition, const char *kind,
                      const char *text) {
  tvms_node *simple = tvms_arith_simplify(h->unit, condition);
  if (tvms_node_is_true(simple)) return;
  // The text may speak of the sides.
  if (condition->kind != TVMS_NODE_EQ) condition = simple;
  tvms_assert *made = tvms_node_make(h->unit, ASSERT, TVMS_NO_SPAN);
  made->condition = condition;
  made->error_kind = tvms_bytes_copy(h->unit, kind, strlen(kind));
  tvms_node *part = tvms_string_imm_new(h->unit, text, strlen(text), TVMS_NO_SPAN);
  made->message = tvms_list_copy(h->unit, &part, 1);
  tvms_host_push(h, &made->head);
}

// ---- Buffers ----

tvms_node *tvms_host_buffer(tvms_host *h, const char *name, tvms_dtype element,
                            tvms_list dims) {
  tvms_sym symbol = tvms_symbol_intern(h->run->context, name, strlen(name));
  tvms_buffer *made = tvms_node_make(h->unit, BUFFER, TVMS_NO_SPAN);
  made->name = symbol;
  made->element = element;
  made->shape = dims;
  made->data = tvms_pointer_var_new(h->unit, symbol, element, 0, TVMS_NO_SPAN);
  bool wide = dims.len && dims.items[0]->dtype.bits == 64;
  made->elem_offset = tvms_int_imm_new(
      h->unit, wide ? TVMS_DTYPE(INT, 64) : TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  made->align = WORKSPACE_ALIGN;
  made->offset_factor = 1;
  return &made->head;
}

// Since 0.26 a buffer has a variable of its own, which a declaration lays over the pointer;
// before, the variable is bound to the pointer first.
tvms_node *tvms_host_declare(tvms_host *h, const char *name, tvms_dtype element,
                             tvms_list dims, tvms_node *pointer) {
  tvms_node *buffer = tvms_host_buffer(h, name, element, dims);
  tvms_decl_buffer *made = tvms_node_make(h->unit, DECL_BUFFER, TVMS_NO_SPAN);
  made->buffer = buffer;
  if (tvms_release_has(h->unit->dialect, TVMS_FACT_buffers_are_variables)) {
    made->source = pointer;
  } else {
    tvms_bind *bind = tvms_node_make(h->unit, BIND, TVMS_NO_SPAN);
    bind->value = pointer;
    bind->var = tvms_as_buffer(buffer)->data;
    tvms_host_push(h, &bind->head);
  }
  tvms_host_push(h, &made->head);
  return buffer;
}

tvms_node *tvms_host_buffer_of(tvms_host *h, tvms_host_value *tensor) {
  if (tensor->buffer) return tensor->buffer;
  tvms_node *made =
      tvms_host_declare(h, "view", tensor->dtype, tensor->dims, tensor->data);
  // What is declared in a branch does not hold behind it.
  if (!h->branches) tensor->buffer = made;
  return made;
}

// ---- The workspace ----

static tvms_node *multiply(tvms_host *h, tvms_node *a, tvms_node *b) {
  return tvms_binary_new(h->unit, TVMS_NODE_MUL, a, b, TVMS_NO_SPAN);
}

tvms_node *tvms_host_product(tvms_host *h, tvms_list dims) {
  tvms_node *product = NULL;
  for (uint32_t i = 0; i < dims.len; i++)
    product = product ? multiply(h, product, dims.items[i]) : dims.items[i];
  return product ? tvms_arith_simplify(h->unit, product) : tvms_host_int(h, 1);
}

tvms_node *tvms_host_bytes(tvms_host *h, tvms_dtype dtype, tvms_list dims) {
  int64_t factor = tvms_relax_element_bytes(dtype);
  tvms_node *rest = NULL;
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_node *dim = dims.items[i];
    bool number = tvms_node_is_int_imm(dim);
    if (number && __builtin_mul_overflow(factor, tvms_as_int_imm(dim)->value, &factor))
      return tvms_host_refuse(h, TVMS_NO_SPAN, "a tensor is larger than memory can be");
    if (!number) rest = rest ? multiply(h, rest, dim) : dim;
  }
  tvms_node *bytes = tvms_host_int(h, factor);
  return rest ? multiply(h, rest, bytes) : bytes;
}

static tvms_node *add(tvms_host *h, tvms_node *TVMS_NULLABLE a, tvms_node *b) {
  return a ? tvms_binary_new(h->unit, TVMS_NODE_ADD, a, b, TVMS_NO_SPAN) : b;
}

// The least multiple of the alignment that is not less.
static tvms_node *aligned(tvms_host *h, tvms_node *bytes) {
  tvms_node *align = tvms_host_int(h, WORKSPACE_ALIGN);
  tvms_node *up = add(h, bytes, tvms_host_int(h, WORKSPACE_ALIGN - 1));
  tvms_node *parts =
      tvms_binary_new(h->unit, TVMS_NODE_FLOOR_DIV, up, align, TVMS_NO_SPAN);
  return tvms_arith_simplify(h->unit, multiply(h, parts, align));
}

tvms_node *tvms_host_used(tvms_host *h) {
  tvms_node *fixed = tvms_host_int(h, h->used.fixed);
  if (!h->used.sized) return h->used.fixed ? fixed : NULL;
  return h->used.fixed ? add(h, h->used.sized, fixed) : h->used.sized;
}

// Can it be told that a size is not negative? Sizes of tensors among the arguments are not.
static bool is_no_debt(tvms_host *h, tvms_node *bytes) {
  tvms_analyzer *analyzer = tvms_analyzer_new(h->unit);
  for (uint32_t i = 0; i < h->input_count; i++) {
    if (!h->buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(h->buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      tvms_analyzer_mark_nonnegative(analyzer, shape.items[k]);
  }
  bool known = tvms_analyzer_can_prove_ge(analyzer, bytes, 0);
  tvms_analyzer_free(analyzer);
  return known;
}

// Memory of a negative size is an error in front of everything else, and takes nothing from what others need.
static tvms_node *not_negative(tvms_host *h, tvms_node *bytes, tvms_node *more) {
  if (is_no_debt(h, bytes)) return more;
  tvms_node *zero = tvms_host_int(h, 0);
  tvms_node_vec around = h->stmts;
  h->stmts = h->constants;
  tvms_host_assert(h, tvms_binary_new(h->unit, TVMS_NODE_GE, bytes, zero, TVMS_NO_SPAN),
                   "ValueError", "the size of a tensor is negative");
  h->constants = h->stmts;
  h->stmts = around;
  return tvms_binary_new(h->unit, TVMS_NODE_MAX, more, zero, TVMS_NO_SPAN);
}

tvms_node *tvms_host_take(tvms_host *h, tvms_node *bytes) {
  tvms_node *begin = tvms_host_used(h);
  if (!begin) begin = tvms_host_int(h, 0);
  tvms_node *more = aligned(h, bytes);
  if (!tvms_node_is_int_imm(more)) more = not_negative(h, bytes, more);
  if (!tvms_node_is_int_imm(more))
    h->used.sized = add(h, h->used.sized, more);
  else if (__builtin_add_overflow(h->used.fixed, tvms_as_int_imm(more)->value,
                                  &h->used.fixed))
    return tvms_host_refuse(h, TVMS_NO_SPAN, "it needs more memory than there can be");
  return begin;
}

tvms_node *tvms_host_place_in(tvms_host *h, tvms_node *buffer, tvms_node *offset) {
  tvms_node *load =
      tvms_buffer_load_new(h->unit, buffer, &offset, 1, NULL, TVMS_NO_SPAN);
  tvms_node *made = tvms_call_new_of(h->unit, TVMS_DTYPE(HANDLE, 64),
                                     TVMS_TIR_address_of, &load, 1, TVMS_NO_SPAN);
  made->sinfo = tvms_as_buffer(buffer)->data->sinfo;
  return made;
}

tvms_node *tvms_host_place(tvms_host *h, tvms_node *offset) {
  return tvms_host_place_in(h, h->workspace, offset);
}

tvms_host_value *tvms_host_tensor(tvms_host *h, const char *name, tvms_dtype dtype,
                                  tvms_list dims, tvms_node *data) {
  if (!data && tvms_host_is_late(h, dims))
    return tvms_host_late_tensor(h, name, dtype, dims);
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_TENSOR);
  value->dtype = dtype;
  value->dims = dims;
  value->data = data;
  if (data) return value;
  tvms_node *bytes = tvms_host_bytes(h, dtype, dims);
  tvms_node *offset = bytes ? tvms_host_take(h, bytes) : NULL;
  if (!offset) return NULL;
  value->buffer = tvms_host_declare(h, name, dtype, dims, tvms_host_place(h, offset));
  value->data = tvms_as_buffer(value->buffer)->data;
  return value;
}

static bool is_same_constant(const tvms_constant *a, const tvms_constant *b) {
  bool same = a->data.text == b->data.text && a->data.len == b->data.len
              && tvms_dtype_same(a->element, b->element)
              && a->shape.len == b->shape.len;
  for (uint32_t i = 0; same && i < a->shape.len; i++)
    same = tvms_as_int_imm(a->shape.items[i])->value
           == tvms_as_int_imm(b->shape.items[i])->value;
  return same;
}

tvms_host_value *tvms_host_constant(tvms_host *h, const tvms_node *node) {
  const tvms_constant *constant = tvms_as_constant(node);
  for (uint32_t i = 0; i < h->kept.len; i++) {
    if (is_same_constant(h->kept.items[i].node, constant))
      return h->kept.items[i].value;
  }
  tvms_node_vec around = h->stmts;
  h->stmts = h->constants;
  tvms_allocate_const *made = tvms_node_make(h->unit, ALLOCATE_CONST, node->span);
  tvms_sym name = tvms_symbol_intern(h->run->context, "constant", 8);
  made->element = constant->element;
  made->data = tvms_bytes_share(h->unit, constant->data.text, constant->data.len);
  made->var = tvms_pointer_var_new(h->unit, name, constant->element, 0, node->span);
  made->extents = tvms_list_copy(h->unit, constant->shape.items, constant->shape.len);
  for (uint32_t i = 0; i < made->extents.len; i++)
    made->extents.items[i] = tvms_clone(h->unit, constant->shape.items[i], &h->known);
  tvms_host_push(h, &made->head);
  tvms_host_value *value =
      tvms_host_tensor(h, "constant", constant->element, made->extents, made->var);
  value->depth = 0;
  h->constants = h->stmts;
  h->stmts = around;
  tvms_vec_push(tvms_host_memory(h), &h->kept, ((tvms_host_kept){constant, value}));
  return value;
}
