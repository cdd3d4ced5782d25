// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/steps_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/csv.h"
#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"

namespace dlcast {
namespace {

const char* const measured_columns[] = {"step_ms", "fw_ms", "bw_ms", "samples_per_s"};

bool contains(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

std::int64_t whole(const StepsRow& row, const std::string& column, std::int64_t otherwise) {
    return parse_integer(row.field(column)).value_or(otherwise);
}

// What the table says in words about the head that was trained.
std::string task_of(const StepsRow& row) {
    const std::string& note = row.field("note");
    if (contains(note, "SQuAD")) return "question_answering";
    if (contains(note, "NER ") || contains(note, "class head")) return "classification";
    const bool bert = contains(row.field("family"), "bert");
    return bert && (contains(note, "pre-training") || row.field("optimizer") == "lamb") ? "pretraining" : "";
}

// Frameworks differ in the layout they take unless told otherwise.
std::string layout_of(const StepsRow& row) {
    if (!row.field("layout").empty()) return row.field("layout");
    const std::string& framework = row.field("framework");
    const bool channels_last =
        contains(framework, "tensorflow") || contains(framework, "paddle") || contains(framework, "mxnet");
    return channels_last ? "nhwc" : "nchw";
}

Value training_of(const StepsRow& row) {
    Value out = Value::object();
    out.set("batch_size", whole(row, "batch_per_gpu", 0));
    out.set("grad_accum", whole(row, "grad_accum", 1));
    out.set("precision", row.field("precision").empty() ? "fp32" : row.field("precision"));
    out.set("optimizer", row.field("optimizer").empty() ? "none" : row.field("optimizer"));
    out.set("layout", layout_of(row));
    if (!row.field("framework").empty()) out.set("framework", row.field("framework"));
    out.set("compile", row.field("compiled") == "1");
    const std::string& checkpointing = row.field("act_ckpt_mode");
    if (!checkpointing.empty()) out.set("activation_checkpointing", checkpointing);
    if (const auto length = whole(row, "seq_len", 0); length > 0) out.set("seq_len", length);
    if (const auto size = whole(row, "image_size", 0); size > 0) out.set("image_size", size);
    if (const std::string task = task_of(row); !task.empty()) out.set("task", task);
    if (contains(row.field("note"), "LoRA")) out.set("trainable", "lora:r=16");
    return out;
}

// What a table's runs do that no column says. Scripts for image models that accumulate gradients in PyTorch exchange
// them behind every micro-step. Those of Transformer-XL exchange none: two boards without peer to peer take as long for
// a step as one, when its 770 MB of gradients need more than half of it.
void describe_exchange(const StepsRow& row, Parallel& parallel) {
    const std::string& framework = row.field("framework");
    if (framework == "pytorch" && row.workload.model.image_size > 0) parallel.no_sync = false;
    if (framework.starts_with("pytorch") && row.workload.model.family == "transfo-xl") parallel.independent = true;
}

Status describe_workload(StepsRow& row, const std::string& folder) {
    const std::string& model = row.field("model");
    const std::string beside = folder + "/" + model;
    std::error_code ignored;
    auto declaration = read_model_argument(std::filesystem::exists(beside, ignored) ? beside : model);
    if (!declaration) return declaration.error();
    declaration->value.set("training", training_of(row));
    auto workload = to_workload(*declaration);
    if (!workload) return workload.error();
    auto parallel = parse_parallel(row.field("parallel"));
    if (!parallel) return parallel.error();
    row.workload = std::move(*workload);
    row.workload.training.parallel = *parallel;
    describe_exchange(row, row.workload.training.parallel);
    row.workload.training.forward_only = row.field("mode") == "forward";
    return ok();
}

Status describe_allocation(StepsRow& row, const DeviceCatalog& catalog) {
    std::string assumed;  // a row whose GPU leaves its variant open is forecast for the most common one
    auto device = catalog.find_or_typical(row.field("gpu"), assumed);
    if (!device) return device.error();
    Allocation& allocation = row.allocation;
    allocation.device = std::move(*device);
    const std::int64_t gpus = whole(row, "gpus", 1), nodes = std::max<std::int64_t>(1, whole(row, "nodes", 1));
    if (gpus < 1 || gpus > 1'000'000 || gpus % nodes != 0)
        return invalid_argument(fmt::format("{} GPUs do not divide evenly over {} nodes", gpus, nodes));
    allocation.nodes = static_cast<int>(nodes);
    allocation.gpus_per_node = static_cast<int>(gpus / nodes);
    set_row_links(allocation, row.field("intra"), row.field("inter"),
                  parse_number(row.field("nics_per_node")).value_or(0),
                  parse_number(row.field("nic_gbps")).value_or(0));
    return ok();
}

}  // namespace

const std::string& StepsRow::field(const std::string& column) const {
    static const std::string empty;
    const auto found = fields.find(column);
    return found == fields.end() ? empty : found->second;
}

Result<Parallel> parse_parallel(const std::string& text) {
    Parallel out;
    out.tp_over_nodes = true;  // what was measured was meant
    for (const std::string& part : split(text, ',')) {
        const std::string item(trim(part));
        const auto equals = item.find('=');
        const std::string key = item.substr(0, equals);
        if (item.empty() || item == "none" || item == "ddp") continue;
        if (key == "fsdp") out.fsdp = "full";
        if (item == "fsdp") continue;
        if (item == "fsdp(shard_grad_op)") {
            out.fsdp = "grad_op";
            continue;
        }
        const auto degree = equals == std::string::npos ? std::nullopt : parse_integer(item.substr(equals + 1));
        if (!degree || *degree > 1'000'000)
            return invalid_argument(
                fmt::format("parallel \"{}\": \"{}\" is no degree; write none, ddp, fsdp or dp=2,tp=4", text, item));
        const int n = static_cast<int>(*degree);
        if (key == "dp" || key == "fsdp")
            out.dp = n;
        else if (key == "tp")
            out.tp = n;
        else if (key == "pp")
            out.pp = n;
        else if (key == "vp")
            out.vp = n;
        else if (key == "cp")
            out.cp = n;
        else if (key == "ep")
            out.ep = n;
        else if (key == "sp")
            out.sp = n == 1;
        else if (key == "zero")
            out.zero = n;
        else
            return invalid_argument(fmt::format("parallel \"{}\": unknown degree \"{}\"", text, key));
    }
    return out;
}

void set_row_links(Allocation& allocation, const std::string& intra, const std::string& inter, double nics_per_node,
                   double nic_Gbps) {
    const bool nvlink = contains(intra, "nvlink") || contains(intra, "nvswitch") || contains(intra, "xgmi");
    const auto named = link_named(intra);
    allocation.intra_node = named && named->bandwidth_Bps > 0 && !nvlink ? *named : intra_node_link(allocation.device);
    const double node_Bps = nics_per_node > 0 && nic_Gbps > 0 ? nics_per_node * nic_Gbps / 8 * 1e9 : 12.5e9;
    const double latency_s = inter == "ib" ? 5e-6 : inter == "roce" ? 7e-6 : 30e-6;
    allocation.inter_node = {latency_s, network_attained * node_Bps / std::max(1, allocation.gpus_per_node),
                             inter == "none" ? "" : inter};
}

Status read_steps(const std::string& path, const DeviceCatalog& catalog, const std::function<void(StepsRow&&)>& use) {
    auto reader = CsvReader::open(path);
    if (!reader) return reader.error();
    for (const char* column : {"row_id", "model", "gpu", "batch_per_gpu"})
        if (reader->column(column) < 0)
            return invalid_argument(fmt::format("{}: no column '{}'; the header names: {}", path, column,
                                                one_line(fmt::format("{}", fmt::join(reader->header(), ", ")), 200)));
    const std::string folder = std::filesystem::path(path).parent_path().string();
    std::vector<std::string> fields;
    while (true) {
        const auto more = reader->next(fields);
        if (!more) return more.error();
        if (!*more) return ok();
        StepsRow row;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string& column = reader->header()[i];
            if (column == "step_ms") row.step_ms = parse_number(fields[i]);
            if (std::find(std::begin(measured_columns), std::end(measured_columns), column) ==
                std::end(measured_columns))
                row.fields[column] = fields[i];
        }
        Status status = describe_allocation(row, catalog);
        if (status) status = describe_workload(row, folder.empty() ? "." : folder);
        if (!status) row.fault = status.error().message;
        use(std::move(row));
    }
}

}  // namespace dlcast
