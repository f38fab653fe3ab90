// A module of PrimFuncs as one file of C11 that needs no other: what all need, types and
// constants, then a body and an entry per function.
#include "backend/c/module.h"

#include "backend/c/emit.h"
#include "backend/c/entry.h"
#include "backend/c/memory.h"
#include "backend/c/past.h"
#include "backend/c/registers.h"
#include "backend/c/stmt.h"
#include "backend/c/wide.h"
#include "backend/c/windows.h"
#include "backend/core/layout.h"
#include "backend/core/place.h"
#include "interp/result.h"

#include <string.h>

static const char *const preamble[] = {
#include "backend/c/preamble.inc"
#include "backend/c/preamble_vectors.inc"
};

static bool is_compiled(const tvms_member *member) {
  return member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
}

static bool has_relax(const tvms_module *program) {
  for (uint32_t i = 0; i < program->member_count; i++) {
    const tvms_node *function = program->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION) return true;
  }
  return false;
}

static void open_function(c_emitter *e, const tvms_member *member) {
  uint32_t ids = member->unit->next_id;
  e->vars = tvms_arena_array(&e->context->scratch, const char *, ids);
  e->views = tvms_arena_array(&e->context->scratch, const c_view *, ids);
  e->registers = tvms_arena_array(&e->context->scratch, c_registers *, ids);
  e->windows = tvms_arena_array(&e->context->scratch, c_window *, ids);
  e->result_dtype = tvms_interp_result_dtype(&e->context->memory, member->function);
  e->dialect = member->unit->dialect;
  e->member = member;
  e->memory.len = 0;
  e->truths.len = 0;
  e->chosen.len = 0;
  e->crowded = false;
  e->past = 0;
  e->has_past = false;
  e->folded.len = 0;
  e->windowed = false;
  e->frame = 0;
  e->loop = NULL;
  e->in_index = false;
  e->next = 0;
}

// The head of a body; defines what it takes.
static const char *head_of(c_emitter *e, const tvms_member *member) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_params_sizes sizes = {0};
  tvms_params_collect(&e->context->memory, function, &sizes);
  tvms_strbuf head;
  tvms_strbuf_init(&head, &e->context->memory);
  tvms_strbuf_printf(&head, "static int body_%s(struct held *held, void *result",
                     tvms_symbol_text(e->context, member->name));
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *param = function->params.items[i];
    bool tensor = function->buffers.items[i] != NULL;
    if (!tensor && param->dtype.lanes > 1)
      tvms_c_refuse(e, param->span, "a vector among the parameters");
    const char *type = tensor ? "ptr" : tvms_c_type(e, param->dtype, param->span);
    tvms_strbuf_printf(&head, ", %s %sp%u", type,
                       tvms_params_alone(function, i) ? "restrict " : "", i);
    if (!tensor) e->vars[param->id] = tvms_c_text(e, "p%u", i);
  }
  for (uint32_t i = 0; i < sizes.len; i++) {
    const tvms_node *size = sizes.items[i];
    tvms_strbuf_printf(&head, ", %s n%u", tvms_c_type(e, size->dtype, size->span), i);
    e->vars[size->id] = tvms_c_text(e, "n%u", i);
  }
  tvms_vec_fini(&e->context->memory, &sizes);
  const char *kept = tvms_c_text(e, "%s)", tvms_strbuf_text(&head));
  tvms_strbuf_fini(&head);
  return kept;
}

static void write_body(c_emitter *e, const tvms_member *member, tvms_node *body) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_c_at(e, function->head.span);
  tvms_c_open(e, "%s", head_of(e, member));
  tvms_c_line(e, "(void)held, (void)result;");
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (buffer) tvms_c_define_buffer(e, buffer, tvms_c_text(e, "p%u", i));
  }
  tvms_c_registers_find(e, body);
  tvms_c_windows_find(e, body);
  e->bindings = tvms_scaled_bindings(e->context, body, member->unit->next_id);
  e->ranges = tvms_c_ranges_find(e->context, body, member->unit->next_id);
  e->room = tvms_place_is_relax(member->function) ? C_RELAX : C_KERNEL;
  if (tvms_c_stmt(e, body)) {
    tvms_c_order_stores(e);
    tvms_c_line(e, "return 0;");
  }
  e->room = C_ENTRY;
  tvms_c_close(e);
  if (e->line) tvms_strbuf_puts(&e->body, "#line 1 \"entry\"\n");
  e->line = 0;
}

// What a compiler is told about a function, once its text is there.
static void put_in_front(c_emitter *e, size_t start, const char *line) {
  tvms_strbuf_insert(&e->body, start, line, strlen(line));
}

static void write_functions(c_emitter *e) {
  e->exports_all = has_relax(e->program);
  for (uint32_t i = 0; i < e->program->member_count; i++) {
    const tvms_member *member = &e->program->members[i];
    if (!is_compiled(member)) continue;
    tvms_node *body = tvms_c_split_wide(member, e->vector_bytes);
    tvms_mark mark = tvms_arena_mark(&e->context->scratch);
    open_function(e, member);
    tvms_strbuf_printf(&e->head, "%s;\n", head_of(e, member));
    tvms_strbuf_putc(&e->body, '\n');
    size_t start = e->body.len;
    write_body(e, member, body);
    if (e->crowded) put_in_front(e, start, "UNSCHEDULED\n");
    if (e->windowed) put_in_front(e, start, "UNCARRIED\n");
    if (tvms_c_is_exported(e, member)) {
      tvms_strbuf_putc(&e->body, '\n');
      tvms_c_entry(e, member);
      tvms_c_plain(e, member);
    }
    tvms_arena_reset(&e->context->scratch, mark);
  }
}

// Entries of private functions that are called by their names.
static void write_called(c_emitter *e) {
  for (uint32_t i = 0; i < e->called.len; i++) {
    const tvms_member *member = e->called.items[i];
    bool seen = tvms_c_is_exported(e, member);
    for (uint32_t k = 0; k < i; k++)
      seen |= e->called.items[k] == member;
    if (seen) continue;
    tvms_mark mark = tvms_arena_mark(&e->context->scratch);
    open_function(e, member);
    tvms_strbuf_putc(&e->body, '\n');
    tvms_c_entry(e, member);
    tvms_arena_reset(&e->context->scratch, mark);
  }
}

typedef struct {
  c_emitter e;
  tvms_strbuf *out;
} job;

// Of a register of this machine, for which loops are scheduled.
static uint32_t vector_bytes(tvms_context *context) {
  tvms_unit unit;
  tvms_target host;
  tvms_unit_init(&unit, context, TVMS_DIALECT_CURRENT);
  tvms_target_from_host(&unit, &host);
  uint32_t bits = host.vector_bits;
  tvms_unit_fini(&unit);
  return bits > 128 ? bits / 8 : 16;
}

static void write_module(void *what) {
  job *j = what;
  c_emitter *e = &j->e;
  tvms_memory *memory = &e->context->memory;
  e->vector_bytes = vector_bytes(e->context);
  tvms_strbuf_init(&e->head, memory);
  tvms_strbuf_init(&e->body, memory);
  write_functions(e);
  write_called(e);
  for (size_t i = 0; i < sizeof preamble / sizeof preamble[0]; i++) {
    tvms_strbuf_printf(j->out, "%s\n", preamble[i]);
  }
  for (tvms_layout_field field = TVMS_LAYOUT_NONE + 1; field < TVMS_LAYOUT_COUNT;
       field++) {
    tvms_strbuf_printf(j->out, "#define AT_%s __builtin_offsetof(struct %s, %s)\n",
                       tvms_layout_name(field), tvms_layout_structure(field),
                       tvms_layout_field_name(field));
  }
  tvms_strbuf_add(j->out, e->head.text, e->head.len);
  tvms_strbuf_add(j->out, e->body.text, e->body.len);
  tvms_strbuf_fini(&e->head);
  tvms_strbuf_fini(&e->body);
  tvms_vec_fini(memory, &e->vectors);
  tvms_vec_fini(memory, &e->helpers);
  tvms_vec_fini(memory, &e->functions);
  tvms_vec_fini(memory, &e->memory);
  tvms_vec_fini(memory, &e->truths);
  tvms_vec_fini(memory, &e->chosen);
  tvms_vec_fini(memory, &e->folded);
  tvms_vec_fini(memory, &e->boxes);
  tvms_vec_fini(memory, &e->called);
}

tvms_status tvms_c_module(tvms_context *context, const tvms_module *module,
                          const tvms_native_options *options, tvms_strbuf *out) {
  job j = {.e = {.context = context,
                 .program = module,
                 .contract = options->contract,
                 .plain_prefix = options->plain_prefix,
                 .lines_of = options->lines_of},
           .out = out};
  return tvms_memory_protect(&context->memory, write_module, &j);
}
