// SPDX-License-Identifier: GPL-2.0-or-later
// Site figures of what surrounds the steps of a job ([job] in dlcast.toml).
#pragma once

namespace dlcast {

struct JobCosts {
    double startup_s = 45.0;    // container, imports, model and data set opened
    double rank_init_s = 0.01;  // process groups, for each rank (Jiang et al., MegaScale, NSDI 2024, section 3.5: 5 s
                                // on 2,048 GPUs where tuned, 1,047 s where not)
    double staging_Bps = 0.0;   // rate at which one job copies its data set to its nodes; 0: it is read in place
    double warmup_s = 15.0;     // first steps: kernels loaded, algorithms tried, memory allocated, loaders filled
    double compile_layer_s = 0.25;      // torch.compile or XLA, for each layer of the model
    double validation_start_s = 5.0;    // of one pass over the validation set: its loaders, its first batch
    double checkpoint_write_Bps = 1e9;  // storage rate of one job; training waits for it
    double tail_s = 10.0;               // processes end, files are closed, the container goes
    double log_sd = 0.10;               // node, storage and neighbour noise of a whole job
};

}  // namespace dlcast
