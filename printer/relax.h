// Values of Relax: constants, tuples, shapes, variables, functions.
#ifndef TVMS_PRINTER_RELAX_H
#define TVMS_PRINTER_RELAX_H

#include "printer/state.h"

void tvms_print_relax_value(tvms_printer *p, const tvms_node *node);
void tvms_print_constant(tvms_printer *p, const tvms_node *node);
void tvms_print_relax_var(tvms_printer *p, const tvms_node *var);
void tvms_print_tir_var_in_relax(tvms_printer *p, const tvms_node *var);
void tvms_print_alias_name(tvms_printer *p);

void tvms_print_extern_func(tvms_printer *p, const tvms_node *function);

#endif
