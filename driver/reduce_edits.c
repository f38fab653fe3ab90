// Edits by the surface tree. Sites of a kind are numbered in the order of the text; an edit
// inside of another one that is made goes with it (support/edits.h).
#include "driver/reduce_edits.h"

#include "support/edits.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const tvms_surface *surface;
  tvms_edits edits;
  tvms_arena arena;  // texts of edits
  uint32_t from, to;
  uint32_t site;         // sites so far
  uint64_t numbers[64];  // NUMBER: values seen, so that each counts once
  uint32_t number_count;
} editor;

// Is the next site one that is wanted?
static bool is_chosen(editor *e) {
  uint32_t site = e->site++;
  return site >= e->from && site < e->to;
}

static const tvms_surf *at(const editor *e, tvms_ref ref) {
  return tvms_surface_at(e->surface, ref);
}

static const char *text_of(editor *e, tvms_span span) {
  return tvms_arena_text(&e->arena, e->surface->source->text + span.begin,
                         span.end - span.begin);
}

static bool is_statement(const tvms_surf *node) {
  return (node->kind >= TVMS_SURF_EXPRESSION && node->kind <= TVMS_SURF_IMPORT_FROM)
         || node->kind == TVMS_SURF_DEF || node->kind == TVMS_SURF_CLASS
         || node->kind == TVMS_SURF_FOR || node->kind == TVMS_SURF_WHILE
         || node->kind == TVMS_SURF_IF || node->kind == TVMS_SURF_WITH;
}

static bool is_expression(const tvms_surf *node) {
  return node->kind >= TVMS_SURF_NAME && node->kind <= TVMS_SURF_WALRUS;
}

// Calls `visit` for each node below `ref` and its neighbours, parents first.
typedef void visit_node(editor *e, tvms_ref ref);

static void walk(editor *e, tvms_ref list, visit_node *visit) {
  tvms_memory *memory = &e->surface->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  for (tvms_ref ref = list; ref; ref = at(e, ref)->next) {
    const tvms_surf *node = at(e, ref);
    visit(e, ref);
    uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
    if (refs & TVMS_SURF_IN_A) walk(e, node->a, visit);
    if (refs & TVMS_SURF_IN_B) walk(e, node->b, visit);
    if (refs & TVMS_SURF_IN_C) walk(e, node->c, visit);
  }
  tvms_memory_leave(memory);
}

// ---- Statements ----

static void remove_statement(editor *e, tvms_ref ref) {
  if (is_statement(at(e, ref)) && is_chosen(e))
    tvms_edits_remove_line(&e->edits, tvms_surface_span(e->surface, ref));
}

static void empty_statement(editor *e, tvms_ref ref) {
  static const char nothing[] = "T.evaluate(0)";
  const tvms_surf *node = at(e, ref);
  bool smaller = node->end - node->begin > sizeof nothing;
  bool def = node->kind == TVMS_SURF_DEF || node->kind == TVMS_SURF_CLASS;
  if (is_statement(node) && !def && smaller && is_chosen(e))
    tvms_edits_replace(&e->edits, tvms_surface_span(e->surface, ref), nothing);
}

// Uses of a name below a list of nodes become `text`.
typedef struct {
  uint32_t name;
  const char *text;
} renaming;

static void rename_below(editor *e, tvms_ref list, const renaming *r) {
  for (tvms_ref ref = list; ref; ref = at(e, ref)->next) {
    const tvms_surf *node = at(e, ref);
    if (node->kind == TVMS_SURF_NAME && node->a == r->name)
      tvms_edits_replace(&e->edits, tvms_surface_span(e->surface, ref), r->text);
    uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
    if (refs & TVMS_SURF_IN_A) rename_below(e, node->a, r);
    if (refs & TVMS_SURF_IN_B) rename_below(e, node->b, r);
    if (refs & TVMS_SURF_IN_C) rename_below(e, node->c, r);
  }
}

// The variables of a loop become `text`.
static void rename_target(editor *e, const tvms_surf *loop, tvms_ref body,
                          const char *text) {
  const tvms_surf *target = at(e, loop->a);
  tvms_ref first = target->kind == TVMS_SURF_TUPLE ? target->a : loop->a;
  for (tvms_ref ref = first; ref; ref = at(e, ref)->next) {
    renaming r = {at(e, ref)->a, text};
    if (at(e, ref)->kind == TVMS_SURF_NAME) rename_below(e, body, &r);
    if (first == loop->a) break;
  }
}

static void leave_body(editor *e, tvms_ref ref, tvms_ref body, bool without_last) {
  const tvms_surf *node = at(e, ref), *first = at(e, body), *last = first;
  tvms_ref tail = body;
  while (at(e, tail)->next)
    tail = at(e, tail)->next;
  last = at(e, tail);
  uint32_t columns = tvms_source_indent(e->surface->source, first->begin)
                     - tvms_source_indent(e->surface->source, node->begin);
  tvms_edits_replace(&e->edits, (tvms_span){node->begin, first->begin}, "");
  tvms_edits_unindent(&e->edits, (tvms_span){first->begin, last->end}, columns);
  if (without_last)
    tvms_edits_remove_line(&e->edits, (tvms_span){last->begin, last->end});
  if (node->end > last->end)
    tvms_edits_replace(&e->edits, (tvms_span){last->end, node->end}, "");
}

static void unwrap(editor *e, tvms_ref ref) {
  static const char *const zeros[] = {"0", "T.int64(0)"};
  const tvms_surf *node = at(e, ref);
  bool loop = node->kind == TVMS_SURF_FOR, with = node->kind == TVMS_SURF_WITH;
  if (!loop && !with && node->kind != TVMS_SURF_IF && node->kind != TVMS_SURF_WHILE)
    return;
  tvms_ref bodies[2];
  tvms_surface_bodies(e->surface, ref, bodies);
  for (int variant = 0; variant < (loop || with ? 2 : 1); variant++) {
    if (!is_chosen(e) || !bodies[0]) continue;
    if (loop) rename_target(e, node, bodies[0], zeros[variant]);
    leave_body(e, ref, bodies[0], with && variant == 1);
  }
}

// Names in the value of a binding that may stand for it.
typedef struct {
  const char *names[4];
  uint32_t count;
} operands;

static void find_operands(editor *e, tvms_ref list, operands *found) {
  for (tvms_ref ref = list; ref; ref = at(e, ref)->next) {
    const tvms_surf *node = at(e, ref);
    bool callee = node->kind == TVMS_SURF_CALL;
    if (node->kind == TVMS_SURF_NAME && found->count < 4)
      found->names[found->count++] = text_of(e, tvms_surface_span(e->surface, ref));
    uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
    if (refs & TVMS_SURF_IN_A && !callee) find_operands(e, node->a, found);
    if (refs & TVMS_SURF_IN_B) find_operands(e, node->b, found);
    if (refs & TVMS_SURF_IN_C) find_operands(e, node->c, found);
  }
}

static void substitute(editor *e, tvms_ref ref) {
  const tvms_surf *node = at(e, ref);
  bool bare = node->kind == TVMS_SURF_ASSIGN,
       typed = node->kind == TVMS_SURF_ANN_ASSIGN;
  tvms_ref value = bare ? node->b : typed ? node->c : 0;
  if (!value || at(e, node->a)->kind != TVMS_SURF_NAME) return;
  operands found = {0};
  find_operands(e, value, &found);
  for (uint32_t i = 0; i < found.count; i++) {
    if (!is_chosen(e)) continue;
    renaming r = {at(e, node->a)->a, found.names[i]};
    tvms_edits_remove_line(&e->edits, tvms_surface_span(e->surface, ref));
    rename_below(e, e->surface->body, &r);
  }
}

// ---- Expressions ----

static void take_part(editor *e, tvms_ref whole, tvms_ref list) {
  for (tvms_ref ref = list; ref; ref = at(e, ref)->next) {
    const tvms_surf *part = at(e, ref);
    if (part->kind == TVMS_SURF_COMPARED || part->kind == TVMS_SURF_STAR) {
      take_part(e, whole, part->a);
    } else if (is_expression(part) && is_chosen(e)) {
      tvms_edits_replace(&e->edits, tvms_surface_span(e->surface, whole),
                         text_of(e, tvms_surface_span(e->surface, ref)));
    }
  }
}

static void replace_by_part(editor *e, tvms_ref ref) {
  const tvms_surf *node = at(e, ref);
  if (!is_expression(node)) return;
  uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
  bool named = node->kind == TVMS_SURF_CALL || node->kind == TVMS_SURF_ATTRIBUTE
               || node->kind == TVMS_SURF_SUBSCRIPT;
  if (refs & TVMS_SURF_IN_A && !named) take_part(e, ref, node->a);
  if (refs & TVMS_SURF_IN_B) take_part(e, ref, node->b);
  if (refs & TVMS_SURF_IN_C) take_part(e, ref, node->c);
}

static void replace_by_constant(editor *e, tvms_ref ref) {
  static const char *const constants[] = {"0", "True", "T.float32(0)"};
  const tvms_surf *node = at(e, ref);
  bool compound = node->kind == TVMS_SURF_CALL || node->kind == TVMS_SURF_SUBSCRIPT
                  || node->kind == TVMS_SURF_BINARY || node->kind == TVMS_SURF_BOOL
                  || node->kind == TVMS_SURF_COMPARE || node->kind == TVMS_SURF_UNARY
                  || node->kind == TVMS_SURF_IF_EXP;
  if (!compound && node->kind != TVMS_SURF_NAME) return;
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
    bool smaller = node->end - node->begin >= strlen(constants[i]);
    if (smaller && is_chosen(e))
      tvms_edits_replace(&e->edits, tvms_surface_span(e->surface, ref), constants[i]);
  }
}

// Items of a list with the comma before or behind them.
static void drop_items(editor *e, tvms_ref list) {
  uint32_t before = 0;
  for (tvms_ref ref = list; ref; ref = at(e, ref)->next) {
    const tvms_surf *item = at(e, ref);
    uint32_t begin = item->begin, end = item->end;
    if (before)
      begin = before;
    else if (item->next)
      end = at(e, item->next)->begin;
    before = item->end;
    if (is_chosen(e)) tvms_edits_replace(&e->edits, (tvms_span){begin, end}, "");
  }
}

static void drop_item(editor *e, tvms_ref ref) {
  const tvms_surf *node = at(e, ref);
  if (node->kind == TVMS_SURF_CALL) drop_items(e, node->b);
  if (node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST
      || node->kind == TVMS_SURF_DICT)
    drop_items(e, node->a);
  if (node->kind == TVMS_SURF_HEAD) drop_items(e, node->a);
}

// ---- Numbers ----

static uint64_t value_of(const editor *e, tvms_ref ref) {
  return strtoull(e->surface->source->text + at(e, ref)->begin, NULL, 10);
}

typedef struct {
  uint64_t value;
  const char *text;
} number;

static void replace_number(editor *e, tvms_ref list, const number *n) {
  for (tvms_ref ref = list; ref; ref = at(e, ref)->next) {
    const tvms_surf *node = at(e, ref);
    if (node->kind == TVMS_SURF_INT && value_of(e, ref) == n->value)
      tvms_edits_replace(&e->edits, tvms_surface_span(e->surface, ref), n->text);
    uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
    if (refs & TVMS_SURF_IN_A) replace_number(e, node->a, n);
    if (refs & TVMS_SURF_IN_B) replace_number(e, node->b, n);
    if (refs & TVMS_SURF_IN_C) replace_number(e, node->c, n);
  }
}

static void shrink_number(editor *e, tvms_ref ref) {
  if (at(e, ref)->kind != TVMS_SURF_INT) return;
  uint64_t value = value_of(e, ref);
  bool seen = value < 2 || e->number_count == sizeof e->numbers / sizeof *e->numbers;
  for (uint32_t i = 0; i < e->number_count; i++)
    seen = seen || e->numbers[i] == value;
  if (seen) return;
  e->numbers[e->number_count++] = value;
  uint64_t smaller[] = {1, 2, value / 2, value - 1};
  for (int i = 0; i < 4; i++) {
    if (smaller[i] >= value || !is_chosen(e)) continue;
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)smaller[i]);
    number n = {value, tvms_arena_text(&e->arena, digits, (size_t)len)};
    replace_number(e, e->surface->body, &n);
  }
}

uint32_t tvms_reduce_edit(const tvms_surface *surface, tvms_reduce_kind kind,
                          uint32_t from, uint32_t count, tvms_strbuf *out) {
  static visit_node *const visits[] = {
      [TVMS_REDUCE_REMOVE] = remove_statement,
      [TVMS_REDUCE_UNWRAP] = unwrap,
      [TVMS_REDUCE_SUBSTITUTE] = substitute,
      [TVMS_REDUCE_PART] = replace_by_part,
      [TVMS_REDUCE_ITEM] = drop_item,
      [TVMS_REDUCE_CONSTANT] = replace_by_constant,
      [TVMS_REDUCE_EMPTY] = empty_statement,
      [TVMS_REDUCE_NUMBER] = shrink_number,
  };
  tvms_memory *memory = &surface->context->memory;
  editor e = {.surface = surface, .from = from, .to = from + count};
  tvms_arena_init(&e.arena, memory);
  tvms_edits_init(&e.edits, memory, surface->source);
  walk(&e, surface->body, visits[kind]);
  tvms_edits_apply(&e.edits, out);
  tvms_edits_fini(&e.edits);
  tvms_arena_fini(&e.arena);
  return e.site;
}
