// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_models.h"

#include <catch2/catch.hpp>

#include "predictor/base/text.h"
#include "tests/scratch_folder.h"
#include "tests/timing/devices.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

// Each operator takes a microsecond for each thousand of its m (products) or rows, so that sums are plain.
class CountingModel final : public LayerTimeModel {
public:
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        std::vector<OperatorTime> out;
        for (const OperatorQuery& q : queries)
            out.push_back({1e-9 * static_cast<double>(std::max(q.op->m, q.op->rows)), 0.1});
        return out;
    }
    std::string by() const override { return "counting"; }
    std::string weights_id() const override { return ""; }
};

const std::string graphs_header = "model,mode,seqlen,batch_size,phase,graph_op,batch,m,k,n,rows,cols,count\n";
const std::string models_header =
    "row_id,gpu,n_gpu,model,mode,seq_len,batch,time_ms,fw_ms,bw_ms,pred_neusight_ms,pred_neusight_fw_ms,"
    "pred_neusight_bw_ms,pred_habitat_ms,pred_micro_ms,pred_roofline_ms\n";

// Forward: 2 linears of m = 1e6 and a relu of 5e5 rows: 2.5 ms. Backward: data gradients of m = 1e6, weight gradients
// of m = k = 100, and the relu's.
const std::string graphs = graphs_header +
                           "tiny,train,8,2,forward,Linear,1,1000000,100,100,,,2\n"
                           "tiny,train,8,2,forward,VECrelu,,,,,500000,4,1\n"
                           "tiny,train,8,2,backward,Linear,1,1000000,100,100,,,999\n";

DeviceCatalog catalog() {
    DeviceCatalog out;
    out.add(test::v100(), {});
    return out;
}

}  // namespace

TEST_CASE("a model takes the sum of its operators, beside what others forecast", "[models]") {
    const ScratchFolder folder;
    const auto models = folder.write("models.csv", models_header +
                                                       "a,V100-PCIE-32GB,1,tiny,training,8,2,5.0,2.5,2.5,6.0,3.0,3.0,"
                                                       "4.0,5.0,2.5\n"
                                                       "b,V100-PCIE-32GB,4,tiny,training,8,2,9,,,,,,,,\n"
                                                       "c,V100-PCIE-32GB,1,unheard,training,8,2,9,,,,,,,,\n"
                                                       "d,XYZ9000,1,tiny,training,8,2,9,,,,,,,,\n");
    const auto result = evaluate_models(models, folder.write("graphs.csv", graphs), catalog(), CountingModel(), {},
                                        folder.path("pred.csv"));
    if (!result) FAIL(result.error().message);
    CHECK(result->rows == 4);
    CHECK(result->undescribed.size() == 3);
    const auto pred = read_file(folder.path("pred.csv"), 1 << 16);
    REQUIRE(pred);
    // backward: 2 x 1 ms + 2 x 100e-6 ms + 0.5 ms
    CHECK(*pred == "row_id,pred_ms,pred_fw_ms,pred_bw_ms\na,5.0002,2.5,2.5002\nb,,,\nc,,,\nd,,,\n");
    const Value json = result->peers.json();
    const Value* total = json.find("rows that all published")->find("total");
    REQUIRE(total != nullptr);
    CHECK_THAT(total->find("neusight")->find("mape_pct")->as_number(), WithinRel(20.0, 1e-9));  // 6 for 5
    CHECK_THAT(total->find("roofline")->find("mape_pct")->as_number(), WithinRel(50.0, 1e-9));
    CHECK_THAT(total->find("dlcast")->find("mape_pct")->as_number(), WithinRel(0.004, 1e-6));
    CHECK(json.find("gpu")->find("V100-PCIE-32GB backward")->find("habitat") == nullptr);  // it published none
}

TEST_CASE("measured times and published ones never move a forecast of a model", "[models]") {
    const ScratchFolder folder;
    const auto list = folder.write("graphs.csv", graphs);
    const auto with =
        folder.write("with.csv", models_header + "a,V100-PCIE-32GB,1,tiny,training,8,2,7,3,4,1,1,1,1,1,1\n");
    const auto without =
        folder.write("without.csv", "row_id,gpu,model,mode,seq_len,batch\na,V100-PCIE-32GB,tiny,training,8,2\n");
    REQUIRE(evaluate_models(with, list, catalog(), CountingModel(), {}, folder.path("1")));
    const auto unmeasured = evaluate_models(without, list, catalog(), CountingModel(), {}, folder.path("2"));
    REQUIRE(unmeasured);
    CHECK(unmeasured->errors.rows() == 0);
    CHECK(*read_file(folder.path("1"), 1 << 16) == *read_file(folder.path("2"), 1 << 16));
}

TEST_CASE("a table of models or operators that lacks a column says which", "[models]") {
    const ScratchFolder folder;
    const auto list = folder.write("graphs.csv", graphs);
    const auto bad = folder.write("bad.csv", "row_id,gpu,model\n");
    const auto no_batch = evaluate_models(bad, list, catalog(), CountingModel(), {}, "");
    REQUIRE_FALSE(no_batch);
    CHECK(no_batch.error().message.find("no column 'batch'") != std::string::npos);
    CHECK_FALSE(evaluate_models(list, bad, catalog(), CountingModel(), {}, ""));
}
