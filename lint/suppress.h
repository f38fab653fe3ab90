// Comments that suppress findings: `# noqa`, `# tvms: ignore[CODE]`, `# tvms: noqa`.
#ifndef TVMS_LINT_SUPPRESS_H
#define TVMS_LINT_SUPPRESS_H

#include "lint/lint.h"

// Reads the comments of the file, and takes the findings that they suppress out of the list of
// the context. A comment suppresses what begins in its line; behind the first or the last line of
// a statement, or of a header, what begins in any of its lines. Without codes it suppresses
// lints, warnings and notes; with codes what they name, errors too, but those of syntax not.
// Says what is wrong with the comments (unused_suppression, unknown_suppression) if that is
// asked for. At the end of a file, behind all that report.
void tvms_lint_suppress(tvms_lint *lint);

#endif
