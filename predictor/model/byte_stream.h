// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes in order, from memory or from a file of any size; what is skipped in a file is not read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "predictor/base/result.h"

namespace dlcast {

class ByteStream {
public:
    /// `bytes` must outlive the stream.
    explicit ByteStream(std::string_view bytes) : view_(bytes), size_(bytes.size()) {}
    /// Errors: missing, unreadable, no regular file.
    static Result<ByteStream> open(const std::string& path);
    ~ByteStream();
    ByteStream(ByteStream&& other) noexcept;
    ByteStream& operator=(ByteStream&&) = delete;

    std::uint64_t size() const { return size_; }
    std::uint64_t position() const { return position_; }
    /// The next byte; -1 at the end, or where the file cannot be read.
    int get();
    /// Goes to `position`, at most to the end.
    void seek(std::uint64_t position);

private:
    ByteStream(int fd, std::uint64_t size);
    bool refill();

    int fd_ = -1;
    std::unique_ptr<char[]> buffer_;  // of a file; made at the first reading
    std::string_view view_;           // of the buffer, or of memory
    std::uint64_t view_start_ = 0;    // where it stands
    std::uint64_t position_ = 0, size_ = 0;
};

}  // namespace dlcast
