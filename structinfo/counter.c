// Trying small sizes until two dimensions differ.
//
// All variables get the same number first, then different ones, in an order that does not
// depend on anything but the two dimensions, so that the answer is the same in every run.
#include "structinfo/counter.h"

#include "ir/walk.h"
#include "structinfo/make.h"
#include "support/strbuf.h"
#include "support/trial.h"

typedef struct {
  tvms_prover *prover;
  tvms_counter_example *example;
  bool too_many;
} search;

static tvms_walk_step see_var(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  search *s = self;
  tvms_counter_example *example = s->example;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  for (uint32_t i = 0; i < example->count; i++) {
    if (example->vars[i] == node) return TVMS_WALK_ON;
  }
  s->too_many = s->too_many || example->count == TVMS_MOST_COUNTER_VARS;
  if (!s->too_many) example->vars[example->count++] = node;
  return TVMS_WALK_ON;
}

static tvms_node *TVMS_NULLABLE number_of(void *data, tvms_node *var) {
  const search *s = data;
  for (uint32_t i = 0; i < s->example->count; i++) {
    if (s->example->vars[i] == var)
      return tvms_int_imm_new(s->prover->unit, var->dtype, s->example->values[i],
                              TVMS_NO_SPAN);
  }
  return NULL;
}

static bool value_of(search *s, tvms_node *dim, int64_t *value) {
  tvms_node *number = tvms_dim_substitute(s->prover->unit, dim, number_of, s);
  return tvms_sinfo_dim_int(tvms_dim_simplify(s->prover, number), value);
}

// Do the two differ for the numbers that the variables have now?
static bool differs(search *s, tvms_node *a, tvms_node *b) {
  tvms_counter_example *example = s->example;
  return value_of(s, a, &example->left) && value_of(s, b, &example->right)
         && example->left >= 0 && example->right >= 0
         && example->left != example->right;
}

bool tvms_dim_counter_example(tvms_prover *prover, tvms_node *a, tvms_node *b,
                              tvms_counter_example *example) {
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 31, 64};
  enum { SIZES = sizeof sizes / sizeof sizes[0] };
  *example = (tvms_counter_example){0};
  search s = {.prover = prover, .example = example};
  tvms_visitor visitor = {.self = &s, .enter = see_var};
  tvms_memory *memory = &prover->unit->context->memory;
  (void)tvms_walk(memory, a, &visitor);
  (void)tvms_walk(memory, b, &visitor);
  if (s.too_many) return false;
  tvms_trial trial;
  tvms_trial_begin(&trial, &prover->unit->context->diags);
  bool found = false;
  for (uint32_t step = 0; step < SIZES && !found; step++) {
    for (uint32_t first = 0; first < SIZES && !found; first++) {
      for (uint32_t i = 0; i < example->count; i++) {
        example->values[i] = sizes[(first + i * step) % SIZES];
      }
      found = differs(&s, a, b);
    }
  }
  tvms_trial_drop(&trial);
  return found;
}

const char *tvms_dim_example_text(const tvms_unit *unit,
                                  const tvms_counter_example *example) {
  tvms_context *context = unit->context;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  for (uint32_t i = 0; i < example->count; i++) {
    tvms_strbuf_printf(&text, "%s%s = %lld", i ? ", " : "",
                       tvms_symbol_text(context, tvms_as_var(example->vars[i])->name),
                       (long long)example->values[i]);
  }
  const char *kept =
      tvms_arena_text(&context->arena, tvms_strbuf_text(&text), text.len);
  tvms_strbuf_fini(&text);
  return kept;
}
