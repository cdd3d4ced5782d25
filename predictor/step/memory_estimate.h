// SPDX-License-Identifier: GPL-2.0-or-later
// Memory of one GPU by part.
#pragma once

#include <array>

namespace dlcast {

/// Bytes on the fullest GPU, by part.
struct MemoryEstimate {
    double weights_bytes = 0.0, gradients_bytes = 0.0, optimizer_bytes = 0.0;
    double activations_bytes = 0.0;    // and their gradients, at the fullest moment
    double workspace_bytes = 0.0;      // of libraries; weights cast by autocast
    double communication_bytes = 0.0;  // channels of collectives, gradient buckets, weights gathered from shards
    double context_bytes = 0.0;        // driver, kernels and libraries of one process
    double fragmentation_bytes = 0.0;  // what the allocator holds and nobody uses
    double total_bytes() const {
        return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes + workspace_bytes +
               communication_bytes + context_bytes + fragmentation_bytes;
    }
};

struct MemoryPart {
    const char* name;
    double MemoryEstimate::*bytes;
};
inline constexpr std::array<MemoryPart, 8> memory_parts{{
    {"weights", &MemoryEstimate::weights_bytes},
    {"gradients", &MemoryEstimate::gradients_bytes},
    {"optimizer", &MemoryEstimate::optimizer_bytes},
    {"activations", &MemoryEstimate::activations_bytes},
    {"workspace", &MemoryEstimate::workspace_bytes},
    {"communication", &MemoryEstimate::communication_bytes},
    {"context", &MemoryEstimate::context_bytes},
    {"fragmentation", &MemoryEstimate::fragmentation_bytes},
}};

}  // namespace dlcast
