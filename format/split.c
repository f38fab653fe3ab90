// An expression over several lines: at its operators, its items, or within parentheses of
// its own. Chains are walked, not recursed into, so that long ones cost time in proportion
// to their length.
#include "format/split.h"

#include "format/brackets.h"
#include "format/flat.h"
#include "format/omit.h"
#include "format/text.h"
#include "format/value.h"

// Tries the rest of the line, `tail` columns of which must stay free.
bool tvms_format_try_flat(tvms_writer *w, tvms_ref ref, bool bare, uint32_t tail) {
  tvms_point here = tvms_writer_mark(w);
  w->limit = w->width > tail ? w->width - tail : 0;
  if (tvms_format_flat(w, ref, bare)) return true;
  tvms_writer_rewind(w, here);
  return false;
}

void tvms_format_forced(tvms_writer *w, tvms_ref ref, bool bare) {
  bool outer = w->forced;
  w->forced = true;
  (void)!tvms_format_flat(w, ref, bare);
  w->forced = outer;
}

void tvms_format_item(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  if (!tvms_format_try_flat(w, ref, false, tail))
    tvms_format_split(w, ref, false, tail);
}

void tvms_format_bare(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  if (!tvms_format_try_flat(w, ref, true, tail)) tvms_format_split(w, ref, true, tail);
}

/* Operators: each operand on its line, the operator before it */

int tvms_format_precedence(tvms_surf_op op) {
  switch ((int)op) {
  case TVMS_OP_OR:
  case TVMS_OP_AND: return 1;
  case TVMS_OP_SHIFT_LEFT:
  case TVMS_OP_SHIFT_RIGHT: return 2;
  case TVMS_OP_ADD:
  case TVMS_OP_SUB: return 3;
  case TVMS_OP_MUL:
  case TVMS_OP_MATMUL:
  case TVMS_OP_DIV:
  case TVMS_OP_FLOOR_DIV:
  case TVMS_OP_MOD: return 4;
  default: return 5 + (int)op;
  }
}

static void next_line(tvms_writer *w, uint32_t begin) {
  tvms_format_comments_behind(w, begin);
  tvms_writer_new_line(w);
  tvms_format_comments_before(w, begin);
}

// `and` and `or` without parentheses around them stand on one level, as in ruff: where one of them
// begins a line, all do.
static bool goes_on(const tvms_writer *w, tvms_ref ref) {
  return w->nodes[ref].kind == TVMS_SURF_BOOL && !w->nodes[ref].parens;
}

static void split_operation(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  uint32_t base = w->spine.len;
  int rank = tvms_format_precedence((tvms_surf_op)w->nodes[ref].op);
  do {
    tvms_vec_push(w->memory, &w->spine, ref);
    ref = w->nodes[ref].a;
  } while (tvms_format_is_operation(&w->nodes[ref]) && !w->nodes[ref].parens
           && tvms_format_precedence((tvms_surf_op)w->nodes[ref].op) == rank
           && rank != 5 + TVMS_OP_POWER);
  tvms_format_item(w, ref, 0);
  while (w->spine.len > base) {
    const tvms_surf *node = &w->nodes[w->spine.items[--w->spine.len]];
    next_line(w, w->nodes[node->b].begin);
    tvms_writer_put_text(w, tvms_surface_operator_text((tvms_surf_op)node->op));
    tvms_writer_put_char(w, ' ');
    uint32_t behind = w->spine.len == base ? tail : 0;
    if (goes_on(w, node->b))
      split_operation(w, node->b, behind);
    else
      tvms_format_item(w, node->b, behind);
  }
}

static void split_compare(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_format_item(w, node->a, 0);
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    const tvms_surf *compared = &w->nodes[part];
    next_line(w, w->nodes[compared->a].begin);
    tvms_writer_put_text(w, tvms_surface_operator_text((tvms_surf_op)compared->op));
    tvms_writer_put_char(w, ' ');
    tvms_format_item(w, compared->a, compared->next ? 0 : tail);
  }
}

static void split_if_exp(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  for (;;) {
    tvms_format_item(w, node->a, 0);
    next_line(w, w->nodes[node->b].begin);
    tvms_writer_put_text(w, "if ");
    tvms_format_item(w, node->b, 0);
    next_line(w, w->nodes[node->c].begin);
    tvms_writer_put_text(w, "else ");
    const tvms_surf *other = &w->nodes[node->c];
    if (other->kind != TVMS_SURF_IF_EXP || other->parens
        || tvms_format_try_flat(w, node->c, false, tail)) {
      break;
    }
    node = other;
  }
  if (w->nodes[node->c].kind != TVMS_SURF_IF_EXP || w->nodes[node->c].parens) {
    tvms_format_item(w, node->c, tail);
  }
}

static void split_strings(tvms_writer *w, const tvms_surf *node) {
  for (tvms_ref piece = node->a; piece; piece = w->nodes[piece].next) {
    if (piece != node->a) next_line(w, w->nodes[piece].begin);
    tvms_format_forced(w, piece, false);
  }
}

static void comp_lines(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_format_item(w, node->a, 0);
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    next_line(w, w->nodes[part].begin);
    tvms_format_item(w, part, w->nodes[part].next ? 0 : tail);
  }
}

static void split_comp(tvms_writer *w, const tvms_surf *node, const char *open,
                       const char *shut) {
  tvms_writer_put_text(w, open);
  tvms_format_comments_behind(w, w->nodes[node->a].begin);
  tvms_writer_indent(w, 4);
  tvms_writer_new_line(w);
  tvms_format_comments_before(w, w->nodes[node->a].begin);
  w->brackets++;
  tvms_point here = tvms_writer_mark(w);
  w->limit = w->width;
  bool fine = w->comment_at >= node->end && tvms_format_flat(w, node->a, false);
  for (tvms_ref part = node->b; fine && part; part = w->nodes[part].next) {
    tvms_writer_put_char(w, ' ');
    fine = tvms_format_flat(w, part, false);
  }
  if (!fine) {
    tvms_writer_rewind(w, here);
    comp_lines(w, node, 0);
  }
  w->brackets--;
  tvms_format_comments_behind(w, node->end);
  tvms_format_comments_to(w, node->end);
  tvms_writer_indent(w, -4);
  tvms_writer_new_line(w);
  tvms_writer_put_text(w, shut);
}

/* Everything */

static void split_param(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  uint32_t stars = node->op == TVMS_OP_STAR          ? 1
                   : node->op == TVMS_OP_DOUBLE_STAR ? 2
                                                     : 0;
  tvms_writer_put(w, "**", stars);
  if (node->op == TVMS_OP_SLASH) tvms_writer_put_char(w, '/');
  if (node->a) tvms_writer_put_text(w, tvms_symbol_text(w->surface->context, node->a));
  if (node->b) {
    tvms_writer_put(w, ": ", 2);
    tvms_format_item(w, node->b, node->c ? 2 : tail);
  }
  if (node->c) {
    tvms_writer_put_text(w, node->b ? " = " : "=");
    tvms_format_item(w, node->c, tail);
  }
}

static void split_with_item(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  uint32_t as = node->b ? 4 + tvms_format_lead(w, node->b, false, tail) : tail;
  tvms_format_item(w, node->a, as);
  if (!node->b) return;
  tvms_writer_put_text(w, " as ");
  tvms_format_item(w, node->b, tail);
}

// Columns of the upper bound of a slice up to where its first line may end: before an operator,
// or where a bracket opens.
static uint32_t lead_of_bound(tvms_writer *w, tvms_ref ref, uint32_t follow) {
  for (;;) {
    const tvms_surf *node = &w->nodes[ref];
    bool operation = tvms_format_is_operation(node) || node->kind == TVMS_SURF_COMPARE
                     || node->kind == TVMS_SURF_IF_EXP;
    if (!operation || node->parens) break;
    ref = node->a;
    follow = 0;
  }
  return tvms_format_lead(w, ref, false, follow);
}

static void split_slice(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  bool step = (node->flags & TVMS_SURF_STEP) && node->c;
  bool spaced = tvms_format_is_spaced(w, node);
  uint32_t gap = spaced ? 1 : 0;
  uint32_t behind = step ? 2 : tail;
  uint32_t upper = node->b ? gap + lead_of_bound(w, node->b, behind) : behind;
  if (node->a) tvms_format_item(w, node->a, gap + 1 + upper);
  tvms_writer_put_text(w, node->a && spaced ? " :" : ":");
  if (node->b && spaced) tvms_writer_put_char(w, ' ');
  if (node->b) tvms_format_item(w, node->b, behind);
  if (!step) return;
  tvms_writer_put_text(w, node->b && spaced ? " :" : ":");
  if (spaced) tvms_writer_put_char(w, ' ');
  tvms_format_item(w, node->c, tail);
}

static void prefixed(tvms_writer *w, const char *prefix, tvms_ref ref, uint32_t tail) {
  tvms_writer_put_text(w, prefix);
  tvms_format_item(w, ref, tail);
}

static void split_lambda(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_writer_put_text(w, node->a ? "lambda " : "lambda");
  for (tvms_ref param = node->a; param; param = w->nodes[param].next) {
    if (param != node->a) tvms_writer_put(w, ", ", 2);
    tvms_format_forced(w, param, false);
  }
  tvms_writer_put(w, ": ", 2);
  uint32_t behind = w->behind;
  w->behind = 0;
  tvms_format_body(w, node->b, tail);
  w->behind = behind;
}

static void split_node(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_bracketed b;
  switch ((int)node->kind) {
  case TVMS_SURF_CALL:
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_SUBSCRIPT: tvms_format_split_postfix(w, ref, tail); return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
  case TVMS_SURF_SET:
  case TVMS_SURF_DICT:
    b = tvms_format_brackets_of(w, ref);
    tvms_format_brackets(w, &b, tail);
    return;
  case TVMS_SURF_LIST_COMP: split_comp(w, node, "[", "]"); return;
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP: split_comp(w, node, "{", "}"); return;
  case TVMS_SURF_GENERATOR:
    if (node->flags & TVMS_SURF_PAREN)
      split_comp(w, node, "(", ")");
    else
      comp_lines(w, node, tail);
    return;
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL: split_operation(w, ref, tail); return;
  case TVMS_SURF_COMPARE: split_compare(w, node, tail); return;
  case TVMS_SURF_IF_EXP: split_if_exp(w, ref, tail); return;
  case TVMS_SURF_STRINGS: split_strings(w, node); return;
  case TVMS_SURF_UNARY:
    prefixed(w, tvms_format_prefix((tvms_surf_op)node->op), node->a, tail);
    return;
  case TVMS_SURF_STAR: prefixed(w, "*", node->a, tail); return;
  case TVMS_SURF_DOUBLE_STAR: prefixed(w, "**", node->a, tail); return;
  case TVMS_SURF_LAMBDA: split_lambda(w, node, tail); return;
  case TVMS_SURF_WALRUS:
    tvms_format_forced(w, node->a, false);
    prefixed(w, " := ", node->b, tail);
    return;
  case TVMS_SURF_KEYWORD:
    tvms_writer_put_span(w, tvms_format_name_from(w, node->begin));
    prefixed(w, "=", node->b, tail);
    return;
  case TVMS_SURF_PAIR:
    tvms_format_item(w, node->a, 1);
    prefixed(w, ": ", node->b, tail);
    return;
  case TVMS_SURF_COMP_FOR:
    tvms_writer_put_text(w, "for ");
    tvms_format_item(w, node->a, 3);
    prefixed(w, " in ", node->b, tail);
    return;
  case TVMS_SURF_COMP_IF: prefixed(w, "if ", node->a, tail); return;
  case TVMS_SURF_PARAM: split_param(w, node, tail); return;
  case TVMS_SURF_SLICE: split_slice(w, node, tail); return;
  case TVMS_SURF_WITH_ITEM: split_with_item(w, node, tail); return;
  default: tvms_format_forced(w, ref, true); return;
  }
}

// Past the width no split helps, and one more level of indentation for each bracket makes the text
// grow with the square of the nesting. ruff goes on for ever; here it ends where nobody has
// written anything yet. Comments need their lines all the same.
enum { HOPELESS = 4 };  // times the width

static bool is_hopeless(const tvms_writer *w, tvms_ref ref) {
  if (w->indent / HOPELESS < w->width) return false;
  const tvms_surf *node = &w->nodes[ref];
  return w->comment_at
         >= (node->parens ? tvms_format_closing_columns(w, node->end) : node->end);
}

void tvms_format_split(tvms_writer *w, tvms_ref ref, bool bare, uint32_t tail) {
  if (is_hopeless(w, ref)) {
    tvms_format_forced(w, ref, bare);
    return;
  }
  if (!tvms_memory_enter(w->memory)) {
    w->too_deep = true;
  } else if (w->nodes[ref].parens && !bare) {
    tvms_format_in_parens(w, ref);
  } else {
    split_node(w, ref, tail);
  }
  tvms_memory_leave(w->memory);
}
