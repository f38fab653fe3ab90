// Rebuilding blocks from what TVMScript allows where.
//
// A line behind a header stands in its block. Any other line stands in one of the blocks that
// are open, and what it says narrows down in which: it is inside of every block that binds a
// name which it uses (a loop its variable, a block its axes), and outside of a loop that has
// the variable which it binds again, of a T.sblock if it uses a loop around that one, of a
// dataflow block behind R.output, of T.init once the buffer is stored a second time, of
// everything if it is a decorator, a class or an import. What is left open by that goes into
// the innermost block, and is said to be in doubt.
#include "grammar/lost_indentation.h"

#include "grammar/lost_lines.h"
#include "support/diag_ids.h"

#include <string.h>

enum { STEP = 4, MOST_LEVELS = 64, MOST_LINES = 4000 };
#define NO_LINE UINT32_MAX

typedef struct {
  const tvms_lost_line *header;
  uint32_t names;    // bound names in scope when it opened
  uint32_t lines;    // in its body so far
  tvms_span stored;  // of T.init: the buffer that its first line stores
  tvms_span last;    // of a branch of Relax: what the other one binds last
  bool relax;        // a function of Relax, which ends with its only `return`
} open_block;

typedef struct {
  tvms_surface *surface;
  const char *text;
  tvms_lost_lines lines;
  uint32_t header;      // the first one without its block
  uint32_t first, end;  // the lines around it that are rebuilt
  uint32_t through;  // the first line behind them that stands no deeper than they did
  open_block open[MOST_LEVELS];
  uint32_t depth;
  TVMS_VEC(tvms_span) bound;         // names in scope
  TVMS_VEC(uint8_t) level_of_bound;  // the number of blocks that a name is in
  TVMS_VEC(uint8_t) levels;          // result: of each line
  uint32_t decorated;                // level of the decorator above; NO_LINE: none
  uint32_t doubtful;                 // first line in doubt, or NO_LINE
  bool is_relax;                     // what the decorator above says
  bool failed;
} rebuilding;

// ---- Questions about lines ------------------------------------------------------------------

static bool has(const rebuilding *r, const tvms_lost_line *line, const char *word) {
  size_t len = strlen(word);
  for (uint32_t at = line->begin; at + len <= line->end; at++) {
    if (memcmp(r->text + at, word, len) == 0) return true;
  }
  return false;
}

static bool same(const rebuilding *r, tvms_span a, tvms_span b) {
  uint32_t len = a.end - a.begin;
  return len == b.end - b.begin
         && memcmp(r->text + a.begin, r->text + b.begin, len) == 0;
}

static bool is_init(const rebuilding *r, const tvms_lost_line *line) {
  return line->first == TVMS_TOK_WITH && has(r, line, ".init(");
}

static bool is_block(const rebuilding *r, const tvms_lost_line *line) {
  return line->first == TVMS_TOK_WITH && has(r, line, "block(");
}

static bool is_dataflow(const rebuilding *r, const tvms_lost_line *line) {
  return line->first == TVMS_TOK_WITH && has(r, line, ".dataflow(");
}

// The buffer that a line stores into: the name that it begins with, before a '['.
static tvms_span stored_by(const rebuilding *r, const tvms_lost_line *line) {
  if (!line->name_count || r->lines.names.items[line->first_name].begin != line->begin)
    return (tvms_span){0, 0};
  tvms_span name = r->lines.names.items[line->first_name];
  return r->text[name.end] == '[' ? name : (tvms_span){0, 0};
}

// How many blocks a name is in; 0 for what is not bound here.
static uint32_t level_of(const rebuilding *r, tvms_span name) {
  for (uint32_t i = r->bound.len; i-- > 0;) {
    if (same(r, r->bound.items[i], name)) return r->level_of_bound.items[i];
  }
  return 0;
}

static bool is_if(const rebuilding *r, const tvms_lost_line *line) {
  (void)r;
  return line->first == TVMS_TOK_IF || line->first == TVMS_TOK_ELIF;
}

static uint32_t innermost(const rebuilding *r,
                          bool (*is)(const rebuilding *, const tvms_lost_line *)) {
  for (uint32_t i = r->depth; i-- > 0;) {
    if (is(r, r->open[i].header)) return i;
  }
  return NO_LINE;
}

static uint32_t innermost_of(const rebuilding *r, tvms_token_kind kind) {
  for (uint32_t i = r->depth; i-- > 0;) {
    if (r->open[i].header->first == kind) return i;
  }
  return NO_LINE;
}

// Axes are bound to loops that the block does not see otherwise.
static bool names_axes(const rebuilding *r, const tvms_lost_line *line) {
  return has(r, line, ".axis.") || has(r, line, ".where(");
}

// What stands directly in a block.
static bool is_of_block(const rebuilding *r, const tvms_lost_line *line) {
  return names_axes(r, line) || has(r, line, ".reads(") || has(r, line, ".writes(")
         || has(r, line, "block_attr(") || is_init(r, line);
}

// The lines from `index` on that say which loops a line uses: of a block its axes, too, of another
// header the line behind it, which stands in its block.
static uint32_t end_of_uses(const rebuilding *r, uint32_t index) {
  uint32_t end = index + 1;
  bool loop = r->lines.lines.items[index].first == TVMS_TOK_FOR;
  if (loop && end < r->end && !r->lines.lines.items[end].header) return end + 1;
  if (!is_block(r, &r->lines.lines.items[index])) return end;
  while (end < r->end && names_axes(r, &r->lines.lines.items[end])) {
    end++;
  }
  return end;
}

// Is it in a function of Relax, whose `return` has not come?
static bool in_relax(const rebuilding *r) {
  uint32_t def = innermost_of(r, TVMS_TOK_DEF);
  return def != NO_LINE && r->open[def].relax;
}

// ---- Where a line may stand -----------------------------------------------------------------

static bool binds(const rebuilding *r, uint32_t index, tvms_span name) {
  const tvms_lost_line *line = &r->lines.lines.items[index];
  for (uint32_t i = 0; i < line->bound; i++) {
    if (same(r, r->lines.names.items[line->first_name + i], name)) return true;
  }
  return false;
}

// Whether R.output, which ends a dataflow block, comes behind the line, in its function.
static bool output_follows(const rebuilding *r, uint32_t index) {
  for (; index < r->end; index++) {
    const tvms_lost_line *line = &r->lines.lines.items[index];
    if (line->first == TVMS_TOK_DEF || is_dataflow(r, line)) return false;
    if (has(r, line, "R.output(")) return true;
  }
  return false;
}

// The least number of blocks around it. A dataflow block that is open has not had its R.output.
static uint32_t least_level(const rebuilding *r, uint32_t index) {
  uint32_t def = innermost_of(r, TVMS_TOK_DEF);
  uint32_t least = def == NO_LINE ? 0 : def + 1;
  uint32_t dataflow = innermost(r, is_dataflow);
  if (dataflow != NO_LINE && dataflow >= least && output_follows(r, index))
    least = dataflow + 1;
  for (uint32_t k = index; k < end_of_uses(r, index); k++) {
    const tvms_lost_line *line = &r->lines.lines.items[k];
    for (uint32_t i = line->bound; i < line->name_count; i++) {
      tvms_span name = r->lines.names.items[line->first_name + i];
      uint32_t level = k > index && binds(r, index, name) ? 0 : level_of(r, name);
      if (level > least) least = level;
    }
  }
  return least;
}

// A line in a block that uses a loop around the block stands behind it, and so does a
// block whose axes use such a loop.
static uint32_t outside_of_block(const rebuilding *r, uint32_t index, uint32_t block) {
  const tvms_lost_line *line = &r->lines.lines.items[index];
  if (!is_block(r, line) && names_axes(r, line)) return NO_LINE;
  uint32_t last = end_of_uses(r, index);
  for (uint32_t k = index; k < last; k++) {
    const tvms_lost_line *look = &r->lines.lines.items[k];
    for (uint32_t i = look->bound; i < look->name_count; i++) {
      uint32_t level = level_of(r, r->lines.names.items[look->first_name + i]);
      bool loop =
          level && level <= block && r->open[level - 1].header->first == TVMS_TOK_FOR;
      if (loop) return block;
    }
  }
  return NO_LINE;
}

// The largest number of blocks around a line that does not stand right behind a header.
static uint32_t most_level(const rebuilding *r, uint32_t index) {
  const tvms_lost_line *line = &r->lines.lines.items[index];
  uint32_t most = r->depth;
  uint32_t block = innermost(r, is_block), init = innermost(r, is_init);
  if (init != NO_LINE && r->open[init].lines && init < most) {
    tvms_span stored = stored_by(r, line);
    if (!stored.end || same(r, stored, r->open[init].stored)) most = init;
  }
  if (block != NO_LINE) {
    uint32_t outside = outside_of_block(r, index, block);
    if (outside < most) most = outside;
  }
  for (uint32_t i = 0; i < line->bound && line->first == TVMS_TOK_FOR; i++) {
    uint32_t level = level_of(r, r->lines.names.items[line->first_name + i]);
    bool loop = level && r->open[level - 1].header->first == TVMS_TOK_FOR;
    if (loop && level - 1 < most) most = level - 1;
  }
  return most;
}

// True for lines whose place is fixed by what they begin with; *level is it.
static bool is_fixed(rebuilding *r, const tvms_lost_line *line, uint32_t *level) {
  uint32_t in_class = r->depth && r->open[0].header->first == TVMS_TOK_CLASS ? 1 : 0;
  uint32_t at;
  switch ((int)line->first) {
  case TVMS_TOK_AT:
    *level = in_relax(r) ? r->depth : in_class;
    if (has(r, line, "ir_module")) *level = 0;
    return true;
  case TVMS_TOK_CLASS:
  case TVMS_TOK_IMPORT:
  case TVMS_TOK_FROM: *level = 0; return true;
  case TVMS_TOK_DEF:
    *level = r->decorated == NO_LINE ? in_class : r->decorated;
    return true;
  case TVMS_TOK_ELIF:
  case TVMS_TOK_ELSE:
    at = innermost(r, is_if);
    r->failed = r->failed || at == NO_LINE;
    *level = at == NO_LINE ? 0 : at;
    return true;
  case TVMS_TOK_RETURN:
    at = innermost_of(r, TVMS_TOK_DEF);
    *level = at + 1;
    return at != NO_LINE
           && (in_relax(r)
               || (innermost_of(r, TVMS_TOK_FOR) == NO_LINE
                   && innermost_of(r, TVMS_TOK_IF) == NO_LINE));
  default: break;
  }
  at = innermost(r, is_block);
  *level = at + 1;
  return is_of_block(r, line) && at != NO_LINE;
}

static uint32_t place(rebuilding *r, uint32_t index) {
  const tvms_lost_line *line = &r->lines.lines.items[index];
  const tvms_lost_line *above = index > r->first ? line - 1 : NULL;
  uint32_t level;
  if (above && above->header) return r->depth;
  if (is_fixed(r, line, &level)) return level;
  uint32_t least = least_level(r, index), most = most_level(r, index);
  r->failed = r->failed || least > most;
  bool doubt = least < most;
  if (doubt && r->doubtful == NO_LINE) r->doubtful = index;
  return most;
}

// ---- Going through them ---------------------------------------------------------------------

static void close_to(rebuilding *r, uint32_t level) {
  while (r->depth > level) {
    r->bound.len = r->level_of_bound.len = r->open[--r->depth].names;
  }
}

static void bind_names(rebuilding *r, const tvms_lost_line *line) {
  tvms_memory *memory = &r->surface->context->memory;
  for (uint32_t i = 0; i < line->bound; i++) {
    tvms_span name = r->lines.names.items[line->first_name + i];
    tvms_vec_push(memory, &r->bound, name);
    tvms_vec_push(memory, &r->level_of_bound, (uint8_t)r->depth);
  }
}

static tvms_span first_bound(const rebuilding *r, const tvms_lost_line *line) {
  return line->bound ? r->lines.names.items[line->first_name] : (tvms_span){0, 0};
}

// R.output ends a dataflow block, and a branch of Relax ends with the name that the other
// one ends with.
static bool ends_block(const rebuilding *r, const tvms_lost_line *line) {
  if (!r->depth || line->header) return false;
  tvms_span last = r->open[r->depth - 1].last;
  return has(r, line, "R.output(")
         || (last.end && line->bound && same(r, last, first_bound(r, line)));
}

static void take_line(rebuilding *r, uint32_t index) {
  const tvms_lost_line *line = &r->lines.lines.items[index];
  uint32_t level = place(r, index);
  r->failed = r->failed || level > r->depth || r->depth + 1 >= MOST_LEVELS;
  if (r->failed) return;
  close_to(r, level);
  tvms_vec_push(&r->surface->context->memory, &r->levels, (uint8_t)level);
  if (r->depth) {
    open_block *around = &r->open[r->depth - 1];
    if (!around->lines++) around->stored = stored_by(r, line);
  }
  r->decorated = line->first == TVMS_TOK_AT ? level : NO_LINE;
  if (line->first == TVMS_TOK_AT) r->is_relax = has(r, line, "R.function");
  if (line->header) {
    bool branch = line->first == TVMS_TOK_ELSE && in_relax(r);
    r->open[r->depth++] =
        (open_block){.header = line,
                     .names = r->bound.len,
                     .relax = line->first == TVMS_TOK_DEF && r->is_relax,
                     .last = branch ? first_bound(r, line - 1) : (tvms_span){0, 0}};
  }
  bind_names(r, line);
  if (ends_block(r, line)) close_to(r, r->depth - 1);
  if (line->first == TVMS_TOK_RETURN && in_relax(r))
    close_to(r, innermost_of(r, TVMS_TOK_DEF));
}

// The lines around `header` that stand in one column, up to where lines stand deeper: the
// last of those opens a block that has its indentation, and is not one of them.
static void find_lines(rebuilding *r, uint32_t header) {
  const tvms_lost_line *lines = r->lines.lines.items;
  uint32_t column = lines[header].column;
  r->header = header;
  r->first = header;
  while (column == 0 && r->first > 0 && lines[r->first - 1].column == 0) {
    r->first--;
  }
  for (r->end = header + 1; r->end < r->lines.lines.len; r->end++) {
    if (lines[r->end].column != column) break;
  }
  bool deeper = r->end < r->lines.lines.len && lines[r->end].column > column;
  while (deeper && r->end > header + 1
         && (lines[r->end - 1].header || lines[r->end - 1].first == TVMS_TOK_AT)) {
    r->end--;
  }
  for (r->through = r->end; r->through < r->lines.lines.len; r->through++) {
    if (lines[r->through].column <= column) break;
  }
}

static bool rebuild(rebuilding *r) {
  r->decorated = r->doubtful = NO_LINE;
  r->failed = r->end - r->first > MOST_LINES;
  for (uint32_t i = r->first; i < r->end && !r->failed; i++) {
    take_line(r, i);
  }
  return !r->failed;
}

// ---- Reports --------------------------------------------------------------------------------

static uint32_t line_number(const rebuilding *r, uint32_t index) {
  tvms_source *source = r->surface->source;
  return tvms_source_place(&r->surface->context->memory, source,
                           r->lines.lines.items[index].begin)
      .line;
}

static void add_edits(rebuilding *r, tvms_diag *diag) {
  static const char blanks[STEP * MOST_LEVELS + 1] =
      "                                                                                "
      "                                                                                "
      "                                                                                "
      "                ";
  tvms_diags *diags = &r->surface->context->diags;
  for (uint32_t i = r->first; i < r->end; i++) {
    const tvms_lost_line *line = &r->lines.lines.items[i];
    uint32_t level = r->levels.items[i - r->first];
    for (uint32_t row = 0; level && row < line->row_count; row++) {
      uint32_t at = r->lines.rows.items[line->first_row + row];
      tvms_diag_fix(diags, diag, (tvms_span){at, at}, false, "%.*s",
                    (int)(level * STEP), blanks);
    }
  }
  if (r->doubtful == NO_LINE) return;
  tvms_diag_remark(diags, diag,
                   "line %u may stand further out as well: look at what is made of it",
                   line_number(r, r->doubtful));
}

static bool is_elsewhere(void *self, const tvms_diag *diag) {
  const rebuilding *r = self;
  return diag->source != r->surface->source
         || diag->span.begin < r->lines.lines.items[r->first].begin
         || (r->through < r->lines.lines.len
             && diag->span.begin >= r->lines.lines.items[r->through].begin);
}

static void give_statements_up(rebuilding *r) {
  uint32_t begin = r->lines.lines.items[r->first].begin;
  uint32_t end = r->lines.lines.items[r->through - 1].end;
  for (tvms_ref ref = r->surface->body; ref; ref = r->surface->nodes[ref].next) {
    tvms_surf *node = &r->surface->nodes[ref];
    if (node->begin < begin || node->begin > end) continue;
    node->kind = TVMS_SURF_ERROR;
    node->a = node->b = node->c = 0;
  }
}

// Many lines are lost if a definition is among their headers, or several blocks; one line
// behind one header only wants to be moved.
static bool is_whole_listing(const rebuilding *r) {
  uint32_t headers = 0;
  if (r->end - r->header < 3 && r->through == r->end) return false;
  for (uint32_t i = r->first; i < r->end; i++) {
    const tvms_lost_line *line = &r->lines.lines.items[i];
    if (line->first == TVMS_TOK_DEF || line->first == TVMS_TOK_CLASS) return true;
    headers += line->header;
  }
  return headers > 1;
}

static void report(rebuilding *r, tvms_diag *missing) {
  tvms_diags *diags = &r->surface->context->diags;
  bool sound = rebuild(r);
  if (!is_whole_listing(r)) {
    if (!sound) return;
    tvms_diag_remark(diags, missing, "indent it");
    add_edits(r, missing);
    return;
  }
  tvms_span header = missing->notes->span;
  tvms_diags_keep_if(diags, is_elsewhere, r);
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_lost_indentation, header, line_number(r, r->first),
                       line_number(r, r->end - 1));
  if (sound)
    add_edits(r, diag);
  else
    tvms_diag_remark(diags, diag,
                     "what stands there does not say where each line belongs");
  give_statements_up(r);
}

static tvms_diag *TVMS_NULLABLE first_missing(const tvms_surface *surface) {
  tvms_diag *diag = surface->context->diags.first;
  while (diag
         && (diag->id != TVMS_D_missing_block || diag->source != surface->source)) {
    diag = diag->next;
  }
  return diag;
}

void tvms_surface_mend_indentation(tvms_surface *surface) {
  tvms_diag *missing = first_missing(surface);
  if (!missing || !missing->notes) return;
  rebuilding r = {.surface = surface, .text = surface->source->text};
  tvms_memory *memory = &surface->context->memory;
  tvms_surface_read_lines(&r.lines, surface->context, surface->source);
  uint32_t header = 0;
  uint32_t begin = missing->notes->span.begin;  // of the statement that needs a body
  while (header < r.lines.lines.len && r.lines.lines.items[header].begin < begin) {
    header++;
  }
  bool found =
      header + 1 < r.lines.lines.len
      && r.lines.lines.items[header + 1].column == r.lines.lines.items[header].column;
  if (found) {
    find_lines(&r, header);
    report(&r, missing);
  }
  tvms_vec_fini(memory, &r.bound);
  tvms_vec_fini(memory, &r.level_of_bound);
  tvms_vec_fini(memory, &r.levels);
  tvms_surface_drop_lines(&r.lines, memory);
}
