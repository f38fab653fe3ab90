// Rewriting: the one frame in which a pass changes a function.
//
// A rewriter goes through a tree and calls the hooks of a pass for the kinds that it wants
// to change. Where a hook returns another node, everything above is copied, and nothing
// else: a function in which no hook changes anything comes back as the same pointer, which
// is how a pass tells that there was nothing to do. Nodes are never changed in place.
//
//   // x + 0 is x, wherever it is evaluated.
//   static tvms_node *drop_zero(tvms_rewriter *r, tvms_node *node) {
//     if (r->role != TVMS_ROLE_USE) return node;
//     const tvms_binary *sum = tvms_as_binary(node);
//     return tvms_node_is_int(sum->b, 0) ? sum->a : node;
//   }
//
//   tvms_rewriter r;
//   tvms_rewriter_init(&r, unit, NULL);
//   r.leave[TVMS_NODE_ADD] = drop_zero;
//   function = tvms_rewrite(&r, function);
//   tvms_rewriter_fini(&r);
//
// *Hooks.* enter[kind] is called before the parts of a node are rewritten, in the order of
// ir/nodes.def; it returns TVMS_REWRITE_BELOW to go on, or the replacement, whose parts are
// left alone. leave[kind] is called afterwards, with the node as it is now, r->old being
// the node as it was: the same pointer if no part changed, else `node` is a fresh copy,
// which the hook may change further.
// Prefer leave; enter is for what must be seen before its parts, and for parts that are
// rewritten in an order or under conditions of their own (with tvms_rewrite).
//
// *Roles.* r->role says what the node is there for, in the words of ir/nodes.def: it is
// evaluated (USE), defined (DEFINE), a statement or binding (BODY), declared by a block
// (ACCESS), a part of a type (TYPE), of an annotation (NOTE). What stands in a type, an
// annotation or a declared region has its role all the way down, and what stands in a
// buffer that is only used is TYPE: the buffer is defined elsewhere. r->roles restricts
// the rewriter to parts of some roles; by default it goes into all, types in heads
// included, so that a variable is replaced everywhere. Closed types, which belong to the
// context (id 0), mention no variable and are never gone into.
//
// *Identity.* A variable, a buffer or an iteration variable stands in many places and is
// rewritten once: `known` has its replacement, and every place gets the same new node. A
// pass that replaces a variable by a value, or a buffer by another, puts it there. An enter
// hook of VAR that returns another variable where one is defined has replaced it everywhere;
// what it returns where one is used holds for that place, since scopes differ.
//
// *Places.* What a hook makes without a place has that of the node that it is called for, or of
// the nearest one around it that has a place.
//
// *Sequences.* A statement of a SEQ, or a binding of a BINDING_BLOCK, for which a hook
// returns NULL, goes; so does a statement that became T.evaluate(0). A SEQ in the place of a
// statement is spliced in, unless it is a scope of its own (ir/stmt.h). tvms_rewrite_emit
// puts statements or bindings in front of the one that is being rewritten. A SEQ of which
// one statement is left becomes that statement, an empty BINDING_BLOCK goes, and a body
// that goes becomes T.evaluate(0). NULL for a part that may be missing removes it.
//
// *Reach.* A rewriter goes no further than its hooks: into nothing at all if the unit has no
// node of a kind that has a hook, and not into expressions if statements alone have them. That
// ends as soon as `known` says what stands for a variable or a buffer.
//
// *Scopes.* What holds where (the range of a loop variable, the condition of a branch) is
// for a watch to find out: it hears of every part before and after. arith/scopes.h is one,
// which tells an analyzer.
//
// Unit and old nodes must share their life time; a pass rewrites the copy of a function
// that it was given (passes/functions.h). To move a function to another unit, see
// ir/clone.h. Recursion is bounded by the context's limit of depth.
#ifndef TVMS_IR_REWRITE_H
#define TVMS_IR_REWRITE_H

#include "ir/node_map.h"
#include "ir/stmt.h"

typedef struct tvms_rewriter tvms_rewriter;

typedef tvms_node *TVMS_NULLABLE tvms_rewrite_hook(tvms_rewriter *r, tvms_node *node);

// Hears of each part that is rewritten, in pairs. `parent` has its earlier parts as they
// are now, and `field` and the later ones as they were.
typedef struct tvms_rewrite_watch tvms_rewrite_watch;
struct tvms_rewrite_watch {
  // It hears of statements and of what stands in these kinds of nodes only; NULL: of all.
  const tvms_kind_set *TVMS_NULLABLE parents;
  void (*enter)(tvms_rewrite_watch *watch, const tvms_node *parent,
                const tvms_field *field, const tvms_node *part);
  // `made` is what the part became.
  void (*leave)(tvms_rewrite_watch *watch, const tvms_node *parent,
                const tvms_field *field, const tvms_node *part,
                const tvms_node *TVMS_NULLABLE made);
};

// Bits of tvms_rewriter.roles.
#define TVMS_IN(ROLE) (1u << TVMS_ROLE_##ROLE)
#define TVMS_IN_ALL   (~0u)

struct tvms_rewriter {
  tvms_unit *unit;  // where new nodes are made
  void *self;       // of the pass
  tvms_rewrite_hook *TVMS_NULLABLE enter[TVMS_NODE_COUNT];
  tvms_rewrite_hook *TVMS_NULLABLE leave[TVMS_NODE_COUNT];
  uint32_t roles;                           // parts to go into, TVMS_IN_ALL at first
  tvms_rewrite_watch *TVMS_NULLABLE watch;  // NULL: none
  tvms_node_map known;   // VAR, BUFFER, ITER_VAR: what stands for it from now on
  tvms_field_role role;  // of the node for which a hook is called
  const tvms_node *old;  // in a leave hook: the node as it was
  // What holds the statement or binding at hand: the SEQ, the BINDING_BLOCK, or the
  // statement whose body it is. NULL: there is none.
  const tvms_node *TVMS_NULLABLE sequence;
  // Of the rewriter itself:
  uint32_t depth;         // of calls of tvms_rewrite
  bool only_statements;   // no other nodes have hooks
  tvms_node_map typed;    // VAR whose type stayed where it is defined → that type
  tvms_node_vec emitted;  // waiting for the end of the statement or binding at hand
};

// What an enter hook returns for "go on below".
#define TVMS_REWRITE_BELOW ((tvms_node *)(uintptr_t)1)

// Prepares a rewriter without hooks, in caller's storage; `fini` frees what it holds. The
// nodes that it made stay with the unit.
void tvms_rewriter_init(tvms_rewriter *r, tvms_unit *unit, void *TVMS_NULLABLE self);

// Frees what the rewriter holds; the nodes it made stay with the unit.
void tvms_rewriter_fini(tvms_rewriter *r);

// Sets the enter hook of all kinds of a class.
void tvms_rewriter_enter_class(tvms_rewriter *r, tvms_node_class class,
                               tvms_rewrite_hook *hook);

// `node` rewritten. Called from a hook, it takes the role that a part has in that place:
// BODY for a statement or binding and USE for anything else, or that of the type, annotation or
// region in which the node of the hook stands. NULL if a hook removed it.
tvms_node *TVMS_NULLABLE tvms_rewrite(tvms_rewriter *r, tvms_node *node);

// The parts of `node` rewritten; the node itself is not passed to the hooks.
tvms_node *tvms_rewrite_below(tvms_rewriter *r, tvms_node *node);

// Every item of a list rewritten; the same items if none changed. Those that are removed
// close up.
tvms_list tvms_rewrite_list(tvms_rewriter *r, tvms_list list);

// Puts a finished statement or binding in front of the one that is being rewritten, behind
// what was emitted before. There must be one.
void tvms_rewrite_emit(tvms_rewriter *r, tvms_node *node);

// Replaces variables and buffers: each that `map` knows, wherever it stands, definitions
// too.
tvms_node *tvms_substitute(tvms_unit *unit, tvms_node *node, const tvms_node_map *map);

// As tvms_substitute for one variable.
tvms_node *tvms_substitute_one(tvms_unit *unit, tvms_node *node, const tvms_node *var,
                               tvms_node *value);

// A copy of `node` in `unit` with the same fields and a new id.
tvms_node *tvms_node_copy(tvms_unit *unit, const tvms_node *node);

// For hooks that rewrite parts by themselves. `now` is the struct of `node` with parts that
// may have become others; it need not lie in the unit. A copy of it, or `node` itself if all
// parts are the same.
tvms_node *tvms_node_copy_changed(tvms_unit *unit, tvms_node *node,
                                  const tvms_node *now);

#endif
