// Brackets over several lines, and chains of names, calls and subscripts, which are split at
// their last bracket.
#include "format/brackets.h"

#include "format/flat.h"
#include "format/split.h"
#include "format/text.h"

static bool flat_items(tvms_writer *w, const tvms_bracketed *b) {
  return b->index ? tvms_format_flat_index(w, b->index)
                  : tvms_format_flat_list(w, b->items);
}

static bool has_comment(const tvms_writer *w, const tvms_bracketed *b) {
  return w->comment_at < b->end;
}

static bool try_one_line(tvms_writer *w, const tvms_bracketed *b, uint32_t tail) {
  tvms_point here = tvms_writer_mark(w);
  tvms_writer_put_text(w, b->open);
  bool one = b->tuple && b->items && !w->nodes[b->items].next;
  uint32_t rest = tail + 1 + one;
  w->limit = w->width > rest ? w->width - rest : 0;
  if (flat_items(w, b)) {
    if (one) tvms_writer_put_char(w, ',');
    tvms_writer_put_text(w, b->shut);
    return true;
  }
  tvms_writer_rewind(w, here);
  return false;
}

// The only comment in the bracket may stand behind its opening.
static bool try_own_line(tvms_writer *w, const tvms_bracketed *b) {
  tvms_point here = tvms_writer_mark(w);
  uint32_t comment = w->next;
  tvms_writer_put_text(w, b->open);
  if (b->items) tvms_format_comments_behind(w, w->nodes[b->items].begin);
  tvms_writer_indent(w, 4);
  tvms_writer_new_line(w);
  tvms_writer_indent(w, -4);
  w->limit = w->width;
  if (w->comment_at >= b->end && flat_items(w, b)) {
    tvms_writer_new_line(w);
    tvms_writer_put_text(w, b->shut);
    return true;
  }
  tvms_writer_rewind(w, here);
  tvms_format_to_comment(w, comment);
  return false;
}

// Comments before the end of a bracket, each on its own line, after the last item.
void tvms_format_comments_to(tvms_writer *w, uint32_t end) {
  while (w->comment_at < end) {
    tvms_writer_new_line(w);
    tvms_format_comment(w, &w->surface->comments[w->next]);
    tvms_format_next_comment(w);
  }
}

static void one_a_line(tvms_writer *w, const tvms_bracketed *b) {
  tvms_writer_put_text(w, b->open);
  if (b->items)
    tvms_format_comments_behind(w, w->nodes[b->items].begin);
  else
    tvms_format_comments_behind(w, b->end);
  // A lone item gets no comma that it had not: a tuple would come of it, or, in black's
  // view, nothing.
  bool lone = b->items && !w->nodes[b->items].next && !b->kept_open && !b->lone_comma;
  bool trailing = b->trailing && !lone;
  tvms_writer_indent(w, 4);
  for (tvms_ref item = b->items; item;) {
    tvms_ref next = w->nodes[item].next;
    tvms_writer_new_line(w);
    tvms_format_comments_before(w, w->nodes[item].begin);
    bool comma = next || trailing;
    uint32_t stop = next ? w->nodes[next].begin : b->end;
    tvms_format_item(w, item, comma + tvms_format_behind(w, w->nodes[item].end, stop));
    if (comma) tvms_writer_put_char(w, ',');
    tvms_format_comments_behind(w, stop);
    item = next;
  }
  tvms_format_comments_to(w, b->end);
  tvms_writer_indent(w, -4);
  tvms_writer_new_line(w);
  tvms_writer_put_text(w, b->shut);
}

void tvms_format_brackets(tvms_writer *w, const tvms_bracketed *b, uint32_t tail) {
  bool open = b->kept_open || has_comment(w, b);
  if (!open && try_one_line(w, b, tail)) return;
  if (!b->items && !has_comment(w, b)) {
    tvms_writer_put_text(w, b->open);
    tvms_writer_put_text(w, b->shut);
    return;
  }
  w->brackets++;
  bool middle = !b->kept_open && !b->no_middle && try_own_line(w, b);
  if (!middle) one_a_line(w, b);
  w->brackets--;
}

// Where the bracket ends that closes behind `end`: over white space and comments.
uint32_t tvms_format_closing_columns(const tvms_writer *w, uint32_t end) {
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
void tvms_format_in_parens(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_writer_put_char(w, '(');
  tvms_format_comments_behind(w, node->begin);
  tvms_writer_indent(w, 4);
  tvms_writer_new_line(w);
  tvms_format_comments_before(w, node->begin);
  w->brackets++;
  tvms_format_bare(w, ref, 0);
  w->brackets--;
  uint32_t end = node->parens ? tvms_format_closing_columns(w, node->end) : node->end;
  tvms_format_comments_behind(w, end);
  tvms_format_comments_to(w, end);
  tvms_writer_indent(w, -4);
  tvms_writer_new_line(w);
  tvms_writer_put_char(w, ')');
}

/* Names, calls, subscripts: split at the last bracket that holds something */

// True if the trailer has a bracket with something in it.
bool tvms_format_is_full(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->kind == TVMS_SURF_CALL) return node->b || w->comment_at < node->end;
  return node->kind == TVMS_SURF_SUBSCRIPT;
}

static bool is_lone_generator(const tvms_writer *w, tvms_ref items) {
  const tvms_surf *node = &w->nodes[items];
  return node->kind == TVMS_SURF_GENERATOR && !(node->flags & TVMS_SURF_PAREN)
         && !node->parens;
}

tvms_bracketed tvms_format_brackets_of(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_bracketed b = {.end = node->end,
                      .kept_open = tvms_format_is_kept_open(w, node),
                      .trailing = true};
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
    b.tuple = true;
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

void tvms_format_trailer(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->kind == TVMS_SURF_ATTRIBUTE) {
    tvms_writer_put_char(w, '.');
    tvms_writer_put_span(w, tvms_format_name_to(w, node->end));
    return;
  }
  tvms_bracketed b = tvms_format_brackets_of(w, ref);
  tvms_format_brackets(w, &b, tail);
}

// Collects the trailers of a chain, last one first. Returns what they hang on.
tvms_ref tvms_format_chain_of(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  while (tvms_format_is_postfix(&w->nodes[ref])
         && (w->spine.len == base || !w->nodes[ref].parens)) {
    tvms_vec_push(w->memory, &w->spine, ref);
    ref = w->nodes[ref].a;
  }
  return ref;
}

// The last trailer with a full bracket, as an index of the spine; `none` if there is none.
uint32_t tvms_format_last_full(const tvms_writer *w, uint32_t base, uint32_t none) {
  for (uint32_t i = base; i < w->spine.len; i++) {
    if (tvms_format_is_full(w, w->spine.items[i])) return i;
  }
  return none;
}

uint32_t tvms_format_trailer_columns(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->kind != TVMS_SURF_ATTRIBUTE) return 2;
  tvms_span name = tvms_format_name_to(w, node->end);
  return name.end - name.begin + 1;
}

// Writes what stands before the bracket on one line, if it and the bracket fit there.
bool tvms_format_try_head(tvms_writer *w, tvms_ref head) {
  tvms_point here = tvms_writer_mark(w);
  if (tvms_format_try_flat(w, head, false, 1)) return true;
  tvms_writer_rewind(w, here);
  return false;
}

// Whether a line may begin with the attribute: its object ends with a bracket.
static bool may_begin_line(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (node->kind != TVMS_SURF_ATTRIBUTE) return false;
  const tvms_surf *object = &w->nodes[node->a];
  return object->parens || object->kind == TVMS_SURF_CALL
         || object->kind == TVMS_SURF_SUBSCRIPT;
}

static bool is_fluent(const tvms_writer *w, uint32_t base) {
  uint32_t count = 0;
  for (uint32_t i = base; i < w->spine.len; i++)
    count += may_begin_line(w, w->spine.items[i]);
  return count > 1;
}

bool tvms_format_is_fluent(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  (void)tvms_format_chain_of(w, ref);
  bool fluent = is_fluent(w, base);
  w->spine.len = base;
  return fluent;
}

// Columns behind the trailer at `at` of the spine, up to where the next bracket opens that can
// be split or the next line begins, or to `tail` behind the chain.
static uint32_t columns_behind(const tvms_writer *w, uint32_t at, uint32_t base,
                               bool fluent, uint32_t tail) {
  uint32_t columns = 0;
  for (; at > base; at--) {
    tvms_ref next = w->spine.items[at - 1];
    if (fluent && may_begin_line(w, next)) return columns;
    if (tvms_format_is_full(w, next)) return columns + 1;
    columns += tvms_format_trailer_columns(w, next);
  }
  return columns + tail;
}

void tvms_format_split_postfix(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  uint32_t base = w->spine.len;
  tvms_ref object = tvms_format_chain_of(w, ref);
  uint32_t top = w->spine.len;
  bool fluent = w->brackets && is_fluent(w, base);
  tvms_format_item(w, object, columns_behind(w, top, base, fluent, tail));
  bool number = w->nodes[object].kind == TVMS_SURF_INT && !w->nodes[object].parens;
  if (number) tvms_writer_put_char(w, ' ');
  for (uint32_t at = top; at > base; at--) {
    tvms_ref trailer = w->spine.items[at - 1];
    if (fluent && may_begin_line(w, trailer)) tvms_writer_new_line(w);
    tvms_format_trailer(w, trailer, columns_behind(w, at - 1, base, fluent, tail));
  }
  w->spine.len = base;
}
