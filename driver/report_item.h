// One finding as the formats of driver/report.h get it.
#ifndef TVMS_DRIVER_REPORT_ITEM_H
#define TVMS_DRIVER_REPORT_ITEM_H

#include "support/diag.h"

// Most findings are diagnostics of a context. One that stands for a file as a whole, or for
// the run, is a diagnostic without a source that is in no list.
typedef struct {
  const tvms_diag *diag;
  const char *TVMS_NULLABLE file;  // its name, as the user wrote it
  tvms_memory *places;             // for lines of its source
} tvms_report_item;

static inline bool tvms_report_item_is_placed(const tvms_report_item *item) {
  return item->diag->source != NULL;
}

// The source that a note with a place refers to.
static inline tvms_source *tvms_report_item_source(const tvms_report_item *item,
                                                   const tvms_note *note) {
  return note->source ? note->source : item->diag->source;
}

// A path without the "./" in front, which services that compare paths do not expect.
static inline const char *tvms_report_item_path(const char *file) {
  while (file[0] == '.' && file[1] == '/' && file[2]) {
    file += 2;
  }
  return file;
}

#endif
