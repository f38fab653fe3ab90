// Modules: members in TVM's order, attributes, global infos; header comments.
//
// TVM sorts the members of a module: PrimFuncs, external functions, functions of Relax, each by
// name, and `main` behind all of them whatever it is. The class is always called Module. A function
// that stands alone is called what its global_symbol says, or `main` if it is private. Which
// imports the header has is known when everything is written: each mention of I, T, R or a type
// variable sets a bit in `used`, and printer/print.c puts the header in front.
#include "printer/module.h"

#include "ir/global_symbol.h"
#include "ir/object.h"
#include "printer/comments.h"
#include "printer/function_relax.h"
#include "printer/function_tir.h"
#include "printer/metadata.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/relax.h"
#include "printer/state.h"
#include "printer/text.h"

#include <stdlib.h>

// TVM sorts members by kind and name, and puts `main` last.
typedef struct {
  int priority;
  const char *name;
  const tvms_member *member;
} sortable;

static int priority_of(const tvms_printer *p, const tvms_member *member) {
  if (strcmp(tvms_symbol_text(p->context, member->name), "main") == 0) return 1000;
  if (!member->function) return 999;
  switch (member->function->kind) {
  case TVMS_NODE_PRIM_FUNC: return 1;
  case TVMS_NODE_EXTERN_FUNC: return 2;
  default: return 3;
  }
}

static int compare(const void *a, const void *b) {
  const sortable *x = a;
  const sortable *y = b;
  if (x->priority != y->priority) return x->priority < y->priority ? -1 : 1;
  return strcmp(x->name, y->name);
}

static sortable *sort_members(tvms_printer *p, const tvms_module *module) {
  sortable *sorted =
      tvms_memory_alloc(p->memory, (module->member_count + 1) * sizeof *sorted);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    sorted[i] = (sortable){priority_of(p, member),
                           tvms_symbol_text(p->context, member->name), member};
  }
  qsort(sorted, module->member_count, sizeof *sorted, compare);
  return sorted;
}

// Nodes that the printer makes get ids of their own above those of the function.
static void use_unit(tvms_printer *p, const tvms_unit *unit) {
  p->scratch.next_id = unit->next_id;
}

static void print_extern(tvms_printer *p, const tvms_member *member) {
  tvms_print_begin(p);
  tvms_print_sym(p, member->name);
  PUT(p, " = ");
  tvms_print_extern_func(p, member->function);
  tvms_print_end(p);
}

static void print_member(tvms_printer *p, const tvms_member *member, tvms_sym name,
                         size_t head) {
  if (!member->function) return;
  use_unit(p, member->unit);
  uint32_t kept = p->kept.len;
  if (member->function->kind == TVMS_NODE_PRIM_FUNC)
    tvms_print_prim_func(p, member->function, name, head);
  else if (member->function->kind == TVMS_NODE_FUNCTION)
    tvms_print_relax_function(p, member->function, name, head, true);
  else
    print_extern(p, member);
  tvms_print_forget_kept(p, kept);
}

// Their nodes have ids of the module, which those of the functions have as well.
static void print_infos(tvms_printer *p, const tvms_module *module) {
  uint32_t kept = p->kept.len;
  if (tvms_object_map_count(module->attrs)) {
    tvms_print_begin(p);
    tvms_print_i(p, "module_attrs(");
    tvms_print_object(p, module->attrs);
    PUT(p, ")");
    tvms_print_end(p);
  }
  if (tvms_object_map_count(module->global_infos)) {
    tvms_print_begin(p);
    tvms_print_i(p, "module_global_infos(");
    tvms_print_object(p, module->global_infos);
    PUT(p, ")");
    tvms_print_end(p);
  }
  tvms_print_forget_kept(p, kept);
}

// The name of a function that stands alone: its symbol, or `main`.
static tvms_sym name_alone(tvms_printer *p, const tvms_member *member) {
  const char *symbol = tvms_global_symbol_of(p->context, member);
  if (symbol) return tvms_symbol_intern(p->context, symbol, strlen(symbol));
  if (member->function->flags & TVMS_FLAG_PRIVATE)
    return tvms_symbol_intern(p->context, "main", 4);
  return member->name;
}

static void mark_members(tvms_printer *p, const tvms_module *module, bool member) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_print_symbol(p, module->members[i].name)->member = member;
  }
}

// Comments above a class, which itself is not a node: those before its functions.
static void print_class_comments(tvms_printer *p, const tvms_module *module) {
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    bool known = function && function->span.end;
    if (known && function->span.begin < first) first = function->span.begin;
  }
  if (first != UINT32_MAX) tvms_print_left_comments(p, first);
}

static void print_class(tvms_printer *p, const tvms_module *module) {
  if (p->comments) print_class_comments(p, module);
  size_t head = p->main.len;
  // TVM makes the decorator last: headers of functions inside do not know of it yet.
  uint32_t used = p->used;
  PUT(p, "@");
  if (module->rewriter) {
    tvms_print_r(p, "rewriter");
  } else {
    tvms_print_i(p, "ir_module");
    if (p->unchecked && module->unchecked) PUT(p, "(check_well_formed=False)");
    p->used = used;
  }
  PUT(p, "\nclass Module:\n");
  tvms_print_reserve(p, "Module");
  tvms_print_push(p, FRAME_MODULE, NULL);
  tvms_print_top(p)->indent = ++p->indent;
  size_t body = p->main.len;
  mark_members(p, module, true);
  print_infos(p, module);
  sortable *sorted = sort_members(p, module);
  for (uint32_t i = 0; i < module->member_count; i++) {
    print_member(p, sorted[i].member, sorted[i].member->name, head);
  }
  tvms_memory_free(p->memory, sorted);
  mark_members(p, module, false);
  if (p->main.len == body) {
    tvms_print_begin(p);
    PUT(p, "pass\n");
  }
  if (!module->rewriter) p->used |= USED_I;
  p->indent--;
  tvms_print_pop(p);
  tvms_print_symbol(p, tvms_symbol_intern(p->context, "Module", 6))->taken = false;
}

void tvms_print_module(tvms_printer *p, const tvms_module *module) {
  p->module = module;
  p->token = PRINT_IR;
  if (!module->bare) {
    print_class(p, module);
  } else if (module->member_count && module->members[0].function) {
    const tvms_member *member = &module->members[0];
    print_member(p, member, name_alone(p, member), p->main.len);
  }
  for (uint32_t i = 0; i < p->declared.len; i++) {
    tvms_print_symbol(p, p->declared.items[i])->type_var = false;
  }
  p->declared.len = 0;
  p->module = NULL;
}

// ---- Header ----

static void put_line(tvms_strbuf *out, uint32_t indent, const char *text) {
  tvms_strbuf_fill(out, ' ', (size_t)indent * 4);
  tvms_strbuf_puts(out, text);
  tvms_strbuf_putc(out, '\n');
}

void tvms_print_header(tvms_strbuf *out, tvms_dialect dialect, uint32_t used,
                       uint32_t indent) {
  if (!used) return;
  if (used & USED_TYPE_VAR) put_line(out, indent, "# from typing import TypeVar");
  if (used & USED_I) put_line(out, indent, "# from tvm.script import ir as I");
  if (used & USED_T) {
    bool tirx = tvms_release_has(dialect, TVMS_FACT_tir_is_tirx);
    put_line(out, indent,
             tirx ? "# from tvm.script import tirx as T"
                  : "# from tvm.script import tir as T");
    if (tvms_release_has(dialect, TVMS_FACT_headers_import_axis))
      put_line(out, indent, "# from tvm.tirx.layout import Axis");
  }
  if (used & USED_R) put_line(out, indent, "# from tvm.script import relax as R");
  put_line(out, indent, "");
}

// ---- Type variables ----

static int compare_syms(tvms_printer *p, const tvms_node *a, const tvms_node *b) {
  return strcmp(tvms_symbol_text(p->context, tvms_print_name_of(p, a)->name),
                tvms_symbol_text(p->context, tvms_print_name_of(p, b)->name));
}

static void sort_type_vars(tvms_printer *p, uint32_t first) {
  for (uint32_t i = first + 1; i < p->type_vars.len; i++) {
    const tvms_node *var = p->type_vars.items[i];
    uint32_t at = i;
    for (; at > first && compare_syms(p, p->type_vars.items[at - 1], var) > 0; at--) {
      p->type_vars.items[at] = p->type_vars.items[at - 1];
    }
    p->type_vars.items[at] = var;
  }
}

void tvms_print_type_vars(tvms_printer *p, size_t head, uint32_t first, bool again) {
  sort_type_vars(p, first);
  tvms_strbuf lines;
  tvms_strbuf_init(&lines, p->memory);
  for (uint32_t i = first; i < p->type_vars.len; i++) {
    tvms_sym name = tvms_print_name_of(p, p->type_vars.items[i])->name;
    print_symbol *symbol = tvms_print_symbol(p, name);
    if (symbol->type_var && !again) continue;
    if (!again) {
      symbol->type_var = true;
      tvms_vec_push(p->memory, &p->declared, name);
    }
    const char *text = tvms_symbol_text(p->context, name);
    if (again) tvms_strbuf_fill(&lines, ' ', (size_t)p->indent * 4);
    tvms_strbuf_printf(&lines, "%s = TypeVar(\"%s\")\n", text, text);
  }
  if (lines.len) tvms_print_add_at(p, head, lines.text, lines.len);
  tvms_strbuf_fini(&lines);
  p->type_vars.len = first;
}
