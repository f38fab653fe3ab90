// Going over the tokens of a text for its logical lines.
#include "grammar/lost_lines.h"

#include "support/trial.h"

#include <string.h>

typedef struct {
  tvms_lost_lines *lines;
  tvms_memory *memory;
  const char *text;
  tvms_lost_line line;  // at hand
  bool open;            // it has a token
  tvms_token before;    // the last token
  bool binds;           // names that come are bound: behind `for`, `as`, in a signature
  bool assigned;        // the '=' of an assignment was seen
  bool subscript;       // left of it: an element, not a name
} reading;

static bool is_name(tvms_token token) {
  return token.kind == TVMS_TOK_NAME || token.kind == TVMS_TOK_WIDE_NAME;
}

static void keep_row(reading *r, tvms_token token) {
  bool fresh = !r->open;
  for (uint32_t at = r->before.end; r->open && at < token.begin; at++) {
    fresh = fresh || r->text[at] == '\n';
  }
  if (!fresh) return;
  uint32_t begin = token.begin;
  while (begin > 0 && r->text[begin - 1] != '\n') {
    begin--;
  }
  if (!r->line.row_count) r->line.first_row = r->lines->rows.len;
  r->line.row_count++;
  tvms_vec_push(r->memory, &r->lines->rows, begin);
}

static void begin_line(reading *r, tvms_token token) {
  uint32_t begin = token.begin;
  while (begin > 0 && r->text[begin - 1] != '\n') {
    begin--;
  }
  r->line.begin = token.begin;
  r->line.column = token.begin - begin;
  r->line.first = token.kind;
  r->line.first_name = r->lines->names.len;
  r->binds = token.kind == TVMS_TOK_FOR || token.kind == TVMS_TOK_DEF;
  r->assigned = r->subscript = false;
}

// A name that is bound moves in front of those that are used.
static void keep_name(reading *r, tvms_token token, bool bound) {
  tvms_span name = {token.begin, token.end};
  tvms_vec_push(r->memory, &r->lines->names, name);
  r->line.name_count++;
  if (!bound) return;
  tvms_span *names = r->lines->names.items + r->line.first_name;
  names[r->line.name_count - 1] = names[r->line.bound];
  names[r->line.bound++] = name;
}

static void see(reading *r, tvms_token token, uint32_t depth) {
  keep_row(r, token);
  if (!r->open) begin_line(r, token);
  r->open = true;
  if (token.kind == TVMS_TOK_FOR_IN || token.kind == TVMS_TOK_COLON) r->binds = false;
  if (token.kind == TVMS_TOK_AS) r->binds = true;
  // Parameters: the names in front of ':', ',' and '='.
  bool parameter = r->line.first == TVMS_TOK_DEF && depth == 1 && is_name(token)
                   && (r->text[token.end] == ':' || r->text[token.end] == ',');
  if (is_name(token) && r->before.kind != TVMS_TOK_DOT)
    keep_name(r, token, r->line.first == TVMS_TOK_DEF ? parameter : r->binds);
  bool opens = token.kind == TVMS_TOK_OPEN_SQUARE || token.kind == TVMS_TOK_OPEN_ROUND
               || token.kind == TVMS_TOK_DOT;
  if (opens && !r->assigned) r->subscript = true;
  if (token.kind == TVMS_TOK_ASSIGN && depth == 0 && !r->assigned) {
    r->assigned = true;
    if (!r->subscript) r->line.bound = r->line.name_count;
  }
  r->line.end = token.end;
  r->before = token;
}

static void end_line(reading *r) {
  if (!r->open) return;
  r->line.header = r->before.kind == TVMS_TOK_COLON;
  tvms_vec_push(r->memory, &r->lines->lines, r->line);
  r->line = (tvms_lost_line){0};
  r->open = false;
}

void tvms_surface_read_lines(tvms_lost_lines *lines, tvms_context *context,
                             tvms_source *source) {
  *lines = (tvms_lost_lines){0};
  tvms_memory *memory = &context->memory;
  tvms_surface scratch = {.context = context, .source = source};
  tvms_indentation layout;
  reading r = {.lines = lines, .memory = memory, .text = source->text};
  tvms_trial_mute(&context->diags);
  tvms_indentation_init(&layout, &scratch, source->text, source->size, 0, false);
  for (;;) {
    tvms_token token = tvms_indentation_next(&layout);
    if (token.kind == TVMS_TOK_NEWLINE || token.kind == TVMS_TOK_END) end_line(&r);
    if (token.kind == TVMS_TOK_END) break;
    bool shape = token.kind == TVMS_TOK_NEWLINE || token.kind == TVMS_TOK_INDENT
                 || token.kind == TVMS_TOK_DEDENT;
    if (!shape) see(&r, token, tvms_indentation_depth(&layout));
  }
  tvms_trial_unmute(&context->diags);
  tvms_vec_fini(memory, &layout.indents);
  tvms_vec_fini(memory, &layout.brackets);
  tvms_surface_fini(&scratch);
}

void tvms_surface_drop_lines(tvms_lost_lines *lines, tvms_memory *memory) {
  tvms_vec_fini(memory, &lines->lines);
  tvms_vec_fini(memory, &lines->names);
  tvms_vec_fini(memory, &lines->rows);
}
