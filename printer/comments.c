// Comments of the source beside the statements that they belong to, for programs that are
// written anew. Everything is written once: what belongs to no line that is printed stands
// above the next one of its function, or at the end.
#include "printer/comments.h"

#include "printer/state.h"

// The first comment that belongs to `offset` or what follows it.
static uint32_t find(const tvms_printer *p, uint32_t offset) {
  uint32_t low = 0, high = p->comment_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->comments[middle].anchor < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_function(const tvms_node *node) {
  return node->kind == TVMS_NODE_PRIM_FUNC || node->kind == TVMS_NODE_FUNCTION;
}

void tvms_print_take_comments(tvms_printer *p, const tvms_node *node) {
  if (p->out != &p->main) return;
  if (is_function(node)) p->above = p->next = find(p, node->span.begin);
  uint32_t anchor = node->span.begin;
  while (p->next < p->comment_count && p->comments[p->next].anchor <= anchor) {
    const tvms_print_comment *comment = &p->comments[p->next++];
    if (comment->anchor == anchor && !comment->own_line && !p->tail) p->tail = p->next;
  }
}

static void put(tvms_printer *p, uint32_t index) {
  tvms_strbuf_add(p->out, p->comments[index].text, p->comments[index].len);
  p->written[index] = true;
}

void tvms_print_above(tvms_printer *p) {
  for (; p->above < p->next; p->above++) {
    if (p->written[p->above] || p->above + 1 == p->tail) continue;
    tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * 4);
    put(p, p->above);
    tvms_strbuf_putc(p->out, '\n');
  }
}

void tvms_print_rest_comments(tvms_printer *p, const tvms_node *function) {
  if (p->out != &p->main || !function->span.end) return;
  while (p->next < p->comment_count
         && p->comments[p->next].anchor < function->span.end) {
    p->next++;
  }
  tvms_print_above(p);
}

void tvms_print_tail(tvms_printer *p) {
  if (p->out != &p->main) return;
  if (!p->written[p->tail - 1]) {
    PUT(p, "  ");
    put(p, p->tail - 1);
  }
  p->tail = 0;
}

void tvms_print_left_comments(tvms_printer *p, uint32_t anchor) {
  for (uint32_t i = 0; i < p->comment_count && p->comments[i].anchor < anchor; i++) {
    if (p->written[i]) continue;
    put(p, i);
    tvms_strbuf_putc(p->out, '\n');
  }
}
