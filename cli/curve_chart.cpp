// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cli/axis.h"
#include "cli/chart.h"
#include "cli/svg.h"

namespace dlcast {
namespace {

// Okabe & Ito, distinguishable with any colour vision.
constexpr std::array<const char*, 7> colors{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                            "#E69F00", "#56B4E9", "#333333"};

constexpr double panel_width = 300, panel_height = 250, left = 62, right = 18, top = 74, below_axis = 52;
constexpr double legend_line = 18, label_space = 26;

const char* color_of(std::size_t curve) { return colors[curve % colors.size()]; }

struct Frame {
    double x = 0;  // of the plot's left edge
    Axis across, up;
    double place_x(double count) const { return x + across.place(count) * panel_width; }
    double place_y(double value) const { return top + (1 - up.place(value)) * panel_height; }
};

Axis axis_of_counts(const std::vector<CurvePanel>& panels) {
    std::set<double> counts;
    for (const CurvePanel& panel : panels)
        for (const Curve& curve : panel.curves)
            for (const CurvePoint& point : curve.points) counts.insert(point.count);
    return count_axis({counts.begin(), counts.end()});
}

Axis axis_of_values(const CurvePanel& panel) {
    double least = 1e300, most = 0;
    for (const Curve& curve : panel.curves)
        for (const CurvePoint& point : curve.points) {
            least = std::min(least, point.value);
            most = std::max(most, point.value);
        }
    return panel.logarithmic ? logarithmic_axis(least, most) : linear_axis(most);
}

void draw_axes(Svg& svg, const Frame& frame, const CurvePanel& panel, const std::string& count_title) {
    svg.text(frame.x, top - 14, panel.title, {.size = 13, .bold = true});
    for (const double tick : frame.up.ticks) {
        const double y = frame.place_y(tick);
        svg.line(frame.x, y, frame.x + panel_width, y, "#ddd");
        svg.text(frame.x - 8, y + 4, fmt::format("{:.6g}", tick), {.size = 11, .anchor = Anchor::end});
    }
    double last_label = -label_space;
    for (const double tick : frame.across.ticks) {
        const double x = frame.place_x(tick);
        svg.line(x, top + panel_height, x, top + panel_height + 5, "#222");
        if (x - last_label < label_space) continue;  // labels would touch
        last_label = x;
        svg.text(x, top + panel_height + 19, fmt::format("{:g}", tick), {.size = 11, .anchor = Anchor::middle});
    }
    svg.line(frame.x, top + panel_height, frame.x + panel_width, top + panel_height, "#222");
    svg.text(frame.x + panel_width / 2, top + panel_height + 38, count_title, {.anchor = Anchor::middle});
}

void draw_curve(Svg& svg, const Frame& frame, const Curve& curve, const char* color) {
    Svg::Points line;
    for (const CurvePoint& point : curve.points)
        line.emplace_back(frame.place_x(point.count), frame.place_y(point.value));
    svg.polyline(line, color, 2);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto& [x, y] = line[i];
        if (curve.points[i].marked) svg.circle(x, y, 8, "none", color, 1.5);
        svg.circle(x, y, 3.5, curve.points[i].hollow ? "white" : color, color, 1.5);
    }
}

}  // namespace

std::string curve_chart(const std::string& title, const std::string& count_title, const std::vector<CurvePanel>& panels,
                        const std::vector<std::string>& notes) {
    const auto count = static_cast<double>(panels.size());
    const std::vector<Curve>& named = panels.front().curves;
    const double legend_top = top + panel_height + below_axis + 14;
    const double height = legend_top + legend_line * static_cast<double>(named.size() + notes.size()) + 6;
    Svg svg(count * (left + panel_width + right), height);
    svg.text(left, 30, title, {.size = 15, .bold = true});
    const Axis across = axis_of_counts(panels);
    for (std::size_t i = 0; i < panels.size(); ++i) {
        const double x = static_cast<double>(i) * (left + panel_width + right) + left;
        const Frame frame{x, across, axis_of_values(panels[i])};
        draw_axes(svg, frame, panels[i], count_title);
        for (std::size_t c = 0; c < panels[i].curves.size(); ++c)
            draw_curve(svg, frame, panels[i].curves[c], color_of(c));
    }
    double y = legend_top;
    for (std::size_t c = 0; c < named.size(); ++c, y += legend_line) {
        svg.line(left, y - 4, left + 22, y - 4, color_of(c), 2);
        svg.circle(left + 11, y - 4, 3.5, color_of(c), color_of(c), 1.5);
        svg.text(left + 30, y, named[c].name);
    }
    for (const std::string& note : notes) {
        svg.text(left, y, note, {.size = 11, .color = "#555"});
        y += legend_line;
    }
    return svg.finish();
}

}  // namespace dlcast
