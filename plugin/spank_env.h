/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The payload's way through a submission: entries of job_desc_msg_t.spank_job_env, "NAME=value". */
#ifndef DLCAST_PLUGIN_SPANK_ENV_H
#define DLCAST_PLUGIN_SPANK_ENV_H

#include "plugin/slurm_compat.h"

/* Takes everything of ours out of job->spank_job_env: each DLCAST_MODEL entry, of any size, and the entries Slurm
 * itself adds for --dl-model and --dl-train. Otherwise they would stay with the job, in the state file and in the
 * environment of PrologSlurmctld, where one of 1 MB ends slurmctld. Returns the first DLCAST_MODEL entry, whole, to be
 * given to slurm_xfree; NULL if there is none. */
char* dlcast_take_payload(job_desc_msg_t* job);

#endif
