// A table behind the result, or a file.
#include "cli/profile.h"

#include "cli/files.h"
#include "driver/profile_write.h"

#include <string.h>

bool tvms_run_writes_profile(const tvms_run *run) {
  const char *profile = run->options.profile;
  return profile && strcmp(profile, "functions") != 0
         && strcmp(profile, "instructions") != 0;
}

bool tvms_run_check_profile(tvms_run *run) {
  bool writes = tvms_run_writes_profile(run);
  if (writes == (run->options.output != NULL)) return true;
  if (writes)
    run->status = tvms_run_misused(run, "--profile %s writes a file; name it with -o",
                                   run->options.profile);
  else
    run->status = tvms_run_misused(run, "-o is for --profile trace and --profile html");
  return false;
}

tvms_status tvms_run_show_profile(tvms_run *run, const tvms_profile *profile,
                                  const tvms_member *entry) {
  if (!tvms_run_writes_profile(run)) {
    tvms_profile_table(profile, &run->result);
    return TVMS_OK;
  }
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  if (strcmp(run->options.profile, "trace") == 0)
    tvms_profile_trace(profile, &text);
  else
    tvms_profile_page(profile, entry, &text);
  tvms_status status = tvms_files_create(run, run->options.output, text.text, text.len);
  tvms_strbuf_fini(&text);
  return status;
}
