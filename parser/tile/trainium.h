// Layouts of Trainium: which dimensions lie across the partitions, and which along them.
#ifndef TVMS_PARSER_TILE_TRAINIUM_H
#define TVMS_PARSER_TILE_TRAINIUM_H

#include "parser/tile/layout.h"

// The layout that a letter for each dimension stands for, "PF"; NULL if it does not fit.
tvms_node *TVMS_NULLABLE tvms_tile_trainium_layout(tvms_reader *reader,
                                                   const char *axes, tvms_list shape,
                                                   bool psum);

// A layout of Trainium with banks of psum for its free dimensions; NULL if it does not
// fit them.
tvms_node *TVMS_NULLABLE tvms_tile_layout_to_psum(tvms_reader *reader,
                                                  tvms_node *layout);

#endif
