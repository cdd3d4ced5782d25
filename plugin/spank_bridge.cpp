// SPDX-License-Identifier: GPL-2.0-or-later
// The values of --dl-model and --dl-train, read and checked in the user's process. Only the parsing part of the
// predictor is linked.
#include <exception>
#include <string>

#include "plugin/bridge.h"
#include "plugin/copy_text.h"
#include "predictor/model/overrides.h"
#include "predictor/model/workload.h"

namespace {

// Builds the layers too, so that a mistake is told with its line in the user's file and not as a failure of slurmctld;
// but not of a description that is too long to travel, which could take sbatch longer than reading it did.
dlcast::Result<std::string> payload_of(const std::string& argument, const char* training) {
    auto declaration = dlcast::read_model_argument(argument);
    if (!declaration) {
        dlcast::Error error = declaration.error();
        if (argument.starts_with('~') || argument.find('$') != std::string::npos)
            error.message += "; sbatch expands neither ~ nor variables in #SBATCH lines, write the whole path";
        return error;
    }
    if (training) declaration = dlcast::with_training(*declaration, training, "--dl-train");
    if (!declaration) return declaration.error();
    auto payload = dlcast::to_payload(*declaration);
    if (!payload) return payload.error();
    if (const auto workload = dlcast::to_workload(*declaration); !workload) return workload.error();
    return payload;
}

}  // namespace

extern "C" int dlcast_bridge_read_model(const char* argument, const char* training, char* payload,
                                        std::size_t payload_size, char* error, std::size_t error_size) noexcept {
    dlcast::copy_text("", payload, payload_size);
    dlcast::copy_text("", error, error_size);
    try {
        const auto text = payload_of(argument, training);
        if (!text) {
            dlcast::copy_text(text.error().message, error, error_size);
            return -1;
        }
        if (text->size() >= payload_size || text->find('\0') != std::string::npos) {
            dlcast::copy_text("the model's compact form does not fit into 64 KiB; use \"repeat\" for equal layers",
                              error, error_size);
            return -1;
        }
        dlcast::copy_text(*text, payload, payload_size);
        return 0;
    } catch (const std::exception& e) {
        dlcast::copy_text(std::string("cannot read the model: ") + e.what(), error, error_size);
    } catch (...) {
        dlcast::copy_text("cannot read the model", error, error_size);
    }
    return -1;
}
