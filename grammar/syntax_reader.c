// The tokens of the syntax check: one at hand, one ahead where a word has a meaning of its own.
#include "grammar/syntax_reader.h"

#include "grammar/syntax_fault.h"
#include "support/diag_ids.h"

#include <string.h>

void tvms_syntax_open(tvms_syntax *s, uint32_t offset, bool field) {
  tvms_memory *memory = &s->context->memory;
  s->scratch = (tvms_surface){.context = s->context, .source = s->source};
  s->text = s->source->text;
  s->field = field;
  tvms_indentation_init(&s->layout, &s->scratch, s->text + offset,
                        s->source->size - offset, offset, field);
  if (field) {
    // As if the lexer had come to the brace.
    tvms_bracket brace = {.begin = offset - 1, .shut = TVMS_TOK_SHUT_CURLY};
    tvms_vec_push(memory, &s->layout.brackets, brace);
    s->layout.lexer.depth++;
    s->depth = 1;
  }
  s->seen = s->context->diags.last;
  tvms_syntax_advance(s);
}

void tvms_syntax_close(tvms_syntax *s) {
  tvms_memory *memory = &s->context->memory;
  tvms_vec_fini(memory, &s->layout.indents);
  tvms_vec_fini(memory, &s->layout.brackets);
  tvms_surface_fini(&s->scratch);
}

// Python takes what the lexer refuses only because TVMScript has no use for it, and the '!' of a field.
static bool is_sound(const tvms_syntax *s, const tvms_diag *diag) {
  if (diag->id == TVMS_D_named_escape) return true;
  return s->field && diag->id == TVMS_D_stray_character
         && s->text[diag->span.begin] == '!';
}

static tvms_token read(tvms_syntax *s) {
  tvms_token token = tvms_indentation_next(&s->layout);
  tvms_diag *diag = s->context->diags.last;
  if (__builtin_expect(diag != s->seen, 0)) {
    s->seen = diag;
    if (diag && !is_sound(s, diag)) tvms_syntax_adopt(s, diag);
  }
  return token;
}

void tvms_syntax_advance(tvms_syntax *s) {
  tvms_token old = s->token;
  if (tvms_syntax_is_round(old.kind) || old.kind == TVMS_TOK_OPEN_SQUARE
      || old.kind == TVMS_TOK_OPEN_CURLY)
    s->depth++;
  s->end = old.end;
  s->token = s->has_ahead ? s->ahead : read(s);
  s->has_ahead = false;
  bool shuts =
      s->token.kind >= TVMS_TOK_SHUT_ROUND && s->token.kind <= TVMS_TOK_SHUT_CURLY;
  if (shuts && s->depth > 0) s->depth--;
}

tvms_token tvms_syntax_peek(tvms_syntax *s) {
  if (!s->has_ahead) s->ahead = read(s);
  s->has_ahead = true;
  return s->ahead;
}

bool tvms_syntax_expect(tvms_syntax *s, tvms_token_kind kind, const char *expected) {
  if (tvms_syntax_take(s, kind)) return true;
  tvms_syntax_refuse(s, expected);
  return false;
}

bool tvms_syntax_is_word(const tvms_syntax *s, const char *word) {
  size_t len = s->token.end - s->token.begin;
  return s->token.kind == TVMS_TOK_NAME && strlen(word) == len
         && memcmp(s->text + s->token.begin, word, len) == 0;
}

bool tvms_syntax_begins(tvms_token_kind kind) {
  switch ((int)kind) {
  case TVMS_TOK_NAME:
  case TVMS_TOK_WIDE_NAME:
  case TVMS_TOK_INT:
  case TVMS_TOK_FLOAT:
  case TVMS_TOK_IMAGINARY:
  case TVMS_TOK_STRING:
  case TVMS_TOK_BROKEN:
  case TVMS_TOK_TRUE:
  case TVMS_TOK_FALSE:
  case TVMS_TOK_NONE:
  case TVMS_TOK_ELLIPSIS:
  case TVMS_TOK_OPEN_ROUND:
  case TVMS_TOK_OPEN_ITEMS:
  case TVMS_TOK_OPEN_SQUARE:
  case TVMS_TOK_OPEN_CURLY:
  case TVMS_TOK_NOT:
  case TVMS_TOK_LAMBDA:
  case TVMS_TOK_AWAIT:
  case TVMS_TOK_PLUS:
  case TVMS_TOK_MINUS:
  case TVMS_TOK_INVERT:
  case TVMS_TOK_STAR: return true;
  default: return false;
  }
}
