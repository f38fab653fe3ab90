// The rows of diag.def by name: TVMS_D_<name> is a tvms_diag_id.
#ifndef TVMS_SUPPORT_DIAG_IDS_H
#define TVMS_SUPPORT_DIAG_IDS_H

#include "support/diag.h"

enum {
#define DIAG(name, code, severity, text, explanation) TVMS_D_##name,
#include "support/diag.def"
};

#endif
