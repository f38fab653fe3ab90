// Statements of Python around the definitions of a file.
#ifndef TVMS_PARSER_PYTHON_BODY_H
#define TVMS_PARSER_PYTHON_BODY_H

#include "parser/eval/eval.h"

// A body that is followed.
typedef struct {
  // Only its value is wanted: of whatever else its statements do the value is unknown.
  bool pure;
  bool every;    // nothing is known that decides whether a statement is reached
  bool handler;  // of an exception: what it binds instead of what failed does not count
  bool ended;    // no statement behind is reached
  bool lost;     // the value that is returned is unknown
  tvms_eval_value result;
} tvms_python_run;

// Follows the statements from `body` on, in the innermost scope. `certain`: they are reached
// once, so that what they bind is known behind them.
void tvms_python_body_follow(tvms_reader *reader, tvms_ref body, bool certain,
                             tvms_python_run *run);

// Evaluates an expression of Python within a share of the file's limits, so that what follows
// can still be read when it is exceeded; then the value is unknown.
tvms_eval_value tvms_python_body_eval(tvms_reader *reader, tvms_ref expr);

// Goes through the statements of the file once, before it is read: which calls there are of
// functions that make definitions is known then. Nothing is reported.
void tvms_python_body_gather(tvms_reader *reader);

// Whether a statement behind the last definition is followed, too: one that a call of a function
// that makes definitions may be in, or that leads to such.
bool tvms_python_body_may_follow(const tvms_reader *reader, tvms_ref stmt);

// Reads a statement of a Python file: definitions of TVMScript wherever they stand in it.
// What Python binds around them is known if tvms can compute it, and else unknown; nothing
// is reported of it.
void tvms_python_body_read_stmt(tvms_reader *reader, tvms_ref stmt);

#endif
