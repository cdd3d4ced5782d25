// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/site_state.h"

#include <sys/stat.h>

#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"
#include "predictor/job/site_margins.h"
#include "predictor/timing/refined_operators.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {
namespace {

constexpr std::size_t largest_file_bytes = 16u << 20;  // a cluster file of tens of thousands of nodes is far below

class Loader {
public:
    Loader(const ForecasterPaths& paths, const SiteState* previous, std::int64_t now_s)
        : paths_(paths), previous_(previous), now_s_(now_s), out_(std::make_shared<SiteState>()) {}

    std::shared_ptr<const SiteState> load() {
        out_->site = read(paths_.config, parse_site_config, previous_ ? previous_->site : std::nullopt);
        if (out_->site) {
            load_gpus();
            out_->cluster =
                read(out_->site->cluster_file, parse_cluster, previous_ ? previous_->cluster : std::nullopt);
            remember_gpus();
            check_soft_limit();
            load_margins();
        }
        load_model();
        load_steps();
        return out_;
    }

private:
    void fault(const std::string& line) { out_->faults.push_back(line); }

    template <typename T>
    std::optional<T> read(const std::string& path, Result<T> (*parse)(std::string_view, const std::string&),
                          std::optional<T> last_good) {
        out_->stamps[path] = stamp_of(path);
        const auto text = read_file(path, largest_file_bytes);
        if (!text) {
            fault(text.error().message);
            return last_good;
        }
        auto parsed = parse(*text, path);
        if (parsed) return std::move(*parsed);
        fault(parsed.error().message);
        return last_good;
    }

    void load_gpus() {
        out_->stamps[out_->site->gpus_file] = stamp_of(out_->site->gpus_file);
        if (!out_->site->site_gpus_file.empty())
            out_->stamps[out_->site->site_gpus_file] = stamp_of(out_->site->site_gpus_file);
        auto catalog = load_catalog(*out_->site);
        if (catalog) {
            out_->catalog = std::move(*catalog);
            return;
        }
        fault(catalog.error().message);
        if (previous_) out_->catalog = previous_->catalog;
    }

    // A name of the site is looked up once, not at each submission.
    void remember_gpus() {
        std::vector<std::string> names;
        if (out_->cluster)
            for (const Partition& partition : out_->cluster->partitions)
                for (const NodeGroup& group : partition.groups)
                    if (!group.gpu.empty()) names.push_back(group.gpu);
        out_->has_cpu = out_->site->gpu_names.contains(cpu_device);
        if (out_->has_cpu) names.emplace_back(cpu_device);
        out_->catalog.remember(names);
    }

    void check_soft_limit() {
        if (!out_->site->soft_limit || !out_->cluster || out_->cluster->soft_time_limit) return;
        out_->site->soft_limit = false;
        fault(
            "[time_limit] soft_limit: this Slurm does not take --time-min for a soft limit (SchedulerParameters="
            "time_min_as_soft_limit, from 23.11 on; then dlcast sync); --time-min is left alone");
    }

    void load_margins() {
        SiteConfig& site = *out_->site;
        site.margins = nullptr;  // a configuration kept from before had its own
        if (site.kill_rate <= 0) return;
        out_->stamps[site.margins_file] = stamp_of(site.margins_file);
        auto margins = read_margins(site, now_s_);
        if (!margins) return fault(margins.error().message + "; until then limits are quantile x margin_factor");
        site.margins = std::move(*margins);
        out_->until_s = margins_end_s(site, *site.margins);
    }

    std::string weights_dir() const {
        if (!paths_.weights.empty() || !out_->site) return paths_.weights;
        return out_->site->weights_dir;
    }

    void load_steps() {
        const std::string file = weights_dir() + "/" + step_weights_file;
        out_->stamps[file] = stamp_of(file);
        const std::string collectives = weights_dir() + "/" + collectives_file;
        out_->stamps[collectives] = stamp_of(collectives);
        const std::string refined = weights_dir() + "/" + refined_steps_file;
        out_->stamps[refined] = stamp_of(refined);
        if (keeps_weights_) {  // files that a version lacks have defaults, which are not those of the version kept
            out_->steps = previous_->steps;
            return;
        }
        auto weights = read_step_weights(weights_dir());
        if (weights) {
            out_->steps = std::move(*weights);
            return;
        }
        fault(weights.error().message);
        if (previous_) out_->steps = previous_->steps;
    }

    void load_model() {
        bool unchanged = previous_ && previous_->model->by() == "torch";
        for (const std::string& path :
             {paths_.module, weights_dir() + "/" + manifest_file, weights_dir() + "/" + weights_file,
              weights_dir() + "/" + refined_operators_file}) {
            const FileStamp stamp = out_->stamps[path] = stamp_of(path);
            unchanged = unchanged && previous_->stamps.contains(path) && previous_->stamps.at(path) == stamp;
        }
        if (unchanged) {
            out_->model = previous_->model;
            return;
        }
        auto torch = open_refined_model(paths_.module, weights_dir());
        if (torch) {
            out_->model = std::move(*torch);
            return;
        }
        // A module that was loaded stays usable when its file is taken away; weights that break keep the old ones.
        const bool keeps_network =
            previous_ && previous_->model->by() == "torch" && stamp_of(paths_.module) != FileStamp{};
        keeps_weights_ = keeps_network;
        fault(torch.error().message +
              (keeps_network ? "; the weights loaded before stay" : "; the analytic model answers"));
        out_->model = keeps_network ? previous_->model : std::shared_ptr<const LayerTimeModel>(make_analytic_model());
    }

    const ForecasterPaths& paths_;
    const SiteState* previous_;
    const std::int64_t now_s_;
    bool keeps_weights_ = false;  // the version before, whole
    std::shared_ptr<SiteState> out_;
};

}  // namespace

FileStamp stamp_of(const std::string& path) {
    struct stat facts {};
    if (path.empty() || ::stat(path.c_str(), &facts) != 0) return {};
    return {facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec, facts.st_size, facts.st_ino};
}

std::shared_ptr<const SiteState> load_site(const ForecasterPaths& paths, const SiteState* previous,
                                           std::int64_t now_s) {
    return Loader(paths, previous, now_s).load();
}

bool is_outdated(const SiteState& state, std::int64_t now_s) {
    if (now_s >= state.until_s) return true;
    for (const auto& [path, stamp] : state.stamps)
        if (stamp_of(path) != stamp) return true;
    return false;
}

}  // namespace dlcast
