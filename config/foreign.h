// The tables of other formatters: what they say of the layout.
#ifndef TVMS_CONFIG_FOREIGN_H
#define TVMS_CONFIG_FOREIGN_H

#include "config/config.h"

// Reads ruff's table: [tool.ruff], or a whole ruff.toml. What the formatter cannot follow is
// reported if `formats`. The result lives in the context.
tvms_config_table *tvms_config_read_ruff(tvms_context *context, const tvms_toml *table,
                                         tvms_source *source, const char *folder,
                                         bool formats);

// Likewise for [tool.black].
tvms_config_table *tvms_config_read_black(tvms_context *context, const tvms_toml *table,
                                          tvms_source *source, const char *folder);

#endif
