// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/samples/timing_sample.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/samples/operator_json.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

TimingSample sample_of(SamplePoint point) {
    TimingSample out;
    out.device = {"EPYC-2", 2, 2.6e9, 0.0, ""};
    out.versions = {{"backend", "torch-cpu"}, {"dlcast", "0.1.0"}};
    out.host = "n1";
    out.rank = 3;
    out.clock = SampleClock::call;
    out.point = std::move(point);
    out.repetitions = 25;
    out.outliers = 2;
    out.median_s = 1.2345678901234e-4;
    out.relative_ci = 0.013;
    out.fastest_s = 1.1e-4;
    out.slowest_s = 9e-4;
    return out;
}

Operator convolution() {
    Operator op;
    op.kind = OperatorKind::conv2d;
    op.phase = Phase::backward_weight;
    op.precision = Precision::bf16;
    op.batch = 8;
    op.in_ch = 3, op.out_ch = 64;
    op.in_h = op.in_w = 224, op.out_h = op.out_w = 112;
    op.kernel_h = op.kernel_w = 7;
    op.stride = 2;
    op.bias = op.channels_last = true;
    return op;
}

std::string fault_of(const std::string& text) {
    const auto sample = parse_timing_sample(text, "s.jsonl", 7);
    return sample ? "" : sample.error().message;
}

const std::string good_tail =
    R"("device": {"name": "EPYC-2"}, "repetitions": 5, "median_s": 0.5, "relative_ci": 0.01})";

}  // namespace

TEST_CASE("a timing sample reads back as it was written", "[samples]") {
    Operator update;
    update.kind = OperatorKind::optimizer;
    update.phase = Phase::update;
    update.optimizer = Optimizer::adamw;
    update.rows = 138'357'544;
    update.cols = 1;
    const auto point = GENERATE_COPY(
        SamplePoint(convolution()), SamplePoint(update),
        SamplePoint(MeasuredCollective{Collective::alltoall, std::uint64_t{1} << 33, 16, 2, "mpi"}),
        SamplePoint(MeasuredPass{"vgg16", 8, Pass::step, true, Precision::fp32, Optimizer::momentum, 4, 2, 26214400}));
    const TimingSample written = sample_of(point);
    const auto read = parse_timing_sample(to_json_line(written), "s.jsonl", 1);
    REQUIRE(read);
    CHECK(*read == written);
}

TEST_CASE("a fault in a timing sample names file, line and column", "[samples]") {
    CHECK(fault_of("{\"v\": 1,,}").starts_with("s.jsonl:7:9: "));
    CHECK(fault_of(R"({"v": 2, "device": {"name": "a"}})") ==
          "s.jsonl:7:7: sample: version 2 is not known; this dlcast reads version 1");
    CHECK(
        fault_of(R"({"v": 1, "device": {"name": "a", "cores": 2}})").starts_with("s.jsonl:7:34: device: unknown key"));
    CHECK(fault_of(R"({"v": 1, )" + good_tail).find("exactly one of") != std::string::npos);
    CHECK(fault_of(
              R"({"v": 1, "operator": {"kind": "linear", "phase": "forward", "precision": "fp32", "m": 2, "k": 3}, )" +
              good_tail)
              .find("needs \"n\"") != std::string::npos);
    CHECK(fault_of(R"({"v": 1, "operator": {"kind": "liner", "phase": "forward", "precision": "fp32"}, )" + good_tail)
              .find("kind is \"liner\"") != std::string::npos);
    CHECK(
        fault_of(
            R"({"v": 1, "collective": {"name": "all_reduce", "bytes": -1, "ranks": 2, "nodes": 1, "library": "mpi"}, )" +
            good_tail)
            .find("bytes is -1") != std::string::npos);
}

TEST_CASE("a sample whose numbers contradict each other is refused", "[samples]") {
    TimingSample sample = sample_of(convolution());
    sample.outliers = sample.repetitions + 1;
    CHECK(fault_of(to_json_line(sample)).find("more outliers than repetitions") != std::string::npos);
    sample = sample_of(convolution());
    sample.fastest_s = 2 * sample.median_s;
    CHECK(fault_of(to_json_line(sample)).find("between fastest_s and slowest_s") != std::string::npos);
    sample = sample_of(convolution());
    sample.fastest_s = sample.median_s = 9e-10;
    CHECK(fault_of(to_json_line(sample)).find("a nanosecond or more") != std::string::npos);
    sample = sample_of(MeasuredPass{"m", 1, Pass::step, true, Precision::fp32, Optimizer::sgd, 2, 3, 0});
    CHECK(fault_of(to_json_line(sample)).find("more nodes than ranks") != std::string::npos);
}

TEST_CASE("a file of timing samples is read line by line up to its first fault", "[samples]") {
    ScratchFolder folder;
    const std::string line = to_json_line(sample_of(convolution()));
    int seen = 0;
    const auto count = [&seen](TimingSample&&, int) { ++seen; };
    CHECK(read_timing_samples(folder.write("good", line + "\n\n" + line + "\n" + line), count));
    CHECK(seen == 3);
    seen = 0;
    const std::string torn = folder.write("torn", line + "\n" + line.substr(0, 40));
    const auto status = read_timing_samples(torn, count);
    REQUIRE_FALSE(status);
    CHECK(status.error().message.starts_with(torn + ":2:"));
    CHECK(seen == 1);
    CHECK_FALSE(read_timing_samples(folder.write("long", std::string(70'000, ' ')), count));
    CHECK_FALSE(read_timing_samples(folder.path("missing"), count));
    CHECK_FALSE(read_timing_samples(folder.path("."), count));
}

TEST_CASE("a path stands on one line in messages", "[samples]") {
    ScratchFolder folder;
    const auto ignore = [](TimingSample&&, int) {};
    const std::string shown = folder.path("odd?name");
    CHECK_THAT(read_timing_samples(folder.path("odd\nname"), ignore).error().message, Contains("'" + shown + "'"));
    CHECK_THAT(read_timing_samples(folder.write("odd\nname", "{"), ignore).error().message, StartsWith(shown + ":1:"));
    CHECK_THAT(read_plan(folder.path("odd\nname")).error().message, StartsWith(shown + ":1:"));
}

TEST_CASE("a CPU's time is the host's, also where an earlier version called it a kernel's", "[samples]") {
    TimingSample sample = sample_of(convolution());
    sample.clock = SampleClock::host;
    const std::string line = to_json_line(sample);
    CHECK(line.find("\"clock\":\"host\"") != std::string::npos);
    CHECK(parse_timing_sample(line, "s", 1)->clock == SampleClock::host);
    sample.clock = SampleClock::kernel;  // the backend is torch-cpu
    CHECK(parse_timing_sample(to_json_line(sample), "s", 1)->clock == SampleClock::host);
    sample.versions["backend"] = "torch-cuda";
    CHECK(parse_timing_sample(to_json_line(sample), "s", 1)->clock == SampleClock::kernel);
    // A CPU computes inside of the call: no launch stands beside it.
    CHECK(layer_clock(SampleClock::host) == Clock::kernel);
    CHECK(layer_clock(SampleClock::call) == Clock::call);
}

TEST_CASE("a point is the same whatever its time was, and another on another device or backend", "[samples]") {
    const TimingSample a = sample_of(convolution());
    TimingSample b = a;
    b.median_s = 1.0;
    b.slowest_s = 2.0;
    b.device.clock_Hz = 1e9;
    CHECK(same_point(a, b));
    b.device.name = "EPYC-4";
    CHECK_FALSE(same_point(a, b));
    b = a;
    b.versions["backend"] = "torch-cuda";
    CHECK_FALSE(same_point(a, b));
    b = a;
    std::get<Operator>(b.point).stride = 1;
    CHECK_FALSE(same_point(a, b));
}

TEST_CASE("the schema of timing samples lists the words that the reader knows", "[samples][schema]") {
    const auto text = read_file(DLCAST_SOURCE_DIR "/etc/schema/timing-sample.schema.json", 1 << 20);
    REQUIRE(text);
    const auto tree = parse_json(*text, "timing-sample.schema.json");
    REQUIRE(tree);
    const Value& definitions = *tree->find("$defs");
    const auto words = [&](const char* part, const char* key) {
        std::vector<std::string> out;
        for (const Value& word : definitions.find(part)->find("properties")->find(key)->find("enum")->as_array())
            out.push_back(word.as_string());
        return out;
    };
    CHECK(words("operator", "kind") == operator_kind_names());
    CHECK(words("operator", "function") == function_names());
    CHECK(words("operator", "phase") == phase_names());
    CHECK(words("operator", "precision") == precision_names());
    CHECK(words("operator", "optimizer") == optimizer_names());
    CHECK(words("collective", "name") == std::vector<std::string>(collective_names.begin(), collective_names.end()));
}

TEST_CASE("lines of a file need no end at the last one, and a zero byte ends none", "[samples]") {
    ScratchFolder folder;
    const std::string line = to_plan_line(convolution());
    const auto read = read_plan(folder.write("open", line + "\n\n" + line));
    REQUIRE(read);
    CHECK(read->size() == 2);
    const auto cut = read_plan(folder.write("zero", line + std::string("\0 and more\n", 11)));
    REQUIRE_FALSE(cut);
    CHECK(cut.error().message.find("zero:1:") != std::string::npos);
}

TEST_CASE("a plan reads back as it was written", "[samples]") {
    ScratchFolder folder;
    const MeasuredPass pass{"resnet18", 8, Pass::forward, true, Precision::fp32, Optimizer::none, 1, 1, 0};
    const std::vector<SamplePoint> plan{convolution(), pass};
    const std::string file = folder.write("plan", to_plan_line(plan[0]) + "\n" + to_plan_line(plan[1]) + "\n");
    const auto read = read_plan(file);
    REQUIRE(read);
    CHECK(*read == plan);
    const std::string wrong = folder.write("wrong", to_plan_line(plan[0]) + "\n{\"layer\": 1}\n");
    const auto fault = read_plan(wrong);
    REQUIRE_FALSE(fault);
    CHECK(fault.error().message.starts_with(wrong + ":2:1: "));
}

TEST_CASE("a plan of more points than can be measured is refused with what to do", "[samples]") {
    ScratchFolder folder;
    const std::string line = to_plan_line(convolution()) + "\n";
    std::string text;
    for (std::size_t i = 0; i <= most_plan_points; ++i) text += line;
    const std::string file = folder.write("plan", text);
    const auto fault = read_plan(file);
    REQUIRE_FALSE(fault);
    CHECK(fault.error().message.find("plan:100001: a plan has at most 100000 points") != std::string::npos);
    CHECK(fault.error().message.find("head -n 100000") != std::string::npos);
    text.resize(text.size() - line.size());
    CHECK(read_plan(folder.write("plan", text))->size() == most_plan_points);
}

TEST_CASE("points that differ in one field have different hashes", "[samples]") {
    const MeasuredPass pass{"net", 8, Pass::step, true, Precision::fp32, Optimizer::sgd, 2, 1, 0};
    const MeasuredCollective collective{Collective::all_reduce, 1024, 4, 2, "mpi"};
    std::vector<SamplePoint> points{convolution(), pass, collective};
    const auto changed = [&](auto point, auto change) {
        change(point);
        points.emplace_back(point);
    };
    changed(convolution(), [](Operator& op) { op.bias = !op.bias; });
    changed(pass, [](MeasuredPass& p) { p.model = "other"; });
    changed(pass, [](MeasuredPass& p) { p.pass = Pass::update; });
    changed(pass, [](MeasuredPass& p) { p.bucket_bytes = 25 << 20; });
    changed(collective, [](MeasuredCollective& c) { c.collective = Collective::broadcast; });
    changed(collective, [](MeasuredCollective& c) { c.nodes = 1; });
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = 0; j < points.size(); ++j) CHECK((hash_of(points[i]) == hash_of(points[j])) == (i == j));
}
