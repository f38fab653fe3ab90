// The dynamic symbol table of an ELF file, by its section headers.
#include "vm/library.h"

#include <elf.h>
#include <string.h>

typedef struct {
  const char *file;
  size_t size;
} elf_file;

bool tvms_vm_is_library(const char *file, size_t size) {
  return size >= sizeof(Elf64_Ehdr) && memcmp(file, ELFMAG, SELFMAG) == 0
         && file[EI_CLASS] == ELFCLASS64 && file[EI_DATA] == ELFDATA2LSB;
}

// Copies a part of the file, which need not be aligned. False if it lies outside.
static bool copy_part(const elf_file *f, uint64_t at, void *to, size_t size) {
  if (at > f->size || size > f->size - at) return false;
  memcpy(to, f->file + at, size);
  return true;
}

static bool section_at(const elf_file *f, uint32_t index, Elf64_Shdr *section) {
  Elf64_Ehdr head;
  if (!copy_part(f, 0, &head, sizeof head) || index >= head.e_shnum
      || head.e_shentsize != sizeof *section)
    return false;
  uint64_t at;
  if (__builtin_add_overflow(head.e_shoff, (uint64_t)index * sizeof *section, &at))
    return false;
  return copy_part(f, at, section, sizeof *section);
}

// Is the text at an offset of a section of texts this one?
static bool is_named(const elf_file *f, const Elf64_Shdr *texts, uint32_t offset,
                     const char *name) {
  size_t len = strlen(name) + 1;
  uint64_t at;
  bool inside = offset <= texts->sh_size && len <= texts->sh_size - offset
                && !__builtin_add_overflow(texts->sh_offset, (uint64_t)offset, &at)
                && at <= f->size && len <= f->size - at;
  return inside && memcmp(f->file + at, name, len) == 0;
}

// The symbol's place in the file.
static const char *TVMS_NULLABLE content_of(const elf_file *f, const Elf64_Sym *symbol,
                                            size_t *room) {
  Elf64_Shdr section;
  if (!section_at(f, symbol->st_shndx, &section) || section.sh_type == SHT_NOBITS)
    return NULL;
  uint64_t inside = symbol->st_value - section.sh_addr;
  bool sound = symbol->st_value >= section.sh_addr && inside < section.sh_size
               && section.sh_offset <= f->size
               && section.sh_size <= f->size - section.sh_offset;
  if (!sound) return NULL;
  *room = (size_t)(section.sh_size - inside);
  return f->file + section.sh_offset + inside;
}

static const char *TVMS_NULLABLE find_in(const elf_file *f, const Elf64_Shdr *symbols,
                                         const char *name, size_t *room) {
  Elf64_Shdr texts;
  if (!section_at(f, symbols->sh_link, &texts)) return NULL;
  Elf64_Sym symbol;
  for (uint64_t at = 0; at + sizeof symbol <= symbols->sh_size; at += sizeof symbol) {
    if (symbols->sh_offset > f->size
        || !copy_part(f, symbols->sh_offset + at, &symbol, sizeof symbol))
      return NULL;
    if (is_named(f, &texts, symbol.st_name, name)) return content_of(f, &symbol, room);
  }
  return NULL;
}

const char *tvms_vm_library_variable(const char *file, size_t size, const char *name,
                                     size_t *room) {
  elf_file f = {file, size};
  if (!tvms_vm_is_library(file, size)) return NULL;
  Elf64_Shdr section;
  for (uint32_t i = 0; section_at(&f, i, &section); i++) {
    if (section.sh_type == SHT_DYNSYM) return find_in(&f, &section, name, room);
  }
  return NULL;
}
