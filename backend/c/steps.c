// Steps of an entry in C (backend/core/entry.h): a line for each, where a later line knows its value as s12.
//
// C compilers take time that grows with the square of a function's length. Steps of an entry of hundreds of tensors
// stand in functions of their own, which hand on through an array what later ones use:
//
//   static int main_part1(const void *args, i32 count, i64 *kept, const char *signature) {
//     const ptr s812 = (ptr)kept[3];
//     ...
#include "backend/c/steps.h"

enum { MOST_STEPS = 1000 };

// ---- One step ----

static bool is_pointer(const tvms_entry *entry, uint32_t at) {
  const tvms_entry_step *step = &entry->steps[at];
  switch (step->kind) {
  case TVMS_ENTRY_ARGUMENTS:
  case TVMS_ENTRY_LOAD_POINTER:
  case TVMS_ENTRY_OFFSET: return true;
  case TVMS_ENTRY_CHOOSE:
    return is_pointer(entry, step->b) && is_pointer(entry, step->c);
  default: return false;
  }
}

static const char *operand(c_emitter *e, const tvms_entry *entry, uint32_t at) {
  return tvms_c_text(e, is_pointer(entry, at) ? "WORD(s%u)" : "s%u", at);
}

static const char *binary(c_emitter *e, const tvms_entry *entry, uint32_t at,
                          const char *sign) {
  const tvms_entry_step *step = &entry->steps[at];
  return tvms_c_text(e, "%s %s %s", operand(e, entry, step->a), sign,
                     operand(e, entry, step->b));
}

static const char *wrapping(c_emitter *e, const tvms_entry_step *step,
                            const char *sign) {
  return tvms_c_text(e, "(i64)((u64)s%u %s (u64)s%u)", step->a, sign, step->b);
}

static const char *helper(c_emitter *e, const tvms_entry_step *step, const char *name) {
  return tvms_c_text(e, "%s(s%u, s%u)", name, step->a, step->b);
}

static const char *value_of(c_emitter *e, const tvms_entry *entry, uint32_t at) {
  const tvms_entry_step *step = &entry->steps[at];
  long long number = step->number;
  const char *at_field = step->field
                             ? tvms_c_text(e, "AT_%s", tvms_layout_name(step->field))
                             : tvms_c_text(e, "%lld", number);
  uint32_t a = step->a, b = step->b;
  switch (step->kind) {
  case TVMS_ENTRY_ARGUMENTS: return "(ptr)args";
  case TVMS_ENTRY_COUNT: return "count";
  case TVMS_ENTRY_NUMBER: return tvms_c_text(e, "%lldll", number);
  case TVMS_ENTRY_LOAD_INT32: return tvms_c_text(e, "*(i32m *)(s%u + %s)", a, at_field);
  case TVMS_ENTRY_LOAD_INT64: return tvms_c_text(e, "*(i64m *)(s%u + %s)", a, at_field);
  case TVMS_ENTRY_LOAD_POINTER:
    return tvms_c_text(e, "*(ptrm *)(s%u + %s)", a, at_field);
  case TVMS_ENTRY_OFFSET: return tvms_c_text(e, "s%u + %lld", a, number);
  case TVMS_ENTRY_ADD: return wrapping(e, step, "+");
  case TVMS_ENTRY_SUB: return wrapping(e, step, "-");
  case TVMS_ENTRY_MUL: return wrapping(e, step, "*");
  case TVMS_ENTRY_GROW_ADD: return helper(e, step, "add_bounded");
  case TVMS_ENTRY_GROW_SUB: return helper(e, step, "sub_bounded");
  case TVMS_ENTRY_GROW_MUL: return helper(e, step, "mul_bounded");
  case TVMS_ENTRY_DIV: return helper(e, step, "div_to_zero");
  case TVMS_ENTRY_MOD: return helper(e, step, "mod_to_zero");
  case TVMS_ENTRY_FLOOR_DIV: return helper(e, step, "div_floor");
  case TVMS_ENTRY_FLOOR_MOD: return helper(e, step, "mod_floor");
  case TVMS_ENTRY_MIN: return tvms_c_text(e, "s%u < s%u ? s%u : s%u", a, b, a, b);
  case TVMS_ENTRY_MAX: return tvms_c_text(e, "s%u > s%u ? s%u : s%u", a, b, a, b);
  case TVMS_ENTRY_BITS_AND: return binary(e, entry, at, "&");
  case TVMS_ENTRY_SIGNED: return tvms_c_text(e, "(i%lld)s%u", number, a);
  case TVMS_ENTRY_UNSIGNED: return tvms_c_text(e, "(u%lld)s%u", number, a);
  case TVMS_ENTRY_REAL: return tvms_c_text(e, "bits_of((f64)s%u)", a);
  case TVMS_ENTRY_EQUAL: return binary(e, entry, at, "==");
  case TVMS_ENTRY_IS:
    return tvms_c_text(e, "%s == %lldll", operand(e, entry, a), number);
  case TVMS_ENTRY_AT_LEAST: return binary(e, entry, at, ">=");
  case TVMS_ENTRY_EITHER: return binary(e, entry, at, "|");
  case TVMS_ENTRY_BOTH: return binary(e, entry, at, "&");
  case TVMS_ENTRY_NOT: return tvms_c_text(e, "!s%u", a);
  default: return tvms_c_text(e, "s%u ? s%u : s%u", a, b, step->c);
  }
}

static void write_step(c_emitter *e, const tvms_entry *entry, uint32_t at) {
  const tvms_entry_step *step = &entry->steps[at];
  if (step->kind < TVMS_ENTRY_CHECK) {
    tvms_c_line(e, "const %s s%u = %s;", is_pointer(entry, at) ? "ptr" : "i64", at,
                value_of(e, entry, at));
    return;
  }
  const char *holds = step->kind == TVMS_ENTRY_CHECK ? tvms_c_text(e, "s%u", step->a)
                                                     : binary(e, entry, at, "==");
  tvms_c_open(e, "if (!(%s))", holds);
  tvms_c_line(e, "return refuse(\"%s\", %s, signature);", step->error,
              tvms_c_literal(e, step->text));
  tvms_c_close(e);
}

// ---- Steps that later ones use ----

static void keep_step(c_steps *s, uint32_t step, uint32_t user) {
  if (step / MOST_STEPS != user && !s->places[step]) s->places[step] = ++s->kept;
}

static void keep_results(c_steps *s) {
  const tvms_entry *entry = s->entry;
  for (uint32_t i = 0; i < entry->contract.results; i++) {
    const tvms_entry_result *r = &entry->results[i];
    if (r->kind == 't') keep_step(s, r->bytes, s->parts);
    for (uint32_t k = 0; k < r->ndim && r->kind == 't'; k++) {
      keep_step(s, r->dims[k], s->parts);
      keep_step(s, r->strides[k], s->parts);
    }
  }
  if (entry->contract.has_workspace) keep_step(s, entry->workspace, s->parts);
}

// What a step of another part uses, and what the call and the results do.
static void plan_kept(c_steps *s, const tvms_member *member) {
  const tvms_entry *entry = s->entry;
  for (uint32_t i = 0; i < entry->count; i++) {
    const tvms_entry_step *step = &entry->steps[i];
    uint32_t used[] = {step->a, step->b, step->c};
    for (uint32_t k = 0; k < 3; k++)
      keep_step(s, used[k], i / MOST_STEPS);
  }
  for (uint32_t i = 0; i < entry->contract.inputs; i++)
    keep_step(s, entry->params[i], s->parts);
  for (uint32_t i = 0; i < member->unit->next_id; i++)
    if (entry->vars[i]) keep_step(s, entry->vars[i] - 1, s->parts);
  keep_results(s);
}

static void take_kept(c_emitter *e, const c_steps *s, uint32_t step) {
  bool pointer = is_pointer(s->entry, step);
  tvms_c_line(e, "const %s s%u = %skept[%u];", pointer ? "ptr" : "i64", step,
              pointer ? "(ptr)(__UINTPTR_TYPE__)" : "", s->places[step] - 1);
}

static void write_part(c_emitter *e, const c_steps *s, uint32_t part) {
  const tvms_entry *entry = s->entry;
  uint32_t begin = part * MOST_STEPS, end = begin + MOST_STEPS;
  if (end > entry->count) end = entry->count;
  tvms_c_open(e,
              "static int %s_part%u(const void *args, i32 count, i64 *kept, const "
              "char *signature)",
              s->name, part);
  tvms_c_line(e, "(void)args, (void)count, (void)kept, (void)signature;");
  bool *taken = tvms_arena_array(&e->context->scratch, bool, entry->count);
  for (uint32_t i = begin; i < end; i++) {
    const tvms_entry_step *step = &entry->steps[i];
    uint32_t used[] = {step->a, step->b, step->c};
    for (uint32_t k = 0; k < 3; k++) {
      if (used[k] >= begin || taken[used[k]]) continue;
      taken[used[k]] = true;
      take_kept(e, s, used[k]);
    }
    write_step(e, entry, i);
    if (s->places[i]) tvms_c_line(e, "kept[%u] = (i64)s%u;", s->places[i] - 1, i);
  }
  tvms_c_line(e, "return 0;");
  tvms_c_close(e);
}

// ---- All ----

c_steps tvms_c_steps_open(c_emitter *e, const tvms_entry *entry,
                          const tvms_member *member) {
  c_steps s = {.entry = entry,
               .name = tvms_symbol_text(e->context, member->name),
               .parts = (entry->count + MOST_STEPS - 1) / MOST_STEPS};
  if (s.parts == 1) return s;
  s.places = tvms_arena_array(&e->context->scratch, uint32_t, entry->count);
  plan_kept(&s, member);
  for (uint32_t i = 0; i < s.parts; i++)
    write_part(e, &s, i);
  return s;
}

void tvms_c_steps_take(c_emitter *e, const c_steps *s) {
  tvms_c_line(e, "static const char signature[] = %s;",
              tvms_c_literal(e, s->entry->signature));
  for (uint32_t i = 0; s->parts == 1 && i < s->entry->count; i++)
    write_step(e, s->entry, i);
  if (s->parts == 1) return;
  tvms_c_line(e, "i64 kept[%u];", s->kept);
  for (uint32_t i = 0; i < s->parts; i++)
    tvms_c_line(e, "if (%s_part%u(args, count, kept, signature)) return -1;", s->name,
                i);
  for (uint32_t i = 0; i < s->entry->count; i++)
    if (s->places[i]) take_kept(e, s, i);
}
