#include "schedule/trace.h"

#include "schedule/map_text.h"
#include "schedule/table.h"

#include <string.h>

// ---- Values ----

static void write_name(const tvms_sched_value *value, tvms_strbuf *out) {
  char letter = value->kind == TVMS_VALUE_BLOCK  ? 'b'
                : value->kind == TVMS_VALUE_LOOP ? 'l'
                                                 : 'v';
  tvms_strbuf_printf(out, "%c%u", letter, value->name - 1);
}

// What stands between quotes, in Python and in JSON, which have these escapes both.
static void write_escaped(const char *text, tvms_strbuf *out) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      tvms_strbuf_printf(out, "\\%c", c);
    else if (c == '\n')
      tvms_strbuf_puts(out, "\\n");
    else if (c == '\t')
      tvms_strbuf_puts(out, "\\t");
    else if (c < 0x20 || c == 0x7f)
      tvms_strbuf_printf(out, "\\u%04x", c);
    else
      tvms_strbuf_putc(out, *text);
  }
}

static void write_quoted(const char *text, tvms_strbuf *out) {
  tvms_strbuf_putc(out, '"');
  write_escaped(text, out);
  tvms_strbuf_putc(out, '"');
}

// Did blocks have their former names in the module's release?
static bool is_former(const tvms_schedule *schedule, const tvms_sched_row *row) {
  return row->former[0]
         && !tvms_release_has(schedule->module->dialect, TVMS_FACT_blocks_are_sblocks);
}

typedef void value_writer(const tvms_sched_value *value, tvms_strbuf *out);

static void write_items(const tvms_sched_value *list, value_writer *write,
                        tvms_strbuf *out) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    write(&list->items[i], out);
  }
}

static void write_dict(const tvms_sched_value *dict, value_writer *write,
                       tvms_strbuf *out) {
  tvms_strbuf_putc(out, '{');
  for (uint32_t i = 0; i + 1 < dict->len; i += 2) {
    if (i) tvms_strbuf_puts(out, ", ");
    write(&dict->items[i], out);
    tvms_strbuf_puts(out, ": ");
    write(&dict->items[i + 1], out);
  }
  tvms_strbuf_putc(out, '}');
}

// ---- Python ----

static void write_python(const tvms_sched_value *value, tvms_strbuf *out) {
  if (value->name) {
    write_name(value, out);
    return;
  }
  switch (value->kind) {
  case TVMS_VALUE_NONE: tvms_strbuf_puts(out, "None"); break;
  case TVMS_VALUE_INT: tvms_strbuf_int(out, value->number); break;
  case TVMS_VALUE_BOOL: tvms_strbuf_puts(out, value->number ? "True" : "False"); break;
  case TVMS_VALUE_FLOAT: tvms_strbuf_printf(out, "%.17g", value->real); break;
  case TVMS_VALUE_TEXT: write_quoted(value->text, out); break;
  case TVMS_VALUE_LIST:
    tvms_strbuf_putc(out, '[');
    write_items(value, write_python, out);
    tvms_strbuf_putc(out, ']');
    break;
  case TVMS_VALUE_DICT: write_dict(value, write_python, out); break;
  case TVMS_VALUE_LAMBDA: tvms_strbuf_puts(out, value->text); break;
  case TVMS_VALUE_BLOCK:
  case TVMS_VALUE_LOOP:
  default: break;
  }
}

// What a step gave, on the left of its call.
static void write_results(const tvms_sched_value *result, tvms_strbuf *out) {
  if (result->kind == TVMS_VALUE_NONE) return;
  if (result->kind == TVMS_VALUE_LIST) {
    write_items(result, write_python, out);
    if (result->len == 1) tvms_strbuf_putc(out, ',');
    if (!result->len) return;
  } else {
    write_python(result, out);
  }
  tvms_strbuf_puts(out, " = ");
}

// Is the argument left out, as TVM leaves it out?
static bool is_silent(const tvms_sched_param *param, const tvms_sched_value *value) {
  bool none = value->kind == TVMS_VALUE_NONE;
  return none && param->type == TVMS_PARAM_BLOCKS;
}

static void write_argument(const tvms_schedule *schedule, const tvms_sched_param *param,
                           const tvms_sched_value *value, tvms_strbuf *out) {
  bool pair = param->type == TVMS_PARAM_BUFFER && value->kind == TVMS_VALUE_LIST;
  if (param->type == TVMS_PARAM_LOOPS) {
    write_items(value, write_python, out);
    return;
  }
  tvms_strbuf_printf(out, "%s=", param->name);
  // A step that was done has made the map; the text may be JSON, or what a person wrote.
  if (value->map) {
    tvms_sched_map_write_python(schedule->context, value->map,
                                param->type == TVMS_PARAM_RANGES, out);
    return;
  }
  if (!pair) {
    write_python(value, out);
    return;
  }
  tvms_strbuf_putc(out, '(');
  write_items(value, write_python, out);
  tvms_strbuf_putc(out, ')');
}

void tvms_trace_write_python(const tvms_schedule *schedule, uint32_t index,
                             tvms_strbuf *out) {
  const tvms_done_step *step = &schedule->done.items[index];
  write_results(&step->result, out);
  tvms_strbuf_printf(out, "sch.%s(",
                     is_former(schedule, step->row) ? step->row->former
                                                    : step->row->name);
  bool first = true;
  for (uint32_t k = 0; k < step->count; k++) {
    const tvms_sched_param *param = tvms_schedule_param(step->row, k);
    if (is_silent(param, &step->args[k])) continue;
    if (!first) tvms_strbuf_puts(out, ", ");
    first = false;
    write_argument(schedule, param, &step->args[k], out);
  }
  tvms_strbuf_putc(out, ')');
}

// ---- JSON ----

static void write_json(const tvms_sched_value *value, tvms_strbuf *out) {
  if (value->name) {
    tvms_strbuf_putc(out, '"');
    write_name(value, out);
    tvms_strbuf_putc(out, '"');
    return;
  }
  switch (value->kind) {
  case TVMS_VALUE_NONE: tvms_strbuf_puts(out, "null"); break;
  case TVMS_VALUE_INT: tvms_strbuf_int(out, value->number); break;
  case TVMS_VALUE_BOOL: tvms_strbuf_puts(out, value->number ? "true" : "false"); break;
  case TVMS_VALUE_FLOAT: tvms_strbuf_printf(out, "%.17g", value->real); break;
  case TVMS_VALUE_LIST:
    tvms_strbuf_putc(out, '[');
    write_items(value, write_json, out);
    tvms_strbuf_putc(out, ']');
    break;
  case TVMS_VALUE_DICT: write_dict(value, write_json, out); break;
  case TVMS_VALUE_TEXT:
  case TVMS_VALUE_LAMBDA: write_quoted(value->text, out); break;
  case TVMS_VALUE_BLOCK:
  case TVMS_VALUE_LOOP:
  default: break;
  }
}

// A text among the inputs has quotes of its own, since names are texts there, None too.
static void write_input(const tvms_sched_value *value, tvms_strbuf *out) {
  if (value->kind == TVMS_VALUE_NONE && !value->name)
    tvms_strbuf_puts(out, "\"None\"");
  else if (value->kind == TVMS_VALUE_TEXT) {
    tvms_strbuf_puts(out, "\"\\\"");
    write_escaped(value->text, out);
    tvms_strbuf_puts(out, "\\\"\"");
  } else
    write_json(value, out);
}

// A buffer of a block is two items: its index, and 1 where it is written.
static bool write_buffer(const tvms_sched_param *param, const tvms_sched_value *value,
                         tvms_strbuf *out) {
  bool pair = param->type == TVMS_PARAM_BUFFER && value->kind == TVMS_VALUE_LIST
              && value->len == 2 && value->items[0].kind == TVMS_VALUE_TEXT;
  if (!pair) return false;
  write_json(&value->items[1], out);
  tvms_strbuf_puts(out, strcmp(value->items[0].text, "write") == 0 ? ", 1" : ", 0");
  return true;
}

// A function of indices is a text of its own in JSON.
static void write_map(const tvms_schedule *schedule, const tvms_node *map,
                      tvms_strbuf *out) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &schedule->context->memory);
  tvms_sched_map_write_json(schedule->context, schedule->module->dialect, map, &text);
  write_quoted(text.text, out);
  tvms_strbuf_fini(&text);
}

static void write_list(const tvms_schedule *schedule, const tvms_done_step *step,
                       tvms_param_place place, tvms_strbuf *out) {
  bool first = true, attrs = place == TVMS_PLACE_ATTR;
  tvms_strbuf_putc(out, '[');
  for (uint32_t k = 0; k < step->count; k++) {
    const tvms_sched_param *param = tvms_schedule_param(step->row, k);
    const tvms_sched_value *value = &step->args[k];
    if (param->place != place) continue;
    if (!first) tvms_strbuf_puts(out, ", ");
    first = false;
    bool flat = param->type == TVMS_PARAM_LOOPS || param->type == TVMS_PARAM_FACTORS;
    if (write_buffer(param, value, out)) continue;
    if (value->map) {
      write_map(schedule, value->map, out);
      continue;
    }
    if (param->type == TVMS_PARAM_FLAG)
      tvms_strbuf_int(out, value->number);
    else if (param->type == TVMS_PARAM_ACCESS)
      tvms_strbuf_int(out, strcmp(value->text, "write") == 0);
    else if (flat)
      write_items(value, write_input, out);
    else if (param->type == TVMS_PARAM_BLOCKS && value->kind == TVMS_VALUE_NONE)
      tvms_strbuf_puts(out, "[]");
    else if (attrs)
      write_json(value, out);
    else
      write_input(value, out);
  }
  tvms_strbuf_putc(out, ']');
}

// [number of the step, decision] of each step that has one.
static void write_decisions(const tvms_schedule *schedule, tvms_strbuf *out) {
  bool first = true;
  for (uint32_t i = 0; i < schedule->done.len; i++) {
    const tvms_done_step *step = &schedule->done.items[i];
    for (uint32_t k = 0; k < step->count; k++) {
      if (tvms_schedule_param(step->row, k)->place != TVMS_PLACE_DECISION) continue;
      tvms_strbuf_printf(out, "%s[%u, ", first ? "" : ", ", i);
      write_json(&step->args[k], out);
      tvms_strbuf_putc(out, ']');
      first = false;
    }
  }
}

void tvms_trace_write_json(const tvms_schedule *schedule, tvms_strbuf *out) {
  tvms_strbuf_puts(out, "[[");
  for (uint32_t i = 0; i < schedule->done.len; i++) {
    const tvms_done_step *step = &schedule->done.items[i];
    bool former = is_former(schedule, step->row);
    tvms_strbuf_printf(out, "%s[\"%s\", ", i ? ", " : "",
                       former ? step->row->former_kind : step->row->kind);
    write_list(schedule, step, TVMS_PLACE_INPUT, out);
    tvms_strbuf_puts(out, ", ");
    write_list(schedule, step, TVMS_PLACE_ATTR, out);
    tvms_strbuf_puts(out, ", ");
    bool list = step->result.kind == TVMS_VALUE_LIST;
    bool none = step->result.kind == TVMS_VALUE_NONE;
    if (!list) tvms_strbuf_putc(out, '[');
    if (!none) write_json(&step->result, out);
    tvms_strbuf_puts(out, list ? "]" : "]]");
  }
  tvms_strbuf_puts(out, "], [");
  write_decisions(schedule, out);
  tvms_strbuf_puts(out, "]]");
}
