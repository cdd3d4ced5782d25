// SPDX-License-Identifier: GPL-2.0-or-later
// Limits by the margins of a site's kill rate: which margin, which file, and what stands where there is none.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "predictor/base/json.h"
#include "predictor/job/forecaster.h"
#include "predictor/job/policy.h"
#include "predictor/job/site_margins.h"
#include "predictor/job/site_state.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t day_s = 86'400;

std::int64_t today_s() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string margins_text(double kill_rate, std::int64_t at_s, double deviations) {
    Margins margins;
    margins.kill_rate = kill_rate;
    margins.calibrated_at_s = at_s;
    margins.rows = {{"", "", 4000, deviations}};
    return write_margins(margins);
}

// One partition a100, kill rate 1 %, rounded up to a minute, so that the limit shows the margin.
class Site {
public:
    explicit Site(const std::string& more = "kill_rate = 0.01\n") {
        folder_.write("cluster.toml",
                      "[[partition]]\nname = \"a100\"\n[[partition.nodes]]\ngpu = \"a100\"\n"
                      "gpus_per_node = 4\nnodes = 2\n");
        folder_.write("dlcast.toml", "[time_limit]\nround_up_min = 1\nfloor_min = 1\n" + more +
                                         "[gpu_names]\na100 = \"A100-SXM4-80GB\"\n[files]\ngpus = \"" DLCAST_SOURCE_DIR
                                         "/etc/gpus.toml\"\n");
    }
    void write_margins(const std::string& text) const { folder_.write("margins.toml", text); }
    std::string path(const std::string& name) const { return folder_.path(name); }
    ForecasterPaths paths() const { return {folder_.path("dlcast.toml"), folder_.path("none.so"), ""}; }
    std::shared_ptr<const SiteState> load(std::int64_t now_s) const { return load_site(paths(), nullptr, now_s); }

private:
    ScratchFolder folder_;
};

SubmitRequest vgg16() {
    SubmitRequest request;
    request.payload = R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"batch_size": 32, "epochs": 20}})";
    request.tres_per_node = "gres:gpu:4";
    return request;
}

// limit / median, and the spread that the forecast claims: ln(p95 / p50) / 1.6449.
struct Told {
    double factor = 0.0, log_sd = 0.0;
    std::string message;
};
Told submit(const Site& site) {
    const Verdict verdict = Forecaster(site.paths()).submit(vgg16());
    const auto comment = parse_json(verdict.admin_comment, "comment");
    REQUIRE(comment);
    const Value& ours = *comment->find("dlcast");
    const double p50_s = ours.find("p50_s")->as_number();
    return {static_cast<double>(verdict.time_limit_min) * 60 / p50_s,
            std::log(ours.find("p95_s")->as_number() / p50_s) / 1.6449, verdict.message};
}

bool names(const std::vector<std::string>& faults, const std::string& text) {
    for (const std::string& fault : faults)
        if (fault.find(text) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("a calibrated margin takes the place of quantile and margin_factor", "[kill_rate]") {
    JobForecast job;
    job.p50_s = 100 * 60;
    job.log_sd = 0.2;
    SiteConfig site;
    site.round_up_min = site.floor_min = 1;
    site.kill_rate = 0.01;
    const Margin margin{"", "", 1000, 2.5};
    // 100 min x exp(2.5 x 0.2) = 164.87 min; without it 100 x exp(1.645 x 0.2) x 1.2 = 166.7 min.
    const TimeLimit limit = choose_time_limit(job, site, {}, &margin);
    CHECK(limit.minutes == 165);
    CHECK(limit.keeps == "kill rate 1 %");
    CHECK(choose_time_limit(job, site, {}).minutes == 167);
    CHECK(choose_time_limit(job, site, {}).keeps.empty());
    // Floor, rounding and caps hold as ever.
    site.round_up_min = 60;
    CHECK(choose_time_limit(job, site, {}, &margin).minutes == 180);
    CHECK(choose_time_limit(job, site, {150, "partition a100 MaxTime", "partition's MaxTime"}, &margin).minutes == 150);
}

TEST_CASE("a submission gets the margin of the file, and is told the rate", "[kill_rate]") {
    const Site site;
    site.write_margins(margins_text(0.01, today_s(), 3.0));
    const Told told = submit(site);
    CHECK(told.factor == Approx(std::exp(3.0 * told.log_sd)).epsilon(0.005));  // whole minutes of hours
    CHECK_THAT(told.message, Contains("(kill rate 1 %)"));
    CHECK(site.load(today_s())->faults.size() == 1);  // the network alone is missing
}

TEST_CASE("the nearest group with data counts: partition and class, partition, class, all", "[kill_rate]") {
    const Site site;
    Margins margins;
    margins.kill_rate = 0.01;
    margins.calibrated_at_s = today_s();
    const auto factor = [&](const Margin& row) {
        margins.rows.insert(margins.rows.begin(), row);
        site.write_margins(write_margins(margins));
        const Told told = submit(site);
        return std::log(told.factor) / told.log_sd;  // the margin that was taken
    };
    CHECK(factor({"", "", 9000, 2.0}) == Approx(2.0).margin(0.05));
    CHECK(factor({"", "resnet", 900, 5.0}) == Approx(2.0).margin(0.05));  // another class
    CHECK(factor({"", "vgg", 900, 2.5}) == Approx(2.5).margin(0.05));
    CHECK(factor({"v100", "", 900, 6.0}) == Approx(2.5).margin(0.05));  // another partition
    CHECK(factor({"a100", "", 900, 3.0}) == Approx(3.0).margin(0.05));
    CHECK(factor({"a100", "vgg", 900, 3.5}) == Approx(3.5).margin(0.05));
}

TEST_CASE("without a kill rate the file is not even looked for", "[kill_rate]") {
    const Site site("margin_factor = 1.0\n");
    site.write_margins("broken [");
    const auto state = site.load(today_s());
    CHECK_FALSE(state->site->margins);
    CHECK(state->stamps.count(site.path("margins.toml")) == 0);
    CHECK_FALSE(names(state->faults, "margins.toml"));
    CHECK(submit(site).factor == Approx(std::exp(1.6449 * submit(site).log_sd)).epsilon(0.005));  // the 95 % quantile
}

TEST_CASE("a file that is missing, broken, old or of another rate leaves margin_factor in force, and is told",
          "[kill_rate]") {
    const Site site("kill_rate = 0.01\nmargin_factor = 2\n");
    const auto check = [&](const std::string& fault) {
        const auto state = site.load(today_s());
        INFO(fault);
        CHECK_FALSE(state->site->margins);
        CHECK(names(state->faults, fault));
        CHECK(names(state->faults, "limits are quantile x margin_factor"));
        const Told told = submit(site);
        CHECK(told.factor == Approx(2 * std::exp(1.6449 * told.log_sd)).epsilon(0.005));
        CHECK_THAT(told.message, Contains("(95 %)"));
    };
    check("dlcast report --kill-rate 0.01 --write-margins");
    site.write_margins("kill_rate = 0.01\n[[margin]]\ndeviations = 1\njob = 1\n");
    check("margins.toml:4:1: margin: unknown key \"job\"; did you mean \"jobs\"?");
    site.write_margins("");
    check("there is no margin in it");
    site.write_margins(margins_text(0.05, today_s(), 3.0));
    check("it keeps a kill rate of 0.05, kill_rate is 0.01");
    site.write_margins(margins_text(0.01, today_s() - 91 * day_s, 3.0));
    check("it is older than 90 days (margins_max_age_days)");
}

TEST_CASE("margins are taken up when their file changes, and let go when they grow too old", "[kill_rate]") {
    const Site site;
    const std::int64_t now_s = today_s();
    const auto none = site.load(now_s);
    CHECK_FALSE(is_outdated(*none, now_s));
    site.write_margins(margins_text(0.01, now_s, 3.0));
    CHECK(is_outdated(*none, now_s));
    const auto fresh = load_site(site.paths(), none.get(), now_s);
    REQUIRE(fresh->site->margins);
    CHECK(fresh->site->margins->rows.at(0).deviations == 3.0);
    CHECK_FALSE(is_outdated(*fresh, now_s + 90 * day_s - 1));
    CHECK(is_outdated(*fresh, now_s + 90 * day_s));
    const auto old = load_site(site.paths(), fresh.get(), now_s + 90 * day_s);
    CHECK_FALSE(old->site->margins);
    CHECK_FALSE(is_outdated(*old, now_s + 91 * day_s));  // told once, not read again and again
    site.write_margins("broken [");
    CHECK_FALSE(load_site(site.paths(), fresh.get(), now_s)->site->margins);
}

TEST_CASE("no age is too old where the site says 0 days", "[kill_rate]") {
    const Site site("kill_rate = 0.01\nmargins_max_age_days = 0\n");
    site.write_margins(margins_text(0.01, 0, 3.0));
    CHECK(site.load(today_s())->site->margins);
}

TEST_CASE("what is wrong with margins is told once", "[kill_rate]") {
    const Site site;
    Forecaster forecaster(site.paths());
    CHECK(names(forecaster.reload_if_changed(), "margins.toml"));
    CHECK_FALSE(names(forecaster.reload_if_changed(), "margins.toml"));
}
