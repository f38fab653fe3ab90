// Which release a text is written for: the marks in it are bounds (docs/language.md).
#ifndef TVMS_PARSER_DIALECT_MARKS_H
#define TVMS_PARSER_DIALECT_MARKS_H

#include "grammar/surface.h"
#include "parser/read.h"

// The dialect to read a surface tree as. Marks that exclude each other are reported.
tvms_dialect tvms_dialect_marks_read(tvms_context *context, const tvms_surface *surface,
                                     const tvms_read_options *options);

// A comment that is an import: `# from tvm.script import tirx as T`.
typedef struct {
  const char *path;  // "tvm.script.tirx"
  tvms_sym name;     // T
  tvms_span span;
} tvms_commented_import;

// True if the module of a relative import is the package of TVMScript, or in it: in a file
// of TVM itself `from ..script import tir` is `from tvm.script import tir`.
bool tvms_dialect_marks_is_script_module(const char *name, size_t len);

// Reads name number `item` of comment `index`; false if it is not an import or has no such
// name. The path lies in context->arena.
bool tvms_dialect_marks_commented_import(tvms_context *context,
                                         const tvms_surface *surface, uint32_t index,
                                         uint32_t item, tvms_commented_import *import);

#endif
