// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/host_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/check_site.h"
#include "cli/counted.h"
#include "cli/run_program.h"
#include "cli/slurm_files.h"
#include "predictor/base/text.h"
#include "predictor/timing/refined_operators.h"

namespace dlcast {
namespace {

namespace fs = std::filesystem;
using Grade = Finding::Grade;

constexpr std::chrono::seconds patience{10};

bool exists(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

class Doctor {
public:
    explicit Doctor(const HostPaths& paths) : paths_(paths) {}

    std::vector<Finding> examine() {
        slurm();
        plugins();
        configuration();
        weights();
        return std::move(findings_);
    }

private:
    void say(Grade grade, std::string check, std::string text) {
        findings_.push_back({grade, std::move(check), std::move(text)});
    }

    void slurm() {
        const auto said = run_program({"sinfo", "--version"}, patience);
        if (!said) {
            // Commands without their slurm.conf say so in several ways; the first is enough.
            const std::string& fault = said.error().message;
            return say(Grade::hint, "slurm",
                       fault.substr(0, fault.find(';')) +
                           "; does this host belong to a cluster? SLURM_CONF names a slurm.conf elsewhere");
        }
        const std::string line(trim(*said));
        version_ = slurm_version_in(line);
        say(version_ ? Grade::good : Grade::hint, "slurm",
            version_ ? line : fmt::format("'{}' names no version", one_line(line, 80)));
    }

    void check_plugin(const std::string& check, const std::string& file, bool exact) {
        if (!exists(file))
            return say(Grade::bad, check, fmt::format("{} is missing; install it, or take its line out", file));
        const auto built = plugin_version_of(file);
        if (!built) return say(Grade::bad, check, built.error().message);
        const std::uint32_t mask = exact ? 0xffffff : 0xffff00;
        if (version_ && (*version_ & mask) != (*built & mask))
            return say(Grade::bad, check,
                       fmt::format("{} was built for Slurm {}, here is {}; install the package of this version", file,
                                   version_text(*built), version_text(*version_)));
        say(Grade::good, check, fmt::format("{} (Slurm {})", file, version_text(*built)));
    }

    void plugins() {
        std::string path = paths_.slurm_conf;
        if (const char* named = std::getenv("SLURM_CONF"); path.empty() && named) path = named;
        if (path.empty()) path = "/etc/slurm/slurm.conf";
        const auto conf = read_slurm_conf(path);
        if (!conf)
            return say(
                paths_.slurm_conf.empty() ? Grade::hint : Grade::bad, "slurm.conf",
                conf.error().message +
                    (paths_.slurm_conf.empty()
                         ? "; name it with --slurm-conf FILE or SLURM_CONF. A host without one forecasts offline alone"
                         : "; --slurm-conf names it"));
        const std::string folders = conf->value("PluginDir");
        if (conf->lists("JobSubmitPlugins", "dlcast")) {
            const std::string file = find_in(folders, "job_submit_dlcast.so");
            if (file.empty())
                say(Grade::bad, "controller",
                    fmt::format("{}: JobSubmitPlugins names dlcast, and job_submit_dlcast.so is in no folder of "
                                "PluginDir={}; slurmctld would not start",
                                path, folders));
            else
                check_plugin("controller", file, true);
        } else {
            say(Grade::hint, "controller",
                path + ": JobSubmitPlugins does not name dlcast; submissions get no forecast");
        }
        std::string stack = conf->value("PlugStackConfig");
        if (stack.empty()) stack = (fs::path(path).parent_path() / "plugstack.conf").string();
        const std::vector<std::string> lines = spank_lines(stack, "spank_dlcast.so");
        if (lines.empty())
            say(Grade::hint, "clients", stack + ": no line of spank_dlcast.so; sbatch does not know --dl-model here");
        for (const std::string& file : lines)
            check_plugin("clients", file.starts_with('/') ? file : find_in(folders, file), false);
    }

    void configuration() {
        const SiteReport report = check_site(paths_.config, "");
        for (const std::string& error : report.errors) say(Grade::bad, "configuration", error);
        for (const std::string& warning : report.warnings) say(Grade::hint, "configuration", warning);
        if (report.errors.empty())
            say(Grade::good, "configuration", fmt::format("{}: mode {}", paths_.config, to_string(report.config.mode)));
        if (report.has_weights) weights_dir_ = report.config.weights_dir;
        if (report.cluster.partitions.empty()) return;
        const std::int64_t now_s =
            std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
                .count();
        const std::int64_t age_s = now_s - report.cluster.synced_at_s;
        const bool old = report.cluster.synced_at_s > 0 && report.config.cluster_max_age_h > 0 &&
                         age_s > std::int64_t{3600} * report.config.cluster_max_age_h;
        say(old ? Grade::hint : Grade::good, "cluster file",
            fmt::format(
                "{}: {}{}{}", report.config.cluster_file, counted(report.cluster.partitions.size(), "partition"),
                report.cluster.synced_at_s > 0 ? fmt::format(", {} old", format_duration(static_cast<double>(age_s)))
                                               : std::string(", written by hand"),
                old ? "; run dlcast sync" : ""));
    }

    void weights() {
        if (weights_dir_.empty()) return;
        const auto model = open_refined_model(paths_.module, weights_dir_);
        if (model)
            say(Grade::good, "weights", fmt::format("{}: {}", weights_dir_, (*model)->weights_id()));
        else
            say(Grade::bad, "weights", model.error().message + "; the analytic model answers");
    }

    const HostPaths& paths_;
    std::vector<Finding> findings_;
    std::optional<std::uint32_t> version_;
    std::string weights_dir_;  // empty: what is wrong with them is told
};

}  // namespace

std::vector<Finding> check_host(const HostPaths& paths) { return Doctor(paths).examine(); }

}  // namespace dlcast
