// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/forecast_options.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/commands.h"
#include "cli/number_option.h"
#include "cli/training_option.h"
#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"
#include "predictor/job/site_margins.h"
#include "predictor/model/overrides.h"

namespace dlcast {
namespace {

constexpr std::size_t most_bytes = 16u << 20;

// The file named by --cluster must be there; the configuration's may be missing.
Result<std::optional<Cluster>> read_cluster(const std::string& named, const SiteConfig& config) {
    const std::string& path = named.empty() ? config.cluster_file : named;
    if (path.empty()) return std::optional<Cluster>{};
    const auto text = read_file(path, most_bytes);
    if (!text) {
        if (named.empty() && text.error().fault == Fault::not_found) return std::optional<Cluster>{};
        return text.error();
    }
    auto cluster = parse_cluster(*text, path);
    if (!cluster) return cluster.error();
    return std::optional<Cluster>{std::move(*cluster)};
}

// The file may come from another host, where the same number is somebody else's.
std::uint32_t uid_known_to(const Cluster& cluster) {
    const std::uint32_t uid = ::getuid();
    const passwd* entry = ::getpwuid(uid);
    const bool known = entry && std::any_of(cluster.users.begin(), cluster.users.end(), [&](const User& user) {
                           return user.uid == uid && user.name == entry->pw_name;
                       });
    return known ? uid : 0;
}

// Without usable margins the limit is the one that slurmctld gives then: quantile x margin_factor.
void read_margins_into(SiteConfig& config) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto margins = read_margins(config, std::chrono::duration_cast<std::chrono::seconds>(now).count());
    if (margins)
        config.margins = std::move(*margins);
    else
        fmt::print(stderr, "dlcast: warning: {}; until then limits are quantile x margin_factor\n",
                   margins.error().message);
}

}  // namespace

void add_forecast_options(CLI::App& verb, ForecastOptions& options) {
    PredictOptions& p = options.predict;
    WorkloadOverrides& o = p.overrides;
    verb.add_option("MODEL", p.model, "Zoo name, model file or directory");
    verb.add_option("--cluster", options.cluster, "Cluster file, instead of the configuration's")->type_name("FILE");
    verb.add_option("--network-gbps", p.network_Gbps, "Network of one node, all its adapters, in Gb/s")
        ->type_name("G")
        ->check(number_between(0.01, 1e6));
    verb.add_option_function<std::string>(
            "--train",
            [&options](const std::string& text) {
                auto assignments = training_assignments(text, "--train");
                if (!assignments) throw CLI::ValidationError(assignments.error().message);
                options.train = std::move(*assignments);
            },
            "Training, as epochs=90,batch_size=256,dataset=imagenet-1k")
        ->type_name("KEY=VALUE,...");
    verb.add_option("--batch-size", o.batch_size, "Samples a GPU and micro-step")
        ->type_name("B")
        ->transform(whole_number(1, 1'000'000'000));
    verb.add_option("--grad-accum", o.grad_accum, "Micro-steps to an optimizer step")
        ->type_name("N")
        ->transform(whole_number(1, 1 << 24));
    verb.add_option("--precision", options.precision, "fp32, tf32, amp, fp16, bf16 or fp8")
        ->type_name("P")
        ->check(precision_name());
    verb.add_option("--optimizer", o.optimizer, "sgd, momentum, adam, adamw, ...")
        ->type_name("NAME")
        ->check(optimizer_name());
    CLI::Option* epochs =
        verb.add_option("--epochs", o.epochs, "Epochs")->type_name("E")->check(number_between(1e-6, 1e9));
    CLI::Option* steps = verb.add_option("--steps", o.steps, "Optimizer steps")
                             ->type_name("S")
                             ->transform(whole_number(1, 1'000'000'000'000))
                             ->excludes(epochs);
    verb.add_option("--tokens", o.tokens, "Tokens to train on, as 300e9")
        ->type_name("T")
        ->check(number_between(1, 1e18))
        ->excludes(epochs)
        ->excludes(steps);
    verb.add_option("--dataset", o.dataset, "Data set by name")->type_name("NAME");
    verb.add_option("--seq-len", o.seq_len, "Tokens of a sample")
        ->type_name("L")
        ->transform(whole_number(1, 100'000'000));
    verb.add_option("--set", options.set, "Any key of the declaration, as dotted.key=value")->type_name("KEY=VALUE");
    verb.add_option("--config", options.config, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    verb.add_option("--weights", options.weights, "Weights, instead of the configuration's")->type_name("DIR");
}

void collect_overrides(ForecastOptions& options) {
    WorkloadOverrides& o = options.predict.overrides;
    if (!options.precision.empty()) o.precision = precision_from(options.precision);
    o.set = options.train;
    o.from_train = options.train.size();
    o.set.insert(o.set.end(), options.set.begin(), options.set.end());
}

int check_workload(const ForecastOptions& options) {
    const WorkloadOverrides& all = options.predict.overrides;
    const auto declaration = read_model_argument(options.predict.model, options.predict.overrides);
    if (!declaration) return report(declaration.error());
    const auto whole = to_workload(*declaration, all);
    if (whole) return exit_done;
    // The option with which it begins to fail; none: the model itself does.
    WorkloadOverrides some;
    const auto fails_with = [&](const std::string& option) {
        if (to_workload(*declaration, some)) return;
        const std::string& message = whole.error().message;
        throw CLI::ValidationError(message.starts_with(option) ? message : option + ": " + message);
    };
    if (!to_workload(*declaration, some)) return report(whole.error());
    if (some.dataset = all.dataset; some.dataset) fails_with("--dataset " + *some.dataset);
    if (some.batch_size = all.batch_size; some.batch_size) fails_with(fmt::format("--batch-size {}", *some.batch_size));
    if (some.grad_accum = all.grad_accum; some.grad_accum) fails_with(fmt::format("--grad-accum {}", *some.grad_accum));
    if (some.seq_len = all.seq_len; some.seq_len) fails_with(fmt::format("--seq-len {}", *some.seq_len));
    for (std::size_t i = 0; i < all.set.size(); ++i) {
        some.set.push_back(all.set[i]);
        fails_with(option_text(all, i));
    }
    return report(whole.error());
}

Result<OpenedSite> open_site(const ForecastOptions& options) {
    OpenedSite out;
    const auto config = read_site_config(options.config);
    if (!config) return config.error();
    out.config = site_of(options.predict, *config);
    read_margins_into(out.config);
    auto catalog = load_catalog(*config);
    if (!catalog) return catalog.error();
    out.catalog = std::move(*catalog);
    auto cluster = read_cluster(options.cluster, *config);
    if (!cluster) return cluster.error();
    out.cluster = std::move(*cluster);
    if (out.cluster) out.uid = uid_known_to(*out.cluster);
    auto opened = open_model(options.weights, config->weights_dir);
    if (!opened) return opened.error();
    out.opened = std::move(*opened);
    if (!out.opened.warning.empty()) fmt::print(stderr, "dlcast: {}\n", out.opened.warning);
    return out;
}

}  // namespace dlcast
