// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/trainable.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/deadline.h"
#include "predictor/base/text.h"
#include "predictor/model/builder.h"
#include "predictor/model/lora.h"

namespace dlcast {
namespace {

constexpr std::size_t most_prefixes = 100;  // each is held against every layer

Status apply_frozen(ModelSpec& model, const std::vector<std::string>& prefixes) {
    if (prefixes.size() > most_prefixes)
        return invalid_argument(
            fmt::format("trainable: more than {} names after \"frozen:\"; a shorter name covers all "
                        "layers that start with it",
                        most_prefixes));
    for (const std::string& prefix : prefixes) {
        if (Deadline::passed()) return unavailable("trainable: takes all the time a submission may");
        bool any = false;
        for (Layer& layer : model.layers) {
            if (prefix.empty() || !layer.name.starts_with(prefix)) continue;
            layer.trainable = false;
            any = true;
        }
        if (any) continue;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min<std::size_t>(model.layers.size(), 5000); ++i)
            names.push_back(model.layers[i].name);
        const std::string near = nearest_name(prefix, names);
        return invalid_argument(fmt::format("trainable: no layer's name starts with \"{}\"; {}", prefix.substr(0, 80),
                                            near.empty() ? fmt::format("the first layer is \"{}\"", names.front())
                                                         : fmt::format("did you mean \"{}\"?", near)));
    }
    return ok();
}

}  // namespace

Status apply_trainable(ModelSpec& model, const std::string& trainable, std::vector<std::string>& assumed) {
    if (trainable == "all") return ok();
    if (to_lower(trainable.substr(0, 5)) == "lora:") {
        if (auto s = apply_lora(model, trainable.substr(5), assumed); !s) return s;
    } else if (trainable.starts_with("frozen:")) {
        if (auto s = apply_frozen(model, split(trainable.substr(7), ',')); !s) return s;
    } else {
        return invalid_argument(fmt::format(
            "trainable is \"{}\"; it should be \"all\", \"lora:r=16\" or \"frozen:name\"", trainable.substr(0, 80)));
    }
    count_parameters(model);
    return ok();
}

}  // namespace dlcast
