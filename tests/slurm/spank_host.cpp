// SPDX-License-Identifier: GPL-2.0-or-later
// What sbatch and srun give to a SPANK plugin, and the order in which they call it.
#include <stdexcept>

#include "tests/slurm/slurm_host.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace slurm_host {
namespace {

using Hook = int(spank_t, int, char**);

spank_context_t current_context = S_CTX_ERROR;
std::map<std::string, const spank_option*> registered;
std::map<std::string, std::string> control_env;
std::vector<std::string> unset_names;

}  // namespace

SpankPlugin::SpankPlugin(spank_context_t context) : library_(DLCAST_BINARY_DIR "/plugin/spank_dlcast.so") {
    current_context = context;
    registered.clear();
    control_env.clear();
    if (library_.function<Hook>("slurm_spank_init")(nullptr, 0, nullptr) != 0)
        throw std::runtime_error("slurm_spank_init");
}

SpankPlugin::Answer SpankPlugin::component(const std::vector<std::string>& models,
                                           const std::vector<std::string>& trainings) {
    take_log();
    Answer answer;
    for (const auto& [name, values] : {std::pair{"dl-model", &models}, std::pair{"dl-train", &trainings}})
        for (const std::string& value : *values) {
            const spank_option* option = registered.at(name);
            answer.rc = option->cb(option->val, value.c_str(), current_context == S_CTX_REMOTE);
            if (answer.rc != 0) return answer;
        }
    answer.rc = library_.function<Hook>("slurm_spank_init_post_opt")(nullptr, 0, nullptr);
    answer.log = take_log();
    return answer;
}

std::vector<std::string> SpankPlugin::start_user() {
    unset_names.clear();
    if (library_.function<Hook>("slurm_spank_user_init")(nullptr, 0, nullptr) != 0)
        throw std::runtime_error("slurm_spank_user_init");
    return unset_names;
}

bool SpankPlugin::option_registered() { return registered.contains("dl-model") && registered.contains("dl-train"); }

const std::map<std::string, std::string>& SpankPlugin::job_control_env() { return control_env; }

std::string payload_of(const std::string& argument) {
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    const auto answer = plugin.component({argument});
    if (answer.rc == 0) return control_env.at("DLCAST_MODEL");
    throw std::runtime_error(answer.log.empty() ? "refused without a message" : answer.log.front());
}

}  // namespace slurm_host

EXPORTED spank_context_t spank_context() { return slurm_host::current_context; }
EXPORTED spank_err_t spank_option_register(spank_t, spank_option* option) {
    slurm_host::registered[option->name] = option;
    return spank_err_t{};
}
EXPORTED spank_err_t spank_job_control_setenv(spank_t, const char* name, const char* value, int) {
    slurm_host::control_env[name] = value;
    return spank_err_t{};
}
EXPORTED spank_err_t spank_job_control_unsetenv(spank_t, const char* name) {
    slurm_host::control_env.erase(name);
    return spank_err_t{};
}
EXPORTED spank_err_t spank_unsetenv(spank_t, const char* name) {
    slurm_host::unset_names.push_back(name);
    return spank_err_t{};
}
EXPORTED const char* spank_strerror(spank_err_t) { return "refused"; }
