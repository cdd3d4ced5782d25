// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "model_test_support.h"

using namespace dlcast;
namespace fs = std::filesystem;

namespace {

class Scratch {
public:
    Scratch() : path_(fs::temp_directory_path() / ("dlcast_model_" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
    }
    ~Scratch() { fs::remove_all(path_); }
    std::string file(const std::string& name, const std::string& text) const {
        const auto path = path_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    std::string path() const { return path_; }

private:
    fs::path path_;
};

std::string read_error(const std::string& path) {
    const auto declaration = read_model_argument(path);
    return declaration ? "" : declaration.error().message;
}

}  // namespace

TEST_CASE("files that hold no model are refused with the reason", "[model][bad]") {
    const Scratch scratch;
    CHECK_THAT(read_error(scratch.file("empty.json", "")), Catch::Contains("empty.json: empty"));
    CHECK_THAT(read_error(scratch.file("text.json", "hello")), Catch::Contains("text.json:1:1"));
    CHECK_THAT(read_error(scratch.file("latin1.json", "{\"model\": \"\xe9\"}")), Catch::Contains("UTF-8"));
    CHECK_THAT(read_error(scratch.file("deep.json", std::string(10'000, '[') + std::string(10'000, ']'))),
               Catch::Contains("nested deeper than 64"));
    CHECK_THAT(read_error(scratch.file("twice.json", R"({"model": "vgg16", "model": "vgg11"})")),
               Catch::Contains("stands twice"));
    CHECK_THAT(read_error(scratch.file("large.json", std::string(2 << 20, ' '))),
               Catch::Contains("larger than 1048576 bytes"));
    CHECK_THAT(read_error(scratch.file("other.json", R"({"weights": 1})")),
               Catch::Contains("no known form of model file"));
    CHECK_THAT(read_error(scratch.file("array.json", "[1]")), Catch::Contains("no known form of model file"));
    CHECK_THAT(read_error(scratch.path()), Catch::Contains("is a directory without config.json"));
    CHECK_THAT(read_error("no_such_model"), Catch::Contains("no file and no known model 'no_such_model'"));
    CHECK_THAT(read_error(""), Catch::Contains("no model named"));
    CHECK_THAT(read_error("/dev/null"), Catch::Contains("no regular file"));
}

TEST_CASE("a file of another kind is told what is read", "[model][bad]") {
    const Scratch scratch;
    const std::string readme = scratch.file("README.md", "# dlcast\n\nForecasts.");
    CHECK(read_error(readme) ==
          readme +
              ":1:1: no model file: it starts with \"# dlcast\"; dlcast reads JSON (its own, Hugging Face's "
              "config.json, Keras's, DeepSpeed's beside a model) and ONNX");
    CHECK_THAT(read_error(scratch.file("train.py", "import torch")), Catch::Contains("starts with \"import torch\""));
    CHECK_THAT(
        read_error(scratch.file("large.onnx", std::string(1 << 21, '\xAB'))),
        Catch::Contains("large.onnx:1:1: no model file: it starts with bytes that are no text; dlcast reads JSON"));
    // A comment before an object is no other kind.
    CHECK_THAT(read_error(scratch.file("comment.json", "// my net\n{}")), Catch::Contains("a comment; JSON has none"));
}

TEST_CASE("a link in a circle, or to nothing, is told as what it is", "[model][bad]") {
    const Scratch scratch;
    const std::string circle = scratch.path() + "/circle.json", gone = scratch.path() + "/gone.json";
    fs::create_symlink(circle, circle);
    fs::create_symlink(scratch.path() + "/nothing", gone);
    CHECK_THAT(read_error(circle), Catch::Contains("circle.json") && Catch::Contains("symbolic links"));
    CHECK_THAT(read_error(gone), Catch::Contains("gone.json") && Catch::Contains("No such file"));
    CHECK_THAT(read_error(circle + "/model.json"), Catch::Contains("symbolic links"));
}

TEST_CASE("a directory with config.json and a file's reference are followed", "[model]") {
    const Scratch scratch;
    scratch.file(
        "tiny/config.json",
        R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 2, "vocab_size": 100, "eos_token_id": 1})");
    const auto directory = read_model_argument(scratch.path() + "/tiny");
    REQUIRE(directory);
    CHECK(to_workload(*directory)->model.name == "tiny");
    const auto file = scratch.file("job.json", R"({"model": "./tiny/config.json", "training": {"epochs": 2}})");
    const auto declaration = read_model_argument(file);
    REQUIRE(declaration);
    CHECK(to_workload(*declaration)->training.epochs == 2.0);
    CHECK_THAT(*to_payload(*declaration), !Catch::Contains("eos_token_id"));
    const auto self = scratch.file("self.json", R"({"model": "./self.json"})");
    CHECK_THAT(read_error(self), Catch::StartsWith(self + ":1:11: files refer to each other"));
    scratch.file("odd.json", "{\"model\": \"gpt2\",\n \"dataset\": {\"samples\": 0}}");
    const auto outer = read_model_argument(scratch.file("outer.json", R"({"model": "odd.json"})"));
    REQUIRE(outer);
    CHECK_THAT(to_workload(*outer).error().message, Catch::Contains("odd.json:2:25: "));
    CHECK_THAT(read_error(scratch.file("gone.json", "{\"model\":\n \"gone/config.json\"}")),
               Catch::Contains("gone.json:2:2"));
}

TEST_CASE("a path that leads nowhere is no model of the zoo", "[model][bad]") {
    const Scratch scratch;
    for (const char* path : {"./nowhere/gpt2", "/nowhere/resnet50", "../nowhere/gpt2"})
        CHECK_THAT(read_error(path), Catch::Contains("no file"));
    CHECK_THAT(read_error(scratch.file("job.json", R"({"model": "./nowhere/gpt2"})")),
               Catch::Contains("job.json:1:11: no file"));
    CHECK(read_model_argument("openai-community/gpt2"));
}

TEST_CASE("files that hold something else than JSON are told what to do with them", "[model][bad]") {
    const Scratch scratch;
    scratch.file("acc.yaml", "mixed_precision: bf16\n");
    CHECK_THAT(read_error(scratch.file("job.json", R"({"model": "gpt2", "training": "acc.yaml"})")),
               Catch::Contains("acc.yaml:1:1: no JSON object; convert YAML by python3"));
    CHECK_THAT(read_error(scratch.file("net.py", "import torch\n")), Catch::Contains("contrib/torch_export.py"));
    CHECK_THAT(read_error(scratch.file("net.safetensors", "\x10")), Catch::Contains("config.json beside it"));
    CHECK_THAT(read_error(scratch.file("net.h5", "\x89HDF")), Catch::Contains("model.to_json()"));
    CHECK_THAT(read_error(scratch.file("twice.json", R"("{\"class_name\": \"Sequential\"}")")),
               Catch::Contains("JSON inside a string"));
}

TEST_CASE("an existing file wins over a zoo name", "[model]") {
    const Scratch scratch;
    const auto path = scratch.file("vgg16", R"({"model": "vgg11"})");
    const auto declaration = read_model_argument(path);
    REQUIRE(declaration);
    CHECK(to_workload(*declaration)->model.name == "vgg11");
}

TEST_CASE("numbers outside of reason are refused", "[model][bad]") {
    const auto training = [](const std::string& keys) {
        return error_of("{\"model\": \"vgg16\", \"training\": {" + keys + "}}");
    };
    for (const char* keys : {R"("batch_size": 0)",
                             R"("batch_size": 1e300)",
                             R"("batch_size": "32")",
                             R"("batch_size": 1.5)",
                             R"("epochs": -1)",
                             R"("epochs": 1e400)",
                             R"("steps": 0)",
                             R"("parallel": {"tp": 0})",
                             R"("parallel": {"zero": 4})",
                             R"("parallel": 3)",
                             R"("parallel": {"zero": 1, "fsdp": "full"})",
                             R"("image_size": -224)",
                             R"("grad_accum": 99999999999)",
                             R"("checkpoint_minutes": -5)",
                             R"("checkpoint_minutes": 1e-300)",
                             R"("eval_every": "day")",
                             R"("trainable": "lora")",
                             R"("trainable": "lora:r=0")",
                             R"("trainable": "frozen:nothing")",
                             R"("measured": {"gpu": "a100"})",
                             R"("batch_per": "global")"}) {
        INFO(keys);
        CHECK_FALSE(training(keys).empty());
    }
    CHECK_FALSE(error_of(R"({"model": "vgg16", "training": []})").empty());
    CHECK_FALSE(error_of(R"({"model": "vgg16", "dataset": 5})").empty());
    CHECK_FALSE(error_of(R"({"model": 5})").empty());
    CHECK_FALSE(error_of(R"({"model": {"model_type": 5}})").empty());
    CHECK_FALSE(
        error_of(R"({"model": {"model_type": "gpt2", "n_layer": 1e9, "n_embd": 1, "n_head": 1, "vocab_size": 1}})")
            .empty());
    CHECK_FALSE(
        error_of(
            R"({"model": {"model_type": "ssd", "backbone": "resnet50", "feature_maps": [], "feature_channels": [], "boxes_per_cell": []}})")
            .empty());
    CHECK_FALSE(error_of(R"({"class_name": "Sequential", "config": {"layers": [5]}})").empty());
    CHECK_FALSE(error_of(R"({"class_name": "Sequential", "config": 7})").empty());
    CHECK_FALSE(
        error_of(R"({"model_type": "marian", "encoder_layers": 1, "decoder_layers": 1, "d_model": 8, "vocab_size": 9,
                             "encoder_attention_heads": 2, "decoder_attention_heads": 0})")
            .empty());
    CHECK_FALSE(error_of(R"({"layers": {"1": {"type": "Wavelet"}}, "input": {"size": 8}})").empty());
}

TEST_CASE("limits are told with their remedy", "[model][bad]") {
    CHECK(error_of(
              R"({"model": {"model_type": "gpt2", "n_layer": 2222222, "n_embd": 64, "n_head": 2, "vocab_size": 9}})") ==
          "model description:1:45: config: n_layer is 2222222; it should be from 1 to 2048");
    CHECK_THAT(
        error_of(
            R"({"model_type": "swin", "embed_dim": 8, "depths": [9000000, 2], "num_heads": [1, 2], "image_size": 224,
                            "patch_size": 4, "window_size": 7})"),
        Catch::Contains("depths should be an array of whole numbers from 1 to 2048"));
    const auto net = [](const std::string& layer) {
        return error_of(R"({"model": {"input": [3, 8, 8], "layers": [)" + layer + "]}}");
    };
    CHECK_THAT(net(R"({"repeat": 60000, "layers": [{"type": "relu"}, {"type": "relu"}]})"),
               Catch::Contains("more than 100000 layers; lower \"repeat\""));
    CHECK_THAT(net(R"({"type": "upsample", "factor": 1000000000})"), Catch::Contains("lower its factor"));
    CHECK_THAT(net(R"({"type": "linear", "out": 1000000000}, {"type": "linear", "out": 1000000000})"),
               Catch::Contains("more than 1e15 parameters; lower the widths"));
    CHECK_THAT(error_of(R"({"model": {"input": [1000000000, 1000000000, 9], "layers": [{"type": "relu"}]}})"),
               Catch::Contains("write the shape of one sample"));
}

// Grouped-query attention shares each key head among a whole number of heads; a head's width divides the model's.
TEST_CASE("heads and sizes of a config are at least one and divide what they share", "[model][hf][bad]") {
    const auto llama = [](const std::string& more) {
        return error_of(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
            "vocab_size": 100, "intermediate_size": 128, )" +
                        more + "}");
    };
    CHECK(llama(R"("num_key_value_heads": 4)").empty());
    CHECK_THAT(llama(R"("num_key_value_heads": -1)"),
               Catch::Contains("num_key_value_heads is -1; it should be from 1 to"));
    CHECK_THAT(llama(R"("num_key_value_heads": 0)"),
               Catch::Contains("num_key_value_heads is 0; it should be from 1 to"));
    CHECK_THAT(llama(R"("num_key_value_heads": 3)"),
               Catch::Contains("3 key heads do not divide 8 heads; make the heads a multiple of the key heads"));
    CHECK_THAT(llama(R"("num_key_value_heads": 3, "head_dim": 16)"),
               Catch::Contains("3 key heads do not divide 8 heads"));
    CHECK_THAT(llama(R"("num_key_value_heads": 8, "head_dim": -1)"), Catch::Contains("head_dim is -1"));
    const auto gpt2 = [](const std::string& more) {
        return error_of(R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "vocab_size": 9, )" + more + "}");
    };
    CHECK_THAT(gpt2(R"("n_head": 7)"), Catch::Contains("7 heads do not divide a width of 64; make the width"));
    CHECK_THAT(gpt2(R"("n_head": 0)"), Catch::Contains("n_head is 0; it should be from 1 to"));
    CHECK_THAT(gpt2(R"("n_head": 2, "n_inner": -4)"), Catch::Contains("n_inner is -4"));
    CHECK_THAT(gpt2(R"("n_head": 2, "n_positions": -2)"), Catch::Contains("n_positions is -2"));
    const std::map<std::string, std::string> good = {{"hidden_size", "64"},        {"num_hidden_layers", "2"},
                                                     {"num_attention_heads", "8"}, {"vocab_size", "100"},
                                                     {"intermediate_size", "128"}, {"max_position_embeddings", "16"},
                                                     {"type_vocab_size", "2"}};
    const auto bert = [&](const std::string& changed, const std::string& value) {
        std::string text = R"({"model_type": "bert")";
        for (const auto& [key, usual] : good) text += ", \"" + key + "\": " + (key == changed ? value : usual);
        return error_of(text + "}");
    };
    CHECK(bert("", "").empty());
    for (const auto& [key, usual] : good)
        for (const char* value : {"-8", "1.5", "true", "\"many\"", "[]", "99999999999"}) {
            CAPTURE(key, value);
            CHECK_THAT(bert(key, value), Catch::Contains("config: " + key + " is "));
        }
}

TEST_CASE("a payload beyond 64 KiB is refused on both ends", "[model][bad]") {
    const Scratch scratch;
    std::string layers;
    for (int i = 0; i < 3000; ++i) layers += std::string(i ? "," : "") + R"({"type":"linear","out":1000})";
    const auto path = scratch.file("long.json", R"({"model": {"input": [10], "layers": [)" + layers + "]}}");
    const auto declaration = read_model_argument(path);
    REQUIRE(declaration);
    const auto payload = to_payload(*declaration);
    REQUIRE_FALSE(payload);
    CHECK_THAT(payload.error().message, Catch::Contains("\"repeat\""));
    CHECK_FALSE(parse_payload(std::string(65 * 1024, ' ')));
}

TEST_CASE("overrides that make no sense are refused", "[model][bad]") {
    const auto declaration = parse_payload(R"({"model": "vgg16"})");
    REQUIRE(declaration);
    for (const char* assignment :
         {"", "=", "a", "=1", "training..x=1", "model.layers=1", "training.epochs=abc", "training.nothing=1"}) {
        WorkloadOverrides o;
        o.set = {assignment};
        INFO(assignment);
        CHECK_FALSE(to_workload(*declaration, o));
    }
}
