// The rows of ir/calls.def that tiles and layouts answer: a handler for each name in the column `handler`.
#ifndef TVMS_PARSER_TILE_HANDLERS_H
#define TVMS_PARSER_TILE_HANDLERS_H

#include "parser/eval/row.h"

tvms_handler tvms_call_alloc_cast_frag;
tvms_handler tvms_call_alloc_tcgen05_ldst_frag;
tvms_handler tvms_call_axis_named;
tvms_handler tvms_call_compose_op;
tvms_handler tvms_call_ComposeLayout;
tvms_handler tvms_call_layout_from_iters;
tvms_handler tvms_call_layout_iter;
tvms_handler tvms_call_layout_part;
tvms_handler tvms_call_layout_trainium;
tvms_handler tvms_call_Op;
tvms_handler tvms_call_SwizzleLayout;
tvms_handler tvms_call_tcgen05_atom_layout;
tvms_handler tvms_call_tile_op;
tvms_handler tvms_call_TileLayout;
tvms_handler tvms_call_tmem_datapath_layout;
tvms_handler tvms_call_wg_local_layout;
tvms_handler tvms_call_wg_reg_tile;

#endif
