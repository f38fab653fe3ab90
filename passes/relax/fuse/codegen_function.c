// Functions that a back end compiles.
#include "passes/relax/fuse/codegen_function.h"

#include "support/strbuf.h"

tvms_sym tvms_fuse_add_codegen_function(tvms_pass_run *run, tvms_sym name,
                                        const char *codegen, tvms_unit *unit,
                                        tvms_node *function) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_strbuf_puts(&text, tvms_symbol_text(run->context, name));
  tvms_strbuf_puts(&text, "_");
  tvms_strbuf_puts(&text, codegen);
  tvms_sym fresh = tvms_functions_fresh_name(run, tvms_strbuf_text(&text));
  tvms_as_function(function)->name = fresh;
  tvms_functions_add(run, fresh, unit, function);
  tvms_strbuf_fini(&text);
  return fresh;
}
