// SPDX-License-Identifier: GPL-2.0-or-later
// From what the user names (zoo name, file, directory, payload) to one self-contained dlcast JSON object.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "predictor/base/json.h"
#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/tree_memory.h"
#include "predictor/base/utf8.h"
#include "predictor/model/formats.h"
#include "predictor/model/onnx.h"
#include "predictor/model/onnx_wire.h"
#include "predictor/model/training_file.h"
#include "predictor/model/workload.h"
#include "predictor/model/zoo.h"

namespace dlcast {
namespace {

constexpr std::size_t most_payload_bytes = 64 * 1024;
constexpr int most_references = 8;  // files that name files
constexpr std::size_t longest_shown_name = 200;

enum class PathKind { none, file, directory };

// A link that leads nowhere or in a circle, and what may not be looked at, are files: reading them tells why.
PathKind path_kind(const std::string& path) {
    struct stat facts {};
    if (path.empty() || path.find('\0') != std::string::npos) return PathKind::none;
    if (::stat(path.c_str(), &facts) == 0) return S_ISDIR(facts.st_mode) ? PathKind::directory : PathKind::file;
    const bool absent = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    return absent && ::lstat(path.c_str(), &facts) != 0 ? PathKind::none : PathKind::file;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string base_name(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    if (name == "config.json") {
        const std::string folder = folder_of(path);
        if (folder.size() > 1) name = base_name(folder.substr(0, folder.size() - 1)) + "/config.json";
    }
    return name;
}

// Nobody means a model of the zoo by these, though names of the hub have a '/' too.
bool is_path(const std::string& name) {
    return name.starts_with('/') || name.starts_with("./") || name.starts_with("../");
}

std::string near_hint(const std::string& name) {
    const std::string near = nearest_name(name.substr(name.rfind('/') + 1), zoo_names());
    return near.empty()
               ? std::string("name a file, or a model of the zoo (resnet50, gpt2, ...; all: dlcast predict --list)")
               : fmt::format("did you mean \"{}\"? (all: dlcast predict --list)", near);
}

Result<Declaration> read_path(const std::string& path, int depth, const OpenSizes& sizes);

// A path inside a file, relative to that file's folder.
std::string beside(const std::string& folder, std::string_view name) {
    while (name.starts_with("./")) name.remove_prefix(2);
    return name.starts_with('/') ? std::string(name) : fmt::format("{}{}", folder, name);
}

// The member "model" with a file's name in it is replaced by that file's model.
Status resolve_reference(Declaration& declaration, const std::string& folder, int depth, const OpenSizes& sizes) {
    Value* model = declaration.value.find("model");
    if (!model || !model->is_string()) return ok();
    const std::string name = model->as_string();
    const std::string path = beside(folder, name);
    if (path_kind(path) == PathKind::none) {
        if (!is_path(name) && find_zoo_name(name)) return ok();
        return not_found(at_place(
            declaration.source, model->at,
            fmt::format("no file and no known model \"{}\"; {}", one_line(name, longest_shown_name), near_hint(name))));
    }
    if (depth >= most_references)
        return invalid_argument(
            at_place(declaration.source, model->at, "files refer to each other; name one that holds layers"));
    auto inner = read_path(path, depth + 1, with_training_sizes(sizes, declaration.value.find("training")));
    if (!inner) return inner.error();
    // What the inner file says beside its model stands where this one is silent.
    for (const Value::Member& member : inner->value.as_object()) {
        if (member.key != "model" && declaration.value.find(member.key)) continue;
        declaration.value.set(member.key, member.value);
        declaration.other_sources[member.key] = inner->source_of(member.key);
    }
    return ok();
}

void set_places(Value& value, Position at) {
    value.at = at;
    if (value.is_array())
        for (Value& element : value.as_array()) set_places(element, at);
    if (value.is_object())
        for (Value::Member& member : value.as_object()) set_places(member.value, at);
}

// Of a training in a file of its own. Others of these tools write YAML.
Status check_is_json_training(const std::string& text, const std::string& source) {
    const auto start = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (start == std::string::npos || text[start] == '{' || text[start] == '[') return ok();
    return invalid_argument(at_place(
        source, {1, 1},
        "no JSON object; convert YAML by python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), "
        "sys.stdout)' < FILE.yaml > FILE.json"));
}

// The path of a DeepSpeed configuration, as in the Trainer's "deepspeed": "ds_config.json", is replaced by that file's
// object. A tree has places of one file: faults
// are told with those of this one, what is read with the place that names it.
Status resolve_path(Value* object, const char* key, const std::string& source, const std::string& folder) {
    Value* named = object ? object->find(key) : nullptr;
    if (!named || !named->is_string() || to_lower(named->as_string()) == "auto") return ok();
    const std::string path = beside(folder, named->as_string());
    const JsonLimits limits;
    auto text = read_file(path, limits.bytes);
    if (!text)
        return invalid_argument(
            at_place(source, named->at,
                     fmt::format("{}: {}; write its path from the folder of this file", key, text.error().message)));
    const std::string inner_source = one_line(path, longest_shown_name);
    if (auto s = check_is_json_training(*text, inner_source); !s) return s;
    auto inner = parse_json(*text, inner_source, limits);
    if (!inner) return inner.error();
    if (!inner->is_object())
        return invalid_argument(at_place(inner_source, inner->at, "a training should be an object"));
    if (auto own = to_dlcast_training(*inner, inner_source); !own) return own.error();
    set_places(*inner, named->at);
    *named = std::move(*inner);
    return ok();
}

// The Trainer's key, and accelerate's.
Status resolve_deepspeed(Value* training, const std::string& source, const std::string& folder) {
    if (auto s = resolve_path(training, "deepspeed", source, folder); !s) return s;
    Value* accelerate = training ? training->find("deepspeed_config") : nullptr;
    if (accelerate && accelerate->is_object()) return resolve_path(accelerate, "deepspeed_config_file", source, folder);
    return ok();
}

// "training": "ds_config.json": the file's, in dlcast's keys.
Status resolve_training(Declaration& declaration, const std::string& folder) {
    Value* training = declaration.value.find("training");
    if (!training || !training->is_string()) return ok();
    const std::string path = beside(folder, training->as_string());
    const std::string source = one_line(path, longest_shown_name);
    const JsonLimits limits;
    auto text = read_file(path, limits.bytes);
    if (!text) return invalid_argument(at_place(declaration.source, training->at, text.error().message));
    if (auto s = check_is_json_training(*text, source); !s) return s;
    auto tree = parse_json(*text, source, limits);
    if (!tree) return tree.error();
    if (!tree->is_object()) return invalid_argument(at_place(source, tree->at, "a training should be an object"));
    if (auto s = resolve_deepspeed(&*tree, source, folder_of(path)); !s) return s;
    auto own = is_foreign_training(*tree) ? to_dlcast_training(*tree, source) : Result<Value>(std::move(*tree));
    if (!own) return own.error();
    *training = std::move(*own);
    declaration.other_sources["training"] = source;
    return ok();
}

// A model without a name of its own takes its file's: Llama-3.2-1B of Llama-3.2-1B/config.json.
void name_model(Declaration& declaration) {
    Value* model = declaration.value.find("model");
    if (!model || !model->is_object() || model->find("name")) return;
    std::string name = base_name(declaration.source);
    for (const char* ending : {"/config.json", ".json", ".onnx"})
        if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    model->set("name", name);
}

// Enough to tell what kind of file it is, however large.
std::string start_of(const std::string& path) {
    constexpr std::size_t enough = 256;
    auto stream = ByteStream::open(path);
    std::string start;
    for (int byte = 0; stream && start.size() < enough && (byte = stream->get()) >= 0;)
        start += static_cast<char>(byte);
    return start;
}

Result<Declaration> read_onnx_file(const std::string& path, const std::string& source, const OpenSizes& sizes) {
    auto stream = ByteStream::open(path);
    if (!stream) return stream.error();
    auto model = onnx_to_written(*stream, source, sizes);
    if (!model) return model.error();
    Declaration declaration;
    declaration.source = source;
    declaration.value.set("model", std::move(*model));
    name_model(declaration);
    return declaration;
}

// The start of a file on one line, for messages; other bytes than text are not shown.
std::string quoted_start(const std::string& line) {
    constexpr std::size_t longest_start = 24;
    const std::string start = one_line(line, longest_start);
    std::size_t at = 0, length = 0;
    while ((length = utf8_sequence(std::string_view(start).substr(at))) > 0) at += length;
    return at > 0 && at == start.size() ? fmt::format("\"{}\"", start) : "bytes that are no text";
}

// What to do with files that people name in place of a model's description; "" for others.
std::string remedy_for(const std::string& source, const std::string& text) {
    const std::string name = to_lower(source);
    const auto ends = [&](std::initializer_list<const char*> endings) {
        return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return name.ends_with(ending); });
    };
    if (text.starts_with("\"{"))
        return "it holds JSON inside a string; write model.to_json() as it is, without json.dump around it";
    if (ends({".py", ".pt", ".pth", ".ckpt"})) return "dump the PyTorch module with contrib/torch_export.py";
    if (ends({".safetensors", ".bin"})) return "it holds weights; name the config.json beside it";
    if (ends({".h5", ".keras", ".hdf5", ".pb"})) return "write the Keras model's model.to_json() into a file";
    if (ends({".yaml", ".yml"})) return "YAML is not read; convert it to JSON";
    return "";
}

// JSON begins with an object; what begins otherwise is told what would be read. Nothing at all, and comments that
// somebody put before the object, the parser names.
Status check_is_json(const std::string& text, const std::string& source) {
    const std::string remedy = remedy_for(source, text);
    const auto start = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (start == std::string::npos || text[start] == '{' || text[start] == '[' || text[start] == '/') return ok();
    const std::string first = text.substr(start, text.find_first_of("\r\n", start) - start);
    return invalid_argument(at_place(
        source, {1, 1},
        fmt::format("no model file: it starts with {}; {}", quoted_start(first),
                    remedy.empty() ? "dlcast reads JSON (its own, Hugging Face's config.json, Keras's, DeepSpeed's "
                                     "beside a model) and ONNX"
                                   : remedy)));
}

Result<Declaration> read_path(const std::string& path, int depth, const OpenSizes& sizes) {
    if (path_kind(path) == PathKind::directory) {
        const std::string inside = path + (path.ends_with('/') ? "" : "/") + "config.json";
        if (path_kind(inside) != PathKind::file)
            return invalid_argument(fmt::format("'{}' is a directory without config.json; name a model file", path));
        return read_path(inside, depth, sizes);
    }
    const std::string source = one_line(path, longest_shown_name);
    const std::string start = start_of(path);
    if (looks_like_onnx(start)) return read_onnx_file(path, source, sizes);
    if (auto s = check_is_json(start, source); !s) return s.error();
    const JsonLimits limits;
    auto text = read_file(path, limits.bytes);
    if (!text) return text.error();
    const TreeRoom room(text->size());
    auto tree = parse_json(*text, source, limits);
    if (!tree) return tree.error();
    if (auto s = resolve_deepspeed(tree->find("training"), source, folder_of(path)); !s) return s.error();
    auto value = to_dlcast_json(std::move(*tree), source, sizes);
    if (!value) return value.error();
    Declaration declaration{std::move(*value), source};
    name_model(declaration);
    if (auto s = resolve_training(declaration, folder_of(path)); !s) return s.error();
    if (auto s = resolve_reference(declaration, folder_of(path), depth, sizes); !s) return s.error();
    return declaration;
}

Result<Declaration> read_argument(const std::string& argument, const OpenSizes& sizes) {
    if (argument.empty()) return invalid_argument("no model named; name a file or a model of the zoo");
    if (path_kind(argument) != PathKind::none) return read_path(argument, 0, sizes);
    if (const auto name = is_path(argument) ? std::nullopt : find_zoo_name(argument)) {
        Declaration declaration;
        declaration.value.set("model", *name);
        declaration.source = *name;
        return declaration;
    }
    return not_found(fmt::format("no file and no known model '{}'; {}", one_line(argument, longest_shown_name),
                                 near_hint(argument)));
}

// Of the options, then of the assignments, the last one first: they are written one over the other.
OpenSizes stated_sizes(const WorkloadOverrides& overrides) {
    OpenSizes sizes{overrides.seq_len.value_or(0), overrides.image_size.value_or(0)};
    for (auto set = overrides.set.rbegin(); set != overrides.set.rend(); ++set)
        for (const char* key : {"seq_len", "image_size"}) {
            const std::string start = fmt::format("training.{}=", key);
            if (!set->starts_with(start)) continue;
            Value training = Value::object();
            if (auto size = parse_json(set->substr(start.size()), *set)) training.set(key, std::move(*size));
            sizes = with_training_sizes(sizes, &training);
        }
    return sizes;
}

}  // namespace

Result<Declaration> read_model_argument(const std::string& argument) { return read_argument(argument, {}); }

Result<Declaration> read_model_argument(const std::string& argument, const WorkloadOverrides& overrides) {
    return read_argument(argument, stated_sizes(overrides));
}

Result<std::string> to_payload(const Declaration& declaration) {
    if (auto text = write_json_within(declaration.value, most_payload_bytes)) return std::move(*text);
    return invalid_argument(
        fmt::format("{}: the description takes more than the {} bytes that travel with a job; write repeated layers "
                    "with \"repeat\"",
                    declaration.source, most_payload_bytes));
}

Result<Declaration> parse_payload(std::string_view payload) {
    JsonLimits limits;
    limits.bytes = most_payload_bytes;
    const std::string source = "model description";
    auto tree = parse_json(payload, source, limits);
    if (!tree) return tree.error();
    auto value = to_dlcast_json(std::move(*tree), source);
    if (!value) return value.error();
    const Value* model = value->find("model");
    if (model->is_string() && !find_zoo_name(model->as_string()))
        return not_found(
            at_place(source, model->at,
                     fmt::format("no known model \"{}\"; {}", one_line(model->as_string(), longest_shown_name),
                                 near_hint(model->as_string()))));
    return Declaration{std::move(*value), source};
}

}  // namespace dlcast
