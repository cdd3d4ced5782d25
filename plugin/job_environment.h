/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The environment of a batch script, as it travels with the submission. srun and salloc keep theirs at home: for them
 * nothing happens here. */
#ifndef DLCAST_PLUGIN_JOB_ENVIRONMENT_H
#define DLCAST_PLUGIN_JOB_ENVIRONMENT_H

#include "plugin/slurm_compat.h"

/* Takes out the payload that Slurm copied there too: up to 64 KiB of no use to the job. */
void dlcast_clean_environment(job_desc_msg_t* job);

/* Adds the lines of `text`, NAME=value each; one of the same name that is there already stays. */
void dlcast_add_to_environment(job_desc_msg_t* job, const char* text);

#endif
