// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo.h"

#include <fmt/format.h>

#include "predictor/base/text.h"
#include "predictor/model/workload.h"
#include "predictor/model/zoo_image.h"

namespace dlcast {

std::vector<std::string> zoo_names() {
    std::vector<std::string> names;
    for (const ImageModel& model : image_models()) names.push_back(model.name);
    return names;
}

std::optional<std::string> find_zoo_name(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    // Case, '-', '_' and '.' carry no meaning between names of the zoo.
    const std::string wanted = squeeze(name);
    for (const std::string& known : zoo_names())
        if (squeeze(known) == wanted) return known;
    return std::nullopt;
}

Result<ModelSpec> build_zoo_model(const std::string& name, const BuildOptions& options,
                                  std::vector<std::string>& assumed) {
    for (const ImageModel& model : image_models()) {
        if (model.name != name) continue;
        const std::int64_t size = options.image_size > 0 ? options.image_size : model.image_size;
        const std::int64_t classes = options.classes > 0 ? options.classes : 1000;
        if (options.image_size == 0) assumed.push_back(fmt::format("image_size {} (the model's default)", size));
        auto built = model.build(name, size, classes);
        if (built) built->image_size = size;
        return built;
    }
    return not_found(fmt::format("no model \"{}\" in the zoo", name));
}

}  // namespace dlcast
