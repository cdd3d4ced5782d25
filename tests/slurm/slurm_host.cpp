// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/slurm/slurm_host.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace slurm_host {
namespace {

struct alignas(16) BlockHeader {
    std::uint64_t magic;
};
constexpr std::uint64_t block_magic = 0x42a7c0de5eed1e57;
std::atomic<std::size_t> block_count{0};

void* allocate(std::size_t bytes) {
    auto* header = static_cast<BlockHeader*>(std::calloc(1, sizeof(BlockHeader) + bytes));
    if (!header) std::abort();
    header->magic = block_magic;
    ++block_count;
    return header + 1;
}

std::mutex log_mutex;
std::vector<std::string> log_lines;

void add_to_log(const char* prefix, const char* format, std::va_list arguments) {
    char text[8192];
    std::vsnprintf(text, sizeof text, format, arguments);
    const std::lock_guard lock(log_mutex);
    log_lines.push_back(std::string(prefix) + text);
}

}  // namespace

std::size_t live_blocks() { return block_count; }

void release(void* block) {
    if (!block) return;
    auto* header = static_cast<BlockHeader*>(block) - 1;
    if (header->magic != block_magic) {
        std::fputs("slurm_xfree: not a block of slurm_xcalloc, or freed before\n", stderr);
        std::abort();
    }
    header->magic = 0;
    --block_count;
    std::free(header);
}

std::vector<std::string> take_log() {
    const std::lock_guard lock(log_mutex);
    return std::exchange(log_lines, {});
}

char* duplicate(const std::string& text) {
    auto* copy = static_cast<char*>(allocate(text.size() + 1));
    std::memcpy(copy, text.data(), text.size());
    return copy;
}

Job::Job() {
    message_.time_limit = NO_VAL;
    message_.min_nodes = message_.max_nodes = NO_VAL;
    message_.num_tasks = NO_VAL;
    message_.time_min = NO_VAL;
    message_.ntasks_per_node = message_.ntasks_per_socket = message_.ntasks_per_tres = NO_VAL16;
    message_.sockets_per_node = message_.shared = NO_VAL16;
    message_.het_job_offset = NO_VAL;
    message_.user_id = 1000;
}

Job::~Job() {
    set_spank_env({});
    set_environment({});
    for (char* field :
         {message_.partition, message_.features, message_.account, message_.qos, message_.array_inx,
          message_.admin_comment, message_.tres_per_job, message_.tres_per_node, message_.tres_per_task,
          message_.tres_per_socket, message_.script, message_.req_nodes, message_.exc_nodes, message_.reservation}) {
        release(field);
    }
}

namespace {

void set_list(char**& list, std::uint32_t& size, const std::vector<std::string>& entries) {
    for (std::uint32_t i = 0; i < size; ++i) release(list[i]);
    release(list);
    list = nullptr;
    size = static_cast<std::uint32_t>(entries.size());
    if (entries.empty()) return;
    list = static_cast<char**>(allocate((entries.size() + 1) * sizeof(char*)));
    for (std::size_t i = 0; i < entries.size(); ++i) list[i] = duplicate(entries[i]);
}

std::vector<std::string> texts(char** list, std::uint32_t size) {
    std::vector<std::string> entries;
    for (std::uint32_t i = 0; i < size; ++i) entries.emplace_back(list[i] ? list[i] : "");
    return entries;
}

}  // namespace

void Job::set_spank_env(const std::vector<std::string>& entries) {
    set_list(message_.spank_job_env, message_.spank_job_env_size, entries);
}
std::vector<std::string> Job::spank_env() const { return texts(message_.spank_job_env, message_.spank_job_env_size); }

void Job::set_environment(const std::vector<std::string>& entries) {
    set_list(message_.environment, message_.env_size, entries);
}
std::vector<std::string> Job::environment() const { return texts(message_.environment, message_.env_size); }

Library::Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error(dlerror());
}

Library::~Library() { dlclose(handle_); }

void* Library::symbol(const char* name) const {
    void* found = dlsym(handle_, name);
    if (!found) throw std::runtime_error(std::string("no symbol ") + name);
    return found;
}

JobSubmitPlugin::JobSubmitPlugin(const std::string& config, const std::string& module)
    : library(DLCAST_BINARY_DIR "/plugin/job_submit_dlcast.so") {
    setenv("DLCAST_CONFIG", config.c_str(), 1);
    setenv("DLCAST_MODULE", module.c_str(), 1);
    if (library.function<int()>("init")() != SLURM_SUCCESS) throw std::runtime_error("init() failed: no slurmctld");
}

JobSubmitPlugin::~JobSubmitPlugin() { library.function<int()>("fini")(); }

JobSubmitPlugin::Answer JobSubmitPlugin::submit(Job& job) {
    using Submit = int(job_desc_msg_t*, std::uint32_t, char**);
    char* error = nullptr;
    Answer answer;
    answer.rc = library.function<Submit>("job_submit")(&*job, job->user_id, &error);
    if (error) answer.message = error;
    release(error);
    return answer;
}

int JobSubmitPlugin::modify(Job& job) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
    char* error = nullptr;
    return library.function<int(job_desc_msg_t*, void*, std::uint32_t, char**)>("job_modify")(&*job, nullptr, 0,
                                                                                              &error);
#else
    return library.function<int(job_desc_msg_t*, void*, std::uint32_t)>("job_modify")(&*job, nullptr, 0);
#endif
}

}  // namespace slurm_host

EXPORTED void* slurm_xcalloc(std::size_t count, std::size_t size, bool, bool, const char*, int, const char*) {
    return slurm_host::allocate(count * size);
}
EXPORTED void slurm_xfree(void** block) {
    slurm_host::release(*block);
    *block = nullptr;
}
EXPORTED char* slurm_xstrdup(const char* text) { return text ? slurm_host::duplicate(text) : nullptr; }
EXPORTED void slurm_info(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    slurm_host::add_to_log("", format, arguments);
    va_end(arguments);
}
EXPORTED void slurm_error(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    slurm_host::add_to_log("error: ", format, arguments);
    va_end(arguments);
}
EXPORTED void slurm_spank_log(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    slurm_host::add_to_log("", format, arguments);
    va_end(arguments);
}
