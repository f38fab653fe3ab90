// Parts of buffers as 0.25 prints them: `B = A[4:8]` for a buffer over a part of A.
#ifndef TVMS_PARSER_TIR_PART_H
#define TVMS_PARSER_TIR_PART_H

#include "parser/tir/stmt.h"

// The buffer that `name = A[4:8]` of 0.25 declares, or NULL where the name stands for a
// region.
tvms_node *TVMS_NULLABLE tvms_tir_buffer_of_part(tvms_reader *reader, tvms_sym name,
                                                 tvms_node *region, tvms_ref ref);

#endif
