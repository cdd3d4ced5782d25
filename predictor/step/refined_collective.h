// SPDX-License-Identifier: GPL-2.0-or-later
// Collectives measured at a site: a few sizes correct the cost model's form for the same group of GPUs.
#pragma once

#include <string>
#include <vector>

#include "predictor/step/nccl_fabric.h"

namespace dlcast {

struct CollectiveSize {
    double bytes = 0.0;    // the whole array, as nccl_time counts
    double time_us = 0.0;  // measured, above 0
};

/// One table: a collective over a group of one shape on one kind of GPU.
struct RefinedCollective {
    std::string gpu;  // catalog key
    Collective collective = Collective::all_reduce;
    int ranks_per_node = 1, nodes = 1;
    std::vector<CollectiveSize> sizes;
};

/// The same for one fabric: what to multiply the form's time by, from the residuals of the measured sizes
/// (nccl_residual.h). More bytes never take less time than fewer: sizes in steps of 2 up to the largest measured one
/// are looked at.
class CollectiveCorrection {
public:
    /// `form_us` gives the form's time of `bytes`; sizes it has none for are left out.
    template <typename Form>
    CollectiveCorrection(const RefinedCollective& table, const Form& form_us) {
        for (const CollectiveSize& size : table.sizes)
            if (const double us = form_us(size.bytes); us > 0) add(size.bytes, us, size.time_us);
        solve();
        constexpr double least_bytes = 8.0;
        const double most_bytes = largest_anchor();
        for (double bytes = least_bytes; bytes <= most_bytes; bytes *= 2.0)
            if (const double us = form_us(bytes); us > 0) floors_.push_back({bytes, us * factor(bytes, us)});
    }
    double factor(double bytes, double form_us) const;

private:
    void add(double bytes, double form_us, double measured_us);
    void solve();
    double largest_anchor() const;
    struct Anchor {
        double bytes, form_us, weight;
    };
    struct Floor {
        double bytes, time_us;
    };
    std::vector<Anchor> anchors_;
    std::vector<Floor> floors_;  // bytes and times ascending
};

}  // namespace dlcast
