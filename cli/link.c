// The object goes through a temporary file beside the library or archive.
#define _XOPEN_SOURCE 700
#include "cli/link.h"

#include "backend/link.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void remove_file(void *what) {
  unlink(what);
}

// What is done with the file; false, and a reason in `why`, if it cannot be.
typedef bool (*file_use)(const tvms_run *run, const char *path,
                         const tvms_strbuf *object, tvms_strbuf *why);

static bool link_file(const tvms_run *run, const char *path, const tvms_strbuf *object,
                      tvms_strbuf *why) {
  const tvms_texts *links = &run->options.links;
  return tvms_backend_link_library(path, object, links->items, links->len,
                                   run->options.output, why);
}

static bool archive_file(const tvms_run *run, const char *path,
                         const tvms_strbuf *object, tvms_strbuf *why) {
  (void)object;
  return tvms_backend_archive(path, run->options.with_run_time, run->options.output,
                              why);
}

// Writes the object to a file and uses that. TVMS_FAILED_IO if the file cannot be written, which was reported;
// else *done says how the use went.
static tvms_status with_file(tvms_run *run, const tvms_strbuf *object, file_use use,
                             tvms_strbuf *why, bool *done) {
  tvms_memory *memory = &run->context->memory;
  tvms_strbuf path;
  tvms_strbuf_init(&path, memory);
  tvms_strbuf_printf(&path, "%s.XXXXXX", run->options.output);
  (void)tvms_strbuf_text(&path);
  int file = mkstemp(path.text);
  if (file < 0) return tvms_run_complain_io(run, run->options.output);
  tvms_resource resource;
  tvms_memory_hold(memory, &resource, remove_file, path.text);
  bool written = tvms_run_write(run, file, path.text, object->text, object->len);
  close(file);
  *done = written && use(run, path.text, object, why);
  tvms_memory_release(memory, &resource);
  unlink(path.text);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}

// Does the linker name it? It stands between quotes, or behind a blank.
static bool is_named(const char *said, const char *name) {
  const size_t len = strlen(name);
  for (const char *at = strstr(said, name); at; at = strstr(at + 1, name)) {
    bool begins = at > said && !isalnum((unsigned char)at[-1]) && at[-1] != '_';
    if (begins && !isalnum((unsigned char)at[len]) && at[len] != '_') return true;
  }
  return false;
}

tvms_status tvms_link_library(tvms_run *run, tvms_strbuf *object,
                              const tvms_externs *externs) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  bool linked;
  tvms_status status = with_file(run, object, link_file, &why, &linked);
  if (status != TVMS_OK || linked) return status;
  const char *said = tvms_strbuf_text(&why);
  const bool undefined = strstr(said, "undefined") != NULL;
  bool found = false;
  for (uint32_t i = 0; i < externs->len && undefined; i++) {
    const tvms_extern *missing = &externs->items[i];
    if (!is_named(said, missing->name)) continue;
    tvms_diag_report(&run->context->diags, TVMS_D_unknown_function, missing->span,
                     missing->name);
    found = true;
  }
  if (found) return TVMS_OK;
  tvms_run_complain(run, "%s", said);
  return TVMS_FAILED_IO;
}

tvms_status tvms_link_archive(tvms_run *run, tvms_strbuf *object) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  bool made;
  if (run->options.with_run_time) tvms_backend_ask_for_threads(object);
  tvms_status status = with_file(run, object, archive_file, &why, &made);
  if (status != TVMS_OK || made) return status;
  tvms_run_complain(run, "%s", tvms_strbuf_text(&why));
  return TVMS_FAILED_IO;
}
