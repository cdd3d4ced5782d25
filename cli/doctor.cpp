// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast doctor`: is this host set up so that dlcast works here? One line a check, with the remedy.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/host_checks.h"
#include "cli/installation.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

const char* word(Finding::Grade grade) {
    switch (grade) {
        case Finding::Grade::good:
            return "ok";
        case Finding::Grade::hint:
            return "hint";
        case Finding::Grade::bad:
            return "FAULT";
    }
    return "";
}

Value to_value(const std::vector<Finding>& findings, bool healthy) {
    Value list = Value::array();
    for (const Finding& finding : findings) {
        Value one = Value::object();
        one.set("check", finding.check);
        one.set("grade", finding.grade == Finding::Grade::bad    ? "fault"
                         : finding.grade == Finding::Grade::hint ? "hint"
                                                                 : "ok");
        one.set("text", finding.text);
        list.push(std::move(one));
    }
    Value out = Value::object();
    out.set("healthy", healthy);
    out.set("findings", std::move(list));
    return out;
}

int run_doctor(HostPaths paths, bool json) {
    paths.config = site_config_path(paths.config);
    paths.module = find_installation().module_file;
    const std::vector<Finding> findings = check_host(paths);
    bool healthy = true;
    for (const Finding& finding : findings) healthy = healthy && finding.grade != Finding::Grade::bad;
    if (json)
        fmt::print("{}\n", write_json(to_value(findings, healthy), 2));
    else
        for (const Finding& finding : findings)
            fmt::print("{:<6} {:<14} {}\n", word(finding.grade), finding.check, finding.text);
    return healthy ? exit_done : exit_error;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("doctor", "Check versions, paths, configuration and weights on this host");
    const auto paths = std::make_shared<HostPaths>();
    const auto json = std::make_shared<bool>(false);
    verb->add_option("--config", paths->config, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    verb->add_option("--slurm-conf", paths->slurm_conf, "slurm.conf, instead of SLURM_CONF or /etc/slurm/slurm.conf")
        ->type_name("FILE");
    verb->add_flag("--json", *json, "Print one JSON object");
    verb->callback([paths, json, &exit_code] { exit_code = run_doctor(*paths, *json); });
}

}  // namespace dlcast
