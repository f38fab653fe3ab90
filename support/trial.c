// Trials: the list of findings is put aside and comes back. Findings are nodes of a list in an
// arena, so keeping them is one link, and dropping them leaves them to the arena. The budget for
// near names is not set aside: it bounds the time of the whole, trials included.
#include "support/trial.h"

void tvms_trial_begin(tvms_trial *trial, tvms_diags *diags) {
  *trial = (tvms_trial){diags, *diags};
  tvms_diags_init(diags, trial->outer.arena);
  diags->source = trial->outer.source;
  diags->compared = trial->outer.compared;
  diags->levels = trial->outer.levels;
}

void tvms_trial_drop(tvms_trial *trial) {
  trial->outer.compared = trial->diags->compared;
  *trial->diags = trial->outer;
}

void tvms_trial_keep(tvms_trial *trial) {
  tvms_diags found = *trial->diags;
  tvms_trial_drop(trial);
  tvms_diags *diags = trial->diags;
  if (!found.first || diags->muted) return;
  if (diags->last)
    diags->last->next = found.first;
  else
    diags->first = found.first;
  diags->last = found.last;
  if (found.furthest > diags->furthest) diags->furthest = found.furthest;
  diags->errors += found.errors;
  diags->warnings += found.warnings;
}

static bool is_known(const tvms_diags *diags, const tvms_diag *diag) {
  for (const tvms_diag *old = diags->first; old; old = old->next) {
    if (old->id == diag->id && old->source == diag->source
        && old->span.begin == diag->span.begin && old->span.end == diag->span.end)
      return true;
  }
  return false;
}

static void unlink_first(tvms_diags *diags, tvms_diag **at) {
  if ((*at)->severity == TVMS_SEVERITY_ERROR) diags->errors--;
  if ((*at)->severity == TVMS_SEVERITY_WARNING) diags->warnings--;
  *at = (*at)->next;
}

void tvms_trial_keep_new(tvms_trial *trial) {
  tvms_diags *diags = trial->diags;
  tvms_diag *last = NULL;
  for (tvms_diag **at = &diags->first; *at;) {
    if (is_known(&trial->outer, *at)) {
      unlink_first(diags, at);
    } else {
      last = *at;
      at = &(*at)->next;
    }
  }
  diags->last = last;
  tvms_trial_keep(trial);
}

uint32_t tvms_trial_speak(tvms_diags *diags) {
  uint32_t muted = diags->muted;
  diags->muted = 0;
  return muted;
}

void tvms_trial_mute_again(tvms_diags *diags, uint32_t muted) {
  diags->muted = muted;
}
