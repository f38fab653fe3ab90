// Evidence of the release that printed a text, where the spelling by itself is older and newer
// releases' as well.
//
// TVM reads more than it prints. `n = T.int64()` below a signature with the dimension "n" is
// understood by every release, but 0.27 would have printed `n = TypeVar("n")`; R.prim_value(1)
// is a call that 0.26 still has and no longer prints. Read as the newest release, such text
// would be printed in a spelling that its authors' TVM cannot read. So in text that was printed
// (it begins with commented imports and breaks no line within brackets), each of these says
// that the printer was not newer than the fact in ir/releases.def on which the printers differ:
//
//   R.prim_value(…), R.Prim(…)                 up to 0.25   scalars_are_tir
//   R.Object                                   up to 0.25   objects_are_called_any
//   out_dtype="void" in a call of R            up to 0.25   absent_dtypes_are_void
//   A = T.match_buffer(p, …)                   up to 0.25   signatures_hold_buffers
//   "n" in a signature, and n = T.int64()      up to 0.26   dims_are_type_vars
//
// Where nothing differs between releases in the text at hand, its release cannot be told.
#include "parser/printed_marks.h"

#include "grammar/literal_values.h"
#include "parser/eval/origin.h"
#include "support/names.h"
#include "support/vec.h"

#include <stdlib.h>
#include <string.h>

// A function, by the places where it and its body begin.
typedef struct {
  uint32_t begin, body;
} function_place;

typedef struct {
  const tvms_surface *surface;
  tvms_memory *memory;
  tvms_dialect first, last;
  TVMS_VEC(function_place) functions;  // in order of place
  TVMS_VEC(uint32_t)
  quoted;  // by symbol: the function in whose signature it stands, + 1
} evidence;

static const tvms_surf *at(const evidence *e, tvms_ref ref) {
  return tvms_surface_at(e->surface, ref);
}

// No release after `last` printed this. What bounds exclude is no evidence.
static void printed_until(evidence *e, tvms_dialect last) {
  if (last >= e->first && last < e->last) e->last = last;
}

// The text was printed before the fact came to be.
static void lacks(evidence *e, tvms_release_fact fact) {
  printed_until(e, (tvms_dialect)(tvms_release_since(fact) - 1));
}

// The text was printed while the fact held.
static void has(evidence *e, tvms_release_fact fact) {
  printed_until(e, tvms_release_until(fact));
}

// The name below a prefix that a node is, `prim_value` of R.prim_value; 0: it is none.
static tvms_sym name_below(const evidence *e, tvms_ref ref, tvms_sym prefix) {
  const tvms_surf *node = at(e, ref);
  if (node->kind != TVMS_SURF_ATTRIBUTE) return 0;
  const tvms_surf *object = at(e, node->a);
  return object->kind == TVMS_SURF_NAME && object->a == prefix ? node->b : 0;
}

// ---- Quoted dimensions ----

static int compare_places(const void *a, const void *b) {
  const function_place *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void find_functions(evidence *e) {
  for (tvms_ref ref = 1; ref < e->surface->count; ref++) {
    if (at(e, ref)->kind != TVMS_SURF_DEF) continue;
    tvms_surf_definition def = tvms_surface_define(e->surface, ref);
    if (!def.body) continue;
    function_place place = {at(e, ref)->begin, at(e, def.body)->begin};
    tvms_vec_push(e->memory, &e->functions, place);
  }
  if (e->functions.len > 1) {
    qsort(e->functions.items, e->functions.len, sizeof *e->functions.items,
          compare_places);
  }
}

// Number of the function in whose text a place is, + 1; 0: in none.
static uint32_t function_of(const evidence *e, uint32_t place) {
  uint32_t low = 0, high = e->functions.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (e->functions.items[middle].begin <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void note_quoted(evidence *e, tvms_ref ref) {
  uint32_t begin = at(e, ref)->begin, function = function_of(e, begin);
  tvms_span span;
  bool in_signature = function && begin < e->functions.items[function - 1].body;
  if (!in_signature || !tvms_surface_string_inside(e->surface, ref, &span)) return;
  tvms_sym name =
      tvms_interner_find(&e->surface->context->names,
                         e->surface->source->text + span.begin, span.end - span.begin);
  if (!name) return;
  tvms_vec_reach(e->memory, &e->quoted, name);
  e->quoted.items[name] = function;
}

// `n = T.int64()` of a dimension that the signature quotes.
static void note_assign(evidence *e, const tvms_surf *stmt) {
  const tvms_surf *target = at(e, stmt->a), *call = at(e, stmt->b);
  if (target->kind != TVMS_SURF_NAME || call->kind != TVMS_SURF_CALL) return;
  tvms_sym called = name_below(e, call->a, TVMS_SYM_T);
  tvms_sym name = target->a;
  if (called == TVMS_SYM_match_buffer && call->b
      && at(e, call->b)->kind == TVMS_SURF_NAME) {
    lacks(e, TVMS_FACT_signatures_hold_buffers);
  }
  bool declares = called == TVMS_SYM_int64 && !call->b && name < e->quoted.len;
  if (declares && e->quoted.items[name]
      && e->quoted.items[name] == function_of(e, stmt->begin)) {
    lacks(e, TVMS_FACT_dims_are_type_vars);
  }
}

// ---- Names of R ----

static bool is_void(const evidence *e, tvms_ref ref) {
  tvms_span span;
  return at(e, ref)->kind == TVMS_SURF_STRING
         && tvms_surface_string_inside(e->surface, ref, &span)
         && span.end - span.begin == strlen("void")
         && memcmp(e->surface->source->text + span.begin, "void", strlen("void")) == 0;
}

// `dtype`, `out_dtype` and the like.
static bool names_dtype(const evidence *e, tvms_sym keyword) {
  const tvms_name *name = tvms_interner_name(&e->surface->context->names, keyword);
  size_t len = strlen("dtype");
  return name->len >= len && memcmp(name->text + name->len - len, "dtype", len) == 0;
}

static void note_call(evidence *e, const tvms_surf *call) {
  tvms_sym name = name_below(e, call->a, TVMS_SYM_R);
  if (name == TVMS_SYM_prim_value || name == TVMS_SYM_Prim)
    lacks(e, TVMS_FACT_scalars_are_tir);
  tvms_surface_each(e->surface, ref, name ? call->b : 0) {
    const tvms_surf *node = at(e, ref);
    if (node->kind == TVMS_SURF_KEYWORD && names_dtype(e, node->a)
        && is_void(e, node->b)) {
      has(e, TVMS_FACT_absent_dtypes_are_void);
    }
  }
}

static void note_node(evidence *e, tvms_ref ref) {
  const tvms_surf *node = at(e, ref);
  switch ((int)node->kind) {
  case TVMS_SURF_STRING: note_quoted(e, ref); break;
  case TVMS_SURF_ASSIGN: note_assign(e, node); break;
  case TVMS_SURF_CALL: note_call(e, node); break;
  case TVMS_SURF_ATTRIBUTE:
    if (name_below(e, ref, TVMS_SYM_R) == TVMS_SYM_Object)
      lacks(e, TVMS_FACT_objects_are_called_any);
    break;
  default: break;
  }
}

// Is there a commented import among the first comments?
static bool may_be_printed(const tvms_surface *surface) {
  enum { HEADER = 8 };
  static const char start[] = "# from ";
  for (uint32_t i = 0; i < surface->comment_count && i < HEADER; i++) {
    const tvms_comment *comment = &surface->comments[i];
    if (comment->end - comment->begin >= sizeof start
        && memcmp(surface->source->text + comment->begin, start, sizeof start - 1) == 0)
      return true;
  }
  return false;
}

tvms_dialect tvms_printed_marks_last(const tvms_surface *surface, tvms_dialect first) {
  if (!may_be_printed(surface)) return TVMS_DIALECT_NONE;
  evidence e = {.surface = surface,
                .memory = &surface->context->memory,
                .first = first,
                .last = TVMS_DIALECT_NONE};
  find_functions(&e);
  // The signature of a function stands before its body among the nodes, too.
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    note_node(&e, ref);
  }
  tvms_vec_fini(e.memory, &e.functions);
  tvms_vec_fini(e.memory, &e.quoted);
  tvms_origin origin = {0};
  if (e.last != TVMS_DIALECT_NONE) tvms_reader_find_origin(surface->source, &origin);
  return origin.headed && !origin.by_hand ? e.last : TVMS_DIALECT_NONE;
}
