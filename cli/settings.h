// Finding the configuration of a file: --config, --line-length and --isolated, and the files
// of its folder and of those above.
#ifndef TVMS_CLI_SETTINGS_H
#define TVMS_CLI_SETTINGS_H

#include "cli/run.h"

// Reads what the command line says; from here on files have a configuration. Returns false if
// it is wrong, which was reported.
TVMS_NODISCARD bool tvms_settings_open(tvms_run *run);

// Frees what was read.
void tvms_settings_close(tvms_run *run);

// Sets run->config and run->config_path to those of a file, "-" among them. Each folder is
// looked at once. Returns false if the configuration has an error, which was reported: the
// file is then not to be touched.
TVMS_NODISCARD bool tvms_settings_enter(tvms_run *run, const char *path);

// Whether a file is one that the project leaves out (`exclude`).
bool tvms_settings_exclude(tvms_run *run, const char *path);

#endif
