// Myers' greedy algorithm (An O(ND) Difference Algorithm, 1986) with a bound on D, after
// common lines at both ends are taken off.
#include "support/textdiff.h"

#include "support/vec.h"

enum { MOST_EDITS = 2000, CONTEXT = 3 };

typedef struct {
  const char *text;
  uint32_t len;  // without the line end
  bool ended;    // by a newline
} line;

typedef TVMS_VEC(line) lines;

typedef enum { SAME, REMOVED, ADDED } edit_kind;

typedef TVMS_VEC(uint8_t) edits;  // edit_kind, in order

typedef struct {
  tvms_strbuf *out;
  tvms_memory *memory;
  lines before;
  lines after;
  edits script;
  bool color;
} diff;

static void split(tvms_memory *memory, lines *found, tvms_version version) {
  tvms_vec_reserve(memory, found, 1);
  if (!version.len) return;
  const char *at = version.text, *end = at + version.len;
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    line one = {at, (uint32_t)((stop ? stop : end) - at), stop != NULL};
    tvms_vec_push(memory, found, one);
    at = stop ? stop + 1 : end;
  }
}

static bool equal(const line *a, const line *b) {
  return a->len == b->len && a->ended == b->ended
         && memcmp(a->text, b->text, a->len) == 0;
}

// The part of both texts that is not a common head or tail.
typedef struct {
  const line *a;
  const line *b;
  int a_len;
  int b_len;
} middle;

// Walks back through the saved frontiers and writes the edits from the end; `kinds` has
// room for a_len + b_len of them. Returns how many were written.
static uint32_t backtrack(const middle *m, int *const *frontiers, int edit_count,
                          uint8_t *kinds) {
  int x = m->a_len, y = m->b_len;
  uint32_t count = 0;
  for (int d = edit_count; d > 0; d--) {
    const int *v = frontiers[d - 1] + d - 1;  // diagonals -(d-1) … d-1
    int k = x - y;
    bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
    int from_k = down ? k + 1 : k - 1;
    int from_x = v[from_k], from_y = from_x - from_k;
    while (x > from_x && y > from_y) {
      kinds[count++] = SAME;
      x--, y--;
    }
    kinds[count++] = down ? ADDED : REMOVED;
    x = from_x, y = from_y;
  }
  while (x > 0) {
    kinds[count++] = SAME;
    x--;
  }
  return count;
}

// One frontier of the search: how far along each diagonal `d` edits reach.
static bool advance(const middle *m, const int *before, int *v, int d) {
  for (int k = -d; k <= d; k += 2) {
    bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
    int x = d == 0 ? 0 : down ? before[k + 1] : before[k - 1] + 1;
    while (x < m->a_len && x - k < m->b_len && x - k >= 0
           && equal(&m->a[x], &m->b[x - k])) {
      x++;
    }
    v[k] = x;
    if (k == m->a_len - m->b_len && x >= m->a_len) return true;
  }
  return false;
}

static void replace_all(diff *d, const middle *m) {
  for (int i = 0; i < m->a_len; i++) {
    tvms_vec_push(d->memory, &d->script, (uint8_t)REMOVED);
  }
  for (int i = 0; i < m->b_len; i++) {
    tvms_vec_push(d->memory, &d->script, (uint8_t)ADDED);
  }
}

static void find_script(diff *d, const middle *m) {
  int **frontiers = tvms_memory_alloc(d->memory, (MOST_EDITS + 1) * sizeof *frontiers);
  int edit_count = 0;
  bool found = false;
  for (; edit_count <= MOST_EDITS; edit_count++) {
    // Two spare diagonals hold "not reached".
    size_t size = (size_t)(2 * edit_count + 3) * sizeof(int);
    int *row = tvms_memory_alloc(d->memory, size);
    int *before = edit_count ? frontiers[edit_count - 1] + edit_count - 1 : row;
    frontiers[edit_count] = row;
    found = advance(m, before, row + edit_count, edit_count);
    if (found) break;
  }
  if (!found) {
    replace_all(d, m);
  } else {
    uint8_t *kinds = tvms_memory_alloc(d->memory, (size_t)(m->a_len + m->b_len + 1));
    for (uint32_t i = backtrack(m, frontiers, edit_count, kinds); i > 0; i--) {
      tvms_vec_push(d->memory, &d->script, kinds[i - 1]);
    }
    tvms_memory_free(d->memory, kinds);
  }
  for (int i = 0; i <= edit_count && i <= MOST_EDITS; i++) {
    tvms_memory_free(d->memory, frontiers[i]);
  }
  tvms_memory_free(d->memory, frontiers);
}

static void compare(diff *d) {
  uint32_t head = 0, tail = 0;
  uint32_t most = d->before.len < d->after.len ? d->before.len : d->after.len;
  while (head < most && equal(&d->before.items[head], &d->after.items[head])) {
    tvms_vec_push(d->memory, &d->script, (uint8_t)SAME);
    head++;
  }
  while (tail < most - head
         && equal(&d->before.items[d->before.len - 1 - tail],
                  &d->after.items[d->after.len - 1 - tail])) {
    tail++;
  }
  middle m = {d->before.items + head, d->after.items + head,
              (int)(d->before.len - head - tail), (int)(d->after.len - head - tail)};
  if (m.a_len || m.b_len) find_script(d, &m);
  for (uint32_t i = 0; i < tail; i++) {
    tvms_vec_push(d->memory, &d->script, (uint8_t)SAME);
  }
}

static void add_line(diff *d, edit_kind kind, const line *shown) {
  static const char signs[] = {' ', '-', '+'};
  static const char *const colors[] = {"", "\x1b[31m", "\x1b[32m"};
  if (d->color) tvms_strbuf_puts(d->out, colors[kind]);
  tvms_strbuf_putc(d->out, signs[kind]);
  tvms_strbuf_add(d->out, shown->text, shown->len);
  if (d->color && kind != SAME) tvms_strbuf_puts(d->out, "\x1b[0m");
  tvms_strbuf_putc(d->out, '\n');
  if (!shown->ended) tvms_strbuf_puts(d->out, "\\ No newline at end of file\n");
}

typedef struct {
  uint32_t begin, end;  // of the script
  uint32_t a, b;        // lines before it in both texts
} hunk;

static void add_hunk(diff *d, const hunk *h) {
  uint32_t removed = 0, added = 0;
  for (uint32_t i = h->begin; i < h->end; i++) {
    removed += d->script.items[i] != ADDED;
    added += d->script.items[i] != REMOVED;
  }
  tvms_strbuf_printf(d->out, "@@ -%u,%u +%u,%u @@\n", h->a + (removed > 0), removed,
                     h->b + (added > 0), added);
  uint32_t a = h->a, b = h->b;
  for (uint32_t i = h->begin; i < h->end; i++) {
    edit_kind kind = d->script.items[i];
    add_line(d, kind, kind == ADDED ? &d->after.items[b] : &d->before.items[a]);
    a += kind != ADDED;
    b += kind != REMOVED;
  }
}

// End of the hunk whose first difference is at `at`: edits less than two contexts apart
// stay together.
static uint32_t hunk_end(const diff *d, uint32_t at) {
  uint32_t last = at;
  for (uint32_t i = at; i < d->script.len && i <= last + 2 * CONTEXT + 1; i++) {
    if (d->script.items[i] != SAME) last = i;
  }
  uint32_t end = last + 1 + CONTEXT;
  return end < d->script.len ? end : d->script.len;
}

static void add_hunks(diff *d) {
  uint32_t a = 0, b = 0;
  for (uint32_t i = 0; i < d->script.len;) {
    if (d->script.items[i] == SAME) {
      a++, b++, i++;
      continue;
    }
    uint32_t context = i < CONTEXT ? i : CONTEXT;
    hunk h = {i - context, hunk_end(d, i), a - context, b - context};
    add_hunk(d, &h);
    for (; i < h.end; i++) {
      a += d->script.items[i] != ADDED;
      b += d->script.items[i] != REMOVED;
    }
  }
}

// Lines before an edit group that count as touched: what is only added stands between two.
static bool touches(uint32_t a, uint32_t removed, uint32_t first, uint32_t last) {
  uint32_t begin = a + 1, end = a + (removed ? removed : 1);
  return begin <= last && end >= first;
}

// The first character from `at` on that is more than layout; false: the line has none.
static bool next_of(const line *one, uint32_t *at) {
  while (*at < one->len && strchr(" \t\r,()'\"\\", one->text[*at])) {
    ++*at;
  }
  return *at < one->len;
}

static bool is_first(const line *one, uint32_t at) {
  uint32_t first = 0;
  return next_of(one, &first) && first == at;
}

// Cuts a group of edits where lines of both texts begin behind the same characters, layout
// aside: `*removed` and `*added` become the lines of the first part.
static void cut(const line *a, const line *b, uint32_t *removed, uint32_t *added) {
  uint32_t i = 0, j = 0, x = 0, y = 0;
  for (;; x++, y++) {
    for (; i < *removed && !next_of(&a[i], &x); x = 0) {
      i++;
    }
    for (; j < *added && !next_of(&b[j], &y); y = 0) {
      j++;
    }
    if (i == *removed || j == *added) return;
    if (i && j && is_first(&a[i], x) && is_first(&b[j], y)) break;
    if (a[i].text[x] != b[j].text[y]) return;
  }
  *removed = i;
  *added = j;
}

static void put_line(tvms_strbuf *out, const line *one) {
  tvms_strbuf_add(out, one->text, one->len);
  if (one->ended) tvms_strbuf_putc(out, '\n');
}

void tvms_textdiff_take(tvms_strbuf *out, tvms_version before, tvms_version after,
                        uint32_t first, uint32_t last) {
  diff d = {.out = out, .memory = out->memory};
  split(d.memory, &d.before, before);
  split(d.memory, &d.after, after);
  compare(&d);
  uint32_t a = 0, b = 0;
  for (uint32_t i = 0; i < d.script.len;) {
    if (d.script.items[i] == SAME) {
      put_line(out, &d.before.items[a]);
      a++, b++, i++;
      continue;
    }
    uint32_t removed = 0, added = 0;
    for (; i < d.script.len && d.script.items[i] != SAME; i++) {
      removed += d.script.items[i] == REMOVED;
      added += d.script.items[i] == ADDED;
    }
    for (uint32_t old = removed, new = added; removed || added;
         removed = old -= removed, added = new -= added) {
      cut(d.before.items + a, d.after.items + b, &removed, &added);
      bool taken = touches(a, removed, first, last);
      for (uint32_t k = 0; k < (taken ? added : removed); k++) {
        put_line(out, taken ? &d.after.items[b + k] : &d.before.items[a + k]);
      }
      a += removed;
      b += added;
    }
  }
  tvms_vec_fini(d.memory, &d.before);
  tvms_vec_fini(d.memory, &d.after);
  tvms_vec_fini(d.memory, &d.script);
}

void tvms_textdiff(tvms_strbuf *out, tvms_version before, tvms_version after,
                   bool color) {
  bool same = before.len == after.len
              && (!before.len || memcmp(before.text, after.text, before.len) == 0);
  if (same) return;
  diff d = {.out = out, .memory = out->memory, .color = color};
  split(d.memory, &d.before, before);
  split(d.memory, &d.after, after);
  compare(&d);
  tvms_strbuf_printf(out, "--- %s\n+++ %s\n", before.name, after.name);
  add_hunks(&d);
  tvms_vec_fini(d.memory, &d.before);
  tvms_vec_fini(d.memory, &d.after);
  tvms_vec_fini(d.memory, &d.script);
}
