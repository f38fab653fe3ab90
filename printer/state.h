// What the canonical printer keeps while it writes. Private to printer/.
//
// Text. Output goes straight into one buffer, `main`. TVM places some lines only after it has
// seen what follows them: definitions of variables that nothing defines, TypeVars, `cls =
// Module`. Such a line goes into `late`, with the offset of `main` at which it belongs, and
// print.c merges both texts when a module is complete. Nothing is ever inserted in the middle
// of what is written, so printing is linear. Of lines for one place the one that was made first
// stands first.
//
// Frames. A frame is a scope of names and a place for such lines, as in TVM's IRDocsifier: the
// module, a function, what a loop, a block or a branch holds. `at` is where its current
// statement begins; a line that is added to the frame goes there. If the body of a function has
// not begun, because its signature is being written, the place is PRINT_PENDING until
// tvms_print_settle knows it.
//
// Names. `names` has, by the id of a variable or a buffer, how it is written now; NAMED_NOT
// means that nothing has defined it. A frame links what it defined into a list (`newest`,
// `older`), and when it is popped all of it is NAMED_NOT again and the names are free, so that
// the next scope may use them. `symbols` has the names that are taken, by symbol. The invariant:
// a name is taken if and only if it is reserved, or an object in a frame that is open has it.
//
//     for i in range(4):     # frame of the loop: `i` is defined
//         A[i] = T.float32(0)
//     for i in range(8):     # the first frame is gone: `i` again, and not `i_1`
//         A[i] = T.float32(1)
//
// Where an object that nothing has defined is defined is TVM's rule in plan.c; which name it
// gets is TVM's rule in names.c (src/script/printer/ir_docsifier.cc).
#ifndef TVMS_PRINTER_STATE_H
#define TVMS_PRINTER_STATE_H

#include "ir/fold.h"
#include "printer/print.h"
#include "support/vec.h"

// Which names an expression may use: TVM's dispatch token.
typedef enum { PRINT_IR, PRINT_TIR, PRINT_RELAX } print_token;

// Prefixes that occurred in the text.
enum { USED_I = 1, USED_T = 2, USED_R = 4, USED_TYPE_VAR = 8 };

// How binding an operator is; higher binds tighter (Python's levels).
typedef enum {
  LEVEL_ANY,
  LEVEL_LAMBDA,
  LEVEL_IF_ELSE,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_NOT,
  LEVEL_COMPARE,
  LEVEL_BIT_OR,
  LEVEL_BIT_XOR,
  LEVEL_BIT_AND,
  LEVEL_SHIFT,
  LEVEL_ADD,
  LEVEL_MUL,
  LEVEL_UNARY,
  LEVEL_POWER,
  LEVEL_ATOM,
} print_level;

// How a variable or buffer is written where it is used.
typedef enum {
  NAMED_NOT,     // nothing defined it yet
  NAMED_TEXT,    // by `name`
  NAMED_DATA,    // A.data of `owner`
  NAMED_STRIDE,  // A.strides[index]
  NAMED_OFFSET,  // A.elem_offset
  NAMED_DEAD,    // a parameter that the dialect has no name for
} print_naming;

// A declared buffer, and the one declared before it over the same pointer.
typedef struct {
  const tvms_node *buffer;
  uint32_t before;  // index + 1; 0: none
} print_shown;

enum { PRINT_PRIM_PARAM = 1u << 30 };

typedef struct {
  uint8_t how;     // print_naming
  bool signature;  // a symbolic variable of the signature being written
  bool type_var;   // written as TypeVar
  uint32_t index;  // of a stride; of a parameter: PRINT_PRIM_PARAM
  tvms_sym name;
  uint32_t older;          // id of what the same frame defined before
  const tvms_node *owner;  // buffer of A.data …; loop (FOR) of a loop variable
} print_name;

// What is known about a symbol.
typedef struct {
  bool taken;        // alive as a name
  bool member;       // a function of the module
  bool type_var;     // declared as TypeVar
  uint32_t numbers;  // names <symbol>_<i> with i from 1 to this are taken
} print_symbol;

typedef enum { FRAME_MODULE, FRAME_TIR, FRAME_RELAX } print_frame_kind;

#define PRINT_PENDING SIZE_MAX

typedef TVMS_VEC(tvms_node *) tvms_vec_nodes;

// A scope of names, and a place where definitions may be added.
typedef struct {
  const tvms_node *TVMS_NULLABLE node;  // TVM's object of the frame
  size_t at;  // offset of its current statement; PRINT_PENDING: its body begins later
  uint32_t newest;   // id of what it defined last; 0: nothing
  uint16_t kind;     // print_frame_kind
  bool is_function;  // of Relax
  bool has_alias;    // `cls = Module` is written
  bool is_fixed;     // lines do not move `at`: they are inside its current statement
  bool is_dropped;   // definitions in it are never seen (bodies of lambdas)
  uint32_t indent;
} print_frame;

// Text that belongs at offset `at` of the main text.
typedef struct {
  size_t at;
  size_t begin;
  size_t end;
} print_late;

typedef struct tvms_scopes tvms_scopes;

struct tvms_printer {
  tvms_context *context;
  tvms_memory *memory;
  tvms_dialect dialect;
  tvms_strbuf *out;   // where text goes at the moment
  tvms_strbuf main;   // the text
  tvms_strbuf late;   // texts of `lates`
  tvms_strbuf spare;  // for tvms_print_move
  tvms_unit scratch;  // nodes that folding makes
  print_token token;
  uint32_t used;  // USED_…
  uint32_t indent;
  bool blank;  // an empty line is due before the next one
  const tvms_print_comment *TVMS_NULLABLE comments;  // comments.c: those of the source
  uint32_t comment_count;
  bool *written;   // by comment
  uint32_t next;   // comment of the function being written
  uint32_t above;  // comments before `next` from this one on stand above the line
  uint32_t tail;   // 1 + the comment behind the line; 0: none
  bool failed;     // something could not be said
  bool quiet;      // report nothing
  // Of single nodes: whose devices and meshes their names are counted in.
  const tvms_module *TVMS_NULLABLE home;
  bool metadata;   // keep constants
  bool unchecked;  // the options ask for check_well_formed=False
  bool s_tir;      // of the function being written
  bool again;      // a parameter written as its buffer turned out to be used
  bool quotes;     // a signature of Relax is being written: new variables are quoted
  const tvms_module *TVMS_NULLABLE
      module;  // NULL: a function or fragment that stands alone
  const tvms_node *TVMS_NULLABLE function;
  const tvms_node *TVMS_NULLABLE source;  // of the declaration that is written next
  const tvms_node *TVMS_NULLABLE
      expected;                       // type of the variable that a call is bound to
  tvms_scopes *TVMS_NULLABLE scopes;  // made on demand, see plan.c
  TVMS_VEC(print_name) names;         // by node id
  TVMS_VEC(print_symbol) symbols;     // by tvms_sym
  TVMS_VEC(print_frame) frames;
  TVMS_VEC(print_late) lates;
  tvms_span
      here;  // the statement or function at hand, for what has no place of its own
  TVMS_VEC(const tvms_node *) kept;  // objects of the metadata section
  uint32_t kept_constants;           // how many of them there are of the usual kinds
  uint32_t kept_texts;
  uint32_t kept_strings;
  TVMS_VEC(uint32_t) omitted;  // by the symbol of ir/omitted.h: its number + 1
  uint32_t leaves_out;         // objects without value that were written
  TVMS_VEC(const tvms_node *) signed_vars;  // with the flag `signature`
  TVMS_VEC(const tvms_node *) type_vars;    // to be declared as TypeVar
  TVMS_VEC(tvms_sym) hints;  // by node id: the name of this release; 0: the node's own
  TVMS_VEC(tvms_sym) declared;        // as TypeVar by the module being written
  TVMS_VEC(const tvms_node *) roots;  // by id of a view's pointer: the one it shares
  TVMS_VEC(print_shown) views;        // declared buffers, see alias.c
  TVMS_VEC(uint32_t) newest_view;     // by id of a pointer: index in views + 1
  TVMS_VEC(uint32_t) used_params;     // ids of handles that are used by themselves
  tvms_strbuf *TVMS_NULLABLE whole;   // what the program is appended to …
  size_t begin;                       // … from here on
  uint32_t printed;                   // modules
};

// ---- names.c ----

// How a variable or buffer is written now; the pointer dies when another object is
// asked for.
print_name *tvms_print_name_of(tvms_printer *p, const tvms_node *object);

// Has it got a way to be written?
static inline bool tvms_print_defined(tvms_printer *p, const tvms_node *object) {
  return tvms_print_name_of(p, object)->how != NAMED_NOT;
}

// The innermost frame; the pointer dies with the next push.
static inline print_frame *tvms_print_top(tvms_printer *p) {
  return &p->frames.items[p->frames.len - 1];
}

// Its number.
static inline uint32_t tvms_print_top_index(const tvms_printer *p) {
  return p->frames.len - 1;
}

// ---- comments.c ----

// Finds the comments that belong to a statement or function and those before it that
// nothing has taken.
void tvms_print_take_comments(tvms_printer *p, const tvms_node *node);

// Writes the comment behind the line that ends.
void tvms_print_tail(tvms_printer *p);

// ---- text.c ----

#define PUT(p, literal) tvms_strbuf_add((p)->out, literal, sizeof(literal) - 1)

// A text as it is.
static inline void tvms_print_put(tvms_printer *p, const char *text) {
  tvms_strbuf_puts(p->out, text);
}

// The text of a symbol.
static inline void tvms_print_sym(tvms_printer *p, tvms_sym sym) {
  const tvms_name *name = tvms_interner_name(&p->context->names, sym);
  tvms_strbuf_add(p->out, name->text, name->len);
}

// A number.
static inline void tvms_print_int(tvms_printer *p, int64_t value) {
  tvms_strbuf_int(p->out, value);
}

// Ends a line, behind the comment that belongs to it.
static inline void tvms_print_end(tvms_printer *p) {
  if (p->tail) tvms_print_tail(p);
  tvms_strbuf_putc(p->out, '\n');
}

// Notes which statement is written.
static inline void tvms_print_note(tvms_printer *p, const tvms_node *node) {
  if (!node->span.end) return;
  p->here = node->span;
  if (p->comments) tvms_print_take_comments(p, node);
}

// Redirects output to `to` and returns where it went before.
static inline tvms_strbuf *tvms_print_redirect(tvms_printer *p, tvms_strbuf *to) {
  tvms_strbuf *before = p->out;
  p->out = to;
  return before;
}

// A line that is added to the statements of a frame, before its current one: output between
// begin and end is its text. Lines may nest.
typedef struct {
  tvms_strbuf text;
  tvms_strbuf *before;  // where output went
  uint32_t frame;
} print_added;

// Separator of lists: nothing the first time, then ", ".
static inline void tvms_print_comma(tvms_printer *p, bool *first) {
  if (!*first) PUT(p, ", ");
  *first = false;
}

// ---- expr.c, call.c ----

// An expression where what is less binding than `level` needs parentheses.
void tvms_print_expr(tvms_printer *p, const tvms_node *node, print_level level);

// An expression that needs no parentheses.
static inline void tvms_print_any(tvms_printer *p, const tvms_node *node) {
  tvms_print_expr(p, node, LEVEL_ANY);
}

// ---- buffer.c ----

typedef enum {
  DEFINES_NOTHING,  // everything in the buffer must be defined before
  DEFINES_DATA,     // the data pointer comes with it
  DEFINES_ALL,      // and new variables of shape, strides, offset
  DEFINES_FREELY,  // as DEFINES_DATA; a pointer from elsewhere is not said (0.26 on, and what T.reads named before)
} print_definitions;

typedef enum { LAYOUT_NONE, LAYOUT_DEFAULT, LAYOUT_OTHER } print_layout;

// ---- stmt.c, scope.c, block.c, loop.c, tile.c ----

// What stands to the right of `with` or '=' of a statement that opens a scope, and where
// its scope begins; see scope.c.
typedef struct {
  const tvms_node *TVMS_NULLABLE defines;  // variable or buffer that it binds
  const tvms_node *node;                   // TVM's object of the scope
  uint32_t taken;                          // statements of the list that it consists of
  bool annotate;                           // flat form is `x: type = value`
} print_opening;

#endif
