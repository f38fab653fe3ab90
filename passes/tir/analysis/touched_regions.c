// One walk in the order of TVM, with the loops that are open, what their variables run over,
// and the conditions that hold. What an access touches is in passes/tir/analysis/touched_sets.h,
// what comes of it in the end in touched_settle.h. A condition
// narrows domains (arith/narrow.h), or is one that iterator maps are given.
// A buffer whose pointer is used is touched as the blocks around declare it, or as a whole.
#include "passes/tir/analysis/touched_regions.h"

#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/tir/analysis/touched_settle.h"
#include "support/diag_ids.h"

static void visit(tvms_touched_collector *c, tvms_node *node);

// ---- Scopes ----

static void visit_list(tvms_touched_collector *c, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]) visit(c, list.items[i]);
  }
}

static void visit_below(tvms_touched_collector *c, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    visit(c, child);
}

static void visit_under(tvms_touched_collector *c, tvms_node *condition,
                        tvms_node *node) {
  tvms_narrowing narrowing;
  uint32_t conditions = c->pending.len;
  if (!tvms_domains_narrow(&c->domains, &c->hints, condition, &narrowing)) {
    tvms_vec_push(c->memory, &c->pending, condition);
  }
  visit(c, node);
  c->pending.len = conditions;
  tvms_domains_widen(&c->domains, &c->hints, &narrowing);
}

static void visit_choice(tvms_touched_collector *c, tvms_node *condition,
                         tvms_node *yes, tvms_node *TVMS_NULLABLE no) {
  visit(c, condition);
  visit_under(c, condition, yes);
  if (no) visit_under(c, tvms_build_negation(c->unit, condition), no);
}

static void open_axis(tvms_touched_collector *c, tvms_node *var,
                      const char *TVMS_NULLABLE tag, tvms_node *min,
                      tvms_node *extent) {
  tvms_touched_axis made = {var, tag};
  tvms_vec_push(c->memory, &c->axes, made);
  tvms_vec_push(c->memory, &c->running, var);
  tvms_analyzer_bind_range(c->analyzer, var, min, extent);
  tvms_int_set set = tvms_int_set_of_range(c->unit, min, extent);
  tvms_domains_set(&c->domains, var, set);
  tvms_domains_set(&c->ever, var, set);
}

static void close_axis(tvms_touched_collector *c) {
  c->axes.len--;
  const tvms_node *var = c->axes.items[c->axes.len].var;
  tvms_domains_drop(&c->domains, var);
  // What was bound inside stays.
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->running.len; i++) {
    tvms_node *other = c->running.items[i];
    if (other != var) c->running.items[kept++] = other;
  }
  c->running.len = kept;
}

static void visit_for(tvms_touched_collector *c, const tvms_for *loop) {
  const char *tag = NULL;
  if (loop->for_kind == TVMS_FOR_THREAD_BINDING && loop->thread) {
    tag =
        tvms_symbol_text(c->unit->context, tvms_as_iter_var(loop->thread)->thread_tag);
  }
  open_axis(c, loop->var, tag, loop->min, loop->extent);
  uint32_t flat = c->flat.len;
  visit(c, loop->min);
  visit(c, loop->extent);
  if (loop->step) visit(c, loop->step);
  visit(c, loop->body);
  tvms_touched_settle_flat(c, flat);
  close_axis(c);
}

// An axis that an attribute binds holds to the end of its sequence.
static void visit_seq(tvms_touched_collector *c, const tvms_seq *seq) {
  uint32_t first = c->axes.len, flat = c->flat.len;
  for (uint32_t i = 0; i < seq->stmts.len; i++) {
    visit(c, seq->stmts.items[i]);
    if (c->axes.len == first) flat = c->flat.len;
  }
  if (c->axes.len > first) tvms_touched_settle_flat(c, flat);
  while (c->axes.len > first)
    close_axis(c);
}

static void visit_attr(tvms_touched_collector *c, const tvms_node *node) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  visit(c, attr->value);
  const tvms_iter_var *threads = tvms_attr_stmt_threads(node);
  if (!threads) return;
  tvms_node *min = tvms_int_imm_new(c->unit, attr->value->dtype, 0, TVMS_NO_SPAN);
  tvms_node *extent = attr->value;
  if (threads->dom) {
    min = tvms_as_range(threads->dom)->min;
    extent = tvms_as_range(threads->dom)->extent;
  }
  open_axis(c, threads->var, tvms_symbol_text(c->unit->context, threads->thread_tag),
            min, extent);
}

static void bind(tvms_touched_collector *c, tvms_node *var, tvms_node *value) {
  if (!tvms_dtype_is_index(value->dtype)) return;
  tvms_vec_push(c->memory, &c->running, var);
  tvms_analyzer_bind(c->analyzer, var, value);
  tvms_domains_set(&c->domains, var, tvms_int_set_point(value));
}

// ---- Blocks ----

static void declare(tvms_touched_collector *c, tvms_list regions) {
  for (uint32_t i = 0; i < regions.len; i++) {
    tvms_touched_declared d = {tvms_as_buffer_region(regions.items[i])->buffer,
                               regions.items[i], c->blocks};
    tvms_vec_push(c->memory, &c->declarations, d);
  }
}

// Annotations may say which declared regions are all that loads touch.
static void take_given(tvms_touched_collector *c, const tvms_block *block,
                       const char *key, tvms_list regions) {
  const tvms_node *numbers = tvms_object_map_get(block->annotations, key);
  if (!numbers || numbers->kind != TVMS_NODE_OBJECT_ARRAY) return;
  tvms_list items = tvms_as_object_array(numbers)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    int64_t place;
    if (!tvms_object_as_int(items.items[i], &place)) continue;
    if (place < 0 || place >= regions.len || place >= block->reads.len) continue;
    tvms_node *region = regions.items[place];
    tvms_node_map_put(&c->given, tvms_as_buffer_region(region)->buffer, region);
  }
}

static void settle_block(tvms_touched_collector *c, const tvms_block *block) {
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_node *buffer = block->alloc_buffers.items[i];
    tvms_touched_buffer *t = tvms_touched_known(c, buffer);
    if (t && t->sets) {
      tvms_touched_settle(c, t);
      continue;
    }
    if (!c->failed) {
      tvms_diag_report(
          &c->unit->context->diags, TVMS_D_untouched_buffer, block->head.span,
          tvms_symbol_text(c->unit->context, tvms_as_buffer(buffer)->name));
    }
    c->failed = true;
  }
}

static void visit_block(tvms_touched_collector *c, const tvms_block *block) {
  uint32_t declarations = c->declarations.len;
  c->blocks++;
  declare(c, block->reads);
  declare(c, block->writes);
  take_given(c, block, "explicit_read_region", block->reads);
  take_given(c, block, "explicit_write_region", block->writes);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_touched_allocate(c, block->alloc_buffers.items[i]);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_touched_region(
        c, tvms_as_match_buffer_region(block->match_buffers.items[i])->source);
  }
  visit_list(c, block->reads);
  visit_list(c, block->writes);
  visit_list(c, block->match_buffers);
  visit(c, block->body);
  c->declarations.len = declarations;
  tvms_node_map_clear(&c->given);
  settle_block(c, block);
}

static void visit_load(tvms_touched_collector *c, const tvms_buffer_load *load) {
  const tvms_node *given = tvms_node_map_get(&c->given, load->buffer);
  if (given)
    tvms_touched_region(c, given);
  else
    tvms_touched_element(c, load->buffer, load->indices);
  visit_list(c, load->indices);
}

// ---- Pointers ----

static tvms_walk_step note_owner(void *self, tvms_node *node, tvms_field_role role) {
  tvms_touched_collector *c = self;
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  tvms_node *data = tvms_as_buffer(node)->data;
  const tvms_node *known = tvms_node_map_get(&c->owners, data);
  tvms_node_map_put(&c->owners, data, known && known != node ? data : node);
  return TVMS_WALK_SKIP;
}

// The buffer that an ALLOCATE is for; NULL: none, or several.
static tvms_node *TVMS_NULLABLE owner_of(const tvms_touched_collector *c,
                                         const tvms_allocate *alloc) {
  tvms_node *owner = tvms_node_map_get(&c->owners, alloc->var);
  if (!owner || owner->kind != TVMS_NODE_BUFFER) return NULL;
  return tvms_dtype_same(tvms_as_buffer(owner)->element, alloc->element) ? owner : NULL;
}

static void visit_allocation(tvms_touched_collector *c, tvms_node *buffer) {
  tvms_vec_push(c->memory, &c->flat, c->buffers.len);
  tvms_touched_allocate(c, buffer);
  visit_list(c, tvms_as_buffer(buffer)->shape);
}

static void visit_inner(tvms_touched_collector *c, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER_LOAD: visit_load(c, tvms_as_buffer_load(node)); return;
  case TVMS_NODE_STORE:
    tvms_touched_element(c, tvms_as_store(node)->buffer, tvms_as_store(node)->indices);
    visit(c, tvms_as_store(node)->value);
    return;
  case TVMS_NODE_BUFFER_REGION:
    visit_list(c, tvms_as_buffer_region(node)->region);
    return;
  case TVMS_NODE_MATCH_BUFFER_REGION:
    visit(c, tvms_as_match_buffer_region(node)->source);
    return;
  case TVMS_NODE_VAR:
  case TVMS_NODE_BUFFER: tvms_touched_pointer(c, node); return;
  case TVMS_NODE_FOR: visit_for(c, tvms_as_for(node)); return;
  case TVMS_NODE_SEQ: visit_seq(c, tvms_as_seq(node)); return;
  case TVMS_NODE_ATTR_STMT: visit_attr(c, node); return;
  case TVMS_NODE_BLOCK: visit_block(c, tvms_as_block(node)); return;
  case TVMS_NODE_BLOCK_REALIZE:
    visit_under(c, tvms_as_block_realize(node)->predicate,
                tvms_as_block_realize(node)->block);
    return;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    visit_choice(c, branch->condition, branch->then_case, branch->else_case);
    return;
  }
  case TVMS_NODE_BIND:
    visit(c, tvms_as_bind(node)->value);
    bind(c, tvms_as_bind(node)->var, tvms_as_bind(node)->value);
    return;
  case TVMS_NODE_LET:
    visit(c, tvms_as_let(node)->value);
    bind(c, tvms_as_let(node)->var, tvms_as_let(node)->value);
    visit(c, tvms_as_let(node)->body);
    tvms_domains_drop(&c->domains, tvms_as_let(node)->var);
    return;
  case TVMS_NODE_CALL: {
    tvms_list args = tvms_as_call(node)->args;
    if (tvms_arith_opcode(node) == TVMS_TIR_if_then_else)
      visit_choice(c, args.items[0], args.items[1], args.items[2]);
    else
      visit_list(c, args);
    return;
  }
  case TVMS_NODE_ALLOC_BUFFER:
    visit_allocation(c, tvms_as_alloc_buffer(node)->buffer);
    return;
  case TVMS_NODE_ALLOCATE: {
    tvms_node *owner = owner_of(c, tvms_as_allocate(node));
    if (owner)
      visit_allocation(c, owner);
    else
      visit_list(c, tvms_as_allocate(node)->extents);
    return;
  }
  case TVMS_NODE_DECL_BUFFER:
    if (tvms_as_decl_buffer(node)->source) visit(c, tvms_as_decl_buffer(node)->source);
    return;
  case TVMS_NODE_OBJECT_MAP: return;
  default: visit_below(c, node); return;
  }
}

static void visit(tvms_touched_collector *c, tvms_node *node) {
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  visit_inner(c, node);
  tvms_memory_leave(c->memory);
}

bool tvms_touched_regions_collect(tvms_unit *unit, tvms_node *body, bool inside,
                                  bool whole, tvms_node_map *regions) {
  tvms_touched_collector c = {.unit = unit,
                              .memory = &unit->context->memory,
                              .analyzer = tvms_analyzer_new(unit),
                              .inside = inside,
                              .whole = whole,
                              .regions = regions};
  tvms_domains_init(&c.domains, unit);
  tvms_domains_init(&c.hints, unit);
  tvms_domains_init(&c.ever, unit);
  tvms_node_map_init(&c.places, c.memory);
  tvms_node_map_init(&c.given, c.memory);
  tvms_node_map_init(&c.owners, c.memory);
  tvms_visitor owners = {.self = &c, .enter = note_owner};
  if (!tvms_release_has(unit->dialect, TVMS_FACT_alloc_buffer_is_a_statement))
    tvms_walk(c.memory, body, &owners);
  visit(&c, body);
  tvms_touched_settle_flat(&c, 0);
  tvms_vec_fini(c.memory, &c.axes);
  tvms_vec_fini(c.memory, &c.running);
  tvms_vec_fini(c.memory, &c.buffers);
  tvms_vec_fini(c.memory, &c.pending);
  tvms_vec_fini(c.memory, &c.declarations);
  tvms_vec_fini(c.memory, &c.flat);
  tvms_node_map_fini(&c.owners);
  tvms_node_map_fini(&c.given);
  tvms_node_map_fini(&c.places);
  tvms_domains_fini(&c.ever);
  tvms_domains_fini(&c.hints);
  tvms_domains_fini(&c.domains);
  tvms_analyzer_free(c.analyzer);
  return !c.failed;
}
