// Pipelines of passes: reading them, checking what they rely on, running them.
//
// A pass gets a tvms_pass_run. It takes the functions of the module as they are and puts
// new ones, built in new units, in their place; what it does not touch is kept. It never
// prints and never parses: what a user wants to see between passes comes in as hooks.
#ifndef TVMS_PASSES_MANAGER_H
#define TVMS_PASSES_MANAGER_H

#include "ir/module.h"
#include "passes/literal.h"

typedef enum {
  TVMS_OPTION_BOOL,
  TVMS_OPTION_INT,
  TVMS_OPTION_TEXT,
  TVMS_OPTION_DTYPE,
  TVMS_OPTION_LIST,  // of texts: ['a', 'b'] or a;b
  TVMS_OPTION_MAP,   // {'a': ['b', 'c']}
} tvms_option_type;

// A row OPTION or CHOICE of passes.def.
typedef struct {
  const char *pass;
  const char *name;
  tvms_option_type type;
  const char *initial;
  const char *summary;
  const char *TVMS_NULLABLE words;  // of a CHOICE, which is a text: "a|b"
} tvms_pass_option;

// The value of an option: `number` of BOOL and INT, `literal` of LIST and MAP, and the
// text as written.
typedef struct {
  int64_t number;
  const char *text;
  const tvms_literal *TVMS_NULLABLE literal;
} tvms_pass_value;

typedef struct tvms_pass_hooks tvms_pass_hooks;
typedef struct tvms_pass tvms_pass;
typedef struct tvms_pass_log tvms_pass_log;  // passes/remarks.h

// A pass at work.
typedef struct tvms_pass_run tvms_pass_run;
struct tvms_pass_run {
  const tvms_pass *pass;
  tvms_context *context;
  tvms_module *module;
  const tvms_program *TVMS_NULLABLE
      program;                    // what else the text defines, if it is known
  const tvms_pass_value *values;  // of the options, in the order of their rows
  bool changed;
  void *state;  // of the pass, for its callbacks
  // Runs another pass, by TVM's name and with the initial values of its options, as a part
  // of this one. Set by the manager, so that no pass depends on the table of all passes.
  void (*part)(tvms_pass_run *run, const char *name);
  // Reads another program, which an option names by its file, for `data`; the program lives as long
  // as the context. NULL after a report. Set by the manager, so that no pass depends on the reader;
  // NULL: there is nobody who reads.
  const tvms_program *TVMS_NULLABLE (*TVMS_NULLABLE read)(void *data, const char *path);
  void *TVMS_NULLABLE data;
  const tvms_pass_hooks *TVMS_NULLABLE hooks;  // the manager's own, for `part`
  // What passes/relax/analysis/writers.h has found, a block that the manager frees; NULL: not asked yet.
  struct tvms_relax_writers *TVMS_NULLABLE writers;
};

// A row PASS of passes.def.
struct tvms_pass {
  const char *name;  // "CallTIRRewrite"
  void (*run)(tvms_pass_run *run);
  uint32_t requires;
  tvms_dialect since;
  tvms_dialect until;
  const char *summary;
};

// A row of missing.def: a pass of TVM that tvms does not have.
typedef struct {
  const char *name;
  tvms_dialect since;
  tvms_dialect until;
  const char *language;  // what it works on: "Relax" or "TIR"
} tvms_missing_pass;

// A row of pipelines.def.
typedef struct {
  const char *name;
  const char *passes;
  const char *summary;
} tvms_pipeline_row;

// A pipeline with a name that was written in another.
typedef struct tvms_pass_group tvms_pass_group;
struct tvms_pass_group {
  const char *name;
  const tvms_pass_group *TVMS_NULLABLE parent;  // that it stands in; NULL: in the text
};

typedef struct {
  const tvms_pass *pass;
  tvms_pass_value *values;  // NULL: the pass has no options
  tvms_span span;           // of the name, in the text of the pipeline
  const tvms_pass_group *TVMS_NULLABLE group;  // the innermost one; NULL: none
} tvms_pass_step;

typedef struct {
  tvms_source *source;  // the text of the pipeline
  tvms_pass_step *steps;
  uint32_t count;
  tvms_arena arena;  // values of options, groups
} tvms_pipeline;

// What a manager spends time on.
typedef enum {
  TVMS_PHASE_PIPELINE,      // with a name: all that it stands for
  TVMS_PHASE_PASS,          // or one that another runs as a part of it
  TVMS_PHASE_VERIFICATION,  // of what a pass relies on and of what it made
} tvms_pass_phase;

// What the caller wants to do around each pass; members may be NULL.
struct tvms_pass_hooks {
  const tvms_program *program;       // that the module is one of
  tvms_pass_log *TVMS_NULLABLE log;  // of remarks and counts; NULL: none are wanted
  void *data;
  void (*before)(void *data, const tvms_pass_step *step, tvms_module *module);
  void (*after)(void *data, const tvms_pass_step *step, tvms_module *module,
                bool changed, double seconds);
  // See tvms_pass_run.
  const tvms_program *TVMS_NULLABLE (*TVMS_NULLABLE read)(void *data, const char *path);
  // Reports diagnostics about an ill-formed module. Runs after each pass that changed it.
  void (*verify)(void *data, tvms_module *module);
  // Told when a phase begins and when it ends; phases nest. `begin` without `end` is not
  // allowed.
  void (*begin)(void *data, tvms_pass_phase phase, const char *name);
  void (*end)(void *data);
};

// Room for the kebab spelling of the name of a pass.
enum { TVMS_KEBAB_SIZE = 64 };

// Room for a text of releases: "0.22 to 0.25".
enum { TVMS_RELEASES_SIZE = 32 };

// Runs the first `stop_after` steps on the module (UINT32_MAX: all). Stops behind the
// first pass that reports an error, or whose result does not verify, and then returns
// false. *done, if not NULL, gets the number of steps that were finished.
TVMS_NODISCARD bool tvms_pipeline_run(tvms_context *context, tvms_module *module,
                                      const tvms_pipeline *pipeline,
                                      uint32_t stop_after,
                                      const tvms_pass_hooks *TVMS_NULLABLE hooks,
                                      uint32_t *TVMS_NULLABLE done);

#endif
