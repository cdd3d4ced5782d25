// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/tree_memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <thread>

#include "predictor/base/json.h"

using namespace dlcast;

namespace {

constexpr std::size_t large_text = 1 << 20;

bool lies_beside(const void* first, const void* second) {
    const auto a = reinterpret_cast<std::uintptr_t>(first), b = reinterpret_cast<std::uintptr_t>(second);
    return b > a && b - a < 256;
}

}  // namespace

TEST_CASE("blocks of a room lie one behind the other, at multiples of 8", "[tree_memory]") {
    const TreeRoom room(large_text);
    void *first = tree_allocate(40), *second = tree_allocate(13), *third = tree_allocate(8);
    CHECK(lies_beside(first, second));
    CHECK(lies_beside(second, third));
    for (void* block : {first, second, third}) {
        CHECK(reinterpret_cast<std::uintptr_t>(block) % 8 == 0);
        tree_free(block);
    }
}

TEST_CASE("a block outlives its room, and may be freed by another thread", "[tree_memory]") {
    char* block = nullptr;
    {
        const TreeRoom room(large_text);
        const TreeRoom inner(large_text);  // does nothing
        block = static_cast<char*>(tree_allocate(1000));
    }
    std::memset(block, 'x', 1000);
    CHECK(block[999] == 'x');
    std::thread([block] { tree_free(block); }).join();
}

TEST_CASE("what does not fit into a stretch is had all the same", "[tree_memory]") {
    const TreeRoom room(large_text);
    std::vector<void*> blocks;
    for (const std::size_t bytes :
         {std::size_t{64} << 20, std::size_t{15} << 20, std::size_t{15} << 20, std::size_t{15} << 20}) {
        blocks.push_back(tree_allocate(bytes));
        static_cast<char*>(blocks.back())[bytes - 1] = 'x';
    }
    for (void* block : blocks) tree_free(block);
    tree_free(nullptr);
}

TEST_CASE("a tree read in a room is whole after it, and copies are its equals", "[tree_memory]") {
    std::string text = "[0";
    for (int i = 1; i < 100'000; ++i) text += "," + std::to_string(i);
    text += "]";
    Value tree;
    {
        const TreeRoom room(text.size());
        auto parsed = parse_json(text, "numbers.json");
        REQUIRE(parsed);
        tree = std::move(*parsed);
    }
    const Value copy = tree;
    CHECK(write_json(copy) == text);
    tree = Value();
    CHECK(copy.as_array().size() == 100'000);
    CHECK(copy.as_array().back().as_integer() == 99'999);
}
