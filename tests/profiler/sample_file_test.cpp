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
