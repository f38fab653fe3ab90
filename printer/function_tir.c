// PrimFuncs: decorator, signature, attributes, buffers of parameters, root block, body.
//
// A parameter is written as a buffer in the signature where the release allows it and
// nothing uses the handle by itself. The second is only known when the body has been
// written: then the function is written once more, with T.match_buffer in the body.
#include "printer/function_tir.h"

#include "ir/object.h"
#include "ir/walk.h"
#include "printer/block.h"
#include "printer/buffer.h"
#include "printer/comments.h"
#include "printer/expr.h"
#include "printer/hints.h"
#include "printer/module.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/stmt.h"
#include "printer/text.h"

enum { DEFAULT_ALIGN = 64 };

// ---- Buffers as parameters ----

// True if the classic releases and 0.25 may write the buffer in the signature.
static bool is_simple(tvms_printer *p, const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  const char *scope = tvms_symbol_text(p->context, tvms_print_scope_of(node));
  bool plain = buffer->strides.len == 0 && buffer->align == DEFAULT_ALIGN
               && buffer->offset_factor == 1 && buffer->buffer_type == 0
               && buffer->axis_separators.len == 0 && buffer->allocated_addr.len == 0
               && (!*scope || strcmp(scope, "global") == 0);
  if (!plain) return false;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (tvms_print_has_var(p, buffer->shape.items[i])) return false;
  }
  const tvms_node *offset = buffer->elem_offset;
  if (offset
      && (tvms_print_has_var(p, offset)
          || (tvms_node_is_int_imm(offset) && !tvms_node_is_int(offset, 0)))) {
    return false;
  }
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_have_layouts))
    return tvms_print_layout_of(p, node) != LAYOUT_OTHER;
  print_layout layout = tvms_print_layout_of(p, node);
  return layout == LAYOUT_DEFAULT || (layout == LAYOUT_NONE && p->s_tir);
}

// Uses of each data pointer among the parameters, counted in their name entries.
static void count_data(tvms_printer *p, const tvms_prim_func *f, bool count) {
  for (uint32_t i = 0; i < f->buffers.len; i++) {
    if (!f->buffers.items[i]) continue;
    const tvms_node *data = tvms_as_buffer(f->buffers.items[i])->data;
    if (!data) continue;
    print_name *name = tvms_print_name_of(p, data);
    name->index = count ? name->index + 1 : 0;
  }
}

static bool is_kept_param(const tvms_printer *p, const tvms_node *param) {
  for (uint32_t i = 0; i < p->used_params.len; i++) {
    if (p->used_params.items[i] == param->id) return true;
  }
  return false;
}

static bool goes_in_signature(tvms_printer *p, const tvms_prim_func *f, uint32_t i) {
  const tvms_node *buffer = i < f->buffers.len ? f->buffers.items[i] : NULL;
  if (!buffer) return false;
  if (tvms_release_has(p->dialect, TVMS_FACT_signatures_hold_buffers)) return true;
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  bool shared = data && tvms_print_name_of(p, data)->index > 1;
  return !shared && is_simple(p, buffer) && !is_kept_param(p, f->params.items[i]);
}

static void print_buffer_param(tvms_printer *p, const tvms_prim_func *f, uint32_t i,
                               uint32_t frame) {
  const tvms_node *buffer = f->buffers.items[i];
  print_name *param = tvms_print_name_of(p, f->params.items[i]);
  if (param->how == NAMED_NOT) {
    tvms_print_define_part(p, f->params.items[i], frame, NAMED_DEAD, buffer, 0);
  }
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  if (tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables) && data
      && tvms_print_defined(p, data)) {
    tvms_print_cannot(p, buffer, "data= of a parameter");
  }
  tvms_print_sym(p, tvms_print_define(p, buffer, frame));
  PUT(p, ": ");
  tvms_print_buffer_annotation(p, buffer, frame);
}

// ---- Symbolic dimensions of a signature (0.26 on) ----

typedef struct {
  tvms_printer *p;
  uint32_t frame;
} collector;

static bool collect_type_var(void *self, const tvms_node *var) {
  collector *c = self;
  bool int64 =
      var->dtype.code == TVMS_INT && var->dtype.bits == 64 && var->dtype.lanes == 1;
  if (!int64 || tvms_print_defined(c->p, var)) return true;
  tvms_print_define(c->p, var, c->frame);
  tvms_print_name_of(c->p, var)->type_var = true;
  tvms_vec_push(c->p->memory, &c->p->type_vars, var);
  return true;
}

static void collect_in_list(collector *c, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    tvms_print_each_var(c->p, list.items[i], collect_type_var, c);
  }
}

// Variables of int64 that only dimensions mention are written as TypeVar from 0.27 on.
static void collect_type_vars(tvms_printer *p, const tvms_prim_func *f,
                              uint32_t frame) {
  collector c = {p, frame};
  for (uint32_t i = 0; i < f->buffers.len; i++) {
    if (!f->buffers.items[i]) continue;
    const tvms_buffer *buffer = tvms_as_buffer(f->buffers.items[i]);
    collect_in_list(&c, buffer->shape);
    collect_in_list(&c, buffer->strides);
    if (buffer->elem_offset) {
      tvms_print_each_var(p, buffer->elem_offset, collect_type_var, &c);
    }
    collect_in_list(&c, buffer->allocated_addr);
  }
}

// Scalars have their names before any buffer mentions them; until their turn comes a
// dimension that does is quoted.
static void define_scalars(tvms_printer *p, const tvms_prim_func *f, uint32_t frame) {
  for (uint32_t i = 0; i < f->params.len; i++) {
    if (i < f->buffers.len && f->buffers.items[i]) continue;
    tvms_print_define(p, f->params.items[i], frame);
    tvms_print_name_of(p, f->params.items[i])->signature = true;
  }
}

static void print_params(tvms_printer *p, const tvms_prim_func *f, uint32_t frame) {
  if (tvms_release_has(p->dialect, TVMS_FACT_signatures_define_dims))
    define_scalars(p, f, frame);
  if (tvms_release_has(p->dialect, TVMS_FACT_dims_are_type_vars))
    collect_type_vars(p, f, frame);
  count_data(p, f, true);
  for (uint32_t i = 0; i < f->params.len; i++) {
    const tvms_node *param = f->params.items[i];
    if (i) PUT(p, ", ");
    if (goes_in_signature(p, f, i)) {
      print_buffer_param(p, f, i, frame);
      continue;
    }
    tvms_print_sym(p, tvms_print_define(p, param, frame));
    tvms_print_name_of(p, param)->signature = false;
    PUT(p, ": ");
    tvms_print_type_of_var(p, param);
  }
}

// `A = T.match_buffer(a, …)` for the buffers that are not in the signature.
static void print_matches(tvms_printer *p, const tvms_prim_func *f, uint32_t frame) {
  for (uint32_t i = 0; i < f->buffers.len; i++) {
    const tvms_node *buffer = f->buffers.items[i];
    const tvms_node *param = f->params.items[i];
    if (!buffer || tvms_print_name_of(p, param)->how != NAMED_TEXT) continue;
    tvms_print_begin(p);
    tvms_print_sym(p, tvms_print_define(p, buffer, frame));
    PUT(p, " = ");
    tvms_strbuf handle;
    tvms_strbuf_init(&handle, p->memory);
    tvms_strbuf *before = tvms_print_redirect(p, &handle);
    tvms_print_var(p, param);
    tvms_print_redirect(p, before);
    tvms_print_buffer_decl(p, buffer, "match_buffer", &handle, frame, DEFINES_ALL);
    tvms_strbuf_fini(&handle);
    tvms_print_end(p);
  }
}

// ---- Dimensions that nothing binds ----

static bool mark_bound(void *self, const tvms_node *var) {
  tvms_print_name_of(self, var)->signature = true;
  return true;
}

static bool clear_bound(void *self, const tvms_node *var) {
  tvms_print_name_of(self, var)->signature = false;
  return true;
}

static bool is_bound(void *self, const tvms_node *var) {
  return tvms_print_name_of(self, var)->signature;
}

// The expressions of a parameter's buffer that bind variables where they stand alone.
static void each_in_buffer(tvms_printer *p, const tvms_buffer *buffer, bool bare,
                           bool (*see)(void *self, const tvms_node *var), bool *all) {
  const tvms_list lists[] = {buffer->shape, buffer->strides};
  for (size_t k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < lists[k].len; i++) {
      const tvms_node *dim = lists[k].items[i];
      if (bare && dim->kind != TVMS_NODE_VAR) continue;
      *all = tvms_print_each_var(p, dim, see, p) && *all;
    }
  }
  const tvms_node *offset = buffer->elem_offset;
  if (offset && !(bare && offset->kind != TVMS_NODE_VAR)) {
    *all = tvms_print_each_var(p, offset, see, p) && *all;
  }
}

// Up to 0.25 a dimension of the signature must stand alone somewhere; a later release also
// has those that stand within expressions only.
static void check_dims(tvms_printer *p, const tvms_prim_func *f) {
  bool later =
      p->module
      && tvms_release_has(p->module->dialect, TVMS_FACT_shapes_define_all_dims);
  if (!later || tvms_release_has(p->dialect, TVMS_FACT_shapes_define_all_dims)) return;
  bool all = true;
  for (uint32_t i = 0; i < f->params.len; i++)
    mark_bound(p, f->params.items[i]);
  for (uint32_t i = 0; i < f->buffers.len; i++) {
    if (!f->buffers.items[i]) continue;
    each_in_buffer(p, tvms_as_buffer(f->buffers.items[i]), true, mark_bound, &all);
  }
  for (uint32_t i = 0; i < f->buffers.len; i++) {
    if (!f->buffers.items[i]) continue;
    all = true;
    each_in_buffer(p, tvms_as_buffer(f->buffers.items[i]), false, is_bound, &all);
    if (all) continue;
    tvms_print_cannot(p, f->buffers.items[i], "a dimension that no parameter binds");
    break;
  }
  for (uint32_t i = 0; i < f->params.len; i++)
    clear_bound(p, f->params.items[i]);
  for (uint32_t i = 0; i < f->buffers.len; i++) {
    if (!f->buffers.items[i]) continue;
    each_in_buffer(p, tvms_as_buffer(f->buffers.items[i]), false, clear_bound, &all);
  }
}

// ---- Head and body ----

static void print_decorator(tvms_printer *p, const tvms_node *function) {
  bool first = true;
  PUT(p, "@");
  tvms_print_t(p, "prim_func");
  static const struct {
    uint32_t flag;
    const char *text;
  } flags[] = {
      {TVMS_FLAG_PRIVATE, "private=True"},
      {TVMS_FLAG_UNCHECKED, "check_well_formed=False"},
      {TVMS_FLAG_S_TIR, "s_tir=True"},
      {TVMS_FLAG_PERSISTENT, "persistent=True"},
  };
  uint32_t set = function->flags;
  if (p->s_tir) set |= TVMS_FLAG_S_TIR;
  if (tvms_release_has(p->dialect, TVMS_FACT_prim_funcs_are_s_tir))
    set &= TVMS_FLAG_PRIVATE | TVMS_FLAG_UNCHECKED;
  if (!p->unchecked) set &= ~(uint32_t)TVMS_FLAG_UNCHECKED;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    if (!(set & flags[i].flag)) continue;
    tvms_print_put(p, first ? "(" : ", ");
    tvms_print_put(p, flags[i].text);
    first = false;
  }
  if (!first) PUT(p, ")");
  tvms_print_end(p);
}

void tvms_print_func_attrs(tvms_printer *p, const tvms_node *attrs, const char *name,
                           bool relax, bool show_symbol) {
  const char *symbol =
      tvms_object_as_text(attrs ? tvms_object_map_get(attrs, "global_symbol") : NULL);
  bool hide = !show_symbol && symbol && strcmp(symbol, name) == 0;
  static const char *const hidden[] = {"global_symbol", NULL};
  size_t from = p->out->len;
  tvms_print_begin(p);
  if (relax)
    tvms_print_r(p, "func_attr(");
  else
    tvms_print_t(p, "func_attr(");
  if (tvms_print_map(p, attrs, hide ? hidden : NULL)) {
    PUT(p, ")");
    tvms_print_end(p);
  } else {
    p->out->len = from;
  }
}

static bool has_realize(tvms_printer *p, const tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_BLOCK_REALIZE) return true;
  if (tvms_node_class_of(stmt) != TVMS_CLASS_STMT) return false;
  bool found = false;
  if (tvms_memory_enter(p->memory)) {
    tvms_child_at at = {0};
    const tvms_node *child;
    while (!found && (child = tvms_walk_next_child(stmt, &at))) {
      found = has_realize(p, child);
    }
  }
  tvms_memory_leave(p->memory);
  return found;
}

// The block that TVM puts around the body of every function with blocks, or NULL if the
// body has none or it says something of its own.
static const tvms_block *root_block(tvms_printer *p, const tvms_node *body) {
  const tvms_node *only = tvms_print_only(p, body);
  if (only->kind != TVMS_NODE_BLOCK_REALIZE) return NULL;
  const tvms_block_realize *realize = tvms_as_block_realize(only);
  const tvms_block *block = tvms_as_block(realize->block);
  if (realize->iter_values.len || !tvms_node_is_true(realize->predicate)
      || tvms_object_map_count(block->annotations) || block->match_buffers.len
      || block->reads.len || block->writes.len || block->init) {
    return NULL;
  }
  if (block->alloc_buffers.len) return block;
  const tvms_node *inner = tvms_print_only(p, block->body);
  if (inner->kind == TVMS_NODE_BLOCK_REALIZE) {
    const tvms_node *inner_block = tvms_as_block_realize(inner)->block;
    return tvms_as_block(inner_block)->iter_vars.len ? block : NULL;
  }
  return has_realize(p, block->body) ? block : NULL;
}

static void print_root_or_body(tvms_printer *p, const tvms_node *body) {
  const tvms_block *root = root_block(p, body);
  if (!root) {
    tvms_print_body(p, body);
    return;
  }
  tvms_print_begin(p);
  tvms_print_put(p, !tvms_release_has(p->dialect, TVMS_FACT_blocks_are_sblocks)
                        ? "# with T.block(\"root\"):"
                        : "# with T.sblock(\"root\"):");
  tvms_print_end(p);
  for (uint32_t i = 0; i < root->alloc_buffers.len; i++) {
    tvms_print_allocated(p, root->alloc_buffers.items[i]);
  }
  tvms_print_body(p, root->body);
}

static void print_return_type(tvms_printer *p, const tvms_node *ret) {
  if (!ret) return;
  bool nothing =
      ret->kind == TVMS_NODE_SINFO_TUPLE && !tvms_as_sinfo_tuple(ret)->fields.len;
  if (nothing) return;
  if (!tvms_release_has(p->dialect, TVMS_FACT_prim_funcs_return_any_type)
      && ret->kind != TVMS_NODE_SINFO_PRIM) {
    tvms_print_cannot(p, ret, "the return type of a function");
  }
  PUT(p, " -> ");
  tvms_print_sinfo(p, ret);
}

static void print_once(tvms_printer *p, const tvms_node *function, tvms_sym name,
                       size_t head) {
  const tvms_prim_func *f = tvms_as_prim_func(function);
  tvms_print_note(p, function);
  tvms_print_begin(p);
  print_decorator(p, function);
  uint32_t frame = tvms_print_push(p, FRAME_TIR, function);
  tvms_print_top(p)->at = PRINT_PENDING;
  tvms_print_top(p)->indent = p->indent + 1;
  uint32_t first_late = p->lates.len;
  tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * 4);
  PUT(p, "def ");
  tvms_print_sym(p, name);
  PUT(p, "(");
  print_params(p, f, frame);
  PUT(p, ")");
  print_return_type(p, f->ret);
  PUT(p, ":");
  tvms_print_end(p);
  p->indent++;
  tvms_print_settle(p, first_late);
  tvms_print_func_attrs(p, f->attrs, tvms_symbol_text(p->context, name), false, false);
  if (!tvms_release_has(p->dialect, TVMS_FACT_signatures_hold_buffers))
    print_matches(p, f, frame);
  print_root_or_body(p, f->body);
  if (p->comments) tvms_print_rest_comments(p, function);
  p->indent--;
  count_data(p, f, false);
  if (p->type_vars.len) p->used |= USED_TYPE_VAR;
  tvms_print_type_vars(p, head, 0, false);
  tvms_print_pop(p);
  p->blank = true;
}

// State that a second attempt starts from again.
typedef struct {
  size_t main_len;
  size_t late_len;
  uint32_t lates;
  uint32_t kept;
  uint32_t type_vars;
  uint32_t used;
  bool blank;
} checkpoint;

static checkpoint save(const tvms_printer *p) {
  return (checkpoint){p->main.len,      p->late.len, p->lates.len, p->kept.len,
                      p->type_vars.len, p->used,     p->blank};
}

static void restore(tvms_printer *p, checkpoint c) {
  p->main.len = c.main_len;
  p->late.len = c.late_len;
  p->lates.len = c.lates;
  p->kept.len = c.kept;
  p->type_vars.len = c.type_vars;
  p->used = c.used;
  p->blank = c.blank;
}

void tvms_print_prim_func(tvms_printer *p, const tvms_node *function, tvms_sym name,
                          size_t head) {
  print_token before = p->token;
  p->token = PRINT_TIR;
  p->function = function;
  tvms_print_hint_names(p, function);
  bool converted =
      p->module && tvms_release_has(p->module->dialect, TVMS_FACT_prim_funcs_are_s_tir)
      && !tvms_release_has(p->dialect, TVMS_FACT_prim_funcs_are_s_tir);
  p->s_tir = (function->flags & TVMS_FLAG_S_TIR) || converted;
  checkpoint start = save(p);
  p->again = false;
  check_dims(p, tvms_as_prim_func(function));
  print_once(p, function, name, head);
  if (p->again) {
    // A parameter whose buffer stood in the signature is used by itself after all.
    restore(p, start);
    p->again = false;
    print_once(p, function, name, head);
    if (p->again) tvms_print_cannot(p, function, "the handle of a buffer parameter");
  }
  p->used_params.len = 0;
  tvms_print_forget_scopes(p);
  p->hints.len = 0;
  p->roots.len = 0;
  p->views.len = 0;
  p->newest_view.len = 0;
  p->function = NULL;
  p->token = before;
}
