// Imports, and the names of Python modules that TVMScript files mention.
//
// Python is not executed. A dotted name is followed as long as it leads to a namespace
// of TVMScript (`tvm.tirx.exp` is T.exp, `tvm.relax.const` is R.const) or to one of the
// few functions that printed programs use; any other name of an import is a value that
// only Python knows.
#include "parser/python.h"

#include "arith/layout.h"
#include "ir/op.h"
#include "ir/respell.h"
#include "parser/dialect_marks.h"
#include "parser/eval/attribute.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/eval/eval.h"
#include "parser/eval/operator.h"
#include "parser/eval/ops.h"
#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/metadata.h"
#include "parser/python_math.h"
#include "parser/python_module.h"
#include "parser/relax/object.h"
#include "parser/relax/value.h"
#include "parser/room.h"
#include "parser/rows.h"
#include "parser/tile/room.h"
#include "parser/tir/convert.h"
#include "parser/tir/member.h"
#include "parser/tir/room.h"
#include "parser/tir/scalar.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static tvms_eval_value namespace_value(tvms_namespace namespace_) {
  return (tvms_eval_value){.kind = TVMS_EVAL_NAMESPACE, .as.i = namespace_};
}

static tvms_eval_value python_value(tvms_reader *reader, const char *path) {
  uint32_t len = (uint32_t)strlen(path);
  tvms_eval_value value =
      tvms_eval_value_text(tvms_arena_text(&reader->kept, path, len), len);
  value.kind = TVMS_EVAL_PYTHON;
  return value;
}

// True if `prefix` is the first parts of the dotted name `text`; *rest is what follows.
static bool begins(const char *text, const char *prefix, const char **rest) {
  size_t len = strlen(prefix);
  if (strncmp(text, prefix, len) != 0) return false;
  if (text[len] != '\0' && text[len] != '.') return false;
  *rest = text[len] ? text + len + 1 : text + len;
  return true;
}

// Modules that stand for a namespace.
static const struct {
  const char *path;
  tvms_namespace namespace_;
} modules[] = {
    {"tvm.script.ir", TVMS_NS_I},
    {"tvm.script.parser.ir", TVMS_NS_I},
    {"tvm.script.tir", TVMS_NS_T},
    {"tvm.script.parser.tir", TVMS_NS_T},
    {"tvm.script.tirx", TVMS_NS_T},
    {"tvm.script.parser.tirx", TVMS_NS_T},
    {"tvm.tirx.script", TVMS_NS_T},
    {"tvm.tirx.script.builder", TVMS_NS_T},
    {"tvm.tirx.script.parser", TVMS_NS_T},
    {"tvm.script.relax", TVMS_NS_R},
    {"tvm.script.parser.relax", TVMS_NS_R},
    {"tvm.relax.script", TVMS_NS_R},
    {"tvm.relax.script.parser", TVMS_NS_R},
    {"tvm.tirx.layout.Axis", TVMS_NS_Axis},
    {"tvm.relax.op", TVMS_NS_R},
    {"tvm.script.tirx.tile", TVMS_NS_T_tile},
    {"tvm.tirx.script.tile", TVMS_NS_T_tile},
};

// A name below a module that stands for a namespace: `tvm.script.tir.prim_func`.
static bool below_module(tvms_reader *reader, const char *path,
                         tvms_eval_value *value) {
  for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
    const char *rest;
    if (!begins(path, modules[i].path, &rest)) continue;
    *value = namespace_value(modules[i].namespace_);
    if (!*rest) return true;
    if (strchr(rest, '.')) continue;
    tvms_sym name = tvms_symbol_intern(reader->context, rest, strlen(rest));
    const tvms_row *row = tvms_row_find(reader, modules[i].namespace_, name);
    if (!row) continue;
    *value = tvms_namespace_attribute(reader, modules[i].namespace_, name, 0);
    return true;
  }
  return false;
}

// `tvm.tir.floordiv`: what the namespace T has under the same name.
static bool below_tir(tvms_reader *reader, const char *path, tvms_eval_value *value) {
  const char *rest;
  if (!begins(path, "tvm.tir", &rest) && !begins(path, "tvm.tirx", &rest)) return false;
  if (!begins(rest, "op", &rest)) begins(rest, "expr", &rest);
  if (!*rest || strchr(rest, '.')) return false;
  tvms_sym name = tvms_symbol_intern(reader->context, rest, strlen(rest));
  const tvms_row *row = tvms_row_find(reader, TVMS_NS_T, name);
  if (!row || row->kind != TVMS_ROW_CALL) return false;
  *value = (tvms_eval_value){.kind = TVMS_EVAL_CALLABLE, .as.row = row};
  return true;
}

// `tvm.relax.const`: what R has under the same name.
static bool below_relax(tvms_reader *reader, const char *path, tvms_eval_value *value) {
  const char *rest;
  if (!begins(path, "tvm.relax", &rest) || !*rest || strchr(rest, '.')) return false;
  tvms_sym name = tvms_symbol_intern(reader->context, rest, strlen(rest));
  if (name == TVMS_SYM_Tuple) return false;  // the value, not the type
  const tvms_row *row = tvms_row_find(reader, TVMS_NS_R, name);
  if (!row || row->kind != TVMS_ROW_CALL) {
    *value = tvms_relax_operator_named(reader, "R", name);
    return tvms_eval_value_is_known(*value);
  }
  *value = (tvms_eval_value){.kind = TVMS_EVAL_CALLABLE, .as.row = row};
  return true;
}

// `tvm.cuda`, `tvm.runtime.device`: devices, which R has under the same names.
static bool below_runtime(tvms_reader *reader, const char *path,
                          tvms_eval_value *value) {
  const char *rest;
  if (!tvms_relax_of(reader) || !begins(path, "tvm", &rest)) return false;
  begins(rest, "runtime", &rest);
  if (!*rest || strchr(rest, '.')) return false;
  tvms_sym name = tvms_symbol_intern(reader->context, rest, strlen(rest));
  const tvms_row *row = tvms_row_find(reader, TVMS_NS_R, name);
  bool device = row && tvms_row_has(row, TVMS_TRAIT_DEVICE);
  if (device) *value = (tvms_eval_value){.kind = TVMS_EVAL_CALLABLE, .as.row = row};
  return device;
}

// `tvm.tirx.layout.S`: what T has under the same name, and axes.
static bool below_layout(tvms_reader *reader, const char *path,
                         tvms_eval_value *value) {
  const char *rest;
  if (!begins(path, "tvm.tirx.layout", &rest) || !*rest || strchr(rest, '.')) {
    return false;
  }
  tvms_sym name = tvms_symbol_intern(reader->context, rest, strlen(rest));
  if (tvms_row_find(reader, TVMS_NS_T, name)) {
    *value = tvms_namespace_attribute(reader, TVMS_NS_T, name, 0);
    return true;
  }
  if (tvms_row_find(reader, TVMS_NS_layout, name)) {
    *value = tvms_namespace_attribute(reader, TVMS_NS_layout, name, 0);
    return true;
  }
  if (!tvms_layout_axis_known(name)) return false;
  *value = (tvms_eval_value){.kind = TVMS_EVAL_AXIS, .as.sym = name};
  return true;
}

tvms_eval_value tvms_python_name(tvms_reader *reader, const char *path) {
  tvms_eval_value value;
  if (below_layout(reader, path, &value)) return value;
  if (below_runtime(reader, path, &value)) return value;
  if (below_module(reader, path, &value)) return value;
  if (below_tir(reader, path, &value)) return value;
  if (below_relax(reader, path, &value)) return value;
  if (reader->lenient) {
    value = tvms_python_math_constant(path);
    if (tvms_eval_value_is_known(value)) return value;
  }
  return python_value(reader, path);
}

tvms_eval_value tvms_python_attribute(tvms_reader *reader, tvms_eval_value object,
                                      tvms_sym name, tvms_ref ref) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  char *path = tvms_arena_alloc(&reader->values, (size_t)object.len + text->len + 2);
  sprintf(path, "%s.%s", object.as.text, text->text);
  const char *near;
  if (reader->lenient && tvms_python_math_lacks(path, &near)) {
    tvms_diag *diag = tvms_eval_report_attribute(reader, object, name, ref);
    tvms_span last = diag->span;
    if (near) {
      tvms_diag_remark(&reader->context->diags, diag, "did you mean '%s'?", near);
      tvms_diag_fix(&reader->context->diags, diag, last, false, "%s", near);
    }
    return TVMS_UNKNOWN;
  }
  return tvms_python_name(reader, path);
}

// ---- Calls ----------------------------------------------------------------------------------

static tvms_eval_value call_type_var(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "name, *constraints, **kwargs", "TypeVar",
                                  call, args)) {
    return TVMS_UNKNOWN;
  }
  if (args[0].kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call, "the name of a TypeVar", "a string",
                                args[0]);
    return TVMS_UNKNOWN;
  }
  tvms_sym name = tvms_symbol_intern(reader->context, args[0].as.text, args[0].len);
  return (tvms_eval_value){.kind = TVMS_EVAL_TYPE_VAR, .as.sym = name};
}

// An operator that another package registers: "tl.sync_grid".
static bool is_of_others(tvms_eval_value name) {
  static const char *const own[] = {"tir.", "tirx.", "relax."};
  if (tvms_tir_op_find(name.as.text, name.len)) return false;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
    if (strncmp(name.as.text, own[i], strlen(own[i])) == 0) return false;
  }
  return memchr(name.as.text, '.', name.len) != NULL;
}

// tvm.ir.Op.get("tirx.exp"): the operator by its name; of Relax the operator itself.
static tvms_eval_value call_op_get(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "name", "Op.get", call, args))
    return TVMS_UNKNOWN;
  if (args[0].kind != TVMS_EVAL_STR) return args[0];
  tvms_sym name = tvms_symbol_intern(reader->context, args[0].as.text, args[0].len);
  tvms_opcode op = tvms_op_find(name);
  if (op) return tvms_eval_value_node(tvms_op_operator_new(reader->unit, op));
  return reader->lenient && is_of_others(args[0]) ? TVMS_UNKNOWN : args[0];
}

// tvm.tir.all(a, b, …), tvm.tir.any(…).
static tvms_eval_value call_logical(tvms_reader *reader, bool is_and, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *name = is_and ? "all" : "any";
  if (!tvms_signature_bind_method(reader, "*args", name, call, args))
    return TVMS_UNKNOWN;
  if (!args[0].len) {
    tvms_eval_report_missing_argument(reader, call, name, "args");
    return tvms_reader_failed(reader);
  }
  tvms_eval_value value = args[0].as.items[0];
  // It builds nodes in lambdas, too, where `and` does not.
  tvms_evaluator *evaluator = &reader->scopes.items[reader->scopes.len - 1].evaluator;
  tvms_evaluator own = *evaluator;
  *evaluator = TVMS_EVALUATOR_TVM;
  for (uint32_t i = 1; i < args[0].len; i++) {
    value = tvms_eval_logical(reader, is_and, value, args[0].as.items[i], call);
  }
  *evaluator = own;
  return value;
}

// tvm.tir.const(value, dtype): without a dtype that of Python's value.
static tvms_eval_value call_const(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_dtype dtype;
  if (!tvms_signature_bind_method(reader, "value, dtype=None", "const", call, args)) {
    return TVMS_UNKNOWN;
  }
  if (args[1].kind == TVMS_EVAL_NONE && args[0].kind != TVMS_EVAL_STR) {
    tvms_node *node = tvms_eval_to_expr(reader, args[0], call);
    return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
  }
  if (!tvms_eval_to_dtype(reader, args[1], call, &dtype)) return TVMS_UNKNOWN;
  return tvms_tir_dtype_call(reader, dtype, args[0], false, call);
}

// tvm.runtime.convert(value): a constant of Python as one of TVM, anything else as it is.
static tvms_eval_value call_convert(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "value", "convert", call, args))
    return TVMS_UNKNOWN;
  switch (args[0].kind) {
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_INT:
  case TVMS_EVAL_FLOAT: {
    tvms_node *node = tvms_eval_to_expr(reader, args[0], call);
    return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
  }
  case TVMS_EVAL_NODE: return args[0];
  default: return tvms_reader_of_python(reader, tvms_reader_at(reader, call)->a);
  }
}

// Calls what a namespace has under `name` with the arguments of `call`.
static tvms_eval_value call_row_of(tvms_reader *reader, tvms_namespace namespace_,
                                   tvms_sym name, tvms_ref call) {
  const tvms_row *row = tvms_row_find(reader, namespace_, name);
  return tvms_eval_call(
      reader, (tvms_eval_value){.kind = TVMS_EVAL_CALLABLE, .as.row = row}, call);
}

tvms_eval_value tvms_python_call(tvms_reader *reader, tvms_eval_value callee,
                                 tvms_ref call) {
  const char *path = callee.as.text;
  if (strcmp(path, "tvm.ir.load_json") == 0) return tvms_metadata_load(reader, call);
  if (strcmp(path, "typing.TypeVar") == 0) return call_type_var(reader, call);
  if (strcmp(path, "tvm.tir.const") == 0 || strcmp(path, "tvm.tirx.const") == 0) {
    return call_const(reader, call);
  }
  if (strcmp(path, "tvm.target.Target") == 0) {
    return call_row_of(reader, TVMS_NS_T, TVMS_SYM_target, call);
  }
  bool has_device = tvms_release_has(reader->dialect, TVMS_FACT_ir_has_vdevice);
  if (has_device && strcmp(path, "tvm.ir.VDevice") == 0) {
    return call_row_of(reader, TVMS_NS_I, TVMS_SYM_vdevice, call);
  }
  if (strcmp(path, "tvm.relax.Call") == 0) return tvms_relax_call_node(reader, call);
  if (strcmp(path, "tvm.relax.Tuple") == 0) return tvms_relax_tuple_node(reader, call);
  if (strcmp(path, "tvm.ir.Range") == 0) {
    return call_row_of(reader, TVMS_NS_I, TVMS_SYM_Range, call);
  }
  const char *rest;
  bool op_get = strcmp(path, "tvm.ir.Op.get") == 0
                || strcmp(path, "tvm.tir.op.Op.get") == 0
                || strcmp(path, "tvm.tirx.op.Op.get") == 0;
  if (op_get) return call_op_get(reader, call);
  if (begins(path, "tvm.tir", &rest) || begins(path, "tvm.tirx", &rest)) {
    if (strcmp(rest, "all") == 0) return call_logical(reader, true, call);
    if (strcmp(rest, "any") == 0) return call_logical(reader, false, call);
    bool has_call_tir = tvms_release_has(reader->dialect, TVMS_FACT_tir_has_call_tir);
    if (has_call_tir && strcmp(rest, "call_tir") == 0) {
      return tvms_tir_call_tir(reader, call);
    }
  }
  if (reader->lenient) {
    static const char *const converts[] = {"tvm.convert", "tvm.runtime.convert",
                                           "tvm.tir.convert", "tvm.tirx.convert"};
    for (size_t i = 0; i < sizeof converts / sizeof *converts; i++) {
      if (strcmp(path, converts[i]) == 0) return call_convert(reader, call);
    }
    tvms_eval_value value = tvms_python_math_call(reader, path, call);
    if (tvms_eval_value_is_known(value)) return value;
    return tvms_eval_call(reader, TVMS_UNKNOWN, call);
  }
  if (!reader->lenient) tvms_reader_report(reader, python_call, call, path);
  return tvms_reader_failed(reader);
}

const tvms_eval_value_ops tvms_python_name_ops = {
    .attribute = tvms_python_attribute,
    .call = tvms_python_call,
};

// ---- Imports --------------------------------------------------------------------------------

void tvms_python_bind_import(tvms_reader *reader, const char *path, tvms_sym name,
                             tvms_span span) {
  tvms_scope_bind(reader, name, tvms_python_name(reader, path), span);
}

// Of the module that was meant: what is misspelt is reported of Python files.
static const char *path_of(tvms_reader *reader, tvms_sym path) {
  tvms_sym meant =
      reader->lenient ? tvms_python_module_mended(reader->context, path) : path;
  return tvms_symbol_text(reader->context, meant);
}

static void import_module(tvms_reader *reader, tvms_ref alias) {
  const tvms_surf node = *tvms_reader_at(reader, alias);
  const char *path = path_of(reader, node.a);
  if (node.b) {
    tvms_python_bind_import(reader, path, node.b, tvms_reader_span_of(reader, alias));
    return;
  }
  // `import tvm.script` binds `tvm`.
  size_t len = strcspn(path, ".");
  char *first = tvms_arena_text(&reader->kept, path, len);
  tvms_python_bind_import(reader, first,
                          tvms_symbol_intern(reader->context, first, len),
                          tvms_reader_span_of(reader, alias));
}

// `tvm.script.tir` as the release of the file calls it.
static const char *of_release(const tvms_reader *reader, const char *path) {
  const char *last = strrchr(path, '.') + 1;
  size_t matched, len = (size_t)(last - path);
  const char *own =
      tvms_spelling_convert(TVMS_SPELLING_MODULE, last, strlen(last),
                            TVMS_DIALECT_OLDEST, reader->dialect, &matched);
  for (size_t i = 0; own && i < sizeof modules / sizeof modules[0]; i++) {
    if (strncmp(modules[i].path, path, len) == 0
        && strcmp(modules[i].path + len, own) == 0)
      return modules[i].path;
  }
  return path;
}

// The module that was meant by an import of a prefix that leads nowhere, or NULL. Only the
// names of the prefixes are looked at: everything else is Python's.
static const char *TVMS_NULLABLE meant_module(tvms_reader *reader, const char *path,
                                              tvms_sym name) {
  bool prefix = name == TVMS_SYM_I || name == TVMS_SYM_T || name == TVMS_SYM_R;
  // What else Python finds there is its business, but of the package of scripts.
  static const char script[] = "tvm.script.";
  size_t len = reader->lenient ? sizeof script - 1 : strlen("tvm.");
  if (!prefix || strncmp(path, script, len) != 0) return NULL;
  if (reader->lenient && strchr(path + len, '.')) return NULL;
  const char *paths[sizeof modules / sizeof modules[0]];
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
    if (strcmp(modules[i].path, path) == 0) return NULL;
    bool fits = (modules[i].namespace_ == TVMS_NS_I && name == TVMS_SYM_I)
                || (modules[i].namespace_ == TVMS_NS_T && name == TVMS_SYM_T)
                || (modules[i].namespace_ == TVMS_NS_R && name == TVMS_SYM_R);
    if (fits) paths[count++] = modules[i].path;
  }
  const char *near = tvms_diag_nearest_name(path, paths, count);
  return near && name == TVMS_SYM_T ? of_release(reader, near) : near;
}

// The place of the module in `from module import …` behind which the name at `at` stands.
static tvms_span module_before(const tvms_reader *reader, const char *module,
                               uint32_t at) {
  const char *text = reader->surface->source->text;
  size_t len = strlen(module);
  while (at > 0 && (text[at] != ' ' || strncmp(text + at + 1, "import", 6) != 0)) {
    at--;
  }
  bool here = at >= len && memcmp(text + at - len, module, len) == 0;
  return here ? (tvms_span){at - (uint32_t)len, at} : (tvms_span){0, 0};
}

// At the name that is wrong: of the module, said once for all that is imported from it, or of what
// is imported.
static void report_import(tvms_reader *reader, tvms_ref alias, const char *module,
                          const char *name, const char *path, const char *meant) {
  tvms_diags *diags = &reader->context->diags;
  uint32_t begin = tvms_reader_span_of(reader, alias).begin;
  tvms_span span = {begin, begin + (uint32_t)strlen(name)};
  size_t same = strlen(module);
  const char *last = strrchr(meant, '.');
  bool of_module = !(strncmp(meant, module, same) == 0 && meant[same] == '.');
  tvms_span place = of_module ? module_before(reader, module, begin) : span;
  if (!place.end) place = span;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    bool again = diag->id == TVMS_D_misspelt_import && diag->source == diags->source;
    if (again && diag->span.begin == place.begin) return;
  }
  // What Python does is followed in silence, and this is none of its business.
  uint32_t muted = diags->muted;
  if (tvms_file_of(reader)->stage == TVMS_PYTHON_READS) diags->muted = 0;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_misspelt_import, place, path);
  tvms_diag_remark(diags, diag, "did you mean '%s'?", meant);
  bool same_name = last && strcmp(last + 1, name) == 0;
  if (!of_module)
    tvms_diag_fix(diags, diag, span, true, "%s", meant + same + 1);
  else if (same_name && place.begin != span.begin)
    tvms_diag_fix(diags, diag, place, true, "%.*s", (int)(last - meant), meant);
  diags->muted = muted;
}

static void import_from(tvms_reader *reader, const char *module, tvms_ref alias) {
  const tvms_surf node = *tvms_reader_at(reader, alias);
  const char *name = tvms_symbol_text(reader->context, node.a);
  // Packages that bring TVM along hand it on under its name.
  if (reader->lenient && strcmp(name, "tvm") == 0) {
    tvms_python_bind_import(reader, name, node.b ? node.b : node.a,
                            tvms_reader_span_of(reader, alias));
    return;
  }
  const char *handed_on = reader->lenient ? strstr(module, ".tvm.") : NULL;
  if (handed_on) module = handed_on + 1;
  char *path = tvms_arena_alloc(&reader->kept, strlen(module) + strlen(name) + 2);
  sprintf(path, "%s.%s", module, name);
  const char *meant = meant_module(reader, path, node.b ? node.b : node.a);
  if (meant) {
    report_import(reader, alias, module, name, path, meant);
    path = tvms_arena_text(&reader->kept, meant, strlen(meant));
  }
  tvms_python_bind_import(reader, path, node.b ? node.b : node.a,
                          tvms_reader_span_of(reader, alias));
}

void tvms_python_read_import(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  if (node.kind == TVMS_SURF_IMPORT) {
    tvms_surface_each(reader->surface, alias, node.a) {
      import_module(reader, alias);
    }
    return;
  }
  if (!node.a) return;
  const char *module = path_of(reader, node.a);
  if (node.op) {
    if (!tvms_dialect_marks_is_script_module(module, strlen(module))) return;
    char *whole = tvms_arena_alloc(&reader->kept, strlen(module) + sizeof "tvm.");
    sprintf(whole, "tvm.%s", module);
    module = whole;
  }
  tvms_surface_each(reader->surface, alias, node.b) {
    import_from(reader, module, alias);
  }
}

bool tvms_python_is_imported(const tvms_reader *reader, tvms_sym name) {
  const tvms_binding *bound = tvms_scope_lookup(reader, name);
  if (!bound) return false;
  tvms_eval_kind kind = (tvms_eval_kind)bound->value.kind;
  return kind == TVMS_EVAL_NAMESPACE || kind == TVMS_EVAL_CALLABLE
         || kind == TVMS_EVAL_PYTHON;
}

void tvms_python_read_import_anew(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  bool from = node.kind == TVMS_SURF_IMPORT_FROM;
  tvms_surface_each(reader->surface, alias, from ? node.b : node.a) {
    const tvms_surf *name = tvms_reader_at(reader, alias);
    if (tvms_python_is_imported(reader, name->b ? name->b : name->a)) return;
  }
  tvms_python_read_import(reader, stmt);
}

// The namespace that a dotted name stands for; NONE for any other.
static tvms_namespace namespace_of(const char *path) {
  for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
    if (strcmp(modules[i].path, path) == 0) return modules[i].namespace_;
  }
  return TVMS_NS_NONE;
}

enum { LONGEST_PATH = 256 };

// True if an import statement of the file binds a name to the namespace.
static bool is_imported(tvms_reader *reader, tvms_namespace namespace_) {
  char path[LONGEST_PATH];
  tvms_surface_each(reader->surface, ref, reader->surface->body) {
    const tvms_surf *stmt = tvms_reader_at(reader, ref);
    bool from = stmt->kind == TVMS_SURF_IMPORT_FROM;
    if (!from && stmt->kind != TVMS_SURF_IMPORT) continue;
    tvms_surface_each(reader->surface, alias, from ? stmt->b : stmt->a) {
      const tvms_surf *node = tvms_reader_at(reader, alias);
      const char *module = from ? tvms_symbol_text(reader->context, stmt->a) : "";
      snprintf(path, sizeof path, "%s%s%s", module, from ? "." : "",
               tvms_symbol_text(reader->context, node->a));
      if ((from || node->b) && namespace_of(path) == namespace_) return true;
    }
  }
  return false;
}

void tvms_python_bind_prefixes(tvms_reader *reader) {
  static const struct {
    const char *name, *path;
  } prefixes[] = {
      {"I", "tvm.script.ir"},         {"ir", "tvm.script.ir"},
      {"T", "tvm.script.tirx"},       {"tir", "tvm.script.tirx"},
      {"tirx", "tvm.script.tirx"},    {"R", "tvm.script.relax"},
      {"relax", "tvm.script.relax"},  {"tvm", "tvm"},
      {"Tx", "tvm.script.tirx.tile"}, {"Axis", "tvm.tirx.layout.Axis"},
      {"TypeVar", "typing.TypeVar"},
  };
  // A file that imports one of them imports all that it uses.
  bool imports = is_imported(reader, TVMS_NS_I) || is_imported(reader, TVMS_NS_T)
                 || is_imported(reader, TVMS_NS_R);
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    tvms_namespace namespace_ = namespace_of(prefixes[i].path);
    if (imports && strchr("ITR", *prefixes[i].name) && !prefixes[i].name[1]) continue;
    // The metadata section of printed text names `tvm`, which no line of it imports.
    bool section = strcmp(prefixes[i].name, "tvm") == 0
                   && strstr(reader->surface->source->text, "load_json");
    if (reader->lenient && !section) continue;
    if (namespace_ != TVMS_NS_NONE && is_imported(reader, namespace_)) continue;
    tvms_sym name =
        tvms_symbol_intern(reader->context, prefixes[i].name, strlen(prefixes[i].name));
    tvms_python_bind_import(reader, prefixes[i].path, name, (tvms_span){0, 0});
  }
}
