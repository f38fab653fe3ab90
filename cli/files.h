// Input files and folders, and replacing files safely.
#ifndef TVMS_CLI_FILES_H
#define TVMS_CLI_FILES_H

#include "cli/run.h"

// Runs `visit` on each file that the paths of the command line name; a folder means every
// .tvms file under it, and every .py file if the verb takes them, in order of name. Shows
// findings and results file by file. Returns the worst status.
tvms_status tvms_files_each(tvms_run *run, tvms_file_visit visit);

// The files that the paths name. Paths that cannot be read are reported and left out.
tvms_texts tvms_files_collect(tvms_run *run);

// As tvms_files_each, for one file.
tvms_status tvms_files_read_one(tvms_run *run, const char *path, tvms_file_visit visit);

// Replaces the content of a file in one step: a reader sees the old text or the new one.
// Keeps the mode; follows a symbolic link. Returns TVMS_OK or TVMS_FAILED_IO, reported.
tvms_status tvms_files_replace(tvms_run *run, const char *path, const char *text,
                               size_t len);

// Writes a new file, or an old one anew. Returns TVMS_OK or TVMS_FAILED_IO, reported.
tvms_status tvms_files_create(tvms_run *run, const char *path, const char *text,
                              size_t len);

#endif
