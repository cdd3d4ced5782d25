// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/site_config.h"

#include <catch2/catch.hpp>

#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"

using namespace dlcast;

TEST_CASE("the shipped dlcast.toml is the defaults, spelt out", "[config]") {
    const std::string path = DLCAST_SOURCE_DIR "/etc/dlcast.toml";
    const auto shipped = parse_site_config(*read_file(path, 1 << 20), path);
    if (!shipped) FAIL(shipped.error().message);
    const SiteConfig defaults;
    CHECK(shipped->mode == Mode::enforce);
    CHECK(shipped->on_failure == defaults.on_failure);
    CHECK(shipped->on_no_fit == defaults.on_no_fit);
    CHECK(shipped->deadline_ms == defaults.deadline_ms);
    CHECK(shipped->quantile == defaults.quantile);
    CHECK(shipped->margin_factor == defaults.margin_factor);
    CHECK(shipped->kill_rate == defaults.kill_rate);
    CHECK(shipped->margins_max_age_days == defaults.margins_max_age_days);
    CHECK(shipped->budget == defaults.budget);
    CHECK(shipped->round_up_min == defaults.round_up_min);
    CHECK(shipped->floor_min == defaults.floor_min);
    CHECK(shipped->ceiling_min == defaults.ceiling_min);
    CHECK(shipped->overwrite == defaults.overwrite);
    CHECK(shipped->ranking == defaults.ranking);
    CHECK(shipped->job.startup_s == defaults.job.startup_s);
    CHECK(shipped->job.rank_init_s == defaults.job.rank_init_s);
    CHECK(shipped->job.staging_Bps == defaults.job.staging_Bps);
    CHECK(shipped->job.warmup_s == defaults.job.warmup_s);
    CHECK(shipped->job.compile_layer_s == defaults.job.compile_layer_s);
    CHECK(shipped->job.validation_start_s == defaults.job.validation_start_s);
    CHECK(shipped->job.checkpoint_write_Bps == defaults.job.checkpoint_write_Bps);
    CHECK(shipped->job.tail_s == defaults.job.tail_s);
    CHECK(shipped->job.log_sd == defaults.job.log_sd);
    CHECK(shipped->inter_node_bandwidth_Bps == defaults.inter_node_bandwidth_Bps);
    CHECK(shipped->inter_node_latency_s == defaults.inter_node_latency_s);
    CHECK(shipped->gpu_names.empty());
    CHECK(shipped->site_gpus_file.empty());
    CHECK(load_catalog(*shipped));
}

TEST_CASE("files are found beside dlcast.toml, absolute ones where they are", "[config]") {
    const auto config = parse_site_config(
        "[files]\ngpus = \"/g/gpus.toml\"\nsite_gpus = \"own.toml\"\ncluster = \"../c.toml\"\n"
        "margins = \"/var/lib/dlcast/m.toml\"\n",
        "/s/etc/dlcast.toml");
    REQUIRE(config);
    CHECK(config->gpus_file == "/g/gpus.toml");
    CHECK(config->site_gpus_file == "/s/etc/own.toml");
    CHECK(config->cluster_file == "/s/c.toml");
    CHECK(config->weights_dir == "/s/etc/weights");
    CHECK(config->margins_file == "/var/lib/dlcast/m.toml");
}

TEST_CASE("every key is read into its place", "[config]") {
    const auto config = parse_site_config(R"(
mode = "shadow"
on_failure = "reject"
on_no_fit = "reject"
deadline_ms = 20
[time_limit]
quantile = 0.9
margin_factor = 1.5
kill_rate = 0.02
margins_max_age_days = 30
round_up_min = 30
floor_min = 5
ceiling_min = 600
overwrite = "shorten"
[partition]
ranking = "balanced"
[budget]
policy = "reject"
[job]
startup_s = 5
checkpoint_write_Bps = 2e9
log_sd = 0.2
[network]
inter_node_bandwidth_Bps = 25e9
inter_node_latency_s = 2e-6
[gpu_names]
"a100" = "A100-SXM4-40GB"
)",
                                          "dlcast.toml");
    if (!config) FAIL(config.error().message);
    CHECK(config->mode == Mode::shadow);
    CHECK(config->on_failure == OnFailure::reject);
    CHECK(config->on_no_fit == OnFailure::reject);
    CHECK(config->deadline_ms == 20);
    CHECK(config->quantile == 0.9);
    CHECK(config->margin_factor == 1.5);
    CHECK(config->kill_rate == 0.02);
    CHECK(config->margins_max_age_days == 30);
    CHECK(config->budget == BudgetPolicy::reject);
    CHECK(config->round_up_min == 30);
    CHECK(config->floor_min == 5);
    CHECK(config->ceiling_min == 600);
    CHECK(config->overwrite == Overwrite::shorten);
    CHECK(config->ranking == Ranking::balanced);
    CHECK(config->job.startup_s == 5);
    CHECK(config->job.checkpoint_write_Bps == 2e9);
    CHECK(config->job.log_sd == 0.2);
    CHECK(config->inter_node_bandwidth_Bps == 25e9);
    CHECK(config->inter_node_latency_s == 2e-6);
    CHECK(config->gpu_names.at("a100") == "A100-SXM4-40GB");
}

TEST_CASE("a value out of range or an unknown key names its line, the range or the nearest key", "[config]") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"mode = \"loud\"", "d.toml:1:8: configuration: mode is \"loud\"; it should be one of shadow, advise, enforce"},
        {"moe = \"shadow\"", "d.toml:1:1: configuration: unknown key \"moe\"; did you mean \"mode\"?"},
        {"deadline_ms = 0", "d.toml:1:15: configuration: deadline_ms is 0; it should be from 1 to 10000"},
        {"[time_limit]\nquantile = 1.0", "d.toml:2:12: [time_limit]: quantile is 1; it should be from"},
        {"[time_limit]\nquantil = 0.5",
         "d.toml:2:1: [time_limit]: unknown key \"quantil\"; did you mean \"quantile\"?"},
        {"[time_limit]\nround_up_min = 0", "round_up_min is 0"},
        {"[time_limit]\nround_up_min = 1.5", "round_up_min is 1.5; it should be a whole number"},
        {"[time_limit]\nceiling_min = 10", "ceiling_min is 10, below floor_min 15; raise it, or 0 for none"},
        {"[time_limits]\nquantile = 0.9",
         "d.toml:1:2: configuration: unknown key \"time_limits\"; did you mean \"time_limit\"?"},
        {"[partition]\nranking = \"best\"", "it should be one of first, fastest, cheapest, balanced"},
        {"[budget]\npolicy = \"refuse\"", "it should be one of ignore, warn, reject"},
        {"[time_limit]\nkill_rate = 1", "kill_rate is 1; it should be from 0 to 0.5"},
        {"[job]\nlog_sd = -0.1", "log_sd is -0.1"},
        {"[network]\ninter_node_bandwidth_Bps = 0", "inter_node_bandwidth_Bps is 0"},
        {"[gpu_names]\na100 = 3", "d.toml:2:8: [gpu_names]: a100 is 3; it should be a string"},
        {"[files]\ngpu = \"x\"", "did you mean \"gpus\"?"},
        {"job = 3", "[job] is a whole number; it should be an object"},
        {"mode = ", "d.toml:1:"},
    }));
    INFO(text);
    const auto config = parse_site_config(text, "d.toml");
    REQUIRE_FALSE(config);
    CHECK_THAT(config.error().message, Catch::Contains(message));
}

TEST_CASE("all faults of a configuration come at once, and the sound keys are kept", "[config]") {
    const auto checked =
        check_site_config("mode = \"x\"\ndeadline_ms = 7\nfoo = 1\n[job]\nlog_sd = 9\nbar = 1\n", "d.toml");
    CHECK(checked.faults.size() == 4);
    CHECK(checked.value.deadline_ms == 7);
    CHECK(checked.value.mode == Mode::enforce);
}
