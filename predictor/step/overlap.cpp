// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/overlap.h"

#include <algorithm>

namespace dlcast {
namespace {

struct Bucket {
    double bytes = 0.0;
    double ready_s = 0.0;
};

std::vector<Bucket> buckets_of(const std::vector<GradientReady>& layers, const BucketSizes& sizes) {
    std::vector<Bucket> buckets;
    Bucket open;
    double now_s = 0.0;
    for (const GradientReady& layer : layers) {
        now_s += layer.backward_s;
        if (layer.gradient_bytes <= 0) continue;
        open.bytes += layer.gradient_bytes;
        open.ready_s = now_s;
        if (open.bytes < (buckets.empty() ? sizes.first_bytes : sizes.other_bytes)) continue;
        buckets.push_back(open);
        open = {};
    }
    if (open.bytes > 0) buckets.push_back(open);
    return buckets;
}

}  // namespace

std::vector<double> fill_buckets(const std::vector<GradientReady>& layers, const BucketSizes& sizes) {
    std::vector<double> out;
    for (const Bucket& bucket : buckets_of(layers, sizes)) out.push_back(bucket.bytes);
    return out;
}

OverlapResult overlap_backward(const std::vector<GradientReady>& layers, const BucketSizes& sizes,
                               const std::function<double(double)>& transfer_s) {
    OverlapResult result;
    double backward_s = 0.0, stream_free_s = 0.0;
    for (const GradientReady& layer : layers) backward_s += layer.backward_s;
    for (const Bucket& bucket : buckets_of(layers, sizes)) {
        const double seconds = transfer_s(bucket.bytes);
        stream_free_s = std::max(stream_free_s, bucket.ready_s) + seconds;
        result.communication_s += seconds;
    }
    result.exposed_s = std::max(0.0, stream_free_s - backward_s);
    return result;
}

}  // namespace dlcast
