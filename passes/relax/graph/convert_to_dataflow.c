// ConvertToDataflow: runs of bindings without effects get a dataflow block.
//
// Before: y = R.exp(x); z = R.sin(y); gv = R.print(z, …)
// After:  with R.dataflow(): y = R.exp(x); z = R.sin(y); R.output(z)
//         gv = R.print(z, …)
//
// A run has at least min_size bindings, or there is a block already, which grows. An If and
// calls with effects end a run. CanonicalizeBindings is run behind it, as in TVM, and makes
// variables of the block of those that are used nowhere else.
// TVM: relax.transform.ConvertToDataflow.
#include "ir/build.h"
#include "passes/functions.h"
#include "passes/relax/blocks.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "structinfo/definitions.h"
#include "structinfo/infer.h"

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  int64_t min_size;
} converter;

// A sequence being made.
typedef struct {
  const converter *c;
  tvms_node_vec blocks;
  tvms_node_vec plain;  // bindings that stay outside …
  tvms_node_vec run;    // … and, behind them, those of a run
  bool has_block;       // a dataflow block of the source is in the run
} split;

static tvms_memory *memory_of(const split *s) {
  return &s->c->run->context->memory;
}

static void push_block(split *s, tvms_node_vec *bindings, uint8_t flags) {
  if (bindings->len) {
    tvms_binding_block *block =
        tvms_node_make(s->c->unit, BINDING_BLOCK, bindings->items[0]->span);
    block->head.flags = flags;
    block->bindings = tvms_list_copy(s->c->unit, bindings->items, bindings->len);
    tvms_vec_push(memory_of(s), &s->blocks, &block->head);
  }
  bindings->len = 0;
}

static void end_run(split *s) {
  if (s->run.len == 0) return;
  if ((int64_t)s->run.len >= s->c->min_size || s->has_block) {
    push_block(s, &s->plain, 0);
    push_block(s, &s->run, TVMS_FLAG_DATAFLOW);
  }
  for (uint32_t i = 0; i < s->run.len; i++)
    tvms_vec_push(memory_of(s), &s->plain, s->run.items[i]);
  s->run.len = 0;
  s->has_block = false;
}

static bool has_no_effect(const split *s, const tvms_node *value) {
  if (value->kind == TVMS_NODE_IF) return false;
  return value->kind != TVMS_NODE_CALL
         || tvms_infer_call_is_pure(s->c->run->module, tvms_as_call(value));
}

static void split_block(split *s, const tvms_node *block) {
  bool dataflow = block->flags & TVMS_FLAG_DATAFLOW;
  tvms_list bindings = tvms_as_binding_block(block)->bindings;
  for (uint32_t i = 0; i < bindings.len; i++) {
    tvms_node *binding = bindings.items[i];
    bool joins = dataflow || has_no_effect(s, tvms_relax_binding_value(binding));
    if (!joins) end_run(s);
    tvms_vec_push(memory_of(s), joins ? &s->run : &s->plain, binding);
  }
  s->has_block |= dataflow;
}

static bool same_blocks(tvms_list a, const tvms_node_vec *b) {
  if (a.len != b->len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    bool same = a.items[i]->flags == b->items[i]->flags
                && tvms_as_binding_block(a.items[i])->bindings.len
                       == tvms_as_binding_block(b->items[i])->bindings.len;
    if (!same) return false;
  }
  return true;
}

static tvms_node *split_sequence(tvms_rewriter *r, tvms_node *node) {
  split s = {.c = r->self};
  tvms_list old = tvms_as_seq_expr(node)->blocks;
  for (uint32_t i = 0; i < old.len; i++)
    split_block(&s, old.items[i]);
  end_run(&s);
  push_block(&s, &s.plain, 0);
  if (!same_blocks(old, &s.blocks)) {
    node = tvms_node_copy(r->unit, node);
    tvms_as_seq_expr(node)->blocks =
        tvms_list_copy(r->unit, s.blocks.items, s.blocks.len);
    node = tvms_relax_merge_blocks(r->unit, node);
  }
  tvms_vec_fini(memory_of(&s), &s.blocks);
  tvms_vec_fini(memory_of(&s), &s.plain);
  tvms_vec_fini(memory_of(&s), &s.run);
  return node;
}

static tvms_node *convert(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  converter c = {run, unit, TVMS_OPTION(run, ConvertToDataflow, min_size).number};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &c);
  rewriter.leave[TVMS_NODE_SEQ_EXPR] = split_sequence;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return tvms_relax_canonicalize(run, unit, result);
}

void tvms_pass_convert_to_dataflow(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, convert);
}
