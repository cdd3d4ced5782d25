// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/profile.h"

#include <catch2/catch.hpp>

#include "profiler/device_entry.h"
#include "profiler/layer_sums.h"
#include "profiler/triad.h"
#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

class FakeWork final : public PreparedWork {
public:
    explicit FakeWork(double seconds) : seconds_(seconds) {}
    double run_s() override { return seconds_; }

private:
    double seconds_;
};

// A linear layer takes 3 s, all else 1 s, a whole pass 10 s; there is no softmax.
class FakeBackend : public Backend {
public:
    std::string name() const override { return "fake"; }
    SampleClock clock() const override { return SampleClock::host; }
    std::map<std::string, std::string> versions() const override { return {}; }
    SampleDevice device() const override { return {"fake", 1, 0.0, 0.0, ""}; }
    double free_bytes() const override { return free; }
    bool fused_attention() const override { return fused; }
    Result<std::unique_ptr<PreparedWork>> prepare(const Operator& op) override {
        ++prepared;
        if (op.kind == OperatorKind::softmax) return unavailable("no softmax here");
        return std::unique_ptr<PreparedWork>(std::make_unique<FakeWork>(op.kind == OperatorKind::linear ? 3.0 : 1.0));
    }
    Result<std::unique_ptr<PreparedWork>> prepare(const ModelSpec&, const Training&, const MeasuredPass&) override {
        ++prepared;
        return std::unique_ptr<PreparedWork>(std::make_unique<FakeWork>(10.0));
    }
    Result<std::unique_ptr<TrainingNetwork>> network(const ModelSpec&, const Training&) override {
        return unavailable("no networks here");
    }
    int prepared = 0;
    double free = 0.0;
    bool fused = true;
};

class SlowWork final : public PreparedWork {
public:
    double run_s() override {
        const double end_s = steady_now_s() + 0.02;
        while (steady_now_s() < end_s) {
        }
        return 0.02;
    }
};

// Its passes take as long as they say.
class SlowPasses final : public FakeBackend {
public:
    using FakeBackend::prepare;
    Result<std::unique_ptr<PreparedWork>> prepare(const ModelSpec&, const Training&, const MeasuredPass&) override {
        ++passes;
        return std::unique_ptr<PreparedWork>(std::make_unique<SlowWork>());
    }
    int passes = 0;
};

Operator op_of(OperatorKind kind, Phase phase) {
    Operator op;
    op.kind = kind;
    op.phase = phase;
    op.m = op.k = op.n = op.rows = op.cols = 4;
    return op;
}

ProfiledModel small_model() {
    ProfiledModel out;
    out.name = "small";
    out.training.batch_size = 2;
    out.forward = {{op_of(OperatorKind::linear, Phase::forward), 2.0},
                   {op_of(OperatorKind::elementwise, Phase::forward), 3.0},
                   {op_of(OperatorKind::softmax, Phase::forward), 1.0}};
    out.backward = {{op_of(OperatorKind::linear, Phase::backward_data), 2.0}};
    return out;
}

// A layer of 2^20 weights.
ProfiledModel wide_model() {
    ProfiledModel out;
    out.name = "wide";
    out.training.batch_size = 2;
    Layer layer;
    layer.kind = LayerKind::linear;
    layer.input = layer.output = {1024};
    out.model.layers = {layer};
    return out;
}

const Progress quiet = [](std::size_t, std::size_t, const TimeLeft&, const SamplePoint&) {};

}  // namespace

TEST_CASE("a profile measures what its file lacks, and names what the library cannot run", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    const std::vector<ProfiledModel> models{small_model()};
    const auto points = points_of(models);
    REQUIRE(points.size() == 8);
    // The fake's times never waver, so each point ends at the fewest repetitions.
    const ProfileOptions options{.budget_s = 60.0, .policy = {.warm_up_s = 0.0}};
    const auto first = profile(backend, models, points, options, *file, quiet);
    REQUIRE(first);
    CHECK(first->measured == 7);
    REQUIRE(first->refused.size() == 1);
    CHECK(first->refused.front().why.find("no softmax here") != std::string::npos);
    const auto again = profile(backend, models, points, options, *file, quiet);
    REQUIRE(again);
    CHECK(again->measured == 0);
    CHECK(again->known == 7);

    // 2 x 3 s + 3 x 1 s, and a softmax that is not there; backward 2 x 3 s; the step is their sum.
    const auto sums = layer_sums(models.front(), backend, options, *file);
    REQUIRE(sums.size() == 4);
    CHECK(sums[0].layers_s == 9.0);
    CHECK(sums[0].whole_s == 10.0);
    CHECK(sums[0].missing == 1);
    CHECK(sums[0].error() == Approx(-0.1));
    CHECK(sums[1].layers_s == 6.0);
    CHECK(sums[3].pass == Pass::step);
    CHECK(sums[3].layers_s == 15.0);
}

TEST_CASE("a budget that is over leaves the rest for another run", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    const std::vector<ProfiledModel> models{small_model()};
    const auto points = points_of(models);
    const auto none = profile(backend, models, points, {.budget_s = 1e-9}, *file, quiet);
    REQUIRE(none);
    CHECK(none->left + none->measured + none->refused.size() == points.size());
    CHECK(none->left >= points.size() - 1);
}

// 4 x 4 layers need next to nothing, a model of 2^30 parameters 16 bytes for each with Adam: 16 GiB.
TEST_CASE("a model that the memory does not hold is passed over with its sizes, the rest is measured", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    backend.free = 10.0 * (1 << 30);
    std::vector<ProfiledModel> models{small_model()};
    Layer layer;
    layer.kind = LayerKind::linear;
    layer.input = layer.output = {1 << 15};
    layer.parameters = 1 << 30;
    ModelSpec& model = models.front().model;
    model.name = "wide";
    model.layers = {layer};
    model.parameters = model.trainable_parameters = 1 << 30;
    models.front().training.optimizer = Optimizer::adam;
    const auto result = profile(backend, models, points_of(models), {.policy = {.warm_up_s = 0.0}}, *file, quiet);
    REQUIRE(result);
    CHECK(result->measured == 3);  // operators; the softmax is not there
    REQUIRE(result->refused.size() == 5);
    CHECK(result->refused.front().why.find("wide needs about 16.0 GiB (weights 4.0, gradients 4.0, optimizer 8.0") !=
          std::string::npos);
    CHECK(result->refused.front().why.find("10.0 GiB are free") != std::string::npos);
}

TEST_CASE("a point that cannot end within the budget is left, shorter ones are measured", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    SlowPasses backend;
    const std::vector<ProfiledModel> models{small_model()};
    // A pass takes 20 ms of wall time; one run tells that, and three to count are more than the 40 ms there are then.
    const auto result = profile(backend, models, points_of(models),
                                {.budget_s = 0.06, .policy = {.warm_up_s = 0.0, .most = 1}}, *file, quiet);
    REQUIRE(result);
    CHECK(result->left >= 4);
    CHECK(backend.passes == 1);  // a step as long as that says enough of the other three
    CHECK(result->lost_s >= 0.02);
    for (const TimingSample& sample : file->samples()) CHECK_FALSE(std::holds_alternative<MeasuredPass>(sample.point));
}

// The fake's product of 2 x 512^3 operations says 3 s: 9e7 a second. Of a layer of 2^20 weights five steps of two
// samples, three forwards each, are 6.3e7: 0.7 s at least.
TEST_CASE("what cannot end within the budget is not even prepared", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    const ProfiledModel model = wide_model();
    FakeBackend backend;
    const auto left = profile(backend, {model}, points_of({model}), {.budget_s = 0.5}, *file, quiet);
    REQUIRE(left);
    CHECK(left->left == 4);
    CHECK(backend.prepared == 1);  // the product
    const auto enough =
        profile(backend, {model}, points_of({model}), {.budget_s = 2.0, .policy = {.warm_up_s = 0.0}}, *file, quiet);
    REQUIRE(enough);
    CHECK(enough->measured == 4);
}

// As above 0.7 s at least; of 2 s the first of 4 passes and 10 operators may take 2 x 2 x 6 / (24 + 10 + 6) = 0.6 s.
TEST_CASE("a point longer than its share waits until all else had its turn", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    ProfiledModel model = wide_model();
    for (std::int64_t i = 0; i < 10; ++i) {
        model.forward.push_back({op_of(OperatorKind::elementwise, Phase::forward), 1.0});
        model.forward.back().op.rows += i;
    }
    FakeBackend backend;
    const auto result =
        profile(backend, {model}, points_of({model}), {.budget_s = 2.0, .policy = {.warm_up_s = 0.0}}, *file, quiet);
    REQUIRE(result);
    CHECK(result->measured == 14);
    CHECK(std::holds_alternative<Operator>(file->samples()[0].point));
    CHECK(std::holds_alternative<MeasuredPass>(file->samples()[13].point));
}

// 2 x 1024^3 operations in the 3 s that the fake says, and a convolution of 8 x 28 x 28 x 512 x 512 x 2 in 1 s.
TEST_CASE("a device's figures end with their share of the budget, as soon as there is one", "[profiler]") {
    FakeBackend backend;
    CHECK(measured_flops_per_s(backend, Precision::fp32, 0.0) == Approx(2147483648.0 / 3.0));
    CHECK(backend.prepared == 1);
    CHECK(measured_flops_per_s(backend, Precision::fp32, 60.0) == Approx(3288334336.0));
    CHECK(backend.prepared == 3);
    CHECK(triad_Bps(2, 0.0, 0.0) > 0.0);
}

// Preparing a sum of 2^20 elements, 12 MiB, takes 20 ms here: half of that is 1.26 GB/s, and a table of 4 GiB 3.4 s.
TEST_CASE("what takes longer to make up than the budget has is not prepared", "[profiler]") {
    class SlowToPrepare final : public FakeBackend {
    public:
        using FakeBackend::prepare;
        Result<std::unique_ptr<PreparedWork>> prepare(const Operator& op) override {
            SlowWork().run_s();
            return FakeBackend::prepare(op);
        }
    };
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    SlowToPrepare backend;
    Operator table = op_of(OperatorKind::embedding, Phase::forward);
    table.cols = 1024;
    table.vocab = 1 << 20;
    const auto result = profile(backend, {}, {table, op_of(OperatorKind::copy, Phase::forward)},
                                {.budget_s = 0.5, .policy = {.warm_up_s = 0.0}}, *file, quiet);
    REQUIRE(result);
    CHECK(result->left == 1);
    CHECK(result->measured == 1);
    CHECK(backend.prepared == 2);  // the sum and the copy
}

TEST_CASE("a pass of a model that is not given is refused with the remedy", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    MeasuredPass pass;
    pass.model = "other";
    pass.batch = 1;
    const auto result =
        profile(backend, {small_model()}, {SamplePoint(pass), SamplePoint(MeasuredCollective{})}, {}, *file, quiet);
    REQUIRE(result);
    REQUIRE(result->refused.size() == 2);
    CHECK(result->refused[0].why.find("name it on the command line") != std::string::npos);
    CHECK(result->refused[1].why.find("dlcast-sweep") != std::string::npos);
    CHECK(backend.prepared == 0);
}

// Each look-up in a list of all samples before would be 10^9 comparisons.
TEST_CASE("a plan of 50,000 points begins at once, and resumes behind what the file holds", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    std::vector<SamplePoint> points;
    for (std::int64_t i = 0; i < 50'000; ++i) {
        Operator op = op_of(OperatorKind::elementwise, Phase::forward);
        op.rows = 1 + i;
        points.emplace_back(op);
    }
    const ProfileOptions options{.budget_s = 1e6, .policy = {.warm_up_s = 0.0, .fewest = 1, .most = 1}};
    const std::vector<SamplePoint> half(points.begin(), points.begin() + 25'000);
    REQUIRE(profile(backend, {}, half, options, *file, quiet)->measured == 25'000);
    const double begin_s = steady_now_s();
    const auto rest = profile(backend, {}, points, {.budget_s = 5.0, .policy = options.policy}, *file, quiet);
    REQUIRE(rest);
    CHECK(rest->known == 25'000);
    CHECK(rest->measured > 0);
    CHECK(steady_now_s() - begin_s < 6.0);  // the budget; reading what is known takes a tenth of a second
}

TEST_CASE("a point that a plan names twice is measured once", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    const SamplePoint point = op_of(OperatorKind::elementwise, Phase::forward);
    const auto result = profile(backend, {}, {point, point, point}, {.policy = {.warm_up_s = 0.0}}, *file, quiet);
    REQUIRE(result);
    CHECK(result->measured == 1);
    CHECK(result->left == 0);
    CHECK(file->samples().size() == 1);
}

TEST_CASE("progress tells what is left by what was measured, not by what was passed over", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s.jsonl"), note);
    REQUIRE(file);
    FakeBackend backend;
    std::vector<TimeLeft> seen;
    std::vector<SamplePoint> points(3, SamplePoint(MeasuredCollective{}));
    for (std::size_t i = 0; i < points.size(); ++i) std::get<MeasuredCollective>(points[i]).bytes = i;
    points.emplace_back(op_of(OperatorKind::elementwise, Phase::forward));
    points.emplace_back(op_of(OperatorKind::elementwise, Phase::backward));
    const auto result =
        profile(backend, {}, points, {.budget_s = 60.0, .policy = {.warm_up_s = 0.0}}, *file,
                [&](std::size_t, std::size_t, const TimeLeft& left, const SamplePoint&) { seen.push_back(left); });
    REQUIRE(result);
    REQUIRE(seen.size() == 5);
    for (std::size_t i = 0; i < 4; ++i) CHECK_FALSE(seen[i].points_s);  // collectives are refused
    CHECK(seen[4].points_s);
    CHECK(to_string(seen[0]) == "the budget ends in 60 s");
    CHECK(to_string(seen[4]) == "less than 1 s left");
    CHECK(to_string(TimeLeft{40.2, 50.0}) == "about 40 s left");
    CHECK(to_string(TimeLeft{4000.0, 50.0}) == "the budget ends in 50 s");
}
