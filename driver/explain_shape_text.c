// Explanations of shapes as lines of text and as JSON.
//
// In text a step stands below the dimension that needs it first; where it is needed again
// its name alone is mentioned. In JSON steps are a list, and refer to each other by index.
#include "driver/explain_shape_text.h"

#include <string.h>

// ---- Text -----------------------------------------------------------------------------------

typedef struct {
  const tvms_shape_explanation *explanation;
  tvms_source *source;
  tvms_strbuf *out;
  TVMS_VEC(bool) shown;         // by step
  TVMS_VEC(uint32_t) waiting;   // steps, the next one last
  TVMS_VEC(const char *) said;  // rules whose words stand above
} writer;

// A rule says its words once.
static bool was_said(writer *w, const tvms_shape_step *step) {
  for (uint32_t i = 0; i < w->said.len; i++) {
    if (strcmp(w->said.items[i], step->rule) == 0) return true;
  }
  tvms_vec_push(w->out->memory, &w->said, step->rule);
  return false;
}

static void write_step(writer *w, const tvms_shape_step *step) {
  tvms_place at = tvms_source_place(w->out->memory, w->source, step->span.begin);
  tvms_strbuf_printf(w->out, "    %s = %s: %s", step->name, step->is, step->rule);
  for (uint32_t i = 0; i < step->from.len; i++) {
    tvms_strbuf_printf(w->out, "%s%s", i ? ", " : " of ",
                       w->explanation->steps.items[step->from.items[i]].name);
  }
  if (step->formula) tvms_strbuf_printf(w->out, ", as %s", step->formula);
  tvms_strbuf_printf(w->out, " (line %u)\n", at.line);
  if (step->words && !was_said(w, step))
    tvms_strbuf_printf(w->out, "        %s\n", step->words);
}

// A step and those that it comes from, depth first.
static void write_chain(writer *w, uint32_t root) {
  tvms_memory *memory = w->out->memory;
  tvms_vec_push(memory, &w->waiting, root);
  while (w->waiting.len) {
    uint32_t index = w->waiting.items[--w->waiting.len];
    const tvms_shape_step *step = &w->explanation->steps.items[index];
    if (w->shown.items[index]) continue;
    w->shown.items[index] = true;
    write_step(w, step);
    for (uint32_t i = step->from.len; i-- > 0;) {
      tvms_vec_push(memory, &w->waiting, step->from.items[i]);
    }
  }
}

static void write_value(writer *w, const tvms_shape_value *value) {
  tvms_place at = tvms_source_place(w->out->memory, w->source, value->span.begin);
  tvms_strbuf_printf(w->out, "%s.%s: %s (line %u)\n", value->function, value->name,
                     value->type, at.line);
  if (!value->root_count) tvms_strbuf_puts(w->out, "  no dimension is known\n");
  uint32_t seen = 0;
  for (uint32_t i = 0; i < w->explanation->steps.len && seen < value->root_count; i++) {
    const tvms_shape_step *step = &w->explanation->steps.items[i];
    if (step->value != value->var) continue;
    seen++;
    tvms_strbuf_printf(w->out, "  %s is %s%s\n", step->name, step->is,
                       w->shown.items[i] ? ", as above" : "");
    write_chain(w, i);
  }
}

static void write_pair(writer *w, const tvms_shape_pair *pair) {
  static const char *const verdicts[] = {"equal", "never equal", "not proved equal"};
  tvms_strbuf_printf(w->out, "  dimension %u: %s and %s: %s", pair->dimension,
                     pair->left, pair->right, verdicts[pair->verdict]);
  if (pair->example && *pair->example)
    tvms_strbuf_printf(w->out, "; with %s they are %lld and %lld", pair->example,
                       (long long)pair->left_value, (long long)pair->right_value);
  else if (pair->verdict == TVMS_DIMS_UNPROVED)
    tvms_strbuf_puts(w->out, "; no counter-example was found");
  tvms_strbuf_putc(w->out, '\n');
}

static void write_comparison(writer *w, const tvms_shape_comparison *comparison) {
  const tvms_shape_value *left = &w->explanation->values.items[comparison->left];
  const tvms_shape_value *right = &w->explanation->values.items[comparison->right];
  tvms_strbuf_printf(w->out, "%s and %s of %s\n", left->name, right->name,
                     left->function);
  if (comparison->ranks_differ)
    tvms_strbuf_puts(w->out, "  the ranks differ, or are not known\n");
  for (uint32_t i = 0; i < comparison->pairs.len; i++) {
    write_pair(w, &comparison->pairs.items[i]);
  }
}

void tvms_explain_shape_text(const tvms_shape_explanation *explanation,
                             tvms_source *source, tvms_strbuf *out) {
  writer w = {.explanation = explanation, .source = source, .out = out};
  for (uint32_t i = 0; i < explanation->steps.len; i++) {
    tvms_vec_push(out->memory, &w.shown, false);
  }
  for (uint32_t i = 0; i < explanation->values.len; i++) {
    write_value(&w, &explanation->values.items[i]);
  }
  for (uint32_t i = 0; i < explanation->comparisons.len; i++) {
    write_comparison(&w, &explanation->comparisons.items[i]);
  }
  if (explanation->left_out) tvms_strbuf_puts(out, "more steps are left out\n");
  tvms_vec_fini(out->memory, &w.shown);
  tvms_vec_fini(out->memory, &w.waiting);
  tvms_vec_fini(out->memory, &w.said);
}

// ---- JSON -----------------------------------------------------------------------------------

static void put_list(tvms_json *json, const char *key) {
  tvms_json_key(json, key);
  tvms_json_open(json, '[');
}

static void put_place(tvms_json *json, tvms_source *source, tvms_span span) {
  tvms_place at = tvms_source_place(json->out->memory, source, span.begin);
  tvms_json_put_int(json, "line", at.line);
  tvms_json_put_int(json, "column", at.column);
}

static void put_step(tvms_json *json, tvms_source *source,
                     const tvms_shape_step *step) {
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "dimension", step->name);
  tvms_json_put_text(json, "is", step->is);
  tvms_json_put_text(json, "rule", step->rule);
  if (step->words) tvms_json_put_text(json, "words", step->words);
  if (step->formula) tvms_json_put_text(json, "formula", step->formula);
  put_place(json, source, step->span);
  put_list(json, "from");
  for (uint32_t i = 0; i < step->from.len; i++) {
    tvms_json_int(json, step->from.items[i]);
  }
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
}

static void put_value(tvms_json *json, tvms_source *source,
                      const tvms_shape_explanation *explanation,
                      const tvms_shape_value *value) {
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "function", value->function);
  tvms_json_put_text(json, "name", value->name);
  tvms_json_put_text(json, "type", value->type);
  put_place(json, source, value->span);
  put_list(json, "dimensions");
  uint32_t seen = 0;
  for (uint32_t i = 0; i < explanation->steps.len && seen < value->root_count; i++) {
    if (explanation->steps.items[i].value != value->var) continue;
    seen++;
    tvms_json_int(json, i);
  }
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
}

static void put_pair(tvms_json *json, const tvms_shape_pair *pair) {
  static const char *const verdicts[] = {"equal", "different", "unproved"};
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "dimension", pair->dimension);
  tvms_json_put_text(json, "left", pair->left);
  tvms_json_put_text(json, "right", pair->right);
  tvms_json_put_text(json, "verdict", verdicts[pair->verdict]);
  if (pair->example) {
    tvms_json_put_text(json, "example", pair->example);
    tvms_json_put_int(json, "left_value", pair->left_value);
    tvms_json_put_int(json, "right_value", pair->right_value);
  }
  tvms_json_close(json, '}');
}

static void put_comparison(tvms_json *json, const tvms_shape_comparison *comparison) {
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "left", comparison->left);
  tvms_json_put_int(json, "right", comparison->right);
  put_list(json, "dimensions");
  for (uint32_t i = 0; i < comparison->pairs.len; i++) {
    put_pair(json, &comparison->pairs.items[i]);
  }
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
}

void tvms_explain_shape_json(const tvms_shape_explanation *explanation,
                             tvms_source *source, tvms_json *json) {
  put_list(json, "values");
  for (uint32_t i = 0; i < explanation->values.len; i++) {
    put_value(json, source, explanation, &explanation->values.items[i]);
  }
  tvms_json_close(json, ']');
  put_list(json, "steps");
  for (uint32_t i = 0; i < explanation->steps.len; i++) {
    put_step(json, source, &explanation->steps.items[i]);
  }
  tvms_json_close(json, ']');
  put_list(json, "comparisons");
  for (uint32_t i = 0; i < explanation->comparisons.len; i++) {
    put_comparison(json, &explanation->comparisons.items[i]);
  }
  tvms_json_close(json, ']');
}
