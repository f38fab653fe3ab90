// Findings about the syntax of a file: which of them count.
//
// The grammar of TVMScript reads the whole file, and says what it does not take. Around definitions that says
// little, because Python has more; grammar/syntax.h knows where Python refuses a statement. There the finding of the
// grammar is kept if it has one, since it knows what is meant best, and else that of the check.
#define _GNU_SOURCE  // memmem
#include "parser/python_syntax.h"

#include "grammar/syntax.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <string.h>

typedef struct {
  const tvms_surface *surface;
  tvms_memory *memory;
  const tvms_spans *script;
  tvms_spans functions;  // that stay Python
  tvms_syntax_faults faults;
  TVMS_VEC(const tvms_diag *) chosen;
  const tvms_diag *TVMS_NULLABLE lost;  // of a listing whose indentation is lost
  uint32_t near_script, near_functions;
  bool python;
  bool refused;  // a statement around definitions
} judging;

// ---- What is Python -----------------------------------------------------------------------

static bool stays_python(const tvms_surface *surface, tvms_ref ref) {
  if (tvms_surface_at(surface, ref)->kind != TVMS_SURF_DEF) return false;
  tvms_surface_each(surface, decorator, tvms_surface_define(surface, ref).decorators) {
    const tvms_surf *node = tvms_surface_at(surface, decorator);
    if (node->kind == TVMS_SURF_CALL) node = tvms_surface_at(surface, node->a);
    tvms_sym name = node->kind == TVMS_SURF_ATTRIBUTE ? node->b
                    : node->kind == TVMS_SURF_NAME    ? node->a
                                                      : 0;
    if (name == TVMS_SYM_pyfunc) return true;
  }
  return false;
}

static void find_functions(judging *j) {
  static const char word[] = "pyfunc";
  const tvms_surface *surface = j->surface;
  if (!memmem(surface->source->text, surface->source->size, word, strlen(word))) return;
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    if (!stays_python(surface, ref)) continue;
    tvms_span span = tvms_surface_span(surface, ref);
    // A function in another comes first in the tree.
    while (j->functions.len
           && j->functions.items[j->functions.len - 1].begin >= span.begin) {
      j->functions.len--;
    }
    tvms_vec_push(j->memory, &j->functions, span);
  }
}

static bool is_python(judging *j, uint32_t place) {
  if (tvms_spans_hold(&j->functions, &j->near_functions, place)) return true;
  return j->python && !tvms_spans_hold(j->script, &j->near_script, place);
}

static bool holds_function(const judging *j, tvms_span span) {
  uint32_t i = tvms_spans_from(&j->functions, span.begin);
  return i < j->functions.len && j->functions.items[i].begin < span.end;
}

// ---- What the check does not have to read -------------------------------------------------

// Findings of the grammar that tell of a mistake, in Python, too.
static bool is_mistake(const tvms_diag *diag) {
  return diag->severity == TVMS_SEVERITY_ERROR && diag->id != TVMS_D_unsupported
         && diag->id != TVMS_D_named_escape;
}

static bool has_mistakes(const judging *j) {
  const tvms_diags *diags = &j->surface->context->diags;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->source == diags->source && is_mistake(diag)) return true;
  }
  return false;
}

// Definitions that the grammar takes are sound.
static void find_sound(judging *j, tvms_spans *sound) {
  if (has_mistakes(j)) return;
  if (j->python) {
    for (uint32_t i = 0; i < j->script->len; i++) {
      if (!holds_function(j, j->script->items[i]))
        tvms_vec_push(j->memory, sound, j->script->items[i]);
    }
    return;
  }
  tvms_surface_each(j->surface, ref, j->surface->body) {
    tvms_span span = tvms_surface_span(j->surface, ref);
    if (!holds_function(j, span)) tvms_vec_push(j->memory, sound, span);
  }
}

// Whether a line begins with a decorator of TVMScript: a definition whose header is refused is none
// for the tree.
static bool is_decorated(const tvms_source *source) {
  const char *at = source->text, *end = at + source->size;
  while ((at = memchr(at, '@', (size_t)(end - at)))) {
    const char *line = at++;
    while (line > source->text && strchr(" \t", line[-1]))
      line--;
    bool begins = line == source->text || line[-1] == '\n';
    if (begins && (strncmp(at, "tvm.", 4) == 0 || (strchr("TRI", *at) && at[1] == '.')))
      return true;
  }
  return false;
}

static bool has_definitions(const judging *j) {
  if (!j->python) return j->functions.len > 0;
  if (j->script->len) return true;
  return has_mistakes(j) && is_decorated(j->surface->source);
}

// ---- Choosing -----------------------------------------------------------------------------

static void find_lost(judging *j) {
  const tvms_diags *diags = &j->surface->context->diags;
  if (!j->python || !is_decorated(j->surface->source)) return;
  for (const tvms_diag *diag = diags->first; diag && !j->lost; diag = diag->next) {
    if (diag->id == TVMS_D_lost_indentation && diag->source == diags->source)
      j->lost = diag;
  }
}

static bool is_mistaken(judging *j, const tvms_diag *first, tvms_span span) {
  for (const tvms_diag *diag = first; diag; diag = diag->next) {
    if (diag->source == j->surface->source && is_mistake(diag)
        && diag->span.begin >= span.begin && diag->span.begin < span.end
        && !is_python(j, diag->span.begin))
      return true;
  }
  return false;
}

// What follows from a mistake in a definition is not said again.
static bool follows(judging *j, const tvms_diag *first, tvms_span statement) {
  for (uint32_t i = 0; j->python && i < j->script->len; i++) {
    tvms_span span = j->script->items[i];
    if (span.end >= statement.begin && span.begin < statement.end
        && is_mistaken(j, first, span))
      return true;
  }
  return j->lost && statement.end > j->lost->span.begin;
}

// Whether the finding of the grammar says what is wrong with the statement: it stands where Python
// refuses it or in front of that, with a reason.
static bool tells(const judging *j, const tvms_diag *diag,
                  const tvms_syntax_fault *fault) {
  uint32_t at = diag->span.begin;
  if (diag->source != j->surface->source || !is_mistake(diag)) return false;
  if (at < fault->statement.begin || at > fault->refused) return false;
  return at == fault->refused || diag->id != TVMS_D_syntax || diag->notes;
}

static void choose(judging *j, const tvms_diag *first) {
  for (uint32_t i = 0; i < j->faults.len; i++) {
    const tvms_syntax_fault *fault = &j->faults.items[i];
    bool python =
        is_python(j, fault->statement.begin) || is_python(j, fault->diag->span.begin);
    if (!python || follows(j, first, fault->statement)) continue;
    const tvms_diag *found = first;
    while (found && !tells(j, found, fault)) {
      found = found->next;
    }
    tvms_vec_push(j->memory, &j->chosen, found ? found : fault->diag);
    if (!tvms_spans_hold(&j->functions, &j->near_functions, fault->diag->span.begin))
      j->refused = true;
  }
}

static bool is_chosen(void *self, const tvms_diag *diag) {
  const judging *j = self;
  for (uint32_t i = 0; i < j->chosen.len; i++) {
    if (j->chosen.items[i] == diag) return true;
  }
  return false;
}

static bool counts(void *self, const tvms_diag *diag) {
  judging *j = self;
  return diag->source != j->surface->source || diag == j->lost
         || !is_python(j, diag->span.begin) || is_chosen(j, diag);
}

static void check(judging *j) {
  tvms_context *context = j->surface->context;
  const tvms_diag *first = context->diags.first;
  tvms_spans sound = {0};
  find_sound(j, &sound);
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_syntax_check(context, j->surface->source, sound.items, sound.len, &j->faults);
  choose(j, first);
  tvms_diags_keep_if(&context->diags, is_chosen, j);
  tvms_trial_keep(&trial);
  tvms_vec_fini(j->memory, &sound);
}

bool tvms_python_syntax_judge(const tvms_surface *surface, const tvms_spans *script,
                              bool python) {
  tvms_context *context = surface->context;
  judging j = {.surface = surface,
               .memory = &context->memory,
               .script = script,
               .python = python};
  find_functions(&j);
  find_lost(&j);
  if (has_definitions(&j)) check(&j);
  if (context->diags.first) tvms_diags_keep_if(&context->diags, counts, &j);
  tvms_vec_fini(j.memory, &j.functions);
  tvms_vec_fini(j.memory, &j.faults);
  tvms_vec_fini(j.memory, &j.chosen);
  return j.refused;
}
