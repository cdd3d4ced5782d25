// SPDX-License-Identifier: GPL-2.0-or-later
// Where the arrays and objects of Values lie. The kernel takes 1 to 2 us to hand out a page of 4 KiB, and a tree of 1
// MiB of text fills some 2,000 of them: longer than reading the text. Such a tree lies in a few huge pages instead.
#pragma once

#include <cstddef>
#include <limits>
#include <new>

namespace dlcast {

/// While one lives, what its thread allocates for trees comes from huge pages, one block behind the other; nothing is
/// used twice. Trees may outlive it: the pages go back with the last of them. Within another one it does nothing.
class TreeRoom {
public:
    /// For what is read of `text_bytes` of text; does nothing where that is little.
    explicit TreeRoom(std::size_t text_bytes);
    ~TreeRoom();
    TreeRoom(const TreeRoom&) = delete;
    TreeRoom& operator=(const TreeRoom&) = delete;

private:
    bool opened_ = false;
};

/// At least `bytes` at a multiple of 8. Throws std::bad_alloc.
void* tree_allocate(std::size_t bytes);
void tree_free(void* block) noexcept;

template <typename T>
struct TreeAllocator {
    using value_type = T;
    TreeAllocator() = default;
    template <typename U>
    TreeAllocator(const TreeAllocator<U>&) {}
    T* allocate(std::size_t count) {
        static_assert(alignof(T) <= 8);
        if (count > std::numeric_limits<std::size_t>::max() / (2 * sizeof(T))) throw std::bad_alloc();
        return static_cast<T*>(tree_allocate(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t) noexcept { tree_free(block); }
    bool operator==(const TreeAllocator&) const = default;
};

}  // namespace dlcast
