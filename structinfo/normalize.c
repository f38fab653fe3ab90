// A-normal form: temporaries, blocks and sequences, as relax::BlockBuilder makes them
// (src/relax/ir/block_builder.cc).
//
// Every part of a value that is not a leaf is bound to a variable of its own, in the order of
// evaluation: `R.add(R.exp(x), y)` becomes `lv = R.exp(x)` and `gv = R.add(lv, y)`. A part that
// occurs twice as the same node is bound once per block (`bound`). The names of temporaries
// count every binding, also one whose name the user's replaces afterwards; programs that TVM
// has printed depend on that.
#include "structinfo/normalize.h"

#include "ir/build.h"
#include "structinfo/intern.h"
#include "structinfo/make.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(tvms_builder *builder) {
  return &builder->unit->context->memory;
}

void tvms_builder_init(tvms_builder *builder, tvms_prover *prover) {
  *builder = (tvms_builder){.unit = prover->unit, .prover = prover};
  tvms_node_map_init(&builder->in_scope, memory_of(builder));
}

static void free_block(tvms_builder *builder, tvms_open_block *block) {
  tvms_vec_fini(memory_of(builder), &block->bindings);
  tvms_node_map_fini(&block->bound);
}

void tvms_builder_fini(tvms_builder *builder) {
  for (uint32_t i = 0; i < builder->open.len; i++) {
    free_block(builder, &builder->open.items[i]);
  }
  tvms_vec_fini(memory_of(builder), &builder->open);
  tvms_vec_fini(memory_of(builder), &builder->seqs);
  tvms_vec_fini(memory_of(builder), &builder->blocks);
  tvms_vec_fini(memory_of(builder), &builder->symbols);
  tvms_node_map_fini(&builder->in_scope);
}

// ---- Scope of symbolic variables ----

static void define_dims(tvms_builder *builder, tvms_list dims) {
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_node *var = dims.items[i];
    if (var->kind != TVMS_NODE_VAR || tvms_node_map_get(&builder->in_scope, var)) {
      continue;
    }
    tvms_node_map_put(&builder->in_scope, var, var);
    tvms_vec_push(memory_of(builder), &builder->symbols, var);
  }
}

void tvms_builder_define(tvms_builder *builder, const tvms_node *sinfo) {
  if (tvms_types_is_interned(sinfo)) return;
  tvms_list dims;
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR && tvms_sinfo_dims(sinfo, &dims)) {
    define_dims(builder, dims);
  } else if (sinfo->kind == TVMS_NODE_SINFO_SHAPE) {
    define_dims(builder, tvms_as_sinfo_shape(sinfo)->values);
  } else if (sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      tvms_builder_define(builder, fields.items[i]);
    }
  } else if (sinfo->kind == TVMS_NODE_SINFO_PRIM) {
    tvms_node *value = tvms_as_sinfo_prim(sinfo)->value;
    if (value) define_dims(builder, (tvms_list){&value, 1});
  } else if (sinfo->kind == TVMS_NODE_SINFO_DTENSOR) {
    tvms_builder_define(builder, tvms_as_sinfo_dtensor(sinfo)->tensor);
  }
  tvms_prover_assume(builder->prover, sinfo);
}

static tvms_node *TVMS_NULLABLE symbol_in_scope(void *data, tvms_node *var) {
  tvms_builder *builder = data;
  return tvms_node_map_get(&builder->in_scope, var);
}

// The symbols from number `first` on go out of scope.
static void forget_symbols(tvms_builder *builder, uint32_t first) {
  for (uint32_t i = first; i < builder->symbols.len; i++) {
    tvms_node_map_put(&builder->in_scope, builder->symbols.items[i], NULL);
  }
  builder->symbols.len = first;
}

tvms_node *tvms_builder_erase(tvms_builder *builder, tvms_node *sinfo) {
  return tvms_sinfo_erase(builder->prover, sinfo, symbol_in_scope, builder);
}

// ---- Blocks ----

static void open_block(tvms_builder *builder, bool dataflow) {
  tvms_open_block block = {.dataflow = dataflow};
  tvms_node_map_init(&block.bound, memory_of(builder));
  tvms_vec_push(memory_of(builder), &builder->open, block);
}

static void close_block(tvms_builder *builder) {
  tvms_open_block *block = tvms_builder_block(builder);
  if (block->bindings.len > 0) {
    tvms_binding_block *node =
        tvms_node_make(builder->unit, BINDING_BLOCK, TVMS_NO_SPAN);
    node->head.flags = block->dataflow ? TVMS_FLAG_DATAFLOW : 0;
    node->bindings =
        tvms_list_copy(builder->unit, block->bindings.items, block->bindings.len);
    tvms_vec_push(memory_of(builder), &builder->blocks, &node->head);
  }
  free_block(builder, block);
  builder->open.len--;
}

void tvms_builder_switch(tvms_builder *builder, bool dataflow) {
  close_block(builder);
  open_block(builder, dataflow);
}

void tvms_builder_begin_seq(tvms_builder *builder) {
  tvms_open_seq seq = {builder->blocks.len, builder->symbols.len};
  tvms_vec_push(memory_of(builder), &builder->seqs, seq);
  open_block(builder, false);
}

// The first of `count` blocks with all their bindings.
static tvms_node *merge(tvms_builder *builder, tvms_node *const *blocks,
                        uint32_t count) {
  if (count == 1) return blocks[0];
  uint32_t len = 0;
  for (uint32_t i = 0; i < count; i++) {
    len += tvms_as_binding_block(blocks[i])->bindings.len;
  }
  tvms_binding_block *node = tvms_node_make(builder->unit, BINDING_BLOCK, TVMS_NO_SPAN);
  node->head.flags = blocks[0]->flags;
  tvms_node **items = tvms_arena_array(&builder->unit->arena, tvms_node *, len);
  node->bindings = (tvms_list){items, len};
  for (uint32_t i = 0; i < count; i++) {
    tvms_list part = tvms_as_binding_block(blocks[i])->bindings;
    if (part.len) memcpy(items, part.items, part.len * sizeof *items);
    items += part.len;
  }
  return &node->head;
}

// Blocks of one kind that follow each other become one; empty ones go.
static tvms_list take_blocks(tvms_builder *builder, uint32_t first) {
  tvms_node **items = builder->blocks.items;
  uint32_t full = first, kept = first;
  for (uint32_t i = first; i < builder->blocks.len; i++) {
    if (tvms_as_binding_block(items[i])->bindings.len) items[full++] = items[i];
  }
  for (uint32_t i = first, next; i < full; i = next) {
    for (next = i + 1; next < full && items[next]->flags == items[i]->flags;) {
      next++;
    }
    items[kept++] = merge(builder, items + i, next - i);
  }
  tvms_node **begin = kept > first ? builder->blocks.items + first : NULL;
  tvms_list list = tvms_list_copy(builder->unit, begin, kept - first);
  builder->blocks.len = first;
  return list;
}

static tvms_node *bind_part(tvms_builder *builder, tvms_node *part);

tvms_node *tvms_builder_end_seq(tvms_builder *builder, tvms_node *body,
                                tvms_span span) {
  tvms_node *leaf = bind_part(builder, body);
  close_block(builder);
  tvms_open_seq seq = builder->seqs.items[--builder->seqs.len];
  tvms_seq_expr *node = tvms_node_make(builder->unit, SEQ_EXPR, span);
  node->blocks = take_blocks(builder, seq.first_block);
  node->body = leaf;
  tvms_node *type = tvms_sinfo_of(builder->unit, leaf);
  node->head.sinfo = tvms_builder_erase(builder, type);
  forget_symbols(builder, seq.first_symbol);
  return &node->head;
}

// The list that holds the last binding of the sequence being built, or NULL.
static tvms_node ***last_list(tvms_builder *builder, uint32_t **len) {
  tvms_open_block *block = tvms_builder_block(builder);
  if (block->bindings.len > 0) {
    *len = &block->bindings.len;
    return &block->bindings.items;
  }
  if (builder->blocks.len == builder->seqs.items[builder->seqs.len - 1].first_block) {
    return NULL;
  }
  tvms_node *last = builder->blocks.items[builder->blocks.len - 1];
  *len = &tvms_as_binding_block(last)->bindings.len;
  return &tvms_as_binding_block(last)->bindings.items;
}

static tvms_node *bound_var(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_MATCH_CAST ? tvms_as_match_cast(binding)->var
                                               : tvms_as_var_binding(binding)->var;
}

static tvms_sym with_suffix(tvms_context *context, tvms_sym name, const char *suffix) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_strbuf_puts(&text, tvms_symbol_text(context, name));
  tvms_strbuf_puts(&text, suffix);
  tvms_sym result = tvms_symbol_intern(context, text.text, text.len);
  tvms_strbuf_fini(&text);
  return result;
}

tvms_node *TVMS_NULLABLE tvms_builder_end_branch(tvms_builder *builder,
                                                 const char *suffix, tvms_sym *name,
                                                 tvms_span span) {
  uint32_t *len = NULL;
  tvms_node ***list = last_list(builder, &len);
  tvms_node *binding = list ? (*list)[*len - 1] : NULL;
  tvms_node *var = binding ? bound_var(binding) : NULL;
  if (!var || var->flags & TVMS_FLAG_DATAFLOW) {
    tvms_builder_end_seq(
        builder, tvms_sinfo_shape_value_new(builder->unit, NULL, 0, span), span);
    return NULL;
  }
  *name = tvms_as_var(var)->name;
  tvms_node *body = var;
  tvms_node *value = NULL;
  if (binding->kind == TVMS_NODE_VAR_BINDING)
    value = tvms_as_var_binding(binding)->value;
  if (value && tvms_relax_is_leaf_or_tuple(value)) {
    --*len;
    body = value;
  } else {
    tvms_as_var(var)->name = with_suffix(builder->unit->context, *name, suffix);
  }
  return tvms_builder_end_seq(builder, body, span);
}

// ---- Names ----

tvms_sym tvms_builder_draw(tvms_builder *builder) {
  bool dataflow = tvms_builder_block(builder)->dataflow;
  uint32_t number = dataflow ? builder->lv++ : builder->gv++;
  char text[16];
  int len = snprintf(text, sizeof text, number ? "%s%u" : "%s", dataflow ? "lv" : "gv",
                     number);
  return tvms_symbol_intern(builder->unit->context, text, (size_t)len);
}

// ---- Leaves ----

bool tvms_relax_is_leaf(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR:
  case TVMS_NODE_GLOBAL_VAR:
  case TVMS_NODE_CONSTANT:
  case TVMS_NODE_SHAPE_EXPR:
  case TVMS_NODE_PRIM_VALUE:
  case TVMS_NODE_STRING_IMM:
  case TVMS_NODE_DTYPE_IMM:
  case TVMS_NODE_OPERATOR:
  case TVMS_NODE_EXTERN_FUNC: return true;
  default: return false;
  }
}

bool tvms_relax_is_leaf_or_tuple(const tvms_node *node) {
  return tvms_relax_is_leaf(node) || node->kind == TVMS_NODE_TUPLE;
}

static bool normalize_list(tvms_builder *builder, tvms_list list, tvms_list *result) {
  bool changed = false;
  *result = tvms_list_copy(builder->unit, list.items, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    result->items[i] = bind_part(builder, list.items[i]);
    changed = changed || result->items[i] != list.items[i];
  }
  return changed;
}

static tvms_node *normalize_call(tvms_builder *builder, tvms_node *value) {
  const tvms_call *old = tvms_as_call(value);
  tvms_node *callee = bind_part(builder, old->callee);
  tvms_list args;
  bool changed = normalize_list(builder, old->args, &args);
  if (!changed && callee == old->callee) return value;
  tvms_call *call = tvms_node_make(builder->unit, CALL, value->span);
  tvms_node head = call->head;
  *call = *old;
  call->head.id = head.id;
  call->callee = callee;
  call->args = args;
  return &call->head;
}

static tvms_node *normalize_tuple(tvms_builder *builder, tvms_node *value) {
  tvms_list fields;
  if (!normalize_list(builder, tvms_as_tuple(value)->fields, &fields)) return value;
  tvms_tuple *tuple = tvms_node_make(builder->unit, TUPLE, value->span);
  tuple->fields = fields;
  tuple->head.sinfo = value->sinfo;
  return &tuple->head;
}

static tvms_node *normalize_item(tvms_builder *builder, tvms_node *value) {
  const tvms_tuple_get_item *old = tvms_as_tuple_get_item(value);
  tvms_node *tuple = bind_part(builder, old->tuple);
  if (tuple == old->tuple) return value;
  tvms_tuple_get_item *item =
      tvms_node_make(builder->unit, TUPLE_GET_ITEM, value->span);
  item->tuple = tuple;
  item->index = old->index;
  item->head.sinfo = value->sinfo;
  return &item->head;
}

// A variable of void type stands for the empty tuple wherever it is used.
static tvms_node *normalize_var(tvms_builder *builder, tvms_node *value) {
  if (!tvms_sinfo_is_void(value->sinfo) || value == builder->void_var) return value;
  tvms_tuple *tuple = tvms_node_make(builder->unit, TUPLE, value->span);
  tuple->head.sinfo = value->sinfo;
  return &tuple->head;
}

static tvms_node *normalize_if(tvms_builder *builder, tvms_node *value) {
  tvms_if *branch = tvms_as_if(value);
  // The node is still being built: nothing else refers to it.
  branch->condition = bind_part(builder, branch->condition);
  return value;
}

// A sequence (an expanded macro) dissolves into the current block.
static tvms_node *normalize_seq(tvms_builder *builder, const tvms_node *value) {
  const tvms_seq_expr *seq = tvms_as_seq_expr(value);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      tvms_vec_push(memory_of(builder), &tvms_builder_block(builder)->bindings,
                    bindings.items[k]);
    }
  }
  return seq->body;
}

tvms_node *tvms_builder_normalize(tvms_builder *builder, tvms_node *value) {
  tvms_memory *memory = memory_of(builder);
  tvms_node *result = value;
  if (tvms_memory_enter(memory)) {
    switch ((int)value->kind) {
    case TVMS_NODE_CALL: result = normalize_call(builder, value); break;
    case TVMS_NODE_TUPLE: result = normalize_tuple(builder, value); break;
    case TVMS_NODE_TUPLE_GET_ITEM: result = normalize_item(builder, value); break;
    case TVMS_NODE_IF: result = normalize_if(builder, value); break;
    case TVMS_NODE_VAR: result = normalize_var(builder, value); break;
    case TVMS_NODE_SEQ_EXPR: result = normalize_seq(builder, value); break;
    default: break;
    }
  }
  tvms_memory_leave(memory);
  return result;
}

// A part of a value as a leaf: what is none is bound to a temporary, once per block.
static tvms_node *bind_part(tvms_builder *builder, tvms_node *part) {
  bool temporary = !tvms_relax_is_leaf_or_tuple(part)
                   && part->kind != TVMS_NODE_SEQ_EXPR
                   && (part->sinfo || tvms_dtype_is_void(part->dtype));
  if (temporary) {
    tvms_node *known = tvms_node_map_get(&tvms_builder_block(builder)->bound, part);
    if (known) return known;
  }
  if (!temporary) return tvms_builder_normalize(builder, part);
  tvms_node *var = tvms_builder_emit(builder, part, 0, TVMS_NO_SPAN, false);
  tvms_node_map_put(&tvms_builder_block(builder)->bound, part, var);
  return var;
}

// ---- Emitting ----

static tvms_node *new_var(tvms_builder *builder, tvms_node *type, tvms_sym name,
                          tvms_span span) {
  tvms_sym drawn = tvms_builder_draw(builder);
  tvms_dtype dtype = {0};
  // From 0.26 on a variable of a primitive type is an expression of TIR too, and its type does not say
  // its value.
  if (tvms_sinfo_is_prim(type)
      && tvms_release_has(builder->unit->dialect, TVMS_FACT_scalars_are_tir)) {
    dtype = type->dtype;
    if (tvms_as_sinfo_prim(type)->value)
      type = tvms_sinfo_prim_new(builder->unit, dtype, NULL);
  }
  tvms_node *var = tvms_var_new(builder->unit, name ? name : drawn, dtype, span);
  if (tvms_builder_block(builder)->dataflow) var->flags |= TVMS_FLAG_DATAFLOW;
  var->sinfo = type;
  return var;
}

static void add_binding(tvms_builder *builder, tvms_node *binding) {
  tvms_vec_push(memory_of(builder), &tvms_builder_block(builder)->bindings, binding);
}

void tvms_builder_bind(tvms_builder *builder, tvms_node *var, tvms_node *value,
                       tvms_span span) {
  tvms_var_binding *binding = tvms_node_make(builder->unit, VAR_BINDING, span);
  binding->var = var;
  binding->value = value;
  add_binding(builder, &binding->head);
}

static tvms_node *TVMS_NULLABLE value_in(tvms_node *const *bindings, uint32_t len,
                                         const tvms_node *var) {
  for (uint32_t i = len; i > 0; i--) {
    if (bindings[i - 1]->kind != TVMS_NODE_VAR_BINDING) continue;
    const tvms_var_binding *binding = tvms_as_var_binding(bindings[i - 1]);
    if (binding->var == var) return binding->value;
  }
  return NULL;
}

tvms_node *tvms_builder_value_of(const tvms_builder *builder, const tvms_node *var) {
  for (uint32_t i = builder->open.len; i > 0; i--) {
    const tvms_open_block *block = &builder->open.items[i - 1];
    tvms_node *value = value_in(block->bindings.items, block->bindings.len, var);
    if (value) return value;
  }
  for (uint32_t i = builder->blocks.len; i > 0; i--) {
    tvms_list bindings = tvms_as_binding_block(builder->blocks.items[i - 1])->bindings;
    tvms_node *value = value_in(bindings.items, bindings.len, var);
    if (value) return value;
  }
  return NULL;
}

tvms_node *tvms_builder_emit(tvms_builder *builder, tvms_node *value, tvms_sym name,
                             tvms_span span, bool annotated) {
  value = tvms_builder_normalize(builder, value);
  tvms_node *type = tvms_sinfo_of(builder->unit, value);
  tvms_node *var = new_var(builder, type, name, span);
  tvms_builder_bind(builder, var, value, span);
  tvms_open_block *block = tvms_builder_block(builder);
  if (annotated) {
    block->bindings.items[block->bindings.len - 1]->flags |= TVMS_FLAG_ANNOTATED;
  }
  return var;
}

tvms_node *tvms_builder_match_cast(tvms_builder *builder, tvms_node *value,
                                   tvms_node *type, tvms_sym name, tvms_span span) {
  value = tvms_builder_normalize(builder, value);
  tvms_node *var = new_var(builder, type, name, span);
  tvms_struct_MATCH_CAST *binding = tvms_node_make(builder->unit, MATCH_CAST, span);
  binding->value = value;
  binding->type = type;
  binding->var = var;
  add_binding(builder, &binding->head);
  tvms_builder_define(builder, type);
  return var;
}
