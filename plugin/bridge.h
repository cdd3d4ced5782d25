/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plain data between Slurm's C and the predictor's C++. Nothing here is to be freed; no call throws; the caller owns
 * every struct. Absent numbers are -1, absent text is NULL. */
#ifndef DLCAST_PLUGIN_BRIDGE_H
#define DLCAST_PLUGIN_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define DLCAST_NOEXCEPT noexcept
#else
#define DLCAST_NOEXCEPT
#endif

/* The variable that carries the payload from sbatch to slurmctld in spank_job_env. */
#define DLCAST_PAYLOAD_VARIABLE "DLCAST_MODEL"
#define DLCAST_PAYLOAD_MAX_BYTES (64 * 1024)
/* What Slurm itself sets to hand --dl-model and --dl-train on: _SLURM_SPANK_OPTION_<plugin>_<option>. */
#define DLCAST_OPTION_VARIABLE "_SLURM_SPANK_OPTION_dlcast_dl_model"
#define DLCAST_TRAINING_VARIABLE "_SLURM_SPANK_OPTION_dlcast_dl_train"

typedef struct {
    const char* payload; /* text after DLCAST_MODEL= */
    const char *partition, *features, *account, *qos, *array, *admin_comment;
    const char *tres_per_job, *tres_per_node, *tres_per_task, *tres_per_socket;
    const char* script;     /* of a heterogeneous job's first component */
    int64_t time_limit_min; /* -1: not given; 0: UNLIMITED */
    int64_t time_min_min, min_nodes, max_nodes, num_tasks;
    int64_t ntasks_per_node, ntasks_per_socket, ntasks_per_gpu, sockets_per_node;
    int64_t min_cpus, cpus_per_task, min_cpus_per_node;
    int64_t memory_per_node_MiB, memory_per_cpu_MiB; /* one of them at most */
    int64_t deadline_s;                              /* from now */
    uint32_t user_id;
    int names_nodes; /* --nodelist, --exclude, --reservation */
    int exclusive;   /* whole nodes */
} dlcast_submission;

enum { DLCAST_PASS = 0, DLCAST_SET = 1, DLCAST_REJECT = 2 };
/* Why a submission is rejected, to be told in Slurm's own codes. */
enum {
    DLCAST_FAULT_NONE = 0,
    DLCAST_FAULT_NO_FORECAST,
    DLCAST_FAULT_NO_DURATION,
    DLCAST_FAULT_GPU_REQUEST,
    DLCAST_FAULT_NO_PLACE,
    DLCAST_FAULT_MEMORY,
    DLCAST_FAULT_TIME,
    DLCAST_FAULT_BUDGET
};

/* Texts are NUL-terminated; empty: leave that field as it is. */
typedef struct {
    int action, fault;
    int64_t time_limit_min, time_min_min; /* -1: leave */
    char partition[1024];
    char admin_comment[16384];
    char message[4096];     /* lines for the user */
    char environment[1024]; /* NAME=value lines for the job */
    char log[1024];         /* one line for slurmctld's log */
    int log_is_error;
} dlcast_answer;

/* Opens configuration, weights and module; `log` gets lines for slurmctld's log. Never fails: it degrades. */
void dlcast_bridge_open(const char* config_path, const char* module_path, char* log, size_t log_size) DLCAST_NOEXCEPT;
void dlcast_bridge_close(void) DLCAST_NOEXCEPT;
/* Safe from several threads, beside neither of the two above. Without an open bridge every submission passes. */
void dlcast_bridge_submit(const dlcast_submission* submission, dlcast_answer* answer) DLCAST_NOEXCEPT;

/* Reads the value of --dl-model in the user's process, changed by that of --dl-train (NULL: not given). 0: `text` holds
 * the payload. -1: `text` holds lines for the user. */
int dlcast_bridge_read_model(const char* argument, const char* training, char* text, size_t size) DLCAST_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
