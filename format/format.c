// Statements: one a line, four spaces a level. Blank lines and comments between them are
// those of format/lines.c, expressions those of format/flat.c and format/split.c.
//
// Layout is decided from the outside in, as black does. A statement is tried on one line; if it
// does not fit, or holds a comment or a list that a trailing comma keeps open, its outermost
// bracket or operator is split and every piece is tried on a line of its own. An attempt gives
// up where the line ends, so it costs no more than a line. Comments are not nodes: each is
// written when the text comes to its place, on the line that it ended or on one of its own, and
// `next` of the writer says which are left; none can be lost without the proof of
// format/check.c noticing.
#include "format/format.h"

#include "format/brackets.h"
#include "format/file.h"
#include "format/flat.h"
#include "format/lines.h"
#include "format/omit.h"
#include "format/pyfunc.h"
#include "format/split.h"
#include "format/text.h"
#include "format/value.h"

enum { STEP = 4 };

/* Simple statements */

static void word(tvms_writer *w, const char *text) {
  tvms_writer_put_text(w, text);
}

// Whether another statement stands between `from` and the comment of the line: each gets a
// line of its own, and the comment goes with the last.
static bool is_followed(const tvms_writer *w, uint32_t from) {
  bool ended = false;
  for (uint32_t i = from; i < w->comment_at; i++) {
    char c = w->source[i];
    if (ended && c != ' ' && c != '\t' && c != '\f') return true;
    ended = ended || c == ';';
  }
  return false;
}

// Columns of the comment that ends the line of what ends at `from`.
static uint32_t behind(const tvms_writer *w, uint32_t from, uint32_t end) {
  bool there = w->comment_at >= from && w->comment_at < end
               && tvms_format_lines_between(w, from, w->comment_at) == 0
               && !is_followed(w, from);
  return there ? tvms_format_behind(w, from, end) : 0;
}

// Writes the last value of a statement or header, which ends at `end`: a comment behind it
// counts.
static void last_value(tvms_writer *w, tvms_ref ref, uint32_t tail, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  uint32_t from = node->parens ? tvms_format_closing_columns(w, node->end) : node->end;
  w->behind = behind(w, from, end);
  tvms_format_value(w, ref, tail);
  w->behind = 0;
}

static void write_list(tvms_writer *w, const char *keyword, tvms_ref list) {
  word(w, keyword);
  for (tvms_ref item = list; item; item = w->nodes[item].next) {
    if (item != list) tvms_writer_put(w, ", ", 2);
    tvms_format_value(w, item, 0);
  }
}

// A list of names that may not stand in parentheses, however long.
static void write_names(tvms_writer *w, const char *keyword, tvms_ref list) {
  word(w, keyword);
  w->forced = true;
  (void)!tvms_format_flat_list(w, list);
  w->forced = false;
}

// Whether a trailing comma of the node keeps its list open.
static bool is_kept(const tvms_writer *w, const tvms_surf *node) {
  return (node->flags & TVMS_SURF_COMMA) && !w->joins;
}

static void write_from(tvms_writer *w, const tvms_surf *node) {
  word(w, "from ");
  tvms_strbuf_fill(w->out, '.', node->op);
  if (node->a) word(w, tvms_symbol_text(w->surface->context, node->a));
  word(w, " import ");
  if (!node->b) {
    word(w, "*");
    return;
  }
  size_t here = w->out->len;
  bool open = is_kept(w, node) || w->comment_at < node->end;
  w->limit = w->width;
  if (!open && tvms_format_flat_list(w, node->b)) return;
  w->out->len = here;
  tvms_bracketed b = {.open = "(",
                      .shut = ")",
                      .items = node->b,
                      .end = node->end,
                      .kept_open = true,
                      .trailing = true};
  tvms_format_brackets(w, &b, 0);
}

// A target needs no parentheses around its tuple if that fits the line.
static void write_target(tvms_writer *w, tvms_ref ref, uint32_t tail) {
  const tvms_surf *node = &w->nodes[ref];
  bool tuple = node->kind == TVMS_SURF_TUPLE && (node->flags & TVMS_SURF_PAREN)
               && !node->parens && node->a && w->nodes[node->a].next;
  if (tuple && !(node->flags & TVMS_SURF_COMMA) && w->comment_at >= node->end) {
    size_t len = w->out->len;
    w->limit = w->width > tail ? w->width - tail : 0;
    if (tvms_format_flat_list(w, node->a)) return;
    w->out->len = len;
  }
  tvms_format_value(w, ref, tail);
}

// Whether what stands in front of '=' ends with a bracket that could be split: ruff puts the
// value in parentheses then, however long its lines are.
static bool is_splittable(const tvms_surf *target) {
  switch ((int)target->kind) {
  case TVMS_SURF_CALL:
  case TVMS_SURF_SUBSCRIPT:
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: return true;
  default: return false;
  }
}

static void write_assign(tvms_writer *w, const tvms_surf *node) {
  for (tvms_ref target = node->a; target; target = w->nodes[target].next) {
    write_target(w, target, 4);
    word(w, " = ");
  }
  const tvms_surf *target = &w->nodes[node->a];
  w->firm = target->next || is_splittable(target);
  last_value(w, node->b, 0, UINT32_MAX);
}

static void write_annotated(tvms_writer *w, const tvms_surf *node) {
  // The parentheses of `(x): int` are not decoration: they make x no local variable.
  tvms_format_item(w, node->a, 1);
  word(w, ": ");
  if (!node->c) {
    last_value(w, node->b, 0, UINT32_MAX);
    return;
  }
  tvms_format_value(w, node->b, 4);
  word(w, " = ");
  w->firm = is_splittable(&w->nodes[node->b]);
  last_value(w, node->c, 0, UINT32_MAX);
}

static void write_assert(tvms_writer *w, const tvms_surf *node) {
  word(w, "assert ");
  tvms_format_value(w, node->a, node->b ? 1 : 0);
  if (!node->b) return;
  word(w, ", ");
  tvms_format_value(w, node->b, 0);
}

// Writes an expression that is a statement, in the parentheses that it has: they stay, and a
// comment behind them counts.
static void in_own_parens(tvms_writer *w, tvms_ref ref) {
  uint32_t from = tvms_format_closing_columns(w, w->nodes[ref].end);
  tvms_format_item(w, ref, behind(w, from, UINT32_MAX));
}

static void write_simple(tvms_writer *w, const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_EXPRESSION:
    if (w->nodes[node->a].parens)
      in_own_parens(w, node->a);
    else if (tvms_format_is_postfix(&w->nodes[node->a]))
      tvms_format_item(w, node->a, behind(w, node->end, UINT32_MAX));
    else
      last_value(w, node->a, 0, UINT32_MAX);
    return;
  case TVMS_SURF_ASSIGN: write_assign(w, node); return;
  case TVMS_SURF_ANN_ASSIGN: write_annotated(w, node); return;
  case TVMS_SURF_AUG_ASSIGN:
    tvms_format_value(w, node->a, 4);
    tvms_writer_put_char(w, ' ');
    word(w, tvms_surface_operator_text((tvms_surf_op)node->op));
    word(w, "= ");
    last_value(w, node->b, 0, UINT32_MAX);
    return;
  case TVMS_SURF_RETURN:
    word(w, node->a ? "return " : "return");
    if (node->a) last_value(w, node->a, 0, UINT32_MAX);
    return;
  case TVMS_SURF_ASSERT: write_assert(w, node); return;
  case TVMS_SURF_PASS: word(w, "pass"); return;
  case TVMS_SURF_BREAK: word(w, "break"); return;
  case TVMS_SURF_CONTINUE: word(w, "continue"); return;
  case TVMS_SURF_DELETE: write_list(w, "del ", node->a); return;
  case TVMS_SURF_GLOBAL: write_names(w, "global ", node->a); return;
  case TVMS_SURF_NONLOCAL: write_names(w, "nonlocal ", node->a); return;
  case TVMS_SURF_IMPORT: write_names(w, "import ", node->a); return;
  default: write_from(w, node); return;
  }
}

/* Compound statements */

// Offset of the word `else` that stands behind `from`, over comments.
static uint32_t find_else(const tvms_writer *w, uint32_t from) {
  while (w->source[from] != 'e') {
    if (w->source[from] == '#') {
      while (w->source[from] != '\n' && w->source[from] != '\r') {
        from++;
      }
    } else {
      from++;
    }
  }
  return from;
}

static uint32_t last_end(const tvms_writer *w, tvms_ref list) {
  while (w->nodes[list].next) {
    list = w->nodes[list].next;
  }
  return w->nodes[list].end;
}

// Puts the source's text of a header of one line in the place of the formatted one.
static void keep_header(tvms_writer *w, uint32_t at) {
  uint32_t begin = at - tvms_source_indent(w->surface->source, at);
  while (w->source[begin] == ' ' || w->source[begin] == '\t'
         || w->source[begin] == '\f') {
    begin++;
  }
  while (at > begin && (w->source[at - 1] == ' ' || w->source[at - 1] == '\t')) {
    at--;
  }
  w->out->len = w->begun;
  tvms_writer_put_span(w, (tvms_span){begin, at});
}

// True if the header that ends at `from` and its comment stand on one line of the source.
static bool is_one_line(const tvms_writer *w, tvms_ref opener, uint32_t from) {
  const tvms_surf *node = &w->nodes[opener];
  uint32_t begin =
      tvms_format_is_definition(node) ? w->nodes[node->b].begin : node->begin;
  if (strncmp(w->source + from, "else", 4) == 0) begin = from;
  return tvms_format_lines_between(w, begin, w->comment_at) == 0;
}

// ':' and the body. `from` is where the header's text ends, `end` where what follows the
// statement begins.
static void write_suite(tvms_writer *w, tvms_ref opener, uint32_t from, tvms_ref body,
                        uint32_t end) {
  tvms_writer_put_char(w, ':');
  tvms_format_leftovers(w, from);
  uint32_t first = w->nodes[body].begin;
  bool behind = w->comment_at < first && !w->surface->comments[w->next].own_line;
  if (behind) {
    if (tvms_format_comment_is(w, w->next, TVMS_DIRECTIVE_SKIP)
        && is_one_line(w, opener, from)) {
      keep_header(w, w->comment_at);
    }
    tvms_writer_put(w, "  ", 2);
    tvms_format_comment(w, &w->surface->comments[w->next]);
    tvms_format_next_comment(w);
  }
  tvms_format_end_line(w);
  w->indent += STEP;
  tvms_format_block(w, body, end, opener, from);
  w->indent -= STEP;
}

// The part of `opener` that `else` at `other` begins.
static void write_else(tvms_writer *w, tvms_ref opener, uint32_t other, tvms_ref body,
                       uint32_t end) {
  while (w->comment_at < other) {
    tvms_format_own_line(w, 0);
  }
  tvms_format_start_line(w);
  word(w, "else");
  write_suite(w, opener, other, body, end);
}

static void write_if(tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  word(w, "if ");
  for (;;) {
    last_value(w, node->a, 1, w->nodes[node->b].begin);
    const tvms_surf *other = &w->nodes[node->c];
    bool elif = node->c && (other->flags & TVMS_SURF_ELIF);
    uint32_t body_end = last_end(w, node->b);
    uint32_t next = !node->c ? end : elif ? other->begin : find_else(w, body_end);
    write_suite(w, (tvms_ref)(node - w->nodes), w->nodes[node->a].end, node->b, next);
    if (!node->c) return;
    if (!elif) {
      write_else(w, ref, next, node->c, end);
      return;
    }
    while (w->comment_at < other->begin) {
      tvms_format_own_line(w, 0);
    }
    tvms_format_start_line(w);
    word(w, "elif ");
    node = other;
  }
}

static void write_loop_end(tvms_writer *w, tvms_ref ref, uint32_t header, tvms_ref body,
                           tvms_ref other, uint32_t end) {
  uint32_t next = other ? find_else(w, last_end(w, body)) : end;
  write_suite(w, ref, header, body, next);
  if (other) write_else(w, ref, next, other, end);
}

static void write_for(tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  const tvms_surf *suites = &w->nodes[node->c];
  word(w, "for ");
  write_target(w, node->a, 4 + tvms_format_lead(w, node->b, true, 1));
  word(w, " in ");
  last_value(w, node->b, 1, w->nodes[suites->a].begin);
  write_loop_end(w, ref, w->nodes[node->b].end, suites->a, suites->b, end);
}

static void write_with(tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_ref last = node->a;
  while (w->nodes[last].next) {
    last = w->nodes[last].next;
  }
  uint32_t header = w->nodes[last].end;
  word(w, "with ");
  size_t here = w->out->len;
  bool several = node->a != last;
  bool open = is_kept(w, node) || (several && w->comment_at < header);
  w->limit = w->width - 1;
  bool single = !several && !open && !w->nodes[last].b;
  if (single) {
    last_value(w, w->nodes[last].a, 1, w->nodes[node->b].begin);
  } else if (open || !tvms_format_flat_list(w, node->a)) {
    w->out->len = here;
    tvms_bracketed b = {.open = "(",
                        .shut = ")",
                        .items = node->a,
                        .end = header,
                        .kept_open = is_kept(w, node),
                        .trailing = true,
                        .no_middle = several};
    if (several || open)
      tvms_format_brackets(w, &b, 1);
    else
      tvms_format_item(w, last, 1);
  }
  write_suite(w, ref, header, node->b, end);
}

static void write_decorators(tvms_writer *w, tvms_ref list) {
  for (tvms_ref item = list; item; item = w->nodes[item].next) {
    uint32_t limit = w->nodes[item].begin;
    while (item != list && w->comment_at < limit) {
      tvms_format_own_line(w, 0);
    }
    tvms_format_start_line(w);
    tvms_writer_put_char(w, '@');
    tvms_format_value(w, item, 0);
    tvms_format_leftovers(w, w->nodes[item].end);
    tvms_format_finish_line(w, w->nodes[item].end, UINT32_MAX);
  }
}

static void write_type_params(tvms_writer *w, tvms_ref list) {
  if (!list) return;
  tvms_bracketed b = {.open = "[", .shut = "]", .items = list, .trailing = true};
  while (w->nodes[list].next) {
    list = w->nodes[list].next;
  }
  b.end = w->nodes[list].end;
  tvms_format_brackets(w, &b, 1);
}

// Where the bracket of parameters closes: the header up to its return annotation.
static uint32_t params_end(const tvms_writer *w, const tvms_surf *head) {
  if (!head->b) return head->end;
  uint32_t end = w->nodes[head->b].begin;
  while (end > head->begin && w->source[end] != ')') {
    end--;
  }
  return end;
}

static uint32_t columns_of(tvms_writer *w, tvms_ref ref) {
  size_t len = w->out->len, line = w->line;
  w->forced = true;
  (void)!tvms_format_flat(w, ref, true);
  w->forced = false;
  uint32_t columns = (uint32_t)(w->out->len - len);
  w->out->len = len;
  w->line = line;
  return columns;
}

// Columns of " -> …:" that must stand on the line of the parameters: up to the bracket where
// it is split itself, or all of it.
static uint32_t return_columns(tvms_writer *w, const tvms_surf *head,
                               uint32_t comment) {
  if (!head->b) return 1 + comment;
  const tvms_surf *node = &w->nodes[head->b];
  uint32_t all = columns_of(w, head->b) + 5;
  bool splits =
      (node->kind == TVMS_SURF_CALL && node->b) || node->kind == TVMS_SURF_SUBSCRIPT;
  return splits ? columns_of(w, node->a) + 5 : all + comment;
}

static void write_definition(tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  tvms_surf_definition def = tvms_surface_define(w->surface, ref);
  const tvms_surf *head = &w->nodes[node->b];
  bool is_def = node->kind == TVMS_SURF_DEF;
  if (def.decorators) {
    write_decorators(w, def.decorators);
    while (w->comment_at < head->begin) {
      tvms_format_own_line(w, 0);
    }
    tvms_format_start_line(w);
  }
  word(w, is_def ? "def " : "class ");
  word(w, tvms_symbol_text(w->surface->context, def.name));
  write_type_params(w, def.type_params);
  tvms_bracketed b = {.open = "(",
                      .shut = ")",
                      .items = def.params,
                      .end = params_end(w, head),
                      .kept_open = is_kept(w, head),
                      .trailing = true};
  bool lone = is_def && def.params && !w->nodes[def.params].next;
  b.no_middle = b.lone_comma = lone;
  bool brackets = is_def || def.params || w->comment_at < b.end;
  if (brackets)
    tvms_format_brackets(
        w, &b, return_columns(w, head, behind(w, head->end, w->nodes[def.body].begin)));
  if (head->b) {
    word(w, " -> ");
    last_value(w, head->b, 1, w->nodes[def.body].begin);
  }
  write_suite(w, ref, head->end, def.body, end);
}

/* Any statement */

static bool is_compound(const tvms_surf *node) {
  switch ((int)node->kind) {
  case TVMS_SURF_IF:
  case TVMS_SURF_FOR:
  case TVMS_SURF_WHILE:
  case TVMS_SURF_WITH:
  case TVMS_SURF_DEF:
  case TVMS_SURF_CLASS: return true;
  default: return false;
  }
}

static void write_compound(tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  bool decorated = tvms_format_is_definition(node)
                   && tvms_surface_define(w->surface, ref).decorators;
  if (!decorated) tvms_format_start_line(w);
  switch ((int)node->kind) {
  case TVMS_SURF_IF: write_if(w, ref, end); break;
  case TVMS_SURF_FOR: write_for(w, ref, end); break;
  case TVMS_SURF_WHILE:
    word(w, "while ");
    last_value(w, node->a, 1, w->nodes[node->b].begin);
    write_loop_end(w, ref, w->nodes[node->a].end, node->b, node->c, end);
    break;
  case TVMS_SURF_WITH: write_with(w, ref, end); break;
  default: write_definition(w, ref, end); break;
  }
}

void tvms_format_statement(tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  bool python = tvms_format_is_skipped_pyfunc(w->surface, ref)
                || (tvms_format_is_pyfunc(w->surface, ref)
                    && tvms_format_may_copy_lines(w, node->begin, node->end));
  if (python) {
    tvms_format_copy_lines(w, node->begin, tvms_format_kept_end(w, ref, end),
                           tvms_source_indent(w->surface->source, node->begin));
  } else if (is_compound(node)) {
    write_compound(w, ref, end);
  } else if (tvms_format_is_kept_statement(w, node->begin, node->end)) {
    tvms_format_copy_lines(w, node->begin, node->end,
                           tvms_source_indent(w->surface->source, node->begin));
    w->out->len -= strlen(w->line_end);
    tvms_format_finish_line(w, node->end, end);
  } else {
    tvms_format_start_line(w);
    write_simple(w, node);
    tvms_format_leftovers(w, node->end);
    tvms_format_finish_line(w, node->end, end);
  }
  if (w->expected) tvms_format_compare(w);
}

// Comments that lead a statement, with the blank lines before and between. Returns false
// if `# fmt: off` was among them; the statements before `*off` are then written.
static bool write_leading(tvms_writer *w, tvms_setting at, tvms_ref ref, uint32_t end,
                          uint32_t *off) {
  const tvms_surf *node = &w->nodes[ref];
  uint32_t most = at.opener ? 1 : 2;
  bool first = true;
  for (; w->comment_at < node->begin; first = false) {
    uint32_t blank = first ? tvms_format_blank_lines_before(w, at, ref, w->comment_at)
                           : tvms_format_blank_before(w, w->comment_at);
    if (blank > most) blank = most;
    if (tvms_format_comment_is(w, w->next, TVMS_DIRECTIVE_OFF)) {
      *off = tvms_format_kept_until(w, end);
      if (tvms_format_may_copy_lines(w, w->comment_at, *off)) {
        tvms_format_put_blank(w, blank);
        tvms_format_copy_lines(w, w->comment_at, *off,
                               tvms_source_indent(w->surface->source, w->comment_at));
        return false;
      }
    }
    tvms_format_own_line(w, blank);
  }
  uint32_t blank = first ? tvms_format_blank_lines_before(w, at, ref, node->begin)
                         : tvms_format_blank_before(w, node->begin);
  if (blank > most || (!first && blank && tvms_format_is_definition(node)))
    blank = most;
  tvms_format_put_blank(w, blank);
  return true;
}

static void write_statements(tvms_writer *w, tvms_ref list, uint32_t end,
                             tvms_ref opener) {
  tvms_setting at = {0, opener};
  uint32_t off = 0;
  for (tvms_ref ref = list; ref; at.before = ref, ref = w->nodes[ref].next) {
    const tvms_surf *node = &w->nodes[ref];
    if (node->begin < off) continue;
    if (!opener && w->pieces) tvms_format_cut(w, ref);
    uint32_t after = node->next ? w->nodes[node->next].begin : end;
    if (!write_leading(w, at, ref, end, &off)) {
      if (node->begin < off) continue;
      // The region ended at `# fmt: on`, which leads this statement.
      at.before = ref;
      (void)write_leading(w, at, ref, end, &off);
    }
    tvms_format_statement(w, ref, after);
  }
}

void tvms_format_block(tvms_writer *w, tvms_ref list, uint32_t end, tvms_ref opener,
                       uint32_t header) {
  if (tvms_memory_enter(w->memory)) {
    write_statements(w, list, end, opener);
    // In a body on its header's line no comment can follow.
    uint32_t begin = w->nodes[list].begin;
    bool own_lines = !opener || tvms_format_lines_between(w, header, begin) > 0;
    if (own_lines)
      tvms_format_comments_at_end(w, end,
                                  tvms_source_indent(w->surface->source, begin));
  } else {
    w->too_deep = true;
  }
  tvms_memory_leave(w->memory);
}

/* Texts */

void tvms_format(const tvms_surface *surface, tvms_format_options options,
                 tvms_strbuf *out) {
  (void)!tvms_format_with(surface, options, out, NULL);
}
