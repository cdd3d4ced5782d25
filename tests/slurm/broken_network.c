/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A layer-time module that opens and then fails at every question. */
#include <stdio.h>

#include "predictor/torch/torch_abi.h"

#define EXPORT __attribute__((visibility("default")))

struct dlcast_torch_network {
    int unused;
};

static int fail(char* error, size_t error_size) {
    snprintf(error, error_size, "out of order");
    return -1;
}

EXPORT int dlcast_torch_abi(void) { return DLCAST_TORCH_ABI; }

EXPORT int dlcast_torch_open(const char* file, dlcast_torch_network** network, char* error, size_t error_size) {
    static struct dlcast_torch_network it;
    (void)file, (void)error, (void)error_size;
    *network = &it;
    return 0;
}

EXPORT int dlcast_torch_evaluate(const dlcast_torch_network* network, const dlcast_torch_table* tables, char* error,
                                 size_t error_size) {
    (void)network, (void)tables;
    return fail(error, error_size);
}

EXPORT int dlcast_torch_fit(const dlcast_torch_table* tables, const dlcast_torch_sums* sums,
                            const dlcast_torch_fit_options* options, dlcast_torch_network** network, char* error,
                            size_t error_size) {
    (void)tables, (void)sums, (void)options, (void)network;
    return fail(error, error_size);
}

EXPORT int dlcast_torch_save(const dlcast_torch_network* network, const char* file, char* error, size_t error_size) {
    (void)network, (void)file;
    return fail(error, error_size);
}

EXPORT void dlcast_torch_close(dlcast_torch_network* network) { (void)network; }
