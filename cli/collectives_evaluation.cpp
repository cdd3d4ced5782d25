// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/collectives_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "predictor/step/nccl_fit.h"
#include "predictor/step/nccl_residual.h"

namespace dlcast {
namespace {

constexpr double ninety_percent_z = 1.645;

const std::array<std::string, 3> size_names{"to 64 KiB", "to 16 MiB", "larger"};

double predict(const CollectiveRow& row, const NcclConstants& constants) {
    if (!row.fault.empty()) return 0;
    const CollectiveSetup& setup = *row.setup;
    const auto time = nccl_time(*row.kind, row.bytes, setup.ranks_per_node, setup.nodes, setup.fabric, constants);
    return time ? time->median_us : 0;
}

std::string left_out_key(const CollectiveRow& row, LeftOut left_out) {
    return left_out == LeftOut::setup ? row.setup_id : row.setup ? row.setup->site : "";
}

// The countable rows without those of one group.
std::vector<CollectiveObservation> observations(const CollectiveTables& tables, LeftOut left_out,
                                                const std::string& without) {
    std::map<std::string, std::size_t> sites;
    std::vector<CollectiveObservation> out;
    for (const CollectiveRow& row : tables.rows) {
        if (!row.counts() || (left_out != LeftOut::nothing && left_out_key(row, left_out) == without)) continue;
        const std::size_t site = sites.emplace(row.setup->site, sites.size()).first->second;
        out.push_back({*row.kind, row.bytes, row.setup->ranks_per_node, row.setup->nodes, &row.setup->fabric,
                       *row.time_us, site});
    }
    return out;
}

// Corrects the rows of one table by `count` of its measured sizes.
void correct_table(const CollectiveTables& tables, const std::vector<std::size_t>& rows, std::size_t count,
                   std::vector<CollectiveForecast>& forecasts) {
    std::vector<TablePoint> points;
    for (const std::size_t i : rows)
        points.push_back({tables.rows[i].bytes, forecasts[i].form_us,
                          tables.rows[i].time_us.has_value() && !tables.rows[i].outlier});
    std::vector<MeasuredPoint> measured;
    for (const std::size_t chosen : choose_sizes(points, count)) {
        measured.push_back({chosen, *tables.rows[rows[chosen]].time_us});
        forecasts[rows[chosen]].fitted = true;
    }
    const auto times = correct_by_residual(points, measured);
    for (std::size_t k = 0; k < rows.size(); ++k) forecasts[rows[k]].time_us = times[k];
}

// NCCL's form with nothing fitted: its own link rates, no launch, no filling of pipelines.
NcclConstants catalog_constants(const NcclPriors& priors) {
    NcclConstants plain;
    for_each_constant(plain, [](const std::string&, double& value) { value = 1.0; });
    plain.launch_us = plain.peer_each_us = 0.0;
    plain.network_extra_us.fill(0.0);
    plain.ring_fill.fill(0.0);
    plain.tree_fill.fill(0.0);
    plain.nvls_fill = plain.nvls_tree_fill = plain.peer_fill = 0.0;
    plain.link_efficiency = priors.median.link_efficiency;
    plain.nvls_hopper = 0.85;
    plain.nvls_blackwell = 0.74;
    plain.own_part = plain.peer_cap_GBps = 1e9;
    return plain;
}

double wire_us(const CollectiveSetup& setup, double bytes) {
    const bool inside = setup.nodes == 1 || setup.fabric.domain_ranks > 0;
    return bytes / (1e3 * (inside ? setup.fabric.node_GBps : setup.fabric.network_GBps));
}

ErrorSample sample_of(double measured_us, double predicted_us, double log_sd) {
    ErrorSample sample{measured_us / 1e3, predicted_us / 1e3};
    sample.ape_pct = 100 * std::abs(predicted_us / measured_us - 1);
    sample.inside_interval =
        predicted_us > 0 && std::abs(std::log(measured_us / predicted_us)) <= ninety_percent_z * log_sd;
    return sample;
}

}  // namespace

std::vector<CollectiveForecast> forecast_collectives(const CollectiveTables& tables, const NcclConstants& constants,
                                                     const NcclPriors& priors, LeftOut left_out,
                                                     std::size_t fit_sizes) {
    std::map<std::string, NcclConstants> refitted;
    if (left_out != LeftOut::nothing)
        for (const CollectiveRow& row : tables.rows) {
            const std::string key = left_out_key(row, left_out);
            if (refitted.count(key) == 0) refitted[key] = fit_collectives(observations(tables, left_out, key), priors);
        }
    std::vector<CollectiveForecast> out;
    std::map<std::string, std::vector<std::size_t>> by_table;
    for (std::size_t i = 0; i < tables.rows.size(); ++i) {
        const CollectiveRow& row = tables.rows[i];
        const double form_us =
            predict(row, left_out == LeftOut::nothing ? constants : refitted.at(left_out_key(row, left_out)));
        out.push_back({form_us, form_us});
        if (form_us > 0) by_table[row.setup_id + '\n' + row.collective + '\n' + row.dtype].push_back(i);
    }
    if (fit_sizes > 0)
        for (const auto& [name, rows] : by_table) correct_table(tables, rows, fit_sizes, out);
    return out;
}

FittedCollectives fit_tables(const CollectiveTables& tables, const NcclPriors& priors,
                             const std::vector<CollectiveForecast>& held_out) {
    FittedCollectives out;
    const auto rows = observations(tables, LeftOut::nothing, "");
    out.constants = fit_collectives(rows, priors);
    std::array<std::array<std::vector<double>, 3>, 2> errors;
    std::set<std::string> setups;
    for (std::size_t i = 0; i < tables.rows.size(); ++i) {
        const CollectiveRow& row = tables.rows[i];
        if (!row.counts() || !(held_out[i].time_us > 0)) continue;
        setups.insert(row.setup_id);
        errors[row.setup->nodes > 1][size_class(row.bytes)].push_back(
            std::abs(std::log(*row.time_us / held_out[i].time_us)));
    }
    for (std::size_t several = 0; several < 2; ++several)
        for (std::size_t size = 0; size < 3; ++size) {
            auto& e = errors[several][size];
            if (e.empty()) continue;
            // So wide that nine of ten lie within: errors have heavier tails than a normal distribution.
            const auto at = e.begin() + static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(e.size() - 1));
            std::nth_element(e.begin(), at, e.end());
            (several ? out.spread.several_nodes : out.spread.one_node)[size] = *at / ninety_percent_z;
        }
    out.provenance = fmt::format("fitted on {} measured points of {} set-ups", rows.size(), setups.size());
    return out;
}

CollectiveErrors collective_errors(const CollectiveTables& tables, const std::vector<CollectiveForecast>& forecasts,
                                   const NcclPriors& priors, const CollectiveSpread& spread) {
    const NcclConstants plain = catalog_constants(priors);
    CollectiveErrors errors;
    for (std::size_t i = 0; i < tables.rows.size(); ++i) {
        const CollectiveRow& row = tables.rows[i];
        if (!row.time_us || row.outlier || forecasts[i].fitted || (row.setup && !row.setup->healthy)) continue;
        const std::string size = size_names[size_class(row.bytes)];
        const std::string nodes = row.setup && row.setup->nodes > 1 ? "several nodes" : "one node";
        const std::vector<std::pair<std::string, std::string>> groups{{"size", size},
                                                                      {"collective", row.collective},
                                                                      {"links", row.setup ? row.setup->links : "?"},
                                                                      {"nodes", nodes},
                                                                      {"nodes and size", nodes + ", " + size}};
        const double rate_us = row.fault.empty() ? wire_us(*row.setup, row.bytes) : 0;
        const auto add = [&](ErrorTable& table, double predicted_us) {
            const double log_sd = row.setup ? spread.of(row.bytes, row.setup->nodes) : 0;
            ErrorSample sample = sample_of(*row.time_us, predicted_us, log_sd);
            sample.baseline_ape_pct = 100 * std::abs(rate_us / *row.time_us - 1);
            table.add(sample);
            for (const auto& [by, group] : groups) table.add(by, group, sample);
        };
        add(errors.forecast, forecasts[i].time_us);
        add(errors.wire, rate_us);
        add(errors.catalog, predict(row, plain));
    }
    return errors;
}

std::string CollectiveErrors::text() const {
    std::string out;
    const auto line = [&](const std::string& name, const ErrorFigures& f, const ErrorFigures& c,
                          const ErrorFigures& w) {
        out += fmt::format("{:<28}{:>7}{:>10.1f}{:>9.1f}{:>10.1f}{:>14.1f}{:>14.1f}\n", name, f.rows, f.median_ape_pct,
                           f.p90_ape_pct, f.coverage_pct, c.median_ape_pct, w.median_ape_pct);
    };
    for (const char* by : {"size", "nodes and size", "nodes", "collective", "links"}) {
        out += fmt::format("{:<28}{:>7}{:>10}{:>9}{:>10}{:>14}{:>14}\n", std::string("by ") + by, "rows", "median %",
                           "p90 %", "in 90 %", "NCCL's own %", "size/rate %");
        const auto plain = catalog.groups(by), rate = wire.groups(by);
        for (const auto& [group, figures] : forecast.groups(by)) line(group, figures, plain.at(group), rate.at(group));
        out += '\n';
    }
    line("all", forecast.total(), catalog.total(), wire.total());
    return out;
}

Value CollectiveErrors::json() const {
    Value out = forecast.json();
    Value baselines = Value::object();
    baselines.set("nccl_own_numbers", catalog.json());
    baselines.set("size_over_rate", wire.json());
    out.set("baselines", std::move(baselines));
    return out;
}

}  // namespace dlcast
