// Linking what `build` has made.
#ifndef TVMS_CLI_LINK_H
#define TVMS_CLI_LINK_H

#include "cli/run.h"

// Links an object file's content into the shared library, or puts it into the archive, that -o
// names; with --static `object` changes, so that it asks for the threads. Returns TVMS_OK or TVMS_FAILED_IO, reported.
tvms_status tvms_link_object(tvms_run *run, tvms_strbuf *object, bool archived);

#endif
