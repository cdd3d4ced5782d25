// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/csv.h"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows read_all(const std::string& path) {
    auto csv = CsvReader::open(path);
    if (!csv) FAIL(csv.error().message);
    Rows rows;
    std::vector<std::string> fields;
    while (true) {
        const auto more = csv->next(fields);
        if (!more) FAIL(more.error().message);
        if (!*more) return rows;
        rows.push_back(fields);
    }
}

std::string fault_of(const std::string& path) {
    auto csv = CsvReader::open(path);
    if (!csv) return csv.error().message;
    std::vector<std::string> fields;
    while (true) {
        const auto more = csv->next(fields);
        if (!more) return more.error().message;
        if (!*more) return "";
    }
}

void write_gz(const std::string& path, const std::string& text) {
    gzFile file = gzopen(path.c_str(), "wb");
    REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    REQUIRE(gzclose(file) == Z_OK);
}

}  // namespace

TEST_CASE("quoted fields hold commas, quotes and line breaks", "[csv]") {
    const ScratchFolder folder;
    const auto file = folder.write("a.csv", "a,b\n\"x, y\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",\n,\"\"\n");
    CHECK(read_all(file) == Rows{{"x, y", "say \"hi\""}, {"two\nlines", ""}, {"", ""}});
}

TEST_CASE("the last line needs no line break, and empty lines are passed over", "[csv]") {
    const ScratchFolder folder;
    CHECK(read_all(folder.write("a.csv", "a,b\n1,2\n\n3,4")) == Rows{{"1", "2"}, {"3", "4"}});
    CHECK(read_all(folder.write("header.csv", "a,b\n")).empty());
}

TEST_CASE("a byte order mark is no part of the first name", "[csv]") {
    const ScratchFolder folder;
    const auto csv = CsvReader::open(folder.write("a.csv", "\xEF\xBB\xBFrid,t\n"));
    REQUIRE(csv);
    CHECK(csv->column("rid") == 0);
    CHECK(csv->column("t") == 1);
    CHECK(csv->column("x") == -1);
}

TEST_CASE("gzip reads as the plain file does", "[csv]") {
    const ScratchFolder folder;
    std::string text = "a,b\n";
    for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + ",\"x,\"\n";  // past the reader's buffer
    write_gz(folder.path("a.csv.gz"), text);
    const Rows rows = read_all(folder.path("a.csv.gz"));
    CHECK(rows == read_all(folder.write("a.csv", text)));
    REQUIRE(rows.size() == 50'000);
    CHECK(rows.back() == std::vector<std::string>{"49999", "x,"});
}

TEST_CASE("faults name the file, the line and what is wrong", "[csv]") {
    const ScratchFolder folder;
    CHECK(fault_of(folder.write("a.csv", "a,b\n1,2\n3\n")).find("a.csv:3: 1 fields where the header has 2") !=
          std::string::npos);
    CHECK(fault_of(folder.write("b.csv", "a,b\n1,\"2\n")).find("b.csv:2: a quoted field does not end") !=
          std::string::npos);
    CHECK(fault_of(folder.write("c.csv", "")).find("empty") != std::string::npos);
    CHECK(fault_of(folder.write("d.csv", "a,a\n")).find("'a' stands twice") != std::string::npos);
    CHECK(fault_of(folder.path("none.csv")).find("No such file or directory; name a CSV file") != std::string::npos);
    CHECK(fault_of(folder.path("")).find("is a folder; name a CSV file") != std::string::npos);
    CHECK(fault_of(folder.write("e.csv", "a\n\"" + std::string(2 << 20, 'x'))).find("1 MiB") != std::string::npos);
}

TEST_CASE("gzip that ends too soon is a fault, not a shorter table", "[csv]") {
    const ScratchFolder folder;
    std::string text = "a,b\n";
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919) + ",x\n";
    write_gz(folder.path("a.csv.gz"), text);
    std::filesystem::resize_file(folder.path("a.csv.gz"), std::filesystem::file_size(folder.path("a.csv.gz")) / 2);
    CHECK(fault_of(folder.path("a.csv.gz")).find("broken or cut short") != std::string::npos);
}

TEST_CASE("a field is quoted only where it must be", "[csv]") {
    CHECK(csv_field("j1") == "j1");
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
}
