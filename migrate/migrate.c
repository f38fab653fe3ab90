// Migration: walks the surface tree and collects edits of the source text.
//
// Words that are only spelled differently come from tables (ir/respell.h); statements that
// have another shape are dealt with in migrate/stmt.c. What must be known about meaning
// (does `x = e` bind a value or make a scalar?) is taken from the program that the text
// was read as: the spans of its nodes say which statement made them.
#define _GNU_SOURCE  // memmem
#include "migrate/migrate.h"

#include "grammar/literal_values.h"
#include "ir/respell.h"
#include "ir/tir_op.h"
#include "ir/walk.h"
#include "migrate/call.h"
#include "migrate/edit.h"
#include "migrate/internal.h"
#include "migrate/names.h"
#include "migrate/stmt.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <stdlib.h>
#include <string.h>

// ---- What the program says about statements ----

static int by_offset(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

static void sort_offsets(tvms_offsets *offsets) {
  if (offsets->len) qsort(offsets->items, offsets->len, sizeof(uint32_t), by_offset);
}

static tvms_walk_step note_statement(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  tvms_migration *migration = self;
  if (node->kind == TVMS_NODE_BIND && node->span.end) {
    tvms_vec_push(&migration->context->memory, &migration->binds, node->span.begin);
  }
  if (node->kind == TVMS_NODE_ALLOC_BUFFER && node->span.end) {
    tvms_vec_push(&migration->context->memory, &migration->allocs, node->span.begin);
  }
  return TVMS_WALK_ON;
}

static void note_program(tvms_migration *migration, const tvms_program *program) {
  tvms_visitor visitor = {.self = migration, .enter = note_statement};
  for (uint32_t i = 0; i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    for (uint32_t j = 0; j < module->member_count; j++) {
      tvms_node *function = module->members[j].function;
      if (function)
        tvms_vec_push(&migration->context->memory, &migration->functions,
                      function->span.begin);
      if (function) (void)tvms_walk(&migration->context->memory, function, &visitor);
    }
  }
  sort_offsets(&migration->binds);
  sort_offsets(&migration->allocs);
  sort_offsets(&migration->functions);
}

// ---- Words ----

// `tvm.tir.…`: the Python module has the name of the prefix.
static void respell_python(tvms_migration *migration, const char *path,
                           uint32_t begin) {
  size_t len = strcspn(path, "."), matched;
  const char *word = tvms_spelling_convert(TVMS_SPELLING_MODULE, path, len,
                                           migration->from, migration->to, &matched);
  if (word)
    tvms_edits_replace(&migration->edits, (tvms_span){begin, begin + (uint32_t)len},
                       word);
}

// The type of a value of Relax: x.struct_info up to 0.25, then x.ty.
static void respell_type(tvms_migration *migration, tvms_ref ref) {
  bool had = tvms_release_has(migration->from, TVMS_FACT_types_are_called_ty),
       has = tvms_release_has(migration->to, TVMS_FACT_types_are_called_ty);
  const tvms_surf *node = tvms_surface_at(migration->surface, ref);
  if (had == has || migration->in_prim_func
      || node->b != (had ? TVMS_SYM_ty : TVMS_SYM_struct_info))
    return;
  uint32_t len = had ? 2 : 11;
  tvms_edits_replace(&migration->edits, (tvms_span){node->end - len, node->end},
                     has ? "ty" : "struct_info");
}

// The end of an attribute chain is its last name; the whole path after the prefix is
// replaced when the new spelling has other dots.
static void respell_attribute(tvms_migration *migration, tvms_ref ref) {
  const tvms_surf *node = tvms_surface_at(migration->surface, ref);
  char path[TVMS_MIGRATE_LONGEST_PATH];
  tvms_sym first = tvms_migrate_chain(migration, ref, path);
  respell_type(migration, ref);
  if (!first) return;
  size_t len = strlen(path), matched;
  const char *word = NULL;
  if (tvms_migrate_has(migration->tir_prefixes.items, migration->tir_prefixes.len,
                       first)) {
    word = tvms_spelling_convert(TVMS_SPELLING_T, path, len, migration->from,
                                 migration->to, &matched);
    tvms_tir_opcode opcode = tvms_migrate_same_operator(migration, path, len);
    if (!word && opcode != TVMS_TIR_NONE)
      word = tvms_tir_op_spelling(opcode, migration->to);
  } else if (tvms_migrate_has(migration->relax_prefixes.items,
                              migration->relax_prefixes.len, first)) {
    word = tvms_spelling_convert(TVMS_SPELLING_R, path, len, migration->from,
                                 migration->to, &matched);
  }
  if (first == migration->tvm) {
    respell_python(migration, path, node->end - (uint32_t)len);
    return;
  }
  if (!word || !*word || strcmp(word, path) == 0) return;
  tvms_edits_replace(&migration->edits,
                     (tvms_span){node->end - (uint32_t)len, node->end}, word);
}

static void respell_keyword(tvms_migration *migration, tvms_ref ref) {
  const tvms_surf *node = tvms_surface_at(migration->surface, ref);
  const char *name = tvms_symbol_text(migration->context, node->a);
  size_t len = strlen(name), matched;
  const char *word = tvms_spelling_convert(TVMS_SPELLING_KEYWORD, name, len,
                                           migration->from, migration->to, &matched);
  if (!word) return;
  uint32_t begin = node->begin;
  tvms_edits_replace(&migration->edits, (tvms_span){begin, begin + (uint32_t)len},
                     word);
}

static void respell_string(tvms_migration *migration, tvms_ref ref) {
  tvms_span inside;
  if (!tvms_surface_string_inside(migration->surface, ref, &inside)) return;
  size_t matched;
  const char *word = tvms_spelling_convert(
      TVMS_SPELLING_KEY, migration->surface->source->text + inside.begin,
      inside.end - inside.begin, migration->from, migration->to, &matched);
  if (!word) return;
  inside.end = inside.begin + (uint32_t)matched;
  tvms_edits_replace(&migration->edits, inside, word);
}

// ---- The walk ----

static void visit(tvms_migration *migration, tvms_ref list);

static void visit_parts(tvms_migration *migration, const tvms_surf *node) {
  uint8_t which = tvms_surface_refs((tvms_surf_kind)node->kind);
  if (which & TVMS_SURF_IN_A) visit(migration, node->a);
  if (which & TVMS_SURF_IN_B) visit(migration, node->b);
  if (which & TVMS_SURF_IN_C) visit(migration, node->c);
}

// Notes the prefix of the decorator: it is what new names in the body stand below.
static bool is_prim_func(tvms_migration *migration, tvms_ref def) {
  tvms_surf_definition parts = tvms_surface_define(migration->surface, def);
  tvms_surface_each(migration->surface, decorator, parts.decorators) {
    const tvms_surf *node = tvms_surface_at(migration->surface, decorator);
    tvms_ref callee = node->kind == TVMS_SURF_CALL ? node->a : decorator;
    if (strcmp(tvms_migrate_tir_path(migration, callee), "prim_func") != 0) continue;
    char path[TVMS_MIGRATE_LONGEST_PATH];
    migration->prefix = tvms_symbol_text(migration->context,
                                         tvms_migrate_chain(migration, callee, path));
    return true;
  }
  return false;
}

static void visit_definition(tvms_migration *migration, tvms_ref def) {
  bool outer = migration->in_prim_func;
  migration->in_prim_func = is_prim_func(migration, def);
  if (migration->in_prim_func) {
    tvms_migrate_prim_func(migration, def);
    tvms_span span = tvms_surface_span(migration->surface, def);
    if (!tvms_migrate_begins_in(&migration->functions, span))
      tvms_diag_report(
          &migration->context->diags, TVMS_D_not_compared,
          tvms_surface_define(migration->surface, def).name_span,
          tvms_symbol_text(migration->context,
                           tvms_surface_define(migration->surface, def).name));
  }
  tvms_ref body = migration->body;
  migration->body = tvms_surface_at(migration->surface, def)->c;
  visit_parts(migration, tvms_surface_at(migration->surface, def));
  migration->body = body;
  migration->in_prim_func = outer;
}

static void visit_one(tvms_migration *migration, tvms_ref ref) {
  const tvms_surf *node = tvms_surface_at(migration->surface, ref);
  switch (node->kind) {
  case TVMS_SURF_DEF: visit_definition(migration, ref); return;
  case TVMS_SURF_ATTRIBUTE: respell_attribute(migration, ref); break;
  case TVMS_SURF_KEYWORD: respell_keyword(migration, ref); break;
  case TVMS_SURF_CALL: tvms_migrate_call(migration, ref); break;
  case TVMS_SURF_STRING: respell_string(migration, ref); break;
  default:
    if (migration->in_prim_func && !tvms_migrate_statement(migration, ref)) return;
  }
  visit_parts(migration, node);
}

// Visits a list of nodes, or one node.
static void visit(tvms_migration *migration, tvms_ref list) {
  tvms_memory *memory = &migration->context->memory;
  if (!list) return;
  if (tvms_memory_enter(memory)) {
    tvms_surface_each(migration->surface, ref, list) {
      visit_one(migration, ref);
    }
  } else {
    tvms_diag_report(&migration->context->diags, TVMS_D_too_deep,
                     tvms_surface_span(migration->surface, list), memory->depth_limit);
  }
  tvms_memory_leave(memory);
}

// ---- Imports ----

static void note_prefix(tvms_migration *migration, const char *module, size_t len,
                        tvms_sym name) {
  tvms_memory *memory = &migration->context->memory;
  bool tir = (len == 3 && memcmp(module, "tir", 3) == 0)
             || (len == 4 && memcmp(module, "tirx", 4) == 0);
  if (tir) tvms_vec_push(memory, &migration->tir_prefixes, name);
  if (len == 5 && memcmp(module, "relax", 5) == 0) {
    tvms_vec_push(memory, &migration->relax_prefixes, name);
  }
}

// Respells the module in the text of an import, which may be a comment. Without `as` the
// old word stays the name of it.
static void respell_module(tvms_migration *migration, tvms_span word, bool named) {
  size_t matched;
  const char *text = migration->surface->source->text + word.begin;
  const char *to =
      tvms_spelling_convert(TVMS_SPELLING_MODULE, text, word.end - word.begin,
                            migration->from, migration->to, &matched);
  if (!to) return;
  if (!named)
    to = tvms_migrate_words(migration, to, " as ", tvms_migrate_copy(migration, word));
  tvms_edits_replace(&migration->edits, word, to);
}

static uint32_t skip(const char *text, uint32_t at, uint32_t end, bool blanks) {
  while (at < end && (text[at] == ' ') == blanks && text[at] != ','
         && text[at] != '\n') {
    at++;
  }
  return at;
}

// An import line from `begin` to `end`: "… import tir as T, relax as R".
static void read_import(tvms_migration *migration, uint32_t begin, uint32_t end) {
  const char *text = migration->surface->source->text;
  tvms_interner *names = &migration->context->names;
  const char *found = memmem(text + begin, end - begin, " import ", 8);
  if (!found) return;
  uint32_t at = (uint32_t)(found - text) + 8;
  while (at < end) {
    at = skip(text, at, end, true);
    tvms_span module = {at, skip(text, at, end, false)};
    at = skip(text, module.end, end, true);
    tvms_span name = module;
    bool named = end - at > 3 && memcmp(text + at, "as ", 3) == 0;
    if (named) {
      name.begin = skip(text, at + 3, end, true);
      name.end = at = skip(text, name.begin, end, false);
    }
    tvms_sym sym = tvms_interner_add(names, text + name.begin, name.end - name.begin);
    note_prefix(migration, text + module.begin, module.end - module.begin, sym);
    respell_module(migration, module, named);
    at = skip(text, at, end, true);
    if (at >= end || text[at] != ',') return;
    at++;
  }
}

// `# with T.block("root"):`, which is how a root block prints: its words change, too.
static void respell_root(tvms_migration *migration, uint32_t begin, uint32_t end) {
  const char *text = migration->surface->source->text;
  const char *call = memmem(text + begin, end - begin, "(\"root\")", 8);
  const char *dot = memchr(text + begin, '.', end - begin);
  if (!call || !dot || dot > call || memcmp(text + begin, "with ", 5) != 0) return;
  size_t matched;
  tvms_span word = {(uint32_t)(dot + 1 - text), (uint32_t)(call - text)};
  const char *to =
      tvms_spelling_convert(TVMS_SPELLING_T, dot + 1, word.end - word.begin,
                            migration->from, migration->to, &matched);
  if (to) tvms_edits_replace(&migration->edits, word, to);
}

static void read_imports(tvms_migration *migration) {
  const tvms_surface *surface = migration->surface;
  const char *text = surface->source->text;
  for (uint32_t ref = 1; ref < surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    if (node->kind == TVMS_SURF_IMPORT_FROM) {
      read_import(migration, node->begin, node->end);
    }
  }
  for (uint32_t i = 0; i < surface->comment_count; i++) {
    const tvms_comment *comment = &surface->comments[i];
    uint32_t at = skip(text, comment->begin + 1, comment->end, true);
    if (comment->end - at > 9 && memcmp(text + at, "from tvm.", 9) == 0) {
      read_import(migration, at, comment->end);
    } else if (comment->end - at > 5) {
      respell_root(migration, at, comment->end);
    }
  }
  tvms_memory *memory = &migration->context->memory;
  tvms_vec_push(memory, &migration->tir_prefixes, TVMS_SYM_T);
  tvms_vec_push(memory, &migration->relax_prefixes, TVMS_SYM_R);
}

bool tvms_migrate(const tvms_surface *surface, const tvms_program *program,
                  tvms_dialect to, tvms_strbuf *out) {
  tvms_context *context = surface->context;
  tvms_migration migration = {.context = context,
                              .surface = surface,
                              .from = program->dialect,
                              .to = to,
                              .body = surface->body,
                              .tvm = tvms_interner_add(&context->names, "tvm", 3)};
  uint32_t errors = context->diags.errors;
  tvms_arena_init(&migration.arena, &context->memory);
  tvms_edits_init(&migration.edits, &context->memory, surface->source);
  note_program(&migration, program);
  read_imports(&migration);
  visit(&migration, surface->body);
  tvms_edits_apply(&migration.edits, out);
  tvms_edits_fini(&migration.edits);
  tvms_arena_fini(&migration.arena);
  tvms_vec_fini(&context->memory, &migration.binds);
  tvms_vec_fini(&context->memory, &migration.allocs);
  tvms_vec_fini(&context->memory, &migration.functions);
  tvms_vec_fini(&context->memory, &migration.tir_prefixes);
  tvms_vec_fini(&context->memory, &migration.relax_prefixes);
  tvms_vec_fini(&context->memory, &migration.operators);
  return context->diags.errors == errors;
}
