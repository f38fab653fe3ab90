// Macros that every inner header uses, and the small types that are public.
#ifndef TVMS_SUPPORT_BASE_H
#define TVMS_SUPPORT_BASE_H

#include <tvms/source.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TVMS_NODISCARD           __attribute__((warn_unused_result))
#define TVMS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TVMS_NORETURN            __attribute__((noreturn))

// May be NULL; every pointer that is not marked so is never NULL.
#define TVMS_NULLABLE

#endif
