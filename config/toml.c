// Tables, arrays and lines of TOML.
//
// A table is made by a header, by a dotted key, as the parent of one, or in braces; which of
// them it was decides who may add to it later.
#include "config/toml.h"

#include "config/toml_scan.h"

#include <string.h>

enum { DEEPEST = 64 };

enum {
  AS_PARENT,  // [a.b] makes `a`: a header may still follow
  BY_HEADER,  // [a]
  BY_DOTS,    // a.b = 1 makes `a`: only such keys may add to it
  CLOSED,     // braces, or an array of values: nothing may
};

static tvms_toml *find(const tvms_toml *table, const char *key) {
  for (tvms_toml *item = table->first; item; item = item->next) {
    if (strcmp(item->key, key) == 0) return item;
  }
  return NULL;
}

const tvms_toml *tvms_toml_get(const tvms_toml *table, const char *key) {
  return table && table->kind == TVMS_TOML_TABLE ? find(table, key) : NULL;
}

static tvms_toml *add(tvms_toml_reader *r, tvms_toml *parent, tvms_toml_kind kind,
                      uint8_t made) {
  tvms_toml *item = tvms_arena_new(&r->context->arena, tvms_toml);
  item->kind = kind;
  item->made = made;
  if (parent->last)
    parent->last->next = item;
  else
    parent->first = item;
  parent->last = item;
  return item;
}

// A part of a dotted key.
typedef struct {
  const char *text;
  tvms_span span;
} part;

static bool read_part(tvms_toml_reader *r, part *p) {
  tvms_toml_skip_blanks(r);
  uint32_t begin = r->at;
  p->text = tvms_toml_scan_key(r);
  p->span = (tvms_span){begin, r->at};
  tvms_toml_skip_blanks(r);
  return p->text != NULL;
}

static tvms_toml *add_named(tvms_toml_reader *r, tvms_toml *table, const part *name,
                            tvms_toml_kind kind, uint8_t made) {
  tvms_toml *item = add(r, table, kind, made);
  item->key = name->text;
  item->key_span = item->span = name->span;
  return item;
}

// The table `name` of `table` through which a longer key or header leads.
static tvms_toml *step(tvms_toml_reader *r, tvms_toml *table, const part *name,
                       uint8_t made) {
  tvms_toml *found = find(table, name->text);
  if (!found) return add_named(r, table, name, TVMS_TOML_TABLE, made);
  if (found->kind == TVMS_TOML_ARRAY && made == AS_PARENT && found->made == BY_HEADER)
    return found->last;
  bool open = found->kind == TVMS_TOML_TABLE && found->made != CLOSED
              && (made == AS_PARENT || found->made == BY_DOTS);
  if (open) return found;
  tvms_toml_fail(r, name->span.begin, "the key has a value already");
  return NULL;
}

static bool read_value(tvms_toml_reader *r, tvms_toml *value);

static bool read_pair(tvms_toml_reader *r, tvms_toml *table) {
  part name;
  if (!read_part(r, &name)) return false;
  for (uint32_t parts = 1; r->text[r->at] == '.'; parts++) {
    if (parts > DEEPEST) return tvms_toml_fail(r, r->at, "nested too deeply");
    r->at++;
    table = step(r, table, &name, BY_DOTS);
    if (!table || !read_part(r, &name)) return false;
  }
  if (r->text[r->at] != '=') return tvms_toml_fail(r, r->at, "expected '='");
  r->at++;
  if (find(table, name.text))
    return tvms_toml_fail(r, name.span.begin, "the key has a value already");
  tvms_toml_skip_blanks(r);
  return read_value(r, add_named(r, table, &name, TVMS_TOML_TABLE, CLOSED));
}

static bool read_array(tvms_toml_reader *r, tvms_toml *array) {
  r->at++;
  for (;;) {
    if (!tvms_toml_skip_lines(r)) return false;
    if (r->text[r->at] == ']') break;
    if (!read_value(r, add(r, array, TVMS_TOML_TABLE, CLOSED))) return false;
    if (!tvms_toml_skip_lines(r)) return false;
    if (r->text[r->at] == ']') break;
    if (r->text[r->at] != ',') return tvms_toml_fail(r, r->at, "expected ',' or ']'");
    r->at++;
  }
  r->at++;
  return true;
}

// What stands in braces can be added to by dotted keys there, and by nothing else.
static void close_tables(tvms_toml *table) {
  table->made = CLOSED;
  for (tvms_toml *item = table->first; item; item = item->next) {
    if (item->kind == TVMS_TOML_TABLE && item->made != CLOSED) close_tables(item);
  }
}

static bool read_inline(tvms_toml_reader *r, tvms_toml *table) {
  r->at++;
  tvms_toml_skip_blanks(r);
  table->made = BY_DOTS;
  while (r->text[r->at] != '}') {
    if (table->first) {
      if (r->text[r->at] != ',') return tvms_toml_fail(r, r->at, "expected ',' or '}'");
      r->at++;
    }
    if (!read_pair(r, table)) return false;
    tvms_toml_skip_blanks(r);
  }
  r->at++;
  close_tables(table);
  return true;
}

static bool read_value(tvms_toml_reader *r, tvms_toml *value) {
  uint32_t begin = r->at;
  if (r->depth >= DEEPEST) return tvms_toml_fail(r, begin, "nested too deeply");
  r->depth++;
  bool good;
  if (r->text[begin] == '[') {
    value->kind = TVMS_TOML_ARRAY;
    good = read_array(r, value);
  } else if (r->text[begin] == '{') {
    good = read_inline(r, value);
  } else {
    good = tvms_toml_scan_value(r, value);
  }
  r->depth--;
  value->span = (tvms_span){begin, r->at};
  return good;
}

// The table that [NAME] begins.
static tvms_toml *begin_table(tvms_toml_reader *r, tvms_toml *parent,
                              const part *name) {
  tvms_toml *found = find(parent, name->text);
  if (!found) return add_named(r, parent, name, TVMS_TOML_TABLE, BY_HEADER);
  if (found->kind == TVMS_TOML_TABLE && found->made == AS_PARENT) {
    found->made = BY_HEADER;
    return found;
  }
  tvms_toml_fail(r, name->span.begin, "the table stands twice");
  return NULL;
}

// The table that [[NAME]] begins.
static tvms_toml *begin_item(tvms_toml_reader *r, tvms_toml *parent, const part *name) {
  tvms_toml *found = find(parent, name->text);
  if (!found) found = add_named(r, parent, name, TVMS_TOML_ARRAY, BY_HEADER);
  if (found->kind == TVMS_TOML_ARRAY && found->made == BY_HEADER) {
    tvms_toml *item = add(r, found, TVMS_TOML_TABLE, BY_HEADER);
    item->span = name->span;
    return item;
  }
  tvms_toml_fail(r, name->span.begin, "the key has a value already");
  return NULL;
}

static tvms_toml *read_header(tvms_toml_reader *r, tvms_toml *root) {
  bool item = r->text[r->at + 1] == '[';
  r->at += item ? 2 : 1;
  tvms_toml *table = root;
  part name;
  if (!read_part(r, &name)) return NULL;
  for (uint32_t parts = 1; r->text[r->at] == '.'; parts++) {
    if (parts > DEEPEST) {
      tvms_toml_fail(r, r->at, "nested too deeply");
      return NULL;
    }
    r->at++;
    table = step(r, table, &name, AS_PARENT);
    if (!table || !read_part(r, &name)) return NULL;
  }
  const char *shut = item ? "]]" : "]";
  if (strncmp(r->text + r->at, shut, strlen(shut)) != 0) {
    tvms_toml_fail(r, r->at, item ? "expected ']]'" : "expected ']'");
    return NULL;
  }
  r->at += (uint32_t)strlen(shut);
  return item ? begin_item(r, table, &name) : begin_table(r, table, &name);
}

const tvms_toml *tvms_toml_read(tvms_context *context, tvms_source *source) {
  tvms_toml_reader r = {.context = context, .text = source->text, .size = source->size};
  tvms_toml *root = tvms_arena_new(&context->arena, tvms_toml);
  tvms_toml *table = root;
  if (r.size >= 3 && memcmp(r.text, "\xEF\xBB\xBF", 3) == 0) r.at = 3;
  while (tvms_toml_skip_lines(&r) && r.at < r.size) {
    if (r.text[r.at] == '[')
      table = read_header(&r, root);
    else if (!read_pair(&r, table))
      return NULL;
    if (!table || !tvms_toml_end_line(&r)) return NULL;
  }
  return r.failed ? NULL : root;
}
