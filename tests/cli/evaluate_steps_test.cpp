// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_steps.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/installation.h"
#include "cli/steps_table.h"
#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

const std::string header =
    "row_id,group,source,model,family,gpu,gpus,nodes,intra,inter,nics_per_node,nic_gbps,precision,batch_per_gpu,grad_"
    "accum,seq_len,"
    "image_size,mode,optimizer,parallel,act_ckpt_mode,framework,compiled,layout,quality,step_ms\n";

std::string row(const std::string& id, const std::string& model, const std::string& measured,
                const std::string& gpus = "1") {
    return id + "," + id + ",test," + model + "," + model + ",V100-SXM2-16GB," + gpus +
           ",1,nvlink,none,,,fp32,32,1,,224,train,sgd," + (gpus == "1" ? "none" : "ddp") + ",none,pytorch,0,nchw,A," +
           measured + "\n";
}

StepsEvaluation evaluate(const std::string& file, const std::string& pred = "") {
    const auto catalog = shipped_catalog();
    REQUIRE(catalog);
    const auto result = evaluate_steps(file, *catalog, *make_analytic_model(), {}, pred);
    REQUIRE(result);
    return *result;
}

}  // namespace

TEST_CASE("each row gets a forecast, and measured times never change it", "[evaluate_steps]") {
    const ScratchFolder folder;
    const std::string with =
        folder.write("with.csv", header + row("r1", "resnet18", "50") + row("r2", "vgg16", "200", "4"));
    const std::string without =
        folder.write("without.csv", header + row("r1", "resnet18", "") + row("r2", "vgg16", "", "4"));
    const std::string pred1 = folder.path("pred1.csv"), pred2 = folder.path("pred2.csv");
    CHECK(evaluate(with, pred1).errors.size() == 2);
    CHECK(evaluate(without, pred2).errors.empty());
    const auto text = read_file(pred1, 1 << 20);
    REQUIRE(text);
    CHECK(*text == *read_file(pred2, 1 << 20));
    const auto lines = split(*text, '\n');
    REQUIRE(lines.size() == 4);  // header, two rows, nothing after the last line break
    CHECK(lines[0] == "row_id,pred_step_ms,pred_fw_ms,pred_bw_ms");
    CHECK_THAT(lines[1], Catch::StartsWith("r1,"));
}

TEST_CASE("a row that cannot be described is listed and counts as 100 % error", "[evaluate_steps]") {
    const ScratchFolder folder;
    const auto result = evaluate(
        folder.write("steps.csv", header + row("r1", "resnet18", "50") + row("r2", "no-such-net-at-all", "50")));
    REQUIRE(result.undescribed.size() == 1);
    CHECK_THAT(result.undescribed[0], Catch::StartsWith("r2: ") && Contains("no-such-net-at-all"));
    REQUIRE(result.errors.size() == 2);
    CHECK(result.errors[1].predicted_ms == 0);
    CHECK_THAT(step_figures({result.errors[1]}).mape_pct, WithinRel(100.0, 1e-12));
}

TEST_CASE("a model file is found beside the table", "[evaluate_steps]") {
    const ScratchFolder folder;
    folder.write("net.json", R"({"model": "resnet18"})");
    const auto result =
        evaluate(folder.write("steps.csv", header + row("r1", "net.json", "50") + row("r2", "resnet18", "50")));
    REQUIRE(result.undescribed.empty());
    CHECK_THAT(result.errors[0].predicted_ms, WithinRel(result.errors[1].predicted_ms, 1e-9));
}

TEST_CASE("a table without the needed columns says which", "[evaluate_steps]") {
    const ScratchFolder folder;
    const auto result = evaluate_steps(folder.write("steps.csv", "row_id,gpu,batch_per_gpu\nr1,T4,1\n"),
                                       *shipped_catalog(), *make_analytic_model(), {}, "");
    REQUIRE_FALSE(result);
    CHECK_THAT(result.error().message, Contains("'model'"));
}

TEST_CASE("degrees of parallelism are read as tables write them", "[steps_table]") {
    const auto none = parse_parallel("none");
    REQUIRE(none);
    CHECK(none->tp == 1);
    CHECK(parse_parallel("ddp"));
    CHECK(parse_parallel("")->dp == 0);
    CHECK(parse_parallel("fsdp")->fsdp == "full");
    CHECK(parse_parallel("fsdp(shard_grad_op)")->fsdp == "grad_op");
    const auto mixed = parse_parallel("fsdp=8,tp=4,pp=2,sp=1,vp=3,cp=2");
    REQUIRE(mixed);
    CHECK(mixed->dp == 8);
    CHECK(mixed->fsdp == "full");
    CHECK(mixed->tp == 4);
    CHECK(mixed->pp == 2);
    CHECK(mixed->sp);
    CHECK(mixed->vp == 3);
    CHECK(mixed->cp == 2);
    CHECK_FALSE(parse_parallel("tp=x"));
    CHECK_FALSE(parse_parallel("xp=2"));
    CHECK_FALSE(parse_parallel("tp=99999999999"));
}

// Eight adapters of 200 Gb/s for eight GPUs: 25 GB/s each, 87 % of it attained; without adapters 12.5 GB/s a node.
TEST_CASE("links come from the table's columns", "[steps_table]") {
    Allocation allocation;
    allocation.gpus_per_node = 8;
    allocation.device.link = "nvlink3";
    set_row_links(allocation, "nvswitch", "ib", 8, 200);
    CHECK_THAT(allocation.inter_node.bandwidth_Bps, WithinRel(0.87 * 25e9, 1e-12));
    CHECK(allocation.intra_node.bandwidth_Bps == intra_node_link(allocation.device).bandwidth_Bps);
    set_row_links(allocation, "pcie4", "none", 0, 0);
    CHECK(allocation.intra_node.bandwidth_Bps == link_named("pcie4")->bandwidth_Bps);
    CHECK_THAT(allocation.inter_node.bandwidth_Bps, WithinRel(0.87 * 12.5e9 / 8, 1e-12));
}

// 42.7 % is the error of peak FLOP/s over a constant fitted for each precision on these very rows.
TEST_CASE("steps of public models are forecast better than by a napkin", "[evaluate_steps][slow]") {
    const std::string file = DLCAST_SOURCE_DIR "/../shared/data/steps/steps.csv";
    if (!std::filesystem::exists(file)) {
        WARN("SKIPPED: ../shared/data/steps is not there");
        return;
    }
    const auto config = read_site_config("");
    REQUIRE(config);
    const auto model = open_model("", config->weights_dir);
    REQUIRE(model);
    const auto result = evaluate_steps(file, *shipped_catalog(), *model->model, model->steps, "");
    REQUIRE(result);
    CHECK(step_figures(one_a_group(result->errors)).mape_pct < 42.7);
}
