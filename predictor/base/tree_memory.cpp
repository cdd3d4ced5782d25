// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/tree_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace dlcast {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t stretch_bytes = 16 * huge_page;     // of addresses; pages are taken as they are written
constexpr std::size_t largest_block = stretch_bytes / 2;  // larger ones are malloc's, which maps them by themselves
constexpr std::size_t little_text = 128 * 1024;

// Stands at the start of its own pages.
struct Stretch {
    void* mapping;
    std::size_t mapped_bytes;
    std::atomic<std::size_t> users;  // blocks in use, and the room while it fills this stretch
    char* next;
    char* end;
};

// Before every block: where it goes back to; nullptr: malloc's.
struct alignas(8) Header {
    Stretch* stretch;
};

thread_local Stretch* filling = nullptr;
thread_local bool room_open = false;

void leave(Stretch* stretch) noexcept {
    if (stretch && stretch->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
        ::munmap(stretch->mapping, stretch->mapped_bytes);
}

// nullptr where no addresses are left.
Stretch* map_stretch() {
    const std::size_t mapped = stretch_bytes + huge_page;  // so that an aligned stretch fits in
    void* mapping = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    const std::uintptr_t start = (reinterpret_cast<std::uintptr_t>(mapping) + huge_page - 1) / huge_page * huge_page;
    auto* at = reinterpret_cast<char*>(start);
    ::madvise(at, stretch_bytes, MADV_HUGEPAGE);  // without them it works as well, slower
    return new (at) Stretch{mapping, mapped, 1, at + sizeof(Stretch), at + stretch_bytes};
}

char* take(std::size_t bytes) {
    if (bytes > largest_block) return nullptr;
    if (!filling || static_cast<std::size_t>(filling->end - filling->next) < bytes) {
        leave(filling);
        filling = map_stretch();
        if (!filling) return nullptr;
    }
    char* const block = filling->next;
    filling->next += bytes;
    filling->users.fetch_add(1, std::memory_order_relaxed);
    return block;
}

}  // namespace

TreeRoom::TreeRoom(std::size_t text_bytes) : opened_(!room_open && text_bytes > little_text) {
    if (opened_) room_open = true;
}

TreeRoom::~TreeRoom() {
    if (!opened_) return;
    leave(filling);
    filling = nullptr;
    room_open = false;
}

void* tree_allocate(std::size_t bytes) {
    const std::size_t whole = sizeof(Header) + (bytes + 7) / 8 * 8;
    char* block = room_open ? take(whole) : nullptr;
    Stretch* const stretch = block ? filling : nullptr;
    if (!block) block = static_cast<char*>(std::malloc(whole));
    if (!block) throw std::bad_alloc();
    new (block) Header{stretch};
    return block + sizeof(Header);
}

void tree_free(void* block) noexcept {
    if (!block) return;
    char* const start = static_cast<char*>(block) - sizeof(Header);
    Stretch* const stretch = reinterpret_cast<Header*>(start)->stretch;
    if (stretch)
        leave(stretch);
    else
        std::free(start);
}

}  // namespace dlcast
