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
#include "support/names.h"
#include "support/vec.h"

typedef struct tvms_reader tvms_reader;
typedef struct tvms_eval_value tvms_eval_value;
typedef struct tvms_row tvms_row;

// What as.<member> of parser/eval/values.def holds, where the kind does not say it:
//   BOOL       0 or 1
//   INT        flag LARGE: an uint64 past INT64_MAX, its bits
//   DTYPE      a data type as an object, `A.dtype`; compares equal to its text
//   SET        items without repetition
//   DICT       key, value, key, value …
//   RANGE      start, stop, step, all INT
//   SLICE      lower, upper, step; NONE where not given
//   MACRO      flag INLINE: T.inline, else T.macro or R.macro
//   NODE       a value, buffer, region, StructInfo or object of the IR
//   DTYPE_NAME T.int32 as a callable
//   NAMESPACE  tvms_namespace
//   BUILTIN    a function of Python (builtin.c)
//   OPERATOR   an operator of TIR by its spelling below T, "ptx.cp_async"
//   METHOD     a receiver and a name
//   FRAME      not yet opened; see parser/tir/tir.h
//   META       [0]: what T.meta_var or I.meta_var was given
//   LET        [0]: T.let[x]; len 0: T.let
//   VECTOR     the DTYPE_NAME, then the extents: T.float32[4]
//   OPTIONAL   [0]: T.Optional(x)
//   MODULE     nothing: the class that is being read; its attributes are functions
//   TYPE_VAR   TypeVar("n"), module or PEP 695
//   LAYOUT     a spec that is not finished yet, T.S[…] + T.R[…]
//   AXIS       Axis.laneid
//   PYTHON     a dotted name of Python, "tvm.tir"
//   RELAX      what only parser/relax understands; `spare` tells it apart
//   PTX        T.ptx.SINK (none), T.ptx.pred(x), T.ptx.addr(x, n)
//   STORED     an object of the metadata section; parser/metadata.h
typedef enum {
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/eval/values.def"
} tvms_eval_kind;

enum {
  TVMS_EVAL_COUNT = 0
#define VALUE(kind, member, text, ops) +1
#include "parser/eval/values.def"
};

enum {
  TVMS_EVAL_LARGE = 1,     // INT
  TVMS_EVAL_INLINE = 2,    // MACRO
  TVMS_EVAL_HYGIENIC = 4,  // MACRO
  TVMS_EVAL_SCALAR = 8,    // NODE: a load that stands for a mutable scalar
  TVMS_EVAL_EQUALITY = 16,  // NODE: `a == b` or `a != b` of Python, which has a truth …
  TVMS_EVAL_ARRAY =
      128,  // LIST, TUPLE: an array of TVM, which one name cannot stand for
  TVMS_EVAL_WHOLE = 64,  // NODE: `x.buffer`, the buffer and not its one element
  TVMS_EVAL_SAME = 32,  // … namely whether the operands are the same (are not, for !=)
};

typedef struct {
  tvms_eval_value *items;
  uint32_t len;
} tvms_eval_items;

typedef struct tvms_closure tvms_closure;  // parser/eval/closure.h
typedef struct tvms_frame tvms_frame;      // parser/tir/tir.h
typedef struct tvms_layout_spec tvms_layout_spec;
typedef struct tvms_stored tvms_stored;  // parser/metadata.c
typedef struct {
  tvms_eval_value *receiver;
  tvms_sym name;
} tvms_method;

struct tvms_eval_value {
  uint8_t kind;  // tvms_eval_kind
  uint8_t flags;
  uint16_t spare;
  uint32_t len;  // of items and text
  union {
    int64_t i;
    double f;
    const char *text;
    tvms_dtype dtype;
    tvms_eval_value *items;
    tvms_node *node;
    tvms_sym sym;
    const tvms_row *row;
    const tvms_closure *closure;
    tvms_method *method;
    tvms_frame *frame;
    tvms_layout_spec *layout;
    tvms_stored *stored;
  } as;
};

_Static_assert(sizeof(tvms_eval_value) == 16, "values are passed in two registers");

#define TVMS_UNKNOWN ((tvms_eval_value){.kind = TVMS_EVAL_UNKNOWN})
#define TVMS_NOTHING ((tvms_eval_value){.kind = TVMS_EVAL_NONE})

static inline tvms_eval_value tvms_eval_value_int(int64_t i) {
  return (tvms_eval_value){.kind = TVMS_EVAL_INT, .as.i = i};
}
static inline tvms_eval_value tvms_eval_value_bool(bool b) {
  return (tvms_eval_value){.kind = TVMS_EVAL_BOOL, .as.i = b};
}
static inline tvms_eval_value tvms_eval_value_float(double f) {
  return (tvms_eval_value){.kind = TVMS_EVAL_FLOAT, .as.f = f};
}
static inline tvms_eval_value tvms_eval_value_text(const char *text, uint32_t len) {
  return (tvms_eval_value){.kind = TVMS_EVAL_STR, .len = len, .as.text = text};
}
static inline tvms_eval_value tvms_eval_value_dtype(tvms_dtype dtype) {
  return (tvms_eval_value){.kind = TVMS_EVAL_DTYPE, .as.dtype = dtype};
}
// NULL gives the unknown value: whoever returned NULL has reported.
static inline tvms_eval_value tvms_eval_value_node(tvms_node *TVMS_NULLABLE node) {
  if (!node) return TVMS_UNKNOWN;
  return (tvms_eval_value){.kind = TVMS_EVAL_NODE, .as.node = node};
}
static inline tvms_eval_value
tvms_eval_value_items(tvms_eval_kind kind, tvms_eval_value *items, uint32_t len) {
  return (tvms_eval_value){.kind = (uint8_t)kind, .len = len, .as.items = items};
}
static inline bool tvms_eval_value_is(tvms_eval_value value, tvms_eval_kind kind) {
  return value.kind == kind;
}
static inline bool tvms_eval_value_is_known(tvms_eval_value value) {
  return value.kind != TVMS_EVAL_UNKNOWN;
}
static inline bool tvms_eval_value_is_sequence(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST;
}
// The items of a tuple or list, or the value itself as the only one.
static inline tvms_eval_items tvms_eval_items_of(tvms_eval_value *value) {
  if (tvms_eval_value_is_sequence(*value))
    return (tvms_eval_items){value->as.items, value->len};
  return (tvms_eval_items){value, 1};
}
// The node in a value, if it is one of `kind`; else NULL.
static inline tvms_node *TVMS_NULLABLE tvms_eval_value_node_of(tvms_eval_value value,
                                                               tvms_node_kind kind) {
  return value.kind == TVMS_EVAL_NODE && value.as.node->kind == kind ? value.as.node
                                                                     : NULL;
}

// ---- Calls ----------------------------------------------------------------------------

// Namespaces of ir/calls.def.
typedef enum {
  TVMS_NS_NONE,
#define CALL(ns, name, signature, since, until, handler)
#define NAMESPACE(ident, path) TVMS_NS_##ident,
#include "ir/calls.def"
} tvms_namespace;

// The arguments of a call, bound to the parameters of a row: `args[i]` is parameter i, its
// default if the call does not give it; the rest parameters hold a TUPLE (*args) and a
// DICT (**kwargs). `refs[i]` is the place of the argument, or of the call.
typedef struct {
  const tvms_row *row;
  tvms_ref ref;  // the CALL node
  const tvms_eval_value *args;
  const tvms_ref *refs;
  uint64_t given;        // bit i: parameter i was given by the call
  tvms_namespace scope;  // of a tile primitive: T.warp.copy
} tvms_call_args;

typedef tvms_eval_value tvms_handler(tvms_reader *reader, const tvms_call_args *call);

typedef enum {
  TVMS_PARAM_PLAIN,
  TVMS_PARAM_KEYWORD_ONLY,
  TVMS_PARAM_REST,      // *args
  TVMS_PARAM_KEYWORDS,  // **kwargs
} tvms_param_kind;

typedef struct {
  tvms_sym name;
  tvms_param_kind kind;
  bool required;
  tvms_eval_value value;  // the default
} tvms_param;

enum { TVMS_MAX_PARAMS = 32 };

typedef struct {
  uint32_t count;
  uint32_t plain;    // number of plain parameters: the first ones
  int32_t rest;      // index of *args, -1: none
  int32_t keywords;  // index of **kwargs, -1: none
  tvms_param params[];
} tvms_signature;

typedef enum {
  TVMS_ROW_CALL,
  TVMS_ROW_VALUE,      // its handler makes the value
  TVMS_ROW_NAMESPACE,  // rule: tvms_namespace
  TVMS_ROW_DTYPE,      // op: code, rule: bits
} tvms_row_kind;

// A signature of a method, known by the address of its text.
typedef struct {
  const char *text;
  const tvms_signature *signature;
} tvms_known_signature;

// One row of ir/calls.def.
struct tvms_row {
  uint8_t namespace_;
  uint8_t kind;   // tvms_row_kind
  uint8_t since;  // tvms_dialect, first that has it
  uint8_t until;  // last that has it
  tvms_sym name;
  const char *signature;  // "start, stop=None, *, annotations=None"; CALL only
  tvms_handler *handler;
  uint32_t op;   // tvms_tir_opcode of the operator that it builds, or 0
  uint8_t rule;  // rule for the dtype of that call, see parser/tir/intrinsic.c
};

// ---- Scopes ---------------------------------------------------------------------------

typedef struct tvms_binding {
  tvms_eval_value value;
  struct tvms_binding *outer;  // what it hides
  struct tvms_binding *next;   // of the scope it lives in
  tvms_sym name;
  uint32_t depth;  // of that scope, from 1
  tvms_span span;  // where it was bound, for notes
} tvms_binding;

// Part of the scopes that a name may be looked up in; a macro body sees those of its
// definition and its own.
typedef struct tvms_visible {
  const struct tvms_visible *outer;
  uint32_t begin;  // depth of the first scope
  uint32_t end;    // one past the last; UINT32_MAX: open
} tvms_visible;

// ---- The reader -----------------------------------------------------------------------

typedef enum {
  TVMS_READING_NOTHING,  // module and file level
  TVMS_READING_TIR,
  TVMS_READING_RELAX,
} tvms_reading;

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
  tvms_reading reading;
  tvms_module *TVMS_NULLABLE module;  // being read
  tvms_unit
      *unit;  // where nodes go: the function's, or the module's for its attributes
  tvms_arena values;     // what values point to; reset after each function
  tvms_binding **names;  // by symbol: the innermost binding
  uint32_t name_cap;
  tvms_arena bindings;
  tvms_binding *free_bindings;
  uint32_t depth;                     // open scopes
  TVMS_VEC(tvms_binding *) scopes;    // by depth: newest binding of the scope
  const tvms_visible *visible;        // never NULL; the innermost part, open at its end
  const tvms_signature **signatures;  // by row
  TVMS_VEC(tvms_def) defs;            // of the module, by member
  // What the decorators of a definition inside a body say; reports what is wrong with them.
  tvms_decoration (*decorate)(tvms_reader *reader, tvms_ref definition);
  TVMS_VEC(tvms_known_signature) methods;
  tvms_arena kept;    // what lives as long as the reader: signatures, macros
  bool written;       // inside a lambda that TVM may have written with 'and' and 'or'
  bool native;        // inside a lambda or comprehension: operators are Python's own
  bool step_given;    // the next subscript is an operand: its slices have step 1
  bool drops_dtype;   // the next call bound may name a dtype for nothing
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
