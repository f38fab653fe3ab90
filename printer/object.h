// Attribute values and the other parts of a function: maps, lists, targets, lambdas.
#ifndef TVMS_PRINTER_OBJECT_H
#define TVMS_PRINTER_OBJECT_H

#include "printer/state.h"

// `lambda i, j: value` of an INDEX_MAP with one result.
void tvms_print_lambda(tvms_printer *p, const tvms_node *object);

// Any node as an argument, an attribute or an item: objects themselves, expressions,
// types, buffers.
void tvms_print_object(tvms_printer *p, const tvms_node *object);

// `{"a": 1}`; keys in `hidden` (ended by NULL) are left out. Returns false and writes
// nothing if no pair is left.
bool tvms_print_map(tvms_printer *p, const tvms_node *TVMS_NULLABLE map,
                    const char *const *TVMS_NULLABLE hidden);

// "cuda:1:global": the index counts the earlier devices of the same kind; the scope is
// said since 0.25.
void tvms_print_vdevice_name(tvms_printer *p, const tvms_node *vdevice);

#endif
