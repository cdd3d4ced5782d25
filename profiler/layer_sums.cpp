// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/layer_sums.h"

namespace dlcast {

std::vector<LayerSum> layer_sums(const ProfiledModel& model, const Backend& backend, const ProfileOptions& options,
                                 const SampleFile& file) {
    std::vector<LayerSum> out;
    LayerSum step{Pass::step, 0.0, 0.0, 0};
    for (const SamplePoint& point : points_of({model})) {
        const auto* pass = std::get_if<MeasuredPass>(&point);
        if (pass == nullptr) continue;
        LayerSum sum{pass->pass, 0.0, 0.0, 0};
        const TimingSample* whole = file.find(blank_sample(backend, point, options));
        if (whole != nullptr) sum.whole_s = whole->median_s;
        const std::vector<OperatorUse> none;
        const auto& list = pass->pass == Pass::forward    ? model.forward
                           : pass->pass == Pass::backward ? model.backward
                           : pass->pass == Pass::update   ? model.update
                                                          : none;
        for (const OperatorUse& use : list) {
            const TimingSample* sample = file.find(blank_sample(backend, use.op, options));
            if (sample == nullptr)
                ++sum.missing;
            else
                sum.layers_s += use.count * sample->median_s;
        }
        step.layers_s += sum.layers_s;
        step.missing += sum.missing;
        if (pass->pass == Pass::step) {
            step.whole_s = sum.whole_s;
            sum = step;
        }
        out.push_back(sum);
    }
    return out;
}

}  // namespace dlcast
