// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dlcast {
namespace {

// What stands behind the file's last line end; nothing where that is more than a line may have.
std::string last_line_without_end(const std::string& path, std::uintmax_t size) {
    std::ifstream file(path, std::ios::binary);
    std::string tail(static_cast<std::size_t>(std::min<std::uintmax_t>(size, longest_line)), '\0');
    file.seekg(static_cast<std::streamoff>(size - tail.size()));
    if (!file.read(tail.data(), static_cast<std::streamsize>(tail.size()))) return "";
    const auto end = tail.rfind('\n');
    if (end == std::string::npos && tail.size() < size) return "";
    return tail.substr(end == std::string::npos ? 0 : end + 1);
}

// Each sample's line begins so; a shorter part of it may have been written before the end.
bool may_begin_a_sample(std::string_view text) {
    static const std::string begin = fmt::format("{{\"v\":{},", timing_sample_version);
    return text.substr(0, begin.size()) == std::string_view(begin).substr(0, text.size());
}

std::size_t key_of(const TimingSample& sample) {
    std::size_t key = hash_of(sample.point) + static_cast<std::size_t>(sample.rank);
    for (const std::string* name : {&sample.host, &sample.device.name})
        key = key * 0x9e3779b97f4a7c15U + std::hash<std::string>()(*name);
    return key;
}

}  // namespace

Result<SampleFile> SampleFile::open(const std::string& path, std::string& note) {
    SampleFile out;
    out.path_ = path;
    std::error_code error;
    bool whole_without_end = false;  // its last line
    // Samples are read again and devices described beside them, so that a pipe or a terminal cannot stand for the file.
    if (const auto facts = std::filesystem::status(path, error);
        std::filesystem::exists(facts) && !std::filesystem::is_regular_file(facts))
        return invalid_argument(
            fmt::format("cannot write '{}': it is no plain file; name one in a folder of yours", path));
    if (const auto size = std::filesystem::file_size(path, error); !error && size > 0) {
        std::string torn = last_line_without_end(path, size);
        if (!may_begin_a_sample(torn)) torn.clear();  // then it is an error like any other line
        auto status = for_each_line(path, [&](std::string_view text, int line) -> Status {
            auto sample = parse_timing_sample(text, path, line);
            const bool last = !torn.empty() && text == torn;
            if (!sample) return last ? ok() : Status(sample.error());
            out.keep(std::move(*sample));
            if (last) torn.clear(), whole_without_end = true;
            return ok();
        });
        if (!status) return status.error();
        if (!torn.empty()) {
            note = fmt::format("{}: the last line was cut off and is taken away; its point is measured again", path);
            std::filesystem::resize_file(path, size - torn.size(), error);
            if (error) return invalid_argument(fmt::format("cannot write '{}': {}", path, error.message()));
        }
    }
    out.file_.open(path, std::ios::app);
    if (whole_without_end) out.file_ << '\n';
    if (!out.file_) return invalid_argument(fmt::format("cannot write '{}'; name a file in a folder of yours", path));
    return out;
}

void SampleFile::keep(TimingSample&& sample) {
    places_[key_of(sample)].push_back(samples_.size());
    samples_.push_back(std::move(sample));
}

const TimingSample* SampleFile::find(const TimingSample& sample) const {
    const auto places = places_.find(key_of(sample));
    if (places == places_.end()) return nullptr;
    for (const std::size_t place : places->second)
        if (same_point(samples_[place], sample)) return &samples_[place];
    return nullptr;
}

Status SampleFile::append(const TimingSample& sample) {
    file_ << to_json_line(sample) << '\n' << std::flush;
    if (!file_) return invalid_argument(fmt::format("cannot write '{}': no room, or the disk failed", path_));
    keep(TimingSample(sample));
    return ok();
}

}  // namespace dlcast
