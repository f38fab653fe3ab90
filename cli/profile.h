// --profile of the verbs that run programs.
#ifndef TVMS_CLI_PROFILE_H
#define TVMS_CLI_PROFILE_H

#include "cli/run.h"
#include "driver/profile.h"

// Whether calls are to be recorded for a file.
bool tvms_run_writes_profile(const tvms_run *run);

// False, and the usage is reported, if --profile and -o do not go together.
TVMS_NODISCARD bool tvms_run_check_profile(tvms_run *run);

// Shows the table of functions behind the result, or writes the file that -o names.
tvms_status tvms_run_show_profile(tvms_run *run, const tvms_profile *profile,
                                  const tvms_member *entry);

#endif
