// DWARF of lines only: each PrimFunc is a function of the file, each statement has the line it
// stands in. What a pass made of an operator or a loop has the line of that.
//
// Entries, and what raises errors, are not in the text and have no lines. A call of a function
// with lines must have one, or LLVM could not inline it; so within a PrimFunc all code has.
#include "backend/llvm/debug.h"

#include <llvm-c/DebugInfo.h>

// Producers are named for people; nothing reads it.
static const char producer[] = "tvms";

static void add_flag(emitter *e, const char *name, unsigned value) {
  LLVMMetadataRef number =
      LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(e->llvm), value, false));
  LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                    number);
}

void tvms_emit_debug_open(emitter *e) {
  const tvms_source *source = e->options->lines_of;
  if (!source) return;
  const char *folder = e->options->folder ? e->options->folder : "";
  e->debug = LLVMCreateDIBuilder(e->module);
  e->file = LLVMDIBuilderCreateFile(e->debug, source->name, strlen(source->name),
                                    folder, strlen(folder));
  LLVMDIBuilderCreateCompileUnit(e->debug, LLVMDWARFSourceLanguageC11, e->file,
                                 producer, sizeof producer - 1, true, "", 0, 0, "", 0,
                                 LLVMDWARFEmissionFull, 0, false, false, "", 0, "", 0);
  add_flag(e, "Debug Info Version", LLVMDebugMetadataVersion());
  add_flag(e, "Dwarf Version", 4);
}

void tvms_emit_debug_close(emitter *e) {
  if (e->debug) LLVMDIBuilderFinalize(e->debug);
}

void tvms_emit_debug_dispose(emitter *e) {
  if (e->debug) LLVMDisposeDIBuilder(e->debug);
  e->debug = NULL;
}

static tvms_place place_of(emitter *e, tvms_span span) {
  return tvms_source_place(&e->context->memory, e->options->lines_of, span.begin);
}

static void set_place(emitter *e, tvms_place place) {
  LLVMSetCurrentDebugLocation2(
      e->builder, LLVMDIBuilderCreateDebugLocation(e->llvm, place.line, place.column,
                                                   e->scope, NULL));
}

// A function that a pass made of nothing has the first line: a place of the function before
// it would not be one of its own.
void tvms_emit_debug_function(emitter *e, const char *name, tvms_span span) {
  if (!e->debug) return;
  tvms_place place = place_of(e, span);
  unsigned line = place.line;
  LLVMMetadataRef type =
      LLVMDIBuilderCreateSubroutineType(e->debug, e->file, NULL, 0, LLVMDIFlagZero);
  size_t len;
  const char *symbol = LLVMGetValueName2(e->function, &len);
  e->scope = LLVMDIBuilderCreateFunction(e->debug, e->file, name, strlen(name), symbol,
                                         len, e->file, line, type, true, true, line,
                                         LLVMDIFlagZero, true);
  LLVMSetSubprogram(e->function, e->scope);
  set_place(e, place);
}

void tvms_emit_debug_none(emitter *e) {
  e->scope = NULL;
  LLVMSetCurrentDebugLocation2(e->builder, NULL);
}

LLVMMetadataRef tvms_emit_debug_at(emitter *e, tvms_span span) {
  if (!e->scope) return NULL;
  LLVMMetadataRef before = LLVMGetCurrentDebugLocation2(e->builder);
  if (span.end) set_place(e, place_of(e, span));
  return before;
}

void tvms_emit_debug_back(emitter *e, LLVMMetadataRef before) {
  if (e->scope) LLVMSetCurrentDebugLocation2(e->builder, before);
}
