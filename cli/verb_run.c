// `tvms run FILE`: run a function and show what it gives.
#include "cli/files.h"
#include "cli/native.h"
#include "cli/program.h"
#include "interp/prim.h"
#include "runtime/npy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum { SHOWN_ELEMENTS = 6 };

static double number_at(const tvms_tensor *tensor, int64_t at) {
  tvms_scalar item = tvms_tensor_get(tensor, at);
  uint8_t code = tensor->view.dtype.code;
  if (tvms_scalar_kind_is_real(code)) return item.f;
  return code == TVMS_DL_UINT ? (double)(uint64_t)item.i : (double)item.i;
}

static void add_type(tvms_strbuf *out, const tvms_tensor *tensor) {
  char text[TVMS_DTYPE_TEXT];
  tvms_dl_type type = tensor->view.dtype;
  tvms_dtype dtype = {type.code, type.code == TVMS_BOOL ? 1 : type.bits,
                      (int16_t)type.lanes};
  tvms_strbuf_printf(out, "%s[", tvms_dtype_text(dtype, text));
  for (int32_t i = 0; i < tensor->view.ndim; i++) {
    tvms_strbuf_printf(out, i ? ", %lld" : "%lld", (long long)tensor->shape[i]);
  }
  tvms_strbuf_putc(out, ']');
}

// Least, greatest and mean of what is a number, and how many are none.
static void add_statistics(tvms_strbuf *out, const tvms_tensor *tensor) {
  int64_t len = tvms_tensor_len(tensor), nans = 0;
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < len; i++) {
    double value = number_at(tensor, i);
    nans += isnan(value);
    if (isnan(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    sum += value;
  }
  if (len > nans) {
    tvms_strbuf_printf(out, "  min %.6g  max %.6g  mean %.6g", least, greatest,
                       sum / (double)(len - nans));
  }
  if (nans) tvms_strbuf_printf(out, "  %lld NaN", (long long)nans);
}

static void add_number(tvms_strbuf *out, double value) {
  // The sign of NaN says nothing.
  if (isnan(value))
    tvms_strbuf_puts(out, "nan");
  else
    tvms_strbuf_printf(out, "%.6g", value);
}

static void add_elements(tvms_strbuf *out, const tvms_tensor *tensor) {
  int64_t len = tvms_tensor_len(tensor);
  tvms_strbuf_puts(out, "  [");
  for (int64_t i = 0; i < len && i < SHOWN_ELEMENTS; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    add_number(out, number_at(tensor, i));
  }
  tvms_strbuf_puts(out, len > SHOWN_ELEMENTS ? ", ...]" : "]");
}

static void add_shape(tvms_strbuf *out, const tvms_tensor *shape) {
  tvms_strbuf_puts(out, "(");
  for (int32_t i = 0; i < shape->view.ndim; i++) {
    tvms_strbuf_printf(out, i ? ", %lld" : "%lld", (long long)shape->shape[i]);
  }
  tvms_strbuf_puts(out, shape->view.ndim == 1 ? ",)" : ")");
}

// A number as a tensor without dimensions, so that it has a file too.
static tvms_tensor *TVMS_NULLABLE boxed(tvms_heap *heap, tvms_value value) {
  static const tvms_dl_type types[] = {[TVMS_VALUE_INT] = {TVMS_DL_INT, 64, 1},
                                       [TVMS_VALUE_FLOAT] = {TVMS_DL_FLOAT, 64, 1},
                                       [TVMS_VALUE_BOOL] = {TVMS_DL_BOOL, 8, 1}};
  bool number = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_FLOAT
                || value.kind == TVMS_VALUE_BOOL;
  if (!number) return value.kind == TVMS_VALUE_TENSOR ? value.tensor : NULL;
  tvms_tensor *tensor = tvms_tensor_new(heap, types[value.kind], 0, NULL);
  tvms_scalar scalar = {.i = value.i};
  if (tensor) tvms_tensor_set(tensor, 0, scalar);
  return tensor;
}

static void save(tvms_run *run, const char *name, const tvms_tensor *tensor) {
  tvms_strbuf path, file;
  tvms_strbuf_init(&path, &run->context->memory);
  tvms_strbuf_init(&file, &run->context->memory);
  tvms_strbuf_printf(&path, "%s/%s.npy", run->options.out, name);
  tvms_npy_write(&file, tensor);
  tvms_run_worsen(run,
                  tvms_files_create(run, tvms_strbuf_text(&path), file.text, file.len));
  tvms_strbuf_fini(&file);
  tvms_strbuf_fini(&path);
}

static void add_value(tvms_strbuf *out, tvms_value value) {
  switch (value.kind) {
  case TVMS_VALUE_TENSOR:
    add_type(out, value.tensor);
    add_statistics(out, value.tensor);
    add_elements(out, value.tensor);
    break;
  case TVMS_VALUE_SHAPE: add_shape(out, value.tensor); break;
  case TVMS_VALUE_INT: tvms_strbuf_int(out, value.i); break;
  case TVMS_VALUE_BOOL: tvms_strbuf_puts(out, value.i ? "True" : "False"); break;
  case TVMS_VALUE_FLOAT: tvms_strbuf_printf(out, "%.17g", value.f); break;
  case TVMS_VALUE_STR: tvms_strbuf_puts(out, value.text ? value.text : ""); break;
  default: tvms_strbuf_puts(out, "nothing");
  }
}

// One line per value; fields of a tuple are "result.0" and so on.
static void show(tvms_run *run, tvms_heap *heap, const char *name, tvms_value value) {
  if (value.kind == TVMS_VALUE_TUPLE) {
    for (uint32_t i = 0; i < value.tuple->len; i++) {
      char part[256];
      snprintf(part, sizeof part, "%s.%u", name, i);
      show(run, heap, part, value.tuple->items[i]);
    }
    return;
  }
  tvms_strbuf_printf(&run->result, "%s: ", name);
  add_value(&run->result, value);
  tvms_strbuf_putc(&run->result, '\n');
  tvms_tensor *tensor = run->options.out ? boxed(heap, value) : NULL;
  if (tensor) save(run, name, tensor);
}

// R.print: each "{}" of the format is one value; what is left over follows.
static void print_line(void *state, const char *format, const tvms_value *values,
                       uint32_t count) {
  tvms_run *run = state;
  uint32_t used = 0;
  for (const char *at = format; *at; at++) {
    if (used < count && at[0] == '{' && at[1] == '}') {
      add_value(&run->result, values[used++]);
      at++;
    } else {
      tvms_strbuf_putc(&run->result, *at);
    }
  }
  for (; used < count; used++) {
    if (used || *format) tvms_strbuf_putc(&run->result, ' ');
    add_value(&run->result, values[used]);
  }
  tvms_strbuf_putc(&run->result, '\n');
}

// A PrimFunc gives what it writes to.
static void show_written(tvms_run *run, tvms_heap *heap, const tvms_member *entry,
                         const tvms_value *values) {
  uint32_t count = tvms_inputs_param_count(entry), written = 0, shown = 0;
  for (uint32_t i = 0; i < count; i++) {
    written += tvms_inputs_param_is_written(run->context, entry, i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_inputs_param_is_written(run->context, entry, i)) continue;
    char name[64] = "result";
    if (written > 1) snprintf(name, sizeof name, "result.%u", shown++);
    show(run, heap, name, values[i]);
  }
}

static void call_and_show(tvms_run *run, const tvms_module *module,
                          const tvms_member *entry, tvms_heap *heap,
                          tvms_compiled *compiled) {
  uint32_t count = tvms_inputs_param_count(entry);
  tvms_value *values = tvms_arena_array(&run->context->arena, tvms_value, count);
  if (!tvms_run_make_inputs(run, entry, heap, values)) return;
  tvms_interp interp = {.context = run->context, .module = module, .heap = heap};
  tvms_compiled_use(compiled, &interp);
  interp.print = print_line;
  interp.print_state = run;
  tvms_value result;
  tvms_status status = tvms_interp_call(&interp, entry, values, count, &result);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&run->context->memory, status);
  if (status != TVMS_OK) return;
  bool is_prim = entry->function->kind == TVMS_NODE_PRIM_FUNC;
  if (is_prim && result.kind == TVMS_VALUE_NONE)
    show_written(run, heap, entry, values);
  else
    show(run, heap, "result", result);
}

static tvms_status run_source(tvms_run *run, tvms_source *source) {
  tvms_module *module = tvms_run_load_runnable(run, source);
  const tvms_member *entry =
      module ? tvms_runnable_entry(module, run->options.entry) : NULL;
  if (!entry) return TVMS_OK;
  if (run->options.out && mkdir(run->options.out, 0777) != 0 && errno != EEXIST) {
    return tvms_run_complain_io(run, run->options.out);
  }
  tvms_compiled compiled;
  if (!tvms_run_open_compiled(run, module, entry, "interp", true, &compiled))
    return run->status;
  tvms_heap heap;
  tvms_heap_init(&heap, &run->context->memory);
  call_and_show(run, module, entry, &heap, &compiled);
  tvms_heap_fini(&heap);
  tvms_compiled_close(&compiled);
  return TVMS_OK;
}

tvms_status tvms_verb_run(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1) return tvms_run_misused(run, "one file is wanted");
  return tvms_files_read_one(run, run->options.paths.items[0], run_source);
}
