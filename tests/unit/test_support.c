// Memory, names, text, sources and diagnostics.
#include "support/check.h"
#include "support/context.h"
#include "support/diag_ids.h"
#include "support/names.h"
#include "support/strbuf.h"
#include "support/trial.h"
#include "support/vec.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static tvms_context context;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(support, .init = open_context, .fini = close_context);

Test(support, names_of_the_tables_have_their_constants) {
  cr_assert_eq(tvms_symbol_intern(&context, "prim_func", 9), TVMS_SYM_prim_func);
  cr_assert_str_eq(tvms_symbol_text(&context, TVMS_SYM_prim_func), "prim_func");
  for (uint32_t i = 1; i <= tvms_names.count; i++) {
    const tvms_name *name = &tvms_names.names[i];
    cr_assert_eq(tvms_interner_find(&context.names, name->text, name->len), i, "%s",
                 name->text);
  }
}

Test(support, equal_texts_get_equal_ids_and_others_do_not) {
  char text[32];
  tvms_sym ids[5000];
  for (int i = 0; i < 5000; i++) {
    int len = snprintf(text, sizeof text, "made_up_%d", i);
    ids[i] = tvms_symbol_intern(&context, text, (size_t)len);
    cr_assert_gt(ids[i], tvms_names.count);
  }
  for (int i = 0; i < 5000; i++) {
    int len = snprintf(text, sizeof text, "made_up_%d", i);
    cr_assert_eq(tvms_symbol_intern(&context, text, (size_t)len), ids[i]);
    cr_assert_str_eq(tvms_symbol_text(&context, ids[i]), text);
    cr_assert(i == 0 || ids[i] != ids[i - 1]);
  }
  cr_assert_eq(tvms_interner_find(&context.names, "never seen", 10), 0);
}

Test(support, pages_that_a_memory_leaves_are_zero_for_the_next) {
  tvms_region *pages = NULL;
  for (int round = 0; round < 4; round++) {
    tvms_memory memory;
    tvms_memory_init_with(&memory, &pages);
    cr_assert_null(pages);
    for (size_t size = 10; size < 3000000; size *= 3) {
      char *bytes = tvms_memory_alloc(&memory, size);
      for (size_t i = 0; i < size; i++) {
        cr_assert_eq(bytes[i], 0);
        bytes[i] = 'x';
      }
    }
    tvms_memory_fini_leaving(&memory, &pages);
  }
  tvms_memory_free_left(pages);
}

Test(support, arena_memory_is_zeroed_again_after_a_reset) {
  tvms_mark mark = tvms_arena_mark(&context.scratch);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) {
      char *bytes = tvms_arena_alloc(&context.scratch, 1000);
      for (int j = 0; j < 1000; j++) {
        cr_assert_eq(bytes[j], 0);
        bytes[j] = 'x';
      }
    }
    tvms_arena_reset(&context.scratch, mark);
  }
}

Test(support, vectors_and_texts_grow) {
  TVMS_VEC(uint32_t) numbers = {0};
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context.memory);
  for (uint32_t i = 0; i < 1000; i++) {
    tvms_vec_push(&context.memory, &numbers, i);
    tvms_strbuf_int(&text, -(int64_t)i);
  }
  for (uint32_t i = 0; i < 1000; i++) {
    cr_assert_eq(numbers.items[i], i);
  }
  tvms_strbuf_printf(&text, "%s|%d", "end", 42);
  cr_assert_eq(memcmp(tvms_strbuf_text(&text), "0-1-2-3", 7), 0);
  cr_assert_str_eq(tvms_strbuf_text(&text) + text.len - 9, "999end|42");
}

Test(support, blocks_serve_again_and_are_zeroed) {
  enum { COUNT = 64 };
  static const size_t sizes[COUNT / 16] = {1, 50, 3000, 200000};
  char *blocks[COUNT];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      size_t size = sizes[i % 4] + (size_t)i;
      blocks[i] = tvms_memory_alloc(&context.memory, size);
      cr_assert_eq((uintptr_t)blocks[i] % 16, 0);
      for (size_t j = 0; j < size; j++) {
        cr_assert_eq(blocks[i][j], 0);
      }
      memset(blocks[i], 'a' + i % 26, size);
    }
    for (int i = 0; i < COUNT; i++) {
      cr_assert_eq(blocks[i][0], 'a' + i % 26);
      cr_assert_eq(blocks[i][sizes[i % 4] + (size_t)i - 1], 'a' + i % 26);
      tvms_memory_free(&context.memory, blocks[i]);
    }
  }
}

Test(support, a_block_keeps_its_bytes_as_it_grows) {
  size_t used = context.memory.used;
  uint32_t *numbers = NULL;
  uint32_t count = 0;
  for (size_t size = 4; size <= (16u << 20); size = size * 5 / 2 / 4 * 4 + 4) {
    numbers = tvms_memory_realloc(&context.memory, numbers, size);
    for (; count < size / 4; count++) {
      numbers[count] = count;
    }
    cr_assert_eq(context.memory.used, used + size);
  }
  for (uint32_t i = 0; i < count; i++) {
    cr_assert_eq(numbers[i], i);
  }
  tvms_memory_free(&context.memory, numbers);
  cr_assert_eq(context.memory.used, used);
}

// An allocator that gives at most `*user` more blocks.
static void *give_few(void *user, void *block, size_t old_size, size_t size) {
  uint32_t *left = user;
  (void)old_size;
  if (!size) free(block);
  if (!size || !*left) return NULL;
  --*left;
  return realloc(block, size);
}

typedef struct {
  tvms_memory memory;
  void *block;
} growing;

static void grow_block(void *argument) {
  growing *g = argument;
  g->block = tvms_memory_realloc(&g->memory, g->block, 64u << 20);
}

Test(support, a_block_that_cannot_grow_keeps_its_size) {
  uint32_t left = 1;
  growing g = {0};
  tvms_memory_init(&g.memory);
  g.memory.allocate = give_few;
  g.memory.user = &left;
  g.block = tvms_memory_realloc(&g.memory, NULL, 32u << 20);
  cr_assert_eq(g.memory.used, 32u << 20);
  cr_assert_eq(tvms_memory_protect(&g.memory, grow_block, &g), TVMS_OVER_LIMIT);
  cr_assert_eq(g.memory.used, 32u << 20);
  tvms_memory_free(&g.memory, g.block);
  cr_assert_eq(g.memory.used, 0u);
  tvms_memory_fini(&g.memory);
}

Test(support, tables_by_id_begin_with_zeros) {
  TVMS_VEC(uint32_t) table = {0};
  for (uint32_t id = 1; id < 100000; id = id * 3 + 1) {
    tvms_vec_reach(&context.memory, &table, id);
    cr_assert_eq(table.items[id], 0);
    table.items[id] = id;
  }
  cr_assert_eq(table.items[4], 4);
  table.len = 0;
  tvms_vec_reach(&context.memory, &table, 4);
  cr_assert_eq(table.items[4], 0);
}

Test(support, the_least_integer_has_digits) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context.memory);
  tvms_strbuf_int(&text, INT64_MIN);
  cr_assert_str_eq(tvms_strbuf_text(&text), "-9223372036854775808");
}

Test(support, places_count_characters_and_every_line_end) {
  static const char text[] = "\xEF\xBB\xBF"
                             "a\r\n\xC3\xA9x\rlast\n";
  tvms_source *source = tvms_source_create(&context.memory, "t", text, sizeof text - 1);
  tvms_place first = tvms_source_place(&context.memory, source, 3);
  cr_assert_eq(first.line, 1);
  cr_assert_eq(first.column, 1);
  tvms_place second = tvms_source_place(&context.memory, source, 8);
  cr_assert_eq(second.line, 2);
  cr_assert_eq(second.column, 2);
  tvms_place third = tvms_source_place(&context.memory, source, 10);
  cr_assert_eq(third.line, 3);
  tvms_span line = tvms_source_line(&context.memory, source, 3);
  cr_assert_eq(line.end - line.begin, 4);
}

typedef struct {
  int closed;
  int reached;
} unwinding;

static void note_closed(void *what) {
  ((unwinding *)what)->closed++;
}

static void take_too_much(void *argument) {
  unwinding *state = argument;
  tvms_resource resource;
  tvms_memory_hold(&context.memory, &resource, note_closed, state);
  state->reached = 1;
  tvms_memory_alloc(&context.memory, 1 << 20);
  state->reached = 2;
  tvms_memory_release(&context.memory, &resource);
}

Test(support, a_failed_allocation_closes_what_is_open_and_returns) {
  unwinding state = {0};
  context.memory.limit = 64 * 1024;
  cr_assert_eq(tvms_memory_protect(&context.memory, take_too_much, &state),
               TVMS_OVER_LIMIT);
  cr_assert_eq(state.reached, 1);
  cr_assert_eq(state.closed, 1);
  context.memory.limit = 0;
  cr_assert_eq(tvms_memory_protect(&context.memory, take_too_much, &state), TVMS_OK);
  cr_assert_eq(state.reached, 2);
  cr_assert_eq(state.closed, 1);
}

static uint32_t descend(uint32_t levels) {
  uint32_t reached = 0;
  if (tvms_memory_enter(&context.memory))
    reached = levels ? 1 + descend(levels - 1) : 0;
  tvms_memory_leave(&context.memory);
  return reached;
}

static void descend_far(void *argument) {
  *(uint32_t *)argument = descend(1000 * 1000);
}

Test(support, recursion_ends_at_the_limit_and_not_at_the_stack) {
  uint32_t reached = 0;
  context.memory.depth_limit = 200 * 1000;
  cr_assert_eq(tvms_memory_protect_deep(&context.memory, descend_far, &reached),
               TVMS_OK);
  cr_assert_eq(reached, 200 * 1000 - 1);
  cr_assert_eq(context.memory.depth, 0);
}

Test(support, diagnostics_are_sorted_by_place) {
  for (uint32_t i = 0; i < 100; i++) {
    uint32_t at = (i * 37) % 100;
    tvms_diag_report(&context.diags, TVMS_D_too_deep, (tvms_span){at, at + 1}, i);
  }
  tvms_diags_sort(&context.diags);
  uint32_t expected = 0;
  for (tvms_diag *diag = context.diags.first; diag; diag = diag->next) {
    cr_assert_eq(diag->span.begin, expected++);
  }
  cr_assert_eq(expected, 100);
  cr_assert_eq(context.diags.errors, 100);
}

Test(support, nearest_name_helps_only_when_near) {
  static const char *const names[] = {"serial", "parallel", "vectorized"};
  cr_assert_str_eq(tvms_diag_nearest_name("paralel", names, 3), "parallel");
  cr_assert_null(tvms_diag_nearest_name("banana", names, 3));
}

// Codes are what people search for: two diagnostics never share one.
Test(support, diagnostic_codes_are_unique_and_explained) {
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    const tvms_diag_row *row = tvms_diag_row_of((tvms_diag_id)i);
    cr_assert_gt(strlen(row->explanation), 20, "%s", row->name);
    cr_assert_gt(strlen(row->format), 0, "%s", row->name);
    for (uint32_t j = 0; j < i; j++) {
      cr_assert_neq(row->code, tvms_diag_row_of((tvms_diag_id)j)->code, "%s",
                    row->name);
    }
  }
}

// Looks at the frame that opened the resource, from deep enough to overwrite it if it
// were gone.
static void close_local(void *what) {
  volatile char below[4096];
  memset((char *)(uintptr_t)below, 0xAA, sizeof below);
  int *counter = *(int **)what;
  ++*counter;
}

static void fail_with_local(void *argument) {
  int *counter = argument;
  tvms_resource resource;
  tvms_memory_hold(&context.memory, &resource, close_local, &counter);
  tvms_memory_unwind(&context.memory, TVMS_OVER_LIMIT);
}

Test(support, resources_are_closed_while_their_frames_live) {
  int closed = 0;
  cr_assert_eq(tvms_memory_protect(&context.memory, fail_with_local, &closed),
               TVMS_OVER_LIMIT);
  cr_assert_eq(closed, 1);
  cr_assert_eq(context.memory.resources, NULL);
}

static tvms_diag *report_at(uint32_t begin, tvms_diag_id id) {
  tvms_span span = {begin, begin + 1};
  if (id == TVMS_D_too_deep) return tvms_diag_report(&context.diags, id, span, 1u);
  return tvms_diag_report(&context.diags, id, span, "a text");
}

static void check_what_is_wrong(void *argument) {
  const int *number = argument;
  TVMS_CHECK(*number == 1);
}

Test(support, a_failed_check_ends_the_call_where_that_is_asked_for) {
  int number = 2;
  context.memory.catches_checks = true;
  cr_assert_eq(tvms_memory_protect(&context.memory, check_what_is_wrong, &number),
               TVMS_INTERNAL);
  cr_assert_not_null(strstr(context.memory.defect, "*number == 1"));
  number = 1;
  cr_assert_eq(tvms_memory_protect(&context.memory, check_what_is_wrong, &number),
               TVMS_OK);
}

Test(support, a_trial_is_kept_or_dropped) {
  tvms_diags *diags = &context.diags;
  tvms_trial outer, inner;
  report_at(1, TVMS_D_too_deep);
  tvms_trial_begin(&outer, diags);
  cr_assert_eq(diags->errors, 0, "a trial begins without findings");
  report_at(2, TVMS_D_too_deep);
  tvms_trial_begin(&inner, diags);
  report_at(3, TVMS_D_too_deep);
  cr_assert_eq(diags->errors, 1);
  tvms_trial_drop(&inner);
  report_at(4, TVMS_D_too_deep);
  tvms_trial_keep(&outer);
  cr_assert_eq(diags->errors, 3);
  uint32_t places[3], count = 0;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    places[count++] = diag->span.begin;
  }
  cr_assert_eq(count, 3);
  cr_assert(places[0] == 1 && places[1] == 2 && places[2] == 4);
  cr_assert_eq(diags->last->span.begin, 4);
}

Test(support, a_trial_without_findings_keeps_the_end_of_the_list) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &context.diags);
  tvms_trial_keep(&trial);
  cr_assert_null(context.diags.last);
  report_at(1, TVMS_D_too_deep);
  tvms_trial_begin(&trial, &context.diags);
  tvms_trial_keep(&trial);
  report_at(2, TVMS_D_too_deep);
  cr_assert_eq(context.diags.first->next->span.begin, 2);
}

Test(support, a_trial_gives_the_source_back) {
  tvms_source *source = tvms_source_create(&context.memory, "a", "", 0);
  context.diags.source = source;
  tvms_trial trial;
  tvms_trial_begin(&trial, &context.diags);
  cr_assert_eq(context.diags.source, source);
  context.diags.source = tvms_source_create(&context.memory, "b", "", 0);
  tvms_trial_keep(&trial);
  cr_assert_eq(context.diags.source, source);
}

Test(support, muted_reports_are_not_written_down) {
  tvms_diags *diags = &context.diags;
  tvms_trial_mute(diags);
  tvms_trial_mute(diags);
  tvms_trial_unmute(diags);
  tvms_diag *diag = report_at(1, TVMS_D_too_deep);
  tvms_diag_remark(diags, diag, "evidence");
  cr_assert_null(diag->notes);
  cr_assert_null(diags->first);
  uint32_t muted = tvms_trial_speak(diags);
  report_at(2, TVMS_D_too_deep);
  tvms_trial_mute_again(diags, muted);
  cr_assert(tvms_trial_is_muted(diags));
  report_at(3, TVMS_D_too_deep);
  tvms_trial_unmute(diags);
  cr_assert_eq(diags->errors, 1);
  cr_assert_eq(diags->last->span.begin, 2);
}

Test(support, what_is_said_in_a_muted_trial_is_not_kept) {
  tvms_trial trial;
  tvms_trial_mute(&context.diags);
  tvms_trial_begin(&trial, &context.diags);
  report_at(1, TVMS_D_too_deep);
  cr_assert_eq(context.diags.errors, 1, "a trial counts");
  tvms_trial_keep(&trial);
  tvms_trial_unmute(&context.diags);
  cr_assert_null(context.diags.first);
}

Test(support, findings_of_one_row_and_place_are_forgotten) {
  tvms_diags *diags = &context.diags;
  report_at(1, TVMS_D_unsupported);
  report_at(5, TVMS_D_unsupported);
  report_at(6, TVMS_D_too_deep);
  report_at(7, TVMS_D_unsupported);
  tvms_diags_forget(diags, TVMS_D_unsupported, (tvms_span){4, 8});
  cr_assert_eq(diags->errors, 2);
  cr_assert_eq(diags->first->span.begin, 1);
  cr_assert_eq(diags->last->span.begin, 6);
  tvms_diags_forget(diags, TVMS_D_too_deep, (tvms_span){6, 7});
  cr_assert_eq(diags->last->span.begin, 1);
}
