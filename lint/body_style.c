// What does nothing, and names that are given twice. On request only: programs that were made by
// a tool are full of it.
#include "lint/body_style.h"

#include "ir/equal.h"
#include "ir/stmt.h"
#include "lint/body_eval.h"

void tvms_lint_body_style_loop(tvms_lint_body *body, const tvms_for *loop) {
  if (!tvms_lint_wants(body->lint, TVMS_D_empty_loop)) return;
  tvms_lint_range extent = tvms_lint_path_range(&body->path, loop->extent);
  bool never = extent.max <= 0;
  if (!never && !tvms_stmt_is_none(loop->body)) return;
  if (!tvms_lint_is_first(body, loop->head.span)) return;
  tvms_diag *diag = tvms_diag_report(body->diags, TVMS_D_empty_loop, loop->head.span,
                                     tvms_lint_name_of(body, loop->var));
  if (never) tvms_diag_remark(body->diags, diag, "it has no iteration");
}

// Names are few enough to be compared in a table of the context: a symbol is a number.
void tvms_lint_body_style_block(tvms_lint_body *body, const tvms_block *block) {
  if (!block->name.len || !tvms_lint_wants(body->lint, TVMS_D_duplicate_block)) return;
  tvms_sym name =
      tvms_symbol_intern(body->lint->context, block->name.text, block->name.len);
  tvms_vec_reach(body->memory, &body->names, name);
  const tvms_block *first = body->names.items[name];
  if (!first) {
    body->names.items[name] = block;
    return;
  }
  if (first->head.span.begin == block->head.span.begin) return;
  if (!tvms_lint_is_first(body, block->head.span)) return;
  tvms_diag *diag =
      tvms_diag_report(body->diags, TVMS_D_duplicate_block, block->head.span,
                       tvms_symbol_text(body->lint->context, name));
  tvms_diag_note(body->diags, diag, first->head.span, "the first one is here");
}

void tvms_lint_body_style_store(tvms_lint_body *body, const tvms_store *store) {
  if (!tvms_lint_wants(body->lint, TVMS_D_self_store)) return;
  if (store->value->kind != TVMS_NODE_BUFFER_LOAD) return;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  if (load->buffer != store->buffer || load->indices.len != store->indices.len) return;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!tvms_node_same_expr(load->indices.items[i], store->indices.items[i])) return;
  }
  if (tvms_lint_is_first(body, store->head.span))
    tvms_diag_report(body->diags, TVMS_D_self_store, store->head.span,
                     tvms_lint_name_of(body, store->buffer));
}
