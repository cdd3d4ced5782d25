// SPDX-License-Identifier: GPL-2.0-or-later
// The predictor behind the C functions that slurmctld's plugin calls. No exception leaves this file.
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "plugin/bridge.h"
#include "plugin/copy_text.h"
#include "predictor/job/forecaster.h"

namespace {

using dlcast::copy_text;

std::unique_ptr<dlcast::Forecaster> forecaster;

constexpr std::size_t most_script_bytes = 64 * 1024;  // options stand at its head

std::string text(const char* value) { return value ? value : ""; }

dlcast::SubmitRequest request_from(const dlcast_submission& s) {
    dlcast::SubmitRequest request;
    // One byte over the limit is enough to be refused as too long: nobody copies megabytes under slurmctld's locks.
    request.payload.assign(s.payload, strnlen(s.payload, DLCAST_PAYLOAD_MAX_BYTES + 1));
    request.partition = text(s.partition);
    request.time_limit_min = s.time_limit_min;
    request.time_min_min = s.time_min_min;
    request.min_nodes = s.min_nodes;
    request.max_nodes = s.max_nodes;
    request.num_tasks = s.num_tasks;
    request.ntasks_per_node = s.ntasks_per_node;
    request.ntasks_per_socket = s.ntasks_per_socket;
    request.ntasks_per_gpu = s.ntasks_per_gpu;
    request.sockets_per_node = s.sockets_per_node;
    request.min_cpus = s.min_cpus;
    request.cpus_per_task = s.cpus_per_task;
    request.min_cpus_per_node = s.min_cpus_per_node;
    request.memory_per_node_MiB = s.memory_per_node_MiB;
    request.memory_per_cpu_MiB = s.memory_per_cpu_MiB;
    request.deadline_s = s.deadline_s;
    request.names_nodes = s.names_nodes != 0;
    request.exclusive = s.exclusive != 0;
    request.tres_per_job = text(s.tres_per_job);
    request.tres_per_node = text(s.tres_per_node);
    request.tres_per_task = text(s.tres_per_task);
    request.tres_per_socket = text(s.tres_per_socket);
    request.features = text(s.features);
    request.account = text(s.account);
    request.qos = text(s.qos);
    request.array = text(s.array);
    request.admin_comment = text(s.admin_comment);
    request.user_id = s.user_id;
    if (s.script) request.script.assign(s.script, strnlen(s.script, most_script_bytes));
    return request;
}

void append_line(std::string& log, const std::string& line) {
    if (line.empty()) return;
    if (!log.empty()) log += '\n';
    log += line;
}

// Takes up files that changed; what there is to say about it.
std::string reload() {
    std::string log;
    for (const std::string& line : forecaster->reload_if_changed()) append_line(log, line);
    return log;
}

int fault_of(dlcast::Verdict::Fault fault) {
    using Fault = dlcast::Verdict::Fault;
    switch (fault) {
        case Fault::none:
            return DLCAST_FAULT_NONE;
        case Fault::no_forecast:
            return DLCAST_FAULT_NO_FORECAST;
        case Fault::no_duration:
            return DLCAST_FAULT_NO_DURATION;
        case Fault::gpu_request:
            return DLCAST_FAULT_GPU_REQUEST;
        case Fault::no_place:
            return DLCAST_FAULT_NO_PLACE;
        case Fault::memory:
            return DLCAST_FAULT_MEMORY;
        case Fault::time:
            return DLCAST_FAULT_TIME;
        case Fault::budget:
            return DLCAST_FAULT_BUDGET;
    }
    return DLCAST_FAULT_NO_FORECAST;
}

void write_answer(const dlcast::Verdict& verdict, std::string log, dlcast_answer& answer) {
    using Action = dlcast::Verdict::Action;
    append_line(log, verdict.log);
    copy_text(log, answer.log, sizeof answer.log);
    answer.log_is_error = verdict.log_is_error;
    copy_text(verdict.message, answer.message, sizeof answer.message);
    if (verdict.action == Action::pass) return;
    answer.action = verdict.action == Action::reject ? DLCAST_REJECT : DLCAST_SET;
    answer.fault = fault_of(verdict.fault);
    answer.time_limit_min = verdict.time_limit_min;
    answer.time_min_min = verdict.time_min_min;
    std::string environment;
    for (const std::string& variable : verdict.environment) append_line(environment, variable);
    if (environment.size() < sizeof answer.environment)
        copy_text(environment, answer.environment, sizeof answer.environment);
    // Half a partition list or half a JSON object would be worse than none.
    if (verdict.partition.size() < sizeof answer.partition) {
        copy_text(verdict.partition, answer.partition, sizeof answer.partition);
    }
    if (verdict.admin_comment.size() < sizeof answer.admin_comment) {
        copy_text(verdict.admin_comment, answer.admin_comment, sizeof answer.admin_comment);
    }
}

}  // namespace

extern "C" {

void dlcast_bridge_open(const char* config_path, const char* module_path, char* log, std::size_t log_size) noexcept {
    copy_text("", log, log_size);
    try {
        forecaster = std::make_unique<dlcast::Forecaster>(dlcast::ForecasterPaths{config_path, module_path, ""});
        copy_text(reload(), log, log_size);
    } catch (const std::exception& e) {
        copy_text(e.what(), log, log_size);
    } catch (...) {
        copy_text("unknown failure while opening; every submission passes", log, log_size);
    }
}

void dlcast_bridge_close() noexcept { forecaster.reset(); }

void dlcast_bridge_submit(const dlcast_submission* submission, dlcast_answer* answer) noexcept {
    answer->action = DLCAST_PASS;
    answer->fault = DLCAST_FAULT_NONE;
    answer->time_limit_min = answer->time_min_min = -1;
    answer->partition[0] = answer->admin_comment[0] = answer->message[0] = answer->log[0] = '\0';
    answer->environment[0] = '\0';
    answer->log_is_error = 0;
    if (!forecaster) return;
    try {
        std::string log = reload();
        write_answer(forecaster->submit(request_from(*submission)), std::move(log), *answer);
    } catch (const std::exception& e) {
        answer->action = DLCAST_PASS;
        answer->log_is_error = 1;
        copy_text(e.what(), answer->log, sizeof answer->log);
    } catch (...) {
        answer->action = DLCAST_PASS;
    }
}

}  // extern "C"
