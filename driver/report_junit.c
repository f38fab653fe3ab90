// The report of JUnit, as Jenkins, GitLab and pytest understand it: a test case for each file
// that was looked at. One that has errors failed; one that could not be looked at is an error
// of the run. Other findings and what a verb gives are the case's output.
#include "driver/report_concise.h"
#include "driver/report_ops.h"

#include <utf8proc.h>

// XML 1.0 has no way to write most control characters; what it lacks becomes U+FFFD.
static void put_xml(tvms_strbuf *out, const char *text, size_t len, bool attribute) {
  for (size_t i = 0; i < len;) {
    utf8proc_int32_t code;
    utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                             (utf8proc_ssize_t)(len - i), &code);
    bool lacks = used <= 0 || (code < 0x20 && code != '\t' && code != '\n')
                 || code == 0x7F || code == 0xFFFE || code == 0xFFFF;
    if (lacks)
      tvms_strbuf_puts(out, "\xEF\xBF\xBD");
    else if (code == '&')
      tvms_strbuf_puts(out, "&amp;");
    else if (code == '<')
      tvms_strbuf_puts(out, "&lt;");
    else if (code == '>')
      tvms_strbuf_puts(out, "&gt;");
    else if (attribute && (code == '"' || code < 0x20))
      tvms_strbuf_printf(out, "&#%d;", (int)code);
    else
      tvms_strbuf_add(out, text + i, (size_t)used);
    i += used > 0 ? (size_t)used : 1;
  }
}

static void put_attribute(tvms_strbuf *out, const char *key, const char *value) {
  tvms_strbuf_printf(out, " %s=\"", key);
  put_xml(out, value, strlen(value), true);
  tvms_strbuf_putc(out, '"');
}

static bool is_of(const tvms_report_case *c, const char *TVMS_NULLABLE file) {
  return file && c->file ? strcmp(file, c->file) == 0 : file == c->file;
}

// The case of a file, begun if it is another than that of the last call.
static tvms_report_case *case_of(tvms_report_writer *w,
                                 const char *TVMS_NULLABLE file) {
  if (!w->cases.len || !is_of(&w->cases.items[w->cases.len - 1], file)) {
    tvms_report_case anew = {.seconds = -1};
    if (file) {
      size_t size = strlen(file) + 1;
      anew.file = memcpy(tvms_memory_alloc(w->memory, size), file, size);
    }
    tvms_strbuf_init(&anew.wrong, w->memory);
    tvms_strbuf_init(&anew.remarks, w->memory);
    tvms_strbuf_init(&anew.given, w->memory);
    tvms_vec_push(w->memory, &w->cases, anew);
  }
  return &w->cases.items[w->cases.len - 1];
}

static void add_file(tvms_report_writer *w, const char *file, double seconds) {
  tvms_report_case *c = case_of(w, file);
  if (seconds >= 0) c->seconds = seconds;
}

// A finding about another file than the one at hand (of diff) is told in its case, too.
static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  bool placed = tvms_report_item_is_placed(item);
  bool at_hand = placed && w->cases.len && w->cases.items[w->cases.len - 1].file;
  tvms_report_case *c =
      at_hand ? &w->cases.items[w->cases.len - 1] : case_of(w, item->file);
  bool error = item->diag->severity == TVMS_SEVERITY_ERROR;
  tvms_strbuf *out = error ? &c->wrong : &c->remarks;
  c->errors += error;
  c->broken |= failure;
  tvms_report_put_concise(out, item);
  for (const tvms_note *note = item->diag->notes; note; note = note->next) {
    if (!note->placed) tvms_strbuf_printf(out, "%s\n", note->text);
  }
}

static void add_result(tvms_report_writer *w, const char *file, const char *text,
                       size_t len, bool object) {
  (void)object;
  tvms_strbuf_add(&case_of(w, file)->given, text, len);
}

static void put_element(tvms_strbuf *out, const char *name, const tvms_strbuf *text) {
  if (!text->len) return;
  tvms_strbuf_printf(out, "      <%s>", name);
  put_xml(out, text->text, text->len, false);
  tvms_strbuf_printf(out, "</%s>\n", name);
}

static void put_case(tvms_strbuf *out, tvms_report_case *c) {
  tvms_strbuf_puts(out, "    <testcase classname=\"tvms\"");
  put_attribute(out, "name", c->file ? c->file : "tvms");
  if (c->seconds >= 0) tvms_strbuf_printf(out, " time=\"%.3f\"", c->seconds);
  tvms_strbuf_puts(out, ">\n");
  if (c->errors) {
    const char *element = c->broken ? "error" : "failure";
    const char *first = tvms_strbuf_text(&c->wrong);
    const char *end = strchr(first, '\n');
    tvms_strbuf_printf(out, "      <%s message=\"", element);
    put_xml(out, first, end ? (size_t)(end - first) : strlen(first), true);
    tvms_strbuf_puts(out, "\">");
    put_xml(out, c->wrong.text, c->wrong.len, false);
    tvms_strbuf_printf(out, "</%s>\n", element);
  }
  put_element(out, "system-out", &c->given);
  put_element(out, "system-err", &c->remarks);
  tvms_strbuf_puts(out, "    </testcase>\n");
}

static void end(tvms_report_writer *w, const tvms_report_totals *totals) {
  (void)totals;
  uint32_t failures = 0, broken = 0;
  double seconds = 0;
  for (uint32_t i = 0; i < w->cases.len; i++) {
    const tvms_report_case *c = &w->cases.items[i];
    broken += c->errors && c->broken;
    failures += c->errors && !c->broken;
    if (c->seconds > 0) seconds += c->seconds;
  }
  tvms_strbuf *out = &w->text;
  tvms_strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
  tvms_strbuf_printf(out,
                     "  <testsuite name=\"tvms\" tests=\"%u\" failures=\"%u\" "
                     "errors=\"%u\" skipped=\"0\"",
                     w->cases.len, failures, broken);
  if (seconds > 0) tvms_strbuf_printf(out, " time=\"%.3f\"", seconds);
  tvms_strbuf_puts(out, ">\n");
  for (uint32_t i = 0; i < w->cases.len; i++) {
    put_case(out, &w->cases.items[i]);
  }
  tvms_strbuf_puts(out, "  </testsuite>\n</testsuites>\n");
}

const tvms_report_ops tvms_report_junit = {
    .add = add, .add_file = add_file, .add_result = add_result, .end = end};
