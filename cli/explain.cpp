// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast explain MODEL`: what a description means: every layer, every value of the training and where it came from.
#include <fmt/format.h>

#include <memory>

#include "cli/description.h"
#include "cli/explanation.h"
#include "predictor/base/json.h"
#include "predictor/model/overrides.h"

namespace dlcast {
namespace {

struct Options {
    std::string model, training;
    bool json = false;
};

int run_explain(const Options& options) {
    const auto plain = read_model_argument(options.model, overrides_of(options.training, "--train"));
    if (!plain) return report(plain.error());
    const std::string& training = options.training;
    const auto declaration = training.empty() ? plain : with_training(*plain, training, "--train");
    if (!declaration) return report(declaration.error());
    const auto workload = to_workload(*declaration);
    if (!workload)
        return report(training.empty() ? workload.error()
                                       : blame_training(*plain, training, "--train", workload.error()));
    if (options.json)
        fmt::print("{}\n", write_json(explain_value(*declaration, *workload), 2));
    else
        fmt::print("{}", explain_text(*declaration, *workload));
    return exit_done;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("explain", "Show every layer of a model and every default taken");
    const auto options = std::make_shared<Options>();
    verb->add_option("MODEL", options->model, "Zoo name, model file or directory")->required();
    verb->add_option("--train", options->training, "Training, as epochs=90,batch_size=256,dataset=imagenet-1k")
        ->type_name("KEY=VALUE,...");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([&exit_code, options] { exit_code = run_explain(*options); });
}

}  // namespace dlcast
