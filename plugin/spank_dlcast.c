/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --dl-model of sbatch, srun and salloc: reads and checks the model as the user, hands its compact form to
 * slurmctld. Silent where the option is not used; on the compute nodes it only knows the option. */
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge.h"
#include "plugin/slurm_compat.h"

DLCAST_EXPORT extern const char plugin_name[];
DLCAST_EXPORT extern const char plugin_type[];
DLCAST_EXPORT extern const unsigned int plugin_version;
DLCAST_EXPORT extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(dlcast, 1)

/* How Slurm hands the option on to whatever runs below: the job's steps, but also the next component of a heterogeneous
 * job and clients that run inside the job. The latter two would take it for their own. */
static const char inherited_option[] = "SLURM_SPANK_" DLCAST_OPTION_VARIABLE;
static const char inherited_payload[] = "SLURM_SPANK_" DLCAST_PAYLOAD_VARIABLE;

/* What was given last: Slurm reads its environment first, the script's lines then, the command line at the end. */
static char* argument = NULL;

static int remember_argument(int value, const char* text, int remote) {
    (void)value;
    const char* inherited = getenv(inherited_option);
    if (remote || !text) return ESPANK_SUCCESS;
    if (inherited && strcmp(inherited, text) == 0) { /* set by the component before */
        unsetenv(inherited_option);
        return ESPANK_SUCCESS;
    }
    free(argument);
    argument = strdup(text);
    return ESPANK_SUCCESS;
}

static struct spank_option dl_model_option = {
    .name = "dl-model",
    .arginfo = "model",
    .usage = "forecast the run time of this training: a model's name, file or directory",
    .has_arg = 1,
    .val = 0,
    .cb = remember_argument,
};

DLCAST_EXPORT int slurm_spank_init(spank_t spank, int argc, char** argv) {
    (void)argc;
    (void)argv;
    switch (spank_context()) {
        case S_CTX_ALLOCATOR: /* sbatch, salloc */
        case S_CTX_LOCAL:     /* srun */
            unsetenv(inherited_option);
            unsetenv(inherited_payload);
            return spank_option_register(spank, &dl_model_option);
        case S_CTX_REMOTE: /* slurmstepd, which warns of options it does not know */
            return spank_option_register(spank, &dl_model_option);
        default:
            return ESPANK_SUCCESS;
    }
}

static void print_error(const char* text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length) slurm_error("dlcast: %.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Inside an allocation srun starts a step, which job_submit never sees. */
static int is_step(spank_context_t context) { return context == S_CTX_LOCAL && getenv("SLURM_JOB_ID"); }

static int read_and_hand_over(spank_t spank, const char* model) {
    char payload[DLCAST_PAYLOAD_MAX_BYTES + 1];
    char error[4096];
    if (dlcast_bridge_read_model(model, payload, sizeof payload, error, sizeof error) != 0) {
        print_error(error);
        return -1;
    }
    spank_err_t rc = spank_job_control_setenv(spank, DLCAST_PAYLOAD_VARIABLE, payload, 1);
    if (rc == ESPANK_SUCCESS) return ESPANK_SUCCESS;
    slurm_error("dlcast: cannot hand the model to slurmctld: %s", spank_strerror(rc));
    return -1;
}

/* Runs once for each component of a heterogeneous job, all in one process. A component has the model that was given
 * with it, not the one of the component before. A negative return stops the submission. */
DLCAST_EXPORT int slurm_spank_init_post_opt(spank_t spank, int argc, char** argv) {
    static int payload_is_set = 0;
    (void)argc;
    (void)argv;
    spank_context_t context = spank_context();
    if (context != S_CTX_ALLOCATOR && context != S_CTX_LOCAL) return ESPANK_SUCCESS;
    if (!argument) {
        if (payload_is_set) spank_job_control_unsetenv(spank, DLCAST_PAYLOAD_VARIABLE);
        return ESPANK_SUCCESS;
    }
    int rc = ESPANK_SUCCESS;
    if (is_step(context)) {
        slurm_spank_log("dlcast: --dl-model says nothing about a step; give it to the job");
    } else {
        rc = read_and_hand_over(spank, argument);
        payload_is_set = rc == ESPANK_SUCCESS;
    }
    free(argument);
    argument = NULL;
    return rc;
}
