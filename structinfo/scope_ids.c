// Extents of scope ids: what two of them say about a third, and whether all agree.
//
// An id counts the units of an inner level within one unit of an outer level: T.warp_id([8]) says
// that a CTA has 8 warps, T.lane_id([32]) that a warp has 32 threads. Together they say that a CTA
// has 256 threads, so that T.thread_id([128]) beside them is an error. `combine` makes such
// products and quotients until nothing new follows. An extent that is not constant is unknown and
// contradicts nothing. Only the first contradiction is reported, because others follow from it.
#include "structinfo/scope_ids.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <string.h>

typedef enum { KERNEL, CLUSTER, CTA, WARPGROUP, WARP, THREAD, CTA_PAIR } level;

// Ids and the levels they run between: an id counts `inner` units in one `outer` unit.
static const struct {
  const char *name;
  uint8_t outer, inner;
} bindings[] = {
    {"cluster_id", KERNEL, CLUSTER},
    {"cta_id", KERNEL, CTA},
    {"cta_id_in_cluster", CLUSTER, CTA},
    {"warpgroup_id", CTA, WARPGROUP},
    {"warp_id", CTA, WARP},
    {"warp_id_in_wg", WARPGROUP, WARP},
    {"lane_id", WARP, THREAD},
    {"thread_id", CTA, THREAD},
    {"thread_id_in_wg", WARPGROUP, THREAD},
    {"cta_id_in_pair", CLUSTER, CTA_PAIR},
};
enum { BINDINGS = sizeof bindings / sizeof bindings[0], PAIR = BINDINGS - 1 };

// What is known of each binding in one device region. Extents that are not constant
// count as unknown.
typedef struct {
  tvms_unit *unit;
  bool present[BINDINGS];
  int64_t extents[BINDINGS];  // 0: unknown
  tvms_span spans[BINDINGS];
  uint32_t found;
} region;

static int binding_between(int outer, int inner) {
  for (int i = 0; i < BINDINGS; i++) {
    if (bindings[i].outer == outer && bindings[i].inner == inner) return i;
  }
  return -1;
}

static int binding_named(const char *name) {
  for (int i = 0; i < BINDINGS; i++) {
    if (strcmp(bindings[i].name, name) == 0) return i;
  }
  return -1;
}

static void report(region *r, tvms_span span, const char *text) {
  if (r->found++ == 0) {
    tvms_diag_report(&r->unit->context->diags, TVMS_D_scope_ids, span, text);
  }
}

// Sets an extent; returns true if it is news.
static bool set_extent(region *r, int binding, int64_t extent, tvms_span span) {
  if (extent == 0) return false;
  if (r->extents[binding] == extent) return false;
  if (r->extents[binding] != 0) {
    report(r, span, "the extents of the scope ids contradict each other");
    return false;
  }
  r->extents[binding] = extent;
  if (!r->present[binding]) r->spans[binding] = span;
  r->present[binding] = true;
  return true;
}

static bool divide(region *r, int whole, int part, int result) {
  int64_t a = r->extents[whole], b = r->extents[part];
  if (result < 0) return false;
  if (a % b != 0) {
    report(r, r->spans[part],
           "the extent of one scope id does not divide that of another");
    return false;
  }
  return set_extent(r, result, a / b, r->spans[whole]);
}

// Everything that two known bindings say together.
static bool combine(region *r, int a, int b) {
  bool news = false;
  if (bindings[a].inner == bindings[b].outer) {
    int composed = binding_between(bindings[a].outer, bindings[b].inner);
    int64_t product;
    bool fits = !__builtin_mul_overflow(r->extents[a], r->extents[b], &product);
    if (composed >= 0 && fits) news = set_extent(r, composed, product, r->spans[b]);
  }
  if (bindings[a].outer == bindings[b].outer && bindings[b].inner < bindings[a].inner) {
    news |= divide(r, a, b, binding_between(bindings[b].inner, bindings[a].inner));
  }
  if (bindings[a].inner == bindings[b].inner && bindings[a].outer < bindings[b].outer) {
    news |= divide(r, a, b, binding_between(bindings[a].outer, bindings[b].outer));
  }
  return news;
}

static void close_region(region *r) {
  for (bool news = true; news && r->found == 0;) {
    news = false;
    for (int a = 0; a < PAIR; a++) {
      for (int b = 0; b < PAIR; b++) {
        if (a == b || !r->extents[a] || !r->extents[b]) continue;
        news |= combine(r, a, b);
      }
    }
  }
}

static void check_launch(region *r) {
  int threads = binding_between(CTA, THREAD), pair = PAIR;
  if (r->present[pair] && !r->present[binding_between(CLUSTER, CTA)]) {
    report(r, r->spans[pair], "T.cta_id_in_pair needs T.cta_id_in_cluster beside it");
  }
  bool warps = r->present[binding_between(CTA, WARP)]
               || r->present[binding_between(WARP, THREAD)]
               || r->present[binding_between(CTA, WARPGROUP)]
               || r->present[binding_between(WARPGROUP, WARP)];
  int64_t count = r->extents[threads];
  if (count < 0) report(r, r->spans[threads], "the number of threads must be positive");
  if (warps && count % 32 != 0) {
    report(r, r->spans[threads],
           "with ids of warps the number of threads must be a multiple of 32");
  }
}

static int64_t extent_of(tvms_list extents) {
  int64_t product = extents.len ? 1 : 0;
  for (uint32_t i = 0; i < extents.len; i++) {
    const tvms_node *extent = extents.items[i];
    bool fits =
        extent->kind == TVMS_NODE_INT_IMM
        && !__builtin_mul_overflow(product, tvms_as_int_imm(extent)->value, &product);
    if (!fits) return 0;
  }
  return product;
}

static void read_id(region *r, const tvms_scope_id *id) {
  int binding = binding_named(tvms_symbol_text(r->unit->context, id->scope));
  if (binding < 0) return;
  tvms_span span = id->head.span;
  if (!r->present[binding]) r->spans[binding] = span;
  r->present[binding] = true;
  set_extent(r, binding, extent_of(id->extents), span);
}

static tvms_walk_step visit_stmt(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_SCOPE_ID) read_id(self, tvms_as_scope_id(node));
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

// Does a device region begin here? It goes on to the end of its SEQ, and a function has
// one: the walk takes all ids below its sequence.
static tvms_walk_step find_region(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_ATTR_STMT
      && tvms_bytes_is(tvms_as_attr_stmt(node)->key, "tirx.device_entry")) {
    *(bool *)self = true;
    return TVMS_WALK_STOP;
  }
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

uint32_t tvms_scope_ids_check(tvms_unit *unit, tvms_node *body) {
  tvms_memory *memory = &unit->context->memory;
  bool device = false;
  tvms_visitor finder = {.self = &device, .enter = find_region};
  tvms_walk(memory, body, &finder);
  if (!device) return 0;
  region r = {.unit = unit};
  tvms_visitor reader = {.self = &r, .enter = visit_stmt};
  tvms_walk(memory, body, &reader);
  close_region(&r);
  check_launch(&r);
  return r.found;
}
