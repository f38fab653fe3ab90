// How long a function is, and how much of it is in loops: Tarjan's search for blocks that reach each other, with a
// stack of its own, since blocks may follow each other by the thousand.
#include "backend/llvm/straight.h"

#include <stdlib.h>

typedef struct {
  LLVMBasicBlockRef block;
  uint32_t number;  // in the order of the search; 0: not seen yet
  uint32_t low;   // the least number that is reached from here and whose group is open
  uint32_t next;  // successor to look at
  bool open;      // its group is not known yet
  bool again;     // it goes to itself
} node;

typedef struct {
  node *nodes;  // by address
  uint32_t count;
  uint32_t *path;  // nodes that are being looked at
  uint32_t path_len;
  uint32_t *group;  // nodes whose group is open
  uint32_t group_len;
  uint32_t seen;
  uint32_t size;  // of what is in loops
} search;

static uint32_t size_of_block(LLVMBasicBlockRef block) {
  uint32_t count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i))
    count++;
  return count;
}

uint32_t tvms_llvm_size(LLVMValueRef function) {
  uint32_t count = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    count += size_of_block(b);
  return count;
}

static int compare_nodes(const void *a, const void *b) {
  uintptr_t one = (uintptr_t)((const node *)a)->block,
            two = (uintptr_t)((const node *)b)->block;
  return (one > two) - (one < two);
}

static uint32_t index_of(const search *s, LLVMBasicBlockRef block) {
  node key = {.block = block};
  const node *found = bsearch(&key, s->nodes, s->count, sizeof key, compare_nodes);
  return (uint32_t)(found - s->nodes);
}

static void begin(search *s, uint32_t at) {
  s->nodes[at].number = s->nodes[at].low = ++s->seen;
  s->nodes[at].open = true;
  s->path[s->path_len++] = at;
  s->group[s->group_len++] = at;
}

// Nodes of one group reach each other.
static void close_group(search *s, uint32_t first) {
  bool loops = s->group[s->group_len - 1] != first || s->nodes[first].again;
  uint32_t at;
  do {
    at = s->group[--s->group_len];
    s->nodes[at].open = false;
    if (loops) s->size += size_of_block(s->nodes[at].block);
  } while (at != first);
}

static void finish(search *s, uint32_t at) {
  uint32_t low = s->nodes[at].low;
  s->path_len--;
  if (low == s->nodes[at].number) close_group(s, at);
  if (!s->path_len) return;
  node *before = &s->nodes[s->path[s->path_len - 1]];
  if (low < before->low) before->low = low;
}

// Looks at the next successor of the last node of the path, if it has one.
static void step(search *s) {
  uint32_t at = s->path[s->path_len - 1];
  node *here = &s->nodes[at];
  LLVMValueRef end = LLVMGetBasicBlockTerminator(here->block);
  if (!end || here->next >= LLVMGetNumSuccessors(end)) {
    finish(s, at);
    return;
  }
  uint32_t to = index_of(s, LLVMGetSuccessor(end, here->next++));
  const node *there = &s->nodes[to];
  here->again |= to == at;
  if (!there->number)
    begin(s, to);
  else if (there->open && there->number < here->low)
    here->low = there->number;
}

uint32_t tvms_llvm_size_in_loops(LLVMValueRef function, tvms_arena *scratch) {
  search s = {.count = LLVMCountBasicBlocks(function)};
  s.nodes = tvms_arena_array(scratch, node, s.count);
  s.path = tvms_arena_array(scratch, uint32_t, s.count);
  s.group = tvms_arena_array(scratch, uint32_t, s.count);
  uint32_t count = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    s.nodes[count++].block = b;
  if (!count) return 0;
  qsort(s.nodes, count, sizeof *s.nodes, compare_nodes);
  begin(&s, index_of(&s, LLVMGetEntryBasicBlock(function)));
  while (s.path_len)
    step(&s);
  return s.size;
}
