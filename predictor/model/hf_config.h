// SPDX-License-Identifier: GPL-2.0-or-later
// Hugging Face config.json, by its model_type.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/model/builder.h"
#include "predictor/model/hf_defaults.h"
#include "predictor/model/image_sides.h"
#include "predictor/model/zoo.h"

namespace dlcast {

/// The members of a config that a forecast needs, in their order; the others are dropped.
Value keep_hf_keys(const Value& config);

/// Builds the model of a config. Errors: an unknown model_type (with those known), a missing or impossible size.
Result<ModelSpec> build_hf_model(const Value& config, const std::string& source, const std::string& name,
                                 const BuildOptions& options, std::vector<std::string>& assumed);

/// Model types that build_hf_model knows.
std::vector<std::string> hf_model_types();

/// What a family's builder reads and writes. Sizes are read by any of several names, as families differ; a fault is
/// kept.
class HfConfig {
public:
    HfConfig(const Value& config, std::string source, const BuildOptions& options, std::vector<std::string>& assumed);

    /// Required, 1 to 10^7 (positions 10^9); 1 where it is missing, and the fault is kept.
    std::int64_t size(std::initializer_list<const char*> names);
    /// Here and below: where the config is silent the value that the family has in transformers, named in `assumed`
    /// where it is another than `standard`; else `standard`.
    std::int64_t size_or(std::initializer_list<const char*> names, std::int64_t standard);
    /// Of a classifier: the data set's classes, else the config's labels, else `standard`.
    std::int64_t labels(std::int64_t standard);
    /// Tokens that each layer's tokens attend to by "attention_window", one number or a list of them: themselves and
    /// half of it on each side. Refused: a list of another length.
    std::vector<std::int64_t> windows(std::int64_t layers);
    bool flag_or(const char* name, bool standard);
    std::string text_or(std::initializer_list<const char*> names, const std::string& standard);
    double number_or(const char* name, double standard);
    /// Whole numbers of at least `least`.
    std::optional<std::vector<std::int64_t>> list(const char* name, std::int64_t least = 1);
    std::optional<std::vector<std::string>> texts(const char* name);
    /// Of the few keys whose null is no silence.
    bool says_null(const char* name) const;
    const Value* value(const char* name) { return has(name) ? reader_.value(name) : nullptr; }
    /// A whole number inside the object `object`.
    std::int64_t nested_or(const char* object, const char* name, std::int64_t standard);
    std::string nested_text_or(const char* object, const char* name, const std::string& standard);
    /// Height and width: one number for both, or a list of the two. `object`: inside it; nullptr: at the top.
    ImageSides sides_or(const char* object, const char* name, std::int64_t standard);
    /// Any of `architectures` ends with `suffix` ("ForQuestionAnswering").
    bool is_for(const std::string& suffix);
    /// What the head is for: as stated, else by `architectures`: "classification", "token_classification",
    /// "question_answering"; "" where neither says.
    std::string head_task();

    /// Tokens of a sample: as stated, else min(positions, 1024), named in `assumed`.
    std::int64_t tokens(std::int64_t positions);
    /// Rows of a learned position table, which holds at least the sample.
    std::int64_t position_rows(std::int64_t positions, std::int64_t tokens);
    /// Attention by one fused kernel: as the config says, else by the software, else `standard`.
    bool fused(bool standard);

    void fail(const std::string& text) { reader_.fail("model_type", text); }
    void fail_at(const char* key, const std::string& text) { reader_.fail(key, text); }
    bool failed() const { return reader_.failed(); }
    Status finish() { return reader_.finish(); }
    /// Names in `assumed` the keys that change a network and that were not asked for, where they say something else
    /// than what was computed with; of an unknown family all that may.
    void name_what_is_left_out();

    const BuildOptions& options;
    std::vector<std::string>& assumed;
    std::string family;
    bool guessed = false;  // the nearest design to an unknown family

private:
    bool has(const char* name);
    /// Of the family's configuration class, where the config has none of `names`.
    const ClassDefault* default_of(std::initializer_list<const char*> names) const;
    void assume_default(const char* key, const std::string& value);

    const Value& config_;
    ObjectReader reader_;
    std::set<std::string_view> asked_;
};

/// Families. Each appends its layers to `b`, which starts with one sample's token ids, [tokens].
struct HfFamily {
    const char* model_type;
    Result<ModelSpec> (*build)(HfConfig& config, const std::string& name);
};
Result<ModelSpec> build_transfo_xl(HfConfig& config, const std::string& name);
const std::vector<HfFamily>& relative_encoder_families();
const std::vector<HfFamily>& audio_families();
const std::vector<HfFamily>& detection_families();
const std::vector<HfFamily>& diffusion_families();
const std::vector<HfFamily>& encoder_families();
const std::vector<HfFamily>& decoder_families();
const std::vector<HfFamily>& encoder_decoder_families();
const std::vector<HfFamily>& vision_families();

}  // namespace dlcast
