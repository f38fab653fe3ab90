// Literals, lines and late text.
//
// A text is written in one pass, though a statement may need a line above it that is known only
// while the statement is being written, `n = T.int64()` for a variable that nothing defines. Such
// lines are written aside with the place where they belong ("late", printer/state.h) and merged
// when the module is complete (printer/print.c).
//
// A float has one decimal if it is whole and 17 digits otherwise. Those that programs are full of,
// with at most ten binary digits behind the point, are written without printf.
#include "printer/text.h"

#include "printer/comments.h"
#include "printer/state.h"
#include "support/diag_ids.h"

#include <math.h>
#include <stdio.h>

void tvms_print_t(tvms_printer *p, const char *name) {
  p->used |= USED_T;
  PUT(p, "T.");
  tvms_print_put(p, name);
}

void tvms_print_r(tvms_printer *p, const char *name) {
  p->used |= USED_R;
  PUT(p, "R.");
  tvms_print_put(p, name);
}

void tvms_print_i(tvms_printer *p, const char *name) {
  p->used |= USED_I;
  PUT(p, "I.");
  tvms_print_put(p, name);
}

// Whole numbers with one decimal, others with 17 digits (docs/language.md, "Canonical text").
// Writes the numbers that programs are full of (0.0, 0.5, 3.0), which have few binary
// digits behind the point, without printf. Returns false for all others.
static bool put_binary_fraction(tvms_printer *p, double value) {
  enum { PARTS = 1024 };
  double parts = fabs(value) * PARTS;
  if (parts >= 1e9 || parts != floor(parts) || (value == 0 && signbit(value)))
    return false;
  uint32_t whole = (uint32_t)parts;
  if (value < 0) PUT(p, "-");
  tvms_strbuf_int(p->out, whole / PARTS);
  PUT(p, ".");
  uint32_t rest = whole % PARTS;
  do {
    rest *= 10;
    tvms_strbuf_putc(p->out, (char)('0' + rest / PARTS));
    rest %= PARTS;
  } while (rest);
  return true;
}

void tvms_print_float(tvms_printer *p, double value) {
  if (isnan(value)) {
    tvms_print_put(p, signbit(value) ? "\"-nan\"" : "\"nan\"");
  } else if (isinf(value)) {
    tvms_print_put(p, value < 0 ? "\"-inf\"" : "\"inf\"");
  } else if (put_binary_fraction(p, value)) {
    return;
  } else if (nearbyint(value) == value) {
    tvms_strbuf_printf(p->out, "%.1f", value);
  } else {
    tvms_strbuf_printf(p->out, "%.17g", value);
  }
}

// Characters that a string literal spells with a backslash and a letter.
static char short_escape(unsigned char c) {
  switch (c) {
  case '"': return '"';
  case '\\': return '\\';
  case '\t': return 't';
  case '\r': return 'r';
  case '\n': return 'n';
  default: return 0;
  }
}

static void put_escaped(tvms_strbuf *out, const char *text, size_t len) {
  static const char digits[] = "0123456789ABCDEF";
  size_t plain = 0;
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') continue;
    tvms_strbuf_add(out, text + plain, i - plain);
    plain = i + 1;
    tvms_strbuf_putc(out, '\\');
    char letter = short_escape(c);
    if (letter) {
      tvms_strbuf_putc(out, letter);
    } else {
      char hex[] = {'x', digits[c >> 4], digits[c & 15]};
      tvms_strbuf_add(out, hex, sizeof hex);
    }
  }
  tvms_strbuf_add(out, text + plain, len - plain);
}

void tvms_print_quoted(tvms_printer *p, const char *text, size_t len) {
  tvms_strbuf_putc(p->out, '"');
  put_escaped(p->out, text, len);
  tvms_strbuf_putc(p->out, '"');
}

void tvms_print_dtype(tvms_printer *p, tvms_dtype dtype) {
  char buffer[TVMS_DTYPE_TEXT];
  // Up to 0.24 vectors of truth are such of integers of one bit.
  bool bits = tvms_dtype_is_bool(dtype) && dtype.lanes != 1;
  if (bits && tvms_release_has(p->dialect, TVMS_FACT_bools_are_uint1)) {
    dtype = tvms_dtype_with_lanes(TVMS_DTYPE(UINT, 1), dtype.lanes);
  }
  tvms_print_put(p, tvms_dtype_text(dtype, buffer));
}

void tvms_print_quoted_dtype(tvms_printer *p, tvms_dtype dtype) {
  PUT(p, "\"");
  tvms_print_dtype(p, dtype);
  PUT(p, "\"");
}

void tvms_print_quote_since(tvms_printer *p, size_t from) {
  tvms_strbuf copy;
  tvms_strbuf_init(&copy, p->memory);
  tvms_strbuf_add(&copy, p->out->text + from, p->out->len - from);
  p->out->len = from;
  tvms_print_quoted(p, copy.text, copy.len);
  tvms_strbuf_fini(&copy);
}

void tvms_print_move(tvms_printer *p, size_t to, size_t from) {
  if (to == from) return;
  size_t len = p->out->len - from;
  p->spare.len = 0;
  tvms_strbuf_add(&p->spare, p->out->text + from, len);
  memmove(p->out->text + to + len, p->out->text + to, from - to);
  if (len) memcpy(p->out->text + to, p->spare.text, len);
}

enum { INDENT_WIDTH = 4 };

void tvms_print_begin(tvms_printer *p) {
  if (p->blank) tvms_strbuf_putc(p->out, '\n');
  p->blank = false;
  if (p->out == &p->main && p->frames.len && !tvms_print_top(p)->is_fixed) {
    tvms_print_top(p)->at = p->main.len;
  }
  if (p->above < p->next && p->out == &p->main) tvms_print_above(p);
  tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * INDENT_WIDTH);
}

void tvms_print_add_at(tvms_printer *p, size_t at, const char *text, size_t len) {
  print_late late = {at, p->late.len, p->late.len + len};
  tvms_strbuf_add(&p->late, text, len);
  tvms_vec_push(p->memory, &p->lates, late);
}

static void add_line(tvms_printer *p, uint32_t frame, const tvms_strbuf *text) {
  const print_frame *f = &p->frames.items[frame];
  if (f->is_dropped) return;
  size_t begin = p->late.len;
  tvms_strbuf_fill(&p->late, ' ', (size_t)f->indent * INDENT_WIDTH);
  tvms_strbuf_add(&p->late, text->text, text->len);
  tvms_strbuf_putc(&p->late, '\n');
  print_late late = {f->at, begin, p->late.len};
  tvms_vec_push(p->memory, &p->lates, late);
}

void tvms_print_begin_line(tvms_printer *p, print_added *line, uint32_t frame) {
  tvms_strbuf_init(&line->text, p->memory);
  line->before = tvms_print_redirect(p, &line->text);
  line->frame = frame;
}

void tvms_print_end_line(tvms_printer *p, print_added *line) {
  tvms_print_redirect(p, line->before);
  add_line(p, line->frame, &line->text);
  tvms_strbuf_fini(&line->text);
}

void tvms_print_settle(tvms_printer *p, uint32_t first) {
  for (uint32_t i = first; i < p->lates.len; i++) {
    if (p->lates.items[i].at == PRINT_PENDING) p->lates.items[i].at = p->main.len;
  }
}

void tvms_print_cannot(tvms_printer *p, const tvms_node *node, const char *what) {
  if (p->quiet) return;
  tvms_span span = node && node->span.end ? node->span : p->here;
  tvms_diag_report(&p->context->diags, TVMS_D_not_in_dialect, span,
                   tvms_dialect_text(p->dialect), what);
  p->failed = true;
}

void tvms_print_too_deep(tvms_printer *p, const tvms_node *node) {
  if (!p->quiet && !p->failed) {
    tvms_diag_report(&p->context->diags, TVMS_D_too_deep, node->span,
                     p->memory->depth_limit);
  }
  p->failed = true;
}
