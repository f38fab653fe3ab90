// Linking with the system's tools: the compiler driver knows where libc and libm are; what needs
// neither is linked without it.
//
// Nothing may stay undefined (-z defs) but weak symbols, which are tvm-ffi's and may be
// missing; so a library can be loaded by a program that knows nothing of TVM.
#define _GNU_SOURCE
#include "backend/link.h"

#include "backend/backend.h"
#include "backend/core/boxes.h"
#include "backend/core/parallel.h"
#include "backend/load.h"
#include "support/source.h"

#include <elf.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Does the object ask for the threads? It names the symbol if so, and nothing else has this name.
static bool has_parallel_loops(const tvms_strbuf *code) {
  return memmem(code->text, code->len, TVMS_PARALLEL_LAUNCH,
                sizeof TVMS_PARALLEL_LAUNCH)
         != NULL;
}

// Does it ask for objects?
static bool has_boxes(const tvms_strbuf *code) {
  return memmem(code->text, code->len, TVMS_BOX_PREFIX, sizeof TVMS_BOX_PREFIX - 1)
         != NULL;
}

// The table of symbols of an object, and where their names stand. False if there is none.
static bool find_symbols(const tvms_strbuf *code, Elf64_Shdr *table, uint64_t *names) {
  Elf64_Ehdr head;
  if (code->len < sizeof head) return false;
  memcpy(&head, code->text, sizeof head);
  *table = (Elf64_Shdr){0};
  for (uint32_t i = 0; i < head.e_shnum && table->sh_type != SHT_SYMTAB; i++) {
    memcpy(table, code->text + head.e_shoff + i * sizeof *table, sizeof *table);
  }
  if (table->sh_type != SHT_SYMTAB) return false;
  Elf64_Shdr texts;
  memcpy(&texts, code->text + head.e_shoff + table->sh_link * sizeof texts,
         sizeof texts);
  *names = texts.sh_offset;
  return true;
}

void tvms_backend_ask_for_threads(tvms_strbuf *object) {
  Elf64_Shdr table;
  uint64_t names;
  if (!find_symbols(object, &table, &names)) return;
  for (uint64_t at = sizeof(Elf64_Sym); at < table.sh_size; at += sizeof(Elf64_Sym)) {
    char *place = object->text + table.sh_offset + at;
    Elf64_Sym symbol;
    memcpy(&symbol, place, sizeof symbol);
    if (symbol.st_shndx != SHN_UNDEF
        || strcmp(object->text + names + symbol.st_name, TVMS_PARALLEL_LAUNCH) != 0)
      continue;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol.st_info));
    memcpy(place, &symbol, sizeof symbol);
  }
}

// Does the object use a function of a library? Those of tvm-ffi are weak and in none.
static bool needs_libraries(const tvms_strbuf *code) {
  Elf64_Shdr table;
  uint64_t names;
  if (!find_symbols(code, &table, &names)) return true;
  for (uint64_t at = sizeof(Elf64_Sym); at < table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, code->text + table.sh_offset + at, sizeof symbol);
    const char *name = code->text + names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF && strncmp(name, "TVMFFI", 6) != 0) return true;
  }
  return false;
}

// Runs a program; its error number, or 0 and how it ended.
static int run(const char *const *arguments, int *status) {
  pid_t child;
  int error = posix_spawnp(&child, arguments[0], NULL, NULL,
                           (char *const *)(uintptr_t)arguments, environ);
  if (error) return error;
  while (waitpid(child, status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

static bool run_driver(const char *const *arguments, tvms_strbuf *why) {
  int status, error = run(arguments, &status);
  if (error == ENOENT) {
    tvms_strbuf_printf(
        why,
        "libraries and archives need the tools of a C compiler, and '%s' was not found "
        "(on Debian, install gcc); an object file (.o) can be written without them",
        arguments[0]);
    return false;
  }
  if (error) {
    tvms_strbuf_printf(why, "cannot start '%s': %s", arguments[0], strerror(error));
    return false;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  tvms_strbuf_printf(why, "'%s' failed", arguments[0]);
  return false;
}

// What needs no library needs no compiler driver that knows where they are, nor its 20 ms.
static bool link_alone(const char *object, const char *library) {
  const char *arguments[] = {"ld", "-shared",     "--eh-frame-hdr", "-o", library,
                             "-z", "noexecstack", object,           NULL};
  int status;
  return !run(arguments, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tvms_backend_link_library(const char *object, const tvms_strbuf *code,
                               const char *library, tvms_strbuf *why) {
  if (!needs_libraries(code) && link_alone(object, library)) return true;
  tvms_strbuf threads;
  tvms_strbuf_init(&threads, why->memory);
  bool parallel = has_parallel_loops(code), needs = parallel || has_boxes(code);
  bool linked = !needs || tvms_backend_find_threads(&threads, why);
  // libm is needed even though its functions are weak; nothing else may be missing. What is
  // weak takes nothing out of an archive by itself.
  const char *arguments[] = {"cc",
                             "-shared",
                             "-o",
                             library,
                             object,
                             "-Wl,-z,defs",
                             "-Wl,--no-as-needed",
                             "-lm",
                             needs ? tvms_strbuf_text(&threads) : NULL,
                             "-pthread",
                             parallel ? "-Wl,-u," TVMS_PARALLEL_LAUNCH : NULL,
                             NULL};
  if (linked) linked = run_driver(arguments, why);
  tvms_strbuf_fini(&threads);
  return linked;
}

// Copies the archive with the run time to `archive`, for `ar` to add to.
static bool copy_run_time(const char *archive, tvms_strbuf *why) {
  tvms_strbuf path;
  tvms_strbuf_init(&path, why->memory);
  bool good = tvms_backend_find_threads(&path, why);
  tvms_source *source =
      good ? tvms_source_read(why->memory, tvms_strbuf_text(&path)) : NULL;
  if (good && !source)
    tvms_strbuf_printf(why, "%s: %s", tvms_strbuf_text(&path), strerror(errno));
  FILE *file = source ? fopen(archive, "wb") : NULL;
  good = file && fwrite(source->text, 1, source->size, file) == source->size;
  if (file && fclose(file) != 0) good = false;
  if (source && !good) tvms_strbuf_printf(why, "%s: %s", archive, strerror(errno));
  if (source) tvms_source_destroy(why->memory, source);
  tvms_strbuf_fini(&path);
  return good;
}

bool tvms_backend_archive(const char *object, bool with_run_time, const char *archive,
                          tvms_strbuf *why) {
  const char *arguments[] = {"ar", "rcs", archive, object, NULL};
  unlink(archive);
  return (!with_run_time || copy_run_time(archive, why)) && run_driver(arguments, why);
}
