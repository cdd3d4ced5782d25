// SPDX-License-Identifier: GPL-2.0-or-later
// Data-parallel gradient exchange, bucket by bucket, while backward still runs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace dlcast {

/// Backward of one layer: its time, then its gradient is ready.
struct GradientReady {
    double backward_s = 0.0;
    double gradient_bytes = 0.0;
};

/// PyTorch DistributedDataParallel's defaults: the first bucket is small, so that communication starts early.
struct BucketSizes {
    double first_bytes = 1.0 * 1024 * 1024;
    double other_bytes = 25.0 * 1024 * 1024;
};

/// Bytes of each bucket in the order of backward: a bucket closes once it has reached its size.
std::vector<double> fill_buckets(const std::vector<GradientReady>& layers, const BucketSizes& sizes);

struct OverlapResult {
    double communication_s = 0.0;  // of all buckets
    double exposed_s = 0.0;        // after the end of backward
};

/// Runs backward (layers in the order of backward, last layer of the model first) against one communication stream: a
/// bucket is sent when its last gradient is ready and the stream is free. `transfer_s` gives the seconds of one bucket.
/// Source: Li et al., PyTorch Distributed, VLDB 13 (2020) 3005-3018, section 3.2.
OverlapResult overlap_backward(const std::vector<GradientReady>& layers, const BucketSizes& sizes,
                               const std::function<double(double bytes)>& transfer_s);

}  // namespace dlcast
