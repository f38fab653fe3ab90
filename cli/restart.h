// What the static program cannot do by itself, and its twin can: there it is in cli/native.c, here
// the program becomes the twin.
#ifndef TVMS_CLI_RESTART_H
#define TVMS_CLI_RESTART_H

#include "cli/native.h"

// `verb` with run->foreign, the functions of what --plugin names. The static program starts the
// verb anew, so this must come before anything is read.
tvms_status tvms_run_with_plugins(tvms_run *run, tvms_status (*verb)(tvms_run *));

#endif
