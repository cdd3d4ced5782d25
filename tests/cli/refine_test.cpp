// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast refine` by calls of operators, and what it publishes.
#include "cli/refine.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "cli/weights_release.h"
#include "predictor/base/text.h"
#include "predictor/job/site_state.h"
#include "tests/cli/refine_site.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
namespace fs = std::filesystem;

TEST_CASE("an error without bounds is worse than any", "[refine]") {
    const double infinite = std::numeric_limits<double>::infinity();
    JudgedKind kind;
    kind.gpu = gpu;
    kind.kind = "linear";
    kind.rows = kind.held_out = 5;
    kind.before_pct = kind.after_pct = 10.0;
    CHECK(worse_kinds({kind}).empty());
    kind.before_pct = kind.after_pct = infinite;
    CHECK_THAT(worse_kinds({kind}), Contains("linear on L40S"));
    kind.before_pct = 10.0;
    kind.after_pct = std::nan("");
    CHECK_THAT(worse_kinds({kind}), Contains("linear on L40S"));
}

TEST_CASE("a GPU whose calls take half as long again is forecast so, by its published weights", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    const RefinedKind& linear = kind_of(*refined, "linear");
    CHECK(linear.rows == 30);
    CHECK_THAT(linear.before_pct, WithinRel(100.0 / 3.0, 1e-3));  // 1 / 1.5 is a third too short
    CHECK(linear.after_pct < 4.0);
    const auto before_s = site.forecasts(shipped_weights), after_s = site.forecasts(site.options.out);
    for (std::size_t i = 0; i < before_s.size(); ++i) CHECK_THAT(after_s[i], WithinRel(1.5 * before_s[i], 0.1));

    const auto text = read_file(site.options.out + "/manifest.toml", 1 << 20);
    REQUIRE(text);
    const auto manifest = parse_weights_manifest(*text, "manifest.toml");
    REQUIRE(manifest);
    REQUIRE(manifest->refined.size() == 1);
    CHECK(manifest->refined[0].gpu == gpu);
    CHECK(manifest->refined[0].held_out == 30);
    CHECK_THAT(manifest->refined[0].after_pct, WithinAbs(linear.after_pct, 0.005));  // two digits are written
}

TEST_CASE("measurements that say nothing lasting are refused, unless told to", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t i, double forecast_s) { return forecast_s * (i % 2 == 0 ? 1.4 : 1 / 1.4); });
    const auto refused = site.refine();
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Contains("linear on L40S") && Contains("--force"));
    CHECK_FALSE(fs::exists(fs::symlink_status(site.options.out)));
    site.options.force = true;
    CHECK(site.refine());
}

TEST_CASE("a kind that would get worse stays as it was, and the others are published", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::vector<Operator> softmax, norms;
    for (std::int64_t rows = 1024; rows <= 65536; rows *= 2)
        for (std::int64_t cols = 512; cols <= 4096; cols *= 2) {
            softmax.push_back(test::row_wise(OperatorKind::softmax, rows, cols));
            norms.push_back(test::row_wise(OperatorKind::layer_norm, rows, cols));
        }
    site.add(norms);
    site.add(softmax);
    const std::size_t first_softmax = 30 + norms.size();
    site.measure([&](std::size_t i, double forecast_s) {
        return forecast_s * (i < first_softmax ? 1.5 : i % 2 == 0 ? 1.4 : 1 / 1.4);
    });
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    REQUIRE(refined->left.size() == 1);
    CHECK(refined->left[0].kind == "softmax");
    CHECK(refined->errors.size() == 2);
    CHECK(kind_of(*refined, "linear").after_pct < 4.0);
    const auto before_s = site.forecasts(shipped_weights), after_s = site.forecasts(site.options.out);
    for (std::size_t i = 0; i < before_s.size(); ++i)
        CHECK_THAT(after_s[i], i < first_softmax ? WithinRel(1.5 * before_s[i], 0.15) : WithinRel(before_s[i], 1e-6));
    const auto text = read_file(site.options.out + "/manifest.toml", 1 << 20);
    REQUIRE(text);
    CHECK(parse_weights_manifest(*text, "manifest.toml")->refined.size() == 2);

    site.options.weights = site.options.out;  // once more: what is known stays, and so does what got worse
    const auto again = site.refine();
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK_FALSE(again->published);
    CHECK(again->known == KnownParts{"linear on L40S", "layer_norm on L40S"});
    CHECK(again->left.size() == 1);
}

TEST_CASE("samples that refined the weights do not judge them: nothing to do, until more are measured",
          "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    // The first 30 take half as long again, more or less; thin products, measured later, twice as long.
    const auto slower = [](std::size_t i, double forecast_s) {
        return (i % 2 == 0 ? 0.97 : 1.03) * (i < 30 ? 1.5 : 2.0) * forecast_s;
    };
    site.measure(slower);
    const auto first = site.refine();
    REQUIRE(first);
    CHECK(first->published);
    site.options.weights = site.options.out;
    const auto again = site.refine();
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK_FALSE(again->published);
    CHECK(again->errors.empty());
    CHECK(again->known == KnownParts{"linear on L40S"});
    CHECK(again->id == first->id);
    CHECK_FALSE(fs::exists(site.options.out + ".v2"));

    std::vector<Operator> thin;
    for (std::int64_t m = 512; m <= 8192; m *= 2)
        for (std::int64_t n = 512; n <= 4096; n *= 2) thin.push_back(linear(m, 64, n));
    site.add(thin);
    site.measure(slower);
    const auto with_more = site.refine();
    INFO((with_more ? "" : with_more.error().message));
    REQUIRE(with_more);
    CHECK(with_more->published);
    CHECK(kind_of(*with_more, "linear").rows == 50);
    CHECK(kind_of(*with_more, "linear").held_out == 20);  // those that the first did not see
    CHECK(fs::exists(site.options.out + ".v2"));
}

TEST_CASE("a site's state follows published weights, and the way back", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    REQUIRE(site.refine());
    site.folder.write("dlcast.toml",
                      fmt::format("[files]\ngpus = \"{}/etc/gpus.toml\"\nweights = \"weights\"\n", DLCAST_SOURCE_DIR));
    const ForecasterPaths paths{site.folder.path("dlcast.toml"), module_file, ""};
    const auto first = load_site(paths, nullptr, 0);
    const std::string first_id = first->model->weights_id();
    CHECK_THAT(first_id, Contains("+"));
    CHECK_FALSE(is_outdated(*first, 0));

    site.measure([](std::size_t, double forecast_s) { return 2.0 * forecast_s; });
    site.options.weights = site.options.out;
    REQUIRE(site.refine());
    REQUIRE(is_outdated(*first, 0));
    const auto second = load_site(paths, first.get(), 0);
    CHECK(second->model->weights_id() != first_id);
    REQUIRE(roll_back_weights(site.options.out));
    REQUIRE(is_outdated(*second, 0));
    CHECK(load_site(paths, second.get(), 0)->model->weights_id() == first_id);
}

TEST_CASE("nothing to refine by, and an unknown GPU, are refused with the remedy", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.options.samples = {site.folder.write("none.jsonl", "")};
    CHECK_THAT(site.refine().error().message, Contains("nothing to refine by"));
    TimingSample sample = sample_of(linear(1, 2, 3), 1e-3);
    sample.device.name = "Z9000";
    site.options.samples = {site.folder.write("unknown.jsonl", to_json_line(sample) + "\n")};
    const std::string away = site.refine().error().message;
    CHECK_THAT(away, Contains("unknown.jsonl:1: device \"Z9000\" is in no catalog") && Contains("[files] site_gpus") &&
                         Contains("bring that file"));
    const std::string entry = site.folder.write("unknown.jsonl.gpus.toml", "");
    CHECK_THAT(site.refine().error().message,
               Contains("its entry is in '" + entry + "', which was written with the samples") &&
                   Contains("site_gpus = \"" + entry + "\""));
}

TEST_CASE("a start without weights is refused with the remedy that a forecast names", "[refine]") {
    Site site;
    site.options.weights = site.folder.path("none");
    const std::string refused = site.refine().error().message;
    CHECK_THAT(refused,
               Contains(site.options.weights + "/manifest.toml") && Contains("train weights with dlcast train"));
}

TEST_CASE("a model in the place of samples is told from samples with a fault", "[refine]") {
    const DeviceCatalog catalog = *shipped_catalog();
    const ScratchFolder folder;
    const std::string model = folder.write("mlp.json", R"({ "model": { "name": "mlp", "input": [8],
        "layers": [{ "type": "linear", "out": 2 }] } })");
    CHECK_THAT(read_site_samples({model}, catalog).error().message,
               Contains("--samples: '" + model + "' is a model") && Contains("`dlcast-profile " + model));
    const std::string broken = folder.write("samples.jsonl", R"({"v": 1, "modell": "mlp"})");
    CHECK_THAT(read_site_samples({broken}, catalog).error().message, StartsWith(broken + ":1"));
}

TEST_CASE("forecasts that a refinement leaves far off are not published, forced or not", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    // From call to call 30 times shorter or longer: no fit forecasts what it did not see. In front of a network that
    // says half as much again, a device a thousand times slower would do, were it not for the limits on samples.
    site.measure([](std::size_t i, double forecast_s) { return forecast_s * (i % 2 == 0 ? 30.0 : 1.0); });
    for (const bool force : {false, true}) {
        site.options.force = force;
        const auto refused = site.refine();
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message,
                   Contains("still be off: linear on L40S by a factor of") && Contains("check the peak figures"));
    }
    CHECK_FALSE(fs::exists(fs::symlink_status(site.options.out)));
}

TEST_CASE("the same samples refined once more before the site names the weights publish nothing", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    const auto first = site.refine();
    REQUIRE(first);
    CHECK(first->published);
    const auto again = site.refine();  // from the shipped weights, as before
    REQUIRE(again);
    CHECK_FALSE(again->published);
    CHECK(again->waiting);
    CHECK(again->id == first->id);
    CHECK_FALSE(fs::exists(site.options.out + ".v2"));
}

TEST_CASE("operators that no network knows, and groups of too few, are named", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    Operator attention;
    attention.kind = OperatorKind::attention;
    attention.batch = 8;
    attention.m = attention.n = 128;
    attention.k = 64;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    std::string text = *read_file(site.options.samples.front(), 1 << 20);
    text += to_json_line(sample_of(attention, 1e-3)) + "\n" + to_json_line(sample_of(conv2d(8, 64, 64, 28, 3), 1e-3)) +
            "\n";
    site.options.samples = {site.folder.write("more.jsonl", text)};
    REQUIRE(site.refine());
    CHECK_THAT(site.said,
               Contains("1 sample is of operators that the network does not know, and left out: 1 attention"));
    CHECK_THAT(site.said, Contains("conv2d on L40S: 1 sample of 1 operator left out"));
}

// The list of its calls' corrections, some 1,500 real numbers, is one line of the published weights.
TEST_CASE("many calls of one family are refined, and what is published can be read", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::vector<Operator> more;
    for (std::int64_t k = 64; k <= 2048; k += 64)
        for (std::int64_t n = 128; n <= 2048; n *= 2) more.push_back(linear(1000, k, n));
    site.add(more);
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK(kind_of(*refined, "linear").rows == 30 + 32 * 5);
    CHECK(kind_of(*refined, "linear").after_pct < 4.0);
}

TEST_CASE("a short name of the GPU in samples is the GPU", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    std::string text = *read_file(site.options.samples.front(), 1 << 20);
    for (std::size_t at = 0; (at = text.find("\"L40S\"", at)) != std::string::npos;) text.replace(at, 6, "\"l40s\"");
    site.options.samples = {site.folder.write("short.jsonl", text)};
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK(kind_of(*refined, "linear").gpu == gpu);
}

TEST_CASE("a second refinement into the same place loses nothing of the first", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    REQUIRE(site.refine());
    MeasuredPass pass;
    pass.model = "resnet50";
    pass.batch = 32;
    pass.pass = Pass::step;
    const double forecast_s = site.step_forecast(shipped_weights, "resnet50", 32).step_s;
    site.measure_steps({{pass, 1.2 * forecast_s}, {pass, 1.21 * forecast_s}});
    const auto refused = site.refine();  // from the shipped weights again
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message,
               Contains("is refined by linear on L40S already") && Contains("--weights '" + site.options.out + "'"));
    CHECK(fs::read_symlink(site.options.out) == "weights.v1");
    site.options.weights = site.options.out;
    const auto both = site.refine();
    INFO((both ? "" : both.error().message));
    REQUIRE(both);
    const auto manifest = parse_weights_manifest(*read_file(site.options.out + "/manifest.toml", 1 << 20), "");
    REQUIRE(manifest);
    CHECK(manifest->refined.size() == 2);
}

// The place is held by the test, as by a refinement that has not published yet: none starts from what is there now.
TEST_CASE("a refinement waits for another into the same place before it reads the weights", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    REQUIRE(site.refine());
    site.options.weights = site.options.out;
    auto held = WeightsPlace::hold(site.options.out);
    REQUIRE(held);
    std::thread other([held = std::move(held), &site] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        // What the other publishes: no weights.
        if (!held->publish([](const std::string&) { return ok(); })) std::puts("not published");
    });
    const auto refused = site.refine();
    other.join();
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Contains("manifest.toml"));
    CHECK_THAT(site.said, Contains("waiting for the lock"));
}

TEST_CASE("copies of a sample count once", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t i, double forecast_s) { return (i % 2 == 0 ? 1.4 : 1.6) * forecast_s; });
    const std::string file = site.options.samples.front();
    site.options.samples = {file, file};
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK(kind_of(*refined, "linear").rows == 30);
    CHECK_THAT(site.said, Contains("30 samples are copies of others"));

    // Two copies of a wrong one would outvote the right one.
    const std::string line = split(*read_file(file, 1 << 20), '\n').front();
    TimingSample wrong = *parse_timing_sample(line, file, 1);
    wrong.median_s = wrong.fastest_s = wrong.slowest_s = 100.0 * wrong.median_s;
    const std::string copy = to_json_line(wrong) + "\n";
    site.options.samples = {file, site.folder.write("wrong.jsonl", copy + copy)};
    site.options.out = site.folder.path("other");
    const auto without = site.refine();
    REQUIRE(without);
    CHECK_THAT(site.said, Contains("1 sample is a copy of others") && Contains("contradict one another"));
}
