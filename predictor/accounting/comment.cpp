// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/comment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::string_view key = "\"dlcast\"";
constexpr double longest_s = 1e12;

// The object that begins at text[0] == '{'; empty where it does not end. Ours holds no other object.
std::string_view object_at(std::string_view text) {
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (in_string && text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (text[i] == '}' && !in_string)
            return text.substr(0, i + 1);
    }
    return {};
}

// One member of our flat object: a number, or text, or neither (null, true).
struct Member {
    std::string_view key, text;
    double number = 0.0;
    bool is_number = false, is_text = false;
};

// The members of an object as dlcast writes it, without another object, list or escape in it; false where it is more
// than that. A million comments are read this way, in a tenth of a JSON parser's time.
bool plain_members(std::string_view object, std::vector<Member>& out) {
    std::string_view rest = trim(object.substr(1));
    const auto take = [&rest](char c) {
        rest = trim(rest);
        if (rest.empty() || rest.front() != c) return false;
        rest.remove_prefix(1);
        return true;
    };
    const auto text = [&](std::string_view& to) {
        if (!take('"')) return false;
        const auto end = rest.find_first_of("\"\\\n");
        if (end == std::string_view::npos || rest[end] != '"') return false;
        to = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        return true;
    };
    while (true) {
        Member& member = out.emplace_back();
        if (!text(member.key) || !take(':')) return false;
        rest = trim(rest);
        if (rest.empty()) return false;
        if (rest.front() == '"') {
            member.is_text = text(member.text);
            if (!member.is_text) return false;
        } else if (rest.starts_with("null")) {
            rest.remove_prefix(4);
        } else {
            const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), member.number);
            if (error != std::errc()) return false;
            member.is_number = true;
            rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        }
        if (take('}')) return trim(rest).empty();
        if (!take(',')) return false;
    }
}

// The same of any JSON object; the texts live in `value`.
bool parsed_members(const Value& value, std::vector<Member>& out) {
    out.clear();
    if (!value.is_object()) return false;
    for (const Value::Member& member : value.as_object()) {
        Member& to = out.emplace_back();
        to.key = member.key;
        to.is_number = member.value.is_number();
        to.is_text = member.value.is_string();
        if (to.is_number) to.number = member.value.as_number();
        if (to.is_text) to.text = member.value.as_string();
    }
    return true;
}

std::int32_t count(double number) { return static_cast<std::int32_t>(std::clamp(number, 0.0, 1e9)); }

bool read_forecast(const std::vector<Member>& members, Names& names, JobRun& run) {
    bool known_version = false;
    for (const Member& m : members) {
        const bool is_number = m.is_number && std::abs(m.number) < longest_s;
        if (is_number && m.key == "v") known_version = m.number == 1.0;
        if (is_number && m.key == "p50_s") run.p50_s = m.number;
        if (is_number && m.key == "p95_s") run.p95_s = m.number;
        if (is_number && m.key == "gpus") run.forecast_gpus = count(m.number);
        if (is_number && m.key == "nodes") run.forecast_nodes = count(m.number);
        if (is_number && m.key == "limit_s" && m.number > 0) run.forecast_limit_s = static_cast<std::int64_t>(m.number);
        if (is_number && m.key == "asked_s" && m.number >= 0)
            run.asked_s = m.number > 0 ? static_cast<std::int64_t>(m.number) : no_limit;
        if (m.is_text && m.key == "model") run.model = names.id(m.text);
        if (m.is_text && m.key == "weights") run.weights = names.id(m.text);
        if (m.is_text && m.key == "gpu") run.forecast_gpu = names.id(m.text);
        if (m.is_text && m.key == "partition") run.forecast_partition = names.id(m.text);
    }
    run.p95_s = std::max(run.p50_s, run.p95_s);
    return known_version && run.p50_s > 0;
}

}  // namespace

void read_comment(std::string_view text, Names& names, JobRun& run) {
    run.comment = trim(text).empty() ? CommentKind::none : CommentKind::foreign;
    const auto found = text.rfind(key);
    if (found == std::string_view::npos) return;
    run.comment = CommentKind::broken;
    std::string_view rest = trim(text.substr(found + key.size()));
    if (rest.empty() || rest.front() != ':') return;
    rest = trim(rest.substr(1));
    if (rest.empty() || rest.front() != '{') return;
    const std::string_view object = object_at(rest);
    if (object.empty()) return;
    static thread_local std::vector<Member> members;  // kept from row to row
    members.clear();
    if (plain_members(object, members)) {
        if (read_forecast(members, names, run)) run.comment = CommentKind::forecast;
        return;
    }
    const auto parsed = parse_json(object, "admin_comment");
    if (parsed && parsed_members(*parsed, members) && read_forecast(members, names, run))
        run.comment = CommentKind::forecast;
}

}  // namespace dlcast
