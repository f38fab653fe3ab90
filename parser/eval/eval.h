// Evaluation of the closed language (docs/architecture.md, "Evaluation"): values, scopes
// and calls. Everything in parser/ works on a tvms_reader.
//
// A value that is unknown is silent: either its cause has been reported, or it is a name
// that Python binds around the definition and we cannot see. Whatever is built on it is
// unknown too, and nothing is reported about it.
#ifndef TVMS_PARSER_EVAL_EVAL_H
#define TVMS_PARSER_EVAL_EVAL_H

#include "grammar/surface.h"
#include "ir/module.h"
#include "parser/eval/definition.h"
#include "parser/eval/row.h"
#include "parser/eval/signature.h"
#include "parser/eval/value.h"

// ---- Scopes ---------------------------------------------------------------------------

typedef struct tvms_binding {
  tvms_eval_value value;
  struct tvms_binding *outer;  // what it hides
  struct tvms_binding *next;   // of the scope it lives in
  tvms_sym name;
  uint32_t depth;  // of that scope, from 1
  tvms_span span;  // where it was bound, for notes
} tvms_binding;

// Who evaluates the expressions of a scope. The difference shows in comparisons, `and`, `or`
// and `not` of values of TVM: its own evaluator builds nodes that do not fold, Python calls
// the operators of the objects.
typedef enum {
  TVMS_EVALUATOR_TVM,     // TVM's evaluator of scripts
  TVMS_EVALUATOR_PYTHON,  // Python: bodies of lambdas and comprehensions
  // Python, for a lambda that TVM itself may have printed: with `and`, `or` and `not`, which
  // it cannot read back.
  TVMS_EVALUATOR_PRINTED,
} tvms_evaluator;

typedef struct {
  tvms_binding *TVMS_NULLABLE newest;  // of its bindings
  tvms_evaluator evaluator;
} tvms_scope;

// Part of the scopes that a name may be looked up in; a macro body sees those of its
// definition and its own.
typedef struct tvms_visible {
  const struct tvms_visible *outer;
  uint32_t begin;  // depth of the first scope
  uint32_t end;    // one past the last; UINT32_MAX: open
} tvms_visible;

// ---- The reader -----------------------------------------------------------------------

// What the language of a definition adds to the evaluation of its expressions; the room
// that reads the definition has it.
typedef struct tvms_language {
  // An expression is evaluated only if all its names are bound before: `(x := 1)` binds
  // none of them first.
  bool binds_first;
  // Whatever helps with an undefined name that was just reported; `near` is the nearest name
  // in scope. NULL: `near` is suggested.
  void (*explain)(tvms_reader *reader, tvms_diag *diag, tvms_sym name, tvms_span span,
                  const char *TVMS_NULLABLE near);
  // Reads the body of a macro in place, for the call number `calls` of it; the value is
  // what it returns.
  tvms_eval_value (*expand)(tvms_reader *reader, tvms_ref body, uint32_t calls,
                            tvms_ref call);
} tvms_language;

struct tvms_reader {
  tvms_context *context;
  const struct tvms_eval_tables *tables;  // parser/eval/ops.h
  tvms_surface *surface;
  tvms_program *program;
  tvms_dialect dialect;
  bool mixed;    // the text has marks of releases that exclude each other; reported
  bool lenient;  // a .py file: names that nothing binds are unknown, silently
  const tvms_span *TVMS_NULLABLE script;   // of a .py file: TVMScript not yet read …
  uint32_t script_count;                   // … in order (python_file.h)
  const struct tvms_needed_names *needed;  // by that TVMScript (needed_names.h)
  bool python_constant;     // evaluating Python around TVMScript; what …
  uint32_t constant_steps;  // … that took so far
  tvms_ref statement;       // of the file: what is being read
  const tvms_language *TVMS_NULLABLE language;  // NULL: of a file or module
  tvms_module *TVMS_NULLABLE module;            // being read
  tvms_unit
      *unit;  // where nodes go: the function's, or the module's for its attributes
  tvms_arena values;     // what values point to; reset after each function
  tvms_binding **names;  // by symbol: the innermost binding
  uint32_t name_cap;
  tvms_arena bindings;
  tvms_binding *free_bindings;
  uint32_t depth;                     // open scopes
  TVMS_VEC(tvms_scope) scopes;        // by depth; [0] is none
  const tvms_visible *visible;        // never NULL; the innermost part, open at its end
  const tvms_signature **signatures;  // by row
  TVMS_VEC(tvms_def) defs;            // of the module, by member
  // What the decorators of a definition inside a body say; reports what is wrong with them.
  tvms_decoration (*decorate)(tvms_reader *reader, tvms_ref definition);
  TVMS_VEC(tvms_known_signature) methods;
  tvms_arena kept;    // what lives as long as the reader: signatures, macros
  bool too_deep;      // said so
  bool too_long;      // said that a limit of the evaluation was reached
  bool endless_call;  // said that calls of lambdas or macros never end
  uint32_t calls;     // of lambdas and macros, inside each other
  bool origin_known;  // by_hand and headed are known
  bool by_hand;       // the text was not printed; see parser/tir/names.c
  bool headed;        // it begins as printed text does
  bool failed;  // something of the current function is unknown: it cannot be built
  struct tvms_tir_state *TVMS_NULLABLE tir;      // of the PrimFunc being read
  struct tvms_relax_state *TVMS_NULLABLE relax;  // of the Relax function being read
  const void *
      *op_signatures;  // of Relax operators, by opcode; see parser/relax/signature.c
};

// ---- From values to nodes -------------------------------------------------------------

// Marks the definition being read as one with findings; what failed is unknown.
static inline tvms_eval_value tvms_reader_failed(tvms_reader *reader) {
  reader->failed = true;
  return TVMS_UNKNOWN;
}

// ---- Small helpers --------------------------------------------------------------------

static inline const tvms_surf *tvms_reader_at(const tvms_reader *reader, tvms_ref ref) {
  return tvms_surface_at(reader->surface, ref);
}
static inline tvms_span tvms_reader_span_of(const tvms_reader *reader, tvms_ref ref) {
  return tvms_surface_span(reader->surface, ref);
}

// Reports at the place of `ref`: tvms_reader_report(reader, row of diag.def, ref, arguments…).
#define tvms_reader_report(...) TVMS_READER_REPORT(__VA_ARGS__, 0)
#define TVMS_READER_REPORT(reader, name, ref, ...)                                     \
  tvms_diag_report(&(reader)->context->diags, TVMS_D_##name,                           \
                   tvms_reader_span_of((reader), (ref)), __VA_ARGS__)

#endif
