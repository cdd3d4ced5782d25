// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/trainable.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/deadline.h"
#include "predictor/base/text.h"
#include "predictor/model/builder.h"

namespace dlcast {
namespace {

struct Lora {
    std::int64_t rank = 0;
    std::vector<std::string> targets;  // last parts of the names of attention's projections; empty: all
};

Result<Lora> read_lora(const std::string& text) {
    Lora lora;
    for (const std::string& part : split(text, ',')) {
        const auto equals = part.find('=');
        const std::string key = part.substr(0, equals),
                          value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (key == "r")
            lora.rank = parse_integer(value).value_or(0);
        else if (key == "targets")
            lora.targets = split(value, '+');
        else
            return invalid_argument(
                fmt::format("trainable: lora knows \"r\" and \"targets\", not \"{}\"", key.substr(0, 80)));
    }
    if (lora.rank < 1 || lora.rank > 65536)
        return invalid_argument("trainable: lora needs a rank from 1 to 65536, as in \"lora:r=16\"");
    return lora;
}

// The last part of the name of a projection of attention; empty: the layer is none.
std::string projection_of(const Layer& layer) {
    if (layer.kind != LayerKind::linear || layer.name.find(".attn.") == std::string::npos) return "";
    return layer.name.substr(layer.name.rfind('.') + 1);
}

bool is_target(const Layer& layer, const Lora& lora) {
    const std::string last = projection_of(layer);
    if (last.empty()) return false;
    return lora.targets.empty() || std::find(lora.targets.begin(), lora.targets.end(), last) != lora.targets.end();
}

Layer adapter(const Layer& base, const std::string& suffix, std::int64_t in, std::int64_t out) {
    Layer layer;
    layer.name = base.name + suffix;
    layer.kind = LayerKind::linear;
    layer.input = base.input;
    layer.input.back() = in;
    layer.output = base.output;
    layer.output.back() = out;
    layer.head = true;  // beside the published network
    layer.block = base.block;
    layer.parameters = static_cast<std::uint64_t>(in) * static_cast<std::uint64_t>(out);
    return layer;
}

// None of what is named is there.
Error no_target(const ModelSpec& model, const Lora& lora) {
    std::vector<std::string> known;
    for (const Layer& layer : model.layers)
        if (const std::string last = projection_of(layer);
            !last.empty() && std::find(known.begin(), known.end(), last) == known.end())
            known.push_back(last);
    if (known.empty())
        return invalid_argument(
            fmt::format("trainable: lora adapts projections of attention, and {} has none; freeze layers by "
                        "\"frozen:name\", or train "
                        "\"all\"",
                        model.name.empty() ? std::string("this model") : one_line(model.name, 80)));
    return invalid_argument(
        fmt::format("trainable: lora's targets are {}, which no projection of attention is named; name some of {}",
                    one_line(fmt::format("{}", fmt::join(lora.targets, "+")), 80), fmt::join(known, ", ")));
}

Status apply_lora(ModelSpec& model, const Lora& lora) {
    std::vector<Layer> layers;
    bool any = false;
    for (const Layer& layer : model.layers) {
        layers.push_back(layer);
        layers.back().trainable = false;
        if (!is_target(layer, lora)) continue;
        any = true;
        layers.push_back(adapter(layer, ".lora_a", layer.input.back(), lora.rank));
        layers.push_back(adapter(layer, ".lora_b", lora.rank, layer.output.back()));
        Layer sum = adapter(layer, ".lora_add", layer.output.back(), layer.output.back());
        sum.kind = LayerKind::add;
        sum.parameters = 0;
        layers.push_back(std::move(sum));
    }
    if (!any) return no_target(model, lora);
    model.layers = std::move(layers);
    return ok();
}

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
    if (trainable.starts_with("lora:")) {
        const auto lora = read_lora(trainable.substr(5));
        if (!lora) return lora.error();
        if (auto s = apply_lora(model, *lora); !s) return s;
        if (lora->targets.empty()) assumed.emplace_back("LoRA on all projections of attention (no targets stated)");
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
