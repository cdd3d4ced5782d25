// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/byte_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dlcast {
namespace {

constexpr std::size_t buffer_bytes = 16 * 1024;

}  // namespace

ByteStream::ByteStream(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

ByteStream::ByteStream(ByteStream&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      view_(other.view_),
      view_start_(other.view_start_),
      position_(other.position_),
      size_(other.size_) {}

ByteStream::~ByteStream() {
    if (fd_ >= 0) ::close(fd_);
}

Result<ByteStream> ByteStream::open(const std::string& path) {
    // O_NONBLOCK: a FIFO in the place of a file must not hang the reader.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (fd < 0 || ::fstat(fd, &facts) != 0) {
        const int why = errno;
        if (fd >= 0) ::close(fd);
        return invalid_argument(fmt::format("cannot read '{}': {}", path, std::strerror(why)));
    }
    if (!S_ISREG(facts.st_mode)) {
        ::close(fd);
        return invalid_argument(fmt::format("'{}' is no regular file; name a file", path));
    }
    return ByteStream(fd, static_cast<std::uint64_t>(facts.st_size));
}

bool ByteStream::refill() {
    if (fd_ < 0) return false;
    if (!buffer_) buffer_.reset(new char[buffer_bytes]);  // as it comes: most files fill a small part
    ssize_t got = 0;
    do {
        got = ::pread(fd_, buffer_.get(), buffer_bytes, static_cast<off_t>(position_));
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    view_ = std::string_view(buffer_.get(), static_cast<std::size_t>(got));
    view_start_ = position_;
    return true;
}

int ByteStream::get() {
    if (position_ >= size_) return -1;
    if (position_ < view_start_ || position_ - view_start_ >= view_.size())
        if (!refill()) return -1;
    return static_cast<unsigned char>(view_[position_++ - view_start_]);
}

void ByteStream::seek(std::uint64_t position) { position_ = std::min(position, size_); }

}  // namespace dlcast
