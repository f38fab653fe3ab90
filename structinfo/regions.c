// The regions of buffers that a block reads and writes, found from the accesses in it, as
// BlockReadWriteDetector does (src/s_tir/analysis/sblock_access_region_detector.cc).
//
// A region is one range per dimension that holds all accesses. Every index is a set of integers:
// a point, `A[i + 1]`, at first. Loops inside the block make it larger, because the region holds
// for the whole block: with `i` from 0 to 4 the set is [1, 5). Variables of the block itself and
// of loops around it stay symbols. Sets of the same buffer are joined, dimension by dimension,
// so regions only grow; what cannot be bounded becomes the whole dimension.
//
//     for i in range(4):                 # inside the block
//         B[vi] = A[vi, i] + A[vi, i + 1]   # reads A[vi, 0:5], writes B[vi]
//
// What narrows a set is a condition around the access: in `if i < n:` the domain of `i` is
// what the inequalities leave of it, if they can be solved (arith/solve.h), and the old one
// again behind the branch. `domains` has the loops, whose variables are replaced by what they
// run over; `hints` has other variables of conditions, which only help to solve.
//
// What is a buffer here. Only buffers from outside count (`buffers`): those that the block
// allocates are its own business. A matched buffer counts as the part of its source that it is.
// A block inside counts with the regions that it says, so the innermost is done first
// (complete.c). A buffer whose pointer is used in another way than by T.tvm_access_ptr with a
// mask has no region that could be known: `opaque`, an error. A reduction with T.init() does
// not read what it writes. The root block has empty lists: nobody asks for its regions.
#include "structinfo/regions.h"

#include "arith/int_set.h"
#include "arith/narrow.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "support/diag_ids.h"
#include "support/vec.h"

// Regions of one buffer, one set per dimension, in order of first access.
typedef struct {
  tvms_node *buffer;
  tvms_int_set *sets;
} access;

typedef TVMS_VEC(access) accesses;

// One block whose regions are being detected.
typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  const tvms_node_map
      *buffers;           // tvms_regions_buffer_key(buffer) -> BUFFER: those of outside
  tvms_node_map matched;  // tvms_regions_buffer_key(buffer) -> MATCH_BUFFER_REGION
  tvms_domains domains;   // loops inside the block
  tvms_domains hints;     // other variables, by conditions
  tvms_node_map lets;     // variable -> value
  accesses reads, writes;
  accesses opaques;    // buffers whose pointers are used, as a whole
  bool opaque;         // there is one
  bool keeps_opaques;  // they are wanted
  bool no_regions;     // of a root block nobody wants to know them
} detection;

static void visit(detection *d, tvms_node *node);

const tvms_node *tvms_regions_buffer_key(const tvms_unit *unit,
                                         const tvms_node *buffer) {
  return tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables)
             ? buffer
             : tvms_as_buffer(buffer)->data;
}

void tvms_regions_put_buffer(tvms_node_map *map, const tvms_unit *unit,
                             const tvms_node *buffer, tvms_node *TVMS_NULLABLE value) {
  tvms_node_map_put(map, tvms_regions_buffer_key(unit, buffer), value);
  if (!tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables)) return;
  tvms_node_map_put(map, tvms_as_buffer(buffer)->data, value);
}

// ---- Accesses ----

static tvms_node *zero_based(tvms_unit *unit) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
}

static tvms_node *sum(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  tvms_node *result = tvms_build_binary(unit, TVMS_NODE_ADD, a, b, TVMS_NO_SPAN);
  return result ? result : a;
}

// The range of a set: itself if it is bounded, else the whole dimension.
static void cover(tvms_unit *unit, tvms_int_set set, tvms_node *dimension,
                  tvms_node **min, tvms_node **extent) {
  if (tvms_int_set_cover(unit, set, min, extent)) return;
  *min = zero_based(unit);
  *extent = dimension;
}

// Sets in a matched buffer as sets in its source.
static tvms_int_set *sets_of_source(detection *d, const tvms_match_buffer_region *match,
                                    const tvms_int_set *sets) {
  tvms_list shape = tvms_as_buffer(match->buffer)->shape;
  tvms_list source = tvms_as_buffer_region(match->source)->region;
  tvms_int_set *result = tvms_arena_array(&d->unit->arena, tvms_int_set, source.len);
  uint32_t first = source.len >= shape.len ? source.len - shape.len : 0;
  for (uint32_t i = 0; i < source.len; i++) {
    const tvms_range *outer = tvms_as_range(source.items[i]);
    tvms_node *min = outer->min, *extent = outer->extent;
    if (i >= first) {
      tvms_node *inner;
      cover(d->unit, sets[i - first], shape.items[i - first], &inner, &extent);
      min = sum(d->unit, min, inner);
    }
    result[i] = tvms_int_set_of_ranges(&d->domains, min, extent);
  }
  return result;
}

static void note(detection *d, accesses *list, tvms_node *buffer, tvms_int_set *sets) {
  const tvms_node *key = tvms_regions_buffer_key(d->unit, buffer);
  tvms_node *match = tvms_node_map_get(&d->matched, key);
  if (!match && !tvms_node_map_get(d->buffers, key)) return;
  if (match) {
    const tvms_match_buffer_region *region = tvms_as_match_buffer_region(match);
    sets = sets_of_source(d, region, sets);
    buffer = tvms_as_buffer_region(region->source)->buffer;
  }
  uint32_t rank = tvms_as_buffer(buffer)->shape.len;
  for (uint32_t i = 0; i < list->len; i++) {
    access *old = &list->items[i];
    if (old->buffer != buffer) continue;
    for (uint32_t j = 0; j < rank; j++) {
      old->sets[j] = tvms_int_set_union(d->unit, old->sets[j], sets[j]);
    }
    return;
  }
  access made = {buffer, sets};
  tvms_vec_push(d->memory, list, made);
}

// Variables of T.let are not to be seen outside. TVM leaves them in regions of blocks inside, and in what loops run over.
static tvms_node *substitute_lets(detection *d, tvms_node *index) {
  if (d->lets.count == 0) return index;
  for (;;) {
    tvms_node *next = tvms_substitute(d->unit, index, &d->lets);
    if (next == index) return index;
    index = next;
  }
}

static void note_element(detection *d, accesses *list, tvms_node *buffer,
                         tvms_list indices) {
  if (d->no_regions) return;
  tvms_int_set *sets = tvms_arena_array(&d->unit->arena, tvms_int_set, indices.len);
  for (uint32_t i = 0; i < indices.len; i++) {
    tvms_node *index = substitute_lets(d, indices.items[i]);
    sets[i] =
        tvms_int_set_of_values(&d->domains, tvms_int_set_of_index(d->unit, index));
  }
  note(d, list, buffer, sets);
}

static void note_whole(detection *d, accesses *list, tvms_node *buffer) {
  if (d->no_regions) return;
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  tvms_int_set *sets = tvms_arena_array(&d->unit->arena, tvms_int_set, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    sets[i] = tvms_int_set_of_ranges(&d->domains, zero_based(d->unit), shape.items[i]);
  }
  note(d, list, buffer, sets);
}

// The pointer of a buffer is used: no region describes what is done with it.
static void note_opaque(detection *d, tvms_node *TVMS_NULLABLE buffer) {
  if (!buffer) return;
  d->opaque = true;
  if (d->keeps_opaques) note_whole(d, &d->opaques, buffer);
}

// The known buffer that an expression stands for: its data pointer, or itself.
static tvms_node *TVMS_NULLABLE buffer_behind(const detection *d,
                                              const tvms_node *node) {
  if (tvms_call_opcode(node) == TVMS_TIR_buffer_data) {
    node = tvms_as_call(node)->args.items[0];
  }
  tvms_node *known = tvms_node_map_get(d->buffers, node);
  tvms_node *match = tvms_node_map_get(&d->matched, node);
  return match ? tvms_as_match_buffer_region(match)->buffer : known;
}

// ---- Conditions narrow the domains of loop variables in their branch ----

static void visit_under(detection *d, tvms_node *condition, tvms_node *node) {
  tvms_narrowing narrowing = {.len = 0};
  if (!d->no_regions)
    tvms_domains_narrow(&d->domains, &d->hints, substitute_lets(d, condition),
                        &narrowing);
  visit(d, node);
  tvms_domains_widen(&d->domains, &d->hints, &narrowing);
}

static void visit_choice(detection *d, tvms_node *condition, tvms_node *yes,
                         tvms_node *TVMS_NULLABLE no) {
  visit(d, condition);
  visit_under(d, condition, yes);
  tvms_node *otherwise = tvms_build_not(d->unit, condition, TVMS_NO_SPAN);
  if (no && otherwise) visit_under(d, otherwise, no);
}

// ---- Statements and expressions ----

static void visit_below(detection *d, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    visit(d, child);
}

static void visit_list(detection *d, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]) visit(d, list.items[i]);
  }
}

static void visit_for(detection *d, tvms_for *loop) {
  tvms_int_set domain = tvms_int_set_of_range(d->unit, substitute_lets(d, loop->min),
                                              substitute_lets(d, loop->extent));
  tvms_domains_set(&d->domains, loop->var, domain);
  visit(d, loop->min);
  visit(d, loop->extent);
  visit(d, loop->body);
  tvms_domains_drop(&d->domains, loop->var);
}

static void note_regions(detection *d, accesses *list, tvms_list regions,
                         const tvms_node_map *bindings) {
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    tvms_int_set *sets =
        tvms_arena_array(&d->unit->arena, tvms_int_set, region->region.len);
    for (uint32_t j = 0; j < region->region.len; j++) {
      const tvms_range *range = tvms_as_range(region->region.items[j]);
      tvms_node *min =
          substitute_lets(d, tvms_substitute(d->unit, range->min, bindings));
      tvms_node *extent =
          substitute_lets(d, tvms_substitute(d->unit, range->extent, bindings));
      sets[j] = tvms_int_set_of_values(&d->domains,
                                       tvms_int_set_of_range(d->unit, min, extent));
    }
    note(d, list, region->buffer, sets);
  }
}

// A block inside gives what it says it reads and writes, at its place.
static void visit_realize(detection *d, const tvms_block_realize *realize) {
  if (d->no_regions) return;
  const tvms_block *block = tvms_as_block(realize->block);
  tvms_node_map bindings;
  tvms_node_map_init(&bindings, d->memory);
  for (uint32_t i = 0; i < block->iter_vars.len && i < realize->iter_values.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    tvms_node_map_put(&bindings, iter->var, realize->iter_values.items[i]);
  }
  note_regions(d, &d->reads, block->reads, &bindings);
  note_regions(d, &d->writes, block->writes, &bindings);
  tvms_node_map_fini(&bindings);
}

// T.tvm_access_ptr says by its mask what it does with the buffer.
static bool visit_access_ptr(detection *d, const tvms_call *call) {
  if (call->args.len < 5) return false;
  const tvms_node *pointer = call->args.items[1], *mask = call->args.items[4];
  bool direct = pointer->kind == TVMS_NODE_VAR || pointer->kind == TVMS_NODE_BUFFER
                || tvms_call_opcode(pointer) == TVMS_TIR_buffer_data;
  if (!direct || mask->kind != TVMS_NODE_INT_IMM) return false;
  tvms_node *buffer = buffer_behind(d, pointer);
  int64_t bits = tvms_as_int_imm(mask)->value & 3;
  if (!buffer) return true;
  if (bits == 3) note_opaque(d, buffer);
  if (bits == 1) note_whole(d, &d->reads, buffer);
  if (bits == 2) note_whole(d, &d->writes, buffer);
  return true;
}

static void visit_call(detection *d, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_tir_opcode op = tvms_call_opcode(node);
  if (op == TVMS_TIR_tvm_access_ptr && visit_access_ptr(d, call)) return;
  if (op == TVMS_TIR_if_then_else && call->args.len == 3) {
    visit_choice(d, call->args.items[0], call->args.items[1], call->args.items[2]);
    return;
  }
  visit_list(d, call->args);
}

static void visit_inner(detection *d, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER_LOAD: {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    note_element(d, &d->reads, load->buffer, load->indices);
    visit_list(d, load->indices);
    return;
  }
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(node);
    note_element(d, &d->writes, store->buffer, store->indices);
    visit(d, store->value);
    visit_list(d, store->indices);
    return;
  }
  case TVMS_NODE_BUFFER_REGION:
    visit_list(d, tvms_as_buffer_region(node)->region);
    return;
  case TVMS_NODE_MATCH_BUFFER_REGION:
    visit(d, tvms_as_match_buffer_region(node)->source);
    return;
  case TVMS_NODE_FOR: visit_for(d, tvms_as_for(node)); return;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    visit_choice(d, branch->condition, branch->then_case, branch->else_case);
    return;
  }
  case TVMS_NODE_BIND: {
    const tvms_bind *bind = tvms_as_bind(node);
    tvms_node_map_put(&d->lets, bind->var, bind->value);
    visit(d, bind->value);
    return;
  }
  case TVMS_NODE_ATTR_STMT: visit(d, tvms_as_attr_stmt(node)->value); return;
  case TVMS_NODE_BLOCK_REALIZE: visit_realize(d, tvms_as_block_realize(node)); return;
  case TVMS_NODE_CALL: visit_call(d, node); return;
  case TVMS_NODE_VAR:
  case TVMS_NODE_BUFFER: note_opaque(d, buffer_behind(d, node)); return;
  case TVMS_NODE_DECL_BUFFER:
  case TVMS_NODE_ALLOC_BUFFER:
  case TVMS_NODE_OBJECT_MAP: return;
  default: visit_below(d, node); return;
  }
}

static void visit(detection *d, tvms_node *node) {
  if (!tvms_memory_enter(d->memory)) tvms_memory_unwind(d->memory, TVMS_OVER_LIMIT);
  visit_inner(d, node);
  tvms_memory_leave(d->memory);
}

// ---- One block ----

static void enter_matches(detection *d, const tvms_block *block) {
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *match = block->match_buffers.items[i];
    const tvms_match_buffer_region *region = tvms_as_match_buffer_region(match);
    const tvms_node *source = tvms_as_buffer_region(region->source)->buffer;
    if (!tvms_node_map_get(d->buffers, tvms_regions_buffer_key(d->unit, source)))
      continue;
    tvms_regions_put_buffer(&d->matched, d->unit, region->buffer, match);
  }
}

static tvms_node *region_of(detection *d, const access *found) {
  tvms_list shape = tvms_as_buffer(found->buffer)->shape;
  tvms_node **ranges = tvms_arena_array(&d->unit->arena, tvms_node *, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    tvms_int_set set = found->sets[i];
    tvms_node *min = set.min, *extent;
    if (min && tvms_int_set_is_point(d->unit, set))
      extent = tvms_int_imm_new(d->unit, min->dtype, 1, TVMS_NO_SPAN);
    else
      cover(d->unit, set, shape.items[i], &min, &extent);
    ranges[i] = tvms_range_new(d->unit, min, extent, TVMS_NO_SPAN);
  }
  return tvms_buffer_region_new(d->unit, found->buffer, ranges, shape.len,
                                TVMS_NO_SPAN);
}

static bool is_in(const accesses *list, const tvms_node *buffer) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->items[i].buffer == buffer) return true;
  }
  return false;
}

// The regions of a list, without the buffers of `except`.
static tvms_list regions_of(detection *d, const accesses *list,
                            const accesses *TVMS_NULLABLE except) {
  tvms_list regions = {tvms_arena_array(&d->unit->arena, tvms_node *, list->len), 0};
  for (uint32_t i = 0; i < list->len; i++) {
    if (except && is_in(except, list->items[i].buffer)) continue;
    regions.items[regions.len++] = region_of(d, &list->items[i]);
  }
  return regions;
}

static void open_detection(detection *d, tvms_unit *unit,
                           const tvms_node_map *buffers) {
  *d = (detection){.unit = unit, .memory = &unit->context->memory, .buffers = buffers};
  tvms_node_map_init(&d->matched, d->memory);
  tvms_node_map_init(&d->lets, d->memory);
  tvms_domains_init(&d->domains, unit);
  tvms_domains_init(&d->hints, unit);
}

static void close_detection(detection *d) {
  tvms_vec_fini(d->memory, &d->reads);
  tvms_vec_fini(d->memory, &d->writes);
  tvms_vec_fini(d->memory, &d->opaques);
  tvms_domains_fini(&d->hints);
  tvms_domains_fini(&d->domains);
  tvms_node_map_fini(&d->lets);
  tvms_node_map_fini(&d->matched);
}

bool tvms_regions_infer(tvms_unit *unit, const tvms_node_map *buffers,
                        tvms_block *block, bool is_root) {
  detection d;
  open_detection(&d, unit, buffers);
  d.no_regions = is_root;
  enter_matches(&d, block);
  visit_below(&d, &block->head);
  if (d.opaque) {
    tvms_diag_report(&unit->context->diags, TVMS_D_opaque_access, block->head.span);
  } else if (!is_root) {
    // A reduction that has an init block does not read what it writes.
    const accesses *except = block->init ? &d.writes : NULL;
    bool reads = block->head.flags & TVMS_FLAG_READS_MISSING;
    bool writes = block->head.flags & TVMS_FLAG_WRITES_MISSING;
    tvms_list read_list = reads ? regions_of(&d, &d.reads, except) : block->reads;
    if (writes) block->writes = regions_of(&d, &d.writes, NULL);
    block->reads = read_list;
  }
  close_detection(&d);
  return !d.opaque;
}

static tvms_list with_opaques(detection *d, tvms_list regions) {
  tvms_list opaques = regions_of(d, &d->opaques, NULL);
  tvms_list all = {
      tvms_arena_array(&d->unit->arena, tvms_node *, regions.len + opaques.len), 0};
  for (uint32_t i = 0; i < regions.len; i++)
    all.items[all.len++] = regions.items[i];
  for (uint32_t i = 0; i < opaques.len; i++)
    all.items[all.len++] = opaques.items[i];
  return all;
}

void tvms_regions_infer_all(tvms_unit *unit, const tvms_node_map *buffers,
                            tvms_block *block) {
  detection d;
  open_detection(&d, unit, buffers);
  d.keeps_opaques = true;
  enter_matches(&d, block);
  visit_below(&d, &block->head);
  tvms_list reads = regions_of(&d, &d.reads, &d.opaques);
  tvms_list writes = regions_of(&d, &d.writes, &d.opaques);
  block->reads = with_opaques(&d, reads);
  block->writes = with_opaques(&d, writes);
  close_detection(&d);
}
