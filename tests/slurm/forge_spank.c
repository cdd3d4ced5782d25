/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hostile client: hands FORGED_BYTES bytes to slurmctld under dlcast's name, past every check of spank_dlcast.so. */
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge.h"
#include "plugin/slurm_compat.h"

#pragma GCC visibility push(default)
SPANK_PLUGIN(forge, 1)

int slurm_spank_init_post_opt(spank_t spank, int argc, char** argv) {
    (void)argc;
    (void)argv;
    const char* bytes = getenv("FORGED_BYTES");
    if (!bytes || spank_context() != S_CTX_ALLOCATOR) return ESPANK_SUCCESS;
    size_t size = strtoul(bytes, NULL, 10);
    char* payload = malloc(size + 1);
    if (!payload) return -1;
    memset(payload, '[', size);
    payload[size] = '\0';
    int rc = spank_job_control_setenv(spank, DLCAST_PAYLOAD_VARIABLE, payload, 1);
    free(payload);
    return rc;
}
#pragma GCC visibility pop
