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

/* What was given last: Slurm reads the script's lines first and the command line after them. */
static char* argument = NULL;

static int remember_argument(int value, const char* text, int remote) {
    (void)value;
    if (remote) return ESPANK_SUCCESS;
    free(argument);
    argument = text ? strdup(text) : NULL;
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
        case S_CTX_REMOTE:    /* slurmstepd, which warns of options it does not know */
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

/* Inside an allocation srun starts a step, for which slurmctld forecasts nothing; the option comes with the environment
 * of the job then, and the file it names may be out of reach. */
static int is_step(void) { return spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID"); }

/* Runs once for each component of a heterogeneous job. A negative return stops the submission. */
DLCAST_EXPORT int slurm_spank_init_post_opt(spank_t spank, int argc, char** argv) {
    (void)argc;
    (void)argv;
    spank_context_t context = spank_context();
    if (!argument || (context != S_CTX_ALLOCATOR && context != S_CTX_LOCAL) || is_step()) return ESPANK_SUCCESS;

    char payload[DLCAST_PAYLOAD_MAX_BYTES + 1];
    char error[4096];
    if (dlcast_bridge_read_model(argument, payload, sizeof payload, error, sizeof error) != 0) {
        print_error(error);
        return -1;
    }
    spank_err_t rc = spank_job_control_setenv(spank, DLCAST_PAYLOAD_VARIABLE, payload, 1);
    if (rc == ESPANK_SUCCESS) return ESPANK_SUCCESS;
    slurm_error("dlcast: cannot hand the model to slurmctld: %s", spank_strerror(rc));
    return -1;
}
