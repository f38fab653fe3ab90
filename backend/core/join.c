// Object files of ELF as one: what `ld -r` does, for files that LLVM has just made.
//
//   sections   all of both, one behind the other (a linker puts those of one name together)
//   symbols    local ones of each; the others by name; those of data
//   relocations   with the new numbers of symbols
//
// Section number 0 and symbol number 0 are nothing, as ELF has it.
#include "backend/core/join.h"

#include <elf.h>
#include <string.h>

// A file that is read. Numbers of its own on the left, those of the result on the right.
typedef struct {
  const char *bytes;
  size_t size;
  Elf64_Shdr *sections;
  uint32_t section_count;
  uint32_t *section_now;
  Elf64_Sym *symbols;
  uint32_t symbol_count;
  uint32_t *symbol_now;  // among all that are collected
  const char *strings;
  size_t string_size;
  uint32_t string_base;  // where its names of symbols are in the result
} part;

// A section of the result: from a part, or data (`from` is NULL).
typedef struct {
  Elf64_Shdr head;
  const part *TVMS_NULLABLE from;
  const char *TVMS_NULLABLE bytes;
} section;

typedef struct {
  tvms_arena *arena;
  part *parts;
  uint32_t part_count;
  const tvms_object_data *data;
  uint32_t data_count;
  section *sections;
  uint32_t section_count;
  Elf64_Sym *symbols;
  uint32_t symbol_count;
  uint32_t *final;  // number of a symbol in the file: local ones come first
  uint32_t local_count;
  uint32_t *buckets;  // symbols that are not local, by name
  uint32_t bucket_count;
  tvms_strbuf strings, names;  // of symbols, of sections
  tvms_strbuf *out;
} joiner;

// ---- Reading ----

static bool holds(const part *p, uint64_t at, uint64_t size) {
  return at <= p->size && size <= p->size - at;
}

static bool is_table(const Elf64_Shdr *head) {
  enum {
    ADDRESSES_THAT_MATTER = 0x6fff4c03
  };  // of LLVM: a hint, with numbers of symbols
  return head->sh_type == SHT_SYMTAB || head->sh_type == SHT_STRTAB
         || head->sh_type == SHT_NULL || head->sh_type == ADDRESSES_THAT_MATTER;
}

static bool read_symbols(joiner *j, part *p, const Elf64_Shdr *head) {
  if (head->sh_link >= p->section_count || !holds(p, head->sh_offset, head->sh_size))
    return false;
  const Elf64_Shdr *strings = &p->sections[head->sh_link];
  if (!holds(p, strings->sh_offset, strings->sh_size)) return false;
  p->symbol_count = (uint32_t)(head->sh_size / sizeof(Elf64_Sym));
  p->symbols = tvms_arena_array(j->arena, Elf64_Sym, p->symbol_count);
  memcpy(p->symbols, p->bytes + head->sh_offset, p->symbol_count * sizeof(Elf64_Sym));
  p->symbol_now = tvms_arena_array(j->arena, uint32_t, p->symbol_count);
  p->strings = p->bytes + strings->sh_offset;
  p->string_size = strings->sh_size;
  return p->string_size && !p->strings[p->string_size - 1];
}

static bool read_part(joiner *j, part *p, const tvms_object_file *file) {
  Elf64_Ehdr head;
  *p = (part){.bytes = file->bytes, .size = file->size};
  if (p->size < sizeof head) return false;
  memcpy(&head, p->bytes, sizeof head);
  bool fine = !memcmp(head.e_ident, ELFMAG, SELFMAG)
              && head.e_ident[EI_CLASS] == ELFCLASS64
              && head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_type == ET_REL
              && head.e_shentsize == sizeof(Elf64_Shdr)
              && holds(p, head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr));
  if (!fine) return false;
  p->section_count = head.e_shnum;
  p->sections = tvms_arena_array(j->arena, Elf64_Shdr, p->section_count);
  memcpy(p->sections, p->bytes + head.e_shoff, p->section_count * sizeof(Elf64_Shdr));
  p->section_now = tvms_arena_array(j->arena, uint32_t, p->section_count);
  for (uint32_t i = 0; i < p->section_count && fine; i++) {
    const Elf64_Shdr *s = &p->sections[i];
    bool known = s->sh_type != SHT_GROUP && s->sh_type != SHT_SYMTAB_SHNDX;
    fine = known && (s->sh_type == SHT_NOBITS || holds(p, s->sh_offset, s->sh_size));
    if (fine && s->sh_type == SHT_SYMTAB) fine = read_symbols(j, p, s);
  }
  return fine && p->symbols && head.e_shstrndx < p->section_count;
}

// ---- Sections ----

static uint32_t add_name(joiner *j, const char *name) {
  uint32_t at = (uint32_t)j->names.len;
  tvms_strbuf_add(&j->names, name, strlen(name) + 1);
  return at;
}

static section *add_section(joiner *j, const char *name, const Elf64_Shdr *head) {
  section *s = &j->sections[j->section_count++];
  *s = (section){.head = *head};
  s->head.sh_name = add_name(j, name);
  return s;
}

static void add_sections(joiner *j, part *p) {
  Elf64_Ehdr head;
  memcpy(&head, p->bytes, sizeof head);
  const char *names = p->bytes + p->sections[head.e_shstrndx].sh_offset;
  for (uint32_t i = 1; i < p->section_count; i++) {
    const Elf64_Shdr *old = &p->sections[i];
    if (is_table(old)) continue;
    p->section_now[i] = j->section_count;
    section *s = add_section(j, names + old->sh_name, old);
    s->from = p;
    s->bytes = p->bytes + old->sh_offset;
  }
}

// Sections refer to each other by number.
static void renumber(joiner *j, uint32_t symbols) {
  for (uint32_t i = 1; i < j->section_count; i++) {
    section *s = &j->sections[i];
    if (!s->from) continue;
    if (s->head.sh_type == SHT_RELA) {
      s->head.sh_link = symbols;
      s->head.sh_info = s->from->section_now[s->head.sh_info];
    } else if (s->head.sh_flags & SHF_LINK_ORDER) {
      s->head.sh_link = s->from->section_now[s->head.sh_link];
    }
  }
}

static uint64_t aligned(uint64_t at, uint64_t alignment) {
  return alignment > 1 ? (at + alignment - 1) / alignment * alignment : at;
}

// One section of all data; where each begins is said by its symbol.
static void add_data(joiner *j) {
  Elf64_Shdr head = {.sh_type = SHT_PROGBITS,
                     .sh_flags = SHF_ALLOC,
                     .sh_addralign = TVMS_OBJECT_DATA_ALIGN};
  for (uint32_t i = 0; i < j->data_count; i++)
    head.sh_size = aligned(head.sh_size, TVMS_OBJECT_DATA_ALIGN) + j->data[i].size;
  if (j->data_count) add_section(j, ".rodata", &head);
}

// ---- Symbols ----

static uint32_t add_symbol(joiner *j, Elf64_Sym symbol) {
  j->symbols[j->symbol_count] = symbol;
  return j->symbol_count++;
}

static bool is_local(const Elf64_Sym *symbol) {
  return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
}

static uint32_t *bucket_of(joiner *j, const char *name) {
  uint32_t hash = 2166136261u;
  for (const char *c = name; *c; c++)
    hash = (hash ^ (unsigned char)*c) * 16777619u;
  uint32_t at = hash & (j->bucket_count - 1);
  while (j->buckets[at]
         && strcmp(j->strings.text + j->symbols[j->buckets[at]].st_name, name) != 0)
    at = (at + 1) & (j->bucket_count - 1);
  return &j->buckets[at];
}

// Two symbols of one name: a definition is kept, and what most restricts who sees it.
static void unite(Elf64_Sym *known, const Elf64_Sym *other) {
  unsigned char sight = known->st_other;
  bool defines = known->st_shndx == SHN_UNDEF && other->st_shndx != SHN_UNDEF;
  bool stronger = known->st_shndx == SHN_UNDEF && other->st_shndx == SHN_UNDEF
                  && ELF64_ST_BIND(known->st_info) == STB_WEAK;
  if (defines || stronger) {
    uint32_t name = known->st_name;
    *known = *other;
    known->st_name = name;
  }
  bool hidden = ELF64_ST_VISIBILITY(sight) == STV_HIDDEN
                || ELF64_ST_VISIBILITY(other->st_other) == STV_HIDDEN;
  if (hidden) known->st_other = STV_HIDDEN;
}

static void add_symbols(joiner *j, part *p) {
  p->string_base = (uint32_t)j->strings.len;
  tvms_strbuf_add(&j->strings, p->strings, p->string_size);
  for (uint32_t i = 1; i < p->symbol_count; i++) {
    Elf64_Sym symbol = p->symbols[i];
    const char *name = p->strings + symbol.st_name;
    symbol.st_name += p->string_base;
    bool in_section =
        symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < p->section_count;
    if (in_section) symbol.st_shndx = (uint16_t)p->section_now[symbol.st_shndx];
    uint32_t *known = is_local(&symbol) ? NULL : bucket_of(j, name);
    if (known && *known) {
      unite(&j->symbols[*known], &symbol);
      p->symbol_now[i] = *known;
      continue;
    }
    p->symbol_now[i] = add_symbol(j, symbol);
    if (known) *known = p->symbol_now[i];
  }
}

// Data that nothing refers to has no symbol.
static void define_data(joiner *j, uint32_t number) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < j->data_count; i++) {
    at = aligned(at, TVMS_OBJECT_DATA_ALIGN);
    uint32_t known = *bucket_of(j, j->data[i].name);
    if (known) {
      Elf64_Sym *symbol = &j->symbols[known];
      symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      symbol->st_other = STV_HIDDEN;
      symbol->st_shndx = (uint16_t)number;
      symbol->st_value = at;
      symbol->st_size = j->data[i].size;
    }
    at += j->data[i].size;
  }
}

// What is hidden and here needs no name outside.
static void make_local(Elf64_Sym *symbol) {
  bool here = symbol->st_shndx != SHN_UNDEF;
  if (!here || ELF64_ST_VISIBILITY(symbol->st_other) != STV_HIDDEN) return;
  symbol->st_info = ELF64_ST_INFO(STB_LOCAL, ELF64_ST_TYPE(symbol->st_info));
  symbol->st_other = STV_DEFAULT;
}

// Numbers of the symbols in the file, whose local ones come first.
static void number_symbols(joiner *j) {
  j->final = tvms_arena_array(j->arena, uint32_t, j->symbol_count);
  uint32_t next = 0;
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < j->symbol_count; i++) {
      if (!round && i) make_local(&j->symbols[i]);
      if (is_local(&j->symbols[i]) == !round) j->final[i] = next++;
    }
    if (!round) j->local_count = next;
  }
}

static void join_symbols(joiner *j, uint32_t data_section) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < j->part_count; i++)
    most += j->parts[i].symbol_count;
  j->symbols = tvms_arena_array(j->arena, Elf64_Sym, most);
  for (j->bucket_count = 16; j->bucket_count < 2 * most;)
    j->bucket_count *= 2;
  j->buckets = tvms_arena_array(j->arena, uint32_t, j->bucket_count);
  add_symbol(j, (Elf64_Sym){0});
  for (uint32_t i = 0; i < j->part_count; i++)
    add_symbols(j, &j->parts[i]);
  if (j->data_count) define_data(j, data_section);
  number_symbols(j);
}

// ---- Writing ----

static void write_relocations(joiner *j, const section *s) {
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= s->head.sh_size;
       at += sizeof(Elf64_Rela)) {
    Elf64_Rela rela;
    memcpy(&rela, s->bytes + at, sizeof rela);
    uint64_t old = ELF64_R_SYM(rela.r_info), type = ELF64_R_TYPE(rela.r_info);
    uint64_t now = old < s->from->symbol_count ? j->final[s->from->symbol_now[old]] : 0;
    rela.r_info = ELF64_R_INFO(now, type);
    tvms_strbuf_add(j->out, (const char *)&rela, sizeof rela);
  }
}

static void pad(joiner *j, size_t base, uint64_t alignment) {
  size_t at = j->out->len - base;
  tvms_strbuf_fill(j->out, 0, aligned(at, alignment) - at);
}

static void write_data(joiner *j) {
  size_t begin = j->out->len;
  for (uint32_t i = 0; i < j->data_count; i++) {
    pad(j, begin, TVMS_OBJECT_DATA_ALIGN);
    tvms_strbuf_add(j->out, j->data[i].bytes, j->data[i].size);
  }
}

static void write_symbols(joiner *j) {
  size_t base = j->out->len;
  tvms_strbuf_fill(j->out, 0, j->symbol_count * sizeof(Elf64_Sym));
  for (uint32_t i = 0; i < j->symbol_count; i++)
    memcpy(j->out->text + base + j->final[i] * sizeof(Elf64_Sym), &j->symbols[i],
           sizeof(Elf64_Sym));
}

static void write_content(joiner *j, const section *s) {
  if (s->head.sh_type == SHT_NOBITS) return;
  if (s->head.sh_type == SHT_RELA)
    write_relocations(j, s);
  else if (s->from)
    tvms_strbuf_add(j->out, s->bytes, s->head.sh_size);
  else if (s->head.sh_type == SHT_SYMTAB)
    write_symbols(j);
  else if (s->bytes)
    tvms_strbuf_add(j->out, s->bytes, s->head.sh_size);
  else
    write_data(j);
}

static void write_all(joiner *j) {
  size_t base = j->out->len;
  Elf64_Ehdr head;
  memcpy(&head, j->parts[0].bytes, sizeof head);
  uint64_t all = sizeof head + j->section_count * sizeof(Elf64_Shdr);
  for (uint32_t i = 1; i < j->section_count; i++)
    all += j->sections[i].head.sh_size + j->sections[i].head.sh_addralign;
  tvms_strbuf_grow(j->out, all);
  tvms_strbuf_fill(j->out, 0, sizeof head);
  for (uint32_t i = 1; i < j->section_count; i++) {
    section *s = &j->sections[i];
    pad(j, base, s->head.sh_addralign);
    s->head.sh_offset = j->out->len - base;
    write_content(j, s);
  }
  pad(j, base, 8);
  head.e_shoff = j->out->len - base;
  head.e_shnum = (uint16_t)j->section_count;
  head.e_shstrndx = (uint16_t)(j->section_count - 1);
  memcpy(j->out->text + base, &head, sizeof head);
  for (uint32_t i = 0; i < j->section_count; i++)
    tvms_strbuf_add(j->out, (const char *)&j->sections[i].head, sizeof(Elf64_Shdr));
}

// The tables behind all other sections.
static void add_tables(joiner *j) {
  uint32_t symbols = j->section_count;
  Elf64_Shdr table = {.sh_type = SHT_SYMTAB,
                      .sh_size = j->symbol_count * sizeof(Elf64_Sym),
                      .sh_link = symbols + 1,
                      .sh_info = j->local_count,
                      .sh_entsize = sizeof(Elf64_Sym),
                      .sh_addralign = 8};
  add_section(j, ".symtab", &table);
  Elf64_Shdr strings = {
      .sh_type = SHT_STRTAB, .sh_size = j->strings.len, .sh_addralign = 1};
  add_section(j, ".strtab", &strings)->bytes = tvms_strbuf_text(&j->strings);
  strings.sh_size = j->names.len + sizeof ".shstrtab";
  section *names = add_section(j, ".shstrtab", &strings);
  names->bytes = tvms_strbuf_text(&j->names);
  renumber(j, symbols);
}

bool tvms_join_objects(tvms_arena *arena, const tvms_object_file *objects,
                       uint32_t count, const tvms_object_data *data,
                       uint32_t data_count, tvms_strbuf *out) {
  joiner j = {.arena = arena,
              .part_count = count,
              .data = data,
              .data_count = data_count,
              .out = out};
  j.parts = tvms_arena_array(arena, part, count);
  uint32_t most = 5;
  for (uint32_t i = 0; i < count; i++) {
    if (!read_part(&j, &j.parts[i], &objects[i])) return false;
    most += j.parts[i].section_count;
  }
  if (most >= SHN_LORESERVE) return false;  // numbers of sections have 16 bits
  tvms_strbuf_init(&j.strings, out->memory);
  tvms_strbuf_init(&j.names, out->memory);
  tvms_strbuf_putc(&j.strings, '\0');
  j.sections = tvms_arena_array(arena, section, most);
  add_section(&j, "", &(Elf64_Shdr){0});
  for (uint32_t i = 0; i < count; i++)
    add_sections(&j, &j.parts[i]);
  uint32_t data_section = j.section_count;
  add_data(&j);
  join_symbols(&j, data_section);
  add_tables(&j);
  write_all(&j);
  tvms_strbuf_fini(&j.strings);
  tvms_strbuf_fini(&j.names);
  return true;
}
