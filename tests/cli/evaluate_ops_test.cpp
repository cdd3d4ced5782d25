// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_ops.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "cli/gpu_table.h"
#include "cli/training_rows.h"
#include "predictor/base/text.h"
#include "predictor/timing/physics.h"
#include "tests/scratch_folder.h"
#include "tests/timing/devices.h"

using namespace dlcast;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

const std::string header =
    "rid,set,source,gpu,framework,op,phase,optimizer,activation,dtype,batch,m,k,n,in_ch,out_ch,in_hw,out_hw,ksize,"
    "stride,"
    "padding,bias,rows,cols,vocab,time_ms,ctx\n";

DeviceCatalog catalog() {
    DeviceCatalog out;
    out.add(test::v100(), {});
    out.add(test::p100(), {});
    return out;
}

std::vector<OpsRow> read(const std::string& file, NamedDevices& devices) {
    std::vector<OpsRow> rows;
    const auto status = read_ops(file, devices, [&](OpsRow&& row) { rows.push_back(std::move(row)); });
    if (!status) FAIL(status.error().message);
    return rows;
}

std::string text_of(const std::string& path) {
    const auto text = read_file(path, 1 << 20);
    REQUIRE(text);
    return *text;
}

}  // namespace

TEST_CASE("rows become operators with their clocks", "[ops]") {
    const ScratchFolder folder;
    const auto file = folder.write(
        "ops.csv",
        header +
            "j0,train,justus2018,P100-PCIE-16GB,tensorflow-1.10.1,conv2d,train_step,rmsprop,relu,fp32,9,,,,100,97,71,"
            "34,4,2,0,1,,,,3.4,0\n"
            "n0,train,neusight,V100-PCIE-32GB,pytorch-2.1,bmm,forward,none,none,fp32,16,128,64,32,,,,,,,,,,,,0.1,\n"
            "r0,trace,neusight_trace,V100-PCIE-32GB,pytorch-2.1,linear,grad_accumulate,none,none,fp32,,512,768,3072,,,,"
            ",,,,,,,,0.02,bert:x\n"
            "r1,trace,neusight_trace,V100-PCIE-32GB,pytorch-2.1,layernorm,backward,none,none,fp32,,,,,,,,,,,,,8192,"
            "1024,,0.2,bert:y\n");
    const auto known = catalog();
    NamedDevices devices(known);
    const auto rows = read(file, devices);
    REQUIRE(rows.size() == 4);
    for (const OpsRow& row : rows) CHECK(row.fault == "");
    CHECK(rows[0].op.kind == OperatorKind::conv2d);
    CHECK(rows[0].op.phase == Phase::train_step);
    CHECK(rows[0].op.optimizer == Optimizer::rmsprop);
    CHECK(rows[0].op.function == Function::relu);
    CHECK(rows[0].op.out_ch == 97);
    CHECK(rows[0].op.kernel_w == 4);
    CHECK(rows[0].op.bias);
    CHECK(rows[0].clock == Clock::session);
    CHECK(rows[1].op.batch == 16);
    CHECK(rows[1].clock == Clock::call);
    CHECK(rows[1].device->name == "V100-PCIE-32GB");
    CHECK(rows[2].op.kind == OperatorKind::elementwise);  // the weights' gradient is added: 768 x 3072 elements
    CHECK(rows[2].op.rows == 768);
    CHECK(rows[2].op.cols == 3072);
    CHECK(rows[2].clock == Clock::kernel);
    CHECK(rows[3].op.phase == Phase::backward);
}

TEST_CASE("what a row lacks is its fault, and the table goes on", "[ops]") {
    const ScratchFolder folder;
    const auto file = folder.write("ops.csv",
                                   "rid,gpu,op,m,k,n,rows,cols,dtype\n"
                                   "a,XYZ9000,linear,8,8,8,,,\n"
                                   "b,V100-PCIE-32GB,einsum,8,8,8,,,\n"
                                   "c,V100-PCIE-32GB,linear,8,,8,,,\n"
                                   "d,V100-PCIE-32GB,linear,8,-3,8,,,\n"
                                   "e,V100-PCIE-32GB,linear,99999999999999999999,8,8,,,\n"
                                   "f,V100-PCIE-32GB,relu,,,,4,4,fp12\n"
                                   "g,V100-PCIE-32GB,relu,,,,4,4,\n");
    const auto known = catalog();
    const auto result = evaluate_ops({file}, known, *make_analytic_model(), folder.path("pred.csv"));
    REQUIRE(result);
    CHECK(result->rows == 7);
    CHECK(result->undescribed_rows == 6);
    CHECK(result->undescribed.size() == 4);  // c, d and e share theirs
    CHECK(result->errors.rows() == 0);       // nothing was measured
    const std::string pred = text_of(folder.path("pred.csv"));
    CHECK(pred.starts_with("rid,pred_ms\na,\nb,\nc,\nd,\ne,\nf,\ng,0.00"));
}

TEST_CASE("a row that cannot be described counts as an error of 100 %", "[ops]") {
    const ScratchFolder folder;
    const auto file = folder.write("ops.csv", "rid,gpu,op,m,k,n,time_ms\na,XYZ9000,linear,8,8,8,1.0\n");
    const auto known = catalog();
    const auto result = evaluate_ops({file}, known, *make_analytic_model(), "");
    REQUIRE(result);
    CHECK(result->errors.total().rows == 1);
    CHECK(result->errors.total().mape_pct == 100.0);
}

TEST_CASE("each set is told by source, kind and GPU, rows known to be wrong beside", "[ops]") {
    const ScratchFolder folder;
    const auto file = folder.write("ops.csv",
                                   "rid,set,source,gpu,op,m,k,n,rows,cols,time_ms\n"
                                   "a,test,here,V100-PCIE-32GB,linear,64,64,64,,,1\n"
                                   "b,test,here,P100-PCIE-16GB,linear,64,64,64,,,1\n"
                                   "c,test,here,P100-PCIE-16GB,add,,,,8,8,1\n"
                                   "d,test,here,P100-PCIE-16GB,relu,,,,8,8,1\n"
                                   "e,other,here,P100-PCIE-16GB,linear,64,64,64,,,1\n"
                                   "f,test,neusight,P4,linear,64,64,64,,,1\n");
    auto known = catalog();
    Device p4 = test::p100();
    p4.name = "P4";
    known.add(p4, {});
    const auto result = evaluate_ops({file}, known, *make_analytic_model(), "");
    REQUIRE(result);
    const auto kinds = result->errors.groups("set test, source/kind");
    CHECK(kinds.size() == 3);
    CHECK(kinds.at("here/linear").rows == 2);
    CHECK(kinds.at("here/elementwise").rows == 2);
    CHECK(kinds.at("neusight/linear, P4").rows == 1);
    CHECK(result->errors.groups("set test, source/kind, GPU").at("here/linear P100-PCIE-16GB").rows == 1);
    CHECK(result->errors.groups("set other, source/kind").at("here/linear").rows == 1);
}

TEST_CASE("the measured column never moves a forecast", "[ops]") {
    const ScratchFolder folder;
    const std::string start = "a,V100-PCIE-32GB,linear,512,512,512", other = "b,P100-PCIE-16GB,linear,64,64,64";
    const auto with = folder.write("with.csv", "rid,gpu,op,m,k,n,time_ms\n" + start + ",0.5\n" + other + ",7\n");
    const auto empty = folder.write("empty.csv", "rid,gpu,op,m,k,n,time_ms\n" + start + ",\n" + other + ",\n");
    const auto without = folder.write("without.csv", "rid,gpu,op,m,k,n\n" + start + "\n" + other + "\n");
    const auto known = catalog();
    const auto model = make_analytic_model();
    for (const auto& [file, pred] : {std::pair{with, "1"}, {empty, "2"}, {without, "3"}}) {
        REQUIRE(evaluate_ops({file}, known, *model, folder.path(pred)));
    }
    CHECK(text_of(folder.path("1")) == text_of(folder.path("2")));
    CHECK(text_of(folder.path("1")) == text_of(folder.path("3")));
}

TEST_CASE("errors are figured as people expect", "[ops]") {
    // Off by 10, 20, 30 and 100 % of 1 ms: mean 40, and a root mean square of sqrt((0.01 + 0.04 + 0.09 + 1) / 4) =
    // 0.534 ms.
    std::vector<ErrorSample> samples;
    for (const double predicted : {1.1, 0.8, 1.3, 2.0}) {
        const double ape = 100.0 * std::abs(predicted - 1.0);
        samples.push_back({1.0, predicted, ape, 50.0, predicted < 1.25});
    }
    const ErrorFigures f = figures_of(samples);
    CHECK(f.rows == 4);
    CHECK_THAT(f.mape_pct, WithinRel(40.0, 1e-9));
    CHECK_THAT(f.p90_ape_pct, WithinRel(100.0, 1e-9));
    CHECK_THAT(f.rmse_ms, WithinAbs(0.5339, 1e-4));
    CHECK_THAT(f.baseline_mape_pct, WithinRel(50.0, 1e-9));
    CHECK_THAT(f.coverage_pct, WithinRel(50.0, 1e-9));
    CHECK(figures_of({}).rows == 0);
}

TEST_CASE("rows of a GPU table win for their names and take the board power from the product", "[ops]") {
    const ScratchFolder folder;
    const std::string columns =
        "gpu,vendor,product,arch,compute_cap,sm_count,boost_mhz,mem_gb,mem_bw_gbs,l2_mb,fp32_tflops\n";
    const auto file =
        folder.write("gpus.csv", columns + "mine,nvidia,V100-PCIE-32GB (spare),volta,7.0,80,1380,32,900,6,14.13\n" +
                                     "P100-PCIE-16GB,nvidia,unheard of,pascal,6.0,10,1000,16,100,4,1.5\n");
    auto known = catalog();
    const auto notes = add_gpu_table(known, file);
    REQUIRE(notes);
    CHECK(notes->size() == 2);
    NamedDevices devices(known);
    std::string fault;
    const Device* mine = devices.find("mine", fault);
    REQUIRE(mine != nullptr);
    CHECK(mine->tdp_w == 250.0);
    CHECK(mine->l2_bytes == 6.0 * 1024 * 1024);
    const Device* replaced = devices.find("P100-PCIE-16GB", fault);
    REQUIRE(replaced != nullptr);
    CHECK(replaced->sm_count == 10);
    CHECK(replaced->fp32_flops_per_s == 1.5e12);

    const auto bad = folder.write("bad.csv", columns + "zero,nvidia,x,volta,7.0,0,1380,32,900,6,14.13\n");
    const auto refused = add_gpu_table(known, bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("bad.csv:2: 'zero' needs sm_count") != std::string::npos);
}

TEST_CASE("test rows, excluded GPUs and rows known to be wrong train nothing", "[ops]") {
    const ScratchFolder folder;
    const auto row = [](const std::string& rid, const std::string& set, const std::string& gpu) {
        return rid + "," + set + ",neusight," + gpu + ",pytorch,linear,forward,none,none,fp32,,8,8,8,,,,,,,,,,,,1.0,\n";
    };
    const auto file =
        folder.write("ops.csv", header + row("a", "train", "V100-PCIE-32GB") + row("b", "valid", "V100-PCIE-32GB") +
                                    row("c", "test", "V100-PCIE-32GB") + row("d", "test-unseen-gpu", "P100-PCIE-16GB") +
                                    row("e", "trace", "V100-PCIE-32GB") + row("f", "trace", "P100-PCIE-16GB"));
    const auto known = catalog();
    NamedDevices devices(known);
    const auto rows = collect_training_rows({file}, devices, {});
    REQUIRE(rows);
    const auto rids = [](const std::vector<OpsRow>& of) {
        std::string out;
        for (const OpsRow& r : of) out += r.rid;
        return out;
    };
    CHECK(rids(rows->train) == "ae");     // e: its GPU has rows of its own
    CHECK(rids(rows->held_out) == "bf");  // f: only ever seen inside a model
    REQUIRE(rows->groups[1].size() == 1);
    CHECK(rows->groups[1][0].gpu == "V100-PCIE-32GB");

    const auto without = collect_training_rows({file}, devices, {{"v100 pcie 32gb"}, {}});
    REQUIRE(without);
    CHECK(rids(without->train).empty());
    const auto no_source = collect_training_rows({file}, devices, {{}, {"NeuSight"}});
    REQUIRE(no_source);
    CHECK(no_source->held_out.empty());
}
