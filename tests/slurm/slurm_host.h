// SPDX-License-Identifier: GPL-2.0-or-later
// A stand-in for slurmctld and sbatch: this program exports the functions they give to plugins, loads the plugins as
// they do, and looks at what comes back.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
extern "C" {  // spank.h declares its hooks outside of its own extern "C"
#include <slurm/spank.h>
}

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace slurm_host {

/// Blocks of Slurm's allocator that nobody freed yet. The allocator ends the program when a block is freed twice or was
/// never its own, as Slurm's does.
std::size_t live_blocks();

/// Lines of slurm_info and slurm_error since the last call, the latter with "error: " before them.
std::vector<std::string> take_log();

char* duplicate(const std::string& text);
void release(void* block);

/// A submission as a client packs it, every field of it in Slurm's allocator.
class Job {
public:
    Job();
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    void set_spank_env(const std::vector<std::string>& entries);
    /// The environment of a batch script; srun and salloc send none.
    void set_environment(const std::vector<std::string>& entries);
    std::vector<std::string> environment() const;
    std::vector<std::string> spank_env() const;

    job_desc_msg_t* operator->() { return &message_; }
    job_desc_msg_t& operator*() { return message_; }

private:
    job_desc_msg_t message_{};
};

/// A shared object, loaded as slurmctld loads plugins, with every symbol looked up at once.
class Library {
public:
    explicit Library(const std::string& path);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    /// Throws std::runtime_error where there is none: Slurm would refuse the plugin.
    void* symbol(const char* name) const;
    template <typename Function>
    Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

private:
    void* handle_;
};

/// job_submit_dlcast.so between init() and fini().
class JobSubmitPlugin {
public:
    /// Sets DLCAST_CONFIG and DLCAST_MODULE for init().
    JobSubmitPlugin(const std::string& config, const std::string& module);
    ~JobSubmitPlugin();

    struct Answer {
        int rc = 0;
        std::string message;
    };
    Answer submit(Job& job);
    int modify(Job& job);

    const Library library;
};

/// spank_dlcast.so as the clients and slurmstepd use it: loaded and initialised once, then asked for each component of
/// a job.
class SpankPlugin {
public:
    explicit SpankPlugin(spank_context_t context);

    struct Answer {
        int rc = 0;  // below 0: Slurm stops the submission
        std::vector<std::string> log;
    };
    /// Values of --dl-model and of --dl-train in the order Slurm reads them.
    Answer component(const std::vector<std::string>& models, const std::vector<std::string>& trainings = {});

    /// The hook before the user's programs; names taken out of their environment.
    std::vector<std::string> start_user();

    static bool option_registered();
    /// What travels to slurmctld with the component, by name.
    static const std::map<std::string, std::string>& job_control_env();

private:
    Library library_;
};

/// The payload sbatch would hand over for `argument`; throws std::runtime_error with the plugin's words if it refuses.
std::string payload_of(const std::string& argument);

}  // namespace slurm_host
