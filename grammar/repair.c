// See repair.h. Changes are tried with a copy of the layout and the states of the parser alone.
#include "grammar/repair.h"

#include "grammar/refused.h"
#include "grammar/repair_edits.h"
#include "grammar/repair_report.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <string.h>

enum {
  MOST_TOKENS = 3000,  // of a statement up to what was refused
  BEHIND = 48,  // tokens behind that are looked at, and the line of the last of them
  MOST_EFFORT = 4000000,  // tokens read by trials of one text
};

typedef struct {
  surf_parser *p;
  tvms_memory *memory;
  tvms_stretch region;
  tvms_surface scratch;     // takes the comments
  tvms_indentation begin;   // the layout in front of the statement; it owns nothing
  tvms_indentation layout;  // of a trial
  tvms_states first;        // states of the parser in front of the statement
  tvms_states states;       // of a trial
  TVMS_VEC(tvms_token) tried;
  uint32_t line;     // begin of the line that the statement begins in
  uint32_t column;   // of the statement
  uint32_t refused;  // place
  uint32_t end;      // of the text that is looked at
  bool more;         // there is more of it
} repair;

// How far a change makes the text sound.
typedef struct {
  bool whole;      // the statement ends behind the refused token, or goes on and on
  uint32_t reach;  // place of the first token that is refused
  uint32_t end;    // of the statement, if it is whole
} outcome;

/* The tokens of the statement */

static void scan(repair *r, uint32_t from, uint32_t to, uint32_t behind) {
  tvms_lexer lexer;
  const char *text = r->region.text;
  tvms_lexer_init(&lexer, &r->scratch, text, r->p->build.surface->source->size, 0);
  lexer.cursor = text + from;
  uint32_t left = behind;
  bool fresh = true;  // no token of the line yet
  while (r->region.tokens.len < MOST_TOKENS) {
    tvms_token token = tvms_lexer_scan(&lexer);
    if (token.kind == TVMS_TOK_END || token.begin >= to) break;
    bool ends = token.kind == TVMS_TOK_NEWLINE;
    if (!(ends && fresh)) tvms_vec_push(r->memory, &r->region.tokens, token);
    fresh = ends;
    if (token.begin >= r->refused && left > 0) left--;
    r->end = token.end;
    r->more = left == 0;
    if (r->more && ends) break;
  }
}

static bool read_region(repair *r, tvms_token token) {
  tvms_stretch *region = &r->region;
  scan(r, r->line, UINT32_MAX, BEHIND);
  region->refused = 0;
  while (region->refused < region->tokens.len
         && region->tokens.items[region->refused].begin < token.begin) {
    region->refused++;
  }
  if (region->refused == region->tokens.len) {
    if (token.kind != TVMS_TOK_END || r->end >= token.begin + 1) return false;
    tvms_token end = tvms_token_make(token.begin, token.begin, TVMS_TOK_NEWLINE);
    tvms_vec_push(r->memory, &region->tokens, end);
  }
  // An unexpected indentation is refused in front of the token; the line before may be wrong.
  if (token.kind == TVMS_TOK_INDENT && region->refused > 0) region->refused--;
  tvms_surface_pair(region, r->memory);
  return true;
}

/* Trials */

// The tokens with the change. Behind a change in a string its line is read anew.
static void apply(repair *r, const tvms_edit *edit, bool commit) {
  const tvms_stretch *region = &r->region;
  const tvms_token *tokens = region->tokens.items;
  uint32_t count = region->tokens.len;
  r->tried.len = 0;
  uint32_t last = edit->at > region->refused ? edit->at : region->refused;
  last += edit->way == TVMS_EDIT_SWAP;
  if (edit->way == TVMS_EDIT_PAIR && edit->other > last) last = edit->other;
  if (commit && last + 1 < count) count = last + 1;
  bool string = edit->way >= TVMS_EDIT_CLOSE;
  uint32_t stop = !string                       ? count
                  : edit->way == TVMS_EDIT_OPEN ? edit->other
                                                : edit->at;
  for (uint32_t i = 0; i < stop; i++) {
    tvms_token token = tokens[i];
    bool here = i == edit->at;
    uint32_t place = i > 0 ? tokens[i - 1].end : token.begin;
    if (here && token.kind != TVMS_TOK_NEWLINE) place = token.begin;
    if (here && edit->way == TVMS_EDIT_INSERT)
      tvms_vec_push(r->memory, &r->tried, tvms_token_make(place, place, edit->kind));
    if (here && edit->way == TVMS_EDIT_FINISH) {
      tvms_vec_push(r->memory, &r->tried, tvms_token_make(place, place, edit->kind));
      tvms_vec_push(r->memory, &r->tried,
                    tvms_token_make(place, place, TVMS_TOK_COLON));
    }
    if (here && edit->way == TVMS_EDIT_SWAP && i + 1 < stop) {
      tvms_vec_push(r->memory, &r->tried, tokens[++i]);
      tvms_vec_push(r->memory, &r->tried, token);
      continue;
    }
    if (here && edit->way == TVMS_EDIT_DELETE) continue;
    if (here && (edit->way == TVMS_EDIT_REPLACE || edit->way == TVMS_EDIT_PAIR))
      token.kind = edit->kind;
    if (i == edit->other && edit->way == TVMS_EDIT_PAIR)
      token.kind = tvms_token_closing(edit->kind);
    tvms_vec_push(r->memory, &r->tried, token);
  }
  if (!string) return;
  tvms_token from = tokens[stop];
  if (edit->way != TVMS_EDIT_UNQUOTE)
    tvms_vec_push(r->memory, &r->tried,
                  tvms_token_make(from.begin, edit->place, TVMS_TOK_HOLE));
  else if (from.begin + 1 < edit->place)  // letters in front of the quote
    tvms_vec_push(r->memory, &r->tried,
                  tvms_token_make(from.begin, edit->place - 1, TVMS_TOK_NAME));
  if (commit) return;
  tvms_lexer lexer;
  tvms_lexer_init(&lexer, &r->scratch, region->text, r->p->build.surface->source->size,
                  0);
  lexer.cursor = region->text + edit->place;
  tvms_token token;
  do {
    token = tvms_lexer_scan(&lexer);
    if (token.kind == TVMS_TOK_END) return;
    tvms_vec_push(r->memory, &r->tried, token);
  } while (token.kind != TVMS_TOK_NEWLINE);
  for (uint32_t i = stop; i < count; i++) {
    if (tokens[i].begin >= token.end) tvms_vec_push(r->memory, &r->tried, tokens[i]);
  }
}

static uint32_t resume_of(const repair *r, const tvms_edit *edit) {
  if (edit->way >= TVMS_EDIT_CLOSE) return edit->place;
  const tvms_token *last = &r->tried.items[r->tried.len - 1];
  uint32_t refused = r->region.tokens.items[r->region.refused].end;
  return last->end > refused ? last->end : refused;
}

static void begin_trial(repair *r) {
  tvms_indentation *layout = &r->layout;
  tvms_indentation kept = *layout;
  *layout = r->begin;
  layout->indents.items = kept.indents.items;
  layout->indents.cap = kept.indents.cap;
  layout->brackets.items = kept.brackets.items;
  layout->brackets.cap = kept.brackets.cap;
  layout->indents.len = layout->brackets.len = 0;
  for (uint32_t i = 0; i < r->begin.indents.len; i++)
    tvms_vec_push(r->memory, &layout->indents, r->begin.indents.items[i]);
  tvms_vec_push(r->memory, &layout->brackets, r->begin.brackets.items[0]);
  tvms_replay replay = {
      .tokens = r->tried.items, .count = r->tried.len, .resume = r->end, .whole = true};
  tvms_indentation_replay(layout, r->line, &replay);
  r->states.len = 0;
  for (uint32_t i = 0; i < r->first.len; i++)
    tvms_vec_push(r->memory, &r->states, r->first.items[i]);
}

// Inside brackets: a line in the column of the statement, or further out, begins another one.
static bool leaves_statement(const repair *r, tvms_token token) {
  if (tvms_indentation_depth(&r->layout) == 0 || token.kind < TVMS_TOK_NAME)
    return false;
  if (token.kind >= TVMS_TOK_COMMA && token.kind != TVMS_TOK_AT) return false;
  const char *text = r->region.text;
  uint32_t line = token.begin;
  while (line > r->line && strchr(" \t", text[line - 1])) {
    line--;
  }
  bool first = line > r->line && text[line - 1] == '\n';
  return first && token.begin - line <= r->column;
}

static outcome try(repair *r) {
  outcome found = {0};
  begin_trial(r);
  bool ended = false;
  while (r->layout.replay.next < r->layout.replay.count) {
    tvms_token token = tvms_indentation_next(&r->layout);
    r->p->effort++;
    found.reach = token.begin;
    if (token.kind == TVMS_TOK_END) break;
    // Python that TVMScript has not may follow.
    if (ended && tvms_token_unsupported(r->region.text, token, token))
      found.whole = true;
    if (leaves_statement(r, token)
        || !tvms_surface_try(r->p, &r->states, (tvms_token_kind)token.kind))
      return found;
    if (ended && token.kind != TVMS_TOK_DEDENT && token.kind != TVMS_TOK_INDENT)
      found.whole = true;
    // A bracket that is closed ends the statement in front of what was refused.
    if (token.kind == TVMS_TOK_NEWLINE && !found.end) found.end = token.begin;
    if (token.kind == TVMS_TOK_NEWLINE && token.begin >= r->refused) ended = true;
  }
  found.reach = r->end;
  found.whole = ended || r->more;
  if (!found.end) found.end = r->end;
  return found;
}

static bool is_better(outcome a, uint32_t cost_a, outcome b, uint32_t cost_b) {
  if (a.reach != b.reach) return a.reach > b.reach;
  return cost_a < cost_b;
}

static const tvms_edit *TVMS_NULLABLE choose(repair *r, outcome *best) {
  const tvms_edit *chosen = NULL;
  for (uint32_t i = 0; i < r->region.edits.len; i++) {
    const tvms_edit *edit = &r->region.edits.items[i];
    if (r->p->effort > MOST_EFFORT) return NULL;
    apply(r, edit, false);
    outcome found = try(r);
    // A body that is not sound is no body.
    if (!found.whole || (edit->way == TVMS_EDIT_FINISH && found.reach < r->end))
      continue;
    if (chosen && !is_better(found, edit->cost, *best, chosen->cost)) continue;
    chosen = edit;
    *best = found;
  }
  return chosen;
}

/* The statement, mended */

typedef struct {
  const tvms_source *source;
  tvms_span span;
  bool strings;
  uint32_t line_end;  // of the refused token
} said;

// What was found of the statement so far and is read again.
static bool is_kept(void *self, const tvms_diag *diag) {
  const said *of = self;
  if (diag->source != of->source || diag->span.begin < of->span.begin) return true;
  // What was taken for strings is not.
  if (of->strings && diag->span.begin <= of->line_end
      && diag->severity == TVMS_SEVERITY_ERROR)
    return false;
  switch ((int)diag->id) {
  case TVMS_D_unclosed_bracket:
  case TVMS_D_unmatched_bracket:
  case TVMS_D_mismatched_bracket:
  case TVMS_D_syntax:
  case TVMS_D_missing_colon:
  case TVMS_D_bad_target:
  case TVMS_D_late_argument: return false;
  default: return true;
  }
}

static void restart(repair *r, const tvms_edit *edit) {
  surf_parser *p = r->p;
  apply(r, edit, true);
  p->replay.len = 0;
  for (uint32_t i = 0; i < r->tried.len; i++)
    tvms_vec_push(r->memory, &p->replay, r->tried.items[i]);
  tvms_surface_rewind(p);
  p->build.failed = false;
  p->build.grouped = 0;
  p->layout.indents.len = p->line.indents;
  p->layout.indents.items[p->line.indents - 1] = p->line.level;
  p->layout.first = p->line.before;
  p->mended = p->line.begin;
  tvms_replay replay = {
      .tokens = p->replay.items, .count = p->replay.len, .resume = resume_of(r, edit)};
  tvms_indentation_replay(&p->layout, r->line, &replay);
}

static void report(repair *r, const tvms_edit *edit, tvms_token token, outcome found) {
  surf_parser *p = r->p;
  tvms_diags *diags = &p->build.context->diags;
  uint32_t end = token.begin + (uint32_t)strcspn(p->text + token.begin, "\r\n");
  said of = {
      diags->source, {p->line.begin, found.end}, edit->way >= TVMS_EDIT_CLOSE, end};
  tvms_diags_keep_if(diags, is_kept, &of);
  tvms_surface_report_edit(p, &r->region, edit, token);
  tvms_vec_push(r->memory, &p->build.surface->refused, of.span);
}

static bool mend(repair *r, tvms_token token) {
  surf_parser *p = r->p;
  tvms_diags *diags = &p->build.context->diags;
  tvms_trial_mute(diags);
  outcome found = {0};
  const tvms_edit *chosen = NULL;
  if (read_region(r, token)) {
    tvms_surface_propose(&r->region, r->memory);
    r->begin = p->layout;
    r->begin.lexer.surface = &r->scratch;
    r->begin.indents.len = p->line.indents;
    r->begin.strict = true;
    tvms_surface_states(p, p->line.height, &r->first);
    chosen = choose(r, &found);
  }
  tvms_trial_unmute(diags);
  if (!chosen) return false;
  report(r, chosen, token, found);
  restart(r, chosen);
  return true;
}

static void finish(repair *r) {
  tvms_memory *memory = r->memory;
  tvms_vec_fini(memory, &r->region.tokens);
  tvms_vec_fini(memory, &r->region.inner);
  tvms_vec_fini(memory, &r->region.shut);
  tvms_vec_fini(memory, &r->region.edits);
  tvms_vec_fini(memory, &r->layout.indents);
  tvms_vec_fini(memory, &r->layout.brackets);
  tvms_vec_fini(memory, &r->first);
  tvms_vec_fini(memory, &r->states);
  tvms_vec_fini(memory, &r->tried);
  tvms_surface_fini(&r->scratch);
}

// Whether the mistake may have to do with brackets or quotes.
static bool is_concerned(const surf_parser *p, tvms_token token) {
  bool known = p->line.begin == p->layout.first.begin;
  if (p->nested || p->line.begin == UINT32_MAX || p->mended == p->line.begin)
    return false;
  if (token.kind == TVMS_TOK_STRAY) return false;  // the lexer has said so
  if (tvms_token_unsupported(p->text, token, p->layout.first)) return false;
  if (token.kind == TVMS_TOK_INDENT)
    return known && p->layout.indents.len == p->line.indents + 1;
  if (p->layout.indents.len != p->line.indents) return false;
  if (token.kind == TVMS_TOK_MISFIT && token.begin == p->layout.first.begin)
    return true;
  return known && token.kind != TVMS_TOK_DEDENT;
}

bool tvms_surface_repair(surf_parser *p, tvms_token token) {
  if (!is_concerned(p, token)) return false;
  tvms_context *context = p->build.context;
  repair r = {.p = p, .memory = &context->memory, .refused = token.begin};
  r.scratch = (tvms_surface){.context = context, .source = p->build.surface->source};
  r.region.text = p->text;
  r.region.misfit = token.kind == TVMS_TOK_MISFIT;
  r.region.broken = token.kind == TVMS_TOK_BROKEN;
  r.line = p->line.begin;
  while (r.line > 0 && p->text[r.line - 1] != '\n') {
    r.line--;
  }
  r.column = p->line.begin - r.line;
  r.region.header = strncmp(p->text + p->line.begin, "def ", 4) == 0;
  r.region.block = p->line.begin == p->layout.first.begin
                   && tvms_token_is_header(p->layout.first.kind);
  bool mended = mend(&r, token);
  finish(&r);
  return mended;
}
