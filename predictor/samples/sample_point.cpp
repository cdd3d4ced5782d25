// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/samples/sample_point.h"

#include "predictor/samples/operator_json.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
constexpr std::int64_t most_ranks = 1 << 24;

Value collective_value(const MeasuredCollective& point) {
    Value out = Value::object();
    out.set("name", collective_names[static_cast<std::size_t>(point.collective)]);
    out.set("bytes", point.bytes);
    out.set("ranks", point.ranks);
    out.set("nodes", point.nodes);
    out.set("library", point.library);
    return out;
}

Value pass_value(const MeasuredPass& point) {
    Value out = Value::object();
    out.set("model", point.model);
    out.set("batch", point.batch);
    out.set("pass", to_string(point.pass));
    out.set("training", point.training);
    out.set("precision", to_string(point.precision));
    if (point.optimizer != Optimizer::none) out.set("optimizer", to_string(point.optimizer));
    out.set("ranks", point.ranks);
    out.set("nodes", point.nodes);
    if (point.bucket_bytes > 0) out.set("bucket_bytes", point.bucket_bytes);
    return out;
}

std::size_t mixed(std::size_t hash, std::size_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15U; }

struct PointHash {
    std::size_t operator()(const Operator& op) const { return hash_of(op); }
    std::size_t operator()(const MeasuredCollective& p) const {
        std::size_t hash = std::hash<std::string>()(p.library);
        for (const std::uint64_t value : {static_cast<std::uint64_t>(p.collective), p.bytes,
                                          static_cast<std::uint64_t>(p.ranks), static_cast<std::uint64_t>(p.nodes)})
            hash = mixed(hash, value);
        return hash;
    }
    std::size_t operator()(const MeasuredPass& p) const {
        std::size_t hash = std::hash<std::string>()(p.model);
        for (const std::uint64_t value :
             {static_cast<std::uint64_t>(p.batch), static_cast<std::uint64_t>(p.pass),
              static_cast<std::uint64_t>(p.training), static_cast<std::uint64_t>(p.precision),
              static_cast<std::uint64_t>(p.optimizer), static_cast<std::uint64_t>(p.ranks),
              static_cast<std::uint64_t>(p.nodes), p.bucket_bytes})
            hash = mixed(hash, value);
        return hash;
    }
};

struct PointWriter {
    Value& out;
    void operator()(const Operator& op) const { out.set("operator", operator_value(op)); }
    void operator()(const MeasuredCollective& point) const { out.set("collective", collective_value(point)); }
    void operator()(const MeasuredPass& point) const { out.set("pass", pass_value(point)); }
};

Result<MeasuredCollective> read_collective(const Value& value, const std::string& source) {
    ObjectReader r(value, source, "collective");
    MeasuredCollective out;
    for (const char* key : {"name", "bytes", "ranks", "nodes", "library"}) r.require(key, "dlcast-sweep writes it");
    const std::vector<std::string> names(collective_names.begin(), collective_names.end());
    if (const auto index = r.choice("name", names)) out.collective = static_cast<Collective>(*index);
    out.bytes = static_cast<std::uint64_t>(r.integer("bytes", 0, most_bytes).value_or(0));
    out.ranks = static_cast<int>(r.integer("ranks", 1, most_ranks).value_or(1));
    out.nodes = static_cast<int>(r.integer("nodes", 1, most_ranks).value_or(1));
    const std::vector<std::string> libraries{"mpi", "nccl"};
    if (const auto index = r.choice("library", libraries)) out.library = libraries[*index];
    if (out.nodes > out.ranks) r.fail("nodes", "more nodes than ranks");
    if (auto status = r.finish(); !status) return status.error();
    return out;
}

Result<MeasuredPass> read_pass(const Value& value, const std::string& source) {
    ObjectReader r(value, source, "pass");
    MeasuredPass out;
    for (const char* key : {"model", "batch", "pass", "precision"}) r.require(key, "dlcast-profile writes it");
    out.model = r.string("model").value_or("");
    out.batch = r.integer("batch", 1, 1 << 30).value_or(0);
    std::vector<std::string> passes;
    for (const Pass pass : {Pass::forward, Pass::backward, Pass::update, Pass::step}) passes.push_back(to_string(pass));
    if (const auto index = r.choice("pass", passes)) out.pass = static_cast<Pass>(*index);
    out.training = r.boolean("training").value_or(true);
    if (const auto index = r.choice("precision", precision_names())) out.precision = static_cast<Precision>(*index);
    if (const auto index = r.choice("optimizer", optimizer_names())) out.optimizer = static_cast<Optimizer>(*index);
    out.ranks = static_cast<int>(r.integer("ranks", 1, most_ranks).value_or(1));
    out.nodes = static_cast<int>(r.integer("nodes", 1, most_ranks).value_or(1));
    out.bucket_bytes = static_cast<std::uint64_t>(r.integer("bucket_bytes", 0, most_bytes).value_or(0));
    if (out.nodes > out.ranks) r.fail("nodes", "more nodes than ranks");
    if (auto status = r.finish(); !status) return status.error();
    return out;
}

}  // namespace

const char* to_string(Pass pass) {
    switch (pass) {
        case Pass::forward:
            return "forward";
        case Pass::backward:
            return "backward";
        case Pass::update:
            return "update";
        case Pass::step:
            return "step";
    }
    return "";
}

std::size_t hash_of(const SamplePoint& point) { return std::visit(PointHash{}, point); }

void put_point(Value& object, const SamplePoint& point) { std::visit(PointWriter{object}, point); }

// Exactly one of three members says what was measured.
Result<SamplePoint> read_point(ObjectReader& r, const Value& root, const std::string& source) {
    const Value* op = r.value("operator");
    const Value* collective = r.value("collective");
    const Value* pass = r.value("pass");
    if ((op != nullptr) + (collective != nullptr) + (pass != nullptr) != 1)
        return invalid_argument(
            at_place(source, root.at,
                     "a sample is of one thing; write exactly one of \"operator\", \"collective\" and \"pass\""));
    const auto as_point = [](auto read) -> Result<SamplePoint> {
        if (!read) return read.error();
        return SamplePoint(*read);
    };
    if (op != nullptr) return as_point(read_operator(*op, source));
    if (collective != nullptr) return as_point(read_collective(*collective, source));
    return as_point(read_pass(*pass, source));
}

}  // namespace dlcast
