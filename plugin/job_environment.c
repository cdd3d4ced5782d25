/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/job_environment.h"

#include <string.h>

#include "plugin/bridge.h"

void dlcast_clean_environment(job_desc_msg_t* job) {
    static const char copied[] = "SLURM_SPANK_" DLCAST_PAYLOAD_VARIABLE "=";
    if (!job->environment) return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < job->env_size; ++i) {
        char* entry = job->environment[i];
        if (entry && strncmp(entry, copied, strlen(copied)) == 0)
            slurm_xfree((void**)&entry);
        else
            job->environment[kept++] = entry;
    }
    for (uint32_t i = kept; i < job->env_size; ++i) job->environment[i] = NULL;
    job->env_size = kept;
}

static int is_set(const job_desc_msg_t* job, const char* line) {
    const size_t name = strcspn(line, "=") + 1;
    for (uint32_t i = 0; i < job->env_size; ++i)
        if (job->environment[i] && strncmp(job->environment[i], line, name) == 0) return 1;
    return 0;
}

void dlcast_add_to_environment(job_desc_msg_t* job, const char* text) {
    if (!job->environment || job->env_size == 0) return;
    uint32_t lines = 0;
    for (const char* c = text; *c; ++c) lines += c == text || c[-1] == '\n';
    if (lines == 0) return;
    char** grown =
        slurm_xcalloc((size_t)job->env_size + lines + 1, sizeof *grown, true, false, __FILE__, __LINE__, __func__);
    memcpy(grown, job->environment, job->env_size * sizeof *grown);
    slurm_xfree((void**)&job->environment);
    job->environment = grown;
    while (*text) {
        const size_t length = strcspn(text, "\n");
        char line[1024];
        if (length > 0 && length < sizeof line) {
            memcpy(line, text, length);
            line[length] = '\0';
            if (!is_set(job, line)) job->environment[job->env_size++] = slurm_xstrdup(line);
        }
        text += length + (text[length] == '\n');
    }
}
