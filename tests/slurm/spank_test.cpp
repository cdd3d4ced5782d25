// SPDX-License-Identifier: GPL-2.0-or-later
// spank_dlcast.so as sbatch, srun and slurmstepd call it.
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using Catch::Matchers::Contains;
using slurm_host::SpankPlugin;

namespace {

const std::string vgg16 =
    R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"epochs": 2, "batch_size": 64}})";
const std::string resnet18 = R"({"model": "resnet18", "training": {"steps": 5, "batch_size": 64}})";

// Sets an environment variable for the length of a test.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Environment() { unsetenv(name_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
};

}  // namespace

TEST_CASE("the option is known to sbatch, srun and slurmstepd and to nothing else", "[slurm]") {
    const auto [context, known] = GENERATE(table<spank_context_t, bool>({{S_CTX_ALLOCATOR, true},
                                                                         {S_CTX_LOCAL, true},
                                                                         {S_CTX_REMOTE, true},
                                                                         {S_CTX_SLURMD, false},
                                                                         {S_CTX_JOB_SCRIPT, false}}));
    const SpankPlugin plugin(context);
    CHECK(SpankPlugin::option_registered() == known);
}

TEST_CASE("without the option nothing is said and nothing is handed over", "[slurm]") {
    SpankPlugin plugin(GENERATE(S_CTX_ALLOCATOR, S_CTX_LOCAL, S_CTX_REMOTE, S_CTX_SLURMD, S_CTX_JOB_SCRIPT));
    const auto answer = plugin.component({});
    CHECK(answer.rc == 0);
    CHECK(answer.log.empty());
    CHECK(SpankPlugin::job_control_env().empty());
}

TEST_CASE("a model file becomes one payload of at most 4 KiB", "[slurm]") {
    const Site site;
    SpankPlugin plugin(GENERATE(S_CTX_ALLOCATOR, S_CTX_LOCAL));
    const auto answer = plugin.component({site.write("vgg16.json", vgg16)});
    CHECK(answer.rc == 0);
    CHECK(answer.log.empty());
    REQUIRE(SpankPlugin::job_control_env().size() == 1);
    const std::string& payload = SpankPlugin::job_control_env().at("DLCAST_MODEL");
    CHECK(payload.size() <= 4096);
    CHECK_THAT(payload, Contains("vgg16"));
}

TEST_CASE("the value that Slurm reads last wins: the command line over the script", "[slurm]") {
    const Site site;
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    plugin.component({site.write("script.json", vgg16), site.write("command_line.json", resnet18)});
    CHECK_THAT(SpankPlugin::job_control_env().at("DLCAST_MODEL"), Contains("resnet18") && !Contains("vgg16"));
}

TEST_CASE("a component of a heterogeneous job without the option has no payload", "[slurm]") {
    const Site site;
    const std::string model = site.write("vgg16.json", vgg16);
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    plugin.component({model});
    CHECK(SpankPlugin::job_control_env().size() == 1);
    SECTION("nor where Slurm repeats the first one's from its environment") {
        const Environment inherited("SLURM_SPANK__SLURM_SPANK_OPTION_dlcast_dl_model", model.c_str());
        plugin.component({model});
        CHECK(SpankPlugin::job_control_env().empty());
    }
    SECTION("but the one that repeats it by itself has") {
        const Environment inherited("SLURM_SPANK__SLURM_SPANK_OPTION_dlcast_dl_model", model.c_str());
        plugin.component({model, model});
        CHECK(SpankPlugin::job_control_env().size() == 1);
    }
    SECTION("nor where Slurm says nothing") {
        plugin.component({});
        CHECK(SpankPlugin::job_control_env().empty());
    }
}

TEST_CASE("a model that cannot be read stops the submission with the file's name", "[slurm]") {
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    const auto answer = plugin.component({"/nonexistent/vgg16.json"});
    CHECK(answer.rc < 0);  // a positive number would let Slurm submit the job
    CHECK(SpankPlugin::job_control_env().empty());
    REQUIRE_FALSE(answer.log.empty());
    CHECK_THAT(answer.log.front(), Contains("error: dlcast: ") && Contains("/nonexistent/vgg16.json"));
}

TEST_CASE("on a compute node the option is never an error", "[slurm]") {
    SpankPlugin plugin(S_CTX_REMOTE);
    const auto answer = plugin.component({"/nonexistent/vgg16.json"});
    CHECK(answer.rc == 0);
    CHECK(answer.log.empty());
    CHECK(SpankPlugin::job_control_env().empty());
}

TEST_CASE("on a compute node the payload is taken out of the job's environment, elsewhere nothing is", "[slurm]") {
    CHECK(SpankPlugin(S_CTX_REMOTE).start_user() == std::vector<std::string>{"SLURM_SPANK_DLCAST_MODEL"});
    CHECK(SpankPlugin(S_CTX_LOCAL).start_user().empty());
}

TEST_CASE("a step inside an allocation reads no file", "[slurm]") {
    const Environment job("SLURM_JOB_ID", "12");
    SpankPlugin plugin(S_CTX_LOCAL);
    const auto answer = plugin.component({"/nonexistent/vgg16.json"});
    CHECK(answer.rc == 0);
    CHECK(SpankPlugin::job_control_env().empty());
}

TEST_CASE("a job submitted from inside a job does not inherit its model", "[slurm]") {
    const Environment option("SLURM_SPANK__SLURM_SPANK_OPTION_dlcast_dl_model", "vgg16.json");
    const Environment payload("SLURM_SPANK_DLCAST_MODEL", "{}");
    const SpankPlugin plugin(S_CTX_ALLOCATOR);
    // sbatch looks for these after slurm_spank_init.
    CHECK(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_dlcast_dl_model") == nullptr);
    CHECK(getenv("SLURM_SPANK_DLCAST_MODEL") == nullptr);
}

TEST_CASE("a path that a shell would have expanded is told to be written out", "[slurm]") {
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    const auto answer = plugin.component({GENERATE("~/vgg16.json", "$HOME/vgg16.json")});
    CHECK(answer.rc != 0);
    REQUIRE_FALSE(answer.log.empty());
    CHECK(answer.log.front().find("expands neither ~ nor variables") != std::string::npos);
}

TEST_CASE("the option --dl-train changes the training of the file", "[slurm]") {
    const Site site;
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    const auto answer = plugin.component({site.write("vgg16.json", vgg16)}, {"epochs=3", "steps=7,precision=bf16"});
    CHECK(answer.rc == 0);
    const std::string& payload = SpankPlugin::job_control_env().at("DLCAST_MODEL");
    CHECK_THAT(payload, Contains("\"steps\":7") && Contains("\"bf16\"") && Contains("\"batch_size\":64"));
    CHECK_THAT(payload, !Contains("epochs"));
}

TEST_CASE("a name needs no file where --dl-train says how it is trained", "[slurm]") {
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    const auto answer = plugin.component({"resnet50"}, {"epochs=90,batch_size=256,dataset=imagenet-1k"});
    CHECK(answer.rc == 0);
    CHECK(SpankPlugin::job_control_env().at("DLCAST_MODEL") ==
          R"({"model":"resnet50","training":{"epochs":90,"batch_size":256},"dataset":"imagenet-1k"})");
}

TEST_CASE("the option --dl-train alone, or with a key nobody knows, stops the submission", "[slurm]") {
    SpankPlugin plugin(S_CTX_ALLOCATOR);
    const auto alone = plugin.component({}, {"epochs=90"});
    CHECK(alone.rc < 0);
    REQUIRE_FALSE(alone.log.empty());
    CHECK_THAT(alone.log.front(), Contains("name it with --dl-model"));
    const auto unknown = plugin.component({"resnet50"}, {"epoch=90"});
    CHECK(unknown.rc < 0);
    REQUIRE_FALSE(unknown.log.empty());
    CHECK_THAT(unknown.log.front(), Contains("--dl-train epoch=90: resnet50: training: unknown key \"epoch\"") &&
                                        Contains("did you mean \"epochs\"?"));
}

// As sbatch's own options: the command line over SBATCH_..., which wins over the script. Which of them Slurm gives is
// told by the words of /proc/self/cmdline alone, and the first word of a program is free.
TEST_CASE("a command line with --dl-model", "[.command-line]") {
    char* const program = program_invocation_short_name;
    char sbatch[] = "sbatch";
    program_invocation_short_name = sbatch;
    {
        const Environment model("SBATCH_DL_MODEL", "resnet18"), training("SBATCH_DL_TRAIN", "steps=5");
        SpankPlugin plugin(S_CTX_ALLOCATOR);
        // Slurm reads the script's line first, the command line then.
        CHECK(plugin.component({"vgg11", "vgg16"}, {"steps=9"}).rc == 0);
        const std::string& payload = SpankPlugin::job_control_env().at("DLCAST_MODEL");
        CHECK_THAT(payload, Contains("vgg16") && !Contains("resnet18") && !Contains("vgg11"));
        // The training stood in the script alone: there the environment wins.
        CHECK_THAT(payload, Contains("\"steps\":5"));
    }
    program_invocation_short_name = program;
}

TEST_CASE("sbatch's command line wins over its environment", "[slurm]") {
    char word[] = "--dl-model=vgg16", tag[] = "[command-line]";
    char* const words[] = {word, tag, nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words, environ) == 0);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("sbatch's environment wins over the script's lines", "[slurm]") {
    char* const program = program_invocation_short_name;
    char sbatch[] = "sbatch";
    program_invocation_short_name = sbatch;
    {
        const Environment model("SBATCH_DL_MODEL", "resnet18"), training("SBATCH_DL_TRAIN", "steps=5");
        SpankPlugin plugin(S_CTX_ALLOCATOR);
        CHECK(plugin.component({}).rc == 0);
        CHECK_THAT(SpankPlugin::job_control_env().at("DLCAST_MODEL"), Contains("resnet18") && Contains("\"steps\":5"));
        // The value came from a line of the script: no such word is among this program's arguments.
        CHECK(plugin.component({"vgg16"}).rc == 0);
        CHECK_THAT(SpankPlugin::job_control_env().at("DLCAST_MODEL"), Contains("resnet18"));
    }
    program_invocation_short_name = program;
}
