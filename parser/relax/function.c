// A Relax function: its signature, declared before bodies are read, and its body.
//
// Functions of a module may call each other in any order, so signatures are read first
// and give a declared type; mistakes in them wait until the function itself is read. The
// type of the result is the annotation, unless the body says more.
#include "parser/relax/function.h"

#include "ir/global_symbol.h"
#include "parser/eval/meant_sign.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/relax/evidence.h"
#include "parser/relax/state.h"
#include "parser/relax/stmt.h"
#include "parser/relax/symbols.h"
#include "parser/relax/types.h"
#include "parser/tir/tir.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <string.h>

// ---- States ----

static void open_state(tvms_reader *reader, tvms_relax_state *relax,
                       tvms_prover *prover) {
  *relax = (tvms_relax_state){.outer = tvms_relax_of(reader), .prover = prover};
  tvms_builder_init(&relax->builder, prover);
  reader->states[TVMS_RELAX_ROOM] = relax;
  reader->language = &tvms_relax_language;
}

static void close_state(tvms_reader *reader) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_memory *memory = &reader->context->memory;
  tvms_relax_close_suspects(reader);
  tvms_builder_fini(&relax->builder);
  tvms_vec_fini(memory, &relax->params);
  tvms_vec_fini(memory, &relax->outputs);
  tvms_vec_fini(memory, &relax->unknown_outputs);
  reader->states[TVMS_RELAX_ROOM] = relax->outer;
  if (!relax->outer) reader->language = NULL;
}

// ---- Signature ----

// From 0.26 on a parameter of a primitive type is a variable of shapes as well.
static tvms_node *new_param(tvms_reader *reader, tvms_sym name, tvms_node *type,
                            tvms_span span) {
  tvms_dtype dtype = {0};
  if (tvms_sinfo_is_prim(type)
      && tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir))
    dtype = type->dtype;
  tvms_node *var = tvms_var_new(reader->unit, name, dtype, span);
  var->sinfo = type;
  return var;
}

static bool has_plain_params(tvms_reader *reader, tvms_ref params) {
  bool plain = true;
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    if (param->kind != TVMS_SURF_PARAM) {
      plain = false;
    } else if (param->op != TVMS_OP_PARAM || param->c) {
      // Of a type in the place of a default it is said that the annotation is missing.
      if (param->op != TVMS_OP_PARAM || param->b)
        tvms_reader_report(reader, relax_parameter, ref);
      plain = false;
    }
  }
  return plain;
}

// A type behind '=' is a mistake that is reported, and its variables are meant all the same.
static void define_symbols(tvms_reader *reader, tvms_ref params) {
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    tvms_ref type = param->b ? param->b : param->c;
    if (param->kind == TVMS_SURF_PARAM && type) tvms_relax_define_symbols(reader, type);
  }
}

// A parameter cannot be called like a symbolic variable of the signature. From 0.26 on a
// scalar may: text behind it means the parameter.
static bool clashes(tvms_reader *reader, tvms_sym name, const tvms_node *type,
                    tvms_span span) {
  if (!tvms_scope_binds_here(reader, name)) return false;
  const tvms_binding *symbol = tvms_scope_lookup(reader, name);
  if (symbol->value.kind != TVMS_EVAL_NODE || symbol->value.as.node->sinfo) {
    return false;
  }
  bool behind = symbol->span.begin > span.begin;
  if (behind && tvms_sinfo_is_prim(type)
      && tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir))
    return false;
  tvms_context *context = reader->context;
  tvms_diag *diag = tvms_diag_report(&context->diags, TVMS_D_parameter_clash, span,
                                     tvms_symbol_text(context, name));
  tvms_diag_note(&context->diags, diag, symbol->span,
                 "the symbolic variable is defined here");
  return true;
}

// A variable `name: T.int64` may be used in shapes before its own place.
static void read_param(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf param = *tvms_reader_at(reader, ref);
  tvms_span span = tvms_reader_span_of(reader, ref);
  uint32_t len = tvms_interner_name(&reader->context->names, param.a)->len;
  tvms_span name_span = {span.begin, span.begin + len};
  tvms_node *type = NULL;
  if (param.b) {
    type = tvms_relax_annotation(reader, param.b);
  } else {
    const char *text = tvms_symbol_text(reader->context, param.a);
    tvms_diag *diag = tvms_reader_report(reader, untyped_parameter, ref, text);
    if (!tvms_eval_explain_untyped(reader, diag, ref))
      tvms_diag_remark(&reader->context->diags, diag,
                       "as in %s: R.Tensor((n, 4), \"float32\")", text);
  }
  if (!type || clashes(reader, param.a, type, name_span)) {
    reader->failed = true;
    tvms_scope_bind(reader, param.a, TVMS_UNKNOWN, name_span);
    return;
  }
  tvms_node *var = new_param(reader, param.a, type, name_span);
  tvms_vec_push(&reader->context->memory, &tvms_relax_of(reader)->params, var);
  tvms_builder_define(&tvms_relax_of(reader)->builder, type);
  tvms_scope_bind(reader, param.a, tvms_eval_value_node(var), name_span);
}

// Reports a parameter that is called like one before it: Python refuses that.
static bool is_named_twice(tvms_reader *reader, tvms_ref params, tvms_ref last) {
  const tvms_surf param = *tvms_reader_at(reader, last);
  if (!tvms_scope_lookup(reader, param.a)) return false;
  tvms_surface_each(reader->surface, ref, params) {
    if (ref == last) return false;
    const tvms_surf *other = tvms_reader_at(reader, ref);
    if (other->kind != TVMS_SURF_PARAM || other->a != param.a) continue;
    tvms_diags *diags = &reader->context->diags;
    const tvms_name *name = tvms_interner_name(&reader->context->names, param.a);
    tvms_diag *diag =
        tvms_diag_report(diags, TVMS_D_already_defined,
                         (tvms_span){param.begin, param.begin + name->len}, name->text);
    tvms_diag_note(diags, diag, (tvms_span){other->begin, other->begin + name->len},
                   "defined here before");
    reader->short_of_names = reader->unit;
    reader->failed = true;
    return true;
  }
  return false;
}

// Reads parameters and the return annotation in a scope that is open already.
static void read_signature(tvms_reader *reader, const tvms_surf_definition *def) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  relax->param_list = def->params;
  relax->type_params = def->type_params;
  relax->body = def->body;
  if (!has_plain_params(reader, def->params)) reader->failed = true;
  tvms_surface_each(reader->surface, ref, def->type_params) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    tvms_node *var = tvms_var_new(reader->unit, param->a, TVMS_DTYPE(INT, 64),
                                  tvms_reader_span_of(reader, ref));
    tvms_scope_bind(reader, param->a, tvms_eval_value_node(var),
                    tvms_reader_span_of(reader, ref));
  }
  define_symbols(reader, def->params);
  tvms_surface_each(reader->surface, ref, def->params) {
    uint32_t kind = tvms_reader_at(reader, ref)->kind;
    if (kind == TVMS_SURF_PARAM && !is_named_twice(reader, def->params, ref))
      read_param(reader, ref);
    if (kind == TVMS_SURF_BAD)
      tvms_scope_bind_words(reader, tvms_reader_span_of(reader, ref));
  }
  if (def->returns) tvms_relax_define_result_symbols(reader, def->returns);
  if (def->returns) relax->ret_type = tvms_relax_annotation(reader, def->returns);
}

static tvms_node *signature_type(tvms_reader *reader, tvms_node *ret, bool pure) {
  const tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_list params = {relax->params.items, relax->params.len};
  return tvms_sinfo_func_new_of_vars(reader->unit, params, ret, pure);
}

// ---- Declaration ----

static void declare_function(tvms_reader *reader, const tvms_def *of,
                             tvms_member *member) {
  tvms_ref ref = of->ref;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_unit *unit = reader->unit;
  tvms_prover prover;
  tvms_relax_state relax;
  tvms_prover_init(&prover, unit);
  open_state(reader, &relax, &prover);
  // What is wrong with the signature is reported when the function is read.
  tvms_trial_mute(&reader->context->diags);
  bool failed = reader->failed;
  reader->failed = false;
  bool pure = !tvms_decoration_says(&of->decoration, TVMS_RELAX_OPTION_IMPURE);
  tvms_scope_push(reader);
  read_signature(reader, &def);
  tvms_scope_pop(reader);
  if (!reader->failed) {
    tvms_function *function =
        tvms_node_make(unit, FUNCTION, tvms_reader_span_of(reader, ref));
    function->name = def.name;
    function->params = tvms_list_copy(unit, relax.params.items, relax.params.len);
    function->ret = relax.ret_type ? relax.ret_type : tvms_sinfo_object_new(unit);
    function->head.sinfo = signature_type(reader, function->ret, pure);
    member->function = &function->head;
  }
  reader->failed = failed;
  close_state(reader);
  tvms_trial_unmute(&reader->context->diags);
  tvms_prover_fini(&prover);
}

// ---- Definition ----

static bool says_function(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE) return type->kind == TVMS_NODE_SINFO_FUNC;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (says_function(fields.items[i])) return true;
  }
  return false;
}

// Whether a function of the module is returned. If it is the function itself, or one that
// returns this one, its type would get deeper whenever the program is read; so what is
// annotated stays.
static bool returns_members(const tvms_node *value) {
  if (value->kind == TVMS_NODE_SEQ_EXPR) {
    return returns_members(tvms_as_seq_expr(value)->body);
  }
  if (value->kind != TVMS_NODE_TUPLE) return value->kind == TVMS_NODE_GLOBAL_VAR;
  tvms_list fields = tvms_as_tuple(value)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (returns_members(fields.items[i])) return true;
  }
  return false;
}

// The type of the result: that of the body where it says no less than the annotation.
static tvms_node *result_type(tvms_reader *reader, const tvms_node *body) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_node *found = body->sinfo;
  if (relax->ret_type) {
    tvms_sinfo_fit fit = tvms_sinfo_relate(relax->prover, relax->ret_type, found);
    if (fit == TVMS_FIT_NEVER) {
      tvms_context *context = reader->context;
      tvms_diag_report(&context->diags, TVMS_D_return_contradicts, relax->returned_span,
                       tvms_sinfo_describe(reader->unit, found),
                       tvms_sinfo_describe(reader->unit, relax->ret_type));
    }
    if (fit != TVMS_FIT_PROVED) return relax->ret_type;
    if (says_function(relax->ret_type) && returns_members(body)) return relax->ret_type;
  }
  return tvms_builder_erase(&relax->builder, found);
}

static tvms_node *empty_tuple(tvms_reader *reader) {
  tvms_tuple *tuple = tvms_node_make(reader->unit, TUPLE, TVMS_NO_SPAN);
  tuple->head.sinfo = tvms_sinfo_tuple_new(reader->unit, NULL, 0);
  return &tuple->head;
}

// The last statement may be a return that is misspelt, which was reported.
static bool ends_in_misread(const tvms_reader *reader, tvms_ref body) {
  tvms_ref last = 0;
  tvms_surface_each(reader->surface, ref, body) last = ref;
  return last && tvms_reader_at(reader, last)->kind == TVMS_SURF_EXPRESSION
         && tvms_reader_was_misread(reader, tvms_reader_span_of(reader, last));
}

// Whether the text goes on where the function ends, with a line that was refused or a return
// that lost its indentation.
static bool is_cut_off(const tvms_reader *reader, tvms_ref ref) {
  const tvms_source *source = reader->surface->source;
  tvms_span span = tvms_reader_span_of(reader, ref);
  uint32_t at = span.end;
  while (at < source->size && (source->text[at] == ' ' || source->text[at] == '\n')) {
    at++;
  }
  if (strncmp(source->text + at, "return", 6) == 0) return true;
  const tvms_diag *diag = reader->context->diags.first;
  for (; diag; diag = diag->next) {
    if (diag->id == TVMS_D_syntax && diag->source == source
        && diag->span.begin >= span.begin && diag->span.begin <= at)
      return true;
  }
  return false;
}

// Makes the function of what was read, and keeps it in relax->partial; NULL if something of
// it is missing.
static tvms_node *TVMS_NULLABLE finish_function(tvms_reader *reader,
                                                const tvms_surf_definition *def,
                                                tvms_decoration decoration,
                                                tvms_ref ref) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_unit *unit = reader->unit;
  if (!relax->has_return && !relax->gave_up && !ends_in_misread(reader, def->body)
      && !is_cut_off(reader, ref)) {
    tvms_diag_report(&reader->context->diags, TVMS_D_no_return, def->name_span,
                     tvms_symbol_text(reader->context, def->name));
    reader->failed = true;
  }
  bool whole = !reader->failed && relax->returned;
  // Verification has something to say of the bindings that were read, whatever is returned.
  tvms_node *result = relax->returned;
  if (!result) result = empty_tuple(reader);
  tvms_node *body =
      tvms_builder_end_seq(&relax->builder, result, tvms_reader_span_of(reader, ref));
  tvms_function *function =
      tvms_node_make(unit, FUNCTION, tvms_reader_span_of(reader, ref));
  function->name = def->name;
  function->params = tvms_list_copy(unit, relax->params.items, relax->params.len);
  function->ret = whole ? result_type(reader, body) : body->sinfo;
  function->body = body;
  function->attrs = tvms_global_symbol_drop_own(unit, relax->attrs, def->name);
  bool pure = !tvms_decoration_says(&decoration, TVMS_RELAX_OPTION_IMPURE);
  if (pure) function->head.flags |= TVMS_FLAG_PURE;
  if (tvms_decoration_says(&decoration, TVMS_OPTION_PRIVATE))
    function->head.flags |= TVMS_FLAG_PRIVATE;
  if (tvms_decoration_says(&decoration, TVMS_OPTION_UNCHECKED))
    function->head.flags |= TVMS_FLAG_UNCHECKED;
  function->head.sinfo = signature_type(reader, function->ret, pure);
  relax->partial = &function->head;
  return whole && !reader->failed ? &function->head : NULL;
}

// Reads signature and body in a scope of their own.
static tvms_node *TVMS_NULLABLE read_function(tvms_reader *reader, tvms_ref ref,
                                              tvms_decoration decoration) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_relax_of(reader)->is_private =
      tvms_decoration_says(&decoration, TVMS_OPTION_PRIVATE);
  tvms_relax_of(reader)->pure =
      !tvms_decoration_says(&decoration, TVMS_RELAX_OPTION_IMPURE);
  tvms_relax_of(reader)->unchecked =
      tvms_decoration_says(&decoration, TVMS_OPTION_UNCHECKED);
  tvms_scope_push(reader);
  read_signature(reader, &def);
  tvms_builder_begin_seq(&tvms_relax_of(reader)->builder);
  tvms_relax_body(reader, def.body);
  tvms_node *function = finish_function(reader, &def, decoration, ref);
  tvms_scope_pop(reader);
  return function;
}

static void read_member(tvms_reader *reader, const tvms_def *def, tvms_member *member) {
  tvms_prover prover;
  tvms_relax_state relax;
  tvms_prover_init(&prover, reader->unit);
  open_state(reader, &relax, &prover);
  reader->failed = false;
  tvms_node *function = read_function(reader, def->ref, def->decoration);
  // A function that could not be read keeps its declaration for those that call it.
  if (function) member->function = function;
  if (!function) {
    member->partial = relax.partial;
    reader->failed = true;
  }
  close_state(reader);
  tvms_prover_fini(&prover);
}

// ---- Local functions ----

// True if the body calls `name` as a statement or value, as TVM looks for recursion.
static bool calls_itself(tvms_reader *reader, tvms_ref ref, tvms_sym name) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  switch ((int)node->kind) {
  case TVMS_SURF_CALL:
    return tvms_reader_at(reader, node->a)->kind == TVMS_SURF_NAME
           && tvms_reader_at(reader, node->a)->a == name;
  case TVMS_SURF_EXPRESSION:
  case TVMS_SURF_RETURN: return node->a && calls_itself(reader, node->a, name);
  case TVMS_SURF_ASSIGN: return calls_itself(reader, node->b, name);
  case TVMS_SURF_ANN_ASSIGN: return node->c && calls_itself(reader, node->c, name);
  case TVMS_SURF_IF:
    tvms_surface_each(reader->surface, stmt, node->b) {
      if (calls_itself(reader, stmt, name)) return true;
    }
    tvms_surface_each(reader->surface, stmt, node->c) {
      if (calls_itself(reader, stmt, name)) return true;
    }
    return false;
  case TVMS_SURF_WITH:
    tvms_surface_each(reader->surface, stmt, node->b) {
      if (calls_itself(reader, stmt, name)) return true;
    }
    return false;
  default: return false;
  }
}

static bool is_recursive(tvms_reader *reader, const tvms_surf_definition *def) {
  tvms_surface_each(reader->surface, stmt, def->body) {
    if (calls_itself(reader, stmt, def->name)) return true;
  }
  return false;
}

// A variable for a local function that calls itself, with its declared type.
static tvms_node *TVMS_NULLABLE reserve(tvms_reader *reader,
                                        const tvms_surf_definition *def, bool pure) {
  tvms_relax_state relax;
  open_state(reader, &relax, tvms_relax_of(reader)->prover);
  tvms_trial_mute(&reader->context->diags);
  bool failed = reader->failed;
  reader->failed = false;
  tvms_scope_push(reader);
  read_signature(reader, def);
  tvms_scope_pop(reader);
  tvms_node *var = NULL;
  if (!reader->failed) {
    tvms_node *ret =
        relax.ret_type ? relax.ret_type : tvms_sinfo_tuple_new(reader->unit, NULL, 0);
    var = tvms_var_new(reader->unit, def->name, (tvms_dtype){0}, def->name_span);
    var->sinfo = signature_type(reader, ret, pure);
  }
  reader->failed = failed;
  tvms_trial_unmute(&reader->context->diags);
  close_state(reader);
  if (var)
    tvms_scope_bind(reader, def->name, tvms_eval_value_node(var), def->name_span);
  return var;
}

tvms_node *TVMS_NULLABLE tvms_relax_local_function(tvms_reader *reader, tvms_ref ref,
                                                   tvms_decoration decoration,
                                                   tvms_node **reserved) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  decoration.options |= TVMS_OPTION_PRIVATE;
  bool known = tvms_scope_binds_here(reader, def.name);
  *reserved = NULL;
  if (!known && is_recursive(reader, &def)) {
    *reserved = reserve(reader, &def,
                        !tvms_decoration_says(&decoration, TVMS_RELAX_OPTION_IMPURE));
  }
  tvms_relax_state relax;
  open_state(reader, &relax, tvms_relax_of(reader)->prover);
  bool failed = reader->failed;
  reader->failed = false;
  tvms_node *function = read_function(reader, ref, decoration);
  reader->failed = reader->failed || failed;
  close_state(reader);
  return function;
}

const tvms_language tvms_relax_language = {
    .bare_numbers = true,
    .explain = tvms_relax_suspect_name,
    .expand = tvms_relax_expand,
    .declare = declare_function,
    .read = read_member,
};

static const tvms_decorator decorators[] = {
    {TVMS_NS_R,
     TVMS_SYM_function,
     TVMS_DECORATED_FUNCTION,
     &tvms_relax_language,
     0,
     {{TVMS_SYM_pure, TVMS_RELAX_OPTION_IMPURE, true},
      {TVMS_SYM_private, TVMS_OPTION_PRIVATE, false},
      {TVMS_SYM_check_well_formed, TVMS_OPTION_UNCHECKED, true}}},
    {TVMS_NS_R,
     TVMS_SYM_macro,
     TVMS_DECORATED_MACRO,
     NULL,
     0,
     {{TVMS_SYM_hygienic, TVMS_OPTION_UNHYGIENIC, true}}},
};

const tvms_decorators tvms_relax_decorators = {decorators,
                                               sizeof decorators / sizeof *decorators};
