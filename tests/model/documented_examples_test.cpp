// SPDX-License-Identifier: GPL-2.0-or-later
// Every example of docs/model-json.md is what a reader may copy.
#include <map>

#include "model_test_support.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/model/complete.h"
#include "predictor/model/overrides.h"
#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

std::string page() {
    const auto text = read_file(DLCAST_SOURCE_DIR "/docs/model-json.md", 1 << 20);
    if (!text) FAIL(text.error().message);
    return *text;
}

// What stands between ``` and ```, by the word behind the first.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
    std::vector<std::string> out;
    const std::string fence = "\n```";
    for (std::size_t at = text.find(fence); at != std::string::npos;) {
        const std::size_t start = text.find('\n', at + 1), end = text.find(fence, start);
        REQUIRE(end != std::string::npos);
        if (text.substr(at + fence.size(), start - at - fence.size()) == language)
            out.push_back(text.substr(start + 1, end - start));
        at = text.find(fence, end + 1);
    }
    return out;
}

// The objects that stand in `text` one after the other.
std::vector<std::string> objects(const std::string& text) {
    std::vector<std::string> out;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0, start = 0; i < text.size(); ++i) {
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
        if (quoted) continue;
        if (text[i] == '{' && depth++ == 0) start = i;
        if (text[i] == '}' && --depth == 0) out.push_back(text.substr(start, i + 1 - start));
    }
    return out;
}

// The files that examples name: meta-llama/Llama-3.2-1B's config.json and a configuration of DeepSpeed.
void write_named_files(const ScratchFolder& folder) {
    folder.write("Llama-3.2-1B/config.json",
                 R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
                     "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256,
                     "max_position_embeddings": 131072, "tie_word_embeddings": true})");
    folder.write("ds_config.json", R"({"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": 3}})");
}

}  // namespace

TEST_CASE("every JSON example of the page on models imports and comes back as itself", "[model][documentation]") {
    const ScratchFolder folder;
    write_named_files(folder);
    std::size_t count = 0;
    for (const std::string& block : blocks(page(), "json"))
        for (const std::string& example : objects(block)) {
            CAPTURE(example);
            const auto declaration = read_model_argument(folder.write("example.json", example));
            if (!declaration) FAIL(declaration.error().message);
            const auto workload = to_workload(*declaration);
            if (!workload) FAIL(workload.error().message);
            CHECK(workload->warnings.empty());
            CHECK(to_payload(*declaration));
            const std::string text = write_json(complete(*declaration, *workload));
            const auto again = parse_payload(text);
            if (!again) FAIL(again.error().message);
            CHECK(write_json(complete(*again, *to_workload(*again))) == text);
            ++count;
        }
    CHECK(count >= 12);
}

TEST_CASE("every name and training on a command line of the page is read", "[model][documentation]") {
    const std::string text = page();
    std::size_t models = 0, trainings = 0;
    std::string model;
    for (const std::string& block : blocks(text, ""))
        for (const std::string& line : split(block, '\n')) {
            CAPTURE(line);
            if (const auto at = line.find("--dl-model="); at != std::string::npos) {
                model = line.substr(at + 11);
                CHECK(read_model_argument(model));
                ++models;
            }
            if (const auto at = line.find("--dl-train="); at != std::string::npos) {
                const auto declaration = with_training(*read_model_argument(model), line.substr(at + 11), "--dl-train");
                if (!declaration) FAIL(declaration.error().message);
                CHECK(to_workload(*declaration));
                ++trainings;
            }
        }
    CHECK(models >= 3);
    CHECK(trainings >= 1);
}
