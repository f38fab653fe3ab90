// Tokens and findings of a text as one string each, for tests of the lexer and the layout.
#ifndef TVMS_TESTS_LEXING_H
#define TVMS_TESTS_LEXING_H

#include "grammar/identifier.h"
#include "grammar/indentation.h"
#include "support/names.h"
#include "support/strbuf.h"

#include <criterion/criterion.h>
#include <string.h>

static tvms_context context;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

static const char *const token_names[] = {
#define TOKEN(KIND, spelling, terminal, value) #KIND,
#include "grammar/tokens.def"
};

// "NAME INT:12 …": kinds, and with `texts` the text of names and literals.
static const char *tokens_of_bytes(const char *text, size_t size, bool texts) {
  tvms_source *source = tvms_source_create(&context.memory, "test", text, size);
  context.diags.source = source;
  tvms_surface surface = {.context = &context, .source = source};
  tvms_indentation layout;
  tvms_indentation_init(&layout, &surface, source->text, source->size, 0, false);
  tvms_lexer_check_text(&layout.lexer);
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context.memory);
  for (;;) {
    tvms_token token = tvms_indentation_next(&layout);
    if (token.kind == TVMS_TOK_END) return tvms_strbuf_text(&out);
    if (out.len) tvms_strbuf_putc(&out, ' ');
    tvms_strbuf_puts(&out, token_names[token.kind]);
    bool shown = texts && token.kind >= TVMS_TOK_NAME && token.kind <= TVMS_TOK_STRING;
    if (!shown) continue;
    tvms_strbuf_putc(&out, ':');
    tvms_strbuf_add(&out, source->text + token.begin, token.end - token.begin);
  }
}

static const char *tokens(const char *text) {
  return tokens_of_bytes(text, strlen(text), false);
}

// "LINE:COLUMN ECODE …" of everything reported so far.
static const char *findings(void) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context.memory);
  tvms_diags_sort(&context.diags);
  for (const tvms_diag *diag = context.diags.first; diag; diag = diag->next) {
    tvms_place place =
        tvms_source_place(&context.memory, diag->source, diag->span.begin);
    tvms_strbuf_printf(&out, "%s%u:%u E%04u", out.len ? " " : "", place.line,
                       place.column, tvms_diag_row_of(diag->id)->code);
  }
  return tvms_strbuf_text(&out);
}

#define expect_text(actual, expected)                                                  \
  do {                                                                                 \
    const char *got = (actual);                                                        \
    cr_assert_str_eq(got, expected, "got \"%s\"", got);                                \
  } while (0)

#endif
