// Macros and small types that every header of tvms uses.
//
// Nothing here allocates or depends on another header of the project.
#ifndef TVMS_BASE_H
#define TVMS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TVMS_NODISCARD           __attribute__((warn_unused_result))
#define TVMS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TVMS_NORETURN            __attribute__((noreturn))

// May be NULL; every pointer that is not marked so is never NULL.
#define TVMS_NULLABLE

// How a public entry point ended. The numbers are the exit statuses of the program.
typedef enum {
  TVMS_OK = 0,            // done; warnings and notes may have been reported
  TVMS_FOUND_ERRORS = 1,  // the user's text is wrong; diagnostics say where
  TVMS_FAILED_IO = 2,     // a file could not be read or written
  TVMS_OVER_LIMIT = 3,    // out of memory, too deep, too many steps
  TVMS_INTERNAL = 4,      // a defect of tvms
} tvms_status;

// Half-open range of bytes in the text of one source. Zero length marks a point.
typedef struct {
  uint32_t begin;
  uint32_t end;
} tvms_span;

#endif
