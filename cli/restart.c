// `run`, `build`, `bench`, `explain --target` and any verb with --plugin in the static program: it becomes its dynamic
// twin, which can load the plug-in for native code. The twin stands beside it and gets the same
// arguments.
#define _GNU_SOURCE
#include "cli/restart.h"

#include "cli/explain.h"
#include "cli/explain_shape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tvms_status restart(tvms_run *run) {
  static const char twin[] = "tvms-native";
  char path[4200], base[4096];
  ssize_t len = readlink("/proc/self/exe", base, sizeof base - 1);
  base[len < 0 ? 0 : len] = '\0';
  char *slash = strrchr(base, '/');
  if (slash) *slash = '\0';
  snprintf(path, sizeof path, "%s/%s", base, twin);
  execv(path, run->argv);
  return tvms_run_complain_io(run, path);
}

tvms_status tvms_verb_run(tvms_run *run) {
  return restart(run);
}
tvms_status tvms_verb_build(tvms_run *run) {
  return restart(run);
}
tvms_status tvms_verb_bench(tvms_run *run) {
  return restart(run);
}
tvms_status tvms_run_with_plugins(tvms_run *run, tvms_status (*verb)(tvms_run *)) {
  (void)verb;
  return restart(run);
}
tvms_status tvms_verb_explain(tvms_run *run) {
  if (run->options.target) return restart(run);
  if (run->options.shape || run->options.equals) return tvms_run_explain_shape(run);
  if (!run->options.paths.len) return tvms_run_misused(run, "no code given");
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  return tvms_run_explain(run, &text);
}
