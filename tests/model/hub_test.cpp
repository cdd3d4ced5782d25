// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "model_test_support.h"

using namespace dlcast;

// Parameters of the safetensors or model.num_parameters() on each model's hub page, or of the paper where the page
// rounds; encoders with their pooler, heads not counted.
TEST_CASE("hub models have their public parameter counts", "[model][zoo]") {
    const auto [name, parameters] = GENERATE(table<std::string, std::uint64_t>({
        {"bert-base-uncased", 109'482'240},
        {"bert-base-cased", 108'310'272},
        {"bert-large-uncased", 335'141'888},
        {"bert-large-cased", 333'579'264},
        {"roberta-base", 124'645'632},
        {"distilbert-base-uncased", 66'362'880},
        {"gpt2", 124'439'808},
        {"gpt2-medium", 354'823'168},
        {"gpt2-large", 774'030'080},
        {"gpt2-xl", 1'557'611'200},
        {"opt-125m", 125'239'296},
        {"opt-350m", 331'196'416},
        {"opt-1.3b", 1'315'758'080},
        {"opt-2.7b", 2'651'596'800},
        {"opt-6.7b", 6'658'473'984},
        {"Llama-2-7b", 6'738'415'616},
        {"Llama-2-13b", 13'015'864'320},
        {"Llama-2-70b", 68'976'648'192},
        {"Llama-3.1-8B", 8'030'261'248},
        {"Llama-3.1-405B", 405'853'388'800},
        {"Llama-3.2-1B", 1'235'814'400},
        {"Llama-3.2-3B", 3'212'749'824},
        {"Mistral-7B-v0.1", 7'241'732'096},
        {"Mixtral-8x7B-v0.1", 46'702'792'704},
        {"Qwen2.5-0.5B", 494'032'768},
        {"Qwen2.5-7B", 7'615'616'512},
        {"pythia-1b", 1'011'781'632},
        {"gpt-neox-20b", 20'554'567'680},
        {"gpt-j-6b", 6'050'882'784},
        {"gpt-neo-1.3B", 1'315'575'808},
        {"bloom-560m", 559'214'592},
        {"bloom-7b1", 7'069'016'064},
        {"mpt-7b", 6'649'286'656},
        {"falcon-7b", 6'921'720'704},
        {"t5-small", 60'506'624},
        {"t5-base", 222'903'552},
        {"t5-3b", 2'851'598'336},
        {"t5-11b", 11'307'321'344},
        {"google/flan-t5-small", 76'961'152},
        {"google/flan-t5-base", 247'577'856},
        {"google/flan-t5-large", 783'150'080},
        {"google/flan-t5-xl", 2'849'757'184},
        {"google/flan-t5-xxl", 11'135'332'352},
        {"Qwen/Qwen2-0.5B", 494'032'768},
        {"Qwen/Qwen2-7B", 7'615'616'512},
        {"google/gemma-2b", 2'506'172'416},
        {"google/gemma-7b", 8'537'680'896},
        {"microsoft/phi-2", 2'779'683'840},
        {"bart-base", 139'420'416},
        {"stable-diffusion-2-base", 865'910'724},
    }));
    CAPTURE(name);
    CHECK(zoo_workload(name).model.parameters == parameters);
}

// torchvision's documentation (num_params).
TEST_CASE("more image classifiers have their public parameter counts", "[model][zoo]") {
    const auto [name, parameters] = GENERATE(table<std::string, std::uint64_t>({
        {"efficientnet_b0", 5'288'548},
        {"efficientnet_b1", 7'794'184},
        {"efficientnet_b2", 9'109'994},
        {"efficientnet_b3", 12'233'232},
        {"efficientnet_b4", 19'341'616},
        {"efficientnet_b7", 66'347'960},
        {"mobilenet_v2", 3'504'872},
        {"densenet121", 7'978'856},
        {"densenet161", 28'681'000},
        {"densenet201", 20'013'928},
        {"convnext_tiny", 28'589'128},
        {"convnext_base", 88'591'464},
        {"vit_b_16", 86'567'656},
        {"vit_b_32", 88'224'232},
        {"vit_l_16", 304'326'632},
        {"vit_h_14", 632'045'800},
    }));
    CAPTURE(name);
    CHECK(zoo_workload(name).model.parameters == parameters);
}
