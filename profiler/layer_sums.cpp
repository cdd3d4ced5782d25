// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/layer_sums.h"

namespace dlcast {

std::vector<LayerSum> layer_sums(const ProfiledModel& model, const Backend& backend, const ProfileOptions& options,
                                 const SampleFile& file) {
    std::vector<LayerSum> out;
    TimingSample wanted = blank_sample(backend, Operator{}, options);
    const auto sample_of = [&](const SamplePoint& point) {
        wanted.point = point;
        return file.find(wanted);
    };
    LayerSum step{Pass::step, 0.0, 0.0, 0};
    for (const Pass pass : all_passes) {
        LayerSum sum{pass, 0.0, 0.0, 0};
        if (const TimingSample* whole = sample_of(pass_of(model, pass))) sum.whole_s = whole->median_s;
        const std::vector<OperatorUse> none;
        const auto& list = pass == Pass::forward    ? model.forward
                           : pass == Pass::backward ? model.backward
                           : pass == Pass::update   ? model.update
                                                    : none;
        for (const OperatorUse& use : list) {
            if (const TimingSample* sample = sample_of(use.op))
                sum.layers_s += use.count * sample->median_s;
            else
                ++sum.missing;
        }
        step.layers_s += sum.layers_s;
        step.missing += sum.missing;
        if (pass == Pass::step) {
            step.whole_s = sum.whole_s;
            sum = step;
        }
        out.push_back(sum);
    }
    return out;
}

}  // namespace dlcast
