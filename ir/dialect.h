// The releases of TVM whose text tvms reads and writes, and what holds in which of them: the
// rows of ir/releases.def.
//
// One row covers the releases that spell alike; its name is that of one of them. Order is
// age. Code asks for a fact, not for a release: tvms_release_has(unit->dialect,
// TVMS_FACT_loops_have_step). Then a new release is a review of that table, and the
// reader and the printer cannot disagree about it.
#ifndef TVMS_IR_DIALECT_H
#define TVMS_IR_DIALECT_H

#include "support/base.h"

typedef enum {
#define RELEASE(ident, ...) TVMS_DIALECT_##ident,
#include "ir/releases.def"
  TVMS_DIALECT_NONE,  // not decided
  TVMS_DIALECT_OLDEST = 0,
  TVMS_DIALECT_ever = TVMS_DIALECT_NONE,         // in tables: there is no last release
  TVMS_DIALECT_CURRENT = TVMS_DIALECT_NONE - 1,  // the newest one
} tvms_dialect;

// A fact is its first and its last release, so that asking for one is a comparison.
typedef enum {
#define FACT(name, since, until, where)                                                \
  TVMS_FACT_##name = TVMS_DIALECT_##since << 4 | TVMS_DIALECT_##until,
#include "ir/releases.def"
} tvms_release_fact;

_Static_assert(TVMS_DIALECT_NONE < 16, "a fact holds releases in four bits each");

// Its first and its last release. The macro is for tables of constants.
#define TVMS_FACT_SINCE(name) (TVMS_FACT_##name >> 4)

// The first release with the fact.
static inline tvms_dialect tvms_release_since(tvms_release_fact fact) {
  return (tvms_dialect)((unsigned)fact >> 4);
}

// The last release with it; TVMS_DIALECT_ever if there is none.
static inline tvms_dialect tvms_release_until(tvms_release_fact fact) {
  return (tvms_dialect)((unsigned)fact & 15);
}

// Does the fact hold in this release?
static inline bool tvms_release_has(tvms_dialect release, tvms_release_fact fact) {
  tvms_dialect until = tvms_release_until(fact);
  return release >= tvms_release_since(fact)
         && (until == TVMS_DIALECT_ever || release <= until);
}

// Is `release` older than `other`? What an older text cannot hold is made up for.
static inline bool tvms_release_is_older(tvms_dialect release, tvms_dialect other) {
  return release < other;
}

// The newest release up to `release` that does not have a fact that others before it lack.
static inline tvms_dialect tvms_release_without(tvms_dialect release,
                                                tvms_release_fact fact) {
  return tvms_release_has(release, fact) ? (tvms_dialect)(tvms_release_since(fact) - 1)
                                         : release;
}

// A row of the table.
typedef struct {
  const char *name;     // "0.22"; "rfc" for the prototype
  const char *others;   // further names, with blanks between
  const char *version;  // of the released build: "0.25.0.post1"; "" if there is none
  bool written;         // else a text of it is only read
} tvms_release_row;

// The row of any release but TVMS_DIALECT_NONE.
const tvms_release_row *tvms_release_row_of(tvms_dialect release);

// Parses "0.22", "0.25", "classic", "rfc" … Releases of a generation name it: "0.18" is
// TVMS_DIALECT_22, and so does what a build calls itself, "0.25.0.post1". Returns
// TVMS_DIALECT_NONE for anything else.
tvms_dialect tvms_dialect_parse(const char *text);

// "0.22" and so on; "rfc" for the prototype, "none" for TVMS_DIALECT_NONE.
const char *tvms_dialect_text(tvms_dialect dialect);

#define TVMS_RELEASES_TEXT 64

// Writes the names of the releases that are written, for messages: "0.22, 0.25". Returns
// `buffer`.
const char *tvms_release_names(char buffer[TVMS_RELEASES_TEXT]);

// The release that a text of `dialect` is written as: itself, or the next one that is
// written.
tvms_dialect tvms_release_written(tvms_dialect dialect);

// The release whose rows of other tables hold for a text of `dialect`: the prototype has
// none of its own and is read with those of the release after it.
static inline tvms_dialect tvms_release_rows(tvms_dialect dialect) {
  return tvms_release_has(dialect, TVMS_FACT_is_prototype) ? (tvms_dialect)(dialect + 1)
                                                           : dialect;
}

#endif
