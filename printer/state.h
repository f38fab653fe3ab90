// What the canonical printer keeps while it writes. Private to printer/.
//
// Text goes straight into one buffer. TVM places some lines only after it has seen what
// follows them: definitions of variables that nothing defines, header comments, type
// variables. Such a line is written into `late` together with the offset at which it
// belongs, and tvms_print_program merges both texts at the end, so everything is linear.
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

print_name *tvms_print_name_of(tvms_printer *p, const tvms_node *object);
static inline bool tvms_print_defined(tvms_printer *p, const tvms_node *object) {
  return tvms_print_name_of(p, object)->how != NAMED_NOT;
}

// Gives a variable or buffer a unique name that dies with frame number `frame`; an object
// that has a name keeps it. Returns the name.
tvms_sym tvms_print_define(tvms_printer *p, const tvms_node *object, uint32_t frame);

// Says that `var` is written as a part of `owner` as long as the frame lives.
void tvms_print_define_part(tvms_printer *p, const tvms_node *var, uint32_t frame,
                            print_naming how, const tvms_node *owner, uint32_t index);

void tvms_print_reserve(tvms_printer *p, const char *name);
print_symbol *tvms_print_symbol(tvms_printer *p, tvms_sym sym);

// Frames. The new one is the last of p->frames; its statements are indented as now.
uint32_t tvms_print_push(tvms_printer *p, print_frame_kind kind,
                         const tvms_node *TVMS_NULLABLE node);
void tvms_print_pop(tvms_printer *p);
static inline print_frame *tvms_print_top(tvms_printer *p) {
  return &p->frames.items[p->frames.len - 1];
}
static inline uint32_t tvms_print_top_index(const tvms_printer *p) {
  return p->frames.len - 1;
}

// The name that an object is to have if it is free.
tvms_sym tvms_print_hint(tvms_printer *p, const tvms_node *object);

// ---- hints.c ----

// The pointer that stands for the pointer of a view where views share theirs, up to 0.25.
// Any other pointer is its own root.
const tvms_node *tvms_print_root(const tvms_printer *p, const tvms_node *data);

// Fills p->hints for a function that another release names differently.
void tvms_print_hint_names(tvms_printer *p, const tvms_node *function);

// ---- comments.c ----
// Finds the comments that belong to a statement or function and those before it that
// nothing has taken.
void tvms_print_take_comments(tvms_printer *p, const tvms_node *node);
// Writes those that stand above the line that begins.
void tvms_print_above(tvms_printer *p);
// Writes those that are left inside a function.
void tvms_print_rest_comments(tvms_printer *p, const tvms_node *function);
// Writes the comment behind the line that ends.
void tvms_print_tail(tvms_printer *p);
// Writes, at column 0, what is left up to `anchor`.
void tvms_print_left_comments(tvms_printer *p, uint32_t anchor);

// ---- text.c ----

#define PUT(p, literal) tvms_strbuf_add((p)->out, literal, sizeof(literal) - 1)
static inline void tvms_print_put(tvms_printer *p, const char *text) {
  tvms_strbuf_puts(p->out, text);
}
static inline void tvms_print_sym(tvms_printer *p, tvms_sym sym) {
  const tvms_name *name = tvms_interner_name(&p->context->names, sym);
  tvms_strbuf_add(p->out, name->text, name->len);
}
// "T." + name and so on; marks the prefix as used.
void tvms_print_t(tvms_printer *p, const char *name);
void tvms_print_r(tvms_printer *p, const char *name);
void tvms_print_i(tvms_printer *p, const char *name);
void tvms_print_float(tvms_printer *p, double value);
void tvms_print_quoted(tvms_printer *p, const char *text, size_t len);
void tvms_print_dtype(tvms_printer *p, tvms_dtype dtype);         // float32
void tvms_print_quoted_dtype(tvms_printer *p, tvms_dtype dtype);  // "float32"
static inline void tvms_print_int(tvms_printer *p, int64_t value) {
  tvms_strbuf_int(p->out, value);
}

// Turns everything written since `from` into a string literal.
void tvms_print_quote_since(tvms_printer *p, size_t from);

// Puts the text that was written since `from` at `to` (to <= from).
void tvms_print_move(tvms_printer *p, size_t to, size_t from);

// Lines. begin flushes a due empty line, notes the place for definitions, indents.
void tvms_print_begin(tvms_printer *p);
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
void tvms_print_begin_line(tvms_printer *p, print_added *line, uint32_t frame);
void tvms_print_end_line(tvms_printer *p, print_added *line);

// Adds raw text at an offset of the main text.
void tvms_print_add_at(tvms_printer *p, size_t at, const char *text, size_t len);

// Gives late texts from number `first` on that wait for a body their place: here.
void tvms_print_settle(tvms_printer *p, uint32_t first);

// Separator of lists: nothing the first time, then ", ".
static inline void tvms_print_comma(tvms_printer *p, bool *first) {
  if (!*first) PUT(p, ", ");
  *first = false;
}

// Reports that the dialect cannot say something.
void tvms_print_cannot(tvms_printer *p, const tvms_node *TVMS_NULLABLE node,
                       const char *what);

void tvms_print_too_deep(tvms_printer *p, const tvms_node *node);

static inline bool tvms_print_is_classic(const tvms_printer *p) {
  return p->dialect <= TVMS_DIALECT_22;
}

// ---- changed.c ----

// Writes a call of an instruction that the release that is written has with other
// arguments. False: it is none of them, nothing was written.
bool tvms_print_changed(tvms_printer *p, const tvms_node *node, tvms_tir_opcode opcode);

// ---- plan.c ----

// The frame in which TVM would define `object`, or UINT32_MAX.
uint32_t tvms_print_lowest_frame(tvms_printer *p, const tvms_node *object);

// True if `stmt` encloses all uses of `object`.
bool tvms_print_encloses(tvms_printer *p, const tvms_node *stmt,
                         const tvms_node *object);
// The buffer that is just what a classic allocation allocates, the first one if there are
// several; NULL: none, or a statement declares it.
const tvms_node *TVMS_NULLABLE tvms_print_buffer_over_all(tvms_printer *p,
                                                          const tvms_node *allocate);
void tvms_print_forget_scopes(tvms_printer *p);

// The variables in an expression, each occurrence once; false from `see` ends the walk.
bool tvms_print_each_var(tvms_printer *p, const tvms_node *node,
                         bool (*see)(void *self, const tvms_node *var), void *self);
bool tvms_print_has_var(tvms_printer *p, const tvms_node *node);
bool tvms_print_mentions_type_var(tvms_printer *p, const tvms_node *node);

// ---- expr.c, call.c ----

void tvms_print_expr(tvms_printer *p, const tvms_node *node, print_level level);
static inline void tvms_print_any(tvms_printer *p, const tvms_node *node) {
  tvms_print_expr(p, node, LEVEL_ANY);
}
void tvms_print_list(tvms_printer *p, tvms_list list);  // a, b
// Text after '=' of a definition of a variable: T.int32(), T.handle("float32", "global").
void tvms_print_var_creation(tvms_printer *p, const tvms_node *var);
void tvms_print_var(tvms_printer *p, const tvms_node *var);
// The type of a variable as an annotation: T.int32, T.handle("float32", "global").
void tvms_print_type_of_var(tvms_printer *p, const tvms_node *var);
// Level of an operator that is written with sugar; LEVEL_ATOM for everything else.
print_level tvms_print_level_of(tvms_printer *p, const tvms_node *node);
void tvms_print_call(tvms_printer *p, const tvms_node *node, print_level level);
print_level tvms_print_call_level(tvms_printer *p, const tvms_node *node);
// A call that is written with an operator of Python.
bool tvms_print_is_bit_operator(tvms_printer *p, const tvms_node *node);
// The buffer of `A.data` where that is a call (T.buffer_data, since 0.26), or NULL.
const tvms_node *TVMS_NULLABLE tvms_print_buffer_of_data(const tvms_printer *p,
                                                         const tvms_node *node);
void tvms_print_global_var(tvms_printer *p, const tvms_node *node);
// `a + b` (or another operator) folded: nodes of p->scratch.
tvms_node *tvms_print_fold(tvms_printer *p, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b);

// ---- buffer.c ----

typedef enum {
  DEFINES_NOTHING,  // everything in the buffer must be defined before
  DEFINES_DATA,     // the data pointer comes with it
  DEFINES_ALL,      // and new variables of shape, strides, offset
  DEFINES_FREELY,   // as DEFINES_DATA; a pointer from elsewhere is not said (0.26 on)
} print_definitions;

void tvms_print_buffer(tvms_printer *p, const tvms_node *buffer);
// T.<method>(<before>, shape, dtype, …); `before` is text of leading arguments.
void tvms_print_buffer_decl(tvms_printer *p, const tvms_node *buffer,
                            const char *method, const tvms_strbuf *TVMS_NULLABLE before,
                            uint32_t frame, print_definitions definitions);
void tvms_print_buffer_annotation(tvms_printer *p, const tvms_node *buffer,
                                  uint32_t frame);
// T.Buffer(…) as a type: without the pointer of a buffer that is defined elsewhere.
void tvms_print_buffer_type(tvms_printer *p, const tvms_node *buffer);
// The name of a scalar buffer, which stands for its only element.
void tvms_print_scalar_name(tvms_printer *p, const tvms_node *buffer);
void tvms_print_indices(tvms_printer *p, tvms_list indices);  // [i, 0:4]
void tvms_print_load(tvms_printer *p, const tvms_buffer_load *load);
void tvms_print_store(tvms_printer *p, const tvms_store *store);
void tvms_print_region(tvms_printer *p, tvms_list ranges);  // [i, 0:4]
bool tvms_print_is_scalar(const tvms_printer *p, const tvms_node *buffer,
                          bool allocated);
tvms_sym tvms_print_scope_of(const tvms_node *buffer);  // 0: global
typedef enum { LAYOUT_NONE, LAYOUT_DEFAULT, LAYOUT_OTHER } print_layout;
bool tvms_print_is_row_major(const tvms_printer *p, const tvms_node *layout,
                             tvms_list shape);
print_layout tvms_print_layout_of(const tvms_printer *p, const tvms_node *buffer);
// Writes A.view(…) and the like and returns true if a declaration is an alias.
bool tvms_print_alias(tvms_printer *p, const tvms_node *buffer,
                      const tvms_node *TVMS_NULLABLE source);
// Notes a declared buffer: others may be views of it.
void tvms_print_note_view(tvms_printer *p, const tvms_node *buffer);
bool tvms_print_same(const tvms_node *a, const tvms_node *b);  // structurally
// The declared buffer whose data pointer `data` is, or NULL.
const tvms_node *TVMS_NULLABLE tvms_print_data_owner(tvms_printer *p,
                                                     const tvms_node *data);

// ---- stmt.c, scope.c, block.c, loop.c, tile.c ----

void tvms_print_body(tvms_printer *p, const tvms_node *stmt);
void tvms_print_stmt(tvms_printer *p, const tvms_node *stmt);
bool tvms_print_opens(const tvms_printer *p, const tvms_node *stmt);
// What stands to the right of `with` or '=' of a statement that opens a scope, and where
// its scope begins; see scope.c.
typedef struct {
  const tvms_node *TVMS_NULLABLE defines;  // variable or buffer that it binds
  const tvms_node *node;                   // TVM's object of the scope
  uint32_t taken;                          // statements of the list that it consists of
  bool annotate;                           // flat form is `x: type = value`
} print_opening;
print_opening tvms_print_opening(tvms_printer *p, tvms_node *const *stmts,
                                 uint32_t count, bool flat);
// True if a buffer lies over all of what `allocate` (ALLOCATE) allocates, or if the
// statement `next` declares such a buffer.
bool tvms_print_is_all_of(const tvms_node *allocate, const tvms_node *declared);
bool tvms_print_declares_all(const tvms_node *allocate, const tvms_node *next);
// A line that binds the data of a DECL_BUFFER, where its source is no pointer that up to
// 0.25 could stand after `data=`.
void tvms_print_bind_data(tvms_printer *p, const tvms_node *stmt);
void tvms_print_for(tvms_printer *p, const tvms_node *stmt);
void tvms_print_block(tvms_printer *p, const tvms_node *block,
                      const tvms_node *TVMS_NULLABLE realize);
void tvms_print_allocated(tvms_printer *p, const tvms_node *buffer);
void tvms_print_attr_args(tvms_printer *p, const tvms_node *stmt);
void tvms_print_tile_call(tvms_printer *p, const tvms_node *stmt);
void tvms_print_scope_id(tvms_printer *p, const tvms_node *stmt);
// `lambda i, j: value` of an INDEX_MAP with one result.
void tvms_print_lambda(tvms_printer *p, const tvms_node *object);
void tvms_print_layout_value(tvms_printer *p, const tvms_node *layout);
// What TVM has as one statement: the only item of a SEQ, the first one if the rest is its
// body, or the SEQ itself.
const tvms_node *tvms_print_only(const tvms_printer *p, const tvms_node *stmt);

// ---- object.c, sinfo.c ----

void tvms_print_object(tvms_printer *p, const tvms_node *object);
// `{"a": 1}`; keys in `hidden` (ended by NULL) are left out. Returns false and writes
// nothing if no pair is left.
bool tvms_print_map(tvms_printer *p, const tvms_node *TVMS_NULLABLE map,
                    const char *const *TVMS_NULLABLE hidden);
void tvms_print_vdevice_name(tvms_printer *p, const tvms_node *vdevice);
void tvms_print_sinfo(tvms_printer *p, const tvms_node *sinfo);
void tvms_print_pointer_type(tvms_printer *p, const tvms_node *TVMS_NULLABLE type,
                             bool as_value);
void tvms_print_shape_dim(tvms_printer *p, const tvms_node *dim);
void tvms_print_metadata_ref(tvms_printer *p, const tvms_node *object);

// ---- relax*.c ----

void tvms_print_relax_call(tvms_printer *p, const tvms_node *node);
void tvms_print_relax_value(tvms_printer *p, const tvms_node *node);
bool tvms_print_is_relax_call(const tvms_node *node);
void tvms_print_constant(tvms_printer *p, const tvms_node *node);
void tvms_print_relax_var(tvms_printer *p, const tvms_node *var);
void tvms_print_tir_var_in_relax(tvms_printer *p, const tvms_node *var);
void tvms_print_alias_name(tvms_printer *p);
void tvms_print_binding(tvms_printer *p, const tvms_node *binding);

// ---- functions and modules ----

void tvms_print_prim_func(tvms_printer *p, const tvms_node *function, tvms_sym name,
                          size_t head);
void tvms_print_relax_function(tvms_printer *p, const tvms_node *function,
                               tvms_sym name, size_t head, bool top);
void tvms_print_extern_func(tvms_printer *p, const tvms_node *function);
void tvms_print_module(tvms_printer *p, const tvms_module *module);
// The comment lines for the prefixes in `used`; ended by `end`.
void tvms_print_header(tvms_strbuf *out, tvms_dialect dialect, uint32_t used,
                       uint32_t indent);
// Declares p->type_vars from number `first` on, at offset `head`, and forgets them. Each
// name once per module unless `again`.
void tvms_print_type_vars(tvms_printer *p, size_t head, uint32_t first, bool again);
// T.func_attr or R.func_attr without what the name of the function says.
void tvms_print_func_attrs(tvms_printer *p, const tvms_node *TVMS_NULLABLE attrs,
                           const char *name, bool relax, bool show_symbol);

// ---- metadata.c ----

// Ends the life of ids in p->kept from number `first` on: another function begins.
void tvms_print_forget_kept(tvms_printer *p, uint32_t first);

// The section that holds p->kept; nothing if it is empty.
void tvms_print_metadata(tvms_printer *p, tvms_strbuf *out);

#endif
