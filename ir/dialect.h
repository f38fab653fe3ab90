// The releases of TVM whose spelling tvms reads and writes.
//
// One generation of spelling covers several releases; the name is that of the release that
// stands for it. Order is age, so `dialect >= TVMS_DIALECT_25` reads as "since 0.25".
#ifndef TVMS_IR_DIALECT_H
#define TVMS_IR_DIALECT_H

#include <tvms/base.h>

typedef enum {
  TVMS_DIALECT_RFC,   // 2022 prototype: read and migrated, never written
  TVMS_DIALECT_22,    // v0.16 – v0.23, "classic"
  TVMS_DIALECT_24,    // v0.24: read and migrated, never written
  TVMS_DIALECT_25,    // v0.25
  TVMS_DIALECT_26,    // v0.26
  TVMS_DIALECT_27,    // v0.27 and later: the current one
  TVMS_DIALECT_NONE,  // not decided; "never" in tables
} tvms_dialect;

#define TVMS_DIALECT_CURRENT TVMS_DIALECT_27

// Parses "0.22", "0.25", "classic", "rfc" … Releases of a generation name it: "0.18" is
// TVMS_DIALECT_22. Returns TVMS_DIALECT_NONE for anything else.
tvms_dialect tvms_dialect_parse(const char *text);

// "0.22" and so on; "rfc" for the prototype.
const char *tvms_dialect_text(tvms_dialect dialect);

#endif
