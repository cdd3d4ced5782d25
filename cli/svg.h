// SPDX-License-Identifier: GPL-2.0-or-later
// A drawing in SVG 1.1: lines, marks and text on white, in pixels from the upper left.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcast {

enum class Anchor { start, middle, end };  // of a text at its x

struct TextStyle {
    double size = 12;
    std::string_view color = "#222";
    Anchor anchor = Anchor::start;
    bool bold = false;
};

class Svg {
public:
    using Points = std::vector<std::pair<double, double>>;

    Svg(double width, double height);
    void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1);
    void polyline(const Points& points, std::string_view color, double width);
    void circle(double x, double y, double radius, std::string_view fill, std::string_view stroke, double width);
    void rectangle(double x, double y, double width, double height, std::string_view fill);
    /// `text` may hold any characters; it is escaped.
    void text(double x, double y, std::string_view text, const TextStyle& style = {});
    /// The whole file.
    std::string finish() const;

private:
    double width_, height_;
    std::string body_;
};

}  // namespace dlcast
