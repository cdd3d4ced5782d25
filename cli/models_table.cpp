// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/models_table.h"

#include <fmt/format.h>

#include <vector>

#include "cli/csv.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// One row's fields by name.
class Fields {
public:
    Fields(const CsvReader& csv, const std::vector<std::string>& fields) : csv_(csv), fields_(fields) {}
    std::string text(const std::string& name) const {
        const int c = csv_.column(name);
        return c < 0 ? std::string() : fields_[static_cast<std::size_t>(c)];
    }
    std::int64_t size(const std::string& name, std::int64_t otherwise) const {
        const auto value = parse_integer(text(name));
        return value && *value >= 0 ? *value : otherwise;
    }
    std::optional<double> time(const std::string& name) const {
        const auto value = parse_number(text(name));
        return value && *value > 0.0 ? std::optional(*value) : std::nullopt;
    }
    PassTimes times(const std::string& total, const std::string& forward, const std::string& backward) const {
        return {time(total), time(forward), time(backward)};
    }

private:
    const CsvReader& csv_;
    const std::vector<std::string>& fields_;
};

Result<CsvReader> open_with(const std::string& path, std::initializer_list<const char*> needed) {
    auto csv = CsvReader::open(path);
    if (!csv) return csv.error();
    for (const char* name : needed)
        if (csv->column(name) < 0) return invalid_argument(fmt::format("{}: no column '{}'", path, name));
    return csv;
}

// NAME of pred_NAME_ms; "" for other columns, and for those of forward or backward alone.
std::string predictor_of(const std::string& column) {
    constexpr std::string_view start = "pred_", end = "_ms";
    if (!column.starts_with(start) || !column.ends_with(end)) return "";
    const std::string name = column.substr(start.size(), column.size() - start.size() - end.size());
    return name.ends_with("_fw") || name.ends_with("_bw") ? "" : name;
}

}  // namespace

Status read_models(const std::string& path, NamedDevices& devices, const std::function<void(ModelsRow&&)>& use) {
    auto csv = open_with(path, {"gpu", "model", "batch"});
    if (!csv) return csv.error();
    std::vector<std::string> predictors, fields;
    for (const std::string& column : csv->header())
        if (const std::string name = predictor_of(column); !name.empty()) predictors.push_back(name);
    while (true) {
        const auto more = csv->next(fields);
        if (!more) return more.error();
        if (!*more) return ok();
        const Fields f(*csv, fields);
        ModelsRow row;
        row.row_id = f.text("row_id");
        row.source = f.text("source");
        row.gpu = f.text("gpu");
        row.model = f.text("model");
        row.mode = f.text("mode");
        row.training = row.mode == "training";
        row.fused = f.text("fused") == "1";
        row.unit = f.text("unit");
        row.gpus = f.size("n_gpu", 1);
        row.seq_len = f.size("seq_len", 0);
        row.image_size = f.size("image_size", 0);
        row.batch = f.size("batch", 0);
        row.dataset_size = f.size("dataset_size", 0);
        row.dtype = f.text("dtype");
        row.optimizer = f.text("optimizer");
        row.measured = f.times("time_ms", "fw_ms", "bw_ms");
        for (const std::string& name : predictors)
            row.published[name] = f.times("pred_" + name + "_ms", "pred_" + name + "_fw_ms", "pred_" + name + "_bw_ms");
        row.device = devices.find(row.gpu, row.fault);
        use(std::move(row));
    }
}

Result<OpGraphs> read_op_graphs(const std::string& path) {
    auto csv = open_with(path, {"model", "mode", "seqlen", "batch_size", "phase", "graph_op", "rows", "cols", "count"});
    if (!csv) return csv.error();
    OpGraphs out;
    std::vector<std::string> fields;
    while (true) {
        const auto more = csv->next(fields);
        if (!more) return more.error();
        if (!*more) return out;
        const Fields f(*csv, fields);
        if (f.text("phase") != "forward") continue;
        const bool training = f.text("mode") == "train";
        const std::int64_t seq_len = f.size("seqlen", 0), batch = f.size("batch_size", 0);
        OpGraph& graph = out[{f.text("model"), training, seq_len, batch}];
        graph.model = f.text("model");
        graph.training = training;
        graph.seq_len = seq_len;
        graph.batch = batch;
        GraphNode node{f.text("graph_op"), f.size("batch", 1), f.size("m", 0),    f.size("k", 0),
                       f.size("n", 0),     f.size("rows", 0),  f.size("cols", 0), 0.0};
        node.count = static_cast<double>(f.size("count", 1));
        graph.forward.push_back(node);
    }
}

}  // namespace dlcast
