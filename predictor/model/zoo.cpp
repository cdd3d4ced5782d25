// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo.h"

#include <fmt/format.h>

#include "predictor/model/hf_config.h"
#include "predictor/model/workload.h"
#include "predictor/model/zoo_diffusion.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

constexpr const char* stable_diffusion = "stable-diffusion-2-base";

}  // namespace

std::vector<std::string> zoo_names() {
    std::vector<std::string> names;
    for (const ImageModel& model : image_models()) names.push_back(model.name);
    for (const HubModel& model : hub_models()) names.push_back(model.name);
    names.emplace_back(stable_diffusion);
    return names;
}

Result<ModelSpec> build_zoo_model(const std::string& name, const BuildOptions& options,
                                  std::vector<std::string>& assumed) {
    const auto size_or = [&](std::int64_t standard) {
        if (options.image_size == 0) assumed.push_back(fmt::format("image_size {} (the model's default)", standard));
        return options.image_size > 0 ? options.image_size : standard;
    };
    for (const ImageModel& model : image_models()) {
        if (model.name != name) continue;
        const std::int64_t size = size_or(model.image_size);
        auto built = model.build(name, size, options.classes > 0 ? options.classes : 1000);
        if (built) built->image_size = size;
        return built;
    }
    for (const HubModel& model : hub_models())
        if (model.name == name) return build_hf_model(model.config, name, name, options, assumed);
    if (name == stable_diffusion) {
        const bool fused = options.framework.find("nemo") != std::string::npos || options.compile;
        return build_stable_diffusion_2(name, size_or(512), options.seq_len > 0 ? options.seq_len : 77, fused);
    }
    return not_found(fmt::format("no model \"{}\" in the zoo", name));
}

}  // namespace dlcast
