// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "cli/installation.h"
#include "cli/prediction_report.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

const char* const cluster_text = R"(
[cluster]
name = "test"
[[partition]]
name = "v100"
max_time_min = 60
[[partition.nodes]]
gpu = "V100-SXM2-32GB"
gpus_per_node = 4
nodes = 2
[[partition]]
name = "t4"
[[partition.nodes]]
gpu = "t4"
gpus_per_node = 2
nodes = 1
)";

Result<Prediction> predict(const PredictOptions& options, bool with_cluster = false) {
    static const DeviceCatalog catalog = *shipped_catalog();
    static const Cluster cluster = *parse_cluster(cluster_text, "cluster.toml");
    static const auto model = make_analytic_model();
    static const SiteConfig config;
    static const StepWeights steps;
    return make_prediction(options, {&config, &catalog, with_cluster ? &cluster : nullptr, model.get(), &steps});
}

// The analytic model's times, as if a network gave them.
class KnownTimes final : public LayerTimeModel {
public:
    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        asked += queries.size();
        return analytic_->times(queries);
    }
    std::string by() const override { return "torch"; }
    std::string weights_id() const override { return "0123456789abcdef"; }

    mutable std::size_t asked = 0;

private:
    std::unique_ptr<LayerTimeModel> analytic_ = make_analytic_model();
};

PredictOptions vgg16() {
    PredictOptions options;
    options.model = "vgg16";
    options.gpu = "V100-PCIE-32GB";
    options.overrides.batch_size = 32;
    options.overrides.epochs = 90;
    options.overrides.dataset = "imagenet-1k";
    return options;
}

}  // namespace

TEST_CASE("the JSON has the keys that scripts rely on", "[predict]") {
    const auto prediction = predict(vgg16());
    REQUIRE(prediction);
    const Value value = to_value(*prediction, false);
    for (const char* key : {"model", "gpu", "gpus", "nodes", "partition", "step", "samples_per_s", "memory_bytes",
                            "fits", "walltime", "gpu_hours", "assumed", "warnings"}) {
        INFO(key);
        CHECK(value.find(key));
    }
    for (const char* key : {"forward_ms", "backward_ms", "optimizer_ms", "communication_ms", "exposed_communication_ms",
                            "step_ms", "p05_ms", "p95_ms"}) {
        INFO(key);
        CHECK(value.find("step")->find(key)->is_number());
    }
    CHECK(value.find("walltime")->find("limit_min")->as_integer() > 0);
    CHECK(value.find("gpu_hours")->find("p50")->as_number() > 0);
    CHECK(value.find("partition")->is_null());
    CHECK_FALSE(value.find("layers"));
    CHECK(value.find("batch_size")->as_integer() == 32);
    CHECK(value.find("precision")->as_string() == "fp32");
    CHECK(value.find("steps")->as_number() == 90 * 40037);                                // 1,281,167 / 32 rounded up
    CHECK(value.find("memory")->find("weights_bytes")->as_integer() == 4 * 138'357'544);  // fp32
    // Samples a second are the batch over the step.
    CHECK_THAT(value.find("samples_per_s")->as_number(),
               WithinRel(32 * 1e3 / value.find("step")->find("step_ms")->as_number(), 1e-9));
}

TEST_CASE("without a duration there is no walltime, and a warning names the remedy", "[predict]") {
    PredictOptions options = vgg16();
    options.overrides.epochs.reset();
    const auto prediction = predict(options);
    REQUIRE(prediction);
    const Value value = to_value(*prediction, false);
    CHECK(value.find("walltime")->is_null());
    CHECK(value.find("gpu_hours")->is_null());
    CHECK(fits(*prediction));
    CHECK_THAT(prediction->warnings.back(), Contains("epochs"));
}

TEST_CASE("layers are listed on request and make up the step", "[predict]") {
    const auto prediction = predict(vgg16());
    REQUIRE(prediction);
    const Value value = to_value(*prediction, true);
    double forward_ms = 0;
    for (const Value& layer : value.find("layers")->as_array()) {
        forward_ms += layer.find("forward_ms")->as_number();
        const std::string bound = layer.find("bound")->as_string();
        CHECK((bound == "compute" || bound == "memory" || bound == "launch"));
    }
    CHECK_THAT(forward_ms,
               WithinRel(value.find("step")->find("forward_ms")->as_number(), 0.01));  // the host's floor adds a little
}

TEST_CASE("the forecast grows with epochs and differs between GPUs", "[predict]") {
    PredictOptions options = vgg16();
    const auto ninety = predict(options);
    options.overrides.epochs = 45;
    const auto half = predict(options);
    options.gpu = "T4";
    const auto slow = predict(options);
    REQUIRE((ninety && half && slow));
    CHECK_THAT(ninety->candidate.job->training_s, WithinRel(2 * half->candidate.job->training_s, 1e-12));
    CHECK(slow->candidate.job->p50_s > half->candidate.job->p50_s);
}

TEST_CASE("a batch beyond the GPU's memory does not fit and is still forecast", "[predict]") {
    PredictOptions options = vgg16();
    options.overrides.batch_size = 5000;
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK_FALSE(fits(*prediction));
    const Value value = to_value(*prediction, false);
    CHECK_FALSE(value.find("fits")->as_bool());
    CHECK(value.find("step")->find("step_ms")->as_number() > 0);
    // slurmctld accepts it (on_no_fit) and gives it the limit of the forecast.
    const std::string text = to_text(*prediction, false);
    CHECK_THAT(text, Contains("does not fit") && Contains("--time=") && Contains("warning        needs about"));
    CHECK_FALSE(value.find("refused")->as_bool());
}

TEST_CASE("predict says of a job that does not fit what slurmctld does with it", "[predict]") {
    const DeviceCatalog catalog = *shipped_catalog();
    const Cluster cluster = *parse_cluster(cluster_text, "cluster.toml");
    const auto model = make_analytic_model();
    const StepWeights steps;
    PredictOptions options = vgg16();  // 90 epochs are longer than the hour of partition v100
    options.gpu = "";
    options.partition = "v100";
    const auto in = [&](Mode mode, OnFailure on_no_fit) {
        SiteConfig config;
        config.mode = mode;
        config.on_no_fit = on_no_fit;
        const auto prediction = make_prediction(options, {&config, &catalog, &cluster, model.get(), &steps});
        REQUIRE(prediction);
        SubmitRequest request;
        const Decision decision{prediction->workload, prediction->candidate, prediction->placement, prediction->origin};
        const Verdict verdict = verdict_of(decision, request, config);
        CHECK((verdict.action == Verdict::Action::reject) == prediction->refused);
        if (mode == Mode::enforce && !prediction->refused)
            CHECK(verdict.time_limit_min == prediction->candidate.limit_min);
        return to_text(*prediction, false);
    };
    const auto cap = Contains("1:00:00   --time=1:00:00 (partition's MaxTime)");
    const auto warning = Contains("warning        may take");
    CHECK_THAT(in(Mode::enforce, OnFailure::accept), cap && warning);
    CHECK_THAT(in(Mode::shadow, OnFailure::reject), cap && warning);
    const std::string refused = in(Mode::enforce, OnFailure::reject);
    const auto why = refused.find("time limit               none   slurmctld refuses the job: it may take");
    REQUIRE(why != std::string::npos);
    CHECK(refused.find("may take", why + 70) == std::string::npos);  // once
    CHECK_THAT(refused, !Contains("--time="));
}

TEST_CASE("the parts of a step make up the step", "[predict]") {
    PredictOptions options = vgg16();
    options.gpus = 16;
    const auto prediction = predict(options);
    REQUIRE(prediction);
    const Value value = to_value(*prediction, false);
    const Value* step = value.find("step");
    double sum_ms = 0;
    for (const char* part : {"forward_ms", "backward_ms", "optimizer_ms", "exposed_communication_ms", "host_ms"})
        sum_ms += step->find(part)->as_number();
    CHECK_THAT(sum_ms, WithinRel(step->find("step_ms")->as_number(), 1e-9));
    CHECK_THAT(to_text(*prediction, false), Contains("\n  host "));
}

TEST_CASE("the host's time, which nobody states, is named as assumed until a step is declared", "[predict]") {
    PredictOptions options = vgg16();
    const auto assumed = [&] { return fmt::format("{}", fmt::join(predict(options)->assumed, "\n")); };
    CHECK_THAT(assumed(), Contains("ms a step (eager_step_s of the weights' steps.toml; ") &&
                              Contains("training.measured corrects it"));
    options.overrides.set = {"training.framework=tensorflow"};  // its executor, not Python, issues kernels
    CHECK_THAT(assumed(), Contains("(session_step_s of the weights' steps.toml"));
    options.overrides.set = {R"(training.measured={"gpu": "V100-PCIE-32GB", "step_ms": 190})"};
    CHECK_THAT(assumed(), !Contains("steps.toml"));
}

TEST_CASE("GPUs without a count of nodes stand on nodes of eight, with a network that is named", "[predict]") {
    PredictOptions options = vgg16();
    options.gpu = "H100-SXM5-80GB";
    options.gpus = 64;
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK(prediction->candidate.allocation.nodes == 8);
    const auto assumed = [](const Prediction& p) { return fmt::format("{}", fmt::join(p.assumed, "\n")); };
    CHECK_THAT(assumed(*prediction), Contains("8 nodes of 8 GPUs (--nodes not stated)") &&
                                         Contains("network 3200 Gb/s a node (not stated; DGX H100 has 8 x 400 Gb/s"));
    options.network_Gbps = 100;
    const auto narrow = predict(options);
    REQUIRE(narrow);
    CHECK_THAT(assumed(*narrow), Contains("network 100 Gb/s a node (--network-gbps)"));
    CHECK(narrow->candidate.step.communication_s > 5 * prediction->candidate.step.communication_s);
    options.gpus = 1;  // one GPU uses no network, and stands on one node
    CHECK_THAT(assumed(*predict(options)), !Contains("network") && !Contains("node"));
}

TEST_CASE("a step of hours is not told in milliseconds", "[predict]") {
    PredictOptions options = vgg16();
    options.gpu = "T4";
    options.overrides.batch_size = 1'000'000;
    options.overrides.epochs = 1e6;
    const auto prediction = predict(options);
    REQUIRE(prediction);
    const std::string text = to_text(*prediction, false);
    CHECK_THAT(text.substr(0, text.find("optimizer")), !Contains(" ms"));
    CHECK_THAT(text, Contains("years") && Contains("(longest limit given)"));
}

// 784 x 10 + 10 weights of 4 bytes: 31,400 bytes, 0.03 MiB.
TEST_CASE("what is less than a hundredth of a GiB is told in MiB", "[predict]") {
    const ScratchFolder folder;
    PredictOptions options;
    options.gpu = "T4";
    options.model = folder.write(
        "net.json",
        R"({"model": {"name": "net", "input": [784], "layers": [{"type": "linear", "out": 10}]}, "training": {"steps": 10}})");
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK_THAT(to_text(*prediction, false), Contains("weights            0.03 MiB") && !Contains(" 0.00 GiB"));
}

TEST_CASE("GPUs are counted over all nodes and divide evenly", "[predict]") {
    PredictOptions options = vgg16();
    options.gpus = 8;
    options.nodes = 2;
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK(prediction->candidate.allocation.gpus_per_node == 4);
    options.gpus = 7;
    const auto odd = predict(options);
    REQUIRE_FALSE(odd);
    CHECK_THAT(odd.error().message, Contains("--gpus 7") && Contains("6 or 8"));
    options.gpus = 2;
    options.nodes = 4;
    CHECK_THAT(predict(options).error().message, Contains("write --gpus 4 or a multiple"));
}

TEST_CASE("a partition of the cluster file gives GPU and limit", "[predict]") {
    PredictOptions options = vgg16();
    options.gpu = "";
    options.partition = "v100";
    options.gpus = 4;
    const auto prediction = predict(options, true);
    REQUIRE(prediction);
    CHECK(to_value(*prediction, false).find("partition")->as_string() == "v100");
    CHECK(prediction->candidate.limit_min == 60);  // 90 epochs are longer than its hour
    CHECK_FALSE(fits(*prediction));
    CHECK_THAT(to_text(*prediction, false), Contains("longer than partition v100 MaxTime 1:00:00"));
    options.gpus = 64;
    CHECK_FALSE(predict(options, true));
    options.partition = "nowhere";
    CHECK_FALSE(predict(options, true));
}

TEST_CASE("hundreds of partitions of the same nodes are forecast together", "[predict]") {
    const DeviceCatalog catalog = *shipped_catalog();
    const SiteConfig config;
    const StepWeights steps;
    const auto predict_on = [&](int partitions, const KnownTimes& network) {
        std::string text;
        for (int i = 0; i < partitions; ++i)
            text += fmt::format(
                "[[partition]]\nname = \"p{}\"\n[[partition.nodes]]\ngpu = \"t4\"\ngpus_per_node = 2\nnodes = 1\n", i);
        const Cluster cluster = *parse_cluster(text, "cluster.toml");
        PredictOptions options = vgg16();
        options.gpu = "";
        return *make_prediction(options, {&config, &catalog, &cluster, &network, &steps});
    };
    const KnownTimes of_one, of_all;
    const Prediction one = predict_on(1, of_one), all = predict_on(300, of_all);
    CHECK(all.placement.allocation.partition == "p0");
    CHECK(all.candidate.step.step_s == one.candidate.step.step_s);
    CHECK(all.candidate.step.layers.size() == one.candidate.step.layers.size());
    CHECK(of_all.asked == 2 * of_one.asked);  // for all together, and for the layers of the one that is shown
}

TEST_CASE("what is missing or unknown is an error with a remedy", "[predict]") {
    PredictOptions options = vgg16();
    options.gpu = "";
    auto nothing = predict(options);
    REQUIRE_FALSE(nothing);
    CHECK_THAT(nothing.error().message, Contains("--gpu"));
    options.partition = "v100";
    CHECK_THAT(predict(options).error().message, Contains("dlcast sync"));
    options = vgg16();
    options.gpu = "V100-PCIE-33GBX";
    CHECK_FALSE(predict(options));
    options = vgg16();
    options.model = "vgg17";
    CHECK_THAT(predict(options).error().message, Contains("vgg"));
}

TEST_CASE("a precision the GPU lacks is a warning", "[predict]") {
    PredictOptions options = vgg16();
    options.overrides.precision = Precision::bf16;
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK_THAT(prediction->warnings.back(), Contains("no bf16 units"));
}

TEST_CASE("a declared measurement corrects the forecast, and is told", "[predict]") {
    const double plain_s = predict(vgg16())->candidate.step.step_s;
    PredictOptions options = vgg16();
    // Twice the forecast on this very GPU: 19 twentieths of the logarithm of 2 are believed, 2^0.95 = 1.932.
    options.overrides.set = {
        fmt::format(R"(training.measured={{"gpu": "V100-PCIE-32GB", "step_ms": {}}})", 2e3 * plain_s)};
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK_THAT(prediction->candidate.step.step_s, WithinRel(1.932 * plain_s, 1e-3));
    CHECK_THAT(to_text(*prediction, false), Contains("1 declared step: the forecast is multiplied by 1.932"));
    options.overrides.set = {R"(training.measured={"gpu": "V999", "step_ms": 10})"};
    CHECK_THAT(predict(options).error().message, Contains("measured: ") && Contains("V999"));
}

TEST_CASE("the network is named where its answer enters, in fp32 steps alone", "[predict]") {
    const DeviceCatalog catalog = *shipped_catalog();
    const SiteConfig config;
    const StepWeights steps;
    const KnownTimes network;
    PredictOptions options = vgg16();
    for (const auto& [precision, by, said] :
         {std::tuple("fp32", "torch", "learnt layer times"), std::tuple("amp", "analytic", "analytic layer times")}) {
        options.overrides.set = {fmt::format("training.precision=\"{}\"", precision)};
        const auto prediction = make_prediction(options, {&config, &catalog, nullptr, &network, &steps});
        REQUIRE(prediction);
        CHECK(prediction->origin.by == by);
        CHECK(prediction->origin.weights == "0123456789abcdef");
        CHECK_THAT(to_text(*prediction, false), Contains(said));
    }
}

// 100 over 8 data ranks: 96 or 104.
TEST_CASE("a global batch that does not divide over the GPUs is refused with the nearest that do", "[predict]") {
    PredictOptions options = vgg16();
    options.gpus = 8;
    options.overrides.batch_size = 100;
    options.overrides.set = {"training.batch_per=global"};
    const auto prediction = predict(options);
    REQUIRE_FALSE(prediction);
    CHECK_THAT(prediction.error().message, Contains("100") && Contains("96 or 104"));
}

TEST_CASE("the page for a person names parts, spread and assumptions", "[predict]") {
    const auto prediction = predict(vgg16());
    REQUIRE(prediction);
    const std::string text = to_text(*prediction, true);
    for (const char* word : {"forward", "backward", "optimizer", "memory a GPU", "GPU-hours", "time limit",
                             "--time=", "least certain", "assumed", "conv2d"})
        CHECK_THAT(text, Contains(word));
}

TEST_CASE("a name that several GPUs have is taken for the most common one, and said", "[predict]") {
    PredictOptions options = vgg16();
    options.gpu = "a100";
    const auto prediction = predict(options);
    REQUIRE(prediction);
    CHECK_THAT(prediction->assumed.at(prediction->assumed.size() - 2),
               Contains("A100"));  // the last one is the GPU count
}
