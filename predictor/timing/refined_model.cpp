// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "predictor/base/text.h"
#include "predictor/timing/refined_operators.h"
#include "predictor/timing/time_cache.h"

namespace dlcast {
namespace {

constexpr std::size_t max_bytes = 16u << 20;

class RefinedModel final : public LayerTimeModel {
public:
    RefinedModel(std::unique_ptr<LayerTimeModel> model, RefinedOperators refined)
        : model_(std::move(model)), refined_(std::move(refined)) {}

    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        std::vector<OperatorTime> out(queries.size());
        for (const OperatorQuery& query : queries)
            if (query.offsets != nullptr) return model_->times(queries);  // the caller fits by itself
        const std::vector<std::size_t> missing = cache_.find(queries, out);
        if (missing.empty()) return out;
        std::vector<OperatorQuery> asked;
        std::vector<const FittedGroup*> fits;
        asked.reserve(missing.size());
        fits.reserve(missing.size());
        for (const std::size_t i : missing) {
            asked.push_back(queries[i]);
            fits.push_back(find(queries[i]));
            if (fits.back() != nullptr) asked.back().offsets = &fits.back()->offsets;
        }
        auto fresh = model_->times(asked);
        if (!fresh) return fresh;
        for (std::size_t n = 0; n < missing.size(); ++n) {
            OperatorTime& time = (*fresh)[n];
            if (fits[n] != nullptr) time.median_s *= std::exp(fits[n]->residual.at(*asked[n].op, time.median_s));
            if (time.doubts.unseen_gpu && is_measured(*asked[n].device)) {
                time.doubts.unseen_gpu = false;
                time.doubts.left_calls = fits[n] == nullptr && was_left_out(asked[n]);
                time.doubts.unseen_calls = !time.doubts.left_calls;
            }
            out[missing[n]] = time;
        }
        cache_.insert(queries, out, missing);
        return out;
    }
    std::string by() const override { return model_->by(); }
    std::string weights_id() const override { return model_->weights_id() + "+" + refined_.id; }

private:
    bool is_measured(const Device& device) const {
        return std::any_of(refined_.groups.begin(), refined_.groups.end(),
                           [&](const RefinedGroup& group) { return group.gpu == device.name; });
    }

    static bool excepts(const RefinedGroup& refined, OperatorKind kind) {
        return std::find(refined.except.begin(), refined.except.end(), kind) != refined.except.end();
    }

    const FittedGroup* find(const OperatorQuery& query) const {
        const RefinedGroup* found = nullptr;
        for (const RefinedGroup& refined : refined_.groups) {
            if (refined.gpu != query.device->name) continue;
            const auto group = group_of(*query.op, *query.device, query.clock);
            if (!group) return nullptr;
            if (refined.group == *group && !excepts(refined, query.op->kind)) found = &refined;
        }
        return found == nullptr ? nullptr : &found->fit;
    }

    // Of a call that `find` finds no fit for: was its kind measured beside others of its group?
    bool was_left_out(const OperatorQuery& query) const {
        const auto group = group_of(*query.op, *query.device, query.clock);
        return group && std::any_of(refined_.groups.begin(), refined_.groups.end(), [&](const RefinedGroup& refined) {
                   return refined.gpu == query.device->name && refined.group == *group &&
                          excepts(refined, query.op->kind);
               });
    }

    std::unique_ptr<LayerTimeModel> model_;
    RefinedOperators refined_;
    mutable TimeCache cache_;
};

}  // namespace

std::unique_ptr<LayerTimeModel> refine_model(std::unique_ptr<LayerTimeModel> model, RefinedOperators refined) {
    return std::make_unique<RefinedModel>(std::move(model), std::move(refined));
}

Result<std::unique_ptr<LayerTimeModel>> open_refined_model(const std::string& module_path,
                                                           const std::string& weights_dir) {
    auto model = open_torch_model(module_path, weights_dir);
    if (!model) return model;
    const std::string path = weights_dir + "/" + refined_operators_file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return model;
    const auto text = read_file(path, max_bytes);
    if (!text) return unavailable(text.error().message);
    auto refined = parse_refined_operators(*text, path);
    if (!refined) return unavailable(refined.error().message);
    return refine_model(std::move(*model), std::move(*refined));
}

}  // namespace dlcast
