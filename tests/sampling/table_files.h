// SPDX-License-Identifier: GPL-2.0-or-later
// A table on disk for as long as a test needs it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace dlcast::test {

class TableFile {
public:
    explicit TableFile(const std::string& text) {
        path_ = "/tmp/dlcast-table-XXXXXX";
        const int file = ::mkstemp(path_.data());
        if (file >= 0) ::close(file);
        std::ofstream(path_) << text;
    }
    ~TableFile() { ::unlink(path_.c_str()); }
    TableFile(const TableFile&) = delete;
    TableFile& operator=(const TableFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace dlcast::test
