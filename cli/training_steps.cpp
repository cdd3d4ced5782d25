// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/training_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "predictor/step/step_work.h"

namespace dlcast {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_excluded(const StepsRow& row, const StepExclusions& exclusions) {
    const std::string& family = row.field("family");
    return holds(exclusions.gpus, row.field("gpu")) || holds(exclusions.gpus, row.allocation.device.name) ||
           holds(exclusions.families, family) || holds(exclusions.super_families, super_family_of(family)) ||
           holds(exclusions.sources, row.field("source"));
}

std::string gpu_count(int gpus) { return gpus == 1 ? "1" : gpus <= 8 ? "2-8" : ">8"; }

StepRun run_of(const StepsRow& row) {
    if (row.field("mode") == "forward" || row.field("mode") == "forward_backward") return {};
    StepRun out;
    for (const char* fact : {"source", "model", "gpu", "precision", "batch_per_gpu", "seq_len", "image_size",
                             "optimizer", "act_ckpt_mode", "framework", "compiled", "layout"})
        out.setup += row.field(fact) + "|";
    out.gpus = row.allocation.world_size();
    out.nodes = row.allocation.nodes;
    const Training& training = row.workload.training;
    const Parallel& p = training.parallel;
    const double replicas = p.dp > 0 ? p.dp : 1.0 * out.gpus / (1.0 * p.tp * p.pp * p.cp);
    out.samples = static_cast<double>(training.batch_size * std::max<std::int64_t>(1, training.grad_accum)) * replicas;
    return out;
}

void set_weights(std::vector<TrainingStep>& steps) {
    std::map<std::string, std::set<std::string>> cases;  // groups by family
    std::map<std::string, double> repeats;
    for (const TrainingStep& step : steps) {
        cases[step.facts.facts.at("family")].insert(step.facts.group);
        ++repeats[step.facts.group];
    }
    for (TrainingStep& step : steps) {
        const auto n = static_cast<double>(cases[step.facts.facts.at("family")].size());
        step.measured.weight *= 8.0 * std::pow(n, -0.4) / repeats[step.facts.group];
    }
}

}  // namespace

bool is_scored(const StepsRow& row) {
    const std::string& quality = row.field("quality");
    return row.step_ms && *row.step_ms > 0 && (quality.empty() || quality == "A" || quality == "B");
}

StepError facts_of(const StepsRow& row) {
    StepError out;
    out.group = row.field("group").empty() ? row.field("row_id") : row.field("group");
    for (const std::string& fact : step_facts()) out.facts[fact] = row.field(fact);
    out.facts["GPUs"] = gpu_count(row.allocation.world_size());
    out.facts["super-family"] = super_family_of(row.field("family"));
    out.measured_ms = *row.step_ms;
    out.run = run_of(row);
    return out;
}

const std::vector<std::string>& step_facts() {
    static const std::vector<std::string> facts{"source", "precision", "GPUs", "family", "gpu", "mode", "super-family"};
    return facts;
}

std::string super_family_of(const std::string& family) {
    const auto starts = [&](std::initializer_list<const char*> heads) {
        return std::any_of(heads.begin(), heads.end(), [&](const char* head) { return family.starts_with(head); });
    };
    if (starts({"bert", "electra", "roberta", "distilbert"})) return "BERT";
    if (starts({"gpt", "opt", "megatron", "mt-nlg"})) return "GPT";
    if (starts({"mpt"})) return "MPT";
    if (starts({"Llama", "llama", "Mistral", "mistral", "Mixtral"})) return "Llama";
    if (starts({"resnet", "resnext", "seresnext", "wide_resnet", "efficientnet", "vgg", "ssd", "retinanet", "unet",
                "stable-diffusion", "mobilenet", "densenet", "inception", "alexnet"}))
        return "CNN";
    if (starts({"transformer", "marian", "t5", "bart"})) return "encoder-decoder and Transformer-XL";
    return family;
}

Result<TrainingSteps> read_training_steps(const std::vector<std::string>& files, const DeviceCatalog& catalog,
                                          const StepExclusions& exclusions, const FittedCollectives& collectives) {
    TrainingSteps out;
    const auto use = [&](StepsRow&& row) {
        if (!is_scored(row) || is_excluded(row, exclusions)) return;
        Result<StepWork> work = invalid_argument(row.fault);
        if (row.fault.empty()) work = step_work(row.workload, row.allocation, collectives);
        if (!work) {
            out.undescribed.push_back(fmt::format("{}: {}", row.field("row_id"), work.error().message));
            return;
        }
        work->layers.clear();  // the sums over layers are enough
        const double weight = row.field("quality") == "B" ? 0.6 : 1.0;
        TrainingStep step;
        step.row_id = row.field("row_id");
        step.facts = facts_of(row);
        step.model_family = row.workload.model.family;
        for (const char* fact : {"source", "family", "framework", "precision", "mode"})
            step.setup += row.field(fact) + "|";
        step.anchor = anchor_facts(row.workload, row.allocation, work->micro_batch, work->micro_steps);
        step.measured = {std::move(*work), 1e-3 * *row.step_ms, weight};
        out.steps.push_back(std::move(step));
    };
    for (const std::string& file : files)
        if (auto status = read_steps(file, catalog, use); !status) return status.error();
    set_weights(out.steps);
    return out;
}

}  // namespace dlcast
