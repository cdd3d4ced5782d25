// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast import FILE`: any known form of model as one readable dlcast JSON object.
#include <fmt/format.h>

#include <memory>

#include "cli/description.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/model/complete.h"
#include "predictor/model/overrides.h"
#include "predictor/model/workload.h"

namespace dlcast {
namespace {

struct Options {
    std::string model, training, output;
};

int run_import(const Options& options) {
    const auto plain = read_model_argument(options.model, overrides_of(options.training, "--train"));
    if (!plain) return report(plain.error());
    const std::string& training = options.training;
    const auto declaration = training.empty() ? plain : with_training(*plain, training, "--train");
    if (!declaration) return report(declaration.error());
    const auto workload = to_workload(*declaration);
    if (!workload)
        return report(training.empty() ? workload.error()
                                       : blame_training(*plain, training, "--train", workload.error()));
    const Declaration whole{complete(*declaration, *workload), declaration->source};
    const std::string text = write_json(whole.value, 2) + "\n";
    if (options.output.empty()) {
        fmt::print("{}", text);
    } else if (const auto written = write_file_atomically(options.output, text); !written) {
        return report(written.error());
    }
    for (const std::string& assumed : workload->assumed) fmt::print(stderr, "dlcast: assumed: {}\n", assumed);
    const Training& t = workload->training;
    if (!t.epochs && !t.steps && !t.tokens)
        fmt::print(stderr,
                   "dlcast: no duration stated; without one there is no time limit: --train epochs=90,dataset=NAME\n");
    if (const auto payload = to_payload(whole); !payload)
        fmt::print(stderr, "dlcast: it will not travel with a job: {}\n", payload.error().message);
    return exit_done;
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("import", "Write any form of model as one dlcast JSON object");
    const auto options = std::make_shared<Options>();
    verb->add_option("FILE", options->model, "Model file, directory or zoo name")->required();
    verb->add_option("-o,--output", options->output, "File to write, instead of standard output")->type_name("FILE");
    verb->add_option("--train", options->training, "Training, as epochs=90,batch_size=256,dataset=imagenet-1k")
        ->type_name("KEY=VALUE,...");
    verb->callback([&exit_code, options] { exit_code = run_import(*options); });
}

}  // namespace dlcast
