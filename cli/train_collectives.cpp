// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/train_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/collectives_evaluation.h"
#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/step/step_weights.h"

namespace dlcast {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Status check_setups(const std::vector<std::string>& excluded, const CollectiveTables& tables) {
    for (const std::string& id : excluded) {
        if (tables.setups.count(id) > 0) continue;
        std::vector<std::string> known;
        for (const auto& [name, setup] : tables.setups) known.push_back(name);
        const std::string near = nearest_name(id, known);
        return invalid_argument(fmt::format("--exclude-setup: no set-up '{}'{}", id,
                                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    return ok();
}

// GPU names of these tables are as their authors posted them.
bool is_gpu(const std::string& posted, const std::vector<std::string>& names, const DeviceCatalog& catalog) {
    std::string assumed;
    const auto device = catalog.find_or_typical(posted, assumed);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        if (squeeze(name) == squeeze(posted)) return true;
        const auto excluded = catalog.find_or_typical(name, assumed);
        return device && excluded && device->name == excluded->name;
    });
}

}  // namespace

Result<FittedCollectives> train_collectives(const TrainCollectivesOptions& options, const LinkCatalog& links,
                                            const DeviceCatalog& catalog) {
    auto tables = read_collectives(options.setups, options.measured, links);
    if (!tables) return tables.error();
    if (auto status = check_setups(options.excluded_setups, *tables); !status) return status.error();
    std::erase_if(tables->rows, [&](const CollectiveRow& row) {
        return holds(options.excluded_setups, row.setup_id) ||
               (row.setup && (holds(options.excluded_sites, row.setup->site) ||
                              is_gpu(row.setup->gpu, options.excluded_gpus, catalog)));
    });
    if (std::none_of(tables->rows.begin(), tables->rows.end(), [](const CollectiveRow& row) { return row.counts(); }))
        return invalid_argument("no collective to learn from: each needs a described set-up and time_us");
    const auto held_out =
        forecast_collectives(*tables, shipped_collectives().constants, links.priors, LeftOut::site, 0);
    FittedCollectives fitted = fit_tables(*tables, links.priors, held_out);
    std::error_code failed;
    std::filesystem::create_directories(options.out, failed);
    const std::string path = options.out + "/" + collectives_file;
    if (failed) return invalid_argument(fmt::format("cannot write '{}': {}", path, failed.message()));
    if (auto status = write_file_atomically(path, write_fitted_collectives(fitted)); !status) return status.error();
    return fitted;
}

}  // namespace dlcast
