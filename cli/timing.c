// --timing: a table of the passes on standard error.
#include "cli/timing.h"

#include <unistd.h>

void tvms_timing_show(tvms_run *run, const tvms_timings *timings) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  double whole = 0;
  for (uint32_t i = 0; i < timings->len; i++) {
    whole += timings->items[i].seconds;
  }
  for (uint32_t i = 0; i < timings->len; i++) {
    const tvms_timing *row = &timings->items[i];
    tvms_strbuf_printf(&text, "%9.3f ms %5.1f %%  %s\n", row->seconds * 1e3,
                       whole > 0 ? 100 * row->seconds / whole : 0.0, row->pass);
  }
  tvms_strbuf_printf(&text, "%9.3f ms          all passes\n", whole * 1e3);
  tvms_run_write(run, STDERR_FILENO, "standard error", text.text, text.len);
  tvms_strbuf_fini(&text);
}
