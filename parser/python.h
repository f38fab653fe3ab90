// Names of Python modules that TVMScript files mention: `tvm.tir.…`, `tvm.target.Target`.
#ifndef TVMS_PARSER_PYTHON_H
#define TVMS_PARSER_PYTHON_H

#include "parser/eval/eval.h"

// What a dotted name of Python stands for: "tvm.script.tir" is T, "tvm.tir.const" a
// callable of T; anything else is a VALUE_PYTHON that remembers its name.
tvms_eval_value tvms_python_name(tvms_reader *reader, const char *path);

// An attribute below such a name; unknown after a report.
tvms_eval_value tvms_python_attribute(tvms_reader *reader, tvms_eval_value object,
                                      tvms_sym name, tvms_ref ref);

// Binds what the import statement at `stmt` brings into scope.
void tvms_python_read_import(tvms_reader *reader, tvms_ref stmt);

// Binds `name` to what the dotted name `path` stands for.
void tvms_python_bind_import(tvms_reader *reader, const char *path, tvms_sym name,
                             tvms_span span);

// Binds the names that a file knows without imports: I, T, R, tvm and so on. Printed text
// has its imports in comments only; a file that imports a namespace itself knows it by the
// names that it says, as Python does.
void tvms_python_bind_prefixes(tvms_reader *reader);

// A call whose callee is a name of Python; unknown where Python alone knows the result.
tvms_eval_value tvms_python_call(tvms_reader *reader, tvms_eval_value callee,
                                 tvms_ref call);

// True of the name of something imported. In
//
//   try:
//       from tvm.script import tirx as T
//   except ImportError:
//       T = None
//
// what stands below uses T as if the import had succeeded.
bool tvms_python_is_imported(const tvms_reader *reader, tvms_sym name);

// An import in a handler, which stands for one that failed: it counts if that bound nothing.
void tvms_python_read_import_anew(tvms_reader *reader, tvms_ref stmt);

#endif
