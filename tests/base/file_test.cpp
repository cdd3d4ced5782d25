// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("a file is read whole, and never more than allowed", "[file]") {
    const ScratchFolder folder;
    folder.write("a", "hello");
    const auto text = read_file(folder.path("a"), 5);
    REQUIRE(text);
    CHECK(*text == "hello");
    const auto large = read_file(folder.path("a"), 4);
    REQUIRE_FALSE(large);
    CHECK_THAT(large.error().message, Contains("larger than 4 bytes"));
}

TEST_CASE("what is no readable file is refused and does not hang", "[file]") {
    const ScratchFolder folder;
    const auto missing = read_file(folder.path("missing"), 10);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().fault == Fault::not_found);
    CHECK_THAT(missing.error().message, Contains("No such file or directory"));
    const auto directory = read_file(folder.path(""), 10);
    REQUIRE_FALSE(directory);
    CHECK_THAT(directory.error().message, Contains("is a directory"));
    REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);
    const auto fifo = read_file(folder.path("fifo"), 10);
    REQUIRE_FALSE(fifo);
    CHECK_THAT(fifo.error().message, Contains("no regular file"));
    CHECK_FALSE(read_file("/dev/zero", 10));
}

TEST_CASE("only files are replaced, and a link stays a link", "[file]") {
    const ScratchFolder folder;
    folder.write("target", "old");
    fs::create_symlink(folder.path("target"), folder.path("link"));
    REQUIRE(write_file_atomically(folder.path("link"), "new"));
    CHECK(fs::is_symlink(folder.path("link")));
    CHECK(*read_file(folder.path("target"), 10) == "new");
    REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);
    const auto fifo = write_file_atomically(folder.path("fifo"), "x");
    REQUIRE_FALSE(fifo);
    CHECK_THAT(fifo.error().message, Contains("no regular file"));
    CHECK(fs::is_fifo(folder.path("fifo")));
    CHECK_FALSE(write_file_atomically(folder.path(""), "x"));
}

TEST_CASE("a file is replaced whole", "[file]") {
    const ScratchFolder folder;
    REQUIRE(write_file_atomically(folder.path("a"), "one"));
    REQUIRE(write_file_atomically(folder.path("a"), "two"));
    CHECK(*read_file(folder.path("a"), 10) == "two");
    CHECK(std::distance(fs::directory_iterator(folder.path("")), fs::directory_iterator()) == 1);
    CHECK_FALSE(write_file_atomically(folder.path("none/a"), "x"));
}
