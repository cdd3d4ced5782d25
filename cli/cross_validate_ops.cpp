// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cross_validate_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "cli/counted.h"
#include "cli/csv.h"
#include "cli/train.h"
#include "predictor/base/text.h"
#include "predictor/timing/choose_operators.h"

namespace dlcast {
namespace {

using Folds = std::map<std::string, std::vector<OpsRow>>;

Result<Folds> read_folds(const OpsCrossValidation& options, NamedDevices& devices) {
    Folds out;
    for (const std::string& file : options.files) {
        const auto use = [&](OpsRow&& row) {
            if (!row.fault.empty() || !row.time_ms || is_known_wrong(row)) return;
            out[options.fact == "gpu" ? row.device->name : row.source].push_back(std::move(row));
        };
        if (auto s = read_ops(file, devices, use); !s) return s.error();
    }
    return out;
}

// The folds named, as the table spells them.
Result<std::set<std::string>> chosen(const OpsCrossValidation& options, const Folds& folds) {
    std::set<std::string> out;
    if (options.only.empty())
        for (const auto& [name, rows] : folds) out.insert(name);
    for (const std::string& wanted : options.only) {
        const auto same = [&](const auto& fold) {
            const auto named = [&](const OpsRow& row) { return squeeze(row.gpu) == squeeze(wanted); };
            return squeeze(fold.first) == squeeze(wanted) ||
                   (options.fact == "gpu" && std::any_of(fold.second.begin(), fold.second.end(), named));
        };
        const auto found = std::find_if(folds.begin(), folds.end(), same);
        if (found == folds.end())
            return invalid_argument(fmt::format("--only: no row has the {} '{}'", options.fact, wanted));
        out.insert(found->first);
    }
    return out;
}

Result<std::string> fold_weights(const OpsCrossValidation& options, const DeviceCatalog& catalog,
                                 const std::string& fold) {
    const std::string dir = fmt::format("{}/{}-{}", options.work, options.fact, squeeze(fold));
    if (std::filesystem::exists(dir + "/" + manifest_file)) return dir;
    // The manifest is written last under the final name, so that a stopped training counts for nothing.
    const std::string unfinished = dir + ".unfinished";
    TrainOptions train;
    train.ops = options.files;
    (options.fact == "gpu" ? train.exclusions.gpus : train.exclusions.sources) = {fold};
    train.seed = options.seed;
    train.members = options.members;
    train.effort = options.effort;
    train.out = unfinished;
    train.module_path = options.module_path;
    const auto manifest = train_weights(train, catalog);
    if (!manifest) return manifest.error();
    std::error_code failed;
    std::filesystem::rename(unfinished, dir, failed);
    if (failed) return invalid_argument(fmt::format("cannot write '{}': {}", dir, failed.message()));
    return dir;
}

std::optional<OperatorGroup> group_of_row(const OpsRow& row) { return group_of(row.op, *row.device, row.clock); }

using Drawn = std::vector<std::size_t>;

// Which rows are measured: any but those of traces, which time a model's own operators. `count` of each group, at
// random, or where they tell most of it.
Result<std::map<OperatorGroup, Drawn>> draw(const std::vector<OpsRow>& rows, const LayerTimeModel& model,
                                            const OpsCrossValidation& options) {
    std::map<OperatorGroup, Drawn> out;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (const auto group = group_of_row(rows[i]); group && rows[i].set != "trace") out[*group].push_back(i);
    const auto count = static_cast<std::size_t>(options.fit_rows);
    for (auto& [key, members] : out) {
        std::mt19937_64 random(static_cast<std::uint64_t>(options.seed));
        std::shuffle(members.begin(), members.end(), random);
        if (!options.fit_chosen) {
            members.resize(std::min(members.size(), count));
            continue;
        }
        std::vector<OperatorQuery> queries;
        for (const std::size_t i : members) queries.push_back({&rows[i].op, rows[i].device, rows[i].clock});
        const auto chosen = choose_operators(queries, model, count, static_cast<std::uint64_t>(options.seed));
        if (!chosen) return chosen.error();
        Drawn kept;
        for (const std::size_t i : *chosen) kept.push_back(members[i]);
        members = std::move(kept);
    }
    return out;
}

struct Forecast {
    std::vector<OperatorTime> times;
    std::vector<bool> measured;  // rows that fitted the constants
};

Result<Forecast> forecast(const std::vector<OpsRow>& rows, const LayerTimeModel& model,
                          const OpsCrossValidation& options) {
    Forecast out{{}, std::vector<bool>(rows.size(), false)};
    if (options.fit_rows == 0) {
        auto times = operator_times(rows, model);
        if (!times) return times.error();
        out.times = std::move(*times);
        return out;
    }
    const auto drawn = draw(rows, model, options);
    if (!drawn) return drawn.error();
    std::map<OperatorGroup, FittedGroup> fitted;
    for (const auto& [key, members] : *drawn) {
        std::vector<MeasuredOperator> measured;
        for (const std::size_t i : members) {
            measured.push_back({&rows[i].op, rows[i].clock, 1e-3 * *rows[i].time_ms});
            out.measured[i] = true;
        }
        auto fit = fit_group(measured, *rows[members.front()].device, model);
        if (!fit) return fit.error();
        fitted.emplace(key, std::move(*fit));
    }
    const auto fit_of = [&](const OpsRow& row) -> const FittedGroup* {
        const auto group = group_of_row(row);
        const auto found = group ? fitted.find(*group) : fitted.end();
        return found == fitted.end() ? nullptr : &found->second;
    };
    auto times = operator_times(rows, model, [&](const OpsRow& row) {
        const FittedGroup* fit = fit_of(row);
        return fit == nullptr ? nullptr : &fit->offsets;
    });
    if (!times) return times.error();
    out.times = std::move(*times);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double& median_s = out.times[i].median_s;
        if (const FittedGroup* fit = fit_of(rows[i])) median_s *= std::exp(fit->residual.at(rows[i].op, median_s));
    }
    return out;
}

}  // namespace

Result<OpsEvaluation> cross_validate_ops(const OpsCrossValidation& options, const DeviceCatalog& catalog) {
    NamedDevices devices(catalog);
    const auto folds = read_folds(options, devices);
    if (!folds) return folds.error();
    const auto names = chosen(options, *folds);
    if (!names) return names.error();
    std::error_code failed;
    std::filesystem::create_directories(options.work, failed);
    if (failed) return invalid_argument(fmt::format("cannot make '{}': {}", options.work, failed.message()));
    OpsEvaluation out;
    std::string pred = "rid,pred_ms\n";
    std::size_t done = 0;
    for (const std::string& name : *names) {
        const std::vector<OpsRow>& rows = folds->at(name);
        fmt::print(stderr, "dlcast: fold {} of {}: without {} {} ({})\n", ++done, names->size(), options.fact, name,
                   counted(rows.size(), "row"));
        const auto weights = fold_weights(options, catalog, name);
        if (!weights) return weights.error();
        const auto model = open_torch_model(options.module_path, *weights);
        if (!model) return model.error();
        const auto fold = forecast(rows, **model, options);
        if (!fold) return fold.error();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ++out.rows;
            pred += fmt::format("{},{:.6g}\n", csv_field(rows[i].rid), 1e3 * fold->times[i].median_s);
            if (fold->measured[i]) continue;
            const ErrorSample sample = operator_error(rows[i], fold->times[i]);
            const std::string op = rows[i].source + "/" + rows[i].op_name;
            out.errors.add(sample);
            out.errors.add("left out", name, sample);
            out.errors.add("left out, source/operator", name + " " + op, sample);
            out.errors.add("source/operator", op, sample);
        }
    }
    if (!options.pred_path.empty())
        if (auto s = write_file_atomically(options.pred_path, pred); !s) return s.error();
    return out;
}

}  // namespace dlcast
