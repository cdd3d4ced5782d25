// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refine_release.h"

#include <filesystem>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t largest_weights = 16u << 20;

Status copy_file(const std::string& from, const std::string& to) {
    if (!std::filesystem::exists(from)) return ok();
    const auto text = read_file(from, largest_weights);
    if (!text) return text.error();
    return write_file_atomically(to, *text);
}

}  // namespace

Result<StartWeights> open_start(const std::string& module_path, const std::string& directory) {
    StartWeights out;
    auto model = open_refined_model(module_path, directory);  // names the remedy where there are no weights
    if (!model) return model.error();
    out.model = std::move(*model);
    const std::string manifest = directory + "/" + manifest_file;
    const auto text = read_file(manifest, largest_weights);
    if (!text) return text.error();
    auto parsed = parse_weights_manifest(*text, manifest);
    if (!parsed) return parsed.error();
    out.manifest = std::move(*parsed);
    auto network = open_torch_model(module_path, directory);
    if (!network) return network.error();
    out.network = std::move(*network);
    auto steps = read_step_weights(directory);
    if (!steps) return steps.error();
    out.steps = std::move(*steps);
    auto by = read_refined_by(directory);
    if (!by) return by.error();
    out.by = std::move(*by);
    const std::string refined = directory + "/" + refined_operators_file;
    if (!std::filesystem::exists(refined)) return out;
    const auto operators_text = read_file(refined, largest_weights);
    if (!operators_text) return operators_text.error();
    auto operators = parse_refined_operators(*operators_text, refined);
    if (!operators) return operators.error();
    out.operators = std::move(*operators);
    return out;
}

Status write_release(const std::string& dir, const std::string& from, const StartWeights& now,
                     const RefinedSteps& steps) {
    for (const char* file : {weights_file, step_weights_file, collectives_file})
        if (auto s = copy_file(from + "/" + file, dir + "/" + file); !s) return s;
    const std::string operators = write_refined_operators(now.operators), of_steps = write_refined_steps(steps),
                      manifest = write_weights_manifest(now.manifest);
    // Impossible measurements make figures that cannot be read again.
    if (auto read = parse_refined_operators(operators, refined_operators_file); !read) return read.error();
    if (auto read = parse_refined_steps(of_steps, refined_steps_file); !read) return read.error();
    if (auto read = parse_weights_manifest(manifest, manifest_file); !read) return read.error();
    if (auto s = write_file_atomically(dir + "/" + refined_operators_file, operators); !s) return s;
    if (auto s = write_file_atomically(dir + "/" + refined_steps_file, of_steps); !s) return s;
    if (auto s = write_file_atomically(dir + "/" + refined_by_file, write_refined_by(now.by)); !s) return s;
    return write_file_atomically(dir + "/" + manifest_file, manifest);
}

}  // namespace dlcast
