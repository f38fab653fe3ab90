// f-strings: f"{name}_{i:02d}".
//
// A field stands in the source as text. Its expression, up to a ':', a '!' or the '}' that are in
// no bracket and no string, is parsed and evaluated whenever the string is, which counts as several
// steps. Of the language of formats there are width and leading zeros of integers, in d, x, X and
// o, and the digits of floats, in f, g and e; everything else is reported.
#include "parser/eval/string.h"

#include "grammar/literal_values.h"
#include "grammar/nested.h"
#include "parser/eval/budget.h"
#include "parser/eval/expr.h"
#include "parser/eval/repr.h"

#include <stdio.h>
#include <string.h>

// ---- f-strings ------------------------------------------------------------------------------

typedef struct {
  tvms_reader *reader;
  tvms_ref ref;
  tvms_strbuf out;
  const char *text;  // of the source
  uint32_t at;       // offset in it
  uint32_t end;
} fstring;

// The end of the expression in a replacement field: a ':' , '!', '=' or '}' outside of
// brackets and strings.
static uint32_t field_end(const fstring *f) {
  int depth = 0;
  char quote = 0;
  for (uint32_t at = f->at; at < f->end; at++) {
    char c = f->text[at];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (strchr("([{", c)) {
      depth++;
    } else if (depth && strchr(")]}", c)) {
      depth--;
    } else if (!depth && (c == '}' || c == ':' || c == '!')) {
      if (c == '!' && at + 1 < f->end && f->text[at + 1] == '=') continue;
      return at;
    }
  }
  return f->end;
}

// Width and zero padding of integers, digits of floats: `{i:02d}`, `{x:.3f}`.
// In a Python file Python may know more formats than tvms.
static void report_format(fstring *f, const char *spec, int len) {
  f->reader->failed = true;
  if (!f->reader->lenient) tvms_reader_report(f->reader, bad_format, f->ref, len, spec);
}

static bool put_formatted(fstring *f, tvms_eval_value value, const char *spec,
                          uint32_t len) {
  char format[32];
  if (len > 12) {
    report_format(f, spec, (int)len);
    return false;
  }
  if (len == 0) {
    uint32_t size;
    const char *text = tvms_eval_str(f->reader, value, f->ref, &size);
    if (text) tvms_strbuf_add(&f->out, text, size);
    return text != NULL;
  }
  char kind = spec[len - 1];
  bool letter = strchr("dxXofge", kind) != NULL;
  uint32_t digits = letter ? len - 1 : len;
  enum { MOST_DIGITS = 6 };  // of a width, which the text would have
  bool sound = digits <= MOST_DIGITS;
  for (uint32_t i = 0; i < digits; i++) {
    sound = sound && strchr("0123456789.", spec[i]);
  }
  bool is_int = value.kind == TVMS_EVAL_INT && (!letter || strchr("dxXo", kind));
  bool is_real = value.kind == TVMS_EVAL_FLOAT && letter && strchr("fge", kind);
  if (!sound || !(is_int || is_real)) {
    report_format(f, spec, (int)len);
    return false;
  }
  snprintf(format, sizeof format, "%%%.*s%s%c", (int)digits, spec, is_int ? "ll" : "",
           letter ? kind : 'd');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  char text[128];
  int size = is_int ? snprintf(text, sizeof text, format, (long long)value.as.i)
                    : snprintf(text, sizeof text, format, value.as.f);
#pragma GCC diagnostic pop
  if (size <= 0 || (size_t)size >= sizeof text) {
    report_format(f, spec, (int)len);
    return false;
  }
  tvms_strbuf_add(&f->out, text, (size_t)size);
  return true;
}

// A field is parsed each time it is evaluated, which takes time and memory.
enum { STEPS_PER_FIELD = 20 };

static bool put_field(fstring *f) {
  uint32_t begin = f->at;
  uint32_t end = field_end(f);
  if (end == f->end) return false;  // a string without end, which is reported
  if (!tvms_eval_count_steps(f->reader, STEPS_PER_FIELD, f->ref)) return false;
  tvms_ref expr =
      tvms_surface_parse_expression(f->reader->surface, (tvms_span){begin, end});
  if (!expr) return false;
  tvms_eval_value value = tvms_eval(f->reader, expr);
  tvms_eval_assume_wanted(f->reader, value, TVMS_WANTED_NUMBER);
  if (!tvms_eval_value_is_known(value)) return false;
  bool quoted = false;
  if (end + 1 < f->end && f->text[end] == '!') {
    if (!strchr("sra", f->text[end + 1])) {
      tvms_reader_report(f->reader, bad_format, f->ref, 2, f->text + end);
      return false;
    }
    quoted = f->text[end + 1] != 's';
    end += 2;
  }
  const char *spec = f->text + end;
  uint32_t spec_len = 0;
  if (end < f->end && f->text[end] == ':') {
    spec++;
    for (int depth = 0; end + 1 + spec_len < f->end; spec_len++) {
      char c = spec[spec_len];
      if (c == '}' && depth == 0) break;
      depth += (c == '{') - (c == '}');
    }
    end += 1 + spec_len;
  }
  f->at = end + 1;
  if (!tvms_eval_may_take(f->reader, f->out.len + value.len, f->ref)) return false;
  if (spec_len || !quoted)
    return put_formatted(f, value, spec, spec_len);
  else if (!tvms_eval_put(f->reader, &f->out, value, true))
    return false;
  return true;
}

static bool put_fstring(fstring *f) {
  while (f->at < f->end) {
    char c = f->text[f->at];
    bool doubled = f->at + 1 < f->end && f->text[f->at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      tvms_strbuf_putc(&f->out, c);
      f->at += 2;
    } else if (c == '{') {
      f->at++;
      if (!put_field(f)) return false;
    } else {
      tvms_strbuf_putc(&f->out, c);
      f->at++;
    }
  }
  return true;
}

// One literal of the chain: prefix, quotes, text.
static bool put_piece(fstring *f, tvms_ref piece) {
  const tvms_surf *node = tvms_reader_at(f->reader, piece);
  if (!tvms_surface_is_fstring(f->reader->surface, piece)) {
    tvms_surf_text text =
        tvms_surface_string(f->reader->surface, piece, &f->reader->values);
    tvms_strbuf_add(&f->out, text.text, text.len);
    return true;
  }
  uint32_t begin = node->begin, end = node->end;
  while (f->text[begin] != '"' && f->text[begin] != '\'') {
    begin++;
  }
  bool triple = end - begin >= 6 && f->text[begin + 1] == f->text[begin]
                && f->text[begin + 2] == f->text[begin];
  if (f->text[end - 1] != f->text[begin]) return false;  // no end, which is reported
  f->at = begin + (triple ? 3 : 1);
  f->end = end - (triple ? 3 : 1);
  return put_fstring(f);
}

tvms_eval_value tvms_eval_fstring(tvms_reader *reader, tvms_ref ref) {
  fstring f = {.reader = reader, .ref = ref, .text = reader->surface->source->text};
  tvms_strbuf_init(&f.out, &reader->context->memory);
  bool known = true;
  if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_STRINGS) {
    tvms_surface_each(reader->surface, piece, tvms_reader_at(reader, ref)->a) {
      known = known && put_piece(&f, piece);
    }
  } else {
    known = put_piece(&f, ref);
  }
  tvms_eval_value value = TVMS_UNKNOWN;
  if (known && tvms_eval_may_take(reader, f.out.len + 1, ref)) {
    value = tvms_eval_value_text(
        tvms_arena_text(&reader->values, f.out.text, f.out.len), (uint32_t)f.out.len);
  }
  tvms_strbuf_fini(&f.out);
  return value;
}
