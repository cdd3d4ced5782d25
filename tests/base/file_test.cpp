// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "predictor/base/text.h"

using namespace dlcast;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("dlcast_file_test." + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(const char* name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("a file is read whole, and never more than allowed", "[file]") {
    const Folder folder;
    std::ofstream(folder / "a") << "hello";
    const auto text = read_file(folder / "a", 5);
    REQUIRE(text);
    CHECK(*text == "hello");
    const auto large = read_file(folder / "a", 4);
    REQUIRE_FALSE(large);
    CHECK_THAT(large.error().message, Contains("larger than 4 bytes"));
}

TEST_CASE("what is no readable file is refused and does not hang", "[file]") {
    const Folder folder;
    const auto missing = read_file(folder / "missing", 10);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().fault == Fault::not_found);
    CHECK_THAT(missing.error().message, Contains("No such file or directory"));
    const auto directory = read_file(folder.path.string(), 10);
    REQUIRE_FALSE(directory);
    CHECK_THAT(directory.error().message, Contains("is a directory"));
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    const auto fifo = read_file(folder / "fifo", 10);
    REQUIRE_FALSE(fifo);
    CHECK_THAT(fifo.error().message, Contains("no regular file"));
    CHECK_FALSE(read_file("/dev/zero", 10));
}

TEST_CASE("a file is replaced whole", "[file]") {
    const Folder folder;
    REQUIRE(write_file_atomically(folder / "a", "one"));
    REQUIRE(write_file_atomically(folder / "a", "two"));
    CHECK(*read_file(folder / "a", 10) == "two");
    CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
    CHECK_FALSE(write_file_atomically(folder / "none/a", "x"));
}
