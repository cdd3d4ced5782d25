// SPDX-License-Identifier: GPL-2.0-or-later
// MobileNetV3 (Howard et al., arXiv:1905.02244, tables 1 and 2), as torchvision builds it: a classifier, and the
// backbone of light detectors and segmenters.
#include <fmt/format.h>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

struct Row {
    int kernel;
    std::int64_t expanded, out;
    bool squeeze, hard_swish;
    int stride;
};

const std::vector<Row>& rows_of(bool large) {
    static const std::vector<Row> of_large = {
        {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
        {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
        {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
        {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
        {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1}};
    static const std::vector<Row> of_small = {
        {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
        {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
        {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
        {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1}};
    return large ? of_large : of_small;
}

void add_row(ModelBuilder& b, const std::string& at, const Row& row, std::int64_t stride, std::int64_t dilation) {
    const Shape in = b.shape();
    const char* function = row.hard_swish ? "hard_swish" : "relu";
    if (row.expanded != in[0]) add_conv_norm(b, at + ".expand", row.expanded, window(1), function);
    Window w = window(row.kernel, stride, row.kernel / 2 * dilation);
    w.dilation = dilation;
    add_conv_norm(b, at + ".depthwise", row.expanded, w, function, row.expanded);
    if (row.squeeze)
        add_squeeze_excitation(b, at + ".se", in_multiples(static_cast<double>(row.expanded / 4)), "relu",
                               "hard_sigmoid");
    add_conv_norm(b, at + ".project", row.out, window(1), "");
    if (row.stride == 1 && in[0] == row.out) b.add(at + ".add");
}

}  // namespace

MobileStages add_mobilenet_v3(ModelBuilder& b, bool large, std::int64_t tail, bool dilated) {
    MobileStages out;
    add_conv_norm(b, "stem", 16, window(3, 2, 1), "hard_swish");
    const std::size_t last_rows = large ? rows_of(true).size() - 3 : rows_of(false).size() - 3;
    int block = 0;
    for (std::size_t i = 0; i < rows_of(large).size() && !b.failed(); ++i) {
        Row row = rows_of(large)[i];
        const bool last = i >= last_rows;
        if (last) {
            row.out /= tail;
            if (i > last_rows) row.expanded /= tail;
        }
        b.set_block(block++);
        const std::int64_t stride = last && dilated ? 1 : row.stride;
        // Detectors read the tensor that the first block of the last stage widened.
        if (last && i == last_rows) out.middle = {row.expanded, b.shape()[1], b.shape()[2]};
        add_row(b, fmt::format("row{}", i), row, stride, last && dilated ? 2 : 1);
        out.rows.push_back(b.shape());
    }
    b.set_block(-1);
    add_conv_norm(b, "head", 6 * b.shape()[0], window(1), "hard_swish");
    out.high = b.shape();
    return out;
}

Result<ModelSpec> build_mobilenet_v3(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const bool large = name.ends_with("large");
    ModelBuilder b({3, image_size, image_size});
    add_mobilenet_v3(b, large, 1, false);
    if (b.failed()) return invalid_argument(b.fault());
    b.global_avg_pool("avgpool");
    b.flatten("flatten");
    b.linear("classifier.0", large ? 1280 : 1024);
    b.activation("classifier.act", "hard_swish");
    b.dropout("classifier.drop");
    b.linear("classifier.1", classes);
    b.loss("loss");
    return b.finish(name, "mobilenet");
}

}  // namespace dlcast
