// The library as a host sees it, the headers of include/tvms and libtvms.so and nothing else:
// contexts, sources, diagnostics, programs, text and types.
#include "api_suite.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

API_SUITE;

// ---- Contexts ----

Test(api, options_of_a_newer_version_are_refused) {
  struct {
    tvms_context_options known;
    uint64_t more;
  } newer = {.known = {.size = sizeof newer}};
  tvms_context *other;
  cr_assert_eq(tvms_context_create(&newer.known, &other), TVMS_OK);
  tvms_context_destroy(other);
  newer.more = 1;
  cr_assert_eq(tvms_context_create(&newer.known, &other), TVMS_BAD_ARGUMENT);
  cr_assert_null(other);
  tvms_context_options without_size = {.size = 0};
  cr_assert_eq(tvms_context_create(&without_size, &other), TVMS_BAD_ARGUMENT);
}

Test(api, options_of_an_older_version_leave_defaults) {
  // Only the size and two members, as a host knows that was built long ago.
  tvms_program_print_options options = {
      .size = offsetof(tvms_program_print_options, no_metadata),
      .release = "0.22",
      .no_metadata = true};
  char *text;
  size_t size;
  tvms_program *program = read_text(scale);
  cr_assert_eq(tvms_program_print(program, &options, &text, &size), TVMS_OK);
  cr_assert_not_null(strstr(text, "from tvm.script import tir as T"));
}

Test(api, releases_have_names) {
  cr_assert_str_eq(tvms_release_name(0), "rfc");
  uint32_t count = 0;
  bool found = false;
  for (const char *name; (name = tvms_release_name(count)); count++) {
    found = found || strcmp(name, "0.26") == 0;
  }
  cr_assert(found);
  cr_assert_geq(count, 6u);
}

Test(api, statuses_and_the_version_have_texts) {
  cr_assert_str_eq(tvms_status_name(TVMS_NOT_AVAILABLE), "not available");
  cr_assert_str_eq(tvms_status_name((tvms_status)77), "unknown status");
  cr_assert(tvms_library_version()[0] >= '0' && tvms_library_version()[0] <= '9');
}

// ---- Sources ----

Test(api, places_are_counted_in_characters) {
  tvms_source *source = source_of("a.tvms", "\xEF\xBB\xBF"
                                            "ab\n\xC3\xA4\xE2\x82\xAC x\n");
  tvms_place place = tvms_source_locate(source, 12);
  cr_assert_eq(place.line, 2u);
  cr_assert_eq(place.column, 4u);
  cr_assert_eq(tvms_source_offset(source, place), 12u);
  cr_assert_eq(tvms_source_offset(source, (tvms_place){1, 1}), 3u);
  cr_assert_eq(tvms_source_offset(source, (tvms_place){2, 99}), 13u);
  cr_assert_eq(tvms_source_offset(source, (tvms_place){9, 1}),
               (uint32_t)tvms_source_size(source));
  cr_assert_eq(tvms_source_locate(source, 1000).line, 3u);
}

Test(api, a_source_is_a_copy) {
  char text[] = "x = 1\n", name[] = "b.tvms";
  tvms_source *source;
  cr_assert_eq(tvms_source_add(context, name, text, strlen(text), &source), TVMS_OK);
  text[0] = name[0] = '?';
  cr_assert_str_eq(tvms_source_text(source), "x = 1\n");
  cr_assert_str_eq(tvms_source_name(source), "b.tvms");
}

// ---- Diagnostics ----

Test(api, a_diagnostic_has_code_place_evidence_and_fix) {
  tvms_source *source = source_of("a.tvms", misspelt);
  tvms_program *program;
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  cr_assert_not_null(program);
  const tvms_diag *diag = tvms_diag_first(context);
  cr_assert_not_null(diag);
  cr_assert_null(tvms_diag_next(diag));
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 1u);
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_WARNING), 0u);
  cr_assert_str_eq(tvms_diag_code(diag), "E0201");
  cr_assert_str_eq(tvms_diag_name(diag), "undefined_name");
  cr_assert_eq(tvms_diag_severity(diag), TVMS_SEVERITY_ERROR);
  cr_assert_str_eq(tvms_diag_message(diag), "name 'wid' is not defined");
  cr_assert_eq(tvms_diag_source(diag), source);
  tvms_place place = tvms_source_locate(source, tvms_diag_span(diag).begin);
  cr_assert_eq(place.line, 8u);
  cr_assert_eq(place.column, 16u);
  const tvms_note *note = tvms_diag_notes(diag);
  cr_assert_str_eq(tvms_note_message(note), "did you mean 'wide'?");
  cr_assert_not(tvms_note_span(note, &(tvms_span){0, 0}));
  cr_assert_null(tvms_note_next(note));
  const tvms_fix *fix = tvms_diag_fixes(diag);
  cr_assert_not_null(fix);
  cr_assert_null(tvms_fix_next(fix));
  cr_assert_str_eq(tvms_fix_text(fix), "wide");
  cr_assert_eq(tvms_fix_span(fix).begin, tvms_diag_span(diag).begin);
  cr_assert_not(tvms_fix_is_safe(fix));
}

// The text of a program of corpus/.
static char *corpus(const char *name) {
  static char text[16 * 1024];
  char path[4096];
  snprintf(path, sizeof path, "%s/corpus/%s", getenv("TVMS_SOURCE"), name);
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

Test(api, evidence_has_places_and_fixes_mend_the_text) {
  tvms_source *source = source_of("a.tvms", corpus("mlp_module_as_published.tvms"));
  tvms_program *program;
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  const tvms_note *note = tvms_diag_notes(tvms_diag_first(context));
  tvms_span span;
  cr_assert(tvms_note_span(note, &span));
  cr_assert_null(tvms_note_source(note));
  cr_assert_eq(tvms_source_locate(source, span.begin).line, 43u);
  char *text;
  size_t size;
  uint32_t mended;
  cr_assert_eq(tvms_diag_apply_fixes(context, source, &text, &size, &mended), TVMS_OK);
  cr_assert_eq(mended, 2u);
  tvms_diag_clear(context);
  cr_assert_null(tvms_diag_first(context));
  cr_assert_not_null(read_text(text));
}

Test(api, errors_of_one_source_do_not_concern_the_next) {
  tvms_program *program;
  tvms_source *source = source_of("a.tvms", misspelt);
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  cr_assert_eq(tvms_program_print(program, NULL, &(char *){0}, &(size_t){0}),
               TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  tvms_program *sound = read_text(scale);
  cr_assert_not_null(strstr(print_as(sound, NULL), "def scale("));
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 1u);
  cr_assert_str_eq(tvms_context_message(context), "");
}

Test(api, diagnostics_are_rendered_in_every_format) {
  static const char *const marks[] = {
      [TVMS_FORMAT_TEXT] = "a.tvms:8:16: error[E0201]: name 'wid' is not defined\n",
      [TVMS_FORMAT_JSON] = "\"code\": \"E0201\"",
      [TVMS_FORMAT_GITHUB] = "::error file=a.tvms,line=8",
      [TVMS_FORMAT_SARIF] = "\"ruleId\": \"E0201\"",
      [TVMS_FORMAT_CONCISE] = "a.tvms:8:16: error[E0201]: name 'wid' is not defined\n",
      [TVMS_FORMAT_JSON_LINES] =
          "{\"finding\": {\"file\": \"a.tvms\", \"code\": \"E0201\"",
      [TVMS_FORMAT_GITLAB] = "\"check_name\": \"E0201\"",
      [TVMS_FORMAT_JUNIT] =
          "<testcase classname=\"tvms\" name=\"a.tvms\">\n      <failure",
  };
  tvms_program *program;
  tvms_source *source = source_of("a.tvms", misspelt);
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  for (int format = TVMS_FORMAT_TEXT; format <= TVMS_FORMAT_JUNIT; format++) {
    tvms_diag_render_options options = {.size = sizeof options,
                                        .format = (tvms_diag_format)format};
    char *text;
    size_t size;
    cr_assert_eq(tvms_diag_render(context, &options, &text, &size), TVMS_OK);
    cr_assert_not_null(strstr(text, marks[format]), "%s", text);
    tvms_context_free(context, text);
  }
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 1u);
}

Test(api, codes_and_names_are_explained) {
  char *text;
  size_t size;
  cr_assert_eq(tvms_diag_explain(context, "E0401", &text, &size), TVMS_OK);
  cr_assert_eq(strncmp(text, "error E0401: ", 13), 0);
  cr_assert_eq(tvms_diag_explain(context, "T.grid", &text, &size), TVMS_OK);
  cr_assert_eq(tvms_diag_explain(context, "T.gird", &text, &size), TVMS_BAD_ARGUMENT);
  cr_assert_null(text);
  cr_assert_not_null(strstr(tvms_context_message(context), "T.grid"));
}

// ---- Programs ----

Test(api, definitions_are_found_by_name) {
  tvms_program *program = read_text(model);
  cr_assert_eq(tvms_program_count(program), 1u);
  tvms_definition definition = {.size = sizeof definition};
  cr_assert(tvms_program_definition(program, 0, &definition));
  cr_assert_str_eq(definition.name, "main");
  cr_assert_str_eq(definition.module, "Model");
  cr_assert_eq(definition.kind, TVMS_DEFINITION_FUNCTION);
  tvms_source *source = tvms_program_source(program);
  cr_assert_eq(
      strncmp(tvms_source_text(source) + definition.name_span.begin, "main", 4), 0);
  cr_assert_not(tvms_program_definition(program, 1, &definition));
  cr_assert_eq(tvms_program_find(program, "main"), 0);
  cr_assert_eq(tvms_program_find(program, "Model.main"), 0);
  cr_assert_eq(tvms_program_find(program, "Other.main"), -1);
}

Test(api, a_program_may_be_read_as_a_release) {
  tvms_program_read_options options = {.size = sizeof options, .from = "0.27"};
  tvms_program *program;
  tvms_source *source = source_of("a.tvms", scale);
  cr_assert_eq(tvms_program_read(context, source, &options, &program), TVMS_OK);
  cr_assert_str_eq(tvms_program_release(program), "0.27");
  options.from = "9.99";
  cr_assert_eq(tvms_program_read(context, source, &options, &program),
               TVMS_BAD_ARGUMENT);
  cr_assert_str_eq(tvms_context_message(context),
                   "there is no release '9.99'; there are 0.22, 0.25, 0.26, 0.27");
  cr_assert_null(program);
}

Test(api, differences_are_counted) {
  tvms_program *left = read_text(model), *right = read_text(model);
  char *text;
  size_t size;
  uint32_t count;
  cr_assert_eq(tvms_program_diff(left, right, NULL, &text, &size, &count), TVMS_OK);
  cr_assert_eq(count, 0u);
  cr_assert_str_empty(text);
  right = read_text(scale);
  cr_assert_eq(tvms_program_diff(left, right, NULL, &text, &size, &count), TVMS_OK);
  cr_assert_gt(count, 0u);
  cr_assert_gt(size, 0u);
}

// ---- Text ----

Test(api, text_is_printed_in_the_release_that_is_asked_for) {
  tvms_program *program = read_text(scale);
  cr_assert_not_null(strstr(print_as(program, "0.22"), "import tir as T"));
  cr_assert_not_null(strstr(print_as(program, "0.27"), "import tirx as T"));
  tvms_program_print_options options = {.size = sizeof options, .release = "rfc"};
  char *text;
  size_t size;
  cr_assert_eq(tvms_program_print(program, &options, &text, &size), TVMS_BAD_ARGUMENT);
  cr_assert_null(text);
}

Test(api, numbers_do_not_depend_on_anything_around) {
  tvms_program *program = read_text(
      "from tvm.script import tirx as T\n@T.prim_func\ndef main(A: T.Buffer((1,), "
      "\"float32\")):\n    A[0] = T.float32(0.5) + A[0] * T.float32(1.25)\n");
  cr_assert_not_null(strstr(print_as(program, NULL), "T.float32(0.5)"));
}

Test(api, text_is_formatted_and_migrated_with_its_comments) {
  char *text;
  size_t size;
  tvms_source *source = source_of("a.tvms", "x=[1,2]  # why\n");
  cr_assert_eq(tvms_source_format(context, source, &text, &size), TVMS_OK);
  cr_assert_str_eq(text, "x = [1, 2]  # why\n");
  char old[1024];
  snprintf(old, sizeof old, "# first\nfrom tvm.script import tir as T\n%s",
           strchr(scale, '\n'));
  tvms_source_migrate_options options = {.size = sizeof options, .to = "0.27"};
  cr_assert_eq(
      tvms_source_migrate(context, source_of("b.tvms", old), &options, &text, &size),
      TVMS_OK, "%s", tvms_context_message(context));
  cr_assert_eq(strncmp(text, "# first\nfrom tvm.script import tirx as T\n", 41), 0,
               "%s", text);
  options.to = "rfc";
  cr_assert_eq(tvms_source_migrate(context, source, &options, &text, &size),
               TVMS_BAD_ARGUMENT);
}

// ---- Types and facts ----

typedef struct {
  char text[2000];
} said;

static void note_fact(void *user, const tvms_fact *fact) {
  static const char *const kinds[] = {"function", "symbol", "param",  "binding",
                                      "then",     "else",   "result", "end"};
  said *all = user;
  size_t len = strlen(all->text);
  snprintf(all->text + len, sizeof all->text - len, "%u %s %s %s\n", fact->level,
           kinds[fact->kind], fact->name, fact->type);
}

Test(api, facts_come_in_the_order_of_the_text) {
  said all = {""};
  tvms_program *program = read_text(model);
  cr_assert_eq(tvms_program_infer(program, "0.26", note_fact, &all), TVMS_OK);
  cr_assert_str_eq(all.text, "0 function main \n"
                             "1 symbol n int64\n"
                             "1 param x R.Tensor((n, 4), dtype=\"float32\")\n"
                             "1 binding y R.Tensor((n, 4), dtype=\"float32\")\n"
                             "1 end  \n"
                             "1 binding z R.Tensor((n, 4), dtype=\"float32\")\n"
                             "1 end  \n"
                             "1 result return R.Tensor((n, 4), dtype=\"float32\")\n"
                             "0 end  \n");
}

Test(api, the_type_at_a_place_is_that_of_the_innermost_value) {
  tvms_program *program = read_text(model);
  const char *place = strstr(model, "R.add");
  uint32_t offset = (uint32_t)(place - model);
  tvms_span span;
  char *text;
  size_t size;
  cr_assert_eq(tvms_program_type_at(program, offset, "0.26", &span, &text, &size),
               TVMS_OK);
  cr_assert_str_eq(text, "R.Tensor((n, 4), dtype=\"float32\")");
  cr_assert_eq(span.begin, offset);
  cr_assert_eq(tvms_program_type_at(program, 0, NULL, &span, &text, &size), TVMS_OK);
  cr_assert_null(text);
}
