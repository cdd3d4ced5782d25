/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layer-time module named by RESTING_NETWORK_MODULE, which fails at every question while the file named by
 * RESTING_NETWORK_FAILS is there. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "predictor/torch/torch_abi.h"

#define EXPORT __attribute__((visibility("default")))

static void* function(const char* name) {
    static void* module;
    const char* const path = getenv("RESTING_NETWORK_MODULE");
    if (!module && path) module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* const found = module ? dlsym(module, name) : NULL;
    if (!found) abort(); /* a test that was set up wrongly */
    return found;
}

EXPORT int dlcast_torch_abi(void) { return DLCAST_TORCH_ABI; }

EXPORT int dlcast_torch_open(const char* file, dlcast_torch_network** network, char* error, size_t error_size) {
    int (*open)(const char*, dlcast_torch_network**, char*, size_t);
    *(void**)&open = function("dlcast_torch_open");
    return open(file, network, error, error_size);
}

EXPORT int dlcast_torch_evaluate(const dlcast_torch_network* network, const dlcast_torch_table* tables, char* error,
                                 size_t error_size) {
    const char* const flag = getenv("RESTING_NETWORK_FAILS");
    if (flag && access(flag, F_OK) == 0) {
        snprintf(error, error_size, "out of order");
        return -1;
    }
    int (*evaluate)(const dlcast_torch_network*, const dlcast_torch_table*, char*, size_t);
    *(void**)&evaluate = function("dlcast_torch_evaluate");
    return evaluate(network, tables, error, error_size);
}

/* Nobody trains in slurmctld. */
EXPORT int dlcast_torch_fit(const dlcast_torch_table* tables, const dlcast_torch_sums* sums,
                            const dlcast_torch_fit_options* options, dlcast_torch_network** network, char* error,
                            size_t error_size) {
    (void)tables, (void)sums, (void)options, (void)network, (void)error, (void)error_size;
    return -1;
}

EXPORT int dlcast_torch_save(const dlcast_torch_network* network, const char* file, char* error, size_t error_size) {
    (void)network, (void)file, (void)error, (void)error_size;
    return -1;
}

EXPORT void dlcast_torch_close(dlcast_torch_network* network) {
    void (*close)(dlcast_torch_network*);
    *(void**)&close = function("dlcast_torch_close");
    close(network);
}
