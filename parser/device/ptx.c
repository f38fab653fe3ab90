// Calls of PTX instructions from 0.27 on: T.ptx.ld.acquire.gpu.global_.b32(d, addr).
//
// The chain names the family and modifiers; several forms of ir/device/ptx.def may answer to it, and
// the operands tell which one is meant, as they do in PTX. The call carries its operands, the
// predicate, a text for every modifier of the form and a last text of flags; printed, it is
// read by the same rules.
#include "parser/device/ptx.h"

#include "ir/build.h"
#include "parser/device/ptx_form.h"
#include "parser/device/ptx_operand.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// ---- One form -------------------------------------------------------------------------------

static void add_flag(tvms_ptx_work *w, const char *letter, uint32_t number,
                     bool numbered) {
  size_t len = strlen(w->flags);
  const char *comma = len ? "," : "";
  size_t room = sizeof w->flags - len;
  if (numbered)
    (void)snprintf(w->flags + len, room, "%s%s%u", comma, letter, number);
  else
    (void)snprintf(w->flags + len, room, "%s%s", comma, letter);
}

// The number of operands, and whether the instruction writes one.
static uint32_t operand_count(const tvms_ptx_form *form, bool *writes) {
  tvms_ptx_operand operand;
  uint32_t count = 0;
  *writes = false;
  for (uint32_t i = 0; tvms_ptx_operand_of(form, i, &operand); i++) {
    count += operand.count;
    bool only_written = operand.written && !operand.read;
    *writes = *writes || (operand.kind == TVMS_PTX_REGISTER && only_written);
  }
  return count;
}

static void put_flags(tvms_ptx_work *w, const tvms_ptx_form *form) {
  w->flags[0] = '\0';
  if (w->pred) add_flag(w, "pred", 0, false);
  if (w->keep) add_flag(w, "keep", 0, false);
  tvms_ptx_operand operand;
  uint32_t at = 0;
  for (uint32_t i = 0; tvms_ptx_operand_of(form, i, &operand); i++) {
    if (operand.count && tvms_ptx_is_predicate(&operand) && !operand.written) {
      add_flag(w, "p", at, true);
    }
    at += operand.count;
  }
  for (uint32_t i = 0; i < w->count; i++) {
    if (w->operands[i].kind == TVMS_EVAL_PTX && w->operands[i].len == TVMS_PTX_SINK) {
      add_flag(w, "s", i, true);
    }
  }
}

// Makes the arguments of the call by a form, or says why it is not meant.
static bool try_form(tvms_ptx_work *w, const tvms_ptx_form *form) {
  w->args.len = 0;
  w->misfit = (tvms_ptx_misfit){0};
  if (!tvms_ptx_is_complete(form, &w->misfit.name)) {
    w->misfit.kind = TVMS_PTX_MISFIT_MODIFIER;
    return false;
  }
  if (!tvms_ptx_is_allowed(form)) {
    w->misfit.kind = TVMS_PTX_MISFIT_TOGETHER;
    return false;
  }
  bool writes;
  uint32_t count = operand_count(form, &writes);
  if (count != w->count) {
    w->misfit = (tvms_ptx_misfit){.kind = TVMS_PTX_MISFIT_COUNT, .count = count};
    return false;
  }
  if (w->keep && !(writes && w->pred)) {
    return tvms_ptx_unfit(w, "preserve_dst",
                          "given with pred= to an instruction that writes a register");
  }
  tvms_ptx_operand operand;
  uint32_t at = 0;
  for (uint32_t i = 0; tvms_ptx_operand_of(form, i, &operand); i++) {
    if (!tvms_ptx_put_operand(w, &operand, at)) return false;
    at += operand.count;
  }
  if (w->pred) tvms_ptx_push(w, w->pred);
  return true;
}

static tvms_eval_value finish(tvms_ptx_work *w, const tvms_ptx_form *form) {
  tvms_reader *reader = w->reader;
  const char *chosen;
  for (uint32_t i = 0; (chosen = tvms_ptx_modifier_text(form, i)) != NULL; i++) {
    tvms_ptx_push(
        w, tvms_string_imm_new(reader->unit, chosen, strlen(chosen), TVMS_NO_SPAN));
  }
  put_flags(w, form);
  tvms_ptx_push(
      w, tvms_string_imm_new(reader->unit, w->flags, strlen(w->flags), TVMS_NO_SPAN));
  for (uint32_t i = 0; i < w->args.len; i++) {
    if (!w->args.items[i]) return TVMS_UNKNOWN;  // a constant that does not fit
  }
  return tvms_eval_value_node(tvms_call_new_of(
      reader->unit, (tvms_dtype){0}, tvms_ptx_opcode(form), w->args.items, w->args.len,
      tvms_reader_span_of(reader, w->call)));
}

// ---- The chain ------------------------------------------------------------------------------

// "global_" for a keyword, "__" for "::", "__colon__" for ":".
static size_t plain_token(const char *text, size_t len, char *token) {
  size_t out = 0;
  for (size_t i = 0; i < len; i++) {
    bool colon = len - i >= 9 && memcmp(text + i, "__colon__", 9) == 0;
    bool scope = len - i >= 2 && memcmp(text + i, "__", 2) == 0;
    token[out++] = colon || scope ? ':' : text[i];
    if (colon) i += 8;
    if (scope && !colon) {
      token[out++] = ':';
      i++;
    }
  }
  if (out && token[out - 1] == '_') out--;
  return out;
}

bool tvms_ptx_is_operator_family(const tvms_reader *reader, const char *path,
                                 size_t len) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_ptx_has_forms) || len < 4
      || memcmp(path, "ptx.", 4) != 0) {
    return false;
  }
  const char *dot = memchr(path + 4, '.', len - 4);
  size_t family = dot ? (size_t)(dot - path - 4) : len - 4;
  char token[128];
  if (family >= sizeof token) return false;
  return tvms_ptx_forms_of(token, plain_token(path + 4, family, token)).count > 0;
}

static bool narrow(tvms_ptx_work *w, const char *token, size_t len) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < w->forms.len; i++) {
    tvms_ptx_form form = w->forms.items[i];
    if (tvms_ptx_choose(&form, token, len)) w->forms.items[kept++] = form;
  }
  if (kept) w->forms.len = kept;
  return kept != 0;
}

// All forms that "ptx.family.x.y" leaves.
static bool open_chain(tvms_ptx_work *w, size_t len) {
  tvms_memory *memory = &w->reader->context->memory;
  const char *path = w->path, *end = path + len;
  char token[128];
  for (const char *at = path + 4; at < end;) {
    const char *dot = memchr(at, '.', (size_t)(end - at));
    size_t size = (size_t)((dot ? dot : end) - at);
    size_t token_len = size < sizeof token ? plain_token(at, size, token) : 0;
    if (at == path + 4) {
      tvms_ptx_slice forms = tvms_ptx_forms_of(token, token_len);
      for (uint32_t i = 0; i < forms.count; i++) {
        tvms_vec_push(memory, &w->forms, tvms_ptx_form_of(forms.first + i));
      }
    } else if (!narrow(w, token, token_len)) {
      tvms_reader_report(w->reader, ptx_modifier, w->call, (int)token_len, token, path);
      return false;
    }
    at = dot ? dot + 1 : end;
  }
  return true;
}

// ---- What was given -------------------------------------------------------------------------

// An expression of an operand, NULL for what is not one; false: it is unknown.
static bool to_node(tvms_ptx_work *w, tvms_eval_value value, tvms_node **node) {
  *node = NULL;
  if (value.kind == TVMS_EVAL_UNKNOWN) return false;
  if (value.kind == TVMS_EVAL_META) return to_node(w, value.as.items[0], node);
  if (value.kind == TVMS_EVAL_PTX) {
    return value.len == TVMS_PTX_SINK || to_node(w, value.as.items[0], node);
  }
  if (value.kind != TVMS_EVAL_NODE) return true;
  tvms_list list;
  tvms_eval_value one = tvms_eval_value_items(TVMS_EVAL_TUPLE, &value, 1);
  if (!tvms_tir_to_arguments(w->reader, one, w->call, &list)) return false;
  *node = list.items[0];
  return true;
}

static bool set_operands(tvms_ptx_work *w, const tvms_eval_value *items,
                         uint32_t count) {
  tvms_reader *reader = w->reader;
  w->operands = tvms_eval_keep_items(reader, items, count);
  w->nodes = tvms_arena_array(&reader->values, tvms_node *, count + 1);
  w->count = count;
  bool sound = true;
  for (uint32_t i = 0; i < count; i++) {
    sound = to_node(w, w->operands[i], &w->nodes[i]) && sound;
  }
  return sound;
}

static bool set_pred(tvms_ptx_work *w, tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (value.kind == TVMS_EVAL_BOOL) {
    w->pred = tvms_bool_imm_new(w->reader->unit, value.as.i != 0, TVMS_NO_SPAN);
    return true;
  }
  if (value.kind == TVMS_EVAL_INT) {
    w->pred = tvms_int_imm_new(w->reader->unit, TVMS_DTYPE(INT, 32), value.as.i,
                               TVMS_NO_SPAN);
    return true;
  }
  if (!to_node(w, value, &w->pred)) return false;
  if (tvms_ptx_is_truth(w->pred)) return true;
  tvms_eval_report_wrong_type(w->reader, w->call, "pred", "a bool, uint32 or int32",
                              value);
  return false;
}

// Puts back what the flags of a printed call say: sunk registers and predicates.
static bool read_flags(tvms_ptx_work *w, tvms_eval_value flags,
                       tvms_eval_value_vec *operands) {
  tvms_memory *memory = &w->reader->context->memory;
  uint32_t predicates[32], known = 0;
  for (uint32_t i = 0; i < flags.len;) {
    const char *text = flags.as.text + i;
    const char *comma = memchr(text, ',', flags.len - i);
    uint32_t len = comma ? (uint32_t)(comma - text) : flags.len - i;
    uint32_t number = 0;
    bool numbered = len > 1 && (text[0] == 's' || text[0] == 'p');
    for (uint32_t k = 1; numbered && k < len; k++) {
      numbered = text[k] >= '0' && text[k] <= '9' && number < 100000;
      number = number * 10 + (uint32_t)(text[k] - '0');
    }
    if (len == 4 && memcmp(text, "keep", 4) == 0) w->keep = true;
    if (numbered && text[0] == 'p' && known < 32) predicates[known++] = number;
    if (numbered && text[0] == 's') {
      if (number > operands->len) return false;
      tvms_vec_push(memory, operands, TVMS_NOTHING);
      memmove(operands->items + number + 1, operands->items + number,
              (operands->len - 1 - number) * sizeof *operands->items);
      operands->items[number] = (tvms_eval_value){.kind = TVMS_EVAL_PTX};
    }
    i += len + 1;
  }
  for (uint32_t i = 0; i < known; i++) {
    if (predicates[i] >= operands->len) return false;
    tvms_eval_value *inner =
        tvms_eval_keep_items(w->reader, &operands->items[predicates[i]], 1);
    operands->items[predicates[i]] =
        tvms_eval_value_items(TVMS_EVAL_PTX, inner, TVMS_PTX_PREDICATE);
  }
  return true;
}

static bool has_flag(tvms_eval_value flags, const char *flag) {
  size_t len = strlen(flag);
  for (uint32_t i = 0; i < flags.len;) {
    const char *text = flags.as.text + i;
    const char *comma = memchr(text, ',', flags.len - i);
    uint32_t part = comma ? (uint32_t)(comma - text) : flags.len - i;
    if (part == len && memcmp(text, flag, len) == 0) return true;
    i += part + 1;
  }
  return false;
}

// The texts behind the operands of a printed call: modifiers, and flags at the end.
static bool read_texts(tvms_ptx_work *w, tvms_eval_value rest, uint32_t operands,
                       tvms_eval_value_vec *list) {
  for (uint32_t i = operands; i + 1 < rest.len; i++) {
    tvms_eval_value text = rest.as.items[i];
    if (!text.len || narrow(w, text.as.text, text.len)) continue;
    tvms_reader_report(w->reader, ptx_modifier, w->call, (int)text.len, text.as.text,
                       w->path);
    return false;
  }
  tvms_eval_value flags = rest.as.items[rest.len - 1];
  if (has_flag(flags, "pred") && !w->pred && list->len) {
    if (!set_pred(w, list->items[--list->len])) return false;
  }
  return read_flags(w, flags, list);
}

static bool read_arguments(tvms_ptx_work *w, tvms_eval_value rest) {
  tvms_memory *memory = &w->reader->context->memory;
  tvms_eval_value_vec list = {0};
  uint32_t operands = rest.len;
  while (operands && rest.as.items[operands - 1].kind == TVMS_EVAL_STR) {
    operands--;
  }
  for (uint32_t i = 0; i < operands; i++) {
    tvms_vec_push(memory, &list, rest.as.items[i]);
  }
  bool sound = operands == rest.len || read_texts(w, rest, operands, &list);
  sound = sound && set_operands(w, list.items, list.len);
  tvms_vec_fini(memory, &list);
  return sound;
}

// ---- Calls ----------------------------------------------------------------------------------

static void complain(tvms_ptx_work *w, tvms_ptx_misfit why, bool alone) {
  tvms_diags *diags = &w->reader->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_ptx_form, tvms_reader_span_of(w->reader, w->call),
                       w->path, w->count);
  if (!alone && why.kind < TVMS_PTX_MISFIT_OPERAND) return;
  switch (why.kind) {
  case TVMS_PTX_MISFIT_MODIFIER:
    tvms_diag_remark(diags, diag, "modifier '%s' is missing", why.name);
    break;
  case TVMS_PTX_MISFIT_TOGETHER:
    tvms_diag_remark(diags, diag, "these modifiers do not go together");
    break;
  case TVMS_PTX_MISFIT_COUNT:
    tvms_diag_remark(diags, diag, "it takes %u operands", why.count);
    break;
  case TVMS_PTX_MISFIT_OPERAND:
    tvms_diag_remark(diags, diag, "'%s' must be %s", why.name, why.wanted);
  }
}

static tvms_eval_value choose_form(tvms_ptx_work *w) {
  tvms_ptx_misfit nearest = {0};
  const tvms_ptx_form *meant = NULL;
  uint32_t count = 0;
  for (uint32_t i = w->forms.len; i-- > 0;) {
    if (try_form(w, &w->forms.items[i])) {
      meant = &w->forms.items[i];
      count++;
    } else if (w->misfit.kind >= nearest.kind) {
      nearest = w->misfit;
    }
  }
  if (count == 1 && try_form(w, meant)) return finish(w, meant);
  if (count > 1)
    tvms_reader_report(w->reader, ptx_ambiguous, w->call, count, w->path);
  else
    complain(w, nearest, w->forms.len == 1);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_ptx_call(tvms_reader *reader, const char *path, size_t len,
                              tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  bool keep;
  tvms_ptx_work w = {.reader = reader, .call = call, .path = path};
  tvms_eval_value value = TVMS_UNKNOWN;
  if (tvms_signature_bind_method(reader, "*args, pred=None, preserve_dst=False", path,
                                 call, args)
      && tvms_eval_to_flag(reader, args[2], call, &keep) && open_chain(&w, len)) {
    w.keep = keep;
    if (set_pred(&w, args[1]) && read_arguments(&w, args[0])) {
      value = choose_form(&w);
    }
  }
  tvms_vec_fini(&reader->context->memory, &w.forms);
  tvms_vec_fini(&reader->context->memory, &w.args);
  if (!tvms_eval_value_is_known(value)) reader->failed = true;
  return value;
}

tvms_eval_value tvms_ptx_call_pred(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "value", "ptx.pred", call, args))
    return TVMS_UNKNOWN;
  return tvms_eval_value_items(TVMS_EVAL_PTX, tvms_eval_keep_items(reader, args, 1),
                               TVMS_PTX_PREDICATE);
}

tvms_eval_value tvms_ptx_call_addr(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ptx_work w = {.reader = reader, .call = call};
  if (!tvms_signature_bind_method(reader, "base, byte_offset", "ptx.addr", call,
                                  args)) {
    return TVMS_UNKNOWN;
  }
  tvms_node *offset = NULL;
  if (args[1].kind == TVMS_EVAL_INT) {
    offset = tvms_ptx_constant(&w, args[1], TVMS_DTYPE(INT, 32));
  } else if (!to_node(&w, args[1], &offset)) {
    return TVMS_UNKNOWN;
  }
  if (offset && offset->kind == TVMS_NODE_INT_IMM) {
    offset = tvms_ptx_constant(&w, tvms_eval_value_int(tvms_as_int_imm(offset)->value),
                               TVMS_DTYPE(INT, 32));
  }
  if (tvms_ptx_is_pair(args[0]) || !tvms_ptx_is_integer(offset)) {
    tvms_eval_report_wrong_type(reader, call, "the argument of T.ptx.addr",
                                "an address and an offset of bytes",
                                args[tvms_ptx_is_pair(args[0]) ? 0 : 1]);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value items[] = {args[0], tvms_eval_value_node(offset)};
  return tvms_eval_value_items(TVMS_EVAL_PTX, tvms_eval_keep_items(reader, items, 2),
                               TVMS_PTX_ADDRESS_PAIR);
}
