// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast predict MODEL`: the forecast of a submission, for a person, without Slurm.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/number_option.h"
#include "cli/prediction_report.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"

namespace dlcast {
namespace {

struct Options {
    PredictOptions predict;
    std::string precision, cluster, config, weights;
    bool json = false, layers = false, list = false;
};

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

// Every model of the zoo with its parameters.
int list_models() {
    for (const std::string& name : zoo_names()) {
        Declaration declaration;
        declaration.value.set("model", name);
        declaration.source = name;
        const auto workload = to_workload(declaration);
        if (!workload) return report(workload.error());
        fmt::print("{:<32}{:>16} M parameters\n", name,
                   fmt::format("{:.1f}", static_cast<double>(workload->model.parameters) / 1e6));
    }
    return exit_done;
}

int run_predict(Options& options) {
    if (!options.precision.empty()) {
        options.predict.overrides.precision = precision_from(options.precision);
        if (!options.predict.overrides.precision)
            return report(invalid_argument(
                fmt::format("--precision {}: unknown; one of fp32, tf32, amp, fp16, bf16, fp8", options.precision)));
    }
    const auto config = read_site_config(options.config);
    if (!config) return report(config.error());
    const auto catalog = load_catalog(*config);
    if (!catalog) return report(catalog.error());
    const auto cluster = read_cluster(options.cluster, *config);
    if (!cluster) return report(cluster.error());
    const auto opened = open_model(options.weights, config->weights_dir);
    if (!opened) return report(opened.error());
    const auto prediction = make_prediction(
        options.predict, {&*config, &*catalog, *cluster ? &**cluster : nullptr, opened->model.get(), &opened->steps});
    if (!prediction) return report(prediction.error());
    if (!opened->warning.empty()) fmt::print(stderr, "dlcast: {}\n", opened->warning);
    if (options.json)
        fmt::print("{}\n", write_json(to_value(*prediction, options.layers), 2));
    else
        fmt::print("{}", to_text(*prediction, options.layers));
    return fits(*prediction) ? exit_done : exit_does_not_fit;
}

// What overrides the declaration's training and data; limits are those of the declaration's reader.
void add_training_options(CLI::App& verb, Options& options) {
    WorkloadOverrides& o = options.predict.overrides;
    verb.add_option("--batch-size", o.batch_size, "Samples a GPU and micro-step")
        ->type_name("B")
        ->transform(whole_number(1, 1'000'000'000));
    verb.add_option("--grad-accum", o.grad_accum, "Micro-steps to an optimizer step")
        ->type_name("N")
        ->transform(whole_number(1, 1 << 24));
    verb.add_option("--precision", options.precision, "fp32, tf32, amp, fp16, bf16 or fp8")->type_name("P");
    verb.add_option("--optimizer", o.optimizer, "sgd, momentum, adam, adamw, ...")->type_name("NAME");
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
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("predict", "Forecast a training: step, memory, run time, GPU-hours");
    const auto options = std::make_shared<Options>();
    PredictOptions& p = options->predict;
    verb->add_option("MODEL", p.model, "Zoo name, model file or directory");
    verb->add_flag("--list", options->list, "List the models of the zoo instead");
    verb->add_option("--gpu", p.gpu, "GPU by any of its names")->type_name("NAME");
    verb->add_option("--gpus", p.gpus, "GPUs in all, over all nodes")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000));
    verb->add_option("--nodes", p.nodes, "Nodes")->type_name("N")->transform(whole_number(1, 1'000'000));
    verb->add_option("--partition", p.partition, "Partition of the cluster file, or a list")->type_name("P");
    verb->add_option("--cluster", options->cluster, "Cluster file, instead of the configuration's")->type_name("FILE");
    verb->add_option("--network-gbps", p.network_Gbps, "Network of one node, all its adapters, in Gb/s")
        ->type_name("G")
        ->check(CLI::Range(0.01, 1e6));
    add_training_options(*verb, *options);
    verb->add_option("--set", p.overrides.set, "Any key of the declaration, as dotted.key=value")
        ->type_name("KEY=VALUE");
    verb->add_flag("--layers", options->layers, "List the layers");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->add_option("--config", options->config, "dlcast.toml, instead of the shipped one")->type_name("FILE");
    verb->add_option("--weights", options->weights, "Weights, instead of the configuration's")->type_name("DIR");
    verb->callback([&exit_code, options] {
        if (!options->list && options->predict.model.empty()) throw CLI::RequiredError("MODEL");
        exit_code = options->list ? list_models() : run_predict(*options);
    });
}

}  // namespace dlcast
