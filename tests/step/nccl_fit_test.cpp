// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_fit.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "predictor/base/text.h"
#include "predictor/step/link_catalog.h"
#include "predictor/step/nccl_equations.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

NcclPriors shipped_priors() {
    const std::string path = DLCAST_SOURCE_DIR "/etc/links.toml";
    const auto text = read_file(path, 1 << 20);
    REQUIRE(text);
    const auto catalog = parse_link_catalog(*text, path);
    REQUIRE(catalog);
    return catalog->priors;
}

// Tables of 2, 4 and 8 GPUs on one node, times by `truth` and a factor.
void add_site(std::vector<CollectiveObservation>& rows, const Fabric& fabric, const NcclConstants& truth,
              std::size_t site, double factor) {
    for (const int ranks : {2, 4, 8})
        for (double bytes = 64; bytes < 1e9; bytes *= 4)
            for (const auto collective : {Collective::all_reduce, Collective::all_gather}) {
                const auto t = nccl_time(collective, bytes, ranks, 1, fabric, truth);
                REQUIRE(t);
                rows.push_back({collective, bytes, ranks, 1, &fabric, factor * t->median_us, site});
            }
}

double worst_error(const std::vector<CollectiveObservation>& rows, const NcclConstants& constants, std::size_t site) {
    double worst = 0;
    for (const auto& row : rows) {
        if (row.site != site) continue;
        const auto t = nccl_time(row.collective, row.bytes, row.ranks_per_node, 1, *row.fabric, constants);
        worst = std::max(worst, std::abs(t->median_us / row.time_us - 1));
    }
    return worst;
}

}  // namespace

// (2 0; 0 4) x = -(2, 8) without damping.
TEST_CASE("a step solves the normal equations", "[nccl]") {
    NormalEquations equations(3);
    equations.add({{0, 1.0}}, 1.0, 2.0);  // A00 = 2, b0 = 2
    equations.add({{1, 2.0}}, 4.0, 1.0);  // A11 = 4, b1 = 8
    const auto step = equations.solve(0);
    CHECK_THAT(step[0], WithinRel(-1.0, 1e-12));
    CHECK_THAT(step[1], WithinRel(-2.0, 1e-12));
    CHECK(step[2] == 0);  // nothing known of it
}

TEST_CASE("without measurements the constants are what is known beforehand", "[nccl]") {
    const NcclPriors priors = shipped_priors();
    CHECK_THAT(fit_collectives({}, priors).launch_us, WithinRel(priors.median.launch_us, 1e-12));
}

TEST_CASE("a fit finds slower hops and a slower launch, and one broken machine does not hide them", "[nccl]") {
    const NcclPriors priors = shipped_priors();
    NcclConstants truth = priors.median;
    truth.hop *= 1.4;
    truth.launch_us *= 1.3;
    Fabric fabric;
    fabric.node_link = NodeLink::nvlink3;
    fabric.node_GBps = 300;
    std::vector<CollectiveObservation> rows;
    add_site(rows, fabric, truth, 0, 1.0);
    add_site(rows, fabric, truth, 1, 1.0);
    CHECK(worst_error(rows, priors.median, 0) > 0.20);
    CHECK(worst_error(rows, fit_collectives(rows, priors), 0) < 0.06);  // priors hold it back a little
    add_site(rows, fabric, truth, 2, 4.0);                              // four times slower at every size
    CHECK(worst_error(rows, fit_collectives(rows, priors), 0) < 0.10);
}
