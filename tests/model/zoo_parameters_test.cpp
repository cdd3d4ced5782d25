// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <set>

#include "model_test_support.h"
#include "tests/model/public_counts.h"

using namespace dlcast;

namespace {

std::vector<PublicCount> all_counts() {
    std::vector<PublicCount> all = image_counts();
    for (const auto& more : {hub_counts(), derived_counts(), derived_llama_counts()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

TEST_CASE("models of the zoo have their public parameter counts", "[model][zoo]") {
    for (const PublicCount& count : all_counts()) {
        CAPTURE(count.name);
        CHECK(zoo_workload(count.name).model.parameters == count.parameters);
    }
}

TEST_CASE("no name of the zoo is without a public parameter count", "[model][zoo]") {
    std::set<std::string> counted;
    for (const PublicCount& count : all_counts()) counted.insert(count.name);
    for (const std::string& name : zoo_names()) {
        CAPTURE(name);
        CHECK(counted.contains(name));
    }
}
