/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin in slurmctld: copies what a submission asks for, asks the bridge, writes the answer. It runs under the
 * controller's locks, on several threads at once since 23.02; a failure leaves the job as the user wrote it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/bridge.h"
#include "plugin/job_environment.h"
#include "plugin/slurm_compat.h"
#include "plugin/spank_env.h"

DLCAST_EXPORT const char plugin_name[] = "dlcast: forecasts of deep-learning jobs";
DLCAST_EXPORT const char plugin_type[] = "job_submit/dlcast";
DLCAST_EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Each line of `text` as a line of the log. */
static void log_lines(const char* text, int is_error) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length && is_error) slurm_error("dlcast: %.*s", (int)length, text);
        if (length && !is_error) slurm_info("dlcast: %.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static const char* path_from(const char* variable, const char* fallback) {
    const char* value = getenv(variable);
    return value && *value ? value : fallback;
}

/* Never an error: slurmctld would not start without us. */
DLCAST_EXPORT int init(void) {
    char log[4096];
    dlcast_bridge_open(path_from("DLCAST_CONFIG", DLCAST_DEFAULT_CONFIG),
                       path_from("DLCAST_MODULE", DLCAST_DEFAULT_MODULE), log, sizeof log);
    log_lines(log, 0);
    return SLURM_SUCCESS;
}

DLCAST_EXPORT int fini(void) {
    dlcast_bridge_close();
    return SLURM_SUCCESS;
}

static int64_t number32(uint32_t value) { return value == NO_VAL || value == INFINITE ? -1 : (int64_t)value; }
static int64_t number16(uint16_t value) { return value == NO_VAL16 || value == INFINITE16 || value == 0 ? -1 : value; }
static int64_t minutes(uint32_t limit) { return limit == NO_VAL ? -1 : limit == INFINITE ? 0 : (int64_t)limit; }

/* 0 where it is past; -1: no deadline */
static int64_t seconds_until(time_t deadline) {
    const time_t now = time(NULL);
    if (!deadline || deadline == (time_t)NO_VAL) return -1;
    return deadline > now ? (int64_t)(deadline - now) : 0;
}

static void replace(char** field, const char* text) {
    if (!*text) return;
    slurm_xfree((void**)field);
    *field = slurm_xstrdup(text);
}

/* Of one node or, with MEM_PER_CPU set, of one CPU; 0 asks for a node's whole memory. */
static int64_t memory_MiB(uint64_t memory, int per_cpu) {
    if (memory == NO_VAL64 || !memory || ((memory & MEM_PER_CPU) != 0) != per_cpu) return -1;
    return (int64_t)(memory & ~MEM_PER_CPU);
}

static int is_given(const char* text) { return text && *text; }

/* Only a script can give --dl-model to a component whose option Slurm does not hand over. */
static const char* script_of_components(const job_desc_msg_t* job) {
    return job->het_job_offset == 0 ? job->script : NULL;
}

static dlcast_submission submission_of(const job_desc_msg_t* job, const char* payload) {
    const dlcast_submission submission = {
        .payload = payload,
        .partition = job->partition,
        .features = job->features,
        .account = job->account,
        .qos = job->qos,
        .array = job->array_inx,
        .admin_comment = job->admin_comment,
        .tres_per_job = job->tres_per_job,
        .tres_per_node = job->tres_per_node,
        .tres_per_task = job->tres_per_task,
        .tres_per_socket = job->tres_per_socket,
        .script = script_of_components(job),
        .time_limit_min = minutes(job->time_limit),
        .time_min_min = number32(job->time_min),
        .min_nodes = number32(job->min_nodes),
        .max_nodes = number32(job->max_nodes),
        .num_tasks = number32(job->num_tasks),
        .ntasks_per_node = number16(job->ntasks_per_node),
        .ntasks_per_socket = number16(job->ntasks_per_socket),
        .ntasks_per_gpu = number16(job->ntasks_per_tres),
        .sockets_per_node = number16(job->sockets_per_node),
        .min_cpus = number32(job->min_cpus),
        .cpus_per_task = number16(job->cpus_per_task),
        .min_cpus_per_node = number16(job->pn_min_cpus),
        .memory_per_node_MiB = memory_MiB(job->pn_min_memory, 0),
        .memory_per_cpu_MiB = memory_MiB(job->pn_min_memory, 1),
        .deadline_s = seconds_until(job->deadline),
        .names_nodes = is_given(job->req_nodes) || is_given(job->exc_nodes) || is_given(job->reservation),
        .user_id = job->user_id,
        .exclusive = job->shared == JOB_SHARED_NONE,
    };
    return submission;
}

static int error_code(int fault) {
    switch (fault) {
        case DLCAST_FAULT_TIME:
            return ESLURM_INVALID_TIME_LIMIT;
        case DLCAST_FAULT_GPU_REQUEST:
            return ESLURM_INVALID_GRES;
        case DLCAST_FAULT_NO_PLACE:
        case DLCAST_FAULT_MEMORY:
            return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
        case DLCAST_FAULT_BUDGET:
            return ESLURM_ACCOUNTING_POLICY;
        default: /* no forecast, no duration: nothing to make a limit of */
            return ESLURM_MISSING_TIME_LIMIT;
    }
}

static void write_answer(job_desc_msg_t* job, const dlcast_answer* answer) {
    /* A limit of 0 would be accepted by Slurm and end the job at its start. */
    if (answer->time_limit_min > 0) job->time_limit = (uint32_t)answer->time_limit_min;
    if (answer->time_min_min > 0) job->time_min = (uint32_t)answer->time_min_min;
    replace(&job->partition, answer->partition);
    replace(&job->admin_comment, answer->admin_comment);
    dlcast_add_to_environment(job, answer->environment);
}

DLCAST_EXPORT int job_submit(job_desc_msg_t* job, uint32_t submit_uid, char** error) {
    (void)submit_uid; /* root may submit for others: the job's owner is job->user_id */
    char* payload = dlcast_take_payload(job);
    if (!payload) return SLURM_SUCCESS;

    const dlcast_submission submission = submission_of(job, payload + strlen(DLCAST_PAYLOAD_VARIABLE "="));
    dlcast_answer answer;
    dlcast_bridge_submit(&submission, &answer);
    slurm_xfree((void**)&payload);
    dlcast_clean_environment(job);

    log_lines(answer.log, answer.log_is_error);
    if (answer.message[0] && error) replace(error, answer.message);
    if (answer.action == DLCAST_REJECT) return error_code(answer.fault);
    if (answer.action == DLCAST_SET) write_answer(job, &answer);
    return SLURM_SUCCESS;
}

/* Changes of a job are the user's or the administrator's own. */
DLCAST_EXPORT int job_modify(DLCAST_JOB_MODIFY_PARAMETERS) {
    DLCAST_UNUSED_JOB_MODIFY_PARAMETERS;
    return SLURM_SUCCESS;
}
