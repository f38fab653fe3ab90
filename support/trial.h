// Trials: work whose findings may not count.
//
// A reader, a prover or a verb often has to try something to learn whether it is possible,
// and what it would report on the way is nobody's business, or only if the attempt is the
// last one. There are two ways:
//
// - A trial sets the findings so far aside. The list is empty when it begins, so
//   `diags->errors` counts what went wrong inside, and it ends by keeping its findings
//   (they follow the earlier ones) or dropping them. Trials nest, the innermost ends first.
// - Muting is cheaper: reports are not even written down. It is for trials that need no
//   count, because their result says whether they succeeded.
//
// Both end in the function that began them. Unwinding (tvms_memory_unwind) out of one leaves
// the list as it was inside; who catches it and goes on has begun a trial of his own outside
// the protected call, and drops that.
#ifndef TVMS_SUPPORT_TRIAL_H
#define TVMS_SUPPORT_TRIAL_H

#include "support/diag.h"

typedef struct {
  tvms_diags *diags;
  tvms_diags outer;  // the list as it was before
} tvms_trial;

// Begins a trial on `diags`: no findings, not muted, and the current source as it is.
void tvms_trial_begin(tvms_trial *trial, tvms_diags *diags);

// Ends it and forgets its findings. The current source is the one from before it again.
void tvms_trial_drop(tvms_trial *trial);

// Ends it and adds its findings behind those from before it, unless these were muted. The
// current source is the one from before it again.
void tvms_trial_keep(tvms_trial *trial);

// Ends it as tvms_trial_keep does, but for findings that the list from before it has: of the
// same row at the same place.
void tvms_trial_keep_new(tvms_trial *trial);

// Reports are dropped from here to the unmute that belongs to it; pairs nest.
static inline void tvms_trial_mute(tvms_diags *diags) {
  diags->muted++;
}
static inline void tvms_trial_unmute(tvms_diags *diags) {
  diags->muted--;
}

// Whether reports are dropped now.
static inline bool tvms_trial_is_muted(const tvms_diags *diags) {
  return diags->muted > 0;
}

// Lifts all mutes for a while: returns what tvms_trial_mute_again takes to put them back.
uint32_t tvms_trial_speak(tvms_diags *diags);

// Puts mutes back that tvms_trial_speak lifted.
void tvms_trial_mute_again(tvms_diags *diags, uint32_t muted);

#endif
