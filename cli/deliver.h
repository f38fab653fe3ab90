// What is done with the new text of a file: written out, put in its place, compared.
#ifndef TVMS_CLI_DELIVER_H
#define TVMS_CLI_DELIVER_H

#include "cli/run.h"

// Refuses several files or folders without --in-place, --check or --diff, and standard
// input in place. `done` says what happens to a file: "formatted". Returns TVMS_OK, or
// TVMS_FAILED_IO after a message.
tvms_status tvms_deliver_check(tvms_run *run, const char *done);

// Does with `text`, the new text of `source`, what --in-place, --check and --diff ask for;
// without them it becomes the result. Returns TVMS_FOUND_ERRORS if --check is given and
// the text differs.
tvms_status tvms_deliver(tvms_run *run, const tvms_source *source,
                         const tvms_strbuf *text, const char *done);

// Reads --lines. Returns false if it is wrong, which was reported.
TVMS_NODISCARD bool tvms_deliver_read_lines(tvms_run *run);

// Lays a source out as its configuration and --lines say, delivers it and counts it.
tvms_status tvms_deliver_formatted(tvms_run *run, tvms_source *source);

#endif
