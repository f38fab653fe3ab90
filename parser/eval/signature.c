// The arguments of calls bound to signatures.
//
// A call is bound as Python binds it: positional arguments, names, `*` and `**`, then
// defaults. All missing arguments are reported at once, and one that another release
// calls by another name is told its name here. What was wrong makes the call unknown,
// and its handler is not asked.
#include "parser/eval/signature.h"

#include "ir/meant.h"
#include "ir/respell.h"
#include "parser/eval/convert.h"
#include "parser/eval/eval.h"
#include "parser/eval/expr.h"
#include "parser/eval/iterate.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/set.h"
#include "parser/eval/undefined.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---- Binding ----------------------------------------------------------------------------

typedef struct {
  tvms_reader *reader;
  const tvms_signature *signature;
  const char *what;
  tvms_ref call;
  tvms_eval_value *args;
  tvms_ref *refs;
  uint64_t given;
  uint32_t next;              // plain parameter that the next positional argument binds
  tvms_eval_value_vec rest;   // of *args
  tvms_eval_value_vec pairs;  // of **kwargs
  bool known;                 // nothing was spread from an unknown value
  bool sound;                 // nothing was reported
  tvms_ref dtype_ref;         // the keyword that put_dtype_first has bound
  unsigned traits;            // tvms_trait: how arguments are bound
  bool unknown;               // a keyword that the callee does not have was reported
} binder;

// What is called, in words of the text if it is a dotted name.
static const char *callee_text(const binder *bind) {
  tvms_context *context = bind->reader->context;
  tvms_span span =
      tvms_reader_span_of(bind->reader, tvms_reader_at(bind->reader, bind->call)->a);
  const char *text = bind->reader->surface->source->text + span.begin;
  size_t len = span.end - span.begin;
  bool dotted = isalpha((unsigned char)text[0]) || text[0] == '_';
  for (size_t i = 0; i < len && dotted; i++) {
    dotted = isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == '.';
  }
  return dotted ? tvms_arena_text(&context->arena, text, len) : bind->what;
}

static bool is_name_of_text(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  const tvms_binding *bound =
      node->kind == TVMS_SURF_NAME ? tvms_scope_lookup(reader, node->a) : NULL;
  return bound && bound->value.kind == TVMS_EVAL_STR;
}

// `R.reshape(x, 256, 8)`: the arguments from the one that wants several values on belong
// together.
static void explain_spread(binder *bind, tvms_diag *diag) {
  static const char *const several[] = {"shape", "axes", "bindings", "tensors", "args"};
  tvms_reader *reader = bind->reader;
  tvms_diags *diags = &reader->context->diags;
  for (uint32_t i = 0; i < bind->signature->plain; i++) {
    const char *name =
        tvms_symbol_text(reader->context, bind->signature->params[i].name);
    bool here = false;
    for (size_t k = 0; k < sizeof several / sizeof several[0]; k++) {
      here = here || strcmp(name, several[k]) == 0;
    }
    bool spread = here && bind->given >> i & 1
                  && (bind->args[i].kind == TVMS_EVAL_INT
                      || bind->args[i].kind == TVMS_EVAL_NODE);
    if (!spread) continue;
    tvms_span span = tvms_reader_span_of(reader, bind->refs[i]);
    tvms_surface_each(reader->surface, argument,
                      tvms_reader_at(reader, bind->call)->b) {
      tvms_surf_kind kind = (tvms_surf_kind)tvms_reader_at(reader, argument)->kind;
      if (tvms_reader_at(reader, argument)->begin < span.begin) continue;
      if (kind == TVMS_SURF_KEYWORD || kind == TVMS_SURF_STRING
          || is_name_of_text(reader, argument))
        break;
      span.end = tvms_reader_span_of(reader, argument).end;
    }
    const char *text = reader->surface->source->text + span.begin;
    bool tuple = strcmp(name, "shape") == 0 || strcmp(name, "args") == 0
                 || strcmp(name, "tensors") == 0;
    char open = tuple ? '(' : '[', shut = tuple ? ')' : ']';
    int len = (int)(span.end - span.begin);
    tvms_diag_remark(diags, diag, "'%s' is one argument: write %c%.*s%c", name, open,
                     len, text, shut);
    tvms_diag_fix(diags, diag, span, false, "%c%.*s%c", open, len, text, shut);
    if (!tvms_trial_is_muted(diags)) diag->span = span;
    return;
  }
}

// `R.Tensor(8, 16)`, `T.axis.remap("SS", i, j)`: the next of several values stands where the data
// type would. False if that is not so.
static bool report_spread(binder *bind) {
  static const struct {
    const char *param, *what, *expected;
    uint8_t next;  // kind of the value behind the first one
  } rows[] = {
      {"shape", "argument 'shape'", "a tuple or list of dimensions", TVMS_EVAL_INT},
      {"bindings", "argument 'bindings'", "a list of loop variables", TVMS_EVAL_NODE},
  };
  tvms_reader *reader = bind->reader;
  for (uint32_t i = 0; i + 1 < bind->signature->plain; i++) {
    if (bind->signature->params[i + 1].name != TVMS_SYM_dtype
        || (bind->given >> i & 3) != 3)
      continue;
    tvms_eval_value first = bind->args[i];
    bool single =
        first.kind == TVMS_EVAL_INT
        || (first.kind == TVMS_EVAL_NODE && !tvms_dtype_is_void(first.as.node->dtype));
    const char *name =
        tvms_symbol_text(reader->context, bind->signature->params[i].name);
    unsigned next = bind->args[i + 1].kind;
    for (size_t k = 0; single && k < sizeof rows / sizeof *rows; k++) {
      bool several = next == rows[k].next || next == TVMS_EVAL_NODE;
      if (strcmp(rows[k].param, name) != 0 || !several) continue;
      tvms_diag *diag =
          tvms_reader_report(reader, wrong_type, bind->refs[i], rows[k].what,
                             rows[k].expected, tvms_eval_describe(reader, first));
      explain_spread(bind, diag);
      bind->sound = false;
      return true;
    }
  }
  return false;
}

static void too_many(binder *bind, tvms_ref ref) {
  uint32_t most = bind->signature->plain;
  if (bind->sound) {
    tvms_diag *diag = tvms_reader_report(bind->reader, too_many_arguments, ref,
                                         callee_text(bind), most, most == 1 ? "" : "s");
    explain_spread(bind, diag);
  }
  bind->sound = false;
}

static void put_positional(binder *bind, tvms_eval_value value, tvms_ref ref) {
  if (bind->next < bind->signature->plain) {
    uint32_t i = bind->next++;
    bind->args[i] = value;
    bind->refs[i] = ref;
    bind->given |= (uint64_t)1 << i;
  } else if (bind->signature->rest >= 0) {
    tvms_vec_push(&bind->reader->context->memory, &bind->rest, value);
  } else {
    too_many(bind, ref);
  }
}

tvms_span tvms_eval_keyword_span(const tvms_reader *reader, tvms_ref ref,
                                 const char *name) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  size_t len = strlen(name);
  const char *text = reader->surface->source->text + span.begin;
  bool cut = tvms_reader_at(reader, ref)->kind == TVMS_SURF_KEYWORD
             && len <= span.end - span.begin && memcmp(text, name, len) == 0;
  return cut ? (tvms_span){span.begin, span.begin + (uint32_t)len} : span;
}

static bool is_one_of(const char *name, const char *const *names, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return true;
  }
  return false;
}

// The parameter that other releases call `name`; NULL if there is none.
static const char *TVMS_NULLABLE renamed(const tvms_reader *reader, const char *name,
                                         const char *const *names, uint32_t count) {
  for (int from = TVMS_DIALECT_OLDEST; from <= TVMS_DIALECT_CURRENT; from++) {
    size_t matched;
    const char *now =
        tvms_spelling_convert(TVMS_SPELLING_KEYWORD, name, strlen(name),
                              (tvms_dialect)from, reader->dialect, &matched);
    if (now && is_one_of(now, names, count)) return now;
  }
  return NULL;
}

// The parameter that ir/meant.def gives for `name`; NULL if the callee has none of them.
static const char *TVMS_NULLABLE meant_keyword(const char *name,
                                               const char *const *names,
                                               uint32_t count) {
  uint32_t at = 0;
  for (const char *meant; (meant = tvms_meant_next(TVMS_MEANT_KEYWORD, name, &at));) {
    if (is_one_of(meant, names, count)) return meant;
  }
  return NULL;
}

// What can be given by name: nothing is like the name that was written.
static void list_parameters(binder *bind, tvms_diag *diag, const char *const *names) {
  char text[160] = "";
  size_t len = 0;
  for (uint32_t i = 0; i < bind->signature->count; i++) {
    if (bind->given >> i & 1
        || bind->signature->params[i].kind > TVMS_PARAM_KEYWORD_ONLY)
      continue;
    size_t more = strlen(names[i]) + 2;
    if (len + more + 5 > sizeof text) {
      len += (size_t)snprintf(text + len, sizeof text - len, ", ...");
      break;
    }
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? ", " : "",
                            names[i]);
  }
  tvms_diags *diags = &bind->reader->context->diags;
  if (bind->signature->count == 1 && strcmp(names[0], "attrs") == 0)
    tvms_diag_remark(diags, diag, "it takes a dict: {\"key\": value}");
  else if (len)
    tvms_diag_remark(diags, diag, "what it takes besides: %s", text);
}

static void unknown_keyword(binder *bind, tvms_sym name, tvms_ref keyword) {
  tvms_reader *reader = bind->reader;
  const tvms_signature *signature = bind->signature;
  const char *names[TVMS_MAX_PARAMS];
  for (uint32_t i = 0; i < signature->count; i++) {
    names[i] = tvms_symbol_text(reader->context, signature->params[i].name);
  }
  const char *text = tvms_symbol_text(reader->context, name);
  tvms_span span = tvms_eval_keyword_span(reader, keyword, text);
  const char *other = renamed(reader, text, names, signature->count);
  if (other && reader->mixed) return;  // marks of several releases were reported
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_unknown_parameter, span, callee_text(bind), text);
  const char *near = other ? other : meant_keyword(text, names, signature->count);
  if (!near) near = tvms_diag_nearest_name(text, names, signature->count);
  if (!near) {
    list_parameters(bind, diag, names);
    return;
  }
  if (other)
    tvms_diag_remark(diags, diag, "TVM %s calls it '%s'",
                     tvms_dialect_text(reader->dialect), other);
  else
    tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  bool written = tvms_reader_at(reader, keyword)->kind == TVMS_SURF_KEYWORD;
  if (written) tvms_diag_fix(diags, diag, span, false, "%s", near);
}

// `keyword`: the KEYWORD, or the dict that `**` spreads; `ref`: the value.
static void put_keyword(binder *bind, tvms_sym name, tvms_eval_value value,
                        tvms_ref ref, tvms_ref keyword) {
  tvms_reader *reader = bind->reader;
  const tvms_signature *signature = bind->signature;
  for (uint32_t i = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    if (param->name != name || param->kind > TVMS_PARAM_KEYWORD_ONLY) continue;
    if (bind->given >> i & 1) {
      if (name == TVMS_SYM_dtype && (!bind->sound || report_spread(bind))) return;
      const char *text = tvms_symbol_text(reader->context, name);
      tvms_diag *diag = tvms_diag_report(
          &reader->context->diags, TVMS_D_repeated_argument,
          tvms_eval_keyword_span(reader, keyword, text), callee_text(bind), text);
      if (i > 0) explain_spread(bind, diag);
      // A tensor in the place of a number: that argument is one too many.
      if (bind->args[i].kind == TVMS_EVAL_NODE && value.kind != TVMS_EVAL_NODE
          && !diag->fixes && !tvms_trial_is_muted(&reader->context->diags)) {
        diag->span = tvms_reader_span_of(reader, bind->refs[i]);
        tvms_diag_remark(
            &reader->context->diags, diag,
            "positional argument %u is '%s', which is given by its name, too", i + 1,
            text);
      }
      bind->sound = false;
    }
    bind->args[i] = value;
    bind->refs[i] = ref;
    bind->given |= (uint64_t)1 << i;
    return;
  }
  if (signature->keywords >= 0) {
    const tvms_name *text = tvms_interner_name(&reader->context->names, name);
    tvms_eval_push_pair(reader, &bind->pairs,
                        tvms_eval_value_text(text->text, text->len), value);
    return;
  }
  if (bind->traits & TVMS_TRAIT_DROPS_DTYPE && name == TVMS_SYM_dtype) return;
  if (!bind->unknown) unknown_keyword(bind, name, keyword);
  bind->unknown = true;
  bind->sound = false;
}

static void spread_positional(binder *bind, tvms_ref ref) {
  tvms_ref inner = tvms_reader_at(bind->reader, ref)->a;
  tvms_eval_items items;
  if (!tvms_eval_iterate(bind->reader, tvms_eval(bind->reader, inner), inner, &items)) {
    bind->known = false;
    return;
  }
  for (uint32_t i = 0; i < items.len; i++) {
    put_positional(bind, items.items[i], inner);
  }
}

static void spread_keywords(binder *bind, tvms_ref ref) {
  tvms_ref inner = tvms_reader_at(bind->reader, ref)->a;
  tvms_eval_value dict = tvms_eval(bind->reader, inner);
  if (dict.kind != TVMS_EVAL_DICT) {
    tvms_eval_report_wrong_type(bind->reader, inner, "the operand of '**'", "a dict",
                                dict);
    bind->known = false;
    return;
  }
  for (uint32_t i = 0; i < dict.len; i += 2) {
    tvms_eval_value key = dict.as.items[i];
    if (key.kind != TVMS_EVAL_STR) continue;
    tvms_sym name = tvms_symbol_intern(bind->reader->context, key.as.text, key.len);
    put_keyword(bind, name, dict.as.items[i + 1], inner, inner);
  }
}

// Parameters that take a text: a name that nothing binds is one without its quotes.
static bool takes_text(const binder *bind, const tvms_param *param) {
  static const char *const names[] = {
      "dtype",     "out_dtype",   "name",    "thread", "scope",
      "kinds",     "data_layout", "layout",  "target", "name_prefix",
      "name_hint", "func_name",   "attr_key"};
  if (param->value.kind == TVMS_EVAL_STR) return true;
  const char *text = tvms_symbol_text(bind->reader->context, param->name);
  const char *callee = callee_text(bind);
  bool external = callee && (strstr(callee, "packed") || strstr(callee, "extern"));
  return is_one_of(text, names, sizeof names / sizeof names[0])
         || (external && strncmp(text, "func", 4) == 0);
}

// `ret_type=both`.
static void explain_unquoted(binder *bind, tvms_ref ref, uint32_t i) {
  tvms_reader *reader = bind->reader;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *last = diags->last;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_span span = tvms_reader_span_of(reader, ref);
  bool undefined = last && last->id == TVMS_D_undefined_name && !last->notes
                   && last->source == diags->source && last->span.begin == span.begin;
  if (!undefined || tvms_trial_is_muted(diags) || i >= bind->signature->count) return;
  bool word = node->kind == TVMS_SURF_NAME || node->kind == TVMS_SURF_ATTRIBUTE;
  if (!word || !takes_text(bind, &bind->signature->params[i])) return;
  tvms_eval_offer_quotes(reader, last, span);
}

static uint32_t index_of(const binder *bind, tvms_sym name) {
  uint32_t i = 0;
  while (i < bind->signature->count && bind->signature->params[i].name != name) {
    i++;
  }
  return i;
}

static void put_argument(binder *bind, tvms_ref ref, bool operands) {
  tvms_reader *reader = bind->reader;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (ref == bind->dtype_ref) return;
  switch (node->kind) {
  case TVMS_SURF_KEYWORD: {
    tvms_sym name = node->a;
    tvms_ref inner = node->b;
    tvms_eval_value value = tvms_eval(reader, inner);
    if (!tvms_eval_value_is_known(value))
      explain_unquoted(bind, inner, index_of(bind, name));
    put_keyword(bind, name, value, inner, ref);
    break;
  }
  case TVMS_SURF_STAR: spread_positional(bind, ref); break;
  case TVMS_SURF_DOUBLE_STAR: spread_keywords(bind, ref); break;
  case TVMS_SURF_BAD: bind->known = false; break;
  default: {
    tvms_eval_value value =
        operands ? tvms_eval_operand(reader, ref) : tvms_eval(reader, ref);
    if (!tvms_eval_value_is_known(value)) explain_unquoted(bind, ref, bind->next);
    put_positional(bind, value, ref);
  }
  }
}

static void put_rest(binder *bind) {
  tvms_reader *reader = bind->reader;
  const tvms_signature *signature = bind->signature;
  if (signature->rest >= 0) {
    tvms_eval_value *items =
        tvms_eval_keep_items(reader, bind->rest.items, bind->rest.len);
    bind->args[signature->rest] =
        tvms_eval_value_items(TVMS_EVAL_TUPLE, items, bind->rest.len);
    tvms_vec_fini(&reader->context->memory, &bind->rest);
  }
  if (signature->keywords >= 0) {
    bind->args[signature->keywords] =
        tvms_eval_make_dict(reader, &bind->pairs, bind->call);
    tvms_vec_fini(&reader->context->memory, &bind->pairs);
  }
}

void tvms_eval_report_missing_argument(tvms_reader *reader, tvms_ref ref,
                                       const char *what, const char *name) {
  char quoted[80];
  snprintf(quoted, sizeof quoted, "'%s'", name);
  tvms_reader_report(reader, missing_argument, tvms_reader_callee(reader, ref), what,
                     "", quoted);
}

// What an argument that was reported stands for is not known: it may be two. One of a wrong kind is
// one.
static bool has_misread(const binder *bind) {
  const tvms_diag *last = bind->reader->context->diags.last;
  if (!last || last->id == TVMS_D_wrong_type) return false;
  for (uint32_t i = 0; i < bind->signature->count; i++) {
    if (bind->given >> i & 1 && !tvms_eval_value_is_known(bind->args[i])
        && tvms_reader_was_misread(bind->reader,
                                   tvms_reader_span_of(bind->reader, bind->refs[i])))
      return true;
  }
  return false;
}

// Required arguments that are not given become unknown, and are reported all at once.
static void put_defaults(binder *bind) {
  char missing[160] = "";
  size_t len = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < bind->signature->count; i++) {
    const tvms_param *param = &bind->signature->params[i];
    if (bind->given >> i & 1 || param->kind > TVMS_PARAM_KEYWORD_ONLY) continue;
    bind->args[i] = param->value;
    if (!param->required) continue;
    const char *name = tvms_symbol_text(bind->reader->context, param->name);
    int more = snprintf(missing + len, sizeof missing - len, "%s'%s'",
                        count ? ", " : "", name);
    len += (size_t)more;
    if (len >= sizeof missing) len = sizeof missing - 1;
    count++;
  }
  if (!count || !bind->sound || !bind->known) return;
  if (has_misread(bind)) return;
  tvms_reader_report(bind->reader, missing_argument,
                     tvms_reader_callee(bind->reader, bind->call), callee_text(bind),
                     count > 1 ? "s" : "", missing);
  bind->sound = false;
}

// Whether slices among the arguments are operands: vectors, not regions.
static bool takes_operands(const tvms_reader *reader, unsigned traits, tvms_ref call) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_arguments_are_operands)
      || traits & TVMS_TRAIT_REGIONS)
    return false;
  tvms_ref callee = tvms_reader_at(reader, call)->a;
  return tvms_reader_at(reader, callee)->kind == TVMS_SURF_ATTRIBUTE;
}

// `dtype=` of a call whose first parameter it is stands before the positional arguments.
static void put_dtype_first(binder *bind) {
  if (!bind->signature->count || bind->signature->params[0].name != TVMS_SYM_dtype)
    return;
  tvms_surface_each(bind->reader->surface, ref,
                    tvms_reader_at(bind->reader, bind->call)->b) {
    const tvms_surf node = *tvms_reader_at(bind->reader, ref);
    if (node.kind != TVMS_SURF_KEYWORD || node.a != TVMS_SYM_dtype) continue;
    put_positional(bind, tvms_eval(bind->reader, node.b), node.b);
    bind->dtype_ref = ref;
    return;
  }
}

tvms_eval_value tvms_row_answer(tvms_reader *reader, const tvms_call_args *call) {
  const tvms_call_args *outer = reader->call;
  reader->call = call;
  tvms_eval_value result = call->row->handler(reader, call);
  reader->call = outer;
  return result;
}

tvms_eval_value tvms_row_call_with(tvms_reader *reader, const tvms_row *row,
                                   const tvms_eval_value *given, uint32_t count,
                                   tvms_ref ref) {
  const tvms_signature *signature = tvms_row_signature(reader, row);
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  for (uint32_t i = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    args[i] = i < count ? given[i] : param->value;
    refs[i] = ref;
    if (i < count) continue;
    if (param->kind == TVMS_PARAM_REST) {
      args[i] = tvms_eval_value_items(TVMS_EVAL_TUPLE, NULL, 0);
    } else if (param->required) {
      tvms_eval_report_missing_argument(reader, ref,
                                        tvms_symbol_text(reader->context, row->name),
                                        tvms_symbol_text(reader->context, param->name));
      return tvms_reader_failed(reader);
    }
  }
  tvms_call_args call = {
      .row = row, .signature = signature, .ref = ref, .args = args, .refs = refs};
  return tvms_row_answer(reader, &call);
}

bool tvms_signature_bind(tvms_reader *reader, const tvms_signature *signature,
                         const char *what, unsigned traits, tvms_ref call,
                         tvms_eval_value *args, tvms_ref *refs, uint64_t *given) {
  binder bind = {.reader = reader,
                 .signature = signature,
                 .what = what,
                 .call = call,
                 .args = args,
                 .refs = refs,
                 .traits = traits,
                 .known = true,
                 .sound = true};
  bool operands = takes_operands(reader, traits, call);
  for (uint32_t i = 0; i < signature->count; i++) {
    refs[i] = call;
  }
  put_dtype_first(&bind);
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    put_argument(&bind, ref, operands);
  }
  put_rest(&bind);
  if (bind.sound && bind.known) (void)report_spread(&bind);
  put_defaults(&bind);
  *given = bind.given;
  return bind.known && bind.sound;
}

bool tvms_signature_bind_method(tvms_reader *reader, const char *signature,
                                const char *what, tvms_ref call,
                                tvms_eval_value *args) {
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  return tvms_signature_bind(reader, tvms_signature_of_method(reader, signature), what,
                             0, call, args, refs, &given);
}

// ---- What is bound ----------------------------------------------------------------------

static int32_t param_index(tvms_reader *reader, const tvms_call_args *call,
                           tvms_sym name) {
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  for (uint32_t i = 0; i < signature->count; i++) {
    if (signature->params[i].name == name) return (int32_t)i;
  }
  return -1;
}

tvms_eval_value tvms_args_get(tvms_reader *reader, const tvms_call_args *call,
                              tvms_sym name) {
  int32_t i = param_index(reader, call, name);
  return i < 0 ? TVMS_NOTHING : call->args[i];
}

tvms_ref tvms_args_ref(tvms_reader *reader, const tvms_call_args *call, tvms_sym name) {
  int32_t i = param_index(reader, call, name);
  return i < 0 ? call->ref : call->refs[i];
}

bool tvms_args_given(tvms_reader *reader, const tvms_call_args *call, tvms_sym name) {
  int32_t i = param_index(reader, call, name);
  return i >= 0 && (call->given >> i & 1);
}
