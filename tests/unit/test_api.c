// The library as a host sees it: the headers of include/tvms and libtvms.so, nothing else.
#include <tvms/tvms.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Programs ----

static const char scale[] =
    "from tvm.script import tirx as T\n"
    "\n"
    "@T.prim_func\n"
    "def scale(A: T.Buffer((2, 3), \"float32\"), B: T.Buffer((2, 3), "
    "\"float32\"), factor: T.float32):\n"
    "    for i, j in T.grid(2, 3):\n"
    "        B[i, j] = A[i, j] * factor\n";

static const char model[] = "from tvm.script import ir as I, relax as R\n"
                            "\n"
                            "@I.ir_module\n"
                            "class Model:\n"
                            "    @R.function\n"
                            "    def main(x: R.Tensor((\"n\", 4), \"float32\")):\n"
                            "        y = R.add(x, x)\n"
                            "        z = R.nn.relu(y)\n"
                            "        return z\n";

static const char misspelt[] = "from tvm.script import ir as I, relax as R\n"
                               "\n"
                               "@I.ir_module\n"
                               "class Model:\n"
                               "    @R.function\n"
                               "    def main(x: R.Tensor((4,), \"float32\")):\n"
                               "        wide = R.add(x, x)\n"
                               "        return wid\n";

// The loop is evaluated when the text is read: 40,000 steps.
static const char unrolled[] =
    "from tvm.script import tirx as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((1,), \"int64\")):\n"
    "    A[0] = T.int64(len([i for i in range(200) for j in range(200)]))\n";

static tvms_context *context;

static void open_context(void) {
  cr_assert_eq(tvms_context_create(NULL, &context), TVMS_OK);
}
static void close_context(void) {
  tvms_context_destroy(context);
}

TestSuite(api, .init = open_context, .fini = close_context);

static tvms_source *source_of(const char *name, const char *text) {
  tvms_source *source;
  cr_assert_eq(tvms_source_add(context, name, text, strlen(text), &source), TVMS_OK);
  return source;
}

static tvms_program *read_text(const char *text) {
  tvms_program *program;
  tvms_source *source = source_of("a.tvms", text);
  tvms_status status = tvms_program_read(context, source, NULL, &program);
  cr_assert_eq(status, TVMS_OK, "%s",
               tvms_diag_first(context) ? tvms_diag_message(tvms_diag_first(context))
                                        : tvms_context_message(context));
  return program;
}

static char *print_as(tvms_program *program, const char *release) {
  tvms_program_print_options options = {.size = sizeof options, .release = release};
  char *text;
  size_t size;
  cr_assert_eq(tvms_program_print(program, &options, &text, &size), TVMS_OK);
  cr_assert_eq(strlen(text), size);
  return text;
}

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
  };
  tvms_program *program;
  tvms_source *source = source_of("a.tvms", misspelt);
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  for (int format = TVMS_FORMAT_TEXT; format <= TVMS_FORMAT_SARIF; format++) {
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
  cr_assert_str_eq(tvms_context_message(context), "there is no release '9.99'");
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
  char old[sizeof scale + 64];
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

// ---- Passes ----

Test(api, passes_and_their_options_are_listed) {
  tvms_pass_info info = {.size = sizeof info};
  bool pass = false, pipeline = false;
  for (uint32_t i = 0; tvms_pass_list(i, &info); i++) {
    pass = pass || strcmp(info.name, "LegalizeOps") == 0;
    pipeline = pipeline || info.passes;
    cr_assert_not_null(info.summary);
    cr_assert_not_null(info.since);
  }
  cr_assert(pass && pipeline);
  tvms_pass_option_info option = {.size = sizeof option};
  cr_assert(tvms_pass_list_option("fuse-ops", 0, &option));
  cr_assert_str_eq(option.name, "max_depth");
  cr_assert_str_eq(option.type, "integer");
  cr_assert_not(tvms_pass_list_option("FuseOps", 1, &option));
  cr_assert_not(tvms_pass_list_option("NoSuchPass", 0, &option));
}

typedef struct {
  tvms_program *program;
  uint32_t passes;
  uint32_t printed;
} observing;

static void observe(void *user, const char *pass, bool changed, double seconds) {
  observing *o = user;
  char *text;
  size_t size;
  (void)pass;
  (void)changed;
  cr_assert_geq(seconds, 0.0);
  o->passes++;
  o->printed += tvms_program_print(o->program, NULL, &text, &size) == TVMS_OK;
  tvms_context_free(context, text);
}

Test(api, a_pipeline_changes_the_program_and_is_observed) {
  observing o = {.program = read_text(model)};
  tvms_program_transform_options options = {
      .size = sizeof options, .verify_each = true, .after = observe, .user = &o};
  cr_assert_eq(tvms_program_transform(o.program, "LegalizeOps,fuse-ops", &options),
               TVMS_OK);
  cr_assert_eq(o.passes, 2u);
  cr_assert_eq(o.printed, 2u);
  cr_assert_not_null(strstr(print_as(o.program, NULL), "R.call_tir(cls.add"));
  cr_assert_neq(tvms_program_find(o.program, "add"), -1);
}

static void read_something_wrong(void *user, const char *pass, bool changed,
                                 double seconds) {
  tvms_program *program;
  (void)pass;
  (void)changed;
  (void)seconds;
  tvms_source *source = source_of("wrong.tvms", misspelt);
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 1u);
  ++*(uint32_t *)user;
}

Test(api, what_a_function_of_the_host_finds_does_not_stop_the_pipeline) {
  uint32_t passes = 0;
  tvms_program *program = read_text(model);
  tvms_program_transform_options options = {
      .size = sizeof options, .after = read_something_wrong, .user = &passes};
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps,FuseOps", &options),
               TVMS_OK);
  cr_assert_eq(passes, 2u);
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 2u);
  cr_assert_str_eq(tvms_diag_code(tvms_diag_next(tvms_diag_first(context))), "E0201");
}

// A function of the host that tries to take away what it is shown.
static void take_away(void *user, const tvms_fact *fact) {
  tvms_program *program = user;
  (void)fact;
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps", NULL), TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  tvms_program_destroy(program);
}

Test(api, what_is_shown_stays) {
  tvms_program *program = read_text(model);
  char *before = print_as(program, NULL);
  cr_assert_eq(tvms_program_infer(program, NULL, take_away, program), TVMS_OK);
  cr_assert_str_eq(print_as(program, NULL), before);
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps", NULL), TVMS_OK);
}

static void transform_again(void *user, const char *pass, bool changed,
                            double seconds) {
  (void)pass;
  (void)changed;
  (void)seconds;
  take_away(user, NULL);
}

Test(api, a_pipeline_is_not_run_in_another) {
  tvms_program *program = read_text(model);
  tvms_program_transform_options options = {
      .size = sizeof options, .after = transform_again, .user = program};
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps", &options), TVMS_OK);
  cr_assert_not_null(strstr(print_as(program, NULL), "R.call_tir"));
}

static void use_all_memory(void *user, const tvms_fact *fact) {
  static char large[4 * 1024 * 1024];
  tvms_source *source;
  (void)fact;
  memset(large, ' ', sizeof large);
  tvms_status status = tvms_source_add(context, "large", large, sizeof large, &source);
  cr_assert_eq(status, TVMS_OVER_LIMIT);
  ++*(uint32_t *)user;
}

Test(api, a_function_of_the_host_may_spend_the_context) {
  tvms_context_options options = {.size = sizeof options, .memory = 3 * 1024 * 1024};
  tvms_context_destroy(context);
  cr_assert_eq(tvms_context_create(&options, &context), TVMS_OK);
  uint32_t visits = 0;
  tvms_program *program = read_text(model);
  cr_assert_eq(tvms_program_infer(program, NULL, use_all_memory, &visits),
               TVMS_OVER_LIMIT);
  cr_assert_eq(visits, 1u);
}

Test(api, a_pipeline_that_is_wrong_changes_nothing) {
  tvms_program *program = read_text(model);
  char *before = print_as(program, NULL);
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps,Legalise", NULL),
               TVMS_FOUND_ERRORS);
  tvms_source *source = tvms_diag_source(tvms_diag_first(context));
  cr_assert_str_eq(tvms_source_name(source), "<pipeline>");
  cr_assert_str_eq(print_as(program, NULL), before);
}

Test(api, a_program_on_which_a_pass_failed_is_refused) {
  tvms_program *program = read_text(
      "from tvm.script import tirx as T\n@T.prim_func(s_tir=True)\ndef main(A: "
      "T.Buffer((4,), \"float32\"), B: T.Buffer((1,), \"float32\")):\n    for i in "
      "range(4):\n        with T.sblock(\"b\"):\n            v = T.axis.reduce(4, i)\n     "
      "       with T.init():\n                B[0] = T.float32(0)\n            B[0] = B[0] "
      "+ A[v]\n");
  cr_assert_eq(tvms_program_transform(program, "LowerOpaqueBlock", NULL),
               TVMS_FOUND_ERRORS);
  char *text;
  size_t size;
  cr_assert_eq(tvms_program_print(program, NULL, &text, &size), TVMS_BAD_ARGUMENT);
}

// ---- Running ----

static void set_tensor(tvms_runner *runner, uint32_t index, float *data, int64_t *shape,
                       int64_t *strides) {
  tvms_dl_tensor tensor = {.data = data,
                           .device = {TVMS_DL_CPU, 0},
                           .ndim = 2,
                           .dtype = {TVMS_DL_FLOAT, 32, 1},
                           .shape = shape,
                           .strides = strides};
  cr_assert_eq(tvms_runner_set_tensor(runner, index, &tensor), TVMS_OK, "%s",
               tvms_context_message(context));
}

static void expect_scaled(tvms_runner *runner) {
  // Column by column in memory: the runner takes them row by row.
  float given[] = {1, 4, 2, 5, 3, 6}, zeros[6] = {0};
  int64_t shape[] = {2, 3}, strides[] = {1, 2};
  cr_assert_eq(tvms_runner_param_count(runner), 3u);
  cr_assert_str_eq(tvms_runner_param_name(runner, 0), "A");
  cr_assert_null(tvms_runner_param_name(runner, 3));
  set_tensor(runner, 0, given, shape, strides);
  set_tensor(runner, 1, zeros, shape, NULL);
  cr_assert_eq(tvms_runner_set_float(runner, 2, 0.5), TVMS_OK);
  cr_assert_eq(tvms_runner_set_int(runner, 3, 1), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
  cr_assert_eq(tvms_runner_result_count(runner), 1u);
  tvms_result result = {.size = sizeof result};
  cr_assert(tvms_runner_result(runner, 0, &result));
  cr_assert_not(tvms_runner_result(runner, 1, &result));
  cr_assert_str_eq(result.name, "result");
  cr_assert_eq(result.kind, TVMS_RESULT_TENSOR);
  cr_assert_eq(result.tensor.ndim, 2);
  const float *data = result.tensor.data;
  for (int i = 0; i < 6; i++) {
    cr_assert_eq(data[i], 0.5f * (float)(i + 1));
  }
  cr_assert_eq(zeros[0], 0.0f);
}

Test(api, a_function_runs_on_the_tensors_that_it_is_given) {
  tvms_runner *runner;
  tvms_program *program = read_text(scale);
  cr_assert_eq(tvms_runner_create(program, NULL, &runner), TVMS_OK);
  // The runner has a copy.
  tvms_program_destroy(program);
  expect_scaled(runner);
  expect_scaled(runner);
  tvms_runner_destroy(runner);
}

static bool has_native_code(void) {
  return getenv("TVMS_PLUGIN") != NULL;
}

Test(api, native_code_gives_the_same) {
  tvms_runner_options options = {.size = sizeof options, .native = true};
  tvms_runner *runner, *other;
  tvms_status status = tvms_runner_create(read_text(scale), &options, &runner);
  if (!has_native_code()) {
    cr_assert_eq(status, TVMS_NOT_AVAILABLE);
    cr_assert_null(runner);
    return;
  }
  cr_assert_eq(status, TVMS_OK, "%s", tvms_context_message(context));
  cr_assert_eq(tvms_runner_create(read_text(model), &options, &other), TVMS_OK);
  expect_scaled(runner);
  // In the order of making; what is left is closed with the context.
  tvms_runner_destroy(runner);
  cr_assert_eq(tvms_runner_run(other), TVMS_OK);
}

Test(api, inputs_that_do_not_fit_are_reported) {
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(read_text(scale), NULL, &runner), TVMS_OK);
  float data[6] = {0};
  int64_t shape[] = {3, 2};
  set_tensor(runner, 0, data, shape, NULL);
  cr_assert_eq(tvms_runner_run(runner), TVMS_FOUND_ERRORS);
  cr_assert_eq(tvms_runner_result_count(runner), 0u);
  tvms_dl_tensor elsewhere = {.data = data,
                              .device = {2, 0},
                              .ndim = 2,
                              .dtype = {TVMS_DL_FLOAT, 32, 1},
                              .shape = shape};
  cr_assert_eq(tvms_runner_set_tensor(runner, 0, &elsewhere), TVMS_BAD_ARGUMENT);
  elsewhere.device.type = TVMS_DL_CPU;
  elsewhere.dtype = (tvms_dl_type){77, 32, 1};
  cr_assert_eq(tvms_runner_set_tensor(runner, 0, &elsewhere), TVMS_BAD_ARGUMENT);
  // All random: sound again.
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
}

Test(api, what_is_not_given_is_not_read) {
  tvms_runner *runner;
  tvms_program *program = read_text(scale);
  cr_assert_eq(tvms_runner_create(program, NULL, &runner), TVMS_OK);
  int64_t shape[] = {2, 3};
  tvms_dl_tensor nothing = {.device = {TVMS_DL_CPU, 0},
                            .ndim = 2,
                            .dtype = {TVMS_DL_FLOAT, 32, 1},
                            .shape = shape};
  cr_assert_eq(tvms_runner_set_tensor(runner, 0, &nothing), TVMS_BAD_ARGUMENT);
  cr_assert_not_null(strstr(tvms_context_message(context), "without data"));
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
  tvms_result result = {.size = 0};
  cr_assert_not(tvms_runner_result(runner, 0, &result));
  tvms_definition definition = {.size = 0};
  cr_assert_not(tvms_program_definition(program, 0, &definition));
  tvms_pass_info info = {.size = 0};
  cr_assert_not(tvms_pass_list(0, &info));
  tvms_program_build_options options = {.size = sizeof options,
                                        .form = (tvms_build_form)99};
  char *bytes;
  size_t size;
  cr_assert_eq(tvms_program_build(program, &options, &bytes, &size), TVMS_BAD_ARGUMENT);
  cr_assert_str_eq(tvms_context_message(context), "there is no form 99");
}

Test(api, what_was_not_made_is_refused) {
  char *text;
  size_t size;
  uint32_t count;
  tvms_span span;
  tvms_program *program;
  tvms_runner *runner;
  tvms_context *other;
  cr_assert_eq(tvms_context_create(NULL, &other), TVMS_OK);
  tvms_source *sources[] = {NULL, source_of("a.tvms", model)};
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(tvms_program_read(other, sources[i], NULL, &program),
                 TVMS_BAD_ARGUMENT);
    cr_assert_null(program);
    cr_assert_eq(tvms_source_format(other, sources[i], &text, &size),
                 TVMS_BAD_ARGUMENT);
    cr_assert_eq(tvms_source_migrate(other, sources[i], NULL, &text, &size),
                 TVMS_BAD_ARGUMENT);
    cr_assert_eq(tvms_diag_apply_fixes(other, sources[i], &text, &size, &count),
                 TVMS_BAD_ARGUMENT);
  }
  cr_assert_str_eq(tvms_context_message(other), "the source is of another context");
  tvms_context_destroy(other);
  cr_assert_eq(tvms_program_print(NULL, NULL, &text, &size), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_verify(NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_transform(NULL, "LegalizeOps", NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_infer(NULL, NULL, note_fact, NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_type_at(NULL, 0, NULL, &span, &text, &size),
               TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_build(NULL, NULL, &text, &size), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_create(NULL, NULL, &runner), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_run(NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_set_int(NULL, 0, 1), TVMS_BAD_ARGUMENT);
}

Test(api, a_function_that_is_not_there_cannot_run) {
  tvms_runner_options options = {.size = sizeof options, .entry = "other"};
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(read_text(scale), &options, &runner),
               TVMS_FOUND_ERRORS);
  cr_assert_null(runner);
}

static void keep_line(void *user, const char *line) {
  snprintf(((said *)user)->text, sizeof((said *)user)->text, "%s", line);
}

Test(api, printing_goes_to_the_host) {
  said line = {""};
  tvms_runner_options options = {
      .size = sizeof options, .print = keep_line, .user = &line};
  tvms_runner *runner;
  tvms_program *program = read_text(
      "from tvm.script import relax as R\n@R.function(pure=False)\ndef main(x: "
      "R.Tensor((2,), \"int32\")):\n    y = R.print(x, format=\"got {}\")\n    return x\n");
  cr_assert_eq(tvms_runner_create(program, &options, &runner), TVMS_OK);
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
  cr_assert_eq(strncmp(line.text, "got int32[2]", 12), 0, "%s", line.text);
  cr_assert_null(strchr(line.text, '\n'));
}

static void disturb(void *user, const char *line) {
  tvms_runner *runner = *(tvms_runner **)user;
  (void)line;
  cr_assert_eq(tvms_runner_run(runner), TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  cr_assert_eq(tvms_runner_set_int(runner, 0, 1), TVMS_BAD_ARGUMENT);
  tvms_runner_destroy(runner);
}

Test(api, a_function_that_runs_is_not_disturbed) {
  tvms_runner *runner;
  tvms_runner_options options = {
      .size = sizeof options, .print = disturb, .user = &runner};
  tvms_program *program = read_text(
      "from tvm.script import relax as R\n@R.function(pure=False)\ndef main(x: "
      "R.Tensor((2,), \"int32\")):\n    y = R.print(x, format=\"got {}\")\n    return x\n");
  cr_assert_eq(tvms_runner_create(program, &options, &runner), TVMS_OK);
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
    tvms_result result = {.size = sizeof result};
    cr_assert(tvms_runner_result(runner, 0, &result));
    cr_assert_eq(result.tensor.ndim, 1);
  }
  tvms_runner_destroy(runner);
}

Test(api, a_message_is_that_of_the_last_call) {
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(read_text(scale), NULL, &runner), TVMS_OK);
  cr_assert_eq(tvms_runner_set_int(runner, 9, 1), TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  cr_assert_eq(tvms_runner_set_float(runner, 2, 1.0), TVMS_OK);
  cr_assert_str_eq(tvms_context_message(context), "");
  cr_assert_eq(tvms_runner_set_int(runner, 9, 1), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_set_int(runner, 2, 1), TVMS_OK);
  cr_assert_str_eq(tvms_context_message(context), "");
}

Test(api, a_program_is_built_as_often_as_wanted) {
  tvms_program *program = read_text(scale);
  char *before = print_as(program, NULL);
  for (int i = 0; i < 2; i++) {
    char *bytes;
    size_t size;
    tvms_status status = tvms_program_build(program, NULL, &bytes, &size);
    cr_assert_eq(status, has_native_code() ? TVMS_OK : TVMS_NOT_AVAILABLE);
    if (status == TVMS_OK)
      cr_assert_eq(memcmp(bytes,
                          "\x7F"
                          "ELF",
                          4),
                   0);
  }
  cr_assert_str_eq(print_as(program, NULL), before);
  tvms_program_build_options options = {.size = sizeof options, .target = "no-such,x"};
  char *bytes;
  size_t size;
  cr_assert_eq(tvms_program_build(program, &options, &bytes, &size),
               has_native_code() ? TVMS_BAD_ARGUMENT : TVMS_NOT_AVAILABLE);
  cr_assert_str_neq(tvms_context_message(context), "");
}

// ---- Limits ----

static tvms_status read_under(const tvms_context_options *options, const char *text,
                              tvms_context **made) {
  tvms_source *source;
  tvms_program *program;
  cr_assert_eq(tvms_context_create(options, made), TVMS_OK);
  tvms_status status = tvms_source_add(*made, "a.tvms", text, strlen(text), &source);
  return status == TVMS_OK ? tvms_program_read(*made, source, NULL, &program) : status;
}

static void expect_spent(tvms_context *spent, const char *message) {
  tvms_source *source;
  cr_assert_eq(tvms_context_state(spent), TVMS_OVER_LIMIT);
  cr_assert_str_eq(tvms_context_message(spent), message);
  cr_assert_eq(tvms_source_add(spent, "b", "", 0, &source), TVMS_OVER_LIMIT);
  cr_assert_null(source);
  tvms_context_destroy(spent);
}

Test(api, memory_is_limited) {
  tvms_context_options options = {.size = sizeof options, .memory = 24 * 1024};
  tvms_context *small;
  cr_assert_eq(read_under(&options, model, &small), TVMS_OVER_LIMIT);
  expect_spent(small, "the limit of memory was reached");
}

Test(api, time_is_limited) {
  static char text[2 * 1024 * 1024];
  size_t len = (size_t)sprintf(text, "%s", scale);
  while (len < sizeof text - 100) {
    len += (size_t)sprintf(text + len, "        B[i, j] = B[i, j] + factor\n");
  }
  tvms_context_options options = {.size = sizeof options, .milliseconds = 1};
  tvms_context *late;
  cr_assert_eq(read_under(&options, text, &late), TVMS_OVER_LIMIT);
  expect_spent(late, "the limit of time was reached");
}

Test(api, time_is_limited_while_a_program_runs) {
  tvms_context_options options = {.size = sizeof options, .milliseconds = 50};
  tvms_context *late;
  cr_assert_eq(tvms_context_create(&options, &late), TVMS_OK);
  tvms_context_destroy(context);
  context = late;
  tvms_runner *runner;
  tvms_program *program = read_text(
      "from tvm.script import tirx as T\n@T.prim_func\ndef main(A: T.Buffer((1,), "
      "\"int64\")):\n    for i in range(100000000000):\n        A[0] = A[0] + i\n");
  cr_assert_eq(tvms_runner_create(program, NULL, &runner), TVMS_OK);
  cr_assert_eq(tvms_runner_run(runner), TVMS_OVER_LIMIT);
  cr_assert_str_eq(tvms_context_message(context), "the limit of time was reached");
}

Test(api, steps_are_limited_call_by_call) {
  tvms_context_options options = {.size = sizeof options, .steps = 1000};
  tvms_context *other;
  cr_assert_eq(read_under(&options, unrolled, &other), TVMS_FOUND_ERRORS);
  cr_assert_str_eq(tvms_diag_name(tvms_diag_first(other)), "endless");
  cr_assert_eq(tvms_context_state(other), TVMS_OK);
  tvms_context_destroy(other);
  options.steps = 70 * 1000;
  cr_assert_eq(read_under(&options, unrolled, &other), TVMS_OK);
  tvms_source *source;
  tvms_program *program;
  cr_assert_eq(tvms_source_add(other, "b", unrolled, sizeof unrolled - 1, &source),
               TVMS_OK);
  cr_assert_eq(tvms_program_read(other, source, NULL, &program), TVMS_OK);
  tvms_context_destroy(other);
}

Test(api, depth_is_limited) {
  tvms_context_options options = {.size = sizeof options, .depth = 200};
  static char deep[4000];
  int len = snprintf(deep, sizeof deep,
                     "from tvm.script import tirx as T\n@T.prim_func\ndef main(A: "
                     "T.Buffer((1,), \"int64\")):\n    A[0] = ");
  memset(deep + len, '-', 1000);
  strcpy(deep + len + 1000, "A[0]\n");
  tvms_context *other;
  cr_assert_eq(read_under(&options, deep, &other), TVMS_FOUND_ERRORS);
  cr_assert_str_eq(tvms_diag_name(tvms_diag_first(other)), "too_deep");
  tvms_context_destroy(other);
  cr_assert_eq(read_under(NULL, deep, &other), TVMS_OK);
  tvms_context_destroy(other);
}

// ---- Memory ----

Test(api, a_text_that_is_too_large_is_refused_before_it_is_read) {
  tvms_source *source;
  cr_assert_eq(tvms_source_add(context, "a", "x", SIZE_MAX - 4, &source),
               TVMS_OVER_LIMIT);
  cr_assert_null(source);
}

// What the calls below work with; made once.
static struct {
  tvms_source *source;
  tvms_program *program;
  tvms_runner *runner;
} common;

static void free_text(tvms_status status, tvms_status wanted, char **text) {
  cr_assert_eq(status, wanted, "%s", tvms_context_message(context));
  tvms_context_free(context, *text);
}
static void repeat_read(void) {
  tvms_program *program;
  cr_assert_eq(tvms_program_read(context, common.source, NULL, &program), TVMS_OK);
  tvms_program_destroy(program);
}
static void repeat_print(void) {
  char *text;
  size_t size;
  free_text(tvms_program_print(common.program, NULL, &text, &size), TVMS_OK, &text);
}
static void repeat_format(void) {
  char *text;
  size_t size;
  free_text(tvms_source_format(context, common.source, &text, &size), TVMS_OK, &text);
}
static void repeat_migrate(void) {
  char *text;
  size_t size;
  tvms_source_migrate_options options = {.size = sizeof options, .to = "0.25"};
  free_text(tvms_source_migrate(context, common.source, &options, &text, &size),
            TVMS_OK, &text);
}
static void repeat_diff(void) {
  char *text;
  size_t size;
  uint32_t count;
  free_text(
      tvms_program_diff(common.program, common.program, NULL, &text, &size, &count),
      TVMS_OK, &text);
}
static void repeat_explain(void) {
  char *text;
  size_t size;
  free_text(tvms_diag_explain(context, "E0401", &text, &size), TVMS_OK, &text);
  free_text(tvms_diag_explain(context, "T.gird", &text, &size), TVMS_BAD_ARGUMENT,
            &text);
}
static void ignore_fact(void *user, const tvms_fact *fact) {
  (void)user;
  (void)fact;
}
static void repeat_infer(void) {
  cr_assert_eq(tvms_program_infer(common.program, NULL, ignore_fact, NULL), TVMS_OK);
}
static void repeat_transform(void) {
  tvms_program *program;
  cr_assert_eq(tvms_program_read(context, common.source, NULL, &program), TVMS_OK);
  cr_assert_eq(
      tvms_program_transform(program, "LegalizeOps,FuseOps{max_depth=4}", NULL),
      TVMS_OK);
  tvms_program_destroy(program);
}
static void repeat_run(void) {
  cr_assert_eq(tvms_runner_run(common.runner), TVMS_OK);
}
static void repeat_runner(void) {
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(common.program, NULL, &runner), TVMS_OK);
  tvms_runner_destroy(runner);
}
static void repeat_refused_release(void) {
  char *text;
  size_t size;
  tvms_program_print_options options = {.size = sizeof options, .release = "9"};
  free_text(tvms_program_print(common.program, &options, &text, &size),
            TVMS_BAD_ARGUMENT, &text);
}

Test(api, calls_leave_nothing_behind) {
  static const struct {
    const char *name;
    void (*call)(void);
  } calls[] = {
      {"read", repeat_read},
      {"print", repeat_print},
      {"format", repeat_format},
      {"migrate", repeat_migrate},
      {"diff", repeat_diff},
      {"explain", repeat_explain},
      {"infer", repeat_infer},
      {"transform", repeat_transform},
      {"run", repeat_run},
      {"create a runner", repeat_runner},
      {"refuse a release", repeat_refused_release},
  };
  common.source = source_of("a.tvms", model);
  common.program = read_text(model);
  cr_assert_eq(tvms_runner_create(common.program, NULL, &common.runner), TVMS_OK);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    calls[i].call();
    calls[i].call();
    size_t before = tvms_context_memory(context);
    for (int k = 0; k < 1000; k++) {
      calls[i].call();
    }
    size_t after = tvms_context_memory(context);
    cr_expect_eq(after, before, "%s: %zu bytes a call", calls[i].name,
                 (after - before) / 1000);
  }
}

// A call that finds something wrong keeps the finding and its text, and nothing else.
static size_t cost_of_failure(void (*call)(void)) {
  call();
  size_t before = tvms_context_memory(context);
  for (int k = 0; k < 1000; k++) {
    call();
  }
  return (tvms_context_memory(context) - before) / 1000;
}
static void fail_to_transform(void) {
  cr_assert_eq(tvms_program_transform(common.program, "LegalizeOp", NULL),
               TVMS_FOUND_ERRORS);
}
static void fail_to_make_a_runner(void) {
  tvms_runner_options options = {.size = sizeof options, .entry = "other"};
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(common.program, &options, &runner),
               TVMS_FOUND_ERRORS);
}

Test(api, calls_that_fail_leave_their_findings_only) {
  common.program = read_text(model);
  cr_expect_leq(cost_of_failure(fail_to_transform), 500);
  cr_expect_leq(cost_of_failure(fail_to_make_a_runner), 500);
}

// An allocator that counts what is out, and fails when its budget is used up.
typedef struct {
  size_t out;
  uint64_t calls;
  uint64_t fails_at;  // 0: never
} counting;

static void *count_allocation(void *user, void *block, size_t old_size,
                              size_t new_size) {
  counting *c = user;
  cr_assert_eq(block == NULL, old_size == 0);
  if (!new_size) {
    c->out -= old_size;
    free(block);
    return NULL;
  }
  if (++c->calls == c->fails_at) return NULL;
  void *moved = realloc(block, new_size);
  cr_assert_not_null(moved);
  // What comes from here is not zero.
  if (new_size > old_size) memset((char *)moved + old_size, 0xA5, new_size - old_size);
  c->out += new_size - old_size;
  return moved;
}

// Everything that a host may do with a program, until something fails.
static tvms_status do_all(const tvms_context_options *options) {
  tvms_context *made;
  tvms_status status = tvms_context_create(options, &made);
  if (status != TVMS_OK) return status;
  tvms_source *source;
  tvms_program *program;
  tvms_runner *runner = NULL;
  char *text;
  size_t size;
  status = tvms_source_add(made, "a.tvms", model, strlen(model), &source);
  if (status == TVMS_OK) status = tvms_program_read(made, source, NULL, &program);
  if (status == TVMS_OK) status = tvms_source_format(made, source, &text, &size);
  if (status == TVMS_OK) status = tvms_runner_create(program, NULL, &runner);
  if (status == TVMS_OK) status = tvms_runner_run(runner);
  if (status == TVMS_OK) status = tvms_program_transform(program, "LegalizeOps", NULL);
  if (status == TVMS_OK) status = tvms_program_print(program, NULL, &text, &size);
  if (status == TVMS_OK) status = tvms_diag_render(made, NULL, &text, &size);
  if (status != TVMS_OK) cr_assert_eq(tvms_context_state(made), status);
  tvms_context_destroy(made);
  return status;
}

Test(api, every_allocation_may_fail) {
  tvms_context_options options = {.size = sizeof options};
  tvms_status status = TVMS_OVER_LIMIT;
  uint64_t n = 1;
  for (; status == TVMS_OVER_LIMIT; n++) {
    options.fail_allocation = n;
    status = do_all(&options);
  }
  cr_assert_eq(status, TVMS_OK);
  cr_assert_gt(n, 60u);
}

Test(api, memory_comes_from_the_allocator_of_the_host_and_goes_back) {
  counting memory = {0};
  tvms_context_options options = {
      .size = sizeof options, .allocate = count_allocation, .user = &memory};
  cr_assert_eq(do_all(&options), TVMS_OK);
  cr_assert_eq(memory.out, 0u);
  uint64_t calls = memory.calls;
  cr_assert_gt(calls, 1u);
  for (uint64_t n = 1; n <= calls; n++) {
    memory = (counting){.fails_at = n};
    cr_assert_eq(do_all(&options), TVMS_OVER_LIMIT, "call %u", (unsigned)n);
    cr_assert_eq(memory.out, 0u);
  }
}

Test(api, what_is_freed_serves_again) {
  tvms_program *program = read_text(model);
  size_t most = 0;
  for (int i = 0; i < 50; i++) {
    char *text = print_as(program, "0.27");
    size_t used = tvms_context_memory(context);
    if (i == 5) most = used;
    if (i > 5) cr_assert_leq(used, most);
    tvms_context_free(context, text);
  }
}

Test(api, spent_contexts_and_null_are_destroyed) {
  tvms_context_destroy(NULL);
  tvms_program_destroy(NULL);
  tvms_runner_destroy(NULL);
  tvms_context_free(context, NULL);
  tvms_program_destroy(read_text(model));
}
