// Which release a text is written for: the marks in it are bounds (docs/language.md).
#ifndef TVMS_PARSER_DIALECT_MARKS_H
#define TVMS_PARSER_DIALECT_MARKS_H

#include "grammar/surface.h"
#include "parser/python_file.h"
#include "parser/read.h"

typedef struct {
  tvms_dialect dialect;
  bool mixed;  // marks exclude each other, which was reported
  bool
      differs;  // only marks of different definitions do: each has a release of its own
} tvms_dialect_marked;

// The dialect to read a surface tree as, by the marks in it. Of a Python file those of its
// imports and of the definitions at `script` count (NULL: it is not one).
tvms_dialect_marked tvms_dialect_marks_read(tvms_context *context,
                                            const tvms_surface *surface,
                                            const tvms_read_options *options,
                                            const tvms_spans *TVMS_NULLABLE script);

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
