// Drives the generated parser: feeds it tokens and has mended what it refuses (recover.c).
//
// The parser is a push parser without error rules of its own. The generated file is included
// here, so that the compiler sees its actions and the stack is at hand.
#include "grammar/parse.h"

#include "grammar/identifier.h"
#include "grammar/recover.h"

#include <stddef.h>
#include <string.h>

// The parser's stack is a block of the context's memory, like everything else: failing to
// grow it unwinds, and the block goes when the context does.
#define malloc(size) tvms_memory_alloc(&p->build->context->memory, (size))
#define realloc(block, size)                                                           \
  tvms_memory_realloc(&p->build->context->memory, (block), (size))
#define free(block)                      tvms_memory_free(&pParser->build->context->memory, (block))
#define YYNOERRORRECOVERY                1
#define tvms_grammar_ENGINEALWAYSONSTACK 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#ifndef NDEBUG
#  define NDEBUG  // Lemon's tracing has mutable globals
#endif
#include "grammar/tvmscript.c"
#pragma GCC diagnostic pop
#undef malloc
#undef realloc
#undef free
#undef TOKEN  // Lemon's

static const struct {
  uint8_t terminal;
  uint8_t value;
} terminals[] = {
#define TERMINAL_END 0
#define TOKEN(KIND, spelling, TERMINAL, value)                                         \
  [TVMS_TOK_##KIND] = {TERMINAL_##TERMINAL, value},
#include "grammar/tokens.def"
};

// A name that was interned, found again by its bytes. Short names only: most names are,
// and comparing two words costs less than a call.
typedef struct {
  uint64_t head;  // the first 8 bytes, or all
  uint64_t tail;  // the last 8 bytes of a longer one
  uint32_t len;   // 0: free
  tvms_sym sym;
} seen_name;

// A short text gets a small table: clearing it costs more than it saves.
enum {
  MOST_SEEN_LOG = 10,
  FEW_SEEN_LOG = 6,
  SHORT_TEXT = 16 * 1024,
  LONGEST_SEEN = 16
};

typedef struct {
  surf_parser base;
  seen_name *TVMS_NULLABLE seen;  // NULL: not worth it
  uint32_t seen_log;              // log2 of how many there are
  yyStackEntry begin;             // the entry on top in front of base.line
  yyParser lemon;
} parse;

/* Feeding */

static inline void feed(parse *p, int terminal, uint32_t begin, uint32_t end,
                        uint32_t value) {
  tvms_grammar(&p->lemon, terminal,
               (surf_token){.both = begin | (uint64_t)end << 32, .value = value});
}

// The bytes of a name, up to 8 of them, as a word; the text is padded.
static inline uint64_t word_at(const char *text, uint32_t len) {
  uint64_t word;
  memcpy(&word, text, 8);
  return len < 8 ? word & ((UINT64_C(1) << 8 * len) - 1) : word;
}

static inline tvms_sym intern(parse *p, const char *text, uint32_t len) {
  tvms_interner *names = &p->base.build.context->names;
  if (len > LONGEST_SEEN || !p->seen) return tvms_interner_add(names, text, len);
  uint64_t head = word_at(text, len);
  uint64_t tail = len > 8 ? word_at(text + len - 8, 8) : 0;
  uint64_t mixed = (head ^ tail * 3 ^ len) * UINT64_C(0xD6E8FEB86659FD93);
  seen_name *seen = &p->seen[mixed >> (64 - p->seen_log)];
  if (seen->head != head || seen->tail != tail || seen->len != len) {
    *seen = (seen_name){head, tail, len, tvms_interner_add(names, text, len)};
  }
  return seen->sym;
}

static inline void feed_token(parse *p, tvms_token token) {
  uint32_t value = terminals[token.kind].value;
  if (token.kind == TVMS_TOK_NAME) {
    value = intern(p, p->base.text + token.begin, token.end - token.begin);
  } else if (token.kind == TVMS_TOK_WIDE_NAME) {
    value = p->base.layout.lexer.symbol;
  }
  tvms_grammar(&p->lemon, terminals[token.kind].terminal,
               (surf_token){.both = token.both, .value = value});
}

/* The stack, for recovery */

// Every surf_parser is the begin of a `parse`.
static parse *of(surf_parser *p) {
  return (parse *)p;
}

void tvms_surface_push(surf_parser *p, int terminal, uint32_t begin, uint32_t end,
                       uint32_t value) {
  feed(of(p), terminal, begin, end, value);
}

void tvms_surface_push_mark(surf_parser *p, tvms_token_kind kind, uint32_t at) {
  feed(of(p), terminals[kind].terminal, at, at, 0);
}

static uint32_t height(const yyParser *lemon) {
  return (uint32_t)(lemon->yytos - lemon->yystack);
}

uint32_t tvms_surface_height(const surf_parser *p) {
  return height(&((const parse *)p)->lemon);
}

void tvms_surface_set_height(surf_parser *p, uint32_t entries) {
  of(p)->lemon.yytos = of(p)->lemon.yystack + entries;
}

uint32_t tvms_surface_top_end(const surf_parser *p) {
  return (uint32_t)(((const parse *)p)->lemon.yytos->minor.yy0.both >> 32);
}

void tvms_surface_rewind(surf_parser *p) {
  tvms_surface_set_height(p, p->line.height);
  *of(p)->lemon.yytos = of(p)->begin;
}

void tvms_surface_states(surf_parser *p, uint32_t entries, tvms_states *states) {
  const yyParser *lemon = &of(p)->lemon;
  states->len = 0;
  for (uint32_t i = 0; i < entries; i++) {
    tvms_vec_push(&p->build.context->memory, states, lemon->yystack[i].stateno);
  }
  bool begin = entries == p->line.height;
  tvms_vec_push(&p->build.context->memory, states,
                begin ? of(p)->begin.stateno : lemon->yystack[entries].stateno);
}

bool tvms_surface_try(surf_parser *p, tvms_states *states, tvms_token_kind kind) {
  uint8_t terminal = terminals[kind].terminal;
  YYACTIONTYPE state = states->items[states->len - 1];
  for (;;) {
    YYACTIONTYPE action = yy_find_shift_action((YYCODETYPE)terminal, state);
    if (action <= YY_MAX_SHIFTREDUCE) {
      if (action > YY_MAX_SHIFT) action += YY_MIN_REDUCE - YY_MIN_SHIFTREDUCE;
      tvms_vec_push(&p->build.context->memory, states, action);
      return true;
    }
    if (action < YY_MIN_REDUCE) return false;
    unsigned rule = action - YY_MIN_REDUCE;
    states->len -= (uint32_t)-yyRuleInfoNRhs[rule];
    state = yy_find_reduce_action(states->items[states->len - 1], yyRuleInfoLhs[rule]);
    tvms_vec_push(&p->build.context->memory, states, state);
  }
}

void tvms_surface_pop_to_statement(surf_parser *p) {
  yyParser *lemon = &of(p)->lemon;
  while (lemon->yytos > lemon->yystack) {
    YYACTIONTYPE state = lemon->yytos->stateno;
    if (state <= YY_MAX_SHIFT
        && yy_find_shift_action(TERMINAL_ERROR, state) <= YY_MAX_SHIFTREDUCE) {
      break;
    }
    lemon->yytos--;
  }
}

bool tvms_surface_takes(const surf_parser *p, int terminal) {
  enum { MOST = 64 };
  YYACTIONTYPE pushed[MOST];
  int count = 0;
  const yyStackEntry *top = ((const parse *)p)->lemon.yytos;
  YYACTIONTYPE state = top->stateno;
  for (;;) {
    YYACTIONTYPE action = yy_find_shift_action((YYCODETYPE)terminal, state);
    if (action <= YY_MAX_SHIFTREDUCE) return true;
    if (action < YY_MIN_REDUCE) return false;
    unsigned rule = action - YY_MIN_REDUCE;
    int size = -yyRuleInfoNRhs[rule];
    for (; size > 0 && count > 0; size--) {
      count--;
    }
    top -= size;
    if (count == MOST) return false;
    YYACTIONTYPE from = count ? pushed[count - 1] : top->stateno;
    state = yy_find_reduce_action(from, yyRuleInfoLhs[rule]);
    pushed[count++] = state;
  }
}

/* The loop */

static void start(parse *p, tvms_surface *surface) {
  memset(p, 0, offsetof(parse, lemon));
  p->base.build.surface = surface;
  p->base.build.context = surface->context;
  p->base.text = surface->source->text;
  p->base.no_colon = UINT32_MAX;
  p->base.refused = UINT32_MAX;
  p->base.line.begin = UINT32_MAX;
  p->base.mended = UINT32_MAX;
  tvms_grammarInit(&p->lemon, &p->base.build);
}

static void finish(parse *p) {
  tvms_memory *memory = &p->base.build.context->memory;
  tvms_grammarFinalize(&p->lemon);
  tvms_vec_fini(memory, &p->base.layout.indents);
  tvms_vec_fini(memory, &p->base.layout.brackets);
  tvms_vec_fini(memory, &p->base.replay);
}

// Feeds the token, and what recovery makes of it.
static inline void step(parse *p, tvms_token *token) {
  *token = tvms_indentation_next(&p->base.layout);
  do {
    feed_token(p, *token);
  } while (__builtin_expect(p->base.build.failed, 0)
           && tvms_surface_recover(&p->base, token));
}

static bool opens(tvms_token_kind kind) {
  return (kind >= TVMS_TOK_OPEN_ROUND && kind <= TVMS_TOK_OPEN_CURLY)
         || kind == TVMS_TOK_OPEN_ITEMS;
}

static inline void note_bracket(parse *p) {
  p->base.layout.brackets.items[p->base.layout.brackets.len - 1].height =
      height(&p->lemon);
}

// Keeps where the logical line begins whose first token has been fed.
static void note_line(parse *p) {
  tvms_indentation *layout = &p->base.layout;
  uint32_t indents = layout->indents.len, entries = height(&p->lemon) - 1;
  layout->strict = true;
  p->begin = p->lemon.yystack[entries];
  p->base.line = (tvms_line_begin){.begin = layout->first.begin,
                                   .height = entries,
                                   .indents = indents,
                                   .level = layout->indents.items[indents - 1],
                                   .before = layout->before};
}

// A logical line after the other: its begin, the rest of it.
static void run(parse *p) {
  tvms_token token;
  for (;;) {
    do {
      step(p, &token);
    } while (!p->base.layout.begun && token.kind != TVMS_TOK_END);
    if (token.kind == TVMS_TOK_END) return;
    if (token.begin == p->base.layout.first.begin) note_line(p);
    if (opens((tvms_token_kind)token.kind)) note_bracket(p);
    while (p->base.layout.begun) {
      step(p, &token);
      if (token.kind <= TVMS_TOK_OPEN_CURLY || token.kind == TVMS_TOK_OPEN_ITEMS) {
        if (token.kind == TVMS_TOK_END) return;
        if (token.kind != TVMS_TOK_NEWLINE) note_bracket(p);
      }
    }
  }
}

// How many nodes there is room for first: what a text of this size has if it is a program.
// What is much longer is so because of its constants, and nodes grow by moving pages.
static uint32_t first_nodes(size_t size) {
  enum { MOST_NODES = 1 << 22 };
  size_t nodes = size / 4 + 64;
  return nodes < MOST_NODES ? (uint32_t)nodes : MOST_NODES;
}

void tvms_surface_parse_file(tvms_surface *surface) {
  parse p;
  start(&p, surface);
  const tvms_source *source = surface->source;
  seen_name seen[1 << MOST_SEEN_LOG];
  p.seen = seen;
  p.seen_log = source->size < SHORT_TEXT ? FEW_SEEN_LOG : MOST_SEEN_LOG;
  memset(seen, 0, sizeof *seen << p.seen_log);
  surface->cap = first_nodes(source->size);
  // Growing a small block gives bytes that nobody has spent time to zero.
  tvms_memory *memory = &surface->context->memory;
  surface->nodes =
      tvms_memory_realloc(memory, tvms_memory_alloc(memory, sizeof *surface->nodes),
                          (size_t)surface->cap * sizeof *surface->nodes);
  surface->count = 1;
  tvms_indentation_init(&p.base.layout, surface, source->text, source->size, 0, false);
  tvms_lexer_check_text(&p.base.layout.lexer);
  run(&p);
  finish(&p);
}

tvms_ref tvms_surface_parse_nested(tvms_surface *surface, const char *bytes,
                                   size_t size, const char *text, uint32_t offset) {
  tvms_context *context = surface->context;
  uint32_t comments = surface->comment_count;
  uint32_t errors = context->diags.errors;
  parse p;
  start(&p, surface);
  p.base.text = text;
  tvms_indentation_init(&p.base.layout, surface, bytes, size, offset, true);
  if (bytes == text) tvms_lexer_check_text(&p.base.layout.lexer);
  p.base.nested = true;
  feed(&p, TERMINAL_NESTED, offset, offset, 0);
  tvms_token token;
  do {
    token = tvms_indentation_next(&p.base.layout);
    feed_token(&p, token);
    if (p.base.build.failed) {
      tvms_surface_refuse(&p.base, token);
      break;
    }
  } while (token.kind != TVMS_TOK_END);
  finish(&p);
  surface->comment_count = comments;
  return context->diags.errors == errors ? p.base.build.nested : 0;
}
