// Buffers: declarations with the attributes that must be said.
#ifndef TVMS_PRINTER_BUFFER_H
#define TVMS_PRINTER_BUFFER_H

#include "printer/state.h"

void tvms_print_buffer(tvms_printer *p, const tvms_node *buffer);

// T.<method>(<before>, shape, dtype, …); `before` is text of leading arguments.
void tvms_print_buffer_decl(tvms_printer *p, const tvms_node *buffer,
                            const char *method, const tvms_strbuf *TVMS_NULLABLE before,
                            uint32_t frame, print_definitions definitions);
void tvms_print_buffer_annotation(tvms_printer *p, const tvms_node *buffer,
                                  uint32_t frame);

// T.Buffer(…) as a type: without the pointer of a buffer that is defined elsewhere.
void tvms_print_buffer_type(tvms_printer *p, const tvms_node *buffer);

// The name of a scalar buffer, which stands for its only element.
void tvms_print_scalar_name(tvms_printer *p, const tvms_node *buffer);

bool tvms_print_is_scalar(const tvms_printer *p, const tvms_node *buffer,
                          bool allocated);
tvms_sym tvms_print_scope_of(const tvms_node *buffer);

bool tvms_print_is_row_major(const tvms_printer *p, const tvms_node *layout,
                             tvms_list shape);
print_layout tvms_print_layout_of(const tvms_printer *p, const tvms_node *buffer);

// Notes a declared buffer: others may be views of it.
bool tvms_print_same(const tvms_node *a, const tvms_node *b);

#endif
