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

constexpr const char* training_option = "--dl-train";

// Builds the layers too, so that a mistake is told with its line in the user's file and not as a failure of slurmctld;
// but not of a description that is too long to travel, which could take sbatch longer than reading it did.
dlcast::Result<std::string> payload_of(const std::string& argument, const char* training) {
    auto declaration =
        dlcast::read_model_argument(argument, dlcast::overrides_of(training ? training : "", training_option));
    if (!declaration) {
        dlcast::Error error = declaration.error();
        if (argument.starts_with('~') || argument.find('$') != std::string::npos)
            error.message += "; sbatch expands neither ~ nor variables in #SBATCH lines, write the whole path";
        return error;
    }
    const dlcast::Declaration plain = *declaration;
    if (training) declaration = dlcast::with_training(plain, training, training_option);
    if (!declaration) return declaration.error();
    auto payload = dlcast::to_payload(*declaration);
    if (!payload) return payload.error();
    const auto workload = dlcast::to_workload(*declaration);
    if (workload) return payload;
    return training ? dlcast::blame_training(plain, training, training_option, workload.error()) : workload.error();
}

}  // namespace

extern "C" int dlcast_bridge_read_model(const char* argument, const char* training, char* text,
                                        std::size_t size) noexcept {
    try {
        const auto payload = payload_of(argument, training);
        if (payload && payload->size() < size && payload->find('\0') == std::string::npos) {
            dlcast::copy_text(*payload, text, size);
            return 0;
        }
        dlcast::copy_text(payload ? "the model's compact form does not fit into 64 KiB; use \"repeat\" for equal layers"
                                  : payload.error().message,
                          text, size);
    } catch (const std::exception& e) {
        dlcast::copy_text(std::string("cannot read the model: ") + e.what(), text, size);
    } catch (...) {
        dlcast::copy_text("cannot read the model", text, size);
    }
    return -1;
}
