// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast status`: what the plugin in slurmctld did, from the file it writes.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/metrics_file.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

struct StatusOptions {
    std::string file, config_file;
    bool json = false, prometheus = false;
};

Result<std::string> status_file(const StatusOptions& options) {
    if (!options.file.empty()) return options.file;
    const auto config = read_site_config(options.config_file);
    if (!config) return config.error();
    if (config->status_file.empty())
        return invalid_argument(
            "the plugin keeps no counters here; name a file in dlcast.toml: [files] status = "
            "\"/var/lib/dlcast/dlcast.prom\", in a folder that SlurmUser may write to");
    return config->status_file;
}

std::string ago(double then_s) {
    const double now_s = static_cast<double>(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
    return then_s > 0 ? format_duration(std::max(0.0, now_s - then_s)) + " ago" : "never";
}

std::string micros(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6) : fmt::format("{:.3g} ms", seconds * 1e3);
}

std::string count(const Metrics& m, const char* name) { return fmt::format("{:.0f}", m.value(name)); }

std::string text_of(const Metrics& m) {
    const std::string by = m.label("dlcast_weights_info", "by"), id = m.label("dlcast_weights_info", "id");
    std::string out;
    const auto line = [&out](const char* what, const std::string& value) {
        out += fmt::format("{:<13}{}\n", what, value);
    };
    line("opened", ago(m.value("dlcast_opened_timestamp_seconds")));
    line("written", ago(m.value("dlcast_written_timestamp_seconds")));
    line("weights", by == "torch" ? fmt::format("{} ({})", id, by) : std::string("none: the analytic model answers"));
    const double synced_s = m.value("dlcast_cluster_synced_timestamp_seconds");
    line("cluster file", synced_s > 0 ? "synced " + ago(synced_s) : "none, or written by hand");
    line("faults", count(m, "dlcast_configuration_faults"));
    line("submissions", count(m, "dlcast_submissions_total"));
    line("forecasts", fmt::format("{} by the network, {} by the analytic model; {} remembered",
                                  count(m, "dlcast_forecasts_total{by=\"torch\"}"),
                                  count(m, "dlcast_forecasts_total{by=\"analytic\"}"),
                                  count(m, "dlcast_remembered_forecasts_total")));
    line("fallbacks", count(m, "dlcast_fallbacks_total"));
    line("errors", count(m, "dlcast_errors_total"));
    line("rejections", count(m, "dlcast_rejections_total"));
    line("time", fmt::format("p50 {}, p99 {}", micros(m.value("dlcast_forecast_seconds{quantile=\"0.5\"}")),
                             micros(m.value("dlcast_forecast_seconds{quantile=\"0.99\"}"))));
    return out;
}

Value json_of(const Metrics& m) {
    Value out = Value::object();
    const auto put = [&](const char* key, const char* metric) { out.set(key, m.value(metric)); };
    put("opened_at_s", "dlcast_opened_timestamp_seconds");
    put("written_at_s", "dlcast_written_timestamp_seconds");
    put("cluster_synced_at_s", "dlcast_cluster_synced_timestamp_seconds");
    put("faults", "dlcast_configuration_faults");
    put("submissions", "dlcast_submissions_total");
    put("forecasts_torch", "dlcast_forecasts_total{by=\"torch\"}");
    put("forecasts_analytic", "dlcast_forecasts_total{by=\"analytic\"}");
    put("remembered", "dlcast_remembered_forecasts_total");
    put("fallbacks", "dlcast_fallbacks_total");
    put("errors", "dlcast_errors_total");
    put("rejections", "dlcast_rejections_total");
    put("p50_s", "dlcast_forecast_seconds{quantile=\"0.5\"}");
    put("p99_s", "dlcast_forecast_seconds{quantile=\"0.99\"}");
    out.set("by", m.label("dlcast_weights_info", "by"));
    out.set("weights", m.label("dlcast_weights_info", "id"));
    return out;
}

Status print_status(const StatusOptions& options) {
    const auto path = status_file(options);
    if (!path) return path.error();
    auto text = read_file(*path, 1 << 20);
    if (!text)
        return Error{text.error().fault, text.error().message +
                                             "; slurmctld writes it after the first submission with a "
                                             "model, when [files] status is set and its folder is "
                                             "writable for SlurmUser"};
    if (options.prometheus) {
        fmt::print("{}", *text);
        return ok();
    }
    const auto metrics = Metrics::parse(*text, *path);
    if (!metrics) return metrics.error();
    if (options.json)
        fmt::print("{}\n", write_json(json_of(*metrics), 2));
    else
        fmt::print("{}", text_of(*metrics));
    return ok();
}

}  // namespace

void add_status(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("status", "Print what the plugin in slurmctld did so far");
    const auto options = std::make_shared<StatusOptions>();
    verb->add_option("--file", options->file, "Status file, instead of the configuration's [files] status")
        ->type_name("FILE");
    verb->add_option("--config", options->config_file, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    CLI::Option* json = verb->add_flag("--json", options->json, "Print one JSON object");
    verb->add_flag("--prometheus", options->prometheus, "Print the metrics as Prometheus reads them")->excludes(json);
    verb->callback([options, &exit_code] {
        const Status done = print_status(*options);
        exit_code = done ? exit_done : report(done.error());
    });
}

}  // namespace dlcast
