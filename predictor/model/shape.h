// SPDX-License-Identifier: GPL-2.0-or-later
// The shape of one sample, and arithmetic on it in double, so that absurd sizes are seen before they overflow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace dlcast {

/// Of one sample, channels first: [C, H, W] for images, [tokens, width] for sequences, [width] for vectors. Up to four
/// dimensions lie in the object itself: a large network has thousands of shapes, and their memory took a fifth of the
/// time of its submission.
class Shape {
public:
    using value_type = std::int64_t;
    using iterator = std::int64_t*;
    using const_iterator = const std::int64_t*;
    using difference_type = std::ptrdiff_t;

    Shape() = default;
    Shape(std::initializer_list<std::int64_t> list) : Shape(list.begin(), list.end()) {}
    Shape(const std::vector<std::int64_t>& sizes) : Shape(sizes.begin(), sizes.end()) {}  // as files list them
    template <std::input_iterator It>
    Shape(It first, It last) {
        assign(first, last);
    }

    std::size_t size() const { return many_.empty() ? count_ : many_.size(); }
    bool empty() const { return size() == 0; }
    iterator begin() { return many_.empty() ? few_.data() : many_.data(); }
    iterator end() { return begin() + size(); }
    const_iterator begin() const { return many_.empty() ? few_.data() : many_.data(); }
    const_iterator end() const { return begin() + size(); }
    std::int64_t& operator[](std::size_t i) { return begin()[i]; }
    std::int64_t operator[](std::size_t i) const { return begin()[i]; }
    std::int64_t& front() { return *begin(); }
    std::int64_t front() const { return *begin(); }
    std::int64_t& back() { return end()[-1]; }
    std::int64_t back() const { return end()[-1]; }

    void push_back(std::int64_t value) {
        if (many_.empty() && count_ < few_.size()) {
            few_[count_++] = value;
            return;
        }
        if (many_.empty()) many_.assign(few_.begin(), few_.end());
        many_.push_back(value);
    }
    void clear() {
        many_.clear();
        count_ = 0;
    }
    template <std::input_iterator It>
    void assign(It first, It last) {
        clear();
        for (; first != last; ++first) push_back(*first);
    }

    friend bool operator==(const Shape& a, const Shape& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    std::array<std::int64_t, 4> few_{};
    std::size_t count_ = 0;           // of few_
    std::vector<std::int64_t> many_;  // all of them, where there are more
};

/// Product of the dimensions.
double elements(const Shape& shape);
/// Elements but the last dimension: tokens of a sequence, 1 for a vector.
double rows_of(const Shape& shape);
/// "[3, 224, 224]"
std::string to_string(const Shape& shape);

}  // namespace dlcast
