// A module: named functions, attributes and global infos. And a program: everything that
// one file defines.
#ifndef TVMS_IR_MODULE_H
#define TVMS_IR_MODULE_H

#include "ir/node.h"
#include "support/counts.h"

#include <tvms/program.h>

// One function with the unit that owns its nodes.
typedef struct {
  tvms_sym name;  // of the GlobalVar
  tvms_span name_span;
  tvms_unit *unit;  // owned by the module
  tvms_node
      *function;  // PRIM_FUNC, FUNCTION or EXTERN_FUNC; NULL: declared, not defined
  // What was read of a function with mistakes, for what verification can say of it; it is not
  // whole, and nothing else may look at it.
  tvms_node *TVMS_NULLABLE partial;
  bool unread;  // without function, because it is built on what only Python knows
  // Of a function that was read whole with assumptions of what only Python knows
  // (parser/python_assume.h): checked, and nothing else may look at it.
  const char *TVMS_NULLABLE assumed;  // which
  bool general;                       // whatever these are: it was checked for any
  bool variables;                     // general, and all of them are integers
  tvms_span unknown;                  // where that is, or {0, 0}
  uint64_t hash;  // of the function, for tvms_module_find_same; 0: not known
} tvms_member;

// Members by the hashes of their functions: chains of numbers of members plus one.
typedef struct {
  uint32_t *TVMS_NULLABLE heads;
  uint32_t mask;
  struct {
    struct tvms_module_link {
      uint32_t next;
      uint32_t before;
    } * items;
    uint32_t len;
    uint32_t cap;
  } links;  // by member
  // Members among the first `seen` whose hash is not known any more.
  TVMS_VEC(uint32_t) changed;
  uint32_t seen;  // members that were looked at
} tvms_module_alike;

typedef struct tvms_module {
  tvms_context *context;
  tvms_dialect dialect;  // the one that was read
  tvms_span name_span;   // of a class
  tvms_sym name;         // of the class in the source; TVM prints "Module" always
  bool bare;             // not a class: its one member is a function that stands alone
  bool rewriter;         // @R.rewriter: a pattern and its replacement
  bool s_tir;            // @I.ir_module(s_tir=True): decides which checker runs
  bool unchecked;        // check_well_formed=False
  tvms_unit unit;        // nodes of attributes and global infos
  tvms_member *members;  // in order of the source
  uint32_t member_count;
  uint32_t member_cap;
  // A hash table of the first `indexed` members by name; NULL while they are few. It is
  // out of use while there are more or less members than that.
  uint32_t *TVMS_NULLABLE index;
  uint32_t index_mask;
  uint32_t indexed;
  tvms_counts
      tried;  // for tvms_module_fresh_name: numbers that a name has with certainty
  tvms_module_alike alike;  // for tvms_module_find_same
  tvms_node *attrs;         // OBJECT_MAP or NULL
  tvms_node *global_infos;  // OBJECT_MAP of OBJECT_ARRAY, or NULL
  tvms_source *source;      // that the spans refer to; may be NULL
} tvms_module;

// Modules in the order of the file; names may repeat, as in Python.
struct tvms_program {
  tvms_context *context;
  tvms_dialect dialect;  // the one that was read
  tvms_module **modules;
  uint32_t count;
  uint32_t cap;
  tvms_source *TVMS_NULLABLE source;  // that it was read from
  bool wrong;                         // with errors, or a pass failed
  uint32_t omitted;      // objects whose value the text leaves out (ir/omitted.h) …
  tvms_span omitted_at;  // … and where the first one stands
  uint32_t shown;        // calls in progress that show it to a function of the host
};

// An empty module in context->memory; its source is the one being read.
tvms_module *tvms_module_create(tvms_context *context, tvms_dialect dialect,
                                tvms_sym name);

// Frees the module, its units and with them all nodes of its functions.
void tvms_module_destroy(tvms_module *module);

// Is `node` a device or a mesh of the module that `unit` belongs to? Types name these where
// all else is the unit's own.
bool tvms_module_shares(const tvms_unit *unit, const tvms_node *node);

// Adds a member with a fresh unit and returns it; `function` is still NULL. Pointers to
// members die when the next one is added. A name must not change after that.
tvms_member *tvms_module_add(tvms_module *module, tvms_sym name, tvms_span name_span);

// `name`, or the first of name1, name2 … that no member has. In all, it takes time in proportion to the calls.
tvms_sym tvms_module_fresh_name(tvms_module *module, const char *name);

// To be called after members were removed, moved or renamed: finds them by their names again.
void tvms_module_index_again(tvms_module *module);

// The last member with this name, or NULL.
tvms_member *TVMS_NULLABLE tvms_module_find(const tvms_module *module, tvms_sym name);

// The member that a GLOBAL_VAR names; NULL if `node` is something else or names none.
tvms_member *TVMS_NULLABLE tvms_module_named(const tvms_module *module,
                                             const tvms_node *node);

// The same if it is a function of this kind (FUNCTION or PRIM_FUNC) that has been read.
tvms_member *TVMS_NULLABLE tvms_module_function_named(const tvms_module *module,
                                                      const tvms_node *node,
                                                      tvms_node_kind kind);

// Appends a module, which belongs to the program from now on.
void tvms_program_add(tvms_program *program, tvms_module *module);

#endif
