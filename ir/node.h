// IR nodes: a common head, and one struct per kind made from nodes.def.
//
// *Identity.* A node is its address. Two variables of one name are different variables, and a
// buffer that stands in ten places is one node that ten others point to. Nodes are immutable
// once their function is finished: whoever wants another one makes it and everything above it
// anew (ir/rewrite.h), and the rest may be shared, because nobody can change it.
//
// *Units.* Every node of a function lies in the arena of that function's unit and has a dense
// id there, from 1. So what an analysis finds out about nodes is a flat array indexed by id,
// and dropping a function frees exactly its nodes. No node points into another unit; the two
// exceptions outlive every unit: closed types, which exist once per context (id 0, flag
// INTERNED, structinfo/intern.h), and the devices and meshes of the module that types name. A
// call names a function of the module by its GLOBAL_VAR and does not point to it, so functions
// can be replaced one by one.
//
// Everything is a tvms_node *; tvms_as_<name> gives the struct of a node whose kind is known.
// What holds of every node is listed, and checked, in ir/verify.c.
#ifndef TVMS_IR_NODE_H
#define TVMS_IR_NODE_H

#include "ir/dialect.h"
#include "ir/dtype.h"
#include "support/check.h"
#include "support/vec.h"

typedef enum {
  TVMS_NODE_INVALID,
#define NODE(KIND, name, class) TVMS_NODE_##KIND,
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"
} tvms_node_kind;

enum {
  TVMS_NODE_COUNT = 1
#define NODE(KIND, name, class) +1
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"
};

typedef enum {
  TVMS_CLASS_EXPR,
  TVMS_CLASS_STMT,
  TVMS_CLASS_SINFO,
  TVMS_CLASS_OBJECT,
  TVMS_CLASS_TOP,
} tvms_node_class;

// Flags of a head; a bit means different things for different kinds.
enum {
  TVMS_FLAG_DATAFLOW = 1,   // VAR, BINDING_BLOCK
  TVMS_FLAG_SIZE_VAR = 2,   // VAR
  TVMS_FLAG_ASSUMED = 4,    // VAR: nothing binds it; a number of the Python around
  TVMS_FLAG_EARLY = 8,      // VAR: the text names it in front of what defines it
  TVMS_FLAG_ANNOTATED = 1,  // VAR_BINDING
  TVMS_FLAG_LARGE = 1,      // INT_IMM
  TVMS_FLAG_TIR = 1,        // OPERATOR: opcode is a row of tir_ops.def
  TVMS_FLAG_KNOWN = 1,      // SINFO_SHAPE, SINFO_FUNC
  TVMS_FLAG_STRING = 1,     // SINFO_OBJECT: I.StringType() of 0.27
  TVMS_FLAG_PURE = 2,       // SINFO_FUNC, FUNCTION
  // BLOCK as read: the source does not give the list, structinfo/complete.c fills it.
  TVMS_FLAG_READS_MISSING = 1,
  TVMS_FLAG_WRITES_MISSING = 2,
  TVMS_FLAG_PRIVATE = 4,      // PRIM_FUNC, FUNCTION
  TVMS_FLAG_S_TIR = 8,        // PRIM_FUNC
  TVMS_FLAG_PERSISTENT = 16,  // PRIM_FUNC
  TVMS_FLAG_UNCHECKED = 32,   // PRIM_FUNC, FUNCTION: check_well_formed=False
  // A part of closed StructInfo: it belongs to the context, has no place and the id 0.
  TVMS_FLAG_INTERNED = 128,  // SINFO kinds, SHAPE_EXPR, INT_IMM, FLOAT_IMM
};

typedef enum {
  TVMS_FOR_SERIAL,
  TVMS_FOR_PARALLEL,
  TVMS_FOR_VECTORIZED,
  TVMS_FOR_UNROLLED,
  TVMS_FOR_THREAD_BINDING,
} tvms_for_kind;

typedef enum {
  TVMS_ITER_DATA_PAR,  // T.axis.spatial
  TVMS_ITER_THREAD_INDEX,
  TVMS_ITER_COMM_REDUCE,  // T.axis.reduce
  TVMS_ITER_ORDERED,      // T.axis.scan
  TVMS_ITER_OPAQUE,       // T.axis.opaque
  TVMS_ITER_UNROLLED,
  TVMS_ITER_VECTORIZED,
  TVMS_ITER_PARALLELIZED,
  TVMS_ITER_TENSORIZED,
} tvms_iter_type;

typedef struct tvms_node tvms_node;

struct tvms_node {
  uint8_t kind;  // tvms_node_kind
  uint8_t flags;
  uint16_t spare;
  tvms_dtype dtype;  // of a value of TIR; void for values of Relax
  uint32_t id;       // dense in the unit, from 1
  // Where it, or what a pass made it of, stands in the source; {0, 0}: nowhere.
  tvms_span span;
  tvms_node *sinfo;  // StructInfo of a value of Relax, type of a pointer; else NULL
};

typedef struct {
  tvms_node **items;
  uint32_t len;
} tvms_list;

// A list being made.
typedef TVMS_VEC(tvms_node *) tvms_node_vec;

typedef struct {
  const char *text;  // ended by NUL; may be NULL if len is 0
  uint32_t len;
} tvms_bytes;

typedef tvms_node *tvms_type_NODE;
typedef tvms_node *TVMS_NULLABLE tvms_type_OPTIONAL;
typedef tvms_list tvms_type_LIST;
typedef tvms_list tvms_type_OPTIONALS;
typedef tvms_sym tvms_type_SYM;
typedef int64_t tvms_type_INT;
typedef double tvms_type_FLOAT;
typedef tvms_dtype tvms_type_DTYPE;
typedef uint32_t tvms_type_FLAG;
typedef tvms_bytes tvms_type_TEXT;
typedef tvms_bytes tvms_type_BYTES;

// One struct per kind, with a second name made from the kind for macros.
#define NODE(KIND, name, class)                                                        \
  typedef struct tvms_##name tvms_##name;                                              \
  typedef tvms_##name tvms_struct_##KIND;
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"

#define NODE(KIND, name, class)                                                        \
  struct tvms_##name {                                                                 \
    tvms_node head;
#define FIELD(KIND, TYPE, name, role, holds) tvms_type_##TYPE name;
#define END(KIND)                                                                      \
  }                                                                                    \
  ;
#include "ir/nodes.def"

// All binary operators, ADD … OR, have this layout.
typedef struct {
  tvms_node head;
  tvms_node *a;
  tvms_node *b;
} tvms_binary;

// tvms_as_add(node) and so on: the struct of a node whose kind is known.
#define NODE(KIND, name, class)                                                        \
  static inline tvms_##name *tvms_as_##name(const tvms_node *node) {                   \
    TVMS_CHECK(node->kind == TVMS_NODE_##KIND);                                        \
    return (tvms_##name *)(uintptr_t)node;                                             \
  }
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"

// ADD to OR: a node with operands a and b.
static inline bool tvms_node_is_binary(const tvms_node *node) {
  return node->kind >= TVMS_NODE_ADD && node->kind <= TVMS_NODE_OR;
}

// The common fields of those kinds; checked.
static inline tvms_binary *tvms_as_binary(const tvms_node *node) {
  TVMS_CHECK(tvms_node_is_binary(node));
  return (tvms_binary *)(uintptr_t)node;
}

// What a BUFFER_LOAD and a STORE have in common: an element, or a vector of them, is where in
// which buffer. The pointers are into the node.
typedef struct {
  tvms_node **buffer;
  tvms_list *indices;
} tvms_element;

// The element that a BUFFER_LOAD or a STORE accesses.
tvms_element tvms_node_element(const tvms_node *node);

// The strides of a buffer, as many as it has dimensions; none if it is compact. That is also a buffer of a block with another number of strides: TVM's
// cache_index makes such, and CompactBufferAllocation gives all buffers of blocks strides anew.
tvms_list tvms_buffer_strides(const tvms_node *buffer);

struct tvms_module;

// A set of kinds of nodes.
typedef struct {
  uint64_t bits[(TVMS_NODE_COUNT + 63) / 64];
} tvms_kind_set;

static inline void tvms_kind_set_add(tvms_kind_set *set, tvms_node_kind kind) {
  set->bits[kind / 64] |= (uint64_t)1 << kind % 64;
}

static inline bool tvms_kind_set_has(const tvms_kind_set *set, tvms_node_kind kind) {
  return set->bits[kind / 64] >> kind % 64 & 1;
}

// Where the nodes of one function live. `dialect` decides promotion and folding.
typedef struct {
  tvms_context *context;
  tvms_arena arena;
  TVMS_VEC(tvms_shared *) held;  // data that it shares with others
  uint32_t next_id;
  tvms_span origin;  // of nodes that are made without a place: what they are made of
  tvms_dialect dialect;
  tvms_kind_set kinds;  // that nodes of the unit have had so far
  uint64_t effort;      // that arith/ has spent on questions about the function
  // No node below this id is of bfloat16 or of an 8-bit float, as a walk over all of the function has
  // found.
  uint32_t plain_before;
  // Passes replace nodes, and those that died stay in the arena: from so many bytes on the
  // function moves to a unit of its own size (passes/functions.c). 0: not changed yet.
  size_t crowded;
  // Whose devices and meshes types may name; NULL: no module's function.
  const struct tvms_module *TVMS_NULLABLE module;
} tvms_unit;

// May a node of the unit be of this kind?
static inline bool tvms_unit_has(const tvms_unit *unit, tvms_node_kind kind) {
  return tvms_kind_set_has(&unit->kinds, kind);
}

// Prepares an empty unit in the storage of the caller; its nodes are numbered from 1.
void tvms_unit_init(tvms_unit *unit, tvms_context *context, tvms_dialect dialect);

// Frees all nodes of the unit.
void tvms_unit_fini(tvms_unit *unit);

// Returns a zeroed node of `kind` with the next id.
tvms_node *tvms_node_new(tvms_unit *unit, tvms_node_kind kind, tvms_span span);

// tvms_node_make(unit, FOR, span) gives a tvms_for *.
#define tvms_node_make(unit, KIND, span)                                               \
  ((tvms_struct_##KIND *)tvms_node_new((unit), TVMS_NODE_##KIND, (span)))

// A list of `len` items copied into the unit.
tvms_list tvms_list_copy(tvms_unit *unit, tvms_node *const *items, uint32_t len);

// The same list with one more item behind.
tvms_list tvms_list_with(tvms_unit *unit, tvms_list list, tvms_node *last);

// Bytes for the unit, ended by NUL. Many of them are copied once only: units share them from then on (support/shared.h).
tvms_bytes tvms_bytes_copy(tvms_unit *unit, const char *text, size_t len);

// Room for bytes of the unit at a multiple of 64, to be filled in before they are used.
char *tvms_bytes_new(tvms_unit *unit, size_t len);

// Bytes that are part of what units share, held by the unit; others are copied. They end where they end.
tvms_bytes tvms_bytes_share(tvms_unit *unit, const char *bytes, size_t len);

// Equal length and bytes.
bool tvms_bytes_same(tvms_bytes a, tvms_bytes b);

// Equal to a C string.
bool tvms_bytes_is(tvms_bytes a, const char *text);

// Schema of a kind, for everything that works on all kinds alike.
typedef enum {
  TVMS_TYPE_NODE,
  TVMS_TYPE_LIST,
  TVMS_TYPE_SYM,
  TVMS_TYPE_INT,
  TVMS_TYPE_FLOAT,
  TVMS_TYPE_DTYPE,
  TVMS_TYPE_FLAG,
  TVMS_TYPE_TEXT,
  TVMS_TYPE_BYTES,
  TVMS_TYPE_OPTIONAL = TVMS_TYPE_NODE,
  TVMS_TYPE_OPTIONALS = TVMS_TYPE_LIST,
} tvms_field_type;

typedef enum {
  TVMS_ROLE_USE,
  TVMS_ROLE_DEFINE,
  TVMS_ROLE_DEFINE_REC,
  TVMS_ROLE_BODY,
  TVMS_ROLE_ACCESS,
  TVMS_ROLE_TYPE,
  TVMS_ROLE_NOTE,
  TVMS_ROLE_VALUE,
  TVMS_ROLE_NAME,
} tvms_field_role;

// The column `holds`: a kind, or a set of kinds. ir/verify.c says which are in it.
typedef enum {
  TVMS_HOLDS_DATA,
#define NODE(KIND, name, class) TVMS_HOLDS_##KIND,
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"
  TVMS_HOLDS_EXPR,
  TVMS_HOLDS_STMT,
  TVMS_HOLDS_SINFO,
  TVMS_HOLDS_ANY,
  TVMS_HOLDS_VALUE,
  TVMS_HOLDS_ARGUMENT,
  TVMS_HOLDS_CALLEE,
  TVMS_HOLDS_BINDING,
  TVMS_HOLDS_BOUND,
  TVMS_HOLDS_SHAPE,
  TVMS_HOLDS_LAYOUT,
} tvms_holds;

typedef struct {
  const char *name;
  tvms_field_type type;
  tvms_field_role role;
  uint32_t offset;
  uint8_t holds;  // tvms_holds
  bool nullable;  // OPTIONAL, OPTIONALS
} tvms_field;

typedef struct {
  const char *name;  // "for"
  tvms_node_class class;
  uint32_t size;
  uint32_t field_count;
  const tvms_field *fields;
  const tvms_field *parts;  // those that hold nodes, ended by one without a name
  bool leaf;                // no field holds nodes
} tvms_node_schema;

// By kind of node, from nodes.def; for tvms_node_schema_of.
extern const tvms_node_schema tvms_node_schemas[];

// Name, class and fields of a kind.
static inline const tvms_node_schema *tvms_node_schema_of(tvms_node_kind kind) {
  return &tvms_node_schemas[kind];
}

// What a node is: an expression, a statement, an object, a type or one of the top.
static inline tvms_node_class tvms_node_class_of(const tvms_node *node) {
  return tvms_node_schema_of((tvms_node_kind)node->kind)->class;
}

#endif
