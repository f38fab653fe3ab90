// T.target({…}): the whole configuration, as TVM completes it from what the program says.
#include "ir/object.h"
#include "printer/state.h"

#include <stdlib.h>

typedef struct {
  const char *kind;
  uint8_t since;
  uint8_t until;
  const char *keys;
} kind_row;

typedef struct {
  const char *kind;
  uint8_t since;
  uint8_t until;
  const char *name;
  const char *text;
} attr_row;

static const kind_row kinds[] = {
#define TARGET_KIND(kind, since, until, keys) {kind, since, until, keys},
#define TARGET_ATTR(...)
#include "printer/targets.def"
};

static const attr_row attrs[] = {
#define TARGET_KIND(...)
#define TARGET_ATTR(kind, since, until, name, text) {kind, since, until, name, text},
#include "printer/targets.def"
};

// One pair of the configuration: a value of the program, or text.
typedef struct {
  const char *key;
  const tvms_node *TVMS_NULLABLE value;
  const char *TVMS_NULLABLE text;
  size_t text_len;
  bool is_truth;  // a number that stands for True or False
} pair;

typedef TVMS_VEC(pair) pairs;

static uint8_t release_of(tvms_dialect dialect) {
  if (dialect <= TVMS_DIALECT_22) return 22;
  if (dialect <= TVMS_DIALECT_25) return 25;
  return dialect == TVMS_DIALECT_26 ? 26 : 27;
}

static pair *find(pairs *all, const char *key) {
  for (uint32_t i = 0; i < all->len; i++) {
    if (strcmp(all->items[i].key, key) == 0) return &all->items[i];
  }
  return NULL;
}

static void add_value(tvms_printer *p, pairs *all, const char *key,
                      const tvms_node *value) {
  if (find(all, key)) return;
  pair added = {.key = key, .value = value};
  tvms_push(p->memory, all, added);
}

static void add_text(tvms_printer *p, pairs *all, const char *key, const char *text,
                     size_t len) {
  if (find(all, key)) return;
  pair added = {.key = key, .text = text, .text_len = len};
  tvms_push(p->memory, all, added);
}

static void add_map(tvms_printer *p, pairs *all, const tvms_node *config) {
  const tvms_object_map *map = tvms_as_object_map(config);
  for (uint32_t i = 0; i < map->keys.len; i++) {
    const char *key = tvms_object_as_text(map->keys.items[i]);
    if (key) add_value(p, all, key, map->values.items[i]);
  }
}

// Text made for this printing; it lives as long as the nodes of the printer.
static const char *keep(tvms_printer *p, const tvms_strbuf *text) {
  return tvms_arena_text(&p->scratch.arena, text->text, text->len);
}

static bool is_number(const char *text, size_t len) {
  size_t i = len > 1 && text[0] == '-';
  for (; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return len > 0;
}

// "-mcpu=skylake" of the classic command line form.
static void add_option(tvms_printer *p, pairs *all, const char *option, size_t len) {
  while (len && *option == '-') {
    option++;
    len--;
  }
  const char *equals = memchr(option, '=', len);
  if (!equals) return;
  size_t name_len = (size_t)(equals - option);
  size_t value_len = len - name_len - 1;
  const char *name = tvms_arena_text(&p->scratch.arena, option, name_len);
  if (is_number(equals + 1, value_len)) {
    add_text(p, all, name, equals + 1, value_len);
    return;
  }
  tvms_strbuf quoted;
  tvms_strbuf_init(&quoted, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &quoted);
  tvms_print_quoted(p, equals + 1, value_len);
  tvms_print_redirect(p, before);
  size_t quoted_len = quoted.len;
  add_text(p, all, name, keep(p, &quoted), quoted_len);
  tvms_strbuf_fini(&quoted);
}

// "cuda -arch=sm_80": the kind and options. Returns the kind.
static const char *add_words(tvms_printer *p, pairs *all, const char *text) {
  const char *end = text + strcspn(text, " ");
  const char *kind = tvms_arena_text(&p->scratch.arena, text, (size_t)(end - text));
  while (*end) {
    const char *begin = end + strspn(end, " ");
    end = begin + strcspn(begin, " ");
    if (end > begin) add_option(p, all, begin, (size_t)(end - begin));
  }
  return kind;
}

static void put_key(tvms_strbuf *text, const char *key, size_t len) {
  tvms_strbuf_puts(text, text->len > 1 ? ", \"" : "\"");
  tvms_strbuf_add(text, key, len);
  tvms_strbuf_putc(text, '"');
}

// The device of a program stands before the keys of the kind.
static void add_keys(tvms_printer *p, pairs *all, const char *keys) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, p->memory);
  tvms_strbuf_putc(&text, '[');
  const pair *device = find(all, "device");
  const char *name = device ? tvms_object_as_text(device->value) : NULL;
  if (name) put_key(&text, name, strlen(name));
  while (*keys) {
    size_t len = strcspn(keys, ",");
    put_key(&text, keys, len);
    keys += len + (keys[len] == ',');
  }
  tvms_strbuf_putc(&text, ']');
  size_t len = text.len;
  add_text(p, all, "keys", keep(p, &text), len);
  tvms_strbuf_fini(&text);
}

static bool add_defaults(tvms_printer *p, pairs *all, const char *kind) {
  uint8_t release = release_of(p->dialect);
  bool known = false;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const kind_row *row = &kinds[i];
    if (release < row->since || release > row->until || strcmp(row->kind, kind) != 0) {
      continue;
    }
    known = true;
    add_keys(p, all, row->keys);
  }
  for (size_t i = 0; i < sizeof attrs / sizeof attrs[0]; i++) {
    const attr_row *row = &attrs[i];
    if (release < row->since || release > row->until || strcmp(row->kind, kind) != 0) {
      continue;
    }
    pair *given = find(all, row->name);
    bool truth = strcmp(row->text, "True") == 0 || strcmp(row->text, "False") == 0;
    if (given) given->is_truth = given->is_truth || truth;
    // A classic LLVM target of a certain processor has no default triple.
    bool host_triple = strcmp(kind, "llvm") == 0 && find(all, "mcpu") != NULL;
    if (host_triple && tvms_print_is_classic(p)) continue;
    add_text(p, all, row->name, row->text, strlen(row->text));
  }
  if (known) add_text(p, all, "tag", "\"\"", 2);
  return known;
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const pair *)a)->key, ((const pair *)b)->key);
}

static const tvms_node *inner_config(const tvms_node *config) {
  while (config->kind == TVMS_NODE_OBJECT_TARGET) {
    config = tvms_as_object_target(config)->config;
  }
  return config;
}

static void print_pair(tvms_printer *p, const pair *item) {
  int64_t number;
  tvms_print_quoted(p, item->key, strlen(item->key));
  PUT(p, ": ");
  if (strcmp(item->key, "host") == 0 && item->value)
    tvms_print_target_config(p, item->value);
  else if (item->is_truth && tvms_object_as_int(item->value, &number))
    tvms_print_put(p, number ? "True" : "False");
  else if (item->value)
    tvms_print_object(p, item->value);
  else
    tvms_strbuf_add(p->out, item->text, item->text_len);
}

void tvms_print_target_config(tvms_printer *p, const tvms_node *target) {
  const tvms_node *config = inner_config(target);
  pairs all = {0};
  const char *kind = tvms_object_as_text(config);
  if (kind) {
    kind = add_words(p, &all, kind);
  } else if (config->kind == TVMS_NODE_OBJECT_MAP) {
    add_map(p, &all, config);
    kind = tvms_object_as_text(tvms_map_get(config, "kind"));
  }
  if (!kind || !add_defaults(p, &all, kind)) {
    // A tag, or a kind that nobody knows: as it was written.
    tvms_print_object(p, config);
    tvms_vec_free(p->memory, &all);
    return;
  }
  if (!find(&all, "kind")) {
    pair added = {.key = "kind", .text = kind, .text_len = strlen(kind)};
    tvms_strbuf quoted;
    tvms_strbuf_init(&quoted, p->memory);
    tvms_strbuf_printf(&quoted, "\"%s\"", kind);
    added.text_len = quoted.len;
    added.text = keep(p, &quoted);
    tvms_strbuf_fini(&quoted);
    tvms_push(p->memory, &all, added);
  }
  qsort(all.items, all.len, sizeof *all.items, by_key);
  for (uint32_t i = 0; i < all.len; i++) {
    tvms_print_put(p, i ? ", " : "{");
    print_pair(p, &all.items[i]);
  }
  PUT(p, "}");
  tvms_vec_free(p->memory, &all);
}
