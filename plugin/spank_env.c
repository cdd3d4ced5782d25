/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/spank_env.h"

#include <string.h>

#include "plugin/bridge.h"

static int starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

char* dlcast_take_payload(job_desc_msg_t* job) {
    char* payload = NULL;
    char** entries = job->spank_job_env;
    if (!entries) return NULL;

    uint32_t kept = 0;
    for (uint32_t i = 0; i < job->spank_job_env_size; ++i) {
        char* entry = entries[i];
        int is_payload = entry && starts_with(entry, DLCAST_PAYLOAD_VARIABLE "=");
        if (is_payload && !payload) {
            payload = entry;
        } else if (is_payload || (entry && (starts_with(entry, DLCAST_OPTION_VARIABLE "=") ||
                                            starts_with(entry, DLCAST_TRAINING_VARIABLE "=")))) {
            slurm_xfree((void**)&entry);
        } else {
            entries[kept++] = entry;
        }
    }
    for (uint32_t i = kept; i < job->spank_job_env_size; ++i) entries[i] = NULL;
    job->spank_job_env_size = kept;
    if (kept == 0) slurm_xfree((void**)&job->spank_job_env);
    return payload;
}
