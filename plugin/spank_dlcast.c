/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options --dl-model and --dl-train of sbatch, srun and salloc: reads and checks the model as the user, hands its
 * compact form to slurmctld. Silent where they are not used; on the compute nodes it knows them and tidies up. */
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge.h"
#include "plugin/slurm_compat.h"
#include "plugin/spank_default.h"

DLCAST_EXPORT extern const char plugin_name[];
DLCAST_EXPORT extern const char plugin_type[];
DLCAST_EXPORT extern const unsigned int plugin_version;
DLCAST_EXPORT extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(dlcast, 1)

enum { MODEL, TRAINING, OPTIONS };

/* How Slurm hands an option on to whatever runs below: the job's steps, but also the next component of a heterogeneous
 * job and clients that run inside the job. The latter two would take it for their own. */
static const char* const inherited_option[OPTIONS] = {"SLURM_SPANK_" DLCAST_OPTION_VARIABLE,
                                                      "SLURM_SPANK_" DLCAST_TRAINING_VARIABLE};
static const char inherited_payload[] = "SLURM_SPANK_" DLCAST_PAYLOAD_VARIABLE;

/* What was given last: Slurm reads its environment first, the script's lines then, the command line at the end. */
static char* argument[OPTIONS] = {NULL, NULL};

static int remember_argument(int value, const char* text, int remote) {
    const char* inherited = getenv(inherited_option[value]);
    if (remote || !text) return ESPANK_SUCCESS;
    if (inherited && strcmp(inherited, text) == 0) { /* set by the component before */
        unsetenv(inherited_option[value]);
        return ESPANK_SUCCESS;
    }
    free(argument[value]);
    argument[value] = strdup(text);
    return ESPANK_SUCCESS;
}

static struct spank_option options[OPTIONS] = {
    {
        .name = "dl-model",
        .arginfo = "model",
        .usage = "forecast the run time of this training: a model's name, file or directory",
        .has_arg = 1,
        .val = MODEL,
        .cb = remember_argument,
    },
    {
        .name = "dl-train",
        .arginfo = "key=value,...",
        .usage = "how the model of --dl-model is trained: epochs=90,batch_size=256,dataset=imagenet-1k",
        .has_arg = 1,
        .val = TRAINING,
        .cb = remember_argument,
    },
};

static int register_options(spank_t spank) {
    for (int i = 0; i < OPTIONS; ++i) {
        spank_err_t rc = spank_option_register(spank, &options[i]);
        if (rc != ESPANK_SUCCESS) return rc;
    }
    return ESPANK_SUCCESS;
}

DLCAST_EXPORT int slurm_spank_init(spank_t spank, int argc, char** argv) {
    (void)argc;
    (void)argv;
    switch (spank_context()) {
        case S_CTX_ALLOCATOR: /* sbatch, salloc */
        case S_CTX_LOCAL:     /* srun */
            for (int i = 0; i < OPTIONS; ++i) unsetenv(inherited_option[i]);
            unsetenv(inherited_payload);
            return register_options(spank);
        case S_CTX_REMOTE: /* slurmstepd, which warns of options it does not know */
            return register_options(spank);
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

static int read_and_hand_over(spank_t spank, const char* model, const char* training) {
    static char text[DLCAST_PAYLOAD_MAX_BYTES + 1]; /* on the stack it would take fresh pages of every client */
    if (dlcast_bridge_read_model(model, training, text, sizeof text) != 0) {
        print_error(text);
        return -1;
    }
    spank_err_t rc = spank_job_control_setenv(spank, DLCAST_PAYLOAD_VARIABLE, text, 1);
    if (rc == ESPANK_SUCCESS) return ESPANK_SUCCESS;
    slurm_error("dlcast: cannot hand the model to slurmctld: %s", spank_strerror(rc));
    return -1;
}

static int hand_over_component(spank_t spank, spank_context_t context, int* payload_is_set) {
    const char* model = dlcast_option_value("dl-model", argument[MODEL]);
    const char* training = dlcast_option_value("dl-train", argument[TRAINING]);
    if (is_step(context)) {
        if (argument[MODEL] || argument[TRAINING])
            slurm_spank_log("dlcast: --dl-model says nothing about a step; give it to the job");
        return ESPANK_SUCCESS;
    }
    if (!model && *payload_is_set) spank_job_control_unsetenv(spank, DLCAST_PAYLOAD_VARIABLE);
    if (!model && argument[TRAINING]) {
        slurm_error("dlcast: --dl-train says how a model is trained; name it with --dl-model");
        return -1;
    }
    if (!model) return ESPANK_SUCCESS;
    int rc = read_and_hand_over(spank, model, training);
    *payload_is_set = rc == ESPANK_SUCCESS;
    return rc;
}

/* In slurmstepd, before the job's own programs: what Slurm copied of the payload into their environment is of no use to
 * them, and may be 64 KiB. */
DLCAST_EXPORT int slurm_spank_user_init(spank_t spank, int argc, char** argv) {
    (void)argc;
    (void)argv;
    if (spank_context() == S_CTX_REMOTE) spank_unsetenv(spank, inherited_payload);
    return ESPANK_SUCCESS;
}

/* Runs once for each component of a heterogeneous job, all in one process. A component has the model that was given
 * with it, not the one of the component before. A negative return stops the submission. */
DLCAST_EXPORT int slurm_spank_init_post_opt(spank_t spank, int argc, char** argv) {
    static int payload_is_set = 0;
    (void)argc;
    (void)argv;
    spank_context_t context = spank_context();
    if (context != S_CTX_ALLOCATOR && context != S_CTX_LOCAL) return ESPANK_SUCCESS;
    int rc = hand_over_component(spank, context, &payload_is_set);
    for (int i = 0; i < OPTIONS; ++i) {
        free(argument[i]);
        argument[i] = NULL;
    }
    return rc;
}
