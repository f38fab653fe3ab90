// Expressions of a script. Values are made as the text is gone through, and a step is done where its call stands.
#include "schedule/reader.h"

#include "grammar/literal_values.h"
#include "schedule/lambda.h"
#include "schedule/perform.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <string.h>

// ---- Names ----

void tvms_sched_reader_bind(tvms_sched_reader *r, tvms_sym name,
                            tvms_sched_value value) {
  for (uint32_t i = 0; i < r->names.len; i++) {
    if (r->names.items[i].name != name) continue;
    r->names.items[i].value = value;
    return;
  }
  tvms_sched_binding binding = {name, value};
  tvms_vec_push(&r->context->memory, &r->names, binding);
}

const tvms_sched_value *TVMS_NULLABLE tvms_sched_reader_find(const tvms_sched_reader *r,
                                                             tvms_sym name) {
  for (uint32_t i = 0; i < r->names.len; i++)
    if (r->names.items[i].name == name) return &r->names.items[i].value;
  return NULL;
}

bool tvms_sched_reader_expected(tvms_sched_reader *r, tvms_ref ref, const char *what) {
  tvms_diag_report(&r->context->diags, TVMS_D_schedule_syntax,
                   tvms_surface_span(r->surface, ref), what);
  return false;
}

tvms_sched_value tvms_sched_reader_list(tvms_sched_reader *r, uint32_t count) {
  return (tvms_sched_value){
      .kind = TVMS_VALUE_LIST,
      .items = tvms_arena_array(&r->schedule->arena, tvms_sched_value, count + 1)};
}

// ---- Expressions ----

static const tvms_surf *node_at(const tvms_sched_reader *r, tvms_ref ref) {
  return tvms_surface_at(r->surface, ref);
}

static bool push_value(tvms_sched_reader *r, tvms_ref item, tvms_sched_value *list,
                       uint32_t room) {
  tvms_sched_value value;
  bool star = node_at(r, item)->kind == TVMS_SURF_STAR;
  if (!tvms_sched_reader_value(r, star ? node_at(r, item)->a : item, &value))
    return false;
  if (!star) {
    list->items[list->len++] = value;
    return true;
  }
  if (value.kind != TVMS_VALUE_LIST)
    return tvms_sched_reader_expected(r, item, "a list behind the star");
  tvms_sched_value longer = tvms_sched_reader_list(r, room + list->len + value.len);
  memcpy(longer.items, list->items, list->len * sizeof *list->items);
  memcpy(longer.items + list->len, value.items, value.len * sizeof *value.items);
  list->items = longer.items;
  list->len += value.len;
  return true;
}

static bool read_list(tvms_sched_reader *r, tvms_ref items, tvms_sched_value *list) {
  uint32_t count = tvms_surface_count(r->surface, items);
  *list = tvms_sched_reader_list(r, count);
  tvms_surface_each(r->surface, item, items) {
    if (!push_value(r, item, list, count)) return false;
  }
  return true;
}

static bool read_dict(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *dict) {
  tvms_ref pairs = node_at(r, ref)->a;
  *dict = tvms_sched_reader_list(r, 2 * tvms_surface_count(r->surface, pairs));
  dict->kind = TVMS_VALUE_DICT;
  tvms_surface_each(r->surface, pair, pairs) {
    const tvms_surf *p = node_at(r, pair);
    if (p->kind != TVMS_SURF_PAIR)
      return tvms_sched_reader_expected(r, pair, "a key and a value");
    tvms_ref key = p->a, value = p->b;
    if (!tvms_sched_reader_value(r, key, &dict->items[dict->len++])
        || !tvms_sched_reader_value(r, value, &dict->items[dict->len++]))
      return false;
  }
  return true;
}

static bool read_name(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  tvms_sym name = node_at(r, ref)->a;
  const tvms_sched_value *found = tvms_sched_reader_find(r, name);
  if (!found)
    return tvms_sched_reader_expected(r, ref, "a name that an earlier line has given");
  tvms_span span = value->span;
  *value = *found;
  value->span = span;
  return true;
}

static bool read_negative(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  const tvms_surf *node = node_at(r, ref);
  if (node->op != TVMS_OP_NEGATE || !tvms_sched_reader_value(r, node->a, value))
    return tvms_sched_reader_expected(r, ref, "a number");
  value->number = -value->number;
  value->real = -value->real;
  return value->kind == TVMS_VALUE_INT || value->kind == TVMS_VALUE_FLOAT
         || tvms_sched_reader_expected(r, ref, "a number");
}

// One end of a part of a list, as Python counts: from the end if it is negative, and no farther than the list goes. 0: it is not written.
static bool read_end(tvms_sched_reader *r, tvms_ref ref, int64_t initial, uint32_t len,
                     int64_t *end) {
  tvms_sched_value value;
  *end = initial;
  if (!ref) return true;
  if (!tvms_sched_reader_value(r, ref, &value)) return false;
  if (value.kind == TVMS_VALUE_NONE) return true;
  if (value.kind != TVMS_VALUE_INT)
    return tvms_sched_reader_expected(r, ref, "a number");
  *end = value.number < 0 ? value.number + len : value.number;
  if (*end < 0) *end = 0;
  if (*end > len) *end = len;
  return true;
}

static bool read_part(tvms_sched_reader *r, tvms_ref slice,
                      const tvms_sched_value *list, tvms_sched_value *value) {
  const tvms_surf *node = node_at(r, slice);
  tvms_ref lower = node->a, upper = node->b;
  int64_t begin, end;
  if (node->c) return tvms_sched_reader_expected(r, node->c, "a part without a step");
  if (list->kind != TVMS_VALUE_LIST)
    return tvms_sched_reader_expected(r, slice, "a part of a list");
  if (!read_end(r, lower, 0, list->len, &begin)
      || !read_end(r, upper, list->len, list->len, &end))
    return false;
  *value = *list;
  value->items += begin;
  value->len = end > begin ? (uint32_t)(end - begin) : 0;
  return true;
}

static bool read_item(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  tvms_sched_value list, index;
  tvms_ref of = node_at(r, ref)->a, at = node_at(r, ref)->b;
  if (!tvms_sched_reader_value(r, of, &list)) return false;
  if (node_at(r, at)->kind == TVMS_SURF_SLICE) return read_part(r, at, &list, value);
  if (!tvms_sched_reader_value(r, at, &index)) return false;
  bool fits = list.kind == TVMS_VALUE_LIST && index.kind == TVMS_VALUE_INT;
  int64_t place = fits && index.number < 0 ? index.number + list.len : index.number;
  if (!fits || place < 0 || place >= list.len)
    return tvms_sched_reader_expected(r, ref, "an item that the list has");
  *value = list.items[place];
  return true;
}

// ---- Calls ----

// The name of a method of the schedule, or of a function: what stands last in the callee. 0: neither.
static tvms_sym callee_name(const tvms_sched_reader *r, tvms_ref callee,
                            bool *of_schedule) {
  const tvms_surf *node = node_at(r, callee);
  if (node->kind != TVMS_SURF_ATTRIBUTE) return 0;
  const tvms_surf *object = node_at(r, node->a);
  *of_schedule = object->kind == TVMS_SURF_NAME
                 && strcmp(tvms_symbol_text(r->context, object->a), "T") != 0;
  return node->b;
}

static int32_t param_named(const tvms_sched_reader *r, const tvms_sched_row *row,
                           tvms_sym name) {
  const char *text = tvms_symbol_text(r->context, name);
  for (uint32_t i = 0; i < tvms_schedule_param_count(row); i++)
    if (strcmp(tvms_schedule_param(row, i)->name, text) == 0) return (int32_t)i;
  return -1;
}

static bool expected_param(tvms_sched_reader *r, tvms_ref item,
                           const tvms_sched_row *row) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &r->context->memory);
  tvms_strbuf_printf(&text, "a parameter of %s:", row->name);
  for (uint32_t i = 0; i < tvms_schedule_param_count(row); i++)
    tvms_strbuf_printf(&text, "%s %s", i ? "," : "", tvms_schedule_param(row, i)->name);
  (void)!tvms_sched_reader_expected(r, item, text.text);
  tvms_strbuf_fini(&text);
  return false;
}

// Collects arguments that have no name; those of a parameter that takes the rest become its list.
// What a keyword has given already is surplus: its list has room for its own items only.
static void place_values(tvms_sched_reader *r, const tvms_sched_row *row,
                         const tvms_sched_value *given, tvms_sched_value *args,
                         uint32_t *surplus) {
  uint32_t count = tvms_schedule_param_count(row), at = 0;
  for (uint32_t i = 0; i < given->len; i++) {
    if (at >= count || args[at].kind != TVMS_VALUE_NONE) {
      *surplus += given->len - i;
      return;
    }
    if (tvms_schedule_param(row, at)->type == TVMS_PARAM_LOOPS) {
      args[at] = tvms_sched_reader_list(r, given->len - i);
      while (i < given->len)
        args[at].items[args[at].len++] = given->items[i++];
      return;
    }
    args[at++] = given->items[i];
  }
}

static bool read_arguments(tvms_sched_reader *r, const tvms_sched_row *row,
                           tvms_ref list, tvms_sched_value *args) {
  uint32_t count = tvms_surface_count(r->surface, list), surplus = 0;
  tvms_sched_value given = tvms_sched_reader_list(r, count);
  tvms_surface_each(r->surface, item, list) {
    const tvms_surf *node = node_at(r, item);
    if (node->kind != TVMS_SURF_KEYWORD) {
      if (!push_value(r, item, &given, count)) return false;
      continue;
    }
    int32_t at = param_named(r, row, node->a);
    if (at < 0) return expected_param(r, item, row);
    if (!tvms_sched_reader_value(r, node->b, &args[at])) return false;
  }
  place_values(r, row, &given, args, &surplus);
  return !surplus
         || tvms_sched_reader_expected(r, list, "no more arguments than the step has");
}

static bool read_unknown(tvms_sched_reader *r, tvms_ref ref, const char *name) {
  tvms_memory *memory = &r->context->memory;
  TVMS_VEC(const char *) names = {0};
  const tvms_sched_row *row;
  for (uint32_t i = 0; (row = tvms_schedule_row_at(i)); i++)
    tvms_vec_push(memory, &names, row->name);
  const char *near = tvms_diag_nearest_name(name, names.items, names.len);
  tvms_diag *diag = tvms_diag_report(&r->context->diags, TVMS_D_schedule_step,
                                     tvms_surface_span(r->surface, ref), name);
  if (near) tvms_diag_remark(&r->context->diags, diag, "did you mean '%s'?", near);
  tvms_vec_fini(memory, &names);
  return false;
}

// sch.work_on("f"): what get_sblock means without a name. It is no step, and stands in no trace.
static bool read_work_on(tvms_sched_reader *r, tvms_ref call) {
  tvms_ref list = node_at(r, call)->b;
  tvms_sched_value name = {0};
  bool one = list && !node_at(r, list)->next;
  tvms_ref given =
      one && node_at(r, list)->kind == TVMS_SURF_KEYWORD ? node_at(r, list)->b : list;
  if (!one || !tvms_sched_reader_value(r, given, &name) || name.kind != TVMS_VALUE_TEXT)
    return tvms_sched_reader_expected(r, list ? list : call, "the name of a function");
  tvms_sym sym = tvms_symbol_intern(r->context, name.text, strlen(name.text));
  if (!tvms_schedule_function(r->schedule, sym))
    return tvms_schedule_refuse_function(r->schedule, name.span, name.text);
  r->schedule->working_on = sym;
  return true;
}

// tvm.s_tir.Schedule(…), with which scripts for TVM begin, or sch.mod.show() and print(…), with which they end?
static bool is_around(const tvms_sched_reader *r, tvms_ref callee) {
  static const char *const around[] = {"Schedule", "show", "print"};
  const tvms_surf *node = node_at(r, callee);
  tvms_sym name = node->kind == TVMS_SURF_NAME        ? node->a
                  : node->kind == TVMS_SURF_ATTRIBUTE ? node->b
                                                      : 0;
  for (size_t i = 0; name && i < sizeof around / sizeof around[0]; i++)
    if (strcmp(tvms_symbol_text(r->context, name), around[i]) == 0) return true;
  return false;
}

static bool read_call(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  tvms_ref callee = node_at(r, ref)->a, list = node_at(r, ref)->b;
  bool of_schedule = false;
  if (is_around(r, callee)) return true;
  tvms_sym name = callee_name(r, callee, &of_schedule);
  if (!name) return tvms_sched_reader_expected(r, ref, "a step of the schedule");
  const char *text = tvms_symbol_text(r->context, name);
  if (!of_schedule)  // T.int32(4)
    return list ? tvms_sched_reader_value(r, list, value)
                : tvms_sched_reader_expected(r, ref, "a step of the schedule");
  if (strcmp(text, "work_on") == 0) return read_work_on(r, ref);
  const tvms_sched_row *row = tvms_schedule_find_row(text);
  if (!row) return read_unknown(r, callee, text);
  uint32_t count = tvms_schedule_param_count(row);
  tvms_sched_value *args =
      tvms_arena_array(&r->schedule->arena, tvms_sched_value, count + 1);
  memset(args, 0, (count + 1) * sizeof *args);
  return read_arguments(r, row, list, args)
         && tvms_schedule_perform(r->schedule, row, args,
                                  tvms_surface_span(r->surface, ref), value);
}

static bool read_text(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  tvms_surf_text text = tvms_surface_string(r->surface, ref, &r->schedule->arena);
  value->kind = TVMS_VALUE_TEXT;
  value->text = tvms_arena_text(&r->schedule->arena, text.text, text.len);
  return true;
}

static bool read_int(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  uint64_t number;
  if (!tvms_surface_int(r->surface, ref, &number) || number > INT64_MAX)
    return tvms_sched_reader_expected(r, ref, "a smaller number");
  value->kind = TVMS_VALUE_INT;
  value->number = (int64_t)number;
  return true;
}

static bool read_value(tvms_sched_reader *r, tvms_ref ref, tvms_sched_value *value) {
  switch ((int)node_at(r, ref)->kind) {
  case TVMS_SURF_NAME: return read_name(r, ref, value);
  case TVMS_SURF_INT: return read_int(r, ref, value);
  case TVMS_SURF_FLOAT:
    value->kind = TVMS_VALUE_FLOAT;
    value->real = tvms_surface_float(r->surface, ref);
    return true;
  case TVMS_SURF_STRING:
  case TVMS_SURF_STRINGS: return read_text(r, ref, value);
  case TVMS_SURF_TRUE:
  case TVMS_SURF_FALSE:
    value->kind = TVMS_VALUE_BOOL;
    value->number = node_at(r, ref)->kind == TVMS_SURF_TRUE;
    return true;
  case TVMS_SURF_NONE: return true;
  case TVMS_SURF_LIST:
  case TVMS_SURF_TUPLE: return read_list(r, node_at(r, ref)->a, value);
  case TVMS_SURF_DICT: return read_dict(r, ref, value);
  case TVMS_SURF_UNARY: return read_negative(r, ref, value);
  case TVMS_SURF_SUBSCRIPT: return read_item(r, ref, value);
  case TVMS_SURF_CALL: return read_call(r, ref, value);
  case TVMS_SURF_LAMBDA: *value = tvms_sched_lambda(r, ref); return true;
  default: return tvms_sched_reader_expected(r, ref, "a value");
  }
}

bool tvms_sched_reader_value(tvms_sched_reader *r, tvms_ref ref,
                             tvms_sched_value *value) {
  *value = (tvms_sched_value){.span = tvms_surface_span(r->surface, ref)};
  if (!tvms_memory_enter(&r->context->memory)) {
    tvms_memory_leave(&r->context->memory);
    return tvms_sched_reader_expected(r, ref, "a value that is not nested so deeply");
  }
  bool fine = read_value(r, ref, value);
  value->span = tvms_surface_span(r->surface, ref);
  tvms_memory_leave(&r->context->memory);
  return fine;
}
