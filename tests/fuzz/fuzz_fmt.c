// Formatting: tvms_format_checked proves its result itself; a failed proof is a defect.
#include "format/check.h"
#include "format/format.h"
#include "fuzz.h"

void fuzz_one(fuzz_input *input) {
  tvms_source *source =
      tvms_source_create(&input->context.memory, "fuzz", input->text, input->size);
  input->context.diags.source = source;
  tvms_surface surface;
  tvms_surface_parse(&surface, &input->context, source);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &input->context.memory);
  tvms_status status = tvms_format_checked(&surface, (tvms_format_options){0}, &text);
  FUZZ_CHECK(status == TVMS_OK || status == TVMS_FOUND_ERRORS);
  FUZZ_CHECK(status == TVMS_OK || (text.len == 0 && input->context.diags.errors));
  tvms_surface_fini(&surface);
}
