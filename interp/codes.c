// Which functions are worth register code, and finding what was made of them.
//
// Making code takes as long as walking over the function two or three times. So one that runs
// through a few iterations only is left to the tree until it has been called some times.
#include "interp/codes.h"

#include "interp/compile.h"

enum { FEW_TURNS = 16, FEW_CALLS = 4, MOST_NESTED = 16, FIRST_ROOM = 4 };

void tvms_interp_codes_init(tvms_interp_codes *codes, tvms_memory *memory) {
  *codes = (tvms_interp_codes){.entries = codes->first, .room = FIRST_ROOM};
  tvms_arena_init(&codes->arena, memory);
}

void tvms_interp_codes_fini(tvms_interp_codes *codes) {
  tvms_arena_fini(&codes->arena);
}

// ---- What is worth it ----

static uint32_t turns_of(const tvms_node *node, uint32_t nested);

static uint32_t turns_of_all(tvms_list stmts, uint32_t nested) {
  uint32_t turns = 0;
  for (uint32_t i = 0; i < stmts.len && turns <= FEW_TURNS; i++)
    turns += turns_of(stmts.items[i], nested);
  return turns;
}

static uint32_t turns_of_loop(const tvms_for *loop, uint32_t nested) {
  bool known = loop->extent->kind == TVMS_NODE_INT_IMM;
  int64_t extent = known ? tvms_as_int_imm(loop->extent)->value : FEW_TURNS + 1;
  if (extent > FEW_TURNS) return FEW_TURNS + 1;
  return extent > 0 ? (uint32_t)extent * turns_of(loop->body, nested) : 0;
}

// How many statements are executed, at most FEW_TURNS and a little more; what is not known is
// more than that.
static uint32_t turns_of(const tvms_node *node, uint32_t nested) {
  if (++nested > MOST_NESTED) return FEW_TURNS + 1;
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: return turns_of_all(tvms_as_seq(node)->stmts, nested);
  case TVMS_NODE_FOR: return turns_of_loop(tvms_as_for(node), nested);
  case TVMS_NODE_BLOCK_REALIZE:
    return turns_of(tvms_as_block_realize(node)->block, nested);
  case TVMS_NODE_BLOCK: return turns_of(tvms_as_block(node)->body, nested);
  case TVMS_NODE_IF_THEN_ELSE:
    return turns_of(tvms_as_if_then_else(node)->then_case, nested);
  case TVMS_NODE_WHILE:
  case TVMS_NODE_ATTR_STMT: return FEW_TURNS + 1;
  default: return 1;
  }
}

// ---- The table ----

static tvms_interp_entry *place_of(tvms_interp_entry *entries, uint32_t room,
                                   const tvms_member *member) {
  uint32_t at = (uint32_t)((uint64_t)(uintptr_t)member * 0x9E3779B97F4A7C15u >> 32);
  for (;; at++) {
    tvms_interp_entry *entry = &entries[at & (room - 1)];
    if (!entry->member || entry->member == member) return entry;
  }
}

static void grow(tvms_interp_codes *codes) {
  uint32_t room = codes->room * 2;
  tvms_interp_entry *entries = tvms_arena_array(&codes->arena, tvms_interp_entry, room);
  for (uint32_t i = 0; i < codes->room; i++) {
    const tvms_interp_entry *old = &codes->entries[i];
    if (old->member) *place_of(entries, room, old->member) = *old;
  }
  codes->entries = entries;
  codes->room = room;
}

static tvms_interp_entry *entry_of(tvms_interp_codes *codes,
                                   const tvms_member *member) {
  if (codes->count * 2 >= codes->room) grow(codes);
  tvms_interp_entry *entry = place_of(codes->entries, codes->room, member);
  if (entry->member) return entry;
  codes->count++;
  const tvms_node *body = tvms_as_prim_func(member->function)->body;
  *entry =
      (tvms_interp_entry){.member = member, .shorts = turns_of(body, 0) <= FEW_TURNS};
  return entry;
}

const tvms_interp_code *tvms_interp_codes_find(tvms_interp_frame *f) {
  tvms_interp *interp = f->interp;
  if (!interp->codes || interp->engine == TVMS_INTERP_WALKS) return NULL;
  tvms_interp_entry *entry = entry_of(interp->codes, f->member);
  bool waits = entry->shorts && interp->engine != TVMS_INTERP_COMPILES;
  if (waits && entry->calls++ < FEW_CALLS) return NULL;
  if (!entry->tried) {
    entry->tried = true;
    entry->code = tvms_interp_compile(f, &interp->codes->arena);
    interp->compiled += entry->code != NULL;
  }
  const tvms_memory *memory = &f->context->memory;
  // The tree says where the nesting is too deep.
  bool fits = entry->code && memory->depth + entry->code->depth < memory->depth_limit;
  return fits ? entry->code : NULL;
}
