// Sites are collected from the whole function after each replacement: functions under schedule have some
// dozens of them, and an index that is kept up to date would have to hear of every rewriting.
#include "schedule/state.h"

#include "ir/clone.h"
#include "ir/walk.h"
#include "support/diag_ids.h"

#include <string.h>

// ---- Numbers of blocks ----

static tvms_walk_step take_number(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  if (node->kind == TVMS_NODE_BLOCK) node->spare = 0;
  return tvms_node_class_of(node) == TVMS_CLASS_STMT
                 || node->kind == TVMS_NODE_PRIM_FUNC
             ? TVMS_WALK_ON
             : TVMS_WALK_SKIP;
}

static void take_numbers(tvms_memory *memory, tvms_node *node) {
  tvms_visitor visitor = {.enter = take_number};
  (void)tvms_walk(memory, node, &visitor);
}

// ---- Sites ----

static void collect(tvms_sched *s, tvms_node *node, int32_t parent);

static void add_site(tvms_sched *s, tvms_node *node, tvms_node *TVMS_NULLABLE realize,
                     int32_t parent, tvms_node *body) {
  int32_t at = (int32_t)s->sites.len;
  tvms_site site = {node, realize, parent, 0};
  tvms_vec_push(&s->context->memory, &s->sites, site);
  collect(s, body, at);
  s->sites.items[at].end = s->sites.len;
}

static bool number_is_taken(const tvms_sched *s, uint16_t number) {
  for (uint32_t i = 0; i < s->sites.len; i++) {
    const tvms_node *node = s->sites.items[i].node;
    if (node->kind == TVMS_NODE_BLOCK && node->spare == number) return true;
  }
  return false;
}

static void collect(tvms_sched *s, tvms_node *node, int32_t parent) {
  switch ((int)node->kind) {
  case TVMS_NODE_FOR: add_site(s, node, NULL, parent, tvms_as_for(node)->body); break;
  case TVMS_NODE_BLOCK_REALIZE: {
    tvms_node *block = tvms_as_block_realize(node)->block;
    if (!block->spare || number_is_taken(s, block->spare)) block->spare = ++s->numbers;
    add_site(s, block, node, parent, tvms_as_block(block)->body);
    break;
  }
  default: {
    tvms_node *child;
    if (tvms_node_class_of(node) != TVMS_CLASS_STMT) break;
    for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
      if (at.role == TVMS_ROLE_BODY) collect(s, child, parent);
  }
  }
}

static void find_sites(tvms_sched *s) {
  s->sites.len = 0;
  collect(s, tvms_as_prim_func(s->function)->body, TVMS_NO_SITE);
}

void tvms_sched_init(tvms_sched *sched, tvms_unit *unit, tvms_sym name,
                     tvms_node *function) {
  *sched = (tvms_sched){.context = unit->context,
                        .unit = unit,
                        .function = function,
                        .name = name,
                        .step = "schedule"};
  take_numbers(&unit->context->memory, function);
  find_sites(sched);
}

void tvms_sched_fini(tvms_sched *sched) {
  take_numbers(&sched->context->memory, sched->function);
  tvms_vec_fini(&sched->context->memory, &sched->sites);
  tvms_vec_fini(&sched->context->memory, &sched->flags);
}

bool tvms_sched_refuse(tvms_sched *sched, const char *format, ...) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &sched->context->memory);
  va_list arguments;
  va_start(arguments, format);
  tvms_strbuf_vprintf(&text, format, arguments);
  va_end(arguments);
  sched->reason = tvms_arena_text(&sched->context->arena, text.text, text.len);
  tvms_strbuf_fini(&text);
  if (sched->quiet) return false;
  tvms_diags *diags = &sched->context->diags;
  tvms_source *source = diags->source;
  if (sched->script) diags->source = sched->script;
  tvms_diag_report(diags, TVMS_D_schedule_refused, sched->span, sched->step,
                   sched->reason);
  diags->source = source;
  return false;
}

void tvms_sched_quote(tvms_strbuf *list, const char *name) {
  tvms_strbuf_printf(list, "%s'%s'", list->len ? ", " : "", name);
}

int32_t tvms_sched_find(const tvms_sched *sched, tvms_sched_ref ref) {
  for (uint32_t i = 0; i < sched->sites.len; i++) {
    const tvms_node *node = sched->sites.items[i].node;
    bool found = node->kind == TVMS_NODE_BLOCK
                     ? ref.block && node->spare == ref.block
                     : !ref.block && tvms_as_for(node)->var == ref.loop;
    if (found) return (int32_t)i;
  }
  return TVMS_NO_SITE;
}

int32_t tvms_sched_site_of(const tvms_sched *sched, const tvms_node *node) {
  for (uint32_t i = 0; i < sched->sites.len; i++)
    if (sched->sites.items[i].node == node) return (int32_t)i;
  return TVMS_NO_SITE;
}

tvms_sched_ref tvms_sched_ref_of(tvms_sched *sched, int32_t site) {
  tvms_node *node = tvms_sched_at(sched, site)->node;
  bool loop = node->kind == TVMS_NODE_FOR;
  return (tvms_sched_ref){sched, loop ? 0 : node->spare,
                          loop ? tvms_as_for(node)->var : NULL, TVMS_MARK_NONE};
}

int32_t tvms_sched_scope(const tvms_sched *sched, int32_t site) {
  do
    site = tvms_sched_parent(sched, site);
  while (site != TVMS_NO_SITE && tvms_sched_is_loop(sched, site));
  return site;
}

// ---- Replacing ----

typedef struct {
  const tvms_sched_edit *edits;
  uint32_t count;
} edit_list;

static tvms_node *TVMS_NULLABLE edit(tvms_rewriter *r, tvms_node *node) {
  const edit_list *list = r->self;
  for (uint32_t i = 0; i < list->count; i++)
    if (list->edits[i].old == node) return list->edits[i].made;
  return TVMS_REWRITE_BELOW;
}

// A loop of which the only statement went goes, too.
static tvms_node *TVMS_NULLABLE drop_empty(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old || !tvms_stmt_is_none(tvms_as_for(node)->body)) return node;
  return tvms_stmt_is_none(tvms_as_for(r->old)->body) ? node : NULL;
}

tvms_node *TVMS_NULLABLE tvms_sched_edited(tvms_unit *unit, tvms_node *root,
                                           const tvms_sched_edit *edits,
                                           uint32_t count) {
  edit_list list = {edits, count};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &list);
  r.roles = TVMS_IN(BODY);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_STMT, edit);
  r.leave[TVMS_NODE_FOR] = drop_empty;
  tvms_node *made = tvms_rewrite(&r, root);
  tvms_rewriter_fini(&r);
  return made;
}

void tvms_sched_replace(tvms_sched *sched, const tvms_sched_edit *edits,
                        uint32_t count) {
  sched->function = tvms_sched_edited(sched->unit, sched->function, edits, count);
  find_sites(sched);
}

void tvms_sched_replace_one(tvms_sched *sched, const tvms_node *old, tvms_node *made) {
  tvms_sched_replace(sched, &(tvms_sched_edit){old, made}, 1);
}

void tvms_sched_restore(tvms_sched *sched, tvms_node *function) {
  sched->function = function;
  find_sites(sched);
}

tvms_node *tvms_sched_duplicate(tvms_unit *unit, tvms_node *stmt) {
  tvms_node *copy = tvms_stmt_copy(unit, stmt);
  take_numbers(&unit->context->memory, copy);
  return copy;
}
