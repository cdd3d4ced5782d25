// SPDX-License-Identifier: GPL-2.0-or-later
// RegNet (Radosavovic et al., arXiv:2003.13678): stage widths from a quantised line, section 3.3; Y squeezes. The
// parameters of the lines are those of the paper's model zoo, as torchvision and timm use them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

struct Line {
    const char* name;
    int depth;
    double start, slope, factor;
    std::int64_t group_width;
    bool nearest = false;  // widths go to the nearest multiple of the group, however far below (the paper, timm)
};

constexpr Line lines[] = {
    {"regnet_x_200mf", 13, 24, 36.44, 2.49, 8, true},  {"regnet_x_400mf", 22, 24, 24.48, 2.54, 16},
    {"regnet_x_600mf", 16, 48, 36.97, 2.24, 24, true}, {"regnet_x_800mf", 16, 56, 35.73, 2.28, 16},
    {"regnet_x_1_6gf", 18, 80, 34.01, 2.25, 24},       {"regnet_x_3_2gf", 25, 88, 26.31, 2.25, 48},
    {"regnet_x_4gf", 23, 96, 38.65, 2.43, 40, true},   {"regnet_x_6_4gf", 17, 184, 60.83, 2.07, 56, true},
    {"regnet_x_8gf", 23, 80, 49.56, 2.88, 120},        {"regnet_x_12gf", 19, 168, 73.36, 2.37, 112, true},
    {"regnet_x_16gf", 22, 216, 55.59, 2.1, 128},       {"regnet_x_32gf", 23, 320, 69.86, 2.0, 168},
    {"regnet_y_200mf", 13, 24, 36.44, 2.49, 8, true},  {"regnet_y_400mf", 16, 48, 27.89, 2.09, 8},
    {"regnet_y_600mf", 15, 48, 32.54, 2.32, 16, true}, {"regnet_y_800mf", 14, 56, 38.84, 2.4, 16},
    {"regnet_y_1_6gf", 27, 48, 20.71, 2.65, 24},       {"regnet_y_3_2gf", 21, 80, 42.63, 2.66, 24},
    {"regnet_y_4gf", 22, 96, 31.41, 2.24, 64, true},   {"regnet_y_6_4gf", 25, 112, 33.22, 2.27, 72, true},
    {"regnet_y_8gf", 17, 192, 76.82, 2.19, 56},        {"regnet_y_12gf", 19, 168, 73.36, 2.37, 112, true},
    {"regnet_y_16gf", 18, 200, 106.23, 2.48, 112},     {"regnet_y_32gf", 20, 232, 115.89, 2.53, 232},
    {"regnet_y_128gf", 27, 456, 160.83, 2.52, 264},
};

// The width of every block, before widths fit their groups.
std::vector<std::int64_t> widths_of(const Line& line) {
    std::vector<std::int64_t> widths;
    for (int i = 0; i < line.depth; ++i) {
        const double wanted = line.start + line.slope * i;
        const double power = std::rint(std::log(wanted / line.start) / std::log(line.factor));
        widths.push_back(static_cast<std::int64_t>(std::rint(line.start * std::pow(line.factor, power) / 8.0)) * 8);
    }
    return widths;
}

void add_block(ModelBuilder& b, const std::string& at, std::int64_t width, std::int64_t stride, std::int64_t group,
               bool squeeze) {
    const Shape in = b.shape();
    const bool projects = stride != 1 || in[0] != width;
    if (projects) add_conv_norm(b, at + ".project", width, window(1, stride), "");
    b.continue_from(in);
    add_conv_norm(b, at + ".a", width, window(1));
    add_conv_norm(b, at + ".b", width, window(3, stride, 1), "relu", width / group);
    if (squeeze)
        add_squeeze_excitation(b, at + ".se", static_cast<std::int64_t>(std::round(0.25 * static_cast<double>(in[0]))));
    add_conv_norm(b, at + ".c", width, window(1), "");
    b.add(at + ".add");
    b.activation(at + ".relu", "relu");
}

}  // namespace

std::vector<std::string> regnet_names() {
    std::vector<std::string> names;
    for (const Line& line : lines) names.emplace_back(line.name);
    return names;
}

Result<ModelSpec> build_regnet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const Line* line = std::find_if(std::begin(lines), std::end(lines), [&](const Line& l) { return name == l.name; });
    if (line == std::end(lines)) return invalid_argument("no such RegNet");
    ModelBuilder b({3, image_size, image_size});
    add_conv_norm(b, "stem", 32, window(3, 2, 1));
    std::int64_t last = 0;
    int number = 0, stage = 0, i = 0;
    for (const std::int64_t quantised : widths_of(*line)) {
        if (b.failed()) break;
        const bool first = quantised != last;
        if (first) ++stage, i = 0;
        last = quantised;
        const std::int64_t group = std::min(line->group_width, quantised);
        const auto exact = static_cast<double>(quantised);
        const std::int64_t width =
            line->nearest ? std::lround(exact / static_cast<double>(group)) * group : in_multiples(exact, group);
        b.set_block(number++);
        add_block(b, fmt::format("stage{}.{}", stage, i++), width, first ? 2 : 1, group, name[7] == 'y');
    }
    b.set_block(-1);
    return finish_classifier(b, name, "regnet", classes);
}

}  // namespace dlcast
