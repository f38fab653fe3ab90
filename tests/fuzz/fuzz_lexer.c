// Bytes to tokens: tokens stand in order inside the text, indentation balances, and what
// stands between tokens is white space, comments, joined lines or was reported.
#include "fuzz.h"
#include "grammar/indentation.h"

void fuzz_one(fuzz_input *input) {
  tvms_source *source =
      tvms_source_create(&input->context.memory, "fuzz", input->text, input->size);
  input->context.diags.source = source;
  tvms_surface surface = {.context = &input->context, .source = source};
  tvms_indentation layout;
  tvms_indentation_init(&layout, &surface, source->text, source->size, 0, false);
  uint32_t last = 0, level = 0;
  tvms_token token;
  do {
    token = tvms_indentation_next(&layout);
    FUZZ_CHECK(token.begin <= token.end && token.end <= source->size);
    FUZZ_CHECK(token.begin >= last);
    last = token.end;
    level += token.kind == TVMS_TOK_INDENT;
    FUZZ_CHECK(token.kind != TVMS_TOK_DEDENT || level > 0);
    level -= token.kind == TVMS_TOK_DEDENT;
  } while (token.kind != TVMS_TOK_END);
  FUZZ_CHECK(level == 0 || tvms_indentation_depth(&layout) > 0);
  FUZZ_CHECK(tvms_indentation_next(&layout).kind == TVMS_TOK_END);
}
