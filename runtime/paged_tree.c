// A tree is two lists of a slot of its own, which goes back to a list of free ones with it.
#include "runtime/paged_tree.h"

#include "runtime/paged_arrays.h"

enum { MOST_NODES = 256, SLOT = 2 * MOST_NODES };

static int32_t *parents_of(const tvms_paged *p, const tvms_paged_sequence *sequence) {
  return p->trees + (size_t)sequence->tree * SLOT;
}

static int32_t *depths_of(const tvms_paged *p, const tvms_paged_sequence *sequence) {
  return parents_of(p, sequence) + MOST_NODES;
}

int32_t tvms_paged_tree_depth(const tvms_paged *p, const tvms_paged_sequence *sequence,
                              int32_t node) {
  return depths_of(p, sequence)[node];
}

bool tvms_paged_tree_is_chain(const tvms_paged *p,
                              const tvms_paged_sequence *sequence) {
  for (int32_t n = 0; n < sequence->nodes; n++) {
    if (parents_of(p, sequence)[n] != n - 1) return false;
  }
  return true;
}

void tvms_paged_tree_ranges(const tvms_paged *p, const tvms_paged_sequence *sequence,
                            int32_t *ranges) {
  const int32_t *parents = sequence->nodes ? parents_of(p, sequence) : NULL;
  int32_t below[MOST_NODES], next[MOST_NODES], next_root = 0;
  for (int32_t n = sequence->nodes - 1; n >= 0; n--)
    below[n] = 1;
  for (int32_t n = sequence->nodes - 1; n >= 0; n--) {
    if (parents[n] != TVMS_PAGED_NONE) below[parents[n]] += below[n];
  }
  for (int32_t n = 0; n < sequence->nodes; n++) {
    int32_t *place = parents[n] == TVMS_PAGED_NONE ? &next_root : &next[parents[n]];
    ranges[2 * n] = *place;
    ranges[2 * n + 1] = *place + below[n];
    next[n] = *place + 1;
    *place += below[n];
  }
}

// ---- Trees grow ----

static void check_nodes(const tvms_paged *p, int64_t i,
                        const tvms_paged_sequence *sequence, const int64_t *parents,
                        int64_t count) {
  if (count > MOST_NODES - sequence->nodes)
    tvms_paged_refuse(
        p, "The tree size is %lld which exceeds the maximum tree size limit %d",
        (long long)count + sequence->nodes, MOST_NODES);
  for (int64_t k = 0; k < count; k++) {
    int64_t node = sequence->nodes + k;
    if (parents[k] >= node)
      tvms_paged_refuse(p,
                        "Invalid token tree. The parent of node %lld in tree %lld is "
                        "%lld, which is not smaller than %lld",
                        (long long)node, (long long)i, (long long)parents[k],
                        (long long)node);
    if (parents[k] < TVMS_PAGED_NONE)
      tvms_paged_refuse(
          p, "Invalid token tree. The parent of node %lld in tree %lld is %lld",
          (long long)node, (long long)i, (long long)parents[k]);
  }
}

// The sequence of an id that stands at `i` of `ids`, and nowhere before.
static tvms_paged_sequence *sequence_at(const tvms_paged *p, tvms_paged_shape ids,
                                        int64_t i) {
  for (int64_t k = 0; k < i; k++) {
    if (ids.sizes[k] == ids.sizes[i])
      tvms_paged_refuse(p, "a sequence is expected only once");
  }
  return tvms_paged_sequence_of(p, ids.sizes[i]);
}

static void check_trees(const tvms_paged *p, tvms_paged_shape ids,
                        tvms_paged_shape lengths, tvms_paged_shape parents) {
  if (p->head->slides)
    tvms_paged_refuse(p, "Tree attention does not support sliding window.");
  if (p->head->made.rotary_mode == TVMS_ROTARY_INLINE)
    tvms_paged_refuse(p, "Tree attention does not support inline RoPE mode.");
  int64_t total = 0;
  for (int64_t i = 0; i < lengths.count; i++)
    total += lengths.sizes[i];
  if (total != parents.count)
    tvms_paged_refuse(p,
                      "Invalid token tree size. The sum of \"append_lengths\" is %lld "
                      "while there are %lld elements in \"token_tree_parent_ptr\".",
                      (long long)total, (long long)parents.count);
  for (int64_t i = 0, at = 0; i < ids.count; at += lengths.sizes[i++])
    check_nodes(p, i, sequence_at(p, ids, i), parents.sizes + at, lengths.sizes[i]);
}

static void take_slot(tvms_paged *p, tvms_paged_sequence *sequence) {
  tvms_paged_head *head = p->head;
  if (head->free_tree != TVMS_PAGED_NONE) {
    sequence->tree = head->free_tree;
    head->free_tree = parents_of(p, sequence)[0];
    return;
  }
  uint64_t bytes = ((uint64_t)head->trees + 1) * SLOT * sizeof *p->trees;
  p->trees = p->host->area(p->host, TVMS_PAGED_TREES, bytes);
  sequence->tree = (int32_t)head->trees++;
}

void tvms_paged_tree_grow(tvms_paged *p, tvms_paged_shape ids, tvms_paged_shape lengths,
                          tvms_paged_shape parents) {
  check_trees(p, ids, lengths, parents);
  const int64_t *parent = parents.sizes;
  for (int64_t i = 0; i < ids.count; i++) {
    tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, ids.sizes[i]);
    if (!sequence->nodes) take_slot(p, sequence);
    int32_t *kept = parents_of(p, sequence), *depths = depths_of(p, sequence);
    for (int64_t k = 0; k < lengths.sizes[i]; k++) {
      int32_t node = sequence->nodes++;
      kept[node] = (int32_t)*parent++;
      depths[node] = kept[node] == TVMS_PAGED_NONE ? 0 : depths[kept[node]] + 1;
    }
  }
}

void tvms_paged_tree_check_none(const tvms_paged *p, tvms_paged_shape ids) {
  for (int64_t i = 0; i < ids.count; i++) {
    if (tvms_paged_sequence_of(p, ids.sizes[i])->nodes)
      tvms_paged_refuse(
          p,
          "The input batch does not form a tree, in which case the sequences in the "
          "input batch are expected to have their accepted tokens token tree nodes "
          "committed. Please invoke CommitAcceptedTokenTreeNodes for sequence %lld",
          (long long)ids.sizes[i]);
  }
}

// ---- Trees go ----

void tvms_paged_tree_cut(tvms_paged *p, tvms_paged_sequence *sequence, int32_t count) {
  if (!sequence->nodes) return;
  sequence->nodes = count < sequence->nodes ? sequence->nodes - count : 0;
  if (sequence->nodes) return;
  parents_of(p, sequence)[0] = p->head->free_tree;
  p->head->free_tree = sequence->tree;
}

static void check_commit(const tvms_paged *p, tvms_paged_shape ids,
                         tvms_paged_shape leaves) {
  if (ids.count != leaves.count)
    tvms_paged_refuse(p, "The given seq_ids and leaf_indices have different size.");
  for (int64_t i = 0; i < ids.count; i++) {
    const tvms_paged_sequence *sequence = sequence_at(p, ids, i);
    int64_t leaf = leaves.sizes[i];
    if (leaf >= 0 && !sequence->nodes)
      tvms_paged_refuse(p, "The accepted nodes of sequence %lld are already committed.",
                        (long long)ids.sizes[i]);
    if (leaf < TVMS_PAGED_NONE)
      tvms_paged_refuse(p, "Invalid tree index %lld which is less than -1",
                        (long long)leaf);
    if (leaf >= 0 && leaf >= sequence->nodes)
      tvms_paged_refuse(p,
                        "Invalid tree index %lld which is larger than or equals to the "
                        "append length %d of the sequence",
                        (long long)leaf, sequence->nodes);
  }
}

// Where a node stands in the pages of its block.
static int32_t place_of(const tvms_paged *p, const tvms_paged_sequence *sequence,
                        const int32_t *pages, int32_t node) {
  const tvms_paged_block *block = &p->blocks[sequence->block];
  int64_t slot = tvms_paged_slot(block, block->length - sequence->nodes + node);
  return tvms_paged_place(p, pages, slot);
}

// Puts down which places the nodes of a path are copied from and to; those that stand right are left out. Returns how
// many there are.
static int32_t plan_path(const tvms_paged *p, const tvms_paged_sequence *sequence,
                         int32_t leaf, int32_t *from, int32_t *to) {
  const int32_t *pages = tvms_paged_pages_of(p, &p->blocks[sequence->block]);
  int32_t count = 0, path[MOST_NODES], length = 0;
  for (int32_t n = leaf; n != TVMS_PAGED_NONE; n = parents_of(p, sequence)[n])
    path[length++] = n;
  for (int32_t k = 0; k < length; k++) {
    int32_t node = path[length - 1 - k];
    if (node == k) continue;
    from[count] = place_of(p, sequence, pages, node);
    to[count++] = place_of(p, sequence, pages, k);
  }
  return count;
}

// Moves keys and values of all paths, in all layers.
static void move_paths(tvms_paged *p, tvms_paged_shape ids, tvms_paged_shape leaves) {
  int64_t room = ids.count * MOST_NODES, begins = ids.count + 1, total = 0;
  uint64_t bytes = (uint64_t)(2 * room) * sizeof(int32_t);
  int32_t *from = p->host->area(p->host, TVMS_PAGED_WORK, bytes), *to = from + room;
  int32_t *begin = tvms_paged_new_array(p, TVMS_PLAN_COPY_BEGINS, 1, &begins);
  begin[0] = 0;
  for (int64_t i = 0; i < ids.count; i++) {
    const tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, ids.sizes[i]);
    if (leaves.sizes[i] >= 0)
      total +=
          plan_path(p, sequence, (int32_t)leaves.sizes[i], from + total, to + total);
    begin[i + 1] = (int32_t)total;
  }
  if (!total) return;
  int64_t shape[] = {2, total};
  int32_t *places = tvms_paged_new_array(p, TVMS_PLAN_COPY_PLACES, 2, shape);
  for (int64_t i = 0; i < total; i++) {
    places[i] = from[i];
    places[total + i] = to[i];
  }
  for (uint32_t layer = 0; layer < p->head->layers; layer++) {
    tvms_paged_argument args[] = {tvms_paged_pages_at(p, layer),
                                  tvms_paged_planned(p, TVMS_PLAN_COPY_BEGINS),
                                  tvms_paged_planned(p, TVMS_PLAN_COPY_PLACES),
                                  {.kind = TVMS_PAGED_INT, .i = ids.count}};
    tvms_paged_run(p, TVMS_MADE_COMPACT, args, 4);
  }
}

// How many tokens of a sequence the last batch has.
static int64_t appended(const tvms_paged *p, int64_t id) {
  const tvms_paged_batch *batch = &p->head->batch;
  int64_t count = batch->runs ? batch->arrays[TVMS_PLAN_TOKENS].shape[0] - 1 : 0;
  const int64_t *ids = p->host->area(p->host, TVMS_PAGED_IDS, sizeof *ids);
  const int32_t *tokens =
      p->host->area(p->host, TVMS_PAGED_PLAN + TVMS_PLAN_TOKENS, sizeof *tokens);
  for (int64_t i = 0; i < count; i++) {
    if (ids[i] == id) return tokens[i + 1] - tokens[i];
  }
  return 0;
}

void tvms_paged_tree_commit(tvms_paged *p, tvms_paged_shape ids,
                            tvms_paged_shape leaves) {
  check_commit(p, ids, leaves);
  if (ids.count) move_paths(p, ids, leaves);
  for (int64_t i = 0; i < ids.count; i++) {
    const tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, ids.sizes[i]);
    int32_t leaf = (int32_t)leaves.sizes[i];
    int64_t gone = sequence->nodes ? sequence->nodes : appended(p, ids.sizes[i]);
    if (leaf >= 0) gone -= tvms_paged_tree_depth(p, sequence, leaf) + 1;
    if (gone > sequence->length) gone = sequence->length;
    tvms_paged_pop(p, ids.sizes[i], gone);
    tvms_paged_tree_cut(p, tvms_paged_sequence_of(p, ids.sizes[i]), MOST_NODES);
  }
}
