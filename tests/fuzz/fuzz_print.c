// Text to IR to text, and the printed text again: nothing may crash, hang or run wild. With
// TVMS_FUZZ_STABLE in the environment what was printed must also be read again without a
// finding and print to itself.
//
// Programs that say check_well_formed=False are left out: TVM's text does not say so, and
// what they may contain is refused when it is read again.
#include "fuzz.h"
#include "parser/read.h"
#include "printer/print.h"

#include <stdlib.h>
#include <string.h>

static tvms_program *read_text(fuzz_input *input, const char *text, size_t size,
                               tvms_dialect from) {
  tvms_source *source = tvms_source_create(&input->context.memory, "fuzz", text, size);
  tvms_read_options options = {.from = from, .dialect = TVMS_DIALECT_NONE};
  return tvms_reader_read(&input->context, source, &options);
}

static bool print_text(fuzz_input *input, tvms_program *program, tvms_strbuf *text) {
  tvms_print_options options = {.dialect = program->dialect};
  if (options.dialect == TVMS_DIALECT_RFC) options.dialect = TVMS_DIALECT_22;
  if (options.dialect == TVMS_DIALECT_24) options.dialect = TVMS_DIALECT_25;
  tvms_strbuf_init(text, &input->context.memory);
  tvms_print_program(program, &options, text);
  return input->context.diags.errors == 0;
}

static bool is_unchecked(const tvms_program *program) {
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    if (module->unchecked) return true;
    for (uint32_t j = 0; j < module->member_count; j++) {
      const tvms_node *function = module->members[j].function;
      if (function && function->flags & TVMS_FLAG_UNCHECKED) return true;
    }
  }
  return false;
}

void fuzz_one(fuzz_input *input) {
  tvms_program *program = read_text(input, input->text, input->size, TVMS_DIALECT_NONE);
  if (input->context.diags.errors) return;
  bool unchecked = is_unchecked(program);
  tvms_strbuf first, second;
  if (!print_text(input, program, &first)) return;
  tvms_program *again = read_text(input, first.text, first.len, TVMS_DIALECT_NONE);
  bool printed = input->context.diags.errors == 0 && print_text(input, again, &second);
  if (unchecked || !getenv("TVMS_FUZZ_STABLE")) return;
  FUZZ_CHECK(printed);
  FUZZ_CHECK(first.len == second.len);
  FUZZ_CHECK(!first.len || memcmp(first.text, second.text, first.len) == 0);
}
