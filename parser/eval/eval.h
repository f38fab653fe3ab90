// The reader: scopes, the definition that is read, and what its evaluation works with.
// Everything in parser/ works on a tvms_reader.
#ifndef TVMS_PARSER_EVAL_EVAL_H
#define TVMS_PARSER_EVAL_EVAL_H

#include "grammar/surface.h"
#include "ir/module.h"
#include "ir/node_map.h"
#include "parser/eval/assume.h"
#include "parser/eval/definition.h"
#include "parser/eval/row.h"
#include "parser/eval/signature.h"
#include "parser/eval/value.h"
#include "support/diag_ids.h"

// ---- Scopes ---------------------------------------------------------------------------

typedef struct tvms_binding {
  tvms_eval_value value;
  struct tvms_binding *outer;  // what it hides
  struct tvms_binding *next;   // of the scope it lives in
  tvms_sym name;
  uint32_t depth;  // of that scope, from 1
  tvms_span span;  // where it was bound, for notes
  bool captured;   // by a lambda, which may outlive the scope
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

// A name that nothing binds, in the definition whose nodes go to `unit`.
typedef struct {
  const tvms_unit *TVMS_NULLABLE unit;
  tvms_sym name;
  tvms_span
      within;  // not empty: the function of Python in which no definition says it again
} tvms_undefined;

// ---- The reader -----------------------------------------------------------------------

// What the language of a definition adds to the evaluation of its expressions; the room
// that reads the definition has it.
struct tvms_language {
  // An expression is evaluated only if all its names are bound before: `(x := 1)` binds
  // none of them first.
  bool binds_first;
  // A bare number beside an operand with a data type has that type.
  bool bare_numbers;
  // Whatever helps with an undefined name that was just reported; `near` is the nearest name
  // in scope. NULL: `near` is suggested.
  void (*explain)(tvms_reader *reader, tvms_diag *diag, tvms_sym name, tvms_span span,
                  const char *TVMS_NULLABLE near);
  // Reads the body of a macro in place, for the call number `calls` of it; the value is
  // what it returns.
  tvms_eval_value (*expand)(tvms_reader *reader, tvms_ref body, uint32_t calls,
                            tvms_ref call);
  // Says what others may know of a function of the module before any body is read. NULL:
  // nothing. reader->unit is the member's.
  void (*declare)(tvms_reader *reader, const tvms_def *def, tvms_member *member);
  // Reads a function of the module into member->function; leaves it as it is when something
  // of it is unknown. reader->unit is the member's.
  void (*read)(tvms_reader *reader, const tvms_def *def, tvms_member *member);
};

// What evaluation may cost, and what of it has been used up (parser/eval/budget.h).
typedef struct {
  uint64_t most_bytes;  // that values may take
  uint32_t calls;       // of lambdas and macros, inside each other
  bool too_long;        // said that a limit was reached
  bool too_deep;        // said that expressions are nested too deep
  bool endless_call;    // said that calls of lambdas or macros never end
} tvms_budget;

// What the text looks like, found at first use (parser/eval/origin.h).
typedef struct {
  bool known;
  bool by_hand;  // the text was not printed
  bool headed;   // it begins as printed text does
} tvms_origin;

struct tvms_reader {
  // What is read, set by parser/read.c.
  tvms_context *context;
  const struct tvms_eval_tables *tables;  // parser/eval/ops.h
  tvms_surface *surface;
  tvms_program *program;
  tvms_dialect dialect;
  bool mixed;       // the text has marks of releases that exclude each other; reported
  bool as_written;  // what TVM writes and does not read is read
  bool lenient;     // a .py file: names that Python binds are unknown, silently
  bool postponed;   // of it: Python does not evaluate annotations
  bool open;        // of it: names that nothing binds here may be bound all the same
  // What the decorators of a definition inside a body say; reports what is wrong with them.
  tvms_decoration (*decorate)(tvms_reader *reader, tvms_ref definition);
  tvms_origin origin;

  // The definition that is being read.
  tvms_module *TVMS_NULLABLE module;
  TVMS_VEC(tvms_def) defs;                      // of the module, by member
  const tvms_language *TVMS_NULLABLE language;  // NULL: of a file or module
  // Where nodes go: to the function, or to the module for its attributes.
  tvms_unit *unit;
  bool failed;  // something of the function is unknown: it cannot be built
  // The definition with a target of too few names, which was reported: names that nothing
  // binds may be those that are missing.
  const tvms_unit *TVMS_NULLABLE short_of_names;
  // Names that were reported as undefined, and the definition: one is missing once, however
  // often it is used.
  TVMS_VEC(tvms_undefined) undefined;
  // Nodes of the file level, and their copies in `unit` by identity (parser/eval/outer.h).
  tvms_unit *TVMS_NULLABLE outer;
  tvms_node_map outer_copies;
  // Of a .py file: what was met first in the function that only Python knows, or {0, 0}.
  tvms_span unknown;
  tvms_assumptions assumptions;  // of what only Python knows

  // Scopes (parser/eval/scope.c).
  tvms_binding **names;  // by symbol: the innermost binding
  uint32_t name_cap;
  tvms_arena bindings;
  tvms_binding *free_bindings;
  uint32_t depth;               // open scopes
  TVMS_VEC(tvms_scope) scopes;  // by depth; [0] is not used
  tvms_visible everything;      // the part of all scopes
  const tvms_visible *visible;  // never NULL; the innermost part, open at its end

  // Memory of the evaluation.
  tvms_arena values;  // what values point to; reset after each function
  tvms_arena kept;    // what lives as long as the reader: signatures, macros
  tvms_budget budget;
  const tvms_signature **signatures;  // by row
  TVMS_VEC(tvms_known_signature) methods;
  // The call whose handler is at work: messages name the argument that is wrong.
  const struct tvms_call_args *TVMS_NULLABLE call;

  // Of the rooms above, by their number; each has accessors of its own and alone knows what
  // it put there. The state is that of the definition being read, NULL outside of one.
  void *TVMS_NULLABLE states[TVMS_EVAL_ROOMS];
  // What a room has made of its tables for the release being read, in `kept`.
  void *TVMS_NULLABLE made[TVMS_EVAL_ROOMS];
};

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

// What only Python computes, and the name in a Python file that it is called by: the first one
// of a definition is what it waits for.
static inline tvms_eval_value tvms_reader_of_python(tvms_reader *reader,
                                                    tvms_ref name) {
  if (reader->lenient && !reader->unknown.end)
    reader->unknown = tvms_reader_span_of(reader, name);
  return tvms_reader_failed(reader);
}

// Reports at the place of `ref`: tvms_reader_report(reader, row of diag.def, ref, arguments…).
#define tvms_reader_report(...) TVMS_READER_REPORT(__VA_ARGS__, 0)
#define TVMS_READER_REPORT(reader, name, ref, ...)                                     \
  tvms_diag_report(&(reader)->context->diags, TVMS_D_##name,                           \
                   tvms_reader_span_of((reader), (ref)), __VA_ARGS__)

#endif
