// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast`: the forecast offline, and what an administrator needs around it.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/description.h"
#include "predictor/base/text.h"

namespace {

// What CLI11 says of a misspelt verb is that one is missing.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& fault) {
    const auto words = app.remaining();
    if (!app.get_subcommands().empty() || words.empty()) return fault.what();
    std::vector<std::string> verbs;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(verb->get_name());
    const std::string near = dlcast::nearest_name(words.front(), verbs);
    const std::string hint =
        near.empty() ? fmt::format("one of: {}", fmt::join(verbs, ", ")) : fmt::format("did you mean \"{}\"?", near);
    return fmt::format("\"{}\" is no verb; {}", words.front(), hint);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Forecasts how long a deep-learning job will run, before it runs.", "dlcast"};
    app.set_version_flag("--version", "dlcast " DLCAST_VERSION);
    app.require_subcommand(1);

    int exit_code = dlcast::exit_done;
    dlcast::add_predict(app, exit_code);
    dlcast::add_scale(app, exit_code);
    dlcast::add_compare(app, exit_code);
    dlcast::add_explain(app, exit_code);
    dlcast::add_import(app, exit_code);
    dlcast::add_calibrate(app, exit_code);
    dlcast::add_check(app, exit_code);
    dlcast::add_doctor(app, exit_code);
    dlcast::add_evaluate(app, exit_code);
    dlcast::add_forecast(app, exit_code);
    dlcast::add_refine(app, exit_code);
    dlcast::add_report(app, exit_code);
    dlcast::add_simulate(app, exit_code);
    dlcast::add_status(app, exit_code);
    dlcast::add_sync(app, exit_code);
    dlcast::add_train(app, exit_code);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& fault) {
        if (fault.get_exit_code() == 0) return app.exit(fault);  // --help, --version
        std::string help = "dlcast";
        for (const CLI::App* verb = &app; !verb->get_subcommands().empty();) {
            verb = verb->get_subcommands().front();
            help += " " + verb->get_name();
        }
        fmt::print(stderr, "dlcast: error: {}\ndlcast: see `{} --help`\n", usage_fault(app, fault), help);
        return dlcast::exit_usage;
    } catch (const std::exception& fault) {
        return dlcast::report(dlcast::unavailable(fault.what()));
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return dlcast::report(dlcast::unavailable("cannot write the result to standard output"));
    return exit_code;
}
