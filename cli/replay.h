// `tvms opt FILE` without --passes: the file says itself how it is run, as reproducers and golden
// files do.
#ifndef TVMS_CLI_REPLAY_H
#define TVMS_CLI_REPLAY_H

#include "cli/run.h"

// If one file is named whose first line is "# RUN: opt OPTION...", its options become those of the
// run, with those of the command line behind them. False after a complaint: that line is wrong.
TVMS_NODISCARD bool tvms_options_replay(tvms_run *run);

#endif
