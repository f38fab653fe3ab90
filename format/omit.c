// Values over several lines without parentheses around them.
//
// The brackets of a value that are in no other bracket are its own. First every line is
// measured as if each of them were open; if one is too long, parentheses are wanted. Then
// they are written from left to right, each on one line if what follows it, up to where the
// next one opens, fits behind it.
#include "format/omit.h"

#include "format/brackets.h"
#include "format/flat.h"
#include "format/split.h"
#include "format/text.h"

/* Which values */

// Precedence, from that which binds most.
enum {
  NONE,
  ATTRIBUTE,
  POWER,
  INVERT,
  PRODUCT,
  SUM,
  SHIFT,
  BIT_AND,
  BIT_XOR,
  BIT_OR,
  COMPARE,
  BOOLEAN,
  CONDITIONAL,
  TEXTS
};

typedef struct {
  int precedence;  // the lowest one
  uint32_t count;  // of its operators
  bool brackets;   // there is something in brackets
  bool begun;      // `first` is known
  tvms_ref first;  // what the value begins with; 0: an operator
  tvms_ref last;
} visit;

static void meet(visit *v, int precedence, uint32_t count) {
  if (precedence > v->precedence) {
    v->precedence = precedence;
    v->count = count;
  } else if (precedence == v->precedence) {
    v->count += count;
  }
}

static int rank_of(const tvms_surf *node) {
  if (node->kind == TVMS_SURF_BOOL) return BOOLEAN;
  switch ((int)node->op) {
  case TVMS_OP_POWER: return POWER;
  case TVMS_OP_ADD:
  case TVMS_OP_SUB: return SUM;
  case TVMS_OP_SHIFT_LEFT:
  case TVMS_OP_SHIFT_RIGHT: return SHIFT;
  case TVMS_OP_BIT_AND: return BIT_AND;
  case TVMS_OP_BIT_XOR: return BIT_XOR;
  case TVMS_OP_BIT_OR: return BIT_OR;
  default: return PRODUCT;
  }
}

static bool is_display(const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
  case TVMS_SURF_SET:
  case TVMS_SURF_DICT:
  case TVMS_SURF_LIST_COMP:
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP:
  case TVMS_SURF_GENERATOR: return true;
  default: return false;
  }
}

// Has it brackets at its end, be they empty?
static bool has_brackets(const tvms_surf *node) {
  return node->parens || is_display(node) || node->kind == TVMS_SURF_CALL
         || node->kind == TVMS_SURF_SUBSCRIPT;
}

static bool has_full_brackets(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  if (!ref) return false;
  // A subscript is split only where nothing else can be.
  if (node->kind == TVMS_SURF_SUBSCRIPT && !node->parens) return false;
  if (node->parens) return true;
  if (is_display(node)) return node->a;
  return tvms_format_is_full(w, ref);
}

static void look(tvms_writer *w, visit *v, tvms_ref ref);

// What is in the value, parentheses around the whole aside.
static void look_inside(tvms_writer *w, visit *v, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  switch ((int)node->kind) {
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
    look(w, v, node->a);
    meet(v, rank_of(node), 1);
    look(w, v, node->b);
    return;
  case TVMS_SURF_COMPARE:
    look(w, v, node->a);
    for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
      meet(v, COMPARE, 1);
      look(w, v, w->nodes[part].a);
    }
    return;
  case TVMS_SURF_IF_EXP: meet(v, CONDITIONAL, 2); return;
  case TVMS_SURF_STRINGS: meet(v, TEXTS, 2); return;
  case TVMS_SURF_UNARY:
    if (node->op == TVMS_OP_INVERT) meet(v, INVERT, 1);
    v->begun = true;
    look(w, v, node->a);
    return;
  case TVMS_SURF_ATTRIBUTE:
    look(w, v, node->a);
    if (has_brackets(&w->nodes[node->a])) meet(v, ATTRIBUTE, 1);
    v->last = ref;
    return;
  case TVMS_SURF_CALL:
  case TVMS_SURF_SUBSCRIPT:
    v->brackets = true;
    look(w, v, node->a);
    v->last = ref;
    return;
  default: v->brackets |= is_display(node); return;
  }
}

static void look(tvms_writer *w, visit *v, tvms_ref ref) {
  v->last = ref;
  if (!tvms_memory_enter(w->memory)) {
    v->count = 2;  // not a value to be clever about
    v->precedence = TEXTS;
  } else if (w->nodes[ref].parens) {
    v->brackets = true;
  } else {
    look_inside(w, v, ref);
  }
  tvms_memory_leave(w->memory);
  if (!v->begun) v->first = ref;
  v->begun = true;
}

static bool may_omit(tvms_writer *w, tvms_ref ref) {
  visit v = {0};
  look_inside(w, &v, ref);
  if (!v.brackets || v.count > 1) return false;
  return v.precedence <= ATTRIBUTE || has_full_brackets(w, v.last)
         || has_full_brackets(w, v.first);
}

/* Comments */

// How many of the comments that come next begin in the span.
static uint32_t comments_in(const tvms_writer *w, uint32_t begin, uint32_t end) {
  const tvms_surface *surface = w->surface;
  uint32_t count = 0;
  for (uint32_t i = w->next; i < surface->comment_count; i++) {
    if (surface->comments[i].begin >= end) break;
    count += surface->comments[i].begin >= begin;
  }
  return count;
}

// How many of them are in own brackets of the node.
static uint32_t comments_inside(tvms_writer *w, tvms_ref ref, bool bare) {
  const tvms_surf *node = &w->nodes[ref];
  if (!comments_in(w, node->begin, node->end) && (bare || !node->parens)) return 0;
  if (node->parens && !bare) {
    // A comment may stand in front of what the parentheses hold.
    uint32_t begin = node->begin;
    while (begin > 0 && w->source[begin - 1] != '(')
      begin--;
    return comments_in(w, begin, tvms_format_closing_columns(w, node->end));
  }
  if (!tvms_memory_enter(w->memory)) {
    tvms_memory_leave(w->memory);
    return 0;
  }
  uint32_t count = 0;
  switch ((int)node->kind) {
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
    count = comments_inside(w, node->a, false) + comments_inside(w, node->b, false);
    break;
  case TVMS_SURF_COMPARE:
    count = comments_inside(w, node->a, false);
    for (tvms_ref part = node->b; part; part = w->nodes[part].next)
      count += comments_inside(w, w->nodes[part].a, false);
    break;
  case TVMS_SURF_UNARY:
  case TVMS_SURF_ATTRIBUTE: count = comments_inside(w, node->a, false); break;
  case TVMS_SURF_CALL:
  case TVMS_SURF_SUBSCRIPT:
    count = comments_inside(w, node->a, false)
            + comments_in(w, w->nodes[node->a].end, node->end);
    break;
  default:
    if (is_display(node)) count = comments_in(w, node->begin, node->end);
  }
  tvms_memory_leave(w->memory);
  return count;
}

static bool has_other_comments(tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  return comments_in(w, 0, node->end) != comments_inside(w, ref, true);
}

/* Measuring */

// The end of the text up to the next bracket that is open.
typedef struct {
  uint32_t columns;
  bool open;  // a bracket ended it
} reach;

static uint32_t flat_columns(tvms_writer *w, tvms_ref ref, bool bare) {
  tvms_point here = tvms_writer_mark(w);
  w->line = w->out->len;
  tvms_format_forced(w, ref, bare);
  uint32_t columns = tvms_writer_columns(w);
  tvms_writer_rewind(w, here);
  return columns;
}

static uint32_t operator_columns(tvms_surf_op op) {
  return (uint32_t)strlen(tvms_surface_operator_text(op)) + 2;
}

// Up to the first own bracket of a node. With `col`, on through all of them, each open: false
// if a line is too long then.
static bool measure(tvms_writer *w, tvms_ref ref, bool bare, reach *to, uint32_t *col);

static bool step(tvms_writer *w, reach *to, uint32_t *col, uint32_t columns) {
  if (!to->open) to->columns += columns;
  if (!col) return true;
  *col += columns;
  return *col <= w->width;
}

static bool open_bracket(tvms_writer *w, reach *to, uint32_t *col) {
  bool fits = step(w, to, col, 1);
  to->open = true;
  if (col) *col = w->indent + 1;
  return fits;
}

static bool measure_chain(tvms_writer *w, tvms_ref ref, reach *to, uint32_t *col) {
  uint32_t base = w->spine.len;
  tvms_ref object = tvms_format_chain_of(w, ref);
  bool fits = measure(w, object, false, to, col);
  for (uint32_t i = w->spine.len; fits && i > base; i--) {
    tvms_ref trailer = w->spine.items[i - 1];
    fits = tvms_format_is_full(w, trailer)
               ? open_bracket(w, to, col)
               : step(w, to, col, tvms_format_trailer_columns(w, trailer));
  }
  w->spine.len = base;
  return fits;
}

static bool measure_inside(tvms_writer *w, tvms_ref ref, reach *to, uint32_t *col) {
  const tvms_surf *node = &w->nodes[ref];
  switch ((int)node->kind) {
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
    return measure(w, node->a, false, to, col)
           && step(w, to, col, operator_columns((tvms_surf_op)node->op))
           && measure(w, node->b, false, to, col);
  case TVMS_SURF_COMPARE:
    if (!measure(w, node->a, false, to, col)) return false;
    for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
      const tvms_surf *one = &w->nodes[part];
      bool fits = step(w, to, col, operator_columns((tvms_surf_op)one->op))
                  && measure(w, one->a, false, to, col);
      if (!fits) return false;
    }
    return true;
  case TVMS_SURF_UNARY:
    return step(w, to, col,
                (uint32_t)strlen(tvms_format_prefix((tvms_surf_op)node->op)))
           && measure(w, node->a, false, to, col);
  case TVMS_SURF_CALL:
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_SUBSCRIPT: return measure_chain(w, ref, to, col);
  default:
    if (is_display(node) && node->a) return open_bracket(w, to, col);
    return step(w, to, col, flat_columns(w, ref, true));
  }
}

static bool measure(tvms_writer *w, tvms_ref ref, bool bare, reach *to, uint32_t *col) {
  if (to->open && !col) return true;
  if (w->nodes[ref].parens && !bare) return open_bracket(w, to, col);
  bool fits = tvms_memory_enter(w->memory) && measure_inside(w, ref, to, col);
  tvms_memory_leave(w->memory);
  return fits;
}

uint32_t tvms_format_lead(tvms_writer *w, tvms_ref ref, bool bare, uint32_t follow) {
  reach to = {0, false};
  (void)measure(w, ref, bare, &to, NULL);
  return to.columns + (to.open ? 0 : follow);
}

/* Writing */

static void write_own(tvms_writer *w, tvms_ref ref, bool bare, uint32_t follow);

static void write_operator(tvms_writer *w, tvms_surf_op op) {
  tvms_writer_put_char(w, ' ');
  tvms_writer_put_text(w, tvms_surface_operator_text(op));
  tvms_writer_put_char(w, ' ');
}

static void write_compare(tvms_writer *w, const tvms_surf *node, uint32_t follow) {
  tvms_ref before = node->a;
  for (tvms_ref part = node->b; part; part = w->nodes[part].next) {
    const tvms_surf *one = &w->nodes[part];
    tvms_surf_op op = (tvms_surf_op)one->op;
    write_own(w, before, false,
              operator_columns(op)
                  + tvms_format_lead(w, one->a, false, one->next ? 1 : follow));
    write_operator(w, op);
    before = one->a;
  }
  write_own(w, before, false, follow);
}

static void write_inside(tvms_writer *w, tvms_ref ref, uint32_t follow) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_surf_op op = (tvms_surf_op)node->op;
  switch ((int)node->kind) {
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
    write_own(w, node->a, false,
              operator_columns(op) + tvms_format_lead(w, node->b, false, follow));
    write_operator(w, op);
    write_own(w, node->b, false, follow);
    return;
  case TVMS_SURF_COMPARE: write_compare(w, node, follow); return;
  case TVMS_SURF_UNARY:
    tvms_writer_put_text(w, tvms_format_prefix(op));
    write_own(w, node->a, false, follow);
    return;
  case TVMS_SURF_CALL:
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_SUBSCRIPT: tvms_format_split_postfix(w, ref, follow); return;
  default:
    if (is_display(node) && node->a)
      tvms_format_split(w, ref, true, follow);
    else
      tvms_format_forced(w, ref, true);
    return;
  }
}

static void write_own(tvms_writer *w, tvms_ref ref, bool bare, uint32_t follow) {
  if (tvms_format_try_flat(w, ref, bare, follow)) return;
  if (!tvms_memory_enter(w->memory))
    w->too_deep = true;
  else if (w->nodes[ref].parens && !bare)
    tvms_format_in_parens(w, ref);
  else
    write_inside(w, ref, follow);
  tvms_memory_leave(w->memory);
}

bool tvms_format_omit(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  if (!may_omit(w, ref) || has_other_comments(w, ref)) return false;
  reach to = {0, false};
  uint32_t col = tvms_writer_columns(w);
  if (!measure(w, ref, true, &to, &col) || col + tail > w->width) return false;
  write_own(w, ref, true, tail);
  return true;
}
