// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo.h"

#include <fmt/format.h>

#include "predictor/model/hf_config.h"
#include "predictor/model/workload.h"
#include "predictor/model/zoo_alias.h"
#include "predictor/model/zoo_diffusion.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_other.h"
#include "predictor/model/zoo_text.h"

namespace dlcast {

std::vector<std::string> zoo_names() {
    std::vector<std::string> names;
    for (const ImageModel& model : image_models()) names.push_back(model.name);
    for (const HubModel& model : hub_models()) names.push_back(model.name);
    for (const DiffusionModel& model : diffusion_models()) names.push_back(model.name);
    for (const OtherModel& model : other_models()) names.push_back(model.name);
    return names;
}

Result<ModelSpec> build_zoo_model(const std::string& name, const BuildOptions& options,
                                  std::vector<std::string>& assumed) {
    if (const std::int64_t classes = tagged_classes(name); classes > 0) {
        BuildOptions its = options;
        if (its.classes == 0) {
            its.classes = classes;
            assumed.push_back(fmt::format("{} classes (of the set in the model's name)", classes));
        }
        auto built = build_zoo_model(name.substr(0, name.rfind('.')), its, assumed);
        if (built) built->name = name;
        return built;
    }
    const auto size_or = [&](std::int64_t standard) {
        if (options.image_size == 0) assumed.push_back(fmt::format("image_size {} (the model's default)", standard));
        return options.image_size > 0 ? options.image_size : standard;
    };
    for (const ImageModel& model : image_models()) {
        if (model.name != name) continue;
        const std::int64_t size = size_or(model.image_size);
        auto built = model.build(name, size, options.classes > 0 ? options.classes : model.classes);
        if (built) built->image_size = size;
        return built;
    }
    for (const HubModel& model : hub_models())
        if (model.name == name) return build_hf_model(model.config(), name, name, options, assumed);
    for (const DiffusionModel& model : diffusion_models()) {
        if (model.name != name) continue;
        UNetOptions unet = model.options;
        unet.fused = options.framework.find("nemo") != std::string::npos || options.compile;
        return build_diffusion_unet(name, size_or(model.image_size), options.seq_len > 0 ? options.seq_len : 77, unet);
    }
    for (const OtherModel& model : other_models())
        if (model.name == name) return model.build(name, options, assumed);
    return not_found(fmt::format("no model \"{}\" in the zoo", name));
}

}  // namespace dlcast
