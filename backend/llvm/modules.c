// Names in two modules. What one module defines and the other uses is hidden in both: it becomes local
// when the objects are joined.
#include "backend/llvm/modules.h"

static LLVMModuleRef TVMS_NULLABLE other_of(const emitter *e) {
  return e->module == e->around ? e->kernels : e->around;
}

static void share(LLVMValueRef definition, LLVMValueRef declaration) {
  LLVMLinkage linkage = LLVMGetLinkage(definition);
  if (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage)
    LLVMSetVisibility(definition, LLVMHiddenVisibility);
  if (LLVMGetVisibility(definition) == LLVMHiddenVisibility) {
    LLVMSetLinkage(definition, LLVMExternalLinkage);
    LLVMSetVisibility(declaration, LLVMHiddenVisibility);
  } else if (linkage == LLVMExternalWeakLinkage) {
    LLVMSetLinkage(declaration, linkage);
  }
}

LLVMValueRef tvms_emit_function_named(emitter *e, const char *name) {
  LLVMValueRef found = LLVMGetNamedFunction(e->module, name);
  LLVMModuleRef other = other_of(e);
  if (found || !other) return found;
  LLVMValueRef there = LLVMGetNamedFunction(other, name);
  if (!there) return NULL;
  found = LLVMAddFunction(e->module, name, LLVMGlobalGetValueType(there));
  share(there, found);
  return found;
}

LLVMValueRef tvms_emit_variable_named(emitter *e, const char *name) {
  LLVMValueRef found = LLVMGetNamedGlobal(e->module, name);
  LLVMModuleRef other = other_of(e);
  if (found || !other) return found;
  LLVMValueRef there = LLVMGetNamedGlobal(other, name);
  if (!there) return NULL;
  found = LLVMAddGlobal(e->module, LLVMGlobalGetValueType(there), name);
  share(there, found);
  return found;
}

LLVMValueRef tvms_emit_slot(emitter *e, const char *name) {
  LLVMValueRef slot = tvms_emit_variable_named(e, name);
  if (slot) return slot;
  slot = LLVMAddGlobal(e->module, e->pointer, name);
  LLVMSetInitializer(slot, LLVMConstNull(e->pointer));
  LLVMSetLinkage(slot, LLVMWeakAnyLinkage);
  return slot;
}

LLVMModuleRef tvms_emit_go_around(emitter *e) {
  LLVMModuleRef before = e->module;
  if (e->around) e->module = e->around;
  return before;
}

void tvms_emit_go_back(emitter *e, LLVMModuleRef module) {
  e->module = module;
}

void tvms_emit_hide(emitter *e, LLVMValueRef value) {
  if (e->around)
    LLVMSetVisibility(value, LLVMHiddenVisibility);
  else
    LLVMSetLinkage(value, LLVMInternalLinkage);
}
