// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Lines: each line a text of its own, with places that name its number; and the plans made of them.
#include <fmt/format.h>

#include <fstream>

#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/samples/sample_point.h"

namespace dlcast {
namespace {

constexpr int most_lines = 10'000'000;
constexpr std::size_t longest_path = 4096;

// A line was parsed as a text of its own.
void move_to_line(Value& value, int line) {
    value.at.line = line;
    if (value.is_array())
        for (Value& element : value.as_array()) move_to_line(element, line);
    if (value.is_object())
        for (Value::Member& member : value.as_object()) {
            member.at.line = line;
            move_to_line(member.value, line);
        }
}

std::string message_on_line(const std::string& message, const std::string& source, int line) {
    const std::string first = source + ":1:";
    if (message.starts_with(first)) return fmt::format("{}:{}:{}", source, line, message.substr(first.size()));
    if (message.starts_with(source + ": ")) return fmt::format("{}:{}{}", source, line, message.substr(source.size()));
    return message;
}

}  // namespace

Result<Value> parse_json_line(std::string_view text, const std::string& source, int line) {
    auto root = parse_json(text, source, {.bytes = longest_line, .depth = 8, .values = 1000});
    if (!root) return invalid_argument(message_on_line(root.error().message, source, line));
    move_to_line(*root, line);
    return root;
}

std::string shown_path(const std::string& path) { return one_line(path, longest_path); }

Status for_each_line(const std::string& path, const std::function<Status(std::string_view, int)>& use) {
    std::ifstream file(path);
    const std::string shown = shown_path(path);
    if (!file)
        return not_found(
            fmt::format("cannot read '{}'; dlcast-profile -o writes samples, dlcast calibrate a plan", shown));
    std::vector<char> text(longest_line);
    for (int line = 1; file.getline(text.data(), static_cast<std::streamsize>(text.size())); ++line) {
        if (line > most_lines)
            return invalid_argument(fmt::format("'{}' has more than {} lines; split it", shown, most_lines));
        // With its end counted, unless the file ends without one. A zero byte does not end it: the reader refuses it.
        const auto length = static_cast<std::size_t>(file.gcount()) - (file.eof() ? 0 : 1);
        const std::string_view whole(text.data(), length);
        if (trim(whole).empty()) continue;
        if (auto status = use(whole, line); !status) return status;
    }
    if (!file.bad() && !file.eof())
        return invalid_argument(
            fmt::format("{}: a line over {} bytes; is it a file of timing samples?", shown, longest_line));
    if (file.bad())
        return invalid_argument(fmt::format(
            "cannot read '{}': it is no regular file, or the disk failed; name a file of samples or a plan", shown));
    return ok();
}

std::string to_plan_line(const SamplePoint& point) {
    Value out = Value::object();
    put_point(out, point);
    return write_json(out);
}

Result<SamplePoint> parse_plan_line(std::string_view text, const std::string& source, int line) {
    const auto root = parse_json_line(text, source, line);
    if (!root) return root.error();
    ObjectReader r(*root, source, "point of a plan");
    auto point = read_point(r, *root, source);
    if (!point) return point.error();
    if (auto end = r.finish(); !end) return end.error();
    return point;
}

Result<std::vector<SamplePoint>> read_plan(const std::string& path) {
    std::vector<SamplePoint> out;
    const std::string source = shown_path(path);
    auto status = for_each_line(path, [&](std::string_view text, int line) -> Status {
        auto point = parse_plan_line(text, source, line);
        if (!point) return point.error();
        if (out.size() == most_plan_points)
            return invalid_argument(fmt::format(
                "{}:{}: a plan has at most {} points; measure a part of it (`head -n {}`), or let `dlcast calibrate` "
                "choose fewer",
                path, line, most_plan_points, most_plan_points));
        out.push_back(std::move(*point));
        return ok();
    });
    if (!status) return status.error();
    return out;
}

}  // namespace dlcast
