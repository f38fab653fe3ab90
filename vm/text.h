// The code of an executable as text.
#ifndef TVMS_VM_TEXT_H
#define TVMS_VM_TEXT_H

#include "support/strbuf.h"
#include "vm/executable.h"

// Appends what TVM's as_text gives, byte for byte, of an executable that was checked.
void tvms_vm_text(const tvms_vm_executable *executable, tvms_strbuf *out);

#endif
