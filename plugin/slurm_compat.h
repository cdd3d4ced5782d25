/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one file that asks which Slurm this is. Written against 22.05; noted here is what later versions changed. */
#ifndef DLCAST_PLUGIN_SLURM_COMPAT_H
#define DLCAST_PLUGIN_SLURM_COMPAT_H

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h> /* also declares slurm_info and slurm_error */
#include <stdbool.h>
#include <stddef.h>

/* Symbols Slurm looks up; everything else in a plugin is hidden. */
#define DLCAST_EXPORT __attribute__((visibility("default")))

/* Slurm's own allocator, which must have made every field of a message. Exported by slurmctld and its library, declared
 * in no public header; the same from 20.11 to 26.05. slurm_xfree sets the pointer to NULL. */
extern void* slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char* file, int line,
                           const char* function);
extern void slurm_xfree(void** memory);
extern char* slurm_xstrdup(const char* text);

/* 23.02 gave job_modify a message for the user. */
struct job_record;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define DLCAST_JOB_MODIFY_PARAMETERS job_desc_msg_t *job, struct job_record *record, uint32_t uid, char **error
#define DLCAST_UNUSED_JOB_MODIFY_PARAMETERS ((void)job, (void)record, (void)uid, (void)error)
#else
#define DLCAST_JOB_MODIFY_PARAMETERS job_desc_msg_t *job, struct job_record *record, uint32_t uid
#define DLCAST_UNUSED_JOB_MODIFY_PARAMETERS ((void)job, (void)record, (void)uid)
#endif

#endif
