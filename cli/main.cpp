// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast`: the forecast offline, and what an administrator needs around it.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/description.h"
#include "cli/usage_fault.h"

namespace {

// The verb that was called, or the program itself.
const CLI::App& called(const CLI::App& app) {
    const CLI::App* verb = &app;
    while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
    return *verb;
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
        const CLI::App& verb = called(app);
        fmt::print(stderr, "dlcast: error: {}\ndlcast: see `{} --help`\n", dlcast::usage_fault(verb, fault),
                   dlcast::full_name(verb));
        return dlcast::exit_usage;
    } catch (const std::exception& fault) {
        return dlcast::report(dlcast::unavailable(fault.what()));
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return dlcast::report(dlcast::unavailable("cannot write the result to standard output"));
    return exit_code;
}
