// Well-formedness of Relax: what TVM refuses after reading.
#ifndef TVMS_STRUCTINFO_WELL_FORMED_RELAX_H
#define TVMS_STRUCTINFO_WELL_FORMED_RELAX_H

#include "ir/module.h"

// Checks the functions of Relax in a module and reports every finding; nothing if the
// program asked for that (check_well_formed=False). Returns true if nothing was found.
// (Rules: src/relax/analysis/well_formed.cc of TVM.)
bool tvms_well_formed_check_relax(tvms_module *module);

#endif
