// f-strings: the lexer has found where they end; here their fields are read (PEP 498 and 701).
//
// Text is gone over byte by byte. Behind a '{' the lexer begins anew in the same text, in a bracket that
// the '}' of the field closes, and stops at ':', '!', '=' or '}'.
#include "grammar/syntax_fstring.h"

#include "grammar/string_form.h"
#include "grammar/syntax_expr.h"
#include "grammar/syntax_fault.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_syntax *s;
  tvms_string_form form;
  uint32_t end;  // of the text, where the quotes stand
} formatted;

static uint32_t read_text(formatted *f, uint32_t at, bool spec);

static void refuse(formatted *f, uint32_t at, const char *what) {
  tvms_span span = {at, at + 1};
  tvms_syntax_fault_at(f->s, TVMS_D_syntax, span, what, " in an f-string");
}

// Behind the expression: `!r`, `:>8`, `}`. Returns where the text goes on.
static uint32_t end_field(formatted *f, tvms_syntax *field) {
  const char *text = field->text;
  (void)tvms_syntax_take(field, TVMS_TOK_ASSIGN);
  if (field->failed) return f->end;
  uint32_t at = field->token.begin;
  if (at < f->end && text[at] == '!' && text[at + 1] != '=') {
    at++;
    at += (uint32_t)strspn(text + at, " ");
    size_t len = strspn(text + at, "sra");
    if (len != 1 || !strchr(":} \n\r\t", text[at + 1])) {
      refuse(f, at - 1, "'!'");
      return f->end;
    }
    at += 1 + (uint32_t)strspn(text + at + 1, " \t\r\n");
  }
  if (at < f->end && text[at] == ':') at = read_text(f, at + 1, true);
  if (at < f->end && text[at] == '}') return at + 1;
  tvms_syntax_refuse(field, "");
  return f->end;
}

// From behind a '{' to behind its '}'.
static uint32_t read_field(formatted *f, uint32_t at) {
  tvms_syntax *s = f->s;
  tvms_syntax field = {.context = s->context,
                       .source = s->source,
                       .faults = s->faults,
                       .first = s->first,
                       .faulty = s->faulty,
                       .open_fault = s->open_fault,
                       .stopped = s->stopped,
                       .in_function = s->in_function};
  tvms_memory *memory = &s->context->memory;
  uint32_t end = f->end;
  if (tvms_memory_enter(memory)) {
    tvms_syntax_open(&field, at, true);
    if (field.token.kind == TVMS_TOK_SHUT_CURLY)
      tvms_syntax_refuse(&field, "");
    else
      (void)tvms_syntax_value(&field);
    if (!field.failed && field.token.end <= f->end) end = end_field(f, &field);
    tvms_syntax_close(&field);
  } else {
    field.stopped = true;
  }
  tvms_memory_leave(memory);
  s->stopped = field.stopped;
  s->faulty = s->faulty || field.faulty;
  s->open_fault = s->open_fault || field.open_fault;
  s->seen = s->context->diags.last;
  return end;
}

// Text up to its end, or if it is the specification of a field to the field's '}'.
static uint32_t read_text(formatted *f, uint32_t at, bool spec) {
  const char *text = f->s->text;
  while (at < f->end && !f->s->faulty && !f->s->stopped) {
    char c = text[at], next = text[at + 1];
    if (c == '\\' && !f->form.raw && next == 'N' && text[at + 2] == '{') {
      at += (uint32_t)strcspn(text + at, "}") + 1;
    } else if (c == '\\' && !f->form.raw && next != '{' && next != '}') {
      at += 2;
    } else if (c == '{' && next == '{' && !spec) {
      at += 2;
    } else if (c == '{') {
      at = read_field(f, at + 1);
    } else if (c == '}' && spec) {
      return at;
    } else if (c == '}' && next == '}') {
      at += 2;
    } else if (c == '}') {
      refuse(f, at, "'}'");
    } else {
      at++;
    }
  }
  return f->end;
}

void tvms_syntax_fstring(tvms_syntax *s, tvms_token token) {
  formatted f = {s, tvms_string_form_of(s->text + token.begin), 0};
  f.end = token.end - f.form.width;
  (void)read_text(&f, (uint32_t)(f.form.body - s->text), false);
}
