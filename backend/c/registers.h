// Small memory of a function that is variables of C: compilers keep these in registers.
//
// They keep parts of an array there as well, but only of short ones, and not behind hundreds of
// accesses as a nest has that is written out.
#ifndef TVMS_BACKEND_C_REGISTERS_H
#define TVMS_BACKEND_C_REGISTERS_H

#include "backend/c/emit.h"

// Finds the memory in the body of a function of which each access is a whole vector at a constant place, all of
// them of one kind, side by side, or a part of one. Its variables stand in e->registers by their ids.
void tvms_c_registers_find(c_emitter *e, tvms_node *body);

// Declares the variables that are the memory `data` names; false if it has to be memory.
bool tvms_c_registers_declare(c_emitter *e, const tvms_node *data, uint64_t bytes,
                              tvms_span span);

// The variable that an access names; NULL if the buffer is in memory, or has parts.
const char *TVMS_NULLABLE tvms_c_register(c_emitter *e, const tvms_node *buffer,
                                          tvms_list indices);

// The value of a load from variables that have parts; NULL if they are none. What was stored just before is not
// taken out of them.
const char *TVMS_NULLABLE tvms_c_register_part(c_emitter *e, const tvms_node *buffer,
                                               tvms_list indices, tvms_span span);

// Is the buffer variables that have floats of 16 bits in their form in memory, since these are only moved?
bool tvms_c_in_form(c_emitter *e, const tvms_node *buffer);

// Is the buffer variables that have parts?
bool tvms_c_has_parts(c_emitter *e, const tvms_node *buffer);

// Stores in such variables.
void tvms_c_register_store(c_emitter *e, const tvms_node *buffer, tvms_list indices,
                           tvms_span span, const char *value);

#endif
