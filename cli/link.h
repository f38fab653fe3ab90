// Linking what `build` has made.
#ifndef TVMS_CLI_LINK_H
#define TVMS_CLI_LINK_H

#include "cli/run.h"
#include "driver/externs.h"

// Links an object file's content, with the files of --link, into the shared library that -o names. Of `externs`, the
// functions of C that it calls, those that are in none of the files are reported where they are called. Returns TVMS_OK, or
// TVMS_FAILED_IO for what was reported otherwise.
tvms_status tvms_link_library(tvms_run *run, tvms_strbuf *object,
                              const tvms_externs *externs);

// Puts an object file's content into the archive that -o names; with --static `object` changes, so that it asks for the
// threads. Returns TVMS_OK or TVMS_FAILED_IO, reported.
tvms_status tvms_link_archive(tvms_run *run, tvms_strbuf *object);

#endif
