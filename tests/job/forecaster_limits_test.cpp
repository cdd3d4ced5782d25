// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of others that bind a forecast, what helps, and what is remembered; the messages are the ones a user reads.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "predictor/job/forecaster.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Action = Verdict::Action;
using Catch::Matchers::Contains;

namespace {

const char* const cluster_text = R"(
[cluster]
name = "test"
soft_time_limit = true

[[partition]]
name = "a100"
default = true
max_time_min = 1440
[[partition.nodes]]
gpu = "a100"
gpus_per_node = 4
nodes = 2

[[partition]]
name = "long"
[[partition.nodes]]
gpu = "a100"
gpus_per_node = 4
nodes = 2

[[partition]]
name = "staff"
allow_groups = ["staff"]
allow_uids = [1001]
[[partition.nodes]]
gpu = "h100"
gpus_per_node = 4
nodes = 2

[[partition]]
name = "cpu"
max_time_min = 1440
[[partition.nodes]]
nodes = 4

[[qos]]
name = "short"
max_time_min = 60

[[user]]
uid = 1002
name = "bob"
default_account = "vision"

[[association]]
account = "vision"
max_time_min = 120
)";

// A site in a folder of its own, forecast by the analytic model.
class Site {
public:
    explicit Site(const std::string& config = "", const std::string& names = "", const std::string& files = "") {
        folder_.write("cluster.toml", cluster_text);
        folder_.write("dlcast.toml", config + "\n[gpu_names]\na100 = \"A100-SXM4-80GB\"\nh100 = \"H100-SXM5-80GB\"\n" +
                                         names + "[files]\ngpus = \"" + std::string(DLCAST_SOURCE_DIR) +
                                         "/etc/gpus.toml\"\n" + files);
    }
    std::string path(const std::string& name) const { return folder_.path(name); }
    void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
    ForecasterPaths paths() const { return {folder_.path("dlcast.toml"), folder_.path("none.so"), ""}; }
    Verdict submit(const SubmitRequest& request) const { return Forecaster(paths()).submit(request); }

private:
    ScratchFolder folder_;
};

SubmitRequest vgg16(int epochs, const std::string& partition = "a100") {
    SubmitRequest request;
    request.payload = R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"batch_size": 32, "epochs": )" +
                      std::to_string(epochs) + "}}";
    request.tres_per_node = "gres:gpu:4";
    request.partition = partition;
    request.user_id = 1003;
    return request;
}

std::string text_of(const std::string& path) {
    std::stringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

}  // namespace

TEST_CASE("the message names whose limit cut the forecast's", "[limits]") {
    SubmitRequest request = vgg16(5000);
    CHECK_THAT(Site().submit(request).message, Contains("longer than partition a100 MaxTime 1-00:00:00"));
    request.qos = "short";
    CHECK_THAT(Site().submit(request).message,
               Contains("time limit 1:00:00 (QOS's MaxWall)") && Contains("longer than QOS short MaxWall 1:00:00"));
    request.qos = "";
    request.user_id = 1002;
    const Verdict bob = Site().submit(request);
    CHECK(bob.time_limit_min == 120);
    CHECK_THAT(bob.message, Contains("longer than account vision MaxWall 2:00:00"));
}

TEST_CASE("what does not fit is told what would", "[limits]") {
    const std::string message = Site().submit(vgg16(300)).message;
    CHECK_THAT(message, Contains("take more GPUs, or chain ") &&
                            Contains(" jobs that resume from checkpoints, or train ") &&
                            Contains(" epochs; partition long would hold it"));
    const Verdict refused = Site("on_no_fit = \"reject\"").submit(vgg16(300));
    CHECK(refused.action == Action::reject);
    CHECK(refused.fault == Verdict::Fault::time);
}

TEST_CASE("a partition for groups is chosen for their members", "[limits]") {
    SubmitRequest request = vgg16(1, "");
    CHECK(Site().submit(request).partition != "staff");
    request.user_id = 1001;
    CHECK(Site().submit(request).partition == "staff");
}

TEST_CASE("the median goes beside the limit where site and Slurm plan with soft limits", "[limits]") {
    const Verdict hard = Site().submit(vgg16(5));
    CHECK(hard.time_min_min == -1);
    const Site soft_site("[time_limit]\nsoft_limit = true");
    const Verdict soft = soft_site.submit(vgg16(5));
    CHECK(soft.time_min_min > 0);
    CHECK(soft.time_min_min < soft.time_limit_min);
    CHECK(soft.time_limit_min == hard.time_limit_min);
    SubmitRequest own = vgg16(5);
    own.time_min_min = 30;
    CHECK(soft_site.submit(own).time_min_min == -1);  // the user's own stays
    CHECK(soft_site.submit(vgg16(5000)).time_min_min <= 1440);

    soft_site.write("cluster.toml",
                    std::string(cluster_text).replace(std::string(cluster_text).find("true"), 4, "false"));
    Forecaster forecaster(soft_site.paths());
    CHECK(forecaster.submit(vgg16(5)).time_min_min == -1);
    bool told = false;
    for (const std::string& line : forecaster.reload_if_changed())
        told = told || line.find("time_min_as_soft_limit") != std::string::npos;
    CHECK(told);
}

TEST_CASE("a --time-min above our limit keeps us from setting one", "[limits]") {
    SubmitRequest request = vgg16(1);
    request.time_min_min = 1000;
    CHECK(Site().submit(request).time_limit_min == -1);
    request.time_min_min = 1;
    CHECK(Site().submit(request).time_limit_min > 0);
}

TEST_CASE("a job without GPUs is forecast where the site has measured its CPU", "[limits]") {
    SubmitRequest request = vgg16(1, "cpu");
    request.tres_per_node = "";
    request.min_nodes = request.max_nodes = 2;
    CHECK(Site().submit(request).action == Action::pass);
    const Site site("", "cpu = \"T4\"\n");  // any device of the catalog
    const Verdict verdict = site.submit(request);
    CHECK(verdict.action == Action::set);
    CHECK_THAT(verdict.message, Contains("vgg16, 2 x cpu (partition cpu): about ") && Contains(" node-hours"));
}

TEST_CASE("whole nodes are forecast with all of their GPUs", "[limits]") {
    SubmitRequest request = vgg16(1);
    request.tres_per_node = "";
    request.exclusive = true;
    CHECK_THAT(Site().submit(request).message, Contains("4 x a100") && Contains("1 node of 4 GPUs (--exclusive)"));
}

TEST_CASE("faults of a refusal are told apart", "[limits]") {
    const Site site("on_failure = \"reject\"\non_no_fit = \"reject\"");
    using Fault = Verdict::Fault;
    SubmitRequest request = vgg16(1);
    request.payload = "{";
    CHECK(site.submit(request).fault == Fault::no_forecast);
    request = vgg16(1);
    request.payload = R"({"model": "vgg16"})";
    CHECK(site.submit(request).fault == Fault::no_duration);
    request = vgg16(1);
    request.tres_per_job = "gres:gpu:v100:3";
    request.tres_per_node = "gres:gpu:t4:3";
    CHECK(site.submit(request).fault == Fault::gpu_request);
    CHECK(site.submit(vgg16(1, "cpu")).fault == Fault::no_place);
    request = vgg16(1);
    request.payload = R"({"model": "vgg16", "training": {"steps": 10, "batch_size": 20000}})";
    CHECK(site.submit(request).fault == Fault::memory);
}

TEST_CASE("a remembered forecast gives each job its own id, limit and array", "[forecaster]") {
    const Site site;
    const Forecaster same(site.paths());
    const Verdict first = same.submit(vgg16(5));
    const Verdict second = same.submit(vgg16(5));
    CHECK(second.time_limit_min == first.time_limit_min);
    CHECK(second.message == first.message);
    CHECK(second.admin_comment != first.admin_comment);  // the id
    SubmitRequest request = vgg16(5);
    request.time_limit_min = 10;
    request.array = "0-3";
    const Verdict third = same.submit(request);
    CHECK(third.time_limit_min == -1);
    CHECK_THAT(third.message, Contains("your time limit 0:10:00 stays") && Contains("in 4 tasks"));
}

TEST_CASE("a changed policy is not answered from memory", "[forecaster]") {
    const Site site;
    Forecaster forecaster(site.paths());
    CHECK(forecaster.submit(vgg16(5)).time_limit_min > 0);
    site.write("dlcast.toml", "mode = \"shadow\"\n" + text_of(site.path("dlcast.toml")));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // files are looked at once a second
    forecaster.reload_if_changed();
    CHECK(forecaster.submit(vgg16(5)).time_limit_min == -1);
}

TEST_CASE("counters are written where the site says, at the end at last", "[forecaster]") {
    const Site site("", "", "status = \"dlcast.prom\"\n");
    {
        Forecaster forecaster(site.paths());
        forecaster.submit(vgg16(5));
        forecaster.submit(vgg16(5));
        SubmitRequest broken = vgg16(5);
        broken.payload = "{";
        forecaster.submit(broken);
    }
    const std::string text = text_of(site.path("dlcast.prom"));
    CHECK_THAT(text, Contains("dlcast_submissions_total 3\n") &&
                         Contains("dlcast_forecasts_total{by=\"analytic\"} 2\n") &&
                         Contains("dlcast_remembered_forecasts_total 1\n") && Contains("dlcast_errors_total 1\n") &&
                         Contains("dlcast_weights_info{by=\"analytic\",id=\"\"} 1\n"));
}

TEST_CASE("counters that cannot be written are one line in the log", "[forecaster]") {
    const Site site("", "", "status = \"/nonexistent/folder/dlcast.prom\"\n");
    Forecaster forecaster(site.paths());
    forecaster.submit(vgg16(5));
    int lines = 0;
    for (int i = 0; i < 3; ++i)
        for (const std::string& line : forecaster.reload_if_changed())
            lines += line.find("counters are not kept") != std::string::npos;
    CHECK(lines == 1);
}

TEST_CASE("a cluster file that nobody renews is told once", "[forecaster]") {
    const Site site;
    site.write("cluster.toml",
               std::string(cluster_text).replace(std::string(cluster_text).find("name"), 4, "synced_at_s = 1\nname"));
    Forecaster forecaster(site.paths());
    int lines = 0;
    for (int i = 0; i < 3; ++i)
        for (const std::string& line : forecaster.reload_if_changed())
            lines += line.find("older than 168 hours (cluster_max_age_h); run dlcast sync") != std::string::npos;
    CHECK(lines == 1);
}
