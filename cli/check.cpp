// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast check`: every error of the configuration at once, or what is in force.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/check_site.h"
#include "cli/cluster_text.h"
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/installation.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/job/margins.h"

namespace dlcast {
namespace {

// "kill rate 1 % by 3 margins from 1200 jobs, calibrated 5 d ago".
std::string margins_text(const SiteConfig& config) {
    const Margins& margins = *config.margins;
    std::int64_t jobs = 0;
    for (const Margin& row : margins.rows) jobs = std::max(jobs, row.jobs);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const double age_s = std::chrono::duration<double>(now).count() - static_cast<double>(margins.calibrated_at_s);
    return fmt::format("kill rate {:g} % by {} from {}, calibrated {} ago", 100 * config.kill_rate,
                       counted(margins.rows.size(), "margin"), counted(jobs, "job"),
                       format_duration(std::max(0.0, age_s)));
}

void print_policy(const SiteConfig& config) {
    fmt::print("mode       {}; failed forecasts: {}; jobs that fit nowhere: {}\n", to_string(config.mode),
               to_string(config.on_failure), to_string(config.on_no_fit));
    const std::string quantile = fmt::format("{:g} % quantile x {:g}", 100 * config.quantile, config.margin_factor);
    fmt::print("time limit {}, rounded up to {} min, at least {} min{}; a limit asked for: {}\n",
               config.margins ? margins_text(config) + ", else " + quantile : quantile, config.round_up_min,
               config.floor_min, config.ceiling_min > 0 ? fmt::format(", at most {} min", config.ceiling_min) : "",
               config.overwrite == Overwrite::never ? "kept" : to_string(config.overwrite));
    fmt::print("partition  {}\n", to_string(config.ranking));
    fmt::print("budgets    {}\n", to_string(config.budget));
    const JobCosts& job = config.job;
    fmt::print(
        "job        start-up {:g} s, {:g} s a GPU to meet, first steps {:g} s, compilation {:g} s a layer, "
        "validation {:g} s a pass, tail {:g} s; data {}, checkpoints {:g} GB/s; equal jobs spread {:g} %\n",
        job.startup_s, job.rank_init_s, job.warmup_s, job.compile_layer_s, job.validation_start_s, job.tail_s,
        job.staging_Bps > 0 ? fmt::format("staged at {:g} GB/s", job.staging_Bps / 1e9) : "read in place",
        job.checkpoint_write_Bps / 1e9, 100 * job.log_sd);
    fmt::print("network    {}, {:g} us\n",
               config.inter_node_bandwidth_Bps > 0
                   ? fmt::format("{:g} Gb/s a node", config.inter_node_bandwidth_Bps * 8 / 1e9)
                   : "as nodes with such GPUs usually have, since [network] states none",
               config.inter_node_latency_s * 1e6);
}

Value strings(const std::vector<std::string>& texts) {
    Value out = Value::array();
    for (const std::string& text : texts) out.push(text);
    return out;
}

Value to_value(const SiteReport& report, const std::string& config_file) {
    Value out = Value::object();
    out.set("ok", report.errors.empty());
    out.set("errors", strings(report.errors));
    out.set("warnings", strings(report.warnings));
    out.set("config", config_file);
    out.set("mode", to_string(report.config.mode));
    out.set("weights", report.config.weights_dir);
    out.set("cluster", report.cluster.name);
    out.set("budget_policy", to_string(report.config.budget));
    out.set("budgets", static_cast<std::int64_t>(report.cluster.budgets.size()));
    out.set("kill_rate", report.config.kill_rate > 0 ? Value(report.config.kill_rate) : Value());
    out.set("margins", report.config.margins ? Value(report.config.margins_file) : Value());
    out.set("known_gpus", static_cast<std::int64_t>(report.known_gpus));
    Value& gpus = out.set("gpus", Value::array());
    for (const SiteGpus& g : report.gpus) {
        Value entry = Value::object();
        entry.set("partition", g.partition);
        entry.set("gpu", g.group.gpus_per_node > 0 ? Value(g.group.gpu) : Value());
        entry.set("device", g.device.empty() ? Value() : Value(g.device));
        entry.set("nodes", g.group.nodes);
        entry.set("gpus_per_node", g.group.gpus_per_node);
        gpus.push(std::move(entry));
    }
    return out;
}

int run_check(const std::string& config_file, const std::string& weights_dir, bool json) {
    const std::string config = site_config_path(config_file);
    SiteReport report = check_site(config, weights_dir);
    std::error_code ignored;
    if (const std::string module = find_installation().module_file; !std::filesystem::exists(module, ignored))
        report.warnings.push_back(fmt::format("no network module '{}': the analytic model answers", module));
    for (const std::string& error : report.errors) fmt::print(stderr, "dlcast: error: {}\n", error);
    for (const std::string& warning : report.warnings) fmt::print(stderr, "dlcast: warning: {}\n", warning);
    if (json) {
        fmt::print("{}\n", write_json(to_value(report, config), 2));
    } else if (report.errors.empty()) {
        fmt::print("config     {}\n", config);
        print_policy(report.config);
        fmt::print("GPUs       {} known\n", report.known_gpus);
        fmt::print("{}", cluster_text(report));
        fmt::print("weights    {}\n", report.config.weights_dir);
    } else {
        fmt::print(stderr, "dlcast: {}\n", counted(report.errors.size(), "error"));
    }
    return report.errors.empty() ? exit_done : exit_error;
}

struct CheckOptions {
    std::string config_file, weights_dir;
    bool json = false;
};

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("check", "Report every error of the configuration, or what is in force");
    const auto options = std::make_shared<CheckOptions>();
    verb->add_option("--config", options->config_file, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    verb->add_option("--weights", options->weights_dir, "Weights directory, instead of the configuration's")
        ->type_name("DIR");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback(
        [options, &exit_code] { exit_code = run_check(options->config_file, options->weights_dir, options->json); });
}

}  // namespace dlcast
