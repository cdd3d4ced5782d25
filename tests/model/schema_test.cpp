// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON Schema for editors says what the readers take: neither more keys nor fewer.
#include <algorithm>
#include <set>

#include "model_test_support.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/model/training.h"
#include "predictor/model/written.h"

using namespace dlcast;

namespace {

Value schema() {
    const auto text = read_file(DLCAST_SOURCE_DIR "/etc/schema/model.schema.json", 1 << 20);
    if (!text) FAIL(text.error().message);
    auto tree = parse_json(*text, "model.schema.json");
    if (!tree) FAIL(tree.error().message);
    return *tree;
}

const Value& definition(const Value& schema, const char* name) { return *schema.find("$defs")->find(name); }

std::set<std::string> words(const Value& list) {
    std::set<std::string> out;
    for (const Value& word : list.as_array()) out.insert(word.as_string());
    return out;
}

}  // namespace

TEST_CASE("every example in the schema is read", "[model][schema]") {
    const Value tree = schema();
    for (const char* part : {"training", "dataset"})
        for (const Value::Member& property : definition(tree, part).find("properties")->as_object()) {
            REQUIRE(property.value.find("examples"));
            for (const Value& example : property.value.find("examples")->as_array()) {
                Value declared = Value::object();
                declared.set("model", "bert-tiny");
                Value& stated = declared.set(part, Value::object());
                stated.set(property.key, example);
                if (property.key == "micro_batch") {  // it divides the batch of all GPUs
                    stated.set("batch_size", 64);
                    stated.set("batch_per", "global");
                }
                const std::string json = write_json(declared);
                INFO(json);
                CHECK(error_of(json).empty());
            }
        }
}

TEST_CASE("the schema lists the words that the readers know", "[model][schema]") {
    const Value tree = schema();
    const auto known = [](const std::vector<std::string>& names) {
        return std::set<std::string>(names.begin(), names.end());
    };
    CHECK(words(*definition(tree, "layer").find("properties")->find("type")->find("enum")) ==
          known(layer_type_names()));
    const Value& training = *definition(tree, "training").find("properties");
    CHECK(words(*training.find("task")->find("enum")) == known(task_names()));
    for (const std::string& name : words(*training.find("precision")->find("enum"))) CHECK(precision_from(name));
    for (const std::string& name : words(*training.find("optimizer")->find("enum"))) CHECK(optimizer_from(name));
}

TEST_CASE("a key outside of the schema is outside of the reader", "[model][schema]") {
    const Value tree = schema();
    CHECK_FALSE(definition(tree, "training").find("properties")->find("epoch"));
    CHECK_THAT(error_of(R"({"model": "bert-tiny", "training": {"epoch": 1}})"), Catch::Contains("did you mean"));
}
