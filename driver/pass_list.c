// The tables of passes as text.
//
// Programs read the list, too: a line "Name (kebab)" begins a pass, an indented "option=value"
// is one of its options, and passes end at the line "Pipelines:".
#include "driver/pass_list.h"

#include "passes/pages.h"
#include "passes/properties.h"
#include "passes/tables.h"

#include <ctype.h>
#include <string.h>

static void list_name(tvms_strbuf *out, const tvms_pass *pass) {
  char kebab[TVMS_KEBAB_SIZE], releases[TVMS_RELEASES_SIZE];
  tvms_pass_kebab(pass->name, kebab);
  tvms_pass_releases(pass->since, pass->until, releases);
  tvms_strbuf_printf(out, "%s (%s)  [%s]\n", pass->name, kebab, releases);
}

// What the pass relies on, and what later passes may rely on after it.
static void list_properties(tvms_strbuf *out, const tvms_pass *pass,
                            const char *indent) {
  for (uint32_t i = 0; i < TVMS_PROPERTY_COUNT; i++) {
    const tvms_property *property = tvms_pass_property_of(1u << i);
    if (pass->requires & 1u << i)
      tvms_strbuf_printf(out, "%sneeds a module %s: run %s before it\n", indent,
                         property->text, property->passes);
    if (strcmp(property->passes, pass->name) == 0)
      tvms_strbuf_printf(out, "%smakes a module %s\n", indent, property->text);
  }
}

static void list_options(tvms_strbuf *out, const tvms_pass *pass, const char *indent) {
  uint32_t count;
  const tvms_pass_option *options = tvms_pass_option_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(options[i].pass, pass->name) != 0) continue;
    tvms_strbuf_printf(out, "%s%s=%s  %s: %s\n", indent, options[i].name,
                       options[i].initial, tvms_pass_option_word(options[i].type),
                       options[i].summary);
  }
}

void tvms_optimize_list_pipeline(tvms_strbuf *out, const tvms_pipeline_row *pipeline) {
  tvms_strbuf_printf(out, "%s = %s\n    %s\n", pipeline->name, pipeline->passes,
                     pipeline->summary);
}

static void list_pipelines(tvms_strbuf *out) {
  uint32_t count;
  const tvms_pipeline_row *rows = tvms_pipeline_rows(&count);
  for (uint32_t i = 0; i < count; i++)
    tvms_optimize_list_pipeline(out, &rows[i]);
}

void tvms_optimize_list(tvms_strbuf *out) {
  uint32_t count;
  const tvms_pass *passes = tvms_pass_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    list_name(out, &passes[i]);
    tvms_strbuf_printf(out, "    %s\n", passes[i].summary);
    list_properties(out, &passes[i], "    ");
    list_options(out, &passes[i], "      ");
  }
  tvms_strbuf_puts(out, "\nPipelines:\n");
  list_pipelines(out);
  (void)tvms_pass_missing_rows(&count);
  tvms_strbuf_printf(
      out, "\n%u passes of TVM are missing: 'tvms opt --list --missing' names them\n",
      count);
}

void tvms_optimize_list_lack(tvms_strbuf *out, const tvms_missing_pass *pass) {
  char releases[TVMS_RELEASES_SIZE];
  tvms_pass_releases(pass->since, pass->until, releases);
  tvms_strbuf_printf(out, "%s  %s  [%s]  missing\n", pass->name, pass->language,
                     releases);
}

void tvms_optimize_list_missing(tvms_strbuf *out) {
  uint32_t count;
  const tvms_missing_pass *rows = tvms_pass_missing_rows(&count);
  for (uint32_t i = 0; i < count; i++)
    tvms_optimize_list_lack(out, &rows[i]);
}

// ---- Pages ----

// Lines behind four blanks, as Markdown writes code.
static void add_code(tvms_strbuf *out, const char *lines) {
  while (*lines) {
    size_t len = strcspn(lines, "\n");
    if (len) tvms_strbuf_printf(out, "    %.*s", (int)len, lines);
    tvms_strbuf_putc(out, '\n');
    lines += len + (lines[len] == '\n');
  }
}

void tvms_optimize_list_page(tvms_strbuf *out, const tvms_pass *pass) {
  const tvms_pass_page *page = tvms_pass_page_of(pass);
  list_name(out, pass);
  tvms_strbuf_putc(out, '\n');
  size_t start = out->len;
  tvms_strbuf_wrap(out, page->what);
  out->text[start] = (char)toupper((unsigned char)out->text[start]);
  tvms_strbuf_putc(out, '\n');
  add_code(out, page->example);
  tvms_strbuf_putc(out, '\n');
  tvms_strbuf_wrap(out, page->more);
  tvms_strbuf_putc(out, '\n');
  tvms_strbuf_wrap(out, page->counterpart);
  size_t end = out->len;
  tvms_strbuf_putc(out, '\n');
  size_t lists = out->len;
  list_properties(out, pass, "- ");
  list_options(out, pass, "- ");
  if (out->len == lists) out->len = end;
}

void tvms_optimize_manual(tvms_strbuf *out) {
  tvms_strbuf_puts(
      out,
      "# Passes\n\nEvery pass of tvms; `tvms opt --list NAME` shows the page of one. "
      "In the example, what stands in front of it and what it makes of that. "
      "Behind it what else the pass does, and what not; the pass of TVM; what it "
      "needs, and its options with their initial values.\n");
  uint32_t count;
  const tvms_pass *passes = tvms_pass_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf_puts(out, "\n## ");
    tvms_optimize_list_page(out, &passes[i]);
  }
  tvms_strbuf_puts(out, "\n# Pipelines\n\n```\n");
  list_pipelines(out);
  tvms_strbuf_puts(out, "```\n\n# Missing\n\nPasses of TVM that tvms does not "
                        "have.\n\n```\n");
  tvms_optimize_list_missing(out);
  tvms_strbuf_puts(out, "```\n");
}
