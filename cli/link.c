// The object goes through a temporary file beside the library or archive.
#define _XOPEN_SOURCE 700
#include "cli/link.h"

#include "backend/link.h"

#include <stdlib.h>
#include <unistd.h>

static void remove_file(void *what) {
  unlink(what);
}

tvms_status tvms_link_object(tvms_run *run, tvms_strbuf *object, bool archived) {
  tvms_memory *memory = &run->context->memory;
  tvms_strbuf path, why;
  tvms_strbuf_init(&path, memory);
  tvms_strbuf_init(&why, memory);
  tvms_strbuf_printf(&path, "%s.XXXXXX", run->options.output);
  (void)tvms_strbuf_text(&path);
  int file = mkstemp(path.text);
  if (file < 0) return tvms_run_complain_io(run, run->options.output);
  if (run->options.with_run_time) tvms_backend_ask_for_threads(object);
  tvms_resource resource;
  tvms_memory_hold(memory, &resource, remove_file, path.text);
  bool written = tvms_run_write(run, file, path.text, object->text, object->len);
  close(file);
  const char *output = run->options.output;
  bool linked =
      written
      && (archived ? tvms_backend_archive(path.text, run->options.with_run_time, output,
                                          &why)
                   : tvms_backend_link_library(path.text, object, output, &why));
  if (written && !linked) tvms_run_complain(run, "%s", tvms_strbuf_text(&why));
  tvms_memory_release(memory, &resource);
  unlink(path.text);
  return linked ? TVMS_OK : TVMS_FAILED_IO;
}
