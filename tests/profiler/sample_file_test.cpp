// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/sample_file.h"

#include <catch2/catch.hpp>

#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

TimingSample sample_of(std::int64_t rows) {
    Operator op;
    op.kind = OperatorKind::softmax;
    op.rows = rows;
    op.cols = 8;
    TimingSample out;
    out.device.name = "cpu";
    out.point = op;
    out.repetitions = 3;
    out.median_s = out.fastest_s = out.slowest_s = 0.5;
    return out;
}

}  // namespace

TEST_CASE("a file of samples goes on where it stopped", "[profiler]") {
    ScratchFolder folder;
    const std::string path = folder.path("samples.jsonl");
    std::string note;
    {
        auto file = SampleFile::open(path, note);
        REQUIRE(file);
        CHECK(file->find(sample_of(1)) == nullptr);
        REQUIRE(file->append(sample_of(1)));
        REQUIRE(file->append(sample_of(2)));
    }
    auto file = SampleFile::open(path, note);
    REQUIRE(file);
    CHECK(note.empty());
    CHECK(file->samples().size() == 2);
    CHECK(file->find(sample_of(2)) != nullptr);
    CHECK(file->find(sample_of(3)) == nullptr);
}

TEST_CASE("a last line that was cut off is taken away, a broken one before it is an error", "[profiler]") {
    ScratchFolder folder;
    const std::string line = to_json_line(sample_of(1));
    const std::string torn = folder.write("torn", line + "\n" + line.substr(0, 50));
    std::string note;
    REQUIRE(SampleFile::open(torn, note));
    CHECK(note.find("cut off") != std::string::npos);
    CHECK(*read_file(torn, 1 << 20) == line + "\n");
    const auto broken = SampleFile::open(folder.write("broken", line.substr(0, 50) + "\n" + line + "\n"), note);
    REQUIRE_FALSE(broken);
    CHECK(broken.error().message.find("broken:1:") != std::string::npos);
    CHECK_FALSE(SampleFile::open(folder.path("no/such/folder"), note));
}

TEST_CASE("a file that is none of samples is left as it was, whatever its last line is", "[profiler]") {
    ScratchFolder folder;
    const std::string line = to_json_line(sample_of(1));
    for (const std::string& text :
         {std::string("my thesis"), line + "\nmy thesis", "{}\n" + line.substr(0, 50), std::string(100'000, 'x')}) {
        const std::string path = folder.write("file", text);
        std::string note;
        CHECK_FALSE(SampleFile::open(path, note));
        CHECK(*read_file(path, 1 << 20) == text);
    }
}

TEST_CASE("a last sample that lacks its line end alone is kept", "[profiler]") {
    ScratchFolder folder;
    const std::string path = folder.write("s", to_json_line(sample_of(1)));
    std::string note;
    auto file = SampleFile::open(path, note);
    REQUIRE(file);
    CHECK(note.empty());
    CHECK(file->find(sample_of(1)) != nullptr);
    REQUIRE(file->append(sample_of(2)));
    CHECK(*read_file(path, 1 << 20) == to_json_line(sample_of(1)) + "\n" + to_json_line(sample_of(2)) + "\n");
}

TEST_CASE("samples of ranks, hosts and devices are told apart", "[profiler]") {
    ScratchFolder folder;
    std::string note;
    auto file = SampleFile::open(folder.path("s"), note);
    REQUIRE(file);
    TimingSample sample = sample_of(1);
    REQUIRE(file->append(sample));
    const auto lacks = [&](auto change) {
        TimingSample other = sample;
        change(other);
        return file->find(other) == nullptr;
    };
    CHECK(lacks([](TimingSample& s) { s.rank = 1; }));
    CHECK(lacks([](TimingSample& s) { s.host = "n2"; }));
    CHECK(lacks([](TimingSample& s) { s.device.name = "other"; }));
    CHECK(lacks([](TimingSample& s) { s.versions["backend"] = "mpi"; }));
    CHECK_FALSE(lacks([](TimingSample& s) { s.median_s = 7.0; }));
}
