// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/line_reader.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/run_program.h"

namespace dlcast {
namespace {
constexpr std::size_t longest_line_bytes = 16u << 20;
constexpr std::size_t chunk_bytes = 1u << 16;
}  // namespace

/// Appends what comes next to `out`; false at the end.
struct LineReader::Input {
    virtual ~Input() = default;
    virtual Result<bool> read(std::string& out) = 0;
};

namespace {

// zlib reads plain files through the same calls.
struct FileInput final : LineReader::Input {
    gzFile file;
    std::array<char, chunk_bytes> chunk;

    explicit FileInput(gzFile opened) : file(opened) { ::gzbuffer(file, 1u << 18); }
    ~FileInput() override { ::gzclose(file); }

    Result<bool> read(std::string& out) override {
        const int got = ::gzread(file, chunk.data(), chunk.size());
        int code = Z_OK;
        ::gzerror(file, &code);
        if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
            return invalid_argument("cannot be read on: the file or its compressed data is broken or cut short");
        out.append(chunk.data(), static_cast<std::size_t>(got));
        return got > 0;
    }
};

struct NoInput final : LineReader::Input {
    Result<bool> read(std::string&) override { return false; }
};

struct ProgramInput final : LineReader::Input {
    StartedProgram program;
    std::chrono::milliseconds patience;
    std::string remedy;
    std::array<char, chunk_bytes> chunk;

    ProgramInput(StartedProgram started, std::chrono::milliseconds silence, std::string what_to_do)
        : program(std::move(started)), patience(silence), remedy(std::move(what_to_do)) {}

    Result<bool> read(std::string& out) override {
        pollfd ready{program.output(), POLLIN, 0};
        const int events = ::poll(&ready, 1, static_cast<int>(patience.count()));
        if (events < 0 && errno == EINTR) return true;
        if (events <= 0)
            return unavailable(fmt::format("gave no answer for {} s; {}", patience.count() / 1000, remedy));
        const ssize_t got = ::read(program.output(), chunk.data(), chunk.size());
        if (got < 0 && errno != EINTR) return unavailable(std::strerror(errno));
        if (got > 0) out.append(chunk.data(), static_cast<std::size_t>(got));
        if (got != 0) return true;
        const std::string fault = program.wait();
        if (!fault.empty()) return unavailable(fmt::format("{}; {}", fault, remedy));
        return false;
    }
};

}  // namespace

LineReader::LineReader(std::string source, std::unique_ptr<Input> input)
    : source_(std::move(source)), input_(std::move(input)) {}

Result<LineReader> LineReader::open(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
        return invalid_argument(fmt::format("'{}' is a folder; name a file", path));
    const gzFile file = ::gzopen(path.c_str(), "rbe");
    if (file == nullptr) return not_found(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    return LineReader(path, std::make_unique<FileInput>(file));
}

Result<LineReader> LineReader::run(const std::vector<std::string>& arguments, std::chrono::milliseconds patience,
                                   const std::string& remedy) {
    auto program = StartedProgram::start(arguments);
    if (!program) return unavailable(fmt::format("{}; {}", program.error().message, remedy));
    return LineReader(fmt::format("`{}`", arguments.front()),
                      std::make_unique<ProgramInput>(std::move(*program), patience, remedy));
}

LineReader LineReader::of_text(std::string text, const std::string& source) {
    LineReader out(source, std::make_unique<NoInput>());
    out.buffer_ = std::move(text);
    return out;
}

void LineReader::put_first(std::string_view line) { buffer_.insert(0, std::string(line) + '\n'); }

Result<bool> LineReader::next(std::string_view& line) {
    while (true) {
        const auto end = buffer_.find('\n', begin_);
        if (end != std::string::npos || (ended_ && begin_ < buffer_.size())) {
            const std::size_t length = (end == std::string::npos ? buffer_.size() : end) - begin_;
            line = std::string_view(buffer_).substr(begin_, length);
            begin_ += length + (end == std::string::npos ? 0 : 1);
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            // What some editors put in front of a file.
            if (line_ == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
            ++line_;
            return true;
        }
        if (ended_) return false;
        buffer_.erase(0, begin_);
        begin_ = 0;
        if (buffer_.size() > longest_line_bytes)
            return invalid_argument(fmt::format("{}:{}: a line is longer than 16 MiB", source_, line_ + 1));
        const auto more = input_->read(buffer_);
        if (!more) return Error{more.error().fault, fmt::format("{} {}", source_, more.error().message)};
        ended_ = !*more;
    }
}

}  // namespace dlcast
