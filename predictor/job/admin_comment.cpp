// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/admin_comment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>

#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

Value whole(const std::optional<double>& number) {
    if (!number || !(std::abs(*number) < 9e15)) return nullptr;
    return static_cast<std::int64_t>(std::llround(*number));
}

}  // namespace

Value to_value(const ForecastRecord& record) {
    Value out = Value::object();
    out.set("v", 1);
    out.set("id", record.id);
    out.set("model", record.model);
    out.set("gpus", record.gpus);
    out.set("nodes", record.nodes > 0 ? Value(record.nodes) : Value());
    out.set("gpu", record.gpu);
    out.set("partition", record.partition);
    out.set("p50_s", whole(record.p50_s));
    out.set("p95_s", whole(record.p95_s));
    out.set("limit_s", record.limit_s >= 0 ? Value(record.limit_s) : Value());
    out.set("asked_s", record.asked_s >= 0 ? Value(record.asked_s) : Value());
    // The digits that the user reads.
    out.set(record.on_cpu ? "node_h" : "gpu_h",
            record.device_h ? Value(parse_number(format_hours(*record.device_h)).value_or(*record.device_h)) : Value());
    out.set("by", record.by);
    out.set("weights", record.weights);
    return out;
}

std::string add_to_comment(const std::string& existing, const ForecastRecord& record) {
    Value ours = Value::object();
    ours.set("dlcast", to_value(record));
    const std::string text = write_json(ours);
    const std::string_view kept = trim(existing);
    if (kept.empty()) return text;
    auto parsed = parse_json(kept, "admin_comment");
    if (!parsed || !parsed->is_object()) return existing + " " + text;
    if (parsed->find("dlcast")) {
        parsed->set("dlcast", to_value(record));
        return write_json(*parsed);
    }
    // Our members go before the closing brace, so that numbers and spacing of the others stay as they were written.
    const std::string_view members = std::string_view(text).substr(1, text.size() - 2);
    return fmt::format("{}{}{}}}", kept.substr(0, kept.size() - 1), parsed->as_object().empty() ? "" : ",", members);
}

std::string new_forecast_id() {
    static std::atomic<std::uint64_t> calls{0};
    const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    // splitmix64's finaliser spreads time, process and call over all bits.
    std::uint64_t x = now + (static_cast<std::uint64_t>(::getpid()) << 40) + ++calls * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    x ^= x >> 31;
    return fmt::format("{:012x}", x >> 16);
}

}  // namespace dlcast
