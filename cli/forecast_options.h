// SPDX-License-Identifier: GPL-2.0-or-later
// What the forecasting verbs (predict, scale, compare) are told alike, and the site they open.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/installation.h"
#include "cli/prediction.h"

namespace dlcast {

struct ForecastOptions {
    PredictOptions predict;
    std::string precision, cluster, config, weights;
    std::vector<std::string> train, set;  // assignments, as --train and --set give them
};

/// MODEL, what overrides its training and data, and the files of the site; limits are those of the declaration's
/// reader. GPUs are each verb's own.
void add_forecast_options(CLI::App& verb, ForecastOptions& options);

/// Puts --precision, --train and --set, in this order, among the overrides.
void collect_overrides(ForecastOptions& options);

/// What is wrong with the model, or with an option that changes it: the exit code, after the message. 0: nothing.
/// Throws CLI::ValidationError, which names the option, where that is what is wrong.
int check_workload(const ForecastOptions& options);

/// Configuration, catalog, cluster file (absent where the configuration's is not there) and weights.
struct OpenedSite {
    SiteConfig config;
    DeviceCatalog catalog;
    std::optional<Cluster> cluster;
    OpenedModel opened;
    std::uint32_t uid = 0;  // of whoever runs dlcast, where the cluster file knows them
    PredictSite view() const {
        return {&config, &catalog, cluster ? &*cluster : nullptr, opened.model.get(), &opened.steps, uid};
    }
};

/// Opens what `options` name. Errors: files that are not there or wrong. Says on stderr
/// where the network could not be opened.
Result<OpenedSite> open_site(const ForecastOptions& options);

}  // namespace dlcast
