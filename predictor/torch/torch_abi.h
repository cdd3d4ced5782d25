/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C functions of dlcast_torch.so: the layer-time network behind plain arrays, so that whoever opens the module
 * needs no LibTorch and loses nothing but this when LibTorch is missing. No exception leaves; a call returns 0, or -1
 * with a sentence in `error` (NUL-terminated, at most error_size bytes). */
#ifndef DLCAST_TORCH_ABI_H
#define DLCAST_TORCH_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLCAST_TORCH_ABI 3
#define DLCAST_TORCH_NETS 3

typedef struct dlcast_torch_network dlcast_torch_network;

/* Rows for one of the networks, as predictor/timing/features.h describes them; all arrays row by row. */
typedef struct {
    int64_t rows;
    int32_t columns;
    const float* features;    /* rows x columns */
    const float* physics;     /* rows x 6 */
    const int32_t* launch;    /* rows */
    const int32_t* optimizer; /* rows */
    const int32_t* group;     /* rows; -1: a GPU known by its figures alone */
    /* fit reads these */
    const float* log_time; /* rows, natural logarithm of seconds */
    const float* weight;   /* rows */
    /* evaluate writes these */
    float* predicted_log_time;  /* rows */
    float* predicted_log_scale; /* rows: logarithm of the Laplace scale of log time */
    /* evaluate writes this, may be NULL: how far outside of its range in training the farthest feature lies, in
     * standard deviations of that feature; 0 inside */
    float* beyond; /* rows */
    /* evaluate adds these to the group's constants; may be NULL */
    const float* offsets; /* rows x 3: log launch, log compute, log memory */
} dlcast_torch_table;

typedef struct {
    int32_t width; /* of the three hidden layers */
    int32_t epochs;
    int32_t groups;        /* named (GPU, clock) pairs */
    float slowness_min;    /* least log time over the memory bound */
    float weight_decay;    /* of the hidden layers */
    int32_t figures;       /* of a GPU, that training disturbs */
    const int32_t* figure; /* columns: which one each stems from */
    const float* noise;    /* columns: standard deviation of what training adds, the same draw for all of a figure */
} dlcast_torch_net_options;

typedef struct {
    int32_t members; /* networks whose predictions are averaged */
    uint64_t seed;
    int32_t batch;
    float learning_rate;
    float group_dropout; /* fraction of samples that train as an unnamed GPU */
    int32_t launch_slots, optimizer_slots;
    dlcast_torch_net_options nets[DLCAST_TORCH_NETS];
    void (*progress)(void* user, double done); /* 0..1; may be NULL */
    void* user;
} dlcast_torch_fit_options;

/* Measured passes of whole models: each a sum of operators, in tables of their own (which need no log_time or weight).
 */
typedef struct {
    int64_t sums;
    const float* log_time; /* sums: measured, natural logarithm of seconds */
    const float* other_s;  /* sums: seconds of the operators that no network knows */
    dlcast_torch_table tables[DLCAST_TORCH_NETS];
    const int32_t* sum[DLCAST_TORCH_NETS]; /* rows: the sum that each is part of, in [0, sums) */
    const float* count[DLCAST_TORCH_NETS]; /* rows: how often it is */
} dlcast_torch_sums;

/* The version of this header the module was built from. */
int dlcast_torch_abi(void);
/* Reads a weights file. Every number in it is checked against the shapes this module computes with. */
int dlcast_torch_open(const char* file, dlcast_torch_network** network, char* error, size_t error_size);
/* One table for each network (rows may be 0). Safe from several threads at once. */
int dlcast_torch_evaluate(const dlcast_torch_network* network, const dlcast_torch_table* tables, char* error,
                          size_t error_size);
/* Trains from nothing, at last together with `sums` (NULL: none); the same tables, options and seed give the same
 * network.
 */
int dlcast_torch_fit(const dlcast_torch_table* tables, const dlcast_torch_sums* sums,
                     const dlcast_torch_fit_options* options, dlcast_torch_network** network, char* error,
                     size_t error_size);
int dlcast_torch_save(const dlcast_torch_network* network, const char* file, char* error, size_t error_size);
void dlcast_torch_close(dlcast_torch_network* network);

#ifdef __cplusplus
}
#endif
#endif
