// The object of ELF of what was written (backend/x86/object.h).
//
//   1 .text   2 .rela.text   3 .rodata (texts)   4 .bss   5 .eh_frame   6 its relocations
//   7 what the loader calls at the end   8 its relocations   9 that no stack need be executable
//   10 symbols   11 their names   12 names of sections
#include "backend/x86/object.h"

#include <elf.h>

enum {
  NOTHING,
  CODE,
  CODE_REFERENCES,
  TEXTS,
  ZEROED,
  FRAMES,
  FRAME_REFERENCES,
  ENDS,
  END_REFERENCES,
  STACK,
  SYMBOLS,
  NAMES,
  SECTION_NAMES,
  SECTIONS
};

// Symbols of sections come first, then those of names.
enum { CODE_SYMBOL = 1, TEXTS_SYMBOL = 2, FIRST_SYMBOL = 3 };

typedef struct {
  tvms_x86_code *code;
  tvms_strbuf *out;
  size_t base;
  Elf64_Shdr heads[SECTIONS];
} writer;

static void begin(writer *w, uint32_t section) {
  size_t align = w->heads[section].sh_addralign, at = w->out->len - w->base;
  tvms_strbuf_fill(w->out, 0, (align - at % align) % align);
  w->heads[section].sh_offset = w->out->len - w->base;
}

static void end(writer *w, uint32_t section) {
  w->heads[section].sh_size = w->out->len - w->base - w->heads[section].sh_offset;
}

static void write_text(writer *w, uint32_t section, const tvms_strbuf *text) {
  begin(w, section);
  if (text->len) tvms_strbuf_add(w->out, text->text, text->len);
  end(w, section);
}

static void write_references(writer *w, uint32_t section,
                             const tvms_x86_reference *items, uint32_t count) {
  begin(w, section);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t symbol = items[i].symbol == TVMS_X86_TEXTS ? TEXTS_SYMBOL
                      : items[i].symbol == TVMS_X86_CODE
                          ? CODE_SYMBOL
                          : FIRST_SYMBOL + items[i].symbol;
    Elf64_Rela rela = {items[i].at, ELF64_R_INFO(symbol, items[i].type), items[i].add};
    tvms_strbuf_add(w->out, (const char *)&rela, sizeof rela);
  }
  end(w, section);
}

static void write_symbol(writer *w, const tvms_x86_symbol *s) {
  unsigned char binding = s->weak ? STB_WEAK : STB_GLOBAL;
  unsigned char type = !s->defined ? STT_NOTYPE : s->data ? STT_OBJECT : STT_FUNC;
  Elf64_Sym symbol = {.st_name = s->name,
                      .st_info = (unsigned char)ELF64_ST_INFO(binding, type),
                      .st_other = s->hidden ? STV_HIDDEN : STV_DEFAULT,
                      .st_shndx = !s->defined ? SHN_UNDEF
                                  : s->data   ? ZEROED
                                              : CODE,
                      .st_value = s->at,
                      .st_size = s->size};
  tvms_strbuf_add(w->out, (const char *)&symbol, sizeof symbol);
}

static void write_symbols(writer *w) {
  static const Elf64_Sym first[FIRST_SYMBOL] = {
      [CODE_SYMBOL] = {.st_info = STT_SECTION, .st_shndx = CODE},
      [TEXTS_SYMBOL] = {.st_info = STT_SECTION, .st_shndx = TEXTS},
  };
  begin(w, SYMBOLS);
  tvms_strbuf_add(w->out, (const char *)first, sizeof first);
  for (uint32_t i = 0; i < w->code->symbols.len; i++)
    write_symbol(w, &w->code->symbols.items[i]);
  end(w, SYMBOLS);
}

static void describe(writer *w) {
  static const Elf64_Shdr heads[SECTIONS] = {
      [CODE] = {.sh_type = SHT_PROGBITS,
                .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                .sh_addralign = 16},
      [CODE_REFERENCES] = {.sh_type = SHT_RELA,
                           .sh_flags = SHF_INFO_LINK,
                           .sh_link = SYMBOLS,
                           .sh_info = CODE,
                           .sh_entsize = sizeof(Elf64_Rela),
                           .sh_addralign = 8},
      [TEXTS] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 1},
      [ZEROED] = {.sh_type = SHT_NOBITS,
                  .sh_flags = SHF_ALLOC | SHF_WRITE,
                  .sh_addralign = 8},
      [FRAMES] = {.sh_type = SHT_X86_64_UNWIND,
                  .sh_flags = SHF_ALLOC,
                  .sh_addralign = 8},
      [FRAME_REFERENCES] = {.sh_type = SHT_RELA,
                            .sh_flags = SHF_INFO_LINK,
                            .sh_link = SYMBOLS,
                            .sh_info = FRAMES,
                            .sh_entsize = sizeof(Elf64_Rela),
                            .sh_addralign = 8},
      [ENDS] = {.sh_type = SHT_FINI_ARRAY,
                .sh_flags = SHF_ALLOC | SHF_WRITE,
                .sh_addralign = 8},
      [END_REFERENCES] = {.sh_type = SHT_RELA,
                          .sh_flags = SHF_INFO_LINK,
                          .sh_link = SYMBOLS,
                          .sh_info = ENDS,
                          .sh_entsize = sizeof(Elf64_Rela),
                          .sh_addralign = 8},
      [STACK] = {.sh_type = SHT_PROGBITS, .sh_addralign = 1},
      [SYMBOLS] = {.sh_type = SHT_SYMTAB,
                   .sh_link = NAMES,
                   .sh_info = FIRST_SYMBOL,
                   .sh_entsize = sizeof(Elf64_Sym),
                   .sh_addralign = 8},
      [NAMES] = {.sh_type = SHT_STRTAB, .sh_addralign = 1},
      [SECTION_NAMES] = {.sh_type = SHT_STRTAB, .sh_addralign = 1},
  };
  memcpy(w->heads, heads, sizeof heads);
}

static void write_section_names(writer *w) {
  static const char *const names[SECTIONS] = {"",
                                              ".text",
                                              ".rela.text",
                                              ".rodata",
                                              ".bss",
                                              ".eh_frame",
                                              ".rela.eh_frame",
                                              ".fini_array",
                                              ".rela.fini_array",
                                              ".note.GNU-stack",
                                              ".symtab",
                                              ".strtab",
                                              ".shstrtab"};
  begin(w, SECTION_NAMES);
  for (uint32_t i = 0; i < SECTIONS; i++) {
    size_t start = w->base + w->heads[SECTION_NAMES].sh_offset;
    w->heads[i].sh_name = (uint32_t)(w->out->len - start);
    tvms_strbuf_add(w->out, names[i], strlen(names[i]) + 1);
  }
  end(w, SECTION_NAMES);
}

// Linkers warn of an empty list, so there is none then.
static void write_end(writer *w) {
  tvms_x86_reference reference = {0, TVMS_X86_CODE, R_X86_64_64, (int64_t)w->code->end};
  if (!w->code->has_end) {
    memset(&w->heads[ENDS], 0, 2 * sizeof w->heads[ENDS]);
    return;
  }
  begin(w, ENDS);
  tvms_strbuf_fill(w->out, 0, sizeof(uint64_t));
  end(w, ENDS);
  write_references(w, END_REFERENCES, &reference, 1);
}

static Elf64_Ehdr head_of(uint64_t sections) {
  return (Elf64_Ehdr){
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                  EV_CURRENT},
      .e_type = ET_REL,
      .e_machine = EM_X86_64,
      .e_version = EV_CURRENT,
      .e_shoff = sections,
      .e_ehsize = sizeof(Elf64_Ehdr),
      .e_shentsize = sizeof(Elf64_Shdr),
      .e_shnum = SECTIONS,
      .e_shstrndx = SECTION_NAMES,
  };
}

void tvms_x86_object(tvms_x86_code *c, tvms_strbuf *out) {
  writer w = {.code = c, .out = out, .base = out->len};
  describe(&w);
  tvms_strbuf_fill(out, 0, sizeof(Elf64_Ehdr));
  write_text(&w, CODE, &c->code);
  write_references(&w, CODE_REFERENCES, c->references.items, c->references.len);
  write_text(&w, TEXTS, &c->texts);
  begin(&w, ZEROED);
  w.heads[ZEROED].sh_size = c->zeroed;
  write_text(&w, FRAMES, &c->frames);
  write_references(&w, FRAME_REFERENCES, c->frame_references.items,
                   c->frame_references.len);
  write_end(&w);
  begin(&w, STACK);
  write_symbols(&w);
  write_text(&w, NAMES, &c->names);
  write_section_names(&w);
  tvms_strbuf_fill(out, 0, (8 - (out->len - w.base) % 8) % 8);
  Elf64_Ehdr head = head_of(out->len - w.base);
  tvms_strbuf_add(out, (const char *)w.heads, sizeof w.heads);
  memcpy(out->text + w.base, &head, sizeof head);
}
