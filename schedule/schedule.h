// A schedule over a module: the functions that it has touched, what was done, and how a step is done by its name.
//
// The steps are the rows of schedule/instructions.def. A script (schedule/script.h) and a scheduler
// call them the same way: with one value for each parameter of the row.
#ifndef TVMS_SCHEDULE_SCHEDULE_H
#define TVMS_SCHEDULE_SCHEDULE_H

#include "ir/module.h"
#include "schedule/value.h"

// A parameter of a row.
typedef enum {
  TVMS_PARAM_BLOCK,
  TVMS_PARAM_LOOP,
  TVMS_PARAM_ANY_REF,  // a block or a loop
  TVMS_PARAM_TARGET,   // a loop, or a list of blocks
  TVMS_PARAM_LOOPS,    // the rest of the arguments
  TVMS_PARAM_BLOCKS,   // a list
  TVMS_PARAM_INT,
  TVMS_PARAM_BOOL,
  TVMS_PARAM_FLAG,  // the same; in JSON 0 or 1
  TVMS_PARAM_TEXT,
  TVMS_PARAM_INDEX,    // of a buffer that a block reads or writes, or its name
  TVMS_PARAM_INTS,     // a list of numbers
  TVMS_PARAM_FACTORS,  // a list of numbers, or None for one of them
  TVMS_PARAM_MAP,      // a function of indices
  TVMS_PARAM_RANGES,   // a function of indices that gives pairs
  TVMS_PARAM_PADDING,  // a function of indices, or a number
  TVMS_PARAM_BUFFER,   // ("write", 0), or a name
  TVMS_PARAM_ACCESS,   // "read" or "write"; in JSON 0 or 1
  TVMS_PARAM_VALUE,    // anything
} tvms_param_type;

// The list of a trace in JSON in which a parameter stands.
typedef enum {
  TVMS_PLACE_INPUT,
  TVMS_PLACE_ATTR,
  TVMS_PLACE_DECISION
} tvms_param_place;

typedef struct {
  const char *name;
  tvms_param_type type;
  tvms_param_place place;
  const char *initial;  // None, a number, a text; "" if it must be given
} tvms_sched_param;

typedef struct tvms_schedule tvms_schedule;

// A step at work: its values in the order of the parameters.
typedef struct {
  tvms_schedule *schedule;
  tvms_sched *sched;       // function of the first reference; NULL: there is none
  tvms_sched_value *args;  // a step may complete them for the trace
  uint32_t count;
  tvms_sched_value result;  // NONE at first
} tvms_step;

// Does a step; false after a refusal.
typedef bool tvms_step_function(tvms_step *step);

typedef struct {
  const char *kind;         // in traces: "GetSBlock"
  const char *name;         // of the method: "get_sblock"
  const char *former;       // up to 0.22, or ""
  const char *former_kind;  // in traces of that time, or ""
  tvms_step_function *run;
  uint32_t first;  // index of its first parameter
} tvms_sched_row;

// Steps that were done, for writing the trace.
typedef struct {
  const tvms_sched_row *row;
  tvms_sched_value *args;
  uint32_t count;
  tvms_sched_value result;
} tvms_done_step;

struct tvms_schedule {
  tvms_context *context;
  tvms_module *module;
  TVMS_VEC(tvms_sched *) functions;
  TVMS_VEC(tvms_done_step) done;
  uint32_t names;       // of results, given so far
  tvms_sym working_on;  // what get_sblock means without a name; 0: unknown
  tvms_source *TVMS_NULLABLE script;
  tvms_arena arena;  // values
};

// Prepares a schedule, in the caller's storage, over all PrimFuncs of a module. Functions are copied when a step first
// touches them.
void tvms_schedule_init(tvms_schedule *schedule, tvms_module *module);

// Frees the schedule and the functions that tvms_schedule_take did not take.
void tvms_schedule_fini(tvms_schedule *schedule);

// Gives up a changed function to the caller, who owns `*unit` from now on. `index` is that of the schedule's functions.
tvms_node *tvms_schedule_take(tvms_schedule *schedule, uint32_t index,
                              tvms_unit **unit);

// The function under schedule with this name; NULL: the module has no such PrimFunc.
tvms_sched *TVMS_NULLABLE tvms_schedule_function(tvms_schedule *schedule,
                                                 tvms_sym name);

// Reports that the module has no PrimFunc of this name, or, without a name, that it has several of which none
// was named. Returns false.
TVMS_NODISCARD bool tvms_schedule_refuse_function(tvms_schedule *schedule,
                                                  tvms_span span,
                                                  const char *TVMS_NULLABLE name);

// ---- For the functions of steps ----

// Site of a reference argument; TVMS_NO_SITE after a refusal: what it named is gone.
int32_t tvms_step_site(tvms_step *step, uint32_t index);

// The sites of a list of references; false after a refusal.
TVMS_NODISCARD bool tvms_step_sites(tvms_step *step, uint32_t index, int32_t *sites);

// Makes the result a reference to a block or a loop.
void tvms_step_give(tvms_step *step, int32_t site);

// Makes the result a list of references.
void tvms_step_give_list(tvms_step *step, const int32_t *sites, uint32_t count);

// The index map that an argument is, for axes of these types. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_step_map(tvms_step *step, uint32_t index,
                                       const tvms_dtype *like, uint32_t count);

#endif
