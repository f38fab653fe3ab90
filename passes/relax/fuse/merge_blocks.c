// Blocks of several PrimFuncs in one: names and regions.
#include "passes/relax/fuse/merge_blocks.h"

#include "ir/build.h"
#include "ir/rewrite.h"
#include "support/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  tvms_unit *unit;
  TVMS_VEC(tvms_bytes) names;
} merged;

static bool is_taken(const merged *m, const char *name) {
  for (uint32_t i = 0; i < m->names.len; i++) {
    if (tvms_bytes_is(m->names.items[i], name)) return true;
  }
  return false;
}

// A name with a number counts it up, others get one: compute, compute1, compute2 …
static tvms_node *rename_block(tvms_rewriter *rewriter, tvms_node *node) {
  merged *m = rewriter->self;
  const tvms_block *block = tvms_as_block(node);
  const char *name = block->name.len ? block->name.text : "";
  size_t base = strlen(name);
  while (base > 0 && isdigit((unsigned char)name[base - 1]))
    base--;
  long number = strtol(name + base, NULL, 10);
  size_t room = base + 24;
  char *text =
      tvms_arena_alloc(&m->unit->arena, room > strlen(name) ? room : strlen(name) + 1);
  strcpy(text, name);
  while (is_taken(m, text))
    snprintf(text + base, room - base, "%ld", ++number);
  tvms_bytes unique = {text, (uint32_t)strlen(text)};
  tvms_vec_push(&m->unit->context->memory, &m->names, unique);
  if (tvms_bytes_same(unique, block->name)) return node;
  tvms_node *copy = tvms_node_copy(m->unit, node);
  tvms_as_block(copy)->name = unique;
  return copy;
}

// Two buffers of a callee that are one now are declared once (TVM: UnionAccessRegion).
static tvms_list join_regions(merged *m, tvms_list regions) {
  tvms_list made = tvms_list_copy(m->unit, regions.items, regions.len);
  made.len = 0;
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_node *buffer = tvms_as_buffer_region(regions.items[i])->buffer;
    uint32_t k = 0;
    while (k < made.len && tvms_as_buffer_region(made.items[k])->buffer != buffer)
      k++;
    if (k == made.len) made.items[made.len++] = regions.items[i];
  }
  return made.len == regions.len ? regions : made;
}

static tvms_node *leave_block(tvms_rewriter *rewriter, tvms_node *node) {
  merged *m = rewriter->self;
  node = rename_block(rewriter, node);
  const tvms_block *block = tvms_as_block(node);
  tvms_list reads = join_regions(m, block->reads),
            writes = join_regions(m, block->writes);
  if (reads.len == block->reads.len && writes.len == block->writes.len) return node;
  tvms_node *copy = tvms_node_copy(m->unit, node);
  tvms_as_block(copy)->reads = reads;
  tvms_as_block(copy)->writes = writes;
  return copy;
}

tvms_node *tvms_fuse_merge_blocks(tvms_unit *unit, tvms_node *body) {
  merged m = {.unit = unit};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &m);
  rewriter.leave[TVMS_NODE_BLOCK] = leave_block;
  body = tvms_rewrite(&rewriter, body);
  tvms_rewriter_fini(&rewriter);
  tvms_vec_fini(&unit->context->memory, &m.names);
  return body;
}
