// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dlcast {
namespace {

// Length of the file up to its last line end.
std::uintmax_t whole_lines(const std::string& path, std::uintmax_t size) {
    std::ifstream file(path, std::ios::binary);
    for (std::uintmax_t end = size; end > 0; --end) {
        file.seekg(static_cast<std::streamoff>(end - 1));
        if (file.get() == '\n') return end;
    }
    return 0;
}

}  // namespace

Result<SampleFile> SampleFile::open(const std::string& path, std::string& note) {
    SampleFile out;
    out.path_ = path;
    std::error_code error;
    // Samples are read again and devices described beside them, so that a pipe or a terminal cannot stand for the file.
    if (const auto facts = std::filesystem::status(path, error);
        std::filesystem::exists(facts) && !std::filesystem::is_regular_file(facts))
        return invalid_argument(
            fmt::format("cannot write '{}': it is no plain file; name one in a folder of yours", path));
    if (const auto size = std::filesystem::file_size(path, error); !error && size > 0) {
        if (const auto whole = whole_lines(path, size); whole < size) {
            note = fmt::format("{}: the last line was cut off and is taken away; its point is measured again", path);
            std::filesystem::resize_file(path, whole, error);
            if (error) return invalid_argument(fmt::format("cannot write '{}': {}", path, error.message()));
        }
        auto status = read_timing_samples(path, [&](TimingSample&& s) { out.samples_.push_back(std::move(s)); });
        if (!status) return status.error();
    }
    out.file_.open(path, std::ios::app);
    if (!out.file_) return invalid_argument(fmt::format("cannot write '{}'; name a file in a folder of yours", path));
    return out;
}

const TimingSample* SampleFile::find(const TimingSample& sample) const {
    const auto found =
        std::find_if(samples_.begin(), samples_.end(), [&](const TimingSample& s) { return same_point(s, sample); });
    return found == samples_.end() ? nullptr : &*found;
}

Status SampleFile::append(const TimingSample& sample) {
    file_ << to_json_line(sample) << '\n' << std::flush;
    if (!file_) return invalid_argument(fmt::format("cannot write '{}': no room, or the disk failed", path_));
    samples_.push_back(sample);
    return ok();
}

}  // namespace dlcast
