// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

private:
    int fd_;
};

Error system_error(const std::string& path, const char* doing) {
    const Fault fault = errno == ENOENT ? Fault::not_found : Fault::invalid_argument;
    return {fault, fmt::format("cannot {} '{}': {}", doing, path, std::strerror(errno))};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    // O_NONBLOCK: a FIFO in the place of a file must not hang the reader.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) return system_error(path, "read");
    if (S_ISDIR(facts.st_mode)) return invalid_argument(fmt::format("'{}' is a directory; name a file", path));
    if (!S_ISREG(facts.st_mode)) return invalid_argument(fmt::format("'{}' is no regular file; name a file", path));
    // One byte more than there should be tells whether the file has grown.
    std::string text(std::min(static_cast<std::size_t>(facts.st_size), max_bytes) + 1, '\0');
    std::size_t length = 0;
    while (true) {
        const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(path, "read");
        length += static_cast<std::size_t>(got);
        if (length > max_bytes)
            return invalid_argument(fmt::format(
                "'{}' is larger than {} bytes, the most that is read; is it the right file?", path, max_bytes));
        if (got == 0) break;
        if (length == text.size()) text.resize(std::min(2 * length, max_bytes + 1));
    }
    text.resize(length);
    return text;
}

Status write_file_atomically(const std::string& name, std::string_view text, bool sync) {
    // A link keeps pointing where it points; the file behind it is the one that is replaced.
    char resolved[PATH_MAX];
    const std::string path = ::realpath(name.c_str(), resolved) ? resolved : name;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
        return invalid_argument(fmt::format("cannot write '{}': it is no regular file; name a file", name));
    const std::string scratch = fmt::format("{}.{}.new", path, ::getpid());
    {
        const Descriptor file(::open(scratch.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (file.get() < 0) return system_error(path, "write");
        while (!text.empty()) {
            const ssize_t put = ::write(file.get(), text.data(), text.size());
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) {
                const Error error = system_error(path, "write");
                ::unlink(scratch.c_str());
                return error;
            }
            text.remove_prefix(static_cast<std::size_t>(put));
        }
        if (sync) ::fsync(file.get());
    }
    if (::rename(scratch.c_str(), path.c_str()) == 0) return ok();
    const Error error = system_error(path, "write");
    ::unlink(scratch.c_str());
    return error;
}

}  // namespace dlcast
