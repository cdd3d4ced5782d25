// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/refined_steps.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "predictor/step/message_times.h"
#include "predictor/step/nccl_residual.h"
#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

Allocation four_gpus() {
    Allocation out;
    out.device = test::round_device();
    out.gpus_per_node = 4;
    out.intra_node = intra_node_link(out.device);
    return out;
}

Group group_of(int ranks) {
    Group group;
    group.ranks_per_node = ranks;
    return group;
}

// All-reduces of four ranks that took twice the form's time at 64 KiB and thrice at 64 MiB.
FittedCollectives measured() {
    FittedCollectives out = shipped_collectives();
    const MessageTimes plain(four_gpus(), out);
    RefinedCollective table{"round", Collective::all_reduce, 4, 1, {}};
    for (const auto& [bytes, times] : {std::pair{65536.0, 2.0}, std::pair{67108864.0, 3.0}})
        table.sizes.push_back({bytes, times * 1e6 * plain.of(Collective::all_reduce, bytes, group_of(4)).alone_s});
    out.refined.push_back(table);
    return out;
}

}  // namespace

TEST_CASE("measured collectives correct the same collective over the same group, and nothing else", "[refine]") {
    const FittedCollectives fitted = measured(), shipped = shipped_collectives();
    const MessageTimes refined(four_gpus(), fitted), plain(four_gpus(), shipped);
    const auto ratio = [&](Collective collective, double bytes, int ranks) {
        return refined.of(collective, bytes, group_of(ranks)).alone_s /
               plain.of(collective, bytes, group_of(ranks)).alone_s;
    };
    // Within the noise of 2 % that a measurement is taken to have.
    CHECK_THAT(ratio(Collective::all_reduce, 65536, 4), WithinRel(2.0, 0.03));
    CHECK_THAT(ratio(Collective::all_reduce, 67108864, 4), WithinRel(3.0, 0.03));
    const double between = ratio(Collective::all_reduce, 2097152, 4);
    CHECK(between > 2.0);
    CHECK(between < 3.0);
    CHECK(ratio(Collective::all_reduce, 65536, 2) == 1.0);
    CHECK(ratio(Collective::all_gather, 65536, 4) == 1.0);
    Allocation other = four_gpus();
    other.device.name = "another";
    CHECK(MessageTimes(other, fitted).of(Collective::all_reduce, 65536, group_of(4)).alone_s ==
          plain.of(Collective::all_reduce, 65536, group_of(4)).alone_s);
}

// The times that `evaluate collectives --fit-sizes` gives the sizes of a table that were not measured.
TEST_CASE("a kept table forecasts what the sizes it was made of forecast", "[refine]") {
    const std::vector<double> bytes{1024, 65536, 1048576, 16777216, 268435456};
    const auto form_us = [](double b) { return 10.0 + b / 1e5; };
    const std::vector<double> measured_us{15, 14, 30, 300, 4000};
    std::vector<TablePoint> points;
    for (const double b : bytes) points.push_back({b, form_us(b)});
    const auto chosen = choose_sizes(points, 3);
    std::vector<MeasuredPoint> known;
    RefinedCollective table{"round", Collective::all_reduce, 4, 1, {}};
    for (const std::size_t i : chosen) {
        known.push_back({i, measured_us[i]});
        table.sizes.push_back({bytes[i], measured_us[i]});
    }
    const auto expected = correct_by_residual(points, known);
    const CollectiveCorrection correction(table, form_us);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        CHECK_THAT(form_us(bytes[i]) * correction.factor(bytes[i], form_us(bytes[i])), WithinRel(expected[i], 1e-9));
}

// Between the two sizes the residual falls from ln 3 to 0 while the form stays at 10 us.
TEST_CASE("a correction never makes more bytes cheaper", "[refine]") {
    const RefinedCollective table{"round", Collective::all_reduce, 4, 1, {{1024, 30.0}, {1 << 20, 10.0}}};
    const CollectiveCorrection correction(table, [](double) { return 10.0; });
    double before = 0.0;
    for (double bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
        const double factor = correction.factor(bytes, 10.0);
        CHECK(factor >= before);
        before = factor;
    }
    CHECK(correction.factor(1 << 20, 10.0) > 2.5);  // what 1 KiB took
    CHECK(correction.factor(1 << 20, 1e6) < 1.1);   // a longer form needs no floor
}

TEST_CASE("what a site refined is written and read again", "[refine]") {
    RefinedSteps refined;
    refined.collectives = measured().refined;
    refined.factors = {{"round", "", std::log(1.2), 7},
                       {"round", "bert", std::log(0.9), 2},
                       {"round", "", std::log(1.1), 1, "my \"net\", 10 parameters", 0.25, 0.5},
                       {"round", "cnn", std::log(2e-6), 1, "net", 1.0}};
    const auto again = parse_refined_steps(write_refined_steps(refined), "refined_steps.toml");
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    REQUIRE(again->collectives.size() == 1);
    CHECK(again->collectives[0].gpu == "round");
    CHECK(again->collectives[0].ranks_per_node == 4);
    REQUIRE(again->collectives[0].sizes.size() == 2);
    CHECK_THAT(again->collectives[0].sizes[1].time_us, WithinRel(refined.collectives[0].sizes[1].time_us, 1e-8));
    REQUIRE(again->factors.size() == 4);
    CHECK(again->factors[2].model == refined.factors[2].model);
    CHECK(again->factors[2].spread_share == 0.25);
    CHECK(again->factors[2].scatter_log_sd == 0.5);
    // The least that parts of believable ratios make.
    CHECK_THAT(again->factors[3].log_factor, WithinRel(std::log(2e-6), 1e-9));
    CHECK(again->factors[1].family == "bert");
    CHECK_THAT(again->factors[1].log_factor, WithinRel(std::log(0.9), 1e-4));
}

TEST_CASE("a broken refinement is refused with its place", "[refine]") {
    const auto refusal = [](const std::string& text) {
        const auto read = parse_refined_steps(text, "refined_steps.toml");
        REQUIRE_FALSE(read);
        return read.error().message;
    };
    CHECK_THAT(refusal(""), Contains("schema"));
    CHECK_THAT(refusal("schema = 9"), Contains("schema"));
    const std::string table = "schema = 1\n[[collective]]\ngpu = \"a\"\nname = \"all_reduce\"\n";
    CHECK_THAT(refusal(table + "bytes_and_us = [1.0, 2.0, 3.0]"), Contains("each with its time"));
    CHECK_THAT(refusal(table + "bytes_and_us = [1.0, -2.0]"), Contains("above 0"));
    CHECK_THAT(refusal("schema = 1\n[[factor]]\ngpu = \"a\"\nfactor = 0.0"), Contains("factor"));
}

TEST_CASE("a refinement of an earlier version is read", "[refine]") {
    const auto read =
        parse_refined_steps("schema = 1\n[[factor]]\ngpu = \"a\"\nfamily = \"\"\nfactor = 1.25\ncases = 2\n", "f");
    REQUIRE(read);
    REQUIRE(read->factors.size() == 1);
    CHECK_THAT(step_factor(read->factors, "a", "any", "any"), WithinRel(1.25, 1e-9));
}
