// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/csv.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

namespace dlcast {
namespace {
constexpr std::size_t max_field_bytes = 1 << 20;
constexpr std::size_t max_columns = 4096;
constexpr int end_of_file = -1;
}  // namespace

// zlib reads plain files through the same calls.
struct CsvReader::Stream {
    gzFile file = nullptr;
    std::array<char, 1 << 16> buffer;
    int size = 0, at = 0;

    explicit Stream(const std::string& path) : file(::gzopen(path.c_str(), "rbe")) {}
    ~Stream() {
        if (file != nullptr) ::gzclose(file);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    int peek() {
        if (at == size) {
            size = ::gzread(file, buffer.data(), buffer.size());
            at = 0;
            if (size <= 0) {
                size = 0;
                return end_of_file;
            }
        }
        return static_cast<unsigned char>(buffer[static_cast<std::size_t>(at)]);
    }
    int get() {
        const int c = peek();
        if (c != end_of_file) ++at;
        return c;
    }
    bool broken() const {
        int code = Z_OK;
        ::gzerror(file, &code);
        return code != Z_OK && code != Z_STREAM_END;
    }
};

Result<CsvReader> CsvReader::open(const std::string& path) {
    CsvReader reader;
    reader.path_ = path;
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return invalid_argument(fmt::format("'{}' is a folder; name a CSV file", path));
    reader.stream_ = std::make_shared<Stream>(path);
    if (reader.stream_->file == nullptr)
        return not_found(fmt::format("cannot read '{}': {}; name a CSV file", path, std::strerror(errno)));
    auto got = reader.read_record(reader.header_);
    if (!got) return got.error();
    if (!*got) return invalid_argument(fmt::format("{}: the file is empty; it needs a header row", path));
    std::set<std::string> seen;
    for (std::string& name : reader.header_) {
        if (name.starts_with("\xEF\xBB\xBF")) name.erase(0, 3);  // the byte order mark of spreadsheets
        if (!seen.insert(name).second)
            return invalid_argument(fmt::format("{}:1: column '{}' stands twice; rename one", path, name));
    }
    return reader;
}

int CsvReader::column(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    return found == header_.end() ? -1 : static_cast<int>(found - header_.begin());
}

Result<bool> CsvReader::next(std::vector<std::string>& fields) {
    do {
        auto got = read_record(fields);
        if (!got || !*got) return got;
    } while (fields.size() == 1 && fields[0].empty() && header_.size() > 1);
    if (fields.size() == header_.size()) return true;
    return invalid_argument(
        fmt::format("{}:{}: {} fields where the header has {}", path_, row_line_, fields.size(), header_.size()));
}

Result<bool> CsvReader::read_record(std::vector<std::string>& fields) {
    Stream& in = *stream_;
    const auto fault = [&](const char* what) {
        return invalid_argument(fmt::format("{}:{}: {}", path_, row_line_, what));
    };
    fields.clear();
    row_line_ = line_;
    if (in.peek() == end_of_file) {
        if (in.broken()) return fault("the compressed data is broken or cut short");
        return false;
    }
    fields.emplace_back();
    bool quoted = false;
    while (true) {
        const int c = in.get();
        if (c == '\n') ++line_;
        if (c == end_of_file) {
            if (in.broken()) return fault("the compressed data is broken or cut short");
            if (quoted) return fault("a quoted field does not end; close it with \"");
            return true;
        }
        if (quoted) {
            if (c != '"') {
                fields.back().push_back(static_cast<char>(c));
            } else if (in.peek() == '"') {
                fields.back().push_back(static_cast<char>(in.get()));
            } else {
                quoted = false;
            }
        } else if (c == '"' && fields.back().empty()) {
            quoted = true;
        } else if (c == ',') {
            if (fields.size() == max_columns) return fault("more than 4096 fields in a row");
            fields.emplace_back();
        } else if (c == '\n') {
            return true;
        } else if (c != '\r' || in.peek() != '\n') {
            fields.back().push_back(static_cast<char>(c));
        }
        if (fields.back().size() > max_field_bytes) return fault("a field is larger than 1 MiB; is a quote missing?");
    }
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out.push_back('"');
        out.push_back(c);
    }
    return out + '"';
}

}  // namespace dlcast
