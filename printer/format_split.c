// An expression over several lines: at its last bracket, at its operators, or within
// parentheses of its own. Chains are walked, not recursed into, so that long ones cost
// time in proportion to their length.
#include "printer/format_walk.h"

typedef struct {
  size_t len;
  size_t line;
} place;

static place mark(const tvms_writer *w) {
  return (place){w->out->len, w->line};
}
static void back(tvms_writer *w, place to) {
  w->out->len = to.len;
  w->line = to.line;
}

// Tries the rest of the line, `tail` columns of which must stay free.
static bool try_flat(tvms_writer *w, tvms_ref ref, bool bare, uint32_t tail) {
  place here = mark(w);
  w->limit = w->width > tail ? w->width - tail : 0;
  if (tvms_write_flat(w, ref, bare)) return true;
  back(w, here);
  return false;
}

static void force(tvms_writer *w, tvms_ref ref, bool bare) {
  bool outer = w->forced;
  w->forced = true;
  (void)!tvms_write_flat(w, ref, bare);
  w->forced = outer;
}

static void indent(tvms_writer *w, int columns) {
  w->indent += (uint32_t)columns;
}

static void split(tvms_writer *w, tvms_ref ref, bool bare, uint32_t tail);

void tvms_write_item(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  if (!try_flat(w, ref, false, tail)) split(w, ref, false, tail);
}

static void write_bare(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  if (!try_flat(w, ref, true, tail)) split(w, ref, true, tail);
}

/* Brackets */

static bool flat_items(tvms_writer *w, const tvms_bracketed *b) {
  return b->index ? tvms_write_flat_index(w, b->index)
                  : tvms_write_flat_list(w, b->items);
}

static bool has_comment(const tvms_writer *w, const tvms_bracketed *b) {
  return w->comment_at < b->end;
}

static bool try_one_line(tvms_writer *w, const tvms_bracketed *b, uint32_t tail) {
  place here = mark(w);
  tvms_put_text(w, b->open);
  w->limit = w->width > tail + 1 ? w->width - tail - 1 : 0;
  if (flat_items(w, b)) {
    tvms_put_text(w, b->shut);
    return true;
  }
  back(w, here);
  return false;
}

// The only comment in the bracket may stand behind its opening.
static bool try_own_line(tvms_writer *w, const tvms_bracketed *b) {
  place here = mark(w);
  uint32_t comment = w->next;
  tvms_put_text(w, b->open);
  if (b->items) tvms_write_comments_behind(w, w->nodes[b->items].begin);
  indent(w, 4);
  tvms_new_line(w);
  indent(w, -4);
  w->limit = w->width;
  if (w->comment_at >= b->end && flat_items(w, b)) {
    tvms_new_line(w);
    tvms_put_text(w, b->shut);
    return true;
  }
  back(w, here);
  tvms_to_comment(w, comment);
  return false;
}

// Comments before the end of a bracket, each on its own line, after the last item.
static void comments_to_end(tvms_writer *w, uint32_t end) {
  while (w->comment_at < end) {
    tvms_new_line(w);
    tvms_write_comment(w, &w->surface->comments[w->next]);
    tvms_next_comment(w);
  }
}

static void one_a_line(tvms_writer *w, const tvms_bracketed *b) {
  tvms_put_text(w, b->open);
  if (b->items)
    tvms_write_comments_behind(w, w->nodes[b->items].begin);
  else
    tvms_write_comments_behind(w, b->end);
  // A lone item gets no comma that it had not: a tuple would come of it, or, in black's
  // view, nothing.
  bool lone = b->items && !w->nodes[b->items].next && !b->kept_open && !b->lone_comma;
  bool trailing = b->trailing && !lone;
  indent(w, 4);
  for (tvms_ref item = b->items; item;) {
    tvms_ref next = w->nodes[item].next;
    tvms_new_line(w);
    tvms_write_comments_before(w, w->nodes[item].begin);
    bool comma = next || trailing;
    tvms_write_item(w, item, comma);
    if (comma) tvms_put_char(w, ',');
    tvms_write_comments_behind(w, next ? w->nodes[next].begin : b->end);
    item = next;
  }
  comments_to_end(w, b->end);
  indent(w, -4);
  tvms_new_line(w);
  tvms_put_text(w, b->shut);
}

void tvms_write_brackets(tvms_writer *w, const tvms_bracketed *b, uint32_t tail) {
  bool open = b->kept_open || has_comment(w, b);
  if (!open && try_one_line(w, b, tail)) return;
  if (!b->items && !has_comment(w, b)) {
    tvms_put_text(w, b->open);
    tvms_put_text(w, b->shut);
    return;
  }
  if (!b->kept_open && !b->no_middle && try_own_line(w, b)) return;
  one_a_line(w, b);
}

// Where the bracket ends that closes behind `end`: over white space and comments.
static uint32_t shut_behind(const tvms_writer *w, uint32_t end) {
  const char *text = w->source;
  while (end < w->surface->source->size && text[end] != ')') {
    if (text[end] == '#') {
      while (end < w->surface->source->size && text[end] != '\n' && text[end] != '\r') {
        end++;
      }
    } else {
      end++;
    }
  }
  return end;
}

// "(", the node without its own parentheses on lines of its own, ")".
static void in_parens(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_put_char(w, '(');
  tvms_write_comments_behind(w, node->begin);
  indent(w, 4);
  tvms_new_line(w);
  tvms_write_comments_before(w, node->begin);
  write_bare(w, ref, 0);
  uint32_t end = node->parens ? shut_behind(w, node->end) : node->end;
  tvms_write_comments_behind(w, end);
  comments_to_end(w, end);
  indent(w, -4);
  tvms_new_line(w);
  tvms_put_char(w, ')');
}

/* Names, calls, subscripts */

static bool is_postfix(const tvms_surf *node) {
  return node->kind == TVMS_SURF_CALL || node->kind == TVMS_SURF_ATTRIBUTE
         || node->kind == TVMS_SURF_SUBSCRIPT;
}

// True if the trailer has a bracket with something in it.
static bool is_full(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->kind == TVMS_SURF_CALL) return node->b || w->comment_at < node->end;
  return node->kind == TVMS_SURF_SUBSCRIPT;
}

static bool is_lone_generator(const tvms_writer *w, tvms_ref items) {
  const tvms_surf *node = &w->nodes[items];
  return node->kind == TVMS_SURF_GENERATOR && !(node->flags & TVMS_SURF_PAREN)
         && !node->parens;
}

static tvms_bracketed brackets_of(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_bracketed b = {
      .end = node->end, .kept_open = tvms_is_kept_open(w, node), .trailing = true};
  switch ((int)node->kind) {
  case TVMS_SURF_CALL:
    b.open = "(";
    b.shut = ")";
    b.items = node->b;
    b.trailing = !is_lone_generator(w, node->b);
    break;
  case TVMS_SURF_SUBSCRIPT: {
    const tvms_surf *index = &w->nodes[node->b];
    bool tuple = index->kind == TVMS_SURF_TUPLE && !(index->flags & TVMS_SURF_PAREN)
                 && !index->parens;
    b.open = "[";
    b.shut = "]";
    b.index = node->b;
    b.items = tuple ? index->a : node->b;
    b.trailing = tuple;
    b.no_middle = b.lone_comma = tuple && !w->nodes[index->a].next;
    break;
  }
  case TVMS_SURF_TUPLE:
    b.open = "(";
    b.shut = ")";
    b.items = node->a;
    b.lone_comma = true;
    b.no_middle = true;
    break;
  case TVMS_SURF_LIST:
    b.open = "[";
    b.shut = "]";
    b.items = node->a;
    b.no_middle = node->a && w->nodes[node->a].next;
    break;
  default:
    b.open = "{";
    b.shut = "}";
    b.items = node->a;
    b.no_middle = node->a && w->nodes[node->a].next;
    break;
  }
  return b;
}

static void write_trailer(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->kind == TVMS_SURF_ATTRIBUTE) {
    tvms_put_char(w, '.');
    tvms_put_span(w, tvms_name_to(w, node->end));
    return;
  }
  tvms_bracketed b = brackets_of(w, ref);
  tvms_write_brackets(w, &b, tail);
}

// Collects the trailers of a chain, last one first. Returns what they hang on.
static tvms_ref collect(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  while (is_postfix(&w->nodes[ref])
         && (w->spine.len == base || !w->nodes[ref].parens)) {
    tvms_push(w->memory, &w->spine, ref);
    ref = w->nodes[ref].a;
  }
  return ref;
}

// The last trailer with a full bracket, as an index of the spine; `none` if there is none.
static uint32_t last_full(const tvms_writer *w, uint32_t base, uint32_t none) {
  for (uint32_t i = base; i < w->spine.len; i++) {
    if (is_full(w, w->spine.items[i])) return i;
  }
  return none;
}

static uint32_t tail_columns(const tvms_writer *w, uint32_t base, uint32_t full) {
  uint32_t columns = 0;
  for (uint32_t i = base; i < full; i++) {
    const tvms_surf *node = &w->nodes[w->spine.items[i]];
    tvms_span name = tvms_name_to(w, node->end);
    columns += node->kind == TVMS_SURF_ATTRIBUTE ? name.end - name.begin + 1 : 2;
  }
  return columns;
}

// Writes what stands before the bracket on one line, if it and the bracket fit there.
static bool try_head(tvms_writer *w, tvms_ref head) {
  place here = mark(w);
  if (try_flat(w, head, false, 1)) return true;
  back(w, here);
  return false;
}

static void split_postfix(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  uint32_t base = w->spine.len;
  tvms_ref object = collect(w, ref);
  uint32_t full = last_full(w, base, w->spine.len);
  uint32_t more = tail + tail_columns(w, base, full);
  uint32_t at = w->spine.len;
  if (full < w->spine.len && try_head(w, w->nodes[w->spine.items[full]].a)) {
    write_trailer(w, w->spine.items[full], more);
    at = full;
  } else {
    // Without a full bracket nothing can be split but the object itself.
    tvms_write_item(w, object, full < w->spine.len ? 1 : more);
    bool number = w->nodes[object].kind == TVMS_SURF_INT && !w->nodes[object].parens;
    if (number) tvms_put_char(w, ' ');
  }
  while (at > base) {
    at--;
    write_trailer(w, w->spine.items[at], at == base ? tail : 1);
  }
  w->spine.len = base;
}

/* Operators: each operand on its line, the operator before it */

static int rank_of(tvms_surf_op op) {
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

static bool is_operation(const tvms_surf *node) {
  return node->kind == TVMS_SURF_BINARY || node->kind == TVMS_SURF_BOOL;
}

static void next_line(tvms_writer *w, uint32_t begin) {
  tvms_write_comments_behind(w, begin);
  tvms_new_line(w);
  tvms_write_comments_before(w, begin);
}

static void split_operation(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  uint32_t base = w->spine.len;
  int rank = rank_of((tvms_surf_op)w->nodes[ref].op);
  do {
    tvms_push(w->memory, &w->spine, ref);
    ref = w->nodes[ref].a;
  } while (is_operation(&w->nodes[ref]) && !w->nodes[ref].parens
           && rank_of((tvms_surf_op)w->nodes[ref].op) == rank
           && rank != 5 + TVMS_OP_POWER);
  tvms_write_item(w, ref, 0);
  while (w->spine.len > base) {
    const tvms_surf *node = &w->nodes[w->spine.items[--w->spine.len]];
    next_line(w, w->nodes[node->b].begin);
    tvms_put_text(w, tvms_operator_text((tvms_surf_op)node->op));
    tvms_put_char(w, ' ');
    tvms_write_item(w, node->b, w->spine.len == base ? tail : 0);
  }
}

static void split_compare(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_write_item(w, node->a, 0);
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    const tvms_surf *compared = &w->nodes[part];
    next_line(w, w->nodes[compared->a].begin);
    tvms_put_text(w, tvms_operator_text((tvms_surf_op)compared->op));
    tvms_put_char(w, ' ');
    tvms_write_item(w, compared->a, compared->next ? 0 : tail);
  }
}

static void split_if_exp(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  for (;;) {
    tvms_write_item(w, node->a, 0);
    next_line(w, w->nodes[node->b].begin);
    tvms_put_text(w, "if ");
    tvms_write_item(w, node->b, 0);
    next_line(w, w->nodes[node->c].begin);
    tvms_put_text(w, "else ");
    const tvms_surf *other = &w->nodes[node->c];
    if (other->kind != TVMS_SURF_IF_EXP || other->parens
        || try_flat(w, node->c, false, tail)) {
      break;
    }
    node = other;
  }
  if (w->nodes[node->c].kind != TVMS_SURF_IF_EXP || w->nodes[node->c].parens) {
    tvms_write_item(w, node->c, tail);
  }
}

static void split_strings(tvms_writer *w, const tvms_surf *node) {
  for (tvms_ref piece = node->a; piece; piece = w->nodes[piece].next) {
    if (piece != node->a) next_line(w, w->nodes[piece].begin);
    force(w, piece, false);
  }
}

static void comp_lines(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_write_item(w, node->a, 0);
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    next_line(w, w->nodes[part].begin);
    tvms_write_item(w, part, w->nodes[part].next ? 0 : tail);
  }
}

static void split_comp(tvms_writer *w, const tvms_surf *node, const char *open,
                       const char *shut) {
  tvms_put_text(w, open);
  tvms_write_comments_behind(w, w->nodes[node->a].begin);
  indent(w, 4);
  tvms_new_line(w);
  tvms_write_comments_before(w, w->nodes[node->a].begin);
  place here = mark(w);
  w->limit = w->width;
  bool fine = w->comment_at >= node->end && tvms_write_flat(w, node->a, false);
  for (tvms_ref part = node->b; fine && part; part = w->nodes[part].next) {
    tvms_put_char(w, ' ');
    fine = tvms_write_flat(w, part, false);
  }
  if (!fine) {
    back(w, here);
    comp_lines(w, node, 0);
  }
  tvms_write_comments_behind(w, node->end);
  comments_to_end(w, node->end);
  indent(w, -4);
  tvms_new_line(w);
  tvms_put_text(w, shut);
}

/* Everything */

static void split_param(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  uint32_t stars = node->op == TVMS_OP_STAR          ? 1
                   : node->op == TVMS_OP_DOUBLE_STAR ? 2
                                                     : 0;
  tvms_put(w, "**", stars);
  if (node->op == TVMS_OP_SLASH) tvms_put_char(w, '/');
  if (node->a) tvms_put_text(w, tvms_text(w->surface->context, node->a));
  if (node->b) {
    tvms_put(w, ": ", 2);
    tvms_write_item(w, node->b, node->c ? 2 : tail);
  }
  if (node->c) {
    tvms_put_text(w, node->b ? " = " : "=");
    tvms_write_item(w, node->c, tail);
  }
}

static void split_with_item(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_write_item(w, node->a, node->b ? 4 : tail);
  if (!node->b) return;
  tvms_put_text(w, " as ");
  tvms_write_item(w, node->b, tail);
}

static void prefixed(tvms_writer *w, const char *prefix, tvms_ref ref, uint32_t tail) {
  tvms_put_text(w, prefix);
  tvms_write_item(w, ref, tail);
}

static void split_lambda(tvms_writer *w, const tvms_surf *node, uint32_t tail) {
  tvms_put_text(w, node->a ? "lambda " : "lambda");
  for (tvms_ref param = node->a; param; param = w->nodes[param].next) {
    if (param != node->a) tvms_put(w, ", ", 2);
    force(w, param, false);
  }
  prefixed(w, ": ", node->b, tail);
}

static void split_node(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_bracketed b;
  switch ((int)node->kind) {
  case TVMS_SURF_CALL:
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_SUBSCRIPT: split_postfix(w, ref, tail); return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
  case TVMS_SURF_SET:
  case TVMS_SURF_DICT:
    b = brackets_of(w, ref);
    tvms_write_brackets(w, &b, tail);
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
    prefixed(w, tvms_operator_text((tvms_surf_op)node->op), node->a, tail);
    return;
  case TVMS_SURF_STAR: prefixed(w, "*", node->a, tail); return;
  case TVMS_SURF_DOUBLE_STAR: prefixed(w, "**", node->a, tail); return;
  case TVMS_SURF_LAMBDA: split_lambda(w, node, tail); return;
  case TVMS_SURF_WALRUS:
    force(w, node->a, false);
    prefixed(w, " := ", node->b, tail);
    return;
  case TVMS_SURF_KEYWORD:
    tvms_put_span(w, tvms_name_from(w, node->begin));
    prefixed(w, "=", node->b, tail);
    return;
  case TVMS_SURF_PAIR:
    tvms_write_item(w, node->a, 1);
    prefixed(w, ": ", node->b, tail);
    return;
  case TVMS_SURF_COMP_FOR:
    tvms_put_text(w, "for ");
    tvms_write_item(w, node->a, 3);
    prefixed(w, " in ", node->b, tail);
    return;
  case TVMS_SURF_COMP_IF: prefixed(w, "if ", node->a, tail); return;
  case TVMS_SURF_PARAM: split_param(w, node, tail); return;
  case TVMS_SURF_WITH_ITEM: split_with_item(w, node, tail); return;
  default: force(w, ref, true); return;
  }
}

// Past the width no split helps, and one more level of indentation for each bracket would
// make the text grow with the square of the nesting. Comments need their lines all the same.
static bool is_hopeless(const tvms_writer *w, tvms_ref ref) {
  if (w->indent < w->width) return false;
  const tvms_surf *node = &w->nodes[ref];
  return w->comment_at >= (node->parens ? shut_behind(w, node->end) : node->end);
}

static void split(tvms_writer *w, tvms_ref ref, bool bare, uint32_t tail) {
  if (is_hopeless(w, ref)) {
    force(w, ref, bare);
    return;
  }
  if (!tvms_deeper(w->memory)) {
    w->too_deep = true;
  } else if (w->nodes[ref].parens && !bare) {
    in_parens(w, ref);
  } else {
    split_node(w, ref, tail);
  }
  tvms_shallower(w->memory);
}

/* Values of statements */

// True if a bracket of the value's own, with its opening on this line, can be split.
static bool splits_itself(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  switch ((int)node->kind) {
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
  case TVMS_SURF_SET:
  case TVMS_SURF_DICT: return node->a || w->comment_at < node->end;
  case TVMS_SURF_LIST_COMP:
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP:
  case TVMS_SURF_GENERATOR:
  case TVMS_SURF_STAR: return true;
  case TVMS_SURF_LAMBDA: return splits_itself(w, node->b);
  case TVMS_SURF_CALL:
  case TVMS_SURF_SUBSCRIPT:
  case TVMS_SURF_ATTRIBUTE: break;
  default: return false;
  }
  uint32_t base = w->spine.len;
  (void)collect(w, ref);
  uint32_t full = last_full(w, base, UINT32_MAX);
  bool itself = false;
  if (full != UINT32_MAX) {
    // Behind the last full bracket only attributes may stand, as black has it.
    place here = mark(w);
    itself = full == base && try_head(w, w->nodes[w->spine.items[full]].a);
    back(w, here);
  }
  w->spine.len = base;
  return itself;
}

static bool has_full(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  (void)collect(w, ref);
  bool found = last_full(w, base, UINT32_MAX) != UINT32_MAX;
  w->spine.len = base;
  return found;
}

// True if what stands before the first full bracket fits the line with it.
static bool fits_first(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  (void)collect(w, ref);
  uint32_t first = w->spine.len;
  while (first > base && !is_full(w, w->spine.items[first - 1])) {
    first--;
  }
  place here = mark(w);
  bool fits = first == base || try_head(w, w->nodes[w->spine.items[first - 1]].a);
  back(w, here);
  w->spine.len = base;
  return fits;
}

// True if the whole fits in parentheses, on a line of its own.
static bool fits_own_line(tvms_writer *w, tvms_ref ref) {
  place here = mark(w);
  indent(w, 4);
  tvms_new_line(w);
  bool fits = try_flat(w, ref, true, 0);
  indent(w, -4);
  back(w, here);
  return fits;
}

static bool is_operator(const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
  case TVMS_SURF_COMPARE:
  case TVMS_SURF_IF_EXP:
  case TVMS_SURF_STRINGS: return true;
  default: return false;
  }
}

// A single operator with an operand behind it that can be split at its last bracket: how
// black then splits the whole. Returns that operand, or 0; `*left` and `*op` come before.
static tvms_ref last_operand(const tvms_writer *w, tvms_ref ref, tvms_ref *left,
                             tvms_surf_op *op) {
  const tvms_surf *node = &w->nodes[ref];
  const tvms_surf *first = &w->nodes[node->a];
  *left = node->a;
  *op = (tvms_surf_op)node->op;
  if (is_operation(node)) {
    bool chain = is_operation(first) && !first->parens
                 && rank_of((tvms_surf_op)first->op) == rank_of(*op);
    return chain ? 0 : node->b;
  }
  if (node->kind != TVMS_SURF_COMPARE || w->nodes[node->b].next) return 0;
  *op = (tvms_surf_op)w->nodes[node->b].op;
  return w->nodes[node->b].a;
}

static bool try_last_operand(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  tvms_ref left;
  tvms_surf_op op;
  tvms_ref last = last_operand(w, ref, &left, &op);
  if (!last || w->nodes[last].parens || w->nodes[last].kind != TVMS_SURF_CALL)
    return false;
  place here = mark(w);
  bool fine = try_flat(w, left, false, 4);
  if (fine) {
    tvms_put_char(w, ' ');
    tvms_put_text(w, tvms_operator_text(op));
    tvms_put_char(w, ' ');
    fine = w->comment_at >= w->nodes[last].begin && splits_itself(w, last);
  }
  if (fine)
    split(w, last, false, tail);
  else
    back(w, here);
  return fine;
}

// The same with the only brackets around the first operand.
static bool try_first_operand(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  tvms_ref left;
  tvms_surf_op op;
  tvms_ref last = last_operand(w, ref, &left, &op);
  if (!last || !w->nodes[left].parens) return false;
  place here = mark(w);
  uint32_t comment = w->next;
  in_parens(w, left);
  tvms_put_char(w, ' ');
  tvms_put_text(w, tvms_operator_text(op));
  tvms_put_char(w, ' ');
  if (comment == w->next && try_flat(w, last, false, tail)) return true;
  back(w, here);
  tvms_to_comment(w, comment);
  return false;
}

static bool is_long_string(const tvms_writer *w, const tvms_surf *node) {
  return node->kind == TVMS_SURF_STRING
         && memchr(w->source + node->begin, '\n', node->end - node->begin);
}

void tvms_write_value(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  if (try_flat(w, ref, true, tail)) return;
  const tvms_surf *node = &w->nodes[ref];
  bool inside = node->parens && w->comment_at < shut_behind(w, node->end);
  if (inside && (w->comment_at < node->begin || w->comment_at >= node->end)) {
    in_parens(w, ref);
  } else if (is_long_string(w, node)) {
    force(w, ref, true);
  } else if (splits_itself(w, ref)) {
    split(w, ref, true, tail);
  } else if (node->kind == TVMS_SURF_WALRUS || node->kind == TVMS_SURF_LAMBDA) {
    in_parens(w, ref);
  } else if (is_operator(node)) {
    if (!try_last_operand(w, ref, tail) && !try_first_operand(w, ref, tail)) {
      in_parens(w, ref);
    }
  } else if (is_postfix(node) && has_full(w, ref)) {
    if (fits_own_line(w, ref) || !fits_first(w, ref))
      in_parens(w, ref);
    else
      split(w, ref, true, tail);
  } else if (fits_own_line(w, ref)) {
    in_parens(w, ref);
  } else {
    split(w, ref, true, tail);
  }
}
