// SPDX-License-Identifier: GPL-2.0-or-later
// Which layers of a Keras model are computed, how often, and what they share.
#include <fmt/format.h>

#include <algorithm>

#include "keras_writer.h"
#include "model_test_support.h"

using namespace dlcast;
using namespace keras_writer;

TEST_CASE("a Keras layer that is called twice computes twice and learns once", "[model][keras]") {
    const auto w =
        good_workload(functional({input("in", "16"), layer("Dense", "a", R"("units": 16)", reads({"in", "a"})),
                                  layer("Dense", "b", R"("units": 4)", reads({"a@1"}))},
                                 R"(, "output_layers": [["b", 0, 0]])"));
    CHECK(w.model.parameters == 272 + 68);
    CHECK(w.model.trainable_parameters == 272 + 68);
    CHECK(forward_flops(w.model) == 2.0 * 2 * 16 * 16 + 2.0 * 16 * 4);
    CHECK(layer_named(w, "a:2").tied);
    CHECK_FALSE(layer_named(w, "a").tied);
}

// Two images through one tower of 3 x 3 x 3 x 8 + 8 = 224 parameters, joined: 16 x 2 + 2 = 34. 8 x 8 places, 2 x 27 x 8
// FLOPs at each, twice. In Keras 2's form, which counts the calls of a model from 1 on, and in Keras 3's with the tower
// a Sequential.
TEST_CASE("the towers of a siamese network share their weights and are computed for each input", "[model][keras]") {
    const std::string conv = R"("filters": 8, "kernel_size": [3, 3], "padding": "same")";
    const std::string inside = input("x", "8, 8, 3") + "," + layer("Conv2D", "c", conv, reads({"x"})) + "," +
                               layer("GlobalAveragePooling2D", "g", "", reads({"c"}));
    const std::string tower2 =
        R"({"class_name": "Functional", "name": "tower", "config": {"name": "tower", "layers": [)" + inside +
        R"(], "input_layers": [["x", 0, 0]], "output_layers": [["g", 0, 0]]}, "inbound_nodes": )" +
        reads({"left", "right"}) + "}";
    const std::string history =
        R"({{"class_name": "__keras_tensor__", "config": {{"shape": [null, {}], "keras_history": ["{}", {}, 0]}}}})";
    const auto node3 = [&](const std::string& tensors) { return "{\"args\": [" + tensors + "], \"kwargs\": {}}"; };
    const auto tensor = [&](const std::string& name, int call) {
        const char* shape = name == "tower" ? "8" : name == "join" ? "16" : "8, 8, 3";
        return fmt::format(fmt::runtime(history), shape, name, call);
    };
    const std::string tower3 =
        R"({"class_name": "Sequential", "module": "keras", "name": "tower", "config": {"name": "tower", "layers": [)" +
        input("x", "8, 8, 3") + "," + layer("Conv2D", "c", conv) + "," + layer("GlobalAveragePooling2D", "g", "") +
        R"(]}, "inbound_nodes": [)" + node3(tensor("left", 0)) + "," + node3(tensor("right", 0)) + "]}";
    const std::string old = functional({input("left", "8, 8, 3"), input("right", "8, 8, 3"), tower2,
                                        layer("Concatenate", "join", "", reads({"tower@1+tower@2"})),
                                        layer("Dense", "fc", R"("units": 2)", reads({"join"}))},
                                       R"(, "output_layers": [["fc", 0, 0]])");
    const std::string fresh =
        functional({input("left", "8, 8, 3"), input("right", "8, 8, 3"), tower3,
                    layer("Concatenate", "join", R"("axis": -1)",
                          "[" + node3("[" + tensor("tower", 0) + "," + tensor("tower", 1) + "]") + "]"),
                    layer("Dense", "fc", R"("units": 2)", "[" + node3(tensor("join", 0)) + "]")},
                   R"(, "output_layers": ["fc", 0, 0])");
    for (const std::string& file : {old, fresh}) {
        const auto w = good_workload(file);
        CHECK(w.model.parameters == 224 + 34);
        CHECK(forward_flops(w.model) == 2.0 * 64 * 2 * 27 * 8 + 2.0 * 16 * 2);
        CHECK(layer_named(w, "tower:2/c").tied);
        CHECK(layer_named(w, "fc").input == Shape{16});
        CHECK(std::count(w.assumed.begin(), w.assumed.end(), "input right is read beside the first one") == 1);
    }
}

TEST_CASE("what leads to no output of a Keras model is left out, and said so", "[model][keras]") {
    const auto w =
        good_workload(functional({input("in", "16"), layer("Dense", "a", R"("units": 16)", reads({"in", "b"})),
                                  layer("Dense", "b", R"("units": 16)", reads({"in"}))},
                                 R"(, "output_layers": [["a", 0, 0]])"));
    CHECK(w.model.parameters == 272);
    CHECK(forward_flops(w.model) == 2.0 * 16 * 16);
    CHECK(std::count(w.assumed.begin(), w.assumed.end(), "1 layer that leads to no output left out: b") == 1);
}

// Twenty models, one in the other, each called twice: a million calls.
TEST_CASE("Keras models that multiply inside each other are refused in time", "[model][keras][bad]") {
    std::string inner = functional({input("i", "8"), layer("Dense", "d", R"("units": 8)", reads({"i"}))});
    for (int i = 0; i < 18; ++i)
        inner =
            functional({input("i", "8"), inner.substr(0, inner.size() - 1) +
                                             fmt::format(R"(, "name": "n", "inbound_nodes": {}}})", reads({"i", "n"}))},
                       R"(, "output_layers": [["n", 1, 0]])");
    CHECK_THAT(error_of(inner),
               Catch::Contains("more than 100000 calls of layers") || Catch::Contains("nested deeper"));
}
