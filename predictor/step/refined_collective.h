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
/// (nccl_residual.h). 1 far from all of them.
class CollectiveCorrection {
public:
    /// `form_us` gives the form's time of `bytes`; sizes it has none for are left out.
    template <typename Form>
    CollectiveCorrection(const RefinedCollective& table, const Form& form_us) {
        for (const CollectiveSize& size : table.sizes)
            if (const double us = form_us(size.bytes); us > 0) add(size.bytes, us, size.time_us);
        solve();
    }
    double factor(double bytes, double form_us) const;

private:
    void add(double bytes, double form_us, double measured_us);
    void solve();
    struct Anchor {
        double bytes, form_us, weight;
    };
    std::vector<Anchor> anchors_;
};

}  // namespace dlcast
