// What follows from mistakes of syntax.
#ifndef TVMS_PARSER_FOLLOW_UPS_H
#define TVMS_PARSER_FOLLOW_UPS_H

#include "grammar/surface.h"

// Drops findings about the meaning of a file that follow from statements with a mistake of syntax,
// which has been reported: findings in these statements, those that give one of them as
// evidence, names that stand in one of them and are not defined, and definitions whose decorator was
// refused.
void tvms_reader_drop_follow_ups(const tvms_surface *surface);

#endif
