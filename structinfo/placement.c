// The texts of placements.
#include "structinfo/placement.h"

#include <stdio.h>

bool tvms_placement_parse(tvms_bytes text, tvms_placement *placement) {
  const char *at = text.text, *end = text.text + text.len;
  placement->count = 0;
  for (; at < end; at++) {
    if (*at == ' ' || *at == ',') continue;
    int64_t axis = TVMS_REPLICATED;
    if (*at == 'S') {
      if (end - at < 4 || at[1] != '[') return false;
      const char *digits = at + 2;
      axis = 0;
      for (at = digits; at < end && *at >= '0' && *at <= '9' && axis < 1000; at++) {
        axis = axis * 10 + (*at - '0');
      }
      if (at == digits || at == end || *at != ']') return false;
    } else if (*at != 'R') {
      return false;
    }
    if (placement->count == TVMS_MOST_MESH) return false;
    placement->axes[placement->count++] = axis;
  }
  return true;
}

tvms_bytes tvms_placement_text(tvms_unit *unit, const tvms_placement *placement) {
  char text[TVMS_MOST_MESH * 16] = "";
  size_t len = 0;
  for (uint32_t i = 0; i < placement->count; i++) {
    const char *comma = i ? ", " : "";
    int axis = (int)placement->axes[i];
    size_t room = sizeof text - len;
    len += (size_t)(axis == TVMS_REPLICATED
                        ? snprintf(text + len, room, "%sR", comma)
                        : snprintf(text + len, room, "%sS[%d]", comma, axis));
  }
  return tvms_bytes_copy(unit, text, (uint32_t)len);
}

const char *tvms_placement_misfit(const tvms_placement *placement,
                                  const tvms_node *mesh, int64_t ndim) {
  if (placement->count != tvms_as_object_mesh(mesh)->shape.len) {
    return "the mesh has a different number of dimensions";
  }
  for (uint32_t i = 0; i < placement->count; i++) {
    if (placement->axes[i] >= ndim) return "the tensor has no such axis";
  }
  return NULL;
}
