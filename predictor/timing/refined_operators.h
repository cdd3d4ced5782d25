// SPDX-License-Identifier: GPL-2.0-or-later
// refined_operators.toml of a weights directory: what calls measured at a site say of its GPUs, and the layer-time
// model that goes by it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/timing/measured_group.h"

namespace dlcast {

inline constexpr const char* refined_operators_file = "refined_operators.toml";

struct RefinedGroup {
    std::string gpu;  // catalog key
    OperatorGroup group;
    FittedGroup fit;
    std::vector<OperatorKind> except{};  // kinds of the family that it is not for
};

struct RefinedOperators {
    std::string id;  // of the whole refinement, for admin_comment
    std::vector<RefinedGroup> groups;
};

/// Errors: bad TOML, an unknown or missing key, a value out of range.
Result<RefinedOperators> parse_refined_operators(std::string_view text, const std::string& source);
std::string write_refined_operators(const RefinedOperators& refined);

/// `fresh` in the place of older groups of the same calls; these stay for the kinds that `fresh` is not for.
void replace_group(std::vector<RefinedGroup>& groups, RefinedGroup fresh);

/// `model` with the groups' constants and rests where they apply; all else as it says. weights_id() is its own, '+',
/// the refinement's.
std::unique_ptr<LayerTimeModel> refine_model(std::unique_ptr<LayerTimeModel> model, RefinedOperators refined);

/// open_torch_model, refined by refined_operators.toml in `weights_dir` where there is one. Errors: unavailable.
Result<std::unique_ptr<LayerTimeModel>> open_refined_model(const std::string& module_path,
                                                           const std::string& weights_dir);

}  // namespace dlcast
