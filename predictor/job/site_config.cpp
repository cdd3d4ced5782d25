// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/site_config.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "predictor/base/reader.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

using Strings = std::vector<std::string>;
constexpr int most_minutes = 366 * 24 * 60;

const Strings mode_names{"shadow", "advise", "enforce"};
const Strings on_failure_names{"accept", "reject"};
const Strings overwrite_names{"never", "shorten", "always"};
const Strings budget_names{"ignore", "warn", "reject"};
const Strings ranking_names{"first", "fastest", "cheapest", "balanced"};

template <typename Choice>
void read_choice(ObjectReader& r, std::string_view key, const Strings& names, Choice& out) {
    if (const auto index = r.choice(key, names)) out = static_cast<Choice>(*index);
}

void read_number(ObjectReader& r, std::string_view key, double min, double max, double& out) {
    out = r.number(key, min, max).value_or(out);
}

void read_integer(ObjectReader& r, std::string_view key, int min, int max, int& out) {
    out = static_cast<int>(r.integer(key, min, max).value_or(out));
}

// Calls `read` on the table named `key`, where there is one, and keeps its faults.
template <typename Read>
void read_table(ObjectReader& root, const std::string& source, const char* key, Strings& faults, Read read) {
    const Value* value = root.value(key);
    if (!value) return;
    ObjectReader r(*value, source, fmt::format("[{}]", key));
    if (value->is_object()) read(r, *value);
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
}

// The file as seen from the folder of `source`, absolute; an absolute file stays.
std::string beside(const std::string& source, const std::string& file) {
    std::error_code ignored;
    const auto whole = std::filesystem::absolute(source, ignored);
    return (whole.parent_path() / file).lexically_normal().string();
}

SiteConfig read_site_config(const Value& root, const std::string& source, Strings& faults) {
    SiteConfig out;
    ObjectReader r(root, source, "configuration");
    read_choice(r, "mode", mode_names, out.mode);
    read_choice(r, "on_failure", on_failure_names, out.on_failure);
    read_choice(r, "on_no_fit", on_failure_names, out.on_no_fit);
    read_integer(r, "deadline_ms", 1, 10'000, out.deadline_ms);
    read_integer(r, "cluster_max_age_h", 0, 24 * 366, out.cluster_max_age_h);
    read_table(r, source, "time_limit", faults, [&](ObjectReader& t, const Value&) {
        read_number(t, "quantile", 0.01, 0.9999, out.quantile);  // at the ends a quantile is infinite
        read_number(t, "margin_factor", 0.1, 100.0, out.margin_factor);
        read_number(t, "kill_rate", 0.0, 0.5, out.kill_rate);
        read_integer(t, "margins_max_age_days", 0, 10 * 366, out.margins_max_age_days);
        read_integer(t, "round_up_min", 1, 1440, out.round_up_min);
        read_integer(t, "floor_min", 1, most_minutes, out.floor_min);
        read_integer(t, "ceiling_min", 0, most_minutes, out.ceiling_min);
        read_choice(t, "overwrite", overwrite_names, out.overwrite);
        out.soft_limit = t.boolean("soft_limit").value_or(out.soft_limit);
        if (out.ceiling_min > 0 && out.ceiling_min < out.floor_min)
            t.fail("ceiling_min", fmt::format("ceiling_min is {}, below floor_min {}; raise it, or 0 for none",
                                              out.ceiling_min, out.floor_min));
    });
    read_table(r, source, "partition", faults,
               [&](ObjectReader& t, const Value&) { read_choice(t, "ranking", ranking_names, out.ranking); });
    read_table(r, source, "budget", faults,
               [&](ObjectReader& t, const Value&) { read_choice(t, "policy", budget_names, out.budget); });
    read_table(r, source, "job", faults, [&](ObjectReader& t, const Value&) {
        read_number(t, "startup_s", 0.0, 86'400.0, out.job.startup_s);
        read_number(t, "rank_init_s", 0.0, 60.0, out.job.rank_init_s);
        read_number(t, "staging_Bps", 0.0, 1e15, out.job.staging_Bps);
        read_number(t, "warmup_s", 0.0, 86'400.0, out.job.warmup_s);
        read_number(t, "compile_layer_s", 0.0, 3600.0, out.job.compile_layer_s);
        read_number(t, "validation_start_s", 0.0, 86'400.0, out.job.validation_start_s);
        read_number(t, "checkpoint_write_Bps", 1e3, 1e15, out.job.checkpoint_write_Bps);
        read_number(t, "tail_s", 0.0, 86'400.0, out.job.tail_s);
        read_number(t, "log_sd", 0.0, 3.0, out.job.log_sd);
    });
    read_table(r, source, "network", faults, [&](ObjectReader& t, const Value&) {
        read_number(t, "inter_node_bandwidth_Bps", 1e6, 1e15, out.inter_node_bandwidth_Bps);
        read_number(t, "inter_node_latency_s", 0.0, 1.0, out.inter_node_latency_s);
    });
    read_table(r, source, "input", faults, [&](ObjectReader& t, const Value&) {
        read_number(t, "images_per_s_per_worker", 0.0, 1e9, out.input.images_per_s);
        read_number(t, "texts_per_s_per_worker", 0.0, 1e9, out.input.texts_per_s);
        read_integer(t, "workers_per_gpu", 1, 1024, out.input.workers_per_gpu);
    });
    read_table(r, source, "gpu_names", faults, [&](ObjectReader& t, const Value& table) {
        for (const Value::Member& member : table.as_object())
            if (const auto device = t.string(member.key)) out.gpu_names[member.key] = *device;
    });
    std::string gpus = "gpus.toml", site_gpus, cluster = "cluster.toml", weights = "weights", status;
    std::string margins = "margins.toml";
    read_table(r, source, "files", faults, [&](ObjectReader& t, const Value&) {
        gpus = t.string("gpus").value_or(gpus);
        site_gpus = t.string("site_gpus").value_or(site_gpus);
        cluster = t.string("cluster").value_or(cluster);
        weights = t.string("weights").value_or(weights);
        margins = t.string("margins").value_or(margins);
        status = t.string("status").value_or(status);
    });
    if (!status.empty()) out.status_file = beside(source, status);
    out.gpus_file = beside(source, gpus);
    if (!site_gpus.empty()) out.site_gpus_file = beside(source, site_gpus);
    out.cluster_file = beside(source, cluster);
    out.weights_dir = beside(source, weights);
    out.margins_file = beside(source, margins);
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

const char* name_at(const Strings& names, int index) { return names[static_cast<std::size_t>(index)].c_str(); }

}  // namespace

Checked<SiteConfig> check_site_config(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    Checked<SiteConfig> out;
    if (!root) out.faults.push_back(root.error().message);
    out.value = read_site_config(root ? *root : Value::object(), source, out.faults);
    return out;
}

Result<SiteConfig> parse_site_config(std::string_view text, const std::string& source) {
    return result_of(check_site_config(text, source));
}

const char* to_string(Mode mode) { return name_at(mode_names, static_cast<int>(mode)); }
const char* to_string(OnFailure choice) { return name_at(on_failure_names, static_cast<int>(choice)); }
const char* to_string(Overwrite choice) { return name_at(overwrite_names, static_cast<int>(choice)); }
const char* to_string(BudgetPolicy choice) { return name_at(budget_names, static_cast<int>(choice)); }
const char* to_string(Ranking choice) { return name_at(ranking_names, static_cast<int>(choice)); }

}  // namespace dlcast
