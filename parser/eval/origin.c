// Whether the text was printed or written by hand: TVM prints what it cannot read back, and
// what was printed keeps names that a reader would change.
#include "parser/eval/origin.h"

#include <string.h>

// A printed program has each statement on one line; a line that ends within brackets was
// written by hand. It begins with commented imports, which nobody writes: with them it stays
// the program that was printed, whoever has laid it out since.
void tvms_reader_find_origin(const tvms_source *source, tvms_origin *origin) {
  const char *at = source->text, *end = source->text + source->size;
  bool inside = false;  // past the metadata, which has lines of its own
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    inside = inside || *at == '@';
    origin->headed |= !inside && stop - at > 7 && memcmp(at, "# from ", 7) == 0;
    const char *last = stop;
    while (last > at && (last[-1] == ' ' || last[-1] == '\r')) {
      last--;
    }
    origin->by_hand |= inside && last > at && strchr("([{,", last[-1]);
    at = stop + 1;
  }
  origin->known = true;
}

bool tvms_reader_is_printed(tvms_reader *reader) {
  if (!reader->origin.known)
    tvms_reader_find_origin(reader->surface->source, &reader->origin);
  return reader->origin.headed || !reader->origin.by_hand;
}

bool tvms_reader_has_printed_header(tvms_reader *reader) {
  return tvms_reader_is_printed(reader) && reader->origin.headed;
}
