// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/model_sums.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/scratch_folder.h"
#include "tests/timing/devices.h"

using namespace dlcast;
using Catch::Matchers::WithinAbs;

namespace {

// Forward: two equal linears and a relu; backward: two gradients of each linear, and the relu's.
const char* const graphs =
    "model,mode,seqlen,batch_size,phase,graph_op,batch,m,k,n,rows,cols,count\n"
    "tiny,train,8,2,forward,Linear,1,1000,100,100,,,2\n"
    "tiny,train,8,2,forward,VECrelu,,,,,5000,4,1\n";
const std::string header =
    "row_id,source,gpu,n_gpu,model,mode,seq_len,batch,fused,time_ms,fw_ms,bw_ms,"
    "pred_neusight_ms,pred_habitat_ms\n";

Result<std::vector<ModelPass>> passes_of(const std::string& rows, const Exclusions& exclusions = {}) {
    const ScratchFolder folder;
    static DeviceCatalog catalog;
    if (catalog.devices().empty()) {
        catalog.add(test::v100(), {});
        catalog.add(test::t4(), {});
    }
    static NamedDevices devices(catalog);
    return collect_model_passes(folder.write("models.csv", header + rows), folder.write("graphs.csv", graphs), devices,
                                exclusions);
}

}  // namespace

TEST_CASE("a measured model is two sums of operators, forward and backward", "[models]") {
    const auto passes = passes_of("a,lab,V100-PCIE-32GB,1,tiny,training,8,2,0,5,2,3,6,\n");
    REQUIRE(passes);
    REQUIRE(passes->size() == 2);
    CHECK_THAT(passes->at(0).measured_s, WithinAbs(2e-3, 1e-12));
    CHECK_THAT(passes->at(1).measured_s, WithinAbs(3e-3, 1e-12));
    const auto sums = sums_of(*passes, {});
    REQUIRE(sums);
    const dlcast_torch_sums view = sums->view();
    REQUIRE(view.sums == 2);
    CHECK_THAT(view.log_time[0], WithinAbs(std::log(2e-3), 1e-5));
    const auto product = static_cast<std::size_t>(Net::product), memory = static_cast<std::size_t>(Net::memory);
    REQUIRE(view.tables[product].rows == 3);  // forward; data and weight gradients
    CHECK(sums->sum[product] == std::vector<std::int32_t>{0, 1, 1});
    CHECK(sums->count[product] == std::vector<float>{2.0f, 2.0f, 2.0f});
    CHECK(view.tables[memory].rows == 2);  // the relu, both ways
    CHECK(view.tables[static_cast<std::size_t>(Net::conv)].rows == 0);
    CHECK(view.tables[product].group[0] == -1);  // no group was trained
}

TEST_CASE("rows that several predictors published forecasts for judge, and do not train", "[models]") {
    const auto passes = passes_of(
        "a,lab,V100-PCIE-32GB,1,tiny,training,8,2,0,5,2,3,6,7\n"  // two published
        "b,lab,V100-PCIE-32GB,1,tiny,training,8,2,1,5,2,3,6,\n"   // fused
        "c,lab,V100-PCIE-32GB,4,tiny,training,8,2,0,5,2,3,6,\n"   // four GPUs
        "d,lab,V100-PCIE-32GB,1,other,training,8,2,0,5,2,3,6,\n"  // no operator list
        "e,lab,XYZ9000,1,tiny,training,8,2,0,5,2,3,6,\n"          // unknown GPU
        "f,lab,V100-PCIE-32GB,1,tiny,training,8,2,0,5,,3,6,\n");  // backward alone was timed
    REQUIRE(passes);
    REQUIRE(passes->size() == 1);
    CHECK_THAT(passes->front().measured_s, WithinAbs(3e-3, 1e-12));
}

TEST_CASE("an exclusion holds for whole models too", "[models]") {
    const std::string rows =
        "a,lab,V100-PCIE-32GB,1,tiny,training,8,2,0,5,2,3,6,\n"
        "b,field,T4,1,tiny,training,8,2,0,5,2,3,6,\n";
    const auto left = [&](const Exclusions& exclusions) {
        const auto passes = passes_of(rows, exclusions);
        REQUIRE(passes);
        return passes->size();
    };
    CHECK(left({}) == 4);
    CHECK(left({.gpus = {"v100-pcie-32gb"}}) == 2);
    CHECK(left({.sources = {"field"}}) == 2);
    CHECK(left({.families = {"tiny"}}) == 0);
    CHECK(left({.super_families = {"tiny"}}) == 0);  // of no known kind: a kind of its own
}
