// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/forecaster.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "predictor/base/json.h"
#include "predictor/job/site_state.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Action = Verdict::Action;
namespace fs = std::filesystem;

namespace {

const char* const cluster_text = R"(
[cluster]
name = "test"

[[partition]]
name = "a100"
max_time_min = 1440
[[partition.nodes]]
gpu = "a100"
gpus_per_node = 4
nodes = 2

[[partition]]
name = "t4"
[[partition.nodes]]
gpu = "t4"
gpus_per_node = 4
nodes = 8

[[partition]]
name = "closed"
allow_accounts = ["physics"]
[[partition.nodes]]
gpu = "h100"
gpus_per_node = 4
nodes = 8
)";

// A site in a folder of its own, forecast by the analytic model: there is no module.
class Site {
public:
    explicit Site(const std::string& config = "") {
        write("cluster.toml", cluster_text);
        configure(config);
    }

    void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
    void configure(const std::string& config) const {
        write("dlcast.toml",
              config + "\n[gpu_names]\na100 = \"A100-SXM4-80GB\"\nh100 = \"H100-SXM5-80GB\"\n[files]\ngpus = \"" +
                  std::string(DLCAST_SOURCE_DIR) + "/etc/gpus.toml\"\ncluster = \"cluster.toml\"\n");
    }
    ForecasterPaths paths() const { return {folder_.path("dlcast.toml"), folder_.path("none.so"), ""}; }
    Verdict submit(const SubmitRequest& request) const { return Forecaster(paths()).submit(request); }

private:
    ScratchFolder folder_;
};

SubmitRequest vgg16(const std::string& training = R"("epochs": 5, "batch_size": 32)") {
    SubmitRequest request;
    request.payload = R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {)" + training + "}}";
    request.tres_per_node = "gres:gpu:4";
    request.partition = "a100";
    return request;
}

}  // namespace

TEST_CASE("a submission leaves with a limit, a comment and one clear line", "[forecaster]") {
    const Verdict verdict = Site().submit(vgg16());
    REQUIRE(verdict.action == Action::set);
    CHECK(verdict.time_limit_min > 0);
    CHECK(verdict.time_limit_min % 15 == 0);
    CHECK(verdict.partition.empty());  // the user's own stays
    CHECK_THAT(verdict.message, Contains("dlcast: vgg16, 4 x a100 (partition a100): about ") &&
                                    Contains("time limit ") && Contains("(95 %)") && Contains(" GPU-hours"));
    const auto comment = parse_json(verdict.admin_comment, "comment");
    REQUIRE(comment);
    const Value* ours = comment->find("dlcast");
    REQUIRE(ours);
    CHECK(ours->find("by")->as_string() == "analytic");
    CHECK(ours->find("gpus")->as_integer() == 4);
    CHECK(ours->find("limit_s")->as_integer() == verdict.time_limit_min * 60);
}

TEST_CASE("the limit grows with epochs and differs between GPU types", "[forecaster]") {
    const Site site;
    const auto limit = [&](const std::string& training, const std::string& partition) {
        SubmitRequest request = vgg16(training);
        request.partition = partition;
        return site.submit(request).time_limit_min;
    };
    const auto five = limit(R"("epochs": 5, "batch_size": 32)", "t4");
    CHECK(limit(R"("epochs": 10, "batch_size": 32)", "t4") > five);
    CHECK(limit(R"("epochs": 5, "batch_size": 32)", "a100") < five);
}

TEST_CASE("without a partition the fastest open one is chosen", "[forecaster]") {
    SubmitRequest request = vgg16();
    request.partition = "";
    const Site site;
    CHECK(site.submit(request).partition == "a100");
    request.account = "physics";
    CHECK(site.submit(request).partition == "closed");  // H100s, for this account
    request.tres_per_node = "gres:gpu:t4:4";
    CHECK(site.submit(request).partition == "t4");
}

TEST_CASE("of several partitions asked for one is chosen", "[forecaster]") {
    SubmitRequest request = vgg16();
    request.partition = "t4,a100";
    CHECK(Site().submit(request).partition == "a100");
    CHECK(Site("[partition]\nranking = \"first\"").submit(request).partition == "t4");
}

TEST_CASE("the user's own limit stays, with a warning where it is short", "[forecaster]") {
    SubmitRequest request = vgg16();
    request.time_limit_min = 10;
    const Site site;
    const Verdict verdict = site.submit(request);
    CHECK(verdict.action == Action::set);
    CHECK(verdict.time_limit_min == -1);
    CHECK_THAT(verdict.message,
               Contains("your time limit 0:10:00 stays") && Contains("warning") && Contains("--time="));
    CHECK_FALSE(verdict.admin_comment.empty());
    site.configure("[time_limit]\noverwrite = \"always\"");
    CHECK(site.submit(request).time_limit_min > 10);
}

TEST_CASE("modes decide what is written and said", "[forecaster]") {
    const Verdict shadow = Site("mode = \"shadow\"").submit(vgg16());
    CHECK(shadow.action == Action::set);
    CHECK(shadow.time_limit_min == -1);
    CHECK(shadow.message.empty());
    CHECK_FALSE(shadow.admin_comment.empty());
    const Verdict advise = Site("mode = \"advise\"").submit(vgg16());
    CHECK(advise.time_limit_min == -1);
    CHECK_THAT(advise.message, Contains("suggested time limit"));
}

TEST_CASE("no duration is refused with the remedy, where the site enforces", "[forecaster]") {
    const SubmitRequest request = vgg16(R"("batch_size": 32)");
    const Verdict refused = Site().submit(request);
    CHECK(refused.action == Action::reject);
    CHECK(refused.message ==
          "dlcast: vgg16: no duration is declared; add --dl-train=epochs=90 or "
          "--dl-train=steps=100000, or \"epochs\", \"steps\" or \"tokens\" to the file's \"training\"");
    const Verdict told = Site("mode = \"advise\"").submit(request);
    CHECK(told.action == Action::pass);
    CHECK_THAT(told.message, Contains("epochs"));
}

TEST_CASE("a forecast longer than the partition allows is cut, or refused where the site says so", "[forecaster]") {
    const SubmitRequest request = vgg16(R"("epochs": 5000, "batch_size": 32)");
    const Verdict cut = Site().submit(request);
    CHECK(cut.action == Action::set);
    CHECK(cut.time_limit_min == 1440);
    CHECK_THAT(cut.message, Contains("partition a100 MaxTime 1-00:00:00") &&
                                Contains("time limit 1-00:00:00 (partition's MaxTime)") && !Contains("(95 %)"));
    CHECK(Site("on_no_fit = \"reject\"").submit(request).action == Action::reject);
}

TEST_CASE("a model too large for the GPU is said to be", "[forecaster]") {
    SubmitRequest request = vgg16(R"("epochs": 1, "batch_size": 2000)");
    request.partition = "t4";
    CHECK_THAT(Site().submit(request).message, Contains("needs about") && Contains("lower batch_size"));
}

// Adam holds 16 bytes a parameter: 25 GB of gpt2-xl's 1.56 billion and 103 GB of Llama-2-7b's 6.7 billion, over the
// 16 GB of a T4. Checkpointed activations and a smaller batch leave these.
TEST_CASE("the remedies of too little memory are those that can help", "[forecaster]") {
    const auto remedy = [](const char* gpus, const char* model, const char* training) {
        SubmitRequest request = vgg16();
        request.partition = "t4";
        request.tres_per_node = gpus;
        request.payload = fmt::format(R"({{"model": "{}", "training": {{"steps": 100, {}}}}})", model, training);
        const std::string message = Site().submit(request).message;
        const auto start = message.find(" has 15 GiB; ");
        return start == std::string::npos ? message
                                          : message.substr(start + 13, message.find('\n', start) - start - 13);
    };
    CHECK(remedy("gres/gpu:t4:1", "vgg16", R"("batch_size": 2000)") == "lower batch_size or checkpoint activations");
    CHECK(remedy("gres/gpu:t4:4", "vgg16", R"("batch_size": 2000)") ==
          "lower batch_size, shard with zero or fsdp, or checkpoint activations");
    CHECK(remedy("gres/gpu:t4:4", "gpt2-xl", R"("batch_size": 8, "optimizer": "adam")") == "shard with zero or fsdp");
    CHECK(remedy("gres/gpu:t4:1", "gpt2-xl", R"("batch_size": 1, "optimizer": "adam")") ==
          "take more GPUs and shard with zero or fsdp, or GPUs with more memory");
    CHECK(remedy("gres/gpu:t4:4", "Llama-2-7b-hf",
                 R"("batch_size": 1, "parallel": {"zero": 3}, "activation_checkpointing": "full")") ==
          "take more GPUs, or GPUs with more memory");
}

TEST_CASE("an array's message counts its tasks, its limit one of them", "[forecaster]") {
    const Site site;
    SubmitRequest request = vgg16();
    const auto alone = site.submit(request).time_limit_min;
    request.array = "0-9%3";
    const Verdict verdict = site.submit(request);
    CHECK(verdict.time_limit_min == alone);
    CHECK_THAT(verdict.message, Contains("in 10 tasks"));
}

TEST_CASE("an ambiguous GPU name without the site's choice is forecast for the most common variant, and said",
          "[forecaster]") {
    const Site site;
    site.write("cluster.toml",
               "[[partition]]\nname = \"v100\"\n[[partition.nodes]]\ngpu = \"v100\"\ngpus_per_node = 4\nnodes = 2\n");
    SubmitRequest request = vgg16();
    request.partition = "v100";
    const Verdict verdict = site.submit(request);
    CHECK(verdict.time_limit_min > 0);
    CHECK_THAT(verdict.message, Contains("assumed: ") && Contains("GPU \"v100\" taken as V100-SXM2-16GB"));
}

TEST_CASE("the time limit of the job's QOS binds like the partition's", "[forecaster]") {
    const Site site;
    site.write("cluster.toml", std::string(cluster_text) + "\n[[qos]]\nname = \"short\"\nmax_time_min = 60\n");
    SubmitRequest request = vgg16(R"("epochs": 90, "batch_size": 32)");
    request.qos = "short";
    CHECK(site.submit(request).time_limit_min == 60);
}

TEST_CASE("a limit that would not suffice is not asked for", "[forecaster]") {
    SubmitRequest request = vgg16(R"("epochs": 5000, "batch_size": 32)");
    request.time_limit_min = 10;
    const std::string message = Site().submit(request).message;
    CHECK_THAT(message, Contains("your time limit 0:10:00 stays") && Contains("longer than partition a100 MaxTime"));
    CHECK_THAT(message, !Contains("ask for --time"));
}

TEST_CASE("a limit set over the user's own is said to be", "[forecaster]") {
    SubmitRequest request = vgg16();
    request.time_limit_min = 1440;
    const Site site("[time_limit]\noverwrite = \"shorten\"");
    CHECK_THAT(site.submit(request).message, Contains("(95 %) in place of your 1-00:00:00"));
    request.time_limit_min = 0;
    CHECK_THAT(site.submit(request).message, Contains("in place of your UNLIMITED"));
}

TEST_CASE("a job without GPUs passes, and the user is told unless the site only looks on", "[forecaster]") {
    SubmitRequest request = vgg16();
    request.tres_per_node = "";
    const Verdict verdict = Site().submit(request);
    CHECK(verdict.action == Action::pass);
    CHECK_THAT(verdict.message, Contains("asks for no GPU") && Contains("--gres=gpu:N"));
    CHECK_THAT(verdict.log, Contains("no GPU"));
    CHECK(Site("mode = \"shadow\"").submit(request).message.empty());
}

TEST_CASE("what cannot be forecast passes, or is refused where the site says so", "[forecaster]") {
    SubmitRequest forged = vgg16();
    forged.payload = GENERATE("", "{", "[]", "{\"model\": 3}", "{\"model\": \"vgg17x\"}", "\xff\xfe");
    SubmitRequest nowhere = vgg16();
    nowhere.partition = "cpu";
    SubmitRequest wide = vgg16();
    wide.min_nodes = 100;
    for (const SubmitRequest& request : {forged, nowhere, wide}) {
        const Verdict verdict = Site().submit(request);
        CHECK(verdict.action == Action::pass);
        CHECK_THAT(verdict.log, Contains("no forecast"));
        CHECK(Site("on_failure = \"reject\"").submit(request).action == Action::reject);
    }
}

TEST_CASE("without a configuration every submission passes", "[forecaster]") {
    Forecaster forecaster({"/nonexistent/dlcast.toml", "", ""});
    CHECK(forecaster.submit(vgg16()).action == Action::pass);
    CHECK_FALSE(forecaster.reload_if_changed().empty());
    CHECK(forecaster.reload_if_changed().empty());  // each line once
}

TEST_CASE("a changed file is taken, a broken one is not", "[forecaster]") {
    const Site site;
    const auto first = load_site(site.paths(), nullptr, 0);
    REQUIRE(first->site);
    CHECK_FALSE(is_outdated(*first, 0));
    site.configure("mode = \"shadow\"");
    CHECK(is_outdated(*first, 0));
    const auto second = load_site(site.paths(), first.get(), 0);
    CHECK(second->site->mode == Mode::shadow);
    site.write("dlcast.toml", "mode = \n");
    site.write("cluster.toml", "[[partition]]\nnme = 3\n");
    const auto third = load_site(site.paths(), second.get(), 0);
    REQUIRE(third->site);
    CHECK(third->site->mode == Mode::shadow);
    CHECK(third->cluster->partitions.size() == 3);
    CHECK(third->faults.size() >= 2);
}

TEST_CASE("submissions run on several threads", "[forecaster]") {
    const Site site;
    const Forecaster forecaster(site.paths());
    const auto expected = forecaster.submit(vgg16()).time_limit_min;
    std::vector<std::int64_t> limits(4, 0);
    std::vector<std::thread> threads;
    for (std::int64_t& limit : limits) threads.emplace_back([&] { limit = forecaster.submit(vgg16()).time_limit_min; });
    for (std::thread& thread : threads) thread.join();
    CHECK(limits == std::vector<std::int64_t>(4, expected));
}
