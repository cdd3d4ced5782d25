// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/weights_release.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

auto holding(const std::string& text) {
    return [text](const std::string& dir) { return write_file_atomically(dir + "/manifest.toml", text); };
}

Status publish(
    const std::string& name, const std::function<Status(const std::string&)>& fill,
    const Say& say = [](const std::string&) {}) {
    const auto place = WeightsPlace::hold(name, say);
    return place ? place->publish(fill) : place.error();
}

std::string content(const std::string& name) {
    const auto text = read_file(name + "/manifest.toml", 1000);
    return text ? *text : text.error().message;
}

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("weights are published through a link, and the last ones are kept", "[refine]") {
    const ScratchFolder folder;
    const std::string name = folder.path("site/weights");
    for (const char* text : {"one", "two", "three"}) REQUIRE(publish(name, holding(text)));
    CHECK(fs::is_symlink(name));
    CHECK(content(name) == "three");
    CHECK(content(name + ".last") == "two");
    CHECK(entries(folder.path("site")) == 4);  // two links, two versions: the first is gone

    REQUIRE(roll_back_weights(name + "/"));
    CHECK(content(name) == "two");
    CHECK(content(name + ".last") == "three");
    REQUIRE(publish(name, holding("four")));
    CHECK(content(name) == "four");
    CHECK(content(name + ".last") == "two");
}

TEST_CASE("what cannot be published leaves the weights as they are", "[refine]") {
    const ScratchFolder folder;
    const std::string name = folder.path("weights");
    CHECK_THAT(roll_back_weights(name).error().message, Contains("no version before"));
    REQUIRE(publish(name, holding("one")));
    CHECK_THAT(roll_back_weights(name).error().message, Contains("no version before"));
    const auto failed = publish(name, [](const std::string&) -> Status { return unavailable("no room"); });
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "no room");
    CHECK(content(name) == "one");
    CHECK(entries(folder.path("")) == 2);

    const std::string plain = folder.path("plain");
    fs::create_directory(plain);
    CHECK_THAT(publish(plain, holding("two")).error().message, Contains("no link") && Contains("dlcast.toml"));
    CHECK(fs::is_empty(plain));
}

TEST_CASE("nothing is published inside a published version, which goes with it", "[refine]") {
    const ScratchFolder folder;
    const std::string name = folder.path("weights");
    REQUIRE(publish(name, holding("one")));
    for (const char* inside : {"/more", "/deep/more", ".v1/more"}) {
        CAPTURE(inside);
        CHECK_THAT(publish(name + inside, holding("two")).error().message,
                   Contains("inside '" + name) && Contains("beside it"));
    }
    CHECK(entries(name) == 1);
    REQUIRE(publish(folder.path("site.v2/more"), holding("three")));  // a folder that is no version
}

TEST_CASE("publishers at the same time each publish a whole version", "[refine]") {
    const ScratchFolder folder;
    const std::string name = folder.path("weights");
    const auto slowly = [](const std::string& dir) -> Status {
        if (auto s = write_file_atomically(dir + "/first", "1"); !s) return s;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return write_file_atomically(dir + "/manifest.toml", "whole");
    };
    std::vector<std::string> faults(8);
    std::vector<std::thread> publishers;
    for (std::string& fault : faults)
        publishers.emplace_back([&] {
            if (auto s = publish(name, slowly); !s) fault = s.error().message;
        });
    for (std::thread& publisher : publishers) publisher.join();
    for (const std::string& fault : faults) CHECK(fault.empty());
    CHECK(fs::read_symlink(name) == "weights.v8");
    for (const std::string& one : {name, name + ".last"}) {
        CHECK(content(one) == "whole");
        CHECK(fs::exists(one + "/first"));
    }
    CHECK(entries(folder.path("")) == 4);
}

// The test holds the lock for 1.3 s; a second is waited for in silence.
TEST_CASE("who waits for the lock on a folder says for which folder and program", "[refine]") {
    const ScratchFolder folder;
    const std::string name = folder.path("weights");
    const int held = ::open(folder.path("").c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(::flock(held, LOCK_EX) == 0);
    std::thread other([held] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1300));
        ::close(held);
    });
    std::string said;
    const auto status = publish(name, holding("one"), [&](const std::string& line) { said += line; });
    other.join();
    REQUIRE(status);
    CHECK_THAT(said, Contains("waiting for the lock on '" + folder.path("").substr(0, folder.path("").size() - 1)));
    CHECK_THAT(said, Contains("which process " + std::to_string(::getpid()) + " (dlcast_tests) holds"));  // no refine
    said.clear();
    REQUIRE(publish(name, holding("two"), [&](const std::string& line) { said += line; }));
    CHECK(said.empty());
}

TEST_CASE("odd names to publish", "[refine]") {
    const ScratchFolder folder;
    CHECK_THAT(publish("", holding("one")).error().message, Contains("--out is empty"));
    const std::string name = folder.path("weights");
    REQUIRE(write_file_atomically(name + ".v9223372036854775807", "not a version"));
    REQUIRE(publish(name, holding("one")));
    CHECK(fs::read_symlink(name) == "weights.v1");
}

TEST_CASE("places that cannot be published to are refused with the remedy, and an empty name goes nowhere back",
          "[refine]") {
    const ScratchFolder folder;
    const std::string file = folder.write("good.jsonl", "");
    const std::string refused = publish(file + "/x", holding("one")).error().message;
    CHECK_THAT(refused, Contains("--out: '" + file + "/x'") && Contains("name a place in a folder"));
    CHECK_THAT(refused, !Contains("filesystem error"));
    CHECK_THAT(roll_back_weights("").error().message, Contains("--out is empty"));
}
