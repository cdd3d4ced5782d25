// SPDX-License-Identifier: GPL-2.0-or-later
// "inbound_nodes" of Keras 2: [[["a", 0, 0, {}]], ..], a name, a call and a tensor, with keywords behind; of Keras 3:
// [{ "args": [..], "kwargs": {..} }, ..] with a keras_history in each tensor. A Sequential has none.
#include "predictor/model/keras_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_shown = 80;

std::string text_of(const Value* v) { return v && v->is_string() ? v->as_string() : ""; }

class GraphReader {
public:
    explicit GraphReader(const std::string& source) : source_(source) {}

    Result<KerasGraph> read(const Value& model, const Value& config) {
        const Value* layers = config.is_array() ? &config : config.find("layers");
        if (!layers || !layers->is_array() || layers->as_array().empty())
            return fault(model, "a Keras model needs \"config\" with \"layers\"");
        const bool sequential = text_of(model.find("class_name")) == "Sequential";
        graph_.layers.reserve(layers->as_array().size());
        by_name_.reserve(layers->as_array().size());
        for (const Value& layer : layers->as_array())
            if (auto s = add(layer); !s) return s.error();
        for (std::size_t i = 0; i < graph_.layers.size(); ++i) read_calls(i, sequential);
        read_ends(config, sequential);
        if (auto s = check_calls(); !s) return s.error();
        if (auto s = set_order(sequential || !config.find("output_layers")); !s) return s.error();
        return std::move(graph_);
    }

private:
    Error fault(const Value& at, const std::string& text) const {
        return invalid_argument(at_place(source_, at.at, text));
    }

    Status add(const Value& layer) {
        KerasEntry entry;
        entry.layer = &layer;
        entry.kind = text_of(layer.find("class_name"));
        entry.config = layer.find("config");
        if (entry.kind.empty() || !entry.config ||
            !(entry.config->is_object() || (is_keras_model(entry.kind) && entry.config->is_array())))
            return fault(layer, "a Keras layer needs \"class_name\" and \"config\"");
        entry.name = text_of(layer.find("name"));
        if (entry.name.empty()) entry.name = text_of(entry.config->find("name"));
        if (entry.name.empty()) entry.name = fmt::format("{}_{}", to_lower(entry.kind), graph_.layers.size() + 1);
        if (!by_name_.emplace(entry.name, graph_.layers.size()).second)
            return fault(layer, fmt::format("two layers are named \"{}\"; give each its own name",
                                            one_line(entry.name, longest_shown)));
        graph_.layers.push_back(std::move(entry));
        return ok();
    }

    void read_calls(std::size_t index, bool sequential) {
        KerasEntry& entry = graph_.layers[index];
        const Value* nodes = sequential ? nullptr : entry.layer->find("inbound_nodes");
        if (nodes && nodes->is_array())
            for (const Value& node : nodes->as_array()) {
                KerasNode call;
                collect(node, "", call);
                entry.calls.push_back(std::move(call));
            }
        if (!entry.calls.empty()) return;
        // A Sequential, or a layer that does not say: it reads the one before.
        KerasNode& call = entry.calls.emplace_back();
        if (index > 0 && entry.kind != "InputLayer")
            call.reads.push_back({index - 1, graph_.layers[index - 1].calls.size() - 1, 0});
    }

    // The tensors inside of `v`; `key`: the keyword they were given by.
    void collect(const Value& v, const std::string& key, KerasNode& call) {
        if (v.is_array()) {
            const Value::Array& parts = v.as_array();
            if (parts.size() >= 3 && parts[0].is_string() && parts[1].is_integer() && parts[2].is_integer()) {
                add_ref(v, key, call);
                if (parts.size() >= 4 && parts[3].is_object()) collect_keywords(parts[3], call);
                return;
            }
            // A constant in the place of a tensor, with tensors among its keywords.
            if (parts.size() >= 4 && parts[0].is_string() && parts[0].as_string() == "_CONSTANT_VALUE") {
                if (parts[3].is_object()) collect_keywords(parts[3], call);
                return;
            }
            for (const Value& part : parts) collect(part, key, call);
        } else if (v.is_object()) {
            const Value* inner = v.find("config");
            if (const Value* history = inner ? inner->find("keras_history") : nullptr)
                return collect_tensor(*history, inner->find("shape"), key, call);
            for (const Value::Member& member : v.as_object()) {
                if (member.key == "kwargs" && member.value.is_object() && key.empty())
                    collect_keywords(member.value, call);
                else
                    collect(member.value, key, call);
            }
        }
    }

    void collect_tensor(const Value& history, const Value* shape, const std::string& key, KerasNode& call) {
        const std::size_t reads = call.reads.size(), named = call.named.size();
        collect(history, key, call);
        for (std::size_t i = reads; i < call.reads.size(); ++i) call.reads[i].shape = shape;
        for (std::size_t i = named; i < call.named.size(); ++i) call.named[i].second.shape = shape;
    }

    void collect_keywords(const Value& keywords, KerasNode& call) {
        if (!call.keywords) call.keywords = &keywords;
        for (const Value::Member& member : keywords.as_object()) collect(member.value, member.key, call);
    }

    void add_ref(const Value& v, const std::string& key, KerasNode& call) {
        const Value::Array& parts = v.as_array();
        // A constant, as Keras 2 writes it among tensors.
        if (parts[0].as_string() == "_CONSTANT_VALUE") return;
        const auto found = by_name_.find(parts[0].as_string());
        if (found == by_name_.end()) {
            std::vector<std::string> known;
            for (const KerasEntry& entry : graph_.layers) known.push_back(entry.name);
            const std::string near = nearest_name(parts[0].as_string(), known);
            return keep_fault(
                v, fmt::format("reads \"{}\", which is no layer of this model{}",
                               one_line(parts[0].as_string(), longest_shown),
                               near.empty() ? "; correct the name" : fmt::format("; did you mean \"{}\"?", near)));
        }
        const std::int64_t node = parts[1].as_integer(), tensor = parts[2].as_integer();
        if (node < 0 || tensor < 0)
            return keep_fault(v, fmt::format("reads call {} and tensor {} of \"{}\"; both count from 0", node, tensor,
                                             one_line(found->first, longest_shown)));
        const KerasRef ref{found->second, static_cast<std::size_t>(node), static_cast<std::size_t>(tensor)};
        if (key.empty())
            call.reads.push_back(ref);
        else
            call.named.emplace_back(key, ref);
    }

    void keep_fault(const Value& at, const std::string& text) {
        if (fault_.message.empty()) fault_ = fault(at, text);
    }

    void read_ends(const Value& config, bool sequential) {
        const Value* outputs = sequential ? nullptr : config.find("output_layers");
        KerasNode ends;
        if (outputs) collect(*outputs, "", ends);
        graph_.outputs = std::move(ends.reads);
        if (graph_.outputs.empty())
            graph_.outputs.push_back({graph_.layers.size() - 1, graph_.layers.back().calls.size() - 1, 0});
        KerasNode starts;
        if (const Value* inputs = sequential ? nullptr : config.find("input_layers")) collect(*inputs, "", starts);
        for (const KerasRef& ref : starts.reads) graph_.inputs.push_back(ref.layer);
        if (graph_.inputs.empty())
            for (std::size_t i = 0; i < graph_.layers.size(); ++i)
                if (graph_.layers[i].kind == "InputLayer") graph_.inputs.push_back(i);
    }

    template <typename Body>
    void each_ref(Body&& body) {
        for (KerasEntry& entry : graph_.layers)
            for (KerasNode& call : entry.calls) {
                for (KerasRef& ref : call.reads) body(ref, *entry.layer);
                for (auto& [key, ref] : call.named) body(ref, *entry.layer);
            }
        for (KerasRef& ref : graph_.outputs) body(ref, *graph_.layers.back().layer);
    }

    // Calls count from 0 among those that the file holds; of a model inside Keras 2 counts its own making as call 0. Of
    // a model called once, other numbers stem from models that are not in the file.
    Status check_calls() {
        if (!fault_.message.empty()) return fault_;
        struct Numbers {
            std::size_t least = SIZE_MAX, most = 0;
        };
        std::vector<Numbers> read(graph_.layers.size());
        each_ref([&](const KerasRef& ref, const Value&) {
            Numbers& numbers = read[ref.layer];
            numbers.least = std::min(numbers.least, ref.call);
            numbers.most = std::max(numbers.most, ref.call);
        });
        const auto check = [&](KerasRef& ref, const Value& at) {
            const KerasEntry& entry = graph_.layers[ref.layer];
            const Numbers& numbers = read[ref.layer];
            if (entry.calls.size() == 1 && is_keras_model(entry.kind))
                ref.call = 0;
            else if (is_keras_model(entry.kind) && numbers.least == 1 && numbers.most == entry.calls.size())
                --ref.call;
            if (ref.call < entry.calls.size()) return;
            keep_fault(at, fmt::format("call {} of \"{}\" is read, which is called {}; write the model with Keras "
                                       "again",
                                       ref.call + 1, one_line(entry.name, longest_shown),
                                       entry.calls.size() == 1 ? std::string("once")
                                                               : fmt::format("{} times", entry.calls.size())));
        };
        each_ref(check);
        if (!fault_.message.empty()) return fault_;
        return ok();
    }

    // Kahn's algorithm over the calls that lead to an output (all of them where the file names none).
    Status set_order(bool all) {
        std::vector<std::pair<std::size_t, std::size_t>> calls;
        for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
            graph_.layers[i].first_call = calls.size();
            for (std::size_t k = 0; k < graph_.layers[i].calls.size(); ++k) calls.emplace_back(i, k);
        }
        graph_.calls = calls.size();
        const auto each_read = [&](std::size_t number, auto&& body) {
            const KerasNode& call = graph_.layers[calls[number].first].calls[calls[number].second];
            for (const KerasRef& ref : call.reads) body(graph_.number_of(ref));
            for (const auto& [key, ref] : call.named) body(graph_.number_of(ref));
        };
        std::vector<bool> wanted(calls.size(), all);
        std::vector<std::size_t> open;
        const auto want = [&](std::size_t number) {
            if (wanted[number]) return;
            wanted[number] = true;
            open.push_back(number);
        };
        for (const KerasRef& ref : graph_.outputs) want(graph_.number_of(ref));
        while (!open.empty()) {
            const std::size_t number = open.back();
            open.pop_back();
            each_read(number, want);
        }
        // Files keep that order already, but for layers that are called again.
        bool ordered = true;
        for (std::size_t number = 0; number < calls.size(); ++number)
            if (wanted[number]) each_read(number, [&](std::size_t read) { ordered = ordered && read < number; });
        if (ordered) {
            for (std::size_t number = 0; number < calls.size(); ++number)
                if (wanted[number]) graph_.order.push_back(calls[number]);
            return ok();
        }
        std::vector<std::size_t> waits(calls.size(), 0);
        std::vector<std::vector<std::size_t>> readers(calls.size());
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t number = 0; number < calls.size(); ++number) {
            if (!wanted[number]) continue;
            each_read(number, [&](std::size_t read) {
                ++waits[number];
                readers[read].push_back(number);
            });
            if (waits[number] == 0) ready.push(number);
        }
        while (!ready.empty()) {
            const std::size_t number = ready.top();
            ready.pop();
            graph_.order.push_back(calls[number]);
            for (const std::size_t reader : readers[number])
                if (--waits[reader] == 0) ready.push(reader);
        }
        for (std::size_t number = 0; number < calls.size(); ++number)
            if (waits[number] > 0) {
                const KerasEntry& entry = graph_.layers[calls[number].first];
                return fault(*entry.layer, fmt::format("\"{}\" waits for its own output; correct its \"inbound_nodes\"",
                                                       one_line(entry.name, longest_shown)));
            }
        return ok();
    }

    const std::string& source_;
    KerasGraph graph_;
    std::unordered_map<std::string, std::size_t> by_name_;
    Error fault_;
};

}  // namespace

bool is_keras_model(const std::string& kind) { return kind == "Functional" || kind == "Model" || kind == "Sequential"; }

Result<KerasGraph> read_keras_graph(const Value& model, const Value& config, const std::string& source) {
    return GraphReader(source).read(model, config);
}

}  // namespace dlcast
