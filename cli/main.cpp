// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast`: the forecast offline, and what an administrator needs around it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/description.h"
#include "predictor/base/text.h"

namespace {

// The verb that was called, or the program itself.
const CLI::App& called(const CLI::App& app) {
    const CLI::App* verb = &app;
    while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
    return *verb;
}

// "dlcast evaluate ops".
std::string full_name(const CLI::App& verb) {
    return verb.get_parent() ? full_name(*verb.get_parent()) + " " + verb.get_name() : verb.get_name();
}

std::string hint(const std::string& word, const std::vector<std::string>& known) {
    const std::string near = dlcast::nearest_name(word, known);
    return near.empty() ? fmt::format("one of: {}", fmt::join(known, ", ")) : fmt::format("did you mean \"{}\"?", near);
}

// CLI11 says of a misspelt verb that one is missing, and of a misspelt option that it was not expected.
std::string usage_fault(const CLI::App& verb, const CLI::ParseError& fault) {
    const auto words = verb.remaining();
    std::vector<std::string> verbs, options;
    for (const CLI::App* below : verb.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(below->get_name());
    if (!verbs.empty() && words.empty()) return fmt::format("no verb after `{}`; {}", full_name(verb), hint("", verbs));
    if (!verbs.empty())
        return fmt::format("\"{}\" is no verb of `{}`; {}", words.front(), full_name(verb), hint(words.front(), verbs));
    const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
    const auto wrong = std::find_if(words.begin(), words.end(), is_option);
    if (wrong == words.end()) return fault.what();
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    const std::string near = dlcast::nearest_name(*wrong, options);
    return fmt::format("`{}` has no option {}{}", full_name(verb), *wrong,
                       near.empty() ? "" : fmt::format("; did you mean {}?", near));
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
        fmt::print(stderr, "dlcast: error: {}\ndlcast: see `{} --help`\n", usage_fault(verb, fault), full_name(verb));
        return dlcast::exit_usage;
    } catch (const std::exception& fault) {
        return dlcast::report(dlcast::unavailable(fault.what()));
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        return dlcast::report(dlcast::unavailable("cannot write the result to standard output"));
    return exit_code;
}
