// What may hold of a module (properties.def), as bits and as questions to the module.
#ifndef TVMS_PASSES_PROPERTIES_H
#define TVMS_PASSES_PROPERTIES_H

#include "ir/module.h"

enum {
#define PROPERTY(NAME, holds, text, passes) TVMS_PROPERTY_INDEX_##NAME,
#include "passes/properties.def"
  TVMS_PROPERTY_COUNT,
  TVMS_NO_PROPERTY = 0,
#define PROPERTY(NAME, holds, text, passes)                                            \
  TVMS_PROPERTY_##NAME = 1 << TVMS_PROPERTY_INDEX_##NAME,
#include "passes/properties.def"
};

typedef struct {
  bool (*holds)(tvms_context *context, const tvms_member *member);
  const char *text;
  const char *passes;
} tvms_property;

// The row of a bit.
const tvms_property *tvms_pass_property_of(uint32_t bit);

// The first function of the module that lacks the property, or NULL.
const tvms_node *TVMS_NULLABLE tvms_pass_find_without(const tvms_module *module,
                                                      const tvms_property *property);

#endif
