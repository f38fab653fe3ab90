// The value of a statement over several lines: at a bracket of its own if it has one that
// can be split there, in parentheses that are added if not, as black does it.
#include "format/value.h"

#include "format/brackets.h"
#include "format/omit.h"
#include "format/split.h"
#include "format/text.h"

#include <string.h>

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
  case TVMS_SURF_LAMBDA: return true;
  case TVMS_SURF_CALL:
  case TVMS_SURF_SUBSCRIPT:
  case TVMS_SURF_ATTRIBUTE: break;
  default: return false;
  }
  uint32_t base = w->spine.len;
  (void)tvms_format_chain_of(w, ref);
  uint32_t full = tvms_format_last_full(w, base, UINT32_MAX);
  bool itself = false;
  if (full != UINT32_MAX) {
    // Behind the last full bracket only attributes may stand, as black has it.
    tvms_point here = tvms_writer_mark(w);
    itself = full == base && tvms_format_try_head(w, w->nodes[w->spine.items[full]].a);
    tvms_writer_rewind(w, here);
  }
  w->spine.len = base;
  return itself;
}

static bool has_full(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  (void)tvms_format_chain_of(w, ref);
  bool found = tvms_format_last_full(w, base, UINT32_MAX) != UINT32_MAX;
  w->spine.len = base;
  return found;
}

// True if what stands before the first full bracket fits the line with it.
static bool fits_first(tvms_writer *w, tvms_ref ref) {
  uint32_t base = w->spine.len;
  (void)tvms_format_chain_of(w, ref);
  uint32_t first = w->spine.len;
  while (first > base && !tvms_format_is_full(w, w->spine.items[first - 1])) {
    first--;
  }
  tvms_point here = tvms_writer_mark(w);
  bool fits =
      first == base || tvms_format_try_head(w, w->nodes[w->spine.items[first - 1]].a);
  tvms_writer_rewind(w, here);
  w->spine.len = base;
  return fits;
}

// True if the whole fits in parentheses, on a line of its own.
static bool fits_own_line(tvms_writer *w, tvms_ref ref) {
  tvms_point here = tvms_writer_mark(w);
  tvms_writer_indent(w, 4);
  tvms_writer_new_line(w);
  bool fits = tvms_format_try_flat(w, ref, true, 0);
  tvms_writer_indent(w, -4);
  tvms_writer_rewind(w, here);
  return fits;
}

static bool has_long_line(tvms_writer *w, size_t from) {
  size_t line = w->line;
  bool found = !tvms_writer_fits(w, w->width);
  for (size_t i = from; i < w->out->len && !found; i++) {
    if (w->out->text[i] != '\n') continue;
    size_t next = i + 1, stop = next;
    while (stop < w->out->len && w->out->text[stop] != '\n') {
      stop++;
    }
    size_t len = w->out->len;
    w->line = next;
    w->out->len = stop;
    found = !tvms_writer_fits(w, w->width);
    w->out->len = len;
  }
  w->line = line;
  return found;
}

// Writes the value in parentheses if all its lines fit then: where even that does not help,
// they are left out.
static bool try_in_parens(tvms_writer *w, tvms_ref ref) {
  tvms_point here = tvms_writer_mark(w);
  bool comments = w->comment_at < w->nodes[ref].end;
  tvms_format_in_parens(w, ref);
  if (comments || !has_long_line(w, here.len)) return true;
  tvms_writer_rewind(w, here);
  return false;
}

static bool is_operator(const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
  case TVMS_SURF_COMPARE:
  case TVMS_SURF_IF_EXP:
  case TVMS_SURF_UNARY:
  case TVMS_SURF_STRINGS: return true;
  default: return false;
  }
}

// `~A[i]`, `not (a or b)`: what stands behind the sign is split, or nothing.
static bool is_signed(tvms_writer *w, tvms_ref ref) {
  if (w->nodes[ref].kind != TVMS_SURF_UNARY) return false;
  while (w->nodes[ref].kind == TVMS_SURF_UNARY && !w->nodes[w->nodes[ref].a].parens)
    ref = w->nodes[ref].a;
  tvms_ref operand = w->nodes[ref].kind == TVMS_SURF_UNARY ? w->nodes[ref].a : ref;
  if (w->nodes[operand].parens) return true;
  if (is_operator(&w->nodes[operand])) return false;
  bool chain = tvms_format_is_postfix(&w->nodes[operand]);
  return !chain || !tvms_format_is_fluent(w, operand);
}

static bool is_long_string(const tvms_writer *w, const tvms_surf *node) {
  return node->kind == TVMS_SURF_STRING
         && memchr(w->source + node->begin, '\n', node->end - node->begin);
}

// Whether a comment behind the value splits it: not one that has no place for that.
static bool yields(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (tvms_format_is_postfix(node)) return has_full(w, ref);
  return is_operator(node) || splits_itself(w, ref);
}

void tvms_format_value(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  bool firm = w->firm;
  w->firm = false;
  if (tvms_format_try_flat(w, ref, true, tail + w->behind)) return;
  if (w->behind && !yields(w, ref) && tvms_format_try_flat(w, ref, true, tail)) return;
  tail += w->behind;
  bool inside =
      node->parens && w->comment_at < tvms_format_closing_columns(w, node->end);
  if (inside && (w->comment_at < node->begin || w->comment_at >= node->end)) {
    tvms_format_in_parens(w, ref);
  } else if (tvms_format_is_postfix(node) && tvms_format_is_fluent(w, ref)) {
    tvms_format_in_parens(w, ref);
  } else if (is_long_string(w, node)) {
    tvms_format_forced(w, ref, true);
  } else if (splits_itself(w, ref)) {
    tvms_format_split(w, ref, true, tail);
  } else if (node->kind == TVMS_SURF_WALRUS) {
    tvms_format_in_parens(w, ref);
  } else if (node->kind == TVMS_SURF_LAMBDA) {
    tvms_format_split(w, ref, true, tail);
  } else if (is_signed(w, ref)) {
    tvms_format_split(w, ref, true, tail);
  } else if (is_operator(node)) {
    if (!tvms_format_omit(w, ref, tail)) tvms_format_in_parens(w, ref);
  } else if (tvms_format_is_postfix(node) && has_full(w, ref)) {
    if (tvms_format_omit(w, ref, tail)) return;
    if (tvms_writer_columns(w) >= w->width)  // no place for the parenthesis either
      tvms_format_split(w, ref, true, tail);
    else if (fits_own_line(w, ref))
      tvms_format_in_parens(w, ref);
    else if (fits_first(w, ref))
      tvms_format_split(w, ref, true, tail);
    else if (firm)
      tvms_format_in_parens(w, ref);
    else if (!try_in_parens(w, ref))
      tvms_format_split(w, ref, true, tail);
  } else if (firm || fits_own_line(w, ref)) {
    tvms_format_in_parens(w, ref);
  } else {
    tvms_format_split(w, ref, true, tail);
  }
}

void tvms_format_body(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  bool whole = is_operator(node) || node->kind == TVMS_SURF_LAMBDA;
  if (whole && !tvms_format_try_flat(w, ref, true, tail))
    tvms_format_in_parens(w, ref);
  else if (!whole)
    tvms_format_value(w, ref, tail);
}
