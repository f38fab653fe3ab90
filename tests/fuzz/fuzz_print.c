// Text to IR to text: what is printed must be read again and print as the same text, in the
// release of the input. Nothing may crash, hang or run wild.
#include "fuzz.h"

#include "parser/read.h"
#include "printer/print.h"

#include <string.h>

static tvms_program *read_text(fuzz_input *input, const char *text, size_t size,
                               tvms_dialect from) {
  tvms_source *source = tvms_source_create(&input->context.memory, "fuzz", text, size);
  tvms_read_options options = {.from = from, .dialect = TVMS_DIALECT_NONE};
  return tvms_read(&input->context, source, &options);
}

static bool print_text(fuzz_input *input, tvms_program *program, tvms_strbuf *text) {
  tvms_print_options options = {.dialect = program->dialect};
  if (options.dialect == TVMS_DIALECT_RFC) options.dialect = TVMS_DIALECT_22;
  if (options.dialect == TVMS_DIALECT_24) options.dialect = TVMS_DIALECT_25;
  tvms_strbuf_init(text, &input->context.memory);
  tvms_print_program(program, &options, text);
  return input->context.diags.errors == 0;
}

void fuzz_one(fuzz_input *input) {
  tvms_program *program = read_text(input, input->text, input->size, TVMS_DIALECT_NONE);
  if (input->context.diags.errors) return;
  tvms_strbuf first, second;
  if (!print_text(input, program, &first)) return;
  tvms_program *again = read_text(input, first.text, first.len, TVMS_DIALECT_NONE);
  FUZZ_CHECK(input->context.diags.errors == 0 && print_text(input, again, &second));
  FUZZ_CHECK(first.len == second.len);
  FUZZ_CHECK(!first.len || memcmp(first.text, second.text, first.len) == 0);
}
