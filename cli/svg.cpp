// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/svg.h"

#include <fmt/format.h>

namespace dlcast {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

const char* name_of(Anchor anchor) {
    return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view color, double width) {
    body_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{:g}\"/>\n", x1, y1,
        x2, y2, color, width);
}

void Svg::polyline(const Points& points, std::string_view color, double width) {
    body_ += "<polyline points=\"";
    for (const auto& [x, y] : points) body_ += fmt::format("{:.1f},{:.1f} ", x, y);
    body_ +=
        fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\" stroke-linejoin=\"round\"/>\n", color, width);
}

void Svg::circle(double x, double y, double radius, std::string_view fill, std::string_view stroke, double width) {
    body_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{:g}\"/>\n", x, y,
        radius, fill, stroke, width);
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view fill) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                         width, height, fill);
}

void Svg::text(double x, double y, std::string_view text, const TextStyle& style) {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" fill=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
        style.size, style.color, name_of(style.anchor), style.bold ? " font-weight=\"bold\"" : "", escaped(text));
}

std::string Svg::finish() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
        "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"white\"/>\n{2}"
        "</svg>\n",
        width_, height_, body_);
}

}  // namespace dlcast
