// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/profile.h"

#include <catch2/catch.hpp>

#include "profiler/layer_sums.h"
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
class FakeBackend final : public Backend {
public:
    std::string name() const override { return "fake"; }
    Clock clock() const override { return Clock::kernel; }
    std::map<std::string, std::string> versions() const override { return {}; }
    SampleDevice device() const override { return {"fake", 1, 0.0, 0.0, ""}; }
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

const Progress quiet = [](std::size_t, std::size_t, double, const std::string&) {};

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
    CHECK(first->refused.front().find("no softmax here") != std::string::npos);
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
    CHECK(result->refused[0].find("name it on the command line") != std::string::npos);
    CHECK(result->refused[1].find("dlcast-sweep") != std::string::npos);
    CHECK(backend.prepared == 0);
}
