// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "cli/commands.h"
#include "cli/csv.h"
#include "cli/installation.h"
#include "cli/steps_table.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"
#include "predictor/step/memory.h"

namespace dlcast {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string figures_line(const std::string& name, const MemoryFigures& f) {
    return fmt::format("{:<24} {:>6} {:>11} {:>9} {:>12.2f} {:>9.2f}\n", name, f.rows, f.above_card, f.largest,
                       f.median_share_largest, f.maximum_share);
}

std::string block(const std::string& title, const std::vector<MemoryCase>& cases, std::string MemoryCase::*fact) {
    std::string out = fmt::format("\n{:<24} {:>6} {:>11} {:>9} {:>12} {:>9}\n", title, "rows", "above card", "set-ups",
                                  "median share", "highest");
    for (const auto& [name, figures] : memory_figures_by(cases, fact)) out += figures_line(name, figures);
    return out;
}

Value figures_value(const MemoryFigures& f) {
    Value out = Value::object();
    out.set("rows", static_cast<std::int64_t>(f.rows));
    out.set("above_card", static_cast<std::int64_t>(f.above_card));
    out.set("largest_batches", static_cast<std::int64_t>(f.largest));
    out.set("median_share_of_card", f.median_share_largest);
    out.set("maximum_share_of_card", f.maximum_share);
    return out;
}

}  // namespace

Result<MemoryEvaluation> evaluate_memory(const std::string& file, const DeviceCatalog& catalog,
                                         const std::string& pred_path) {
    MemoryEvaluation out;
    std::string table = "row_id,pred_memory_bytes,card_bytes\n";
    const auto use = [&](StepsRow&& row) {
        Result<MemoryEstimate> memory = invalid_argument(row.fault);
        if (row.fault.empty()) memory = memory_on(row.workload, row.allocation);
        const std::string& id = row.field("row_id");
        if (!memory) {
            table += csv_field(id) + ",,\n";
            out.undescribed.push_back(fmt::format("{}: {}", id, memory.error().message));
            return;
        }
        MemoryCase one{id,
                       row.field("source"),
                       row.field("model"),
                       row.allocation.device.name,
                       to_string(row.workload.training.precision),
                       row.workload.training.batch_size,
                       memory->total_bytes(),
                       row.allocation.device.memory_bytes};
        table += fmt::format("{},{:.0f},{:.0f}\n", csv_field(id), one.forecast_bytes, one.card_bytes);
        out.cases.push_back(std::move(one));
    };
    if (auto status = read_steps(file, catalog, use); !status) return status.error();
    if (!pred_path.empty())
        if (auto status = write_file_atomically(pred_path, table); !status) return status.error();
    return out;
}

MemoryFigures memory_figures(const std::vector<MemoryCase>& cases) {
    MemoryFigures out;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, const MemoryCase*> largest;
    for (const MemoryCase& one : cases) {
        ++out.rows;
        if (one.share() > 1) ++out.above_card;
        out.maximum_share = std::max(out.maximum_share, one.share());
        const MemoryCase*& held = largest[{one.source, one.model, one.gpu, one.precision}];
        const bool is_larger =
            !held || one.batch > held->batch || (one.batch == held->batch && one.share() > held->share());
        if (is_larger) held = &one;
    }
    std::vector<double> shares;
    for (const auto& [setup, one] : largest) shares.push_back(one->share());
    out.largest = shares.size();
    out.median_share_largest = median(std::move(shares));
    return out;
}

std::map<std::string, MemoryFigures> memory_figures_by(const std::vector<MemoryCase>& cases,
                                                       std::string MemoryCase::*fact) {
    std::map<std::string, std::vector<MemoryCase>> groups;
    for (const MemoryCase& one : cases) groups[one.*fact].push_back(one);
    std::map<std::string, MemoryFigures> out;
    for (const auto& [name, group] : groups) out[name] = memory_figures(group);
    return out;
}

std::string to_text(const MemoryEvaluation& evaluation) {
    const std::vector<MemoryCase>& cases = evaluation.cases;
    std::string out = fmt::format(
        "forecast memory over the card's, of steps that ran; a set-up is one source, model, GPU and precision, by its "
        "largest batch\n{}{}{}\n",
        block("source", cases, &MemoryCase::source), block("gpu", cases, &MemoryCase::gpu),
        block("precision", cases, &MemoryCase::precision));
    out += figures_line("all", memory_figures(cases));
    for (const MemoryCase& one : cases)
        if (one.share() > 1)
            out += fmt::format("above the card: {} {} {} {} {}, batch {}: {:.2f} of {:.2f} GiB\n", one.row_id,
                               one.source, one.model, one.gpu, one.precision, one.batch, one.forecast_bytes / (1 << 30),
                               one.card_bytes / (1 << 30));
    return out;
}

Value to_value(const MemoryEvaluation& evaluation) {
    Value out = figures_value(memory_figures(evaluation.cases));
    Value by = Value::object();
    const std::pair<const char*, std::string MemoryCase::*> facts[] = {
        {"source", &MemoryCase::source}, {"gpu", &MemoryCase::gpu}, {"precision", &MemoryCase::precision}};
    for (const auto& [title, fact] : facts) {
        Value groups = Value::object();
        for (const auto& [name, figures] : memory_figures_by(evaluation.cases, fact))
            groups.set(name, figures_value(figures));
        by.set(title, std::move(groups));
    }
    out.set("by", std::move(by));
    Value above = Value::array();
    for (const MemoryCase& one : evaluation.cases)
        if (one.share() > 1) above.push(one.row_id);
    out.set("above", std::move(above));
    out.set("undescribed_rows", static_cast<std::int64_t>(evaluation.undescribed.size()));
    return out;
}

namespace {

struct Options {
    std::string file, out, config;
    bool json = false;
};

int run_memory(const Options& options) {
    const auto config = read_site_config(options.config);
    if (!config) return report(config.error());
    const auto catalog = load_catalog(*config);
    if (!catalog) return report(catalog.error());
    const auto evaluation = evaluate_memory(options.file, *catalog, options.out);
    if (!evaluation) return report(evaluation.error());
    for (const std::string& line : evaluation->undescribed) fmt::print(stderr, "dlcast: not described: {}\n", line);
    fmt::print("{}", options.json ? write_json(to_value(*evaluation), 2) + "\n" : to_text(*evaluation));
    return exit_done;
}

}  // namespace

void add_evaluate_memory(CLI::App& evaluate, int& exit_code) {
    CLI::App* verb = evaluate.add_subcommand("memory", "Memory of steps that ran, against the card's");
    const auto options = std::make_shared<Options>();
    verb->add_option("FILE", options->file, "Table of steps, CSV or CSV.gz")->required();
    verb->add_option("--out", options->out, "Forecasts to write, as row_id,pred_memory_bytes,card_bytes")
        ->type_name("PRED.csv");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->add_option("--config", options->config, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    verb->callback([&exit_code, options] { exit_code = run_memory(*options); });
}

}  // namespace dlcast
