// Buffers: declarations with the attributes that must be said.
#ifndef TVMS_PRINTER_BUFFER_H
#define TVMS_PRINTER_BUFFER_H

#include "printer/state.h"

// The name of a buffer as a whole: of a scalar one, whose plain name is its element,
// x.source (up to 0.26 x.buffer). Anything else than a buffer is printed as it is.
void tvms_print_buffer(tvms_printer *p, const tvms_node *buffer);

// T.<method>(<before>, shape, dtype, …) with the attributes that must be said; `before`
// is the text of leading arguments. What the declaration defines lives as long as frame
// number `frame`.
void tvms_print_buffer_decl(tvms_printer *p, const tvms_node *buffer,
                            const char *method, const tvms_strbuf *TVMS_NULLABLE before,
                            uint32_t frame, print_definitions definitions);

// T.Buffer(…) of a parameter in a signature: it may define variables of its shape. Up
// to 0.25 it says shape and data type only.
void tvms_print_buffer_annotation(tvms_printer *p, const tvms_node *buffer,
                                  uint32_t frame);

// T.Buffer(…) as a type: without the pointer of a buffer that is defined elsewhere.
void tvms_print_buffer_type(tvms_printer *p, const tvms_node *buffer);

// The name of a buffer, defined in front of the statement if nothing has defined it
// yet: an element of a scalar buffer is written so.
void tvms_print_scalar_name(tvms_printer *p, const tvms_node *buffer);

// Is the buffer written as a scalar, x: T.int32, whose element is its plain name?
// `allocated`: as an allocation makes them, without offset.
bool tvms_print_is_scalar(const tvms_printer *p, const tvms_node *buffer,
                          bool allocated);

// The storage scope in the type of a buffer's pointer; 0: global.
tvms_sym tvms_print_scope_of(const tvms_node *buffer);

// Is the layout that of dense rows of this shape, which a buffer has if it says
// nothing?
bool tvms_print_is_row_major(const tvms_printer *p, const tvms_node *layout,
                             tvms_list shape);

// What must be said of a buffer's layout. In functions with s_tir no layout means none,
// in others the default one.
print_layout tvms_print_layout_of(const tvms_printer *p, const tvms_node *buffer);

// Equal expressions; NULL equals NULL.
bool tvms_print_same(const tvms_node *a, const tvms_node *b);

#endif
