/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options from the environment, as sbatch and salloc have them for their own: SBATCH_DL_MODEL, SALLOC_DL_TRAIN. */
#ifndef DLCAST_PLUGIN_SPANK_DEFAULT_H
#define DLCAST_PLUGIN_SPANK_DEFAULT_H

/* What holds for the option `name` ("dl-model"), as sbatch(1) says: the command line, then the environment, then the
 * script's lines. `given` is the last of command line and script, NULL where neither has it. NULL: nothing holds. */
const char* dlcast_option_value(const char* name, const char* given);

#endif
