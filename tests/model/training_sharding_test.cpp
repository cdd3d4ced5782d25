// SPDX-License-Identifier: GPL-2.0-or-later
// FSDP's and ZeRO's sharding and offloading, as accelerate and the Trainer write them.
#include "training_test_support.h"

using namespace dlcast;

// accelerate and torch: FULL_SHARD where no strategy is stated, numbers 1 to 5 of ShardingStrategy,
// reshard_after_forward of FSDP 2; the Trainer: words, a list of them, a switch.
TEST_CASE("sharding is read in every form that accelerate and the Trainer take", "[model][formats]") {
    const auto [training, kind] = GENERATE(table<std::string, std::string>({
        {R"({"mixed_precision": "bf16", "distributed_type": "FSDP", "epochs": 1})", "full"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP"}})", "full"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 2}})", "full"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 2, "fsdp_reshard_after_forward": true}})",
         "full"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 2, "fsdp_reshard_after_forward": false}})",
         "grad_op"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_version": 2, "fsdp_reshard_after_forward": "false"}})",
         "grad_op"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_reshard_after_forward": "SHARD_GRAD_OP"}})", "grad_op"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": 1}})", "full"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": 2}})", "grad_op"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": 3}})", ""},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": "4"}})", "hybrid"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": 5}})", "hybrid"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": "NO_SHARD"}})", ""},
        {R"({"fsdp": ["full_shard", "offload"]})", "full"},
        {R"({"fsdp": ["shard_grad_op", "auto_wrap"], "num_train_epochs": 1})", "grad_op"},
        {R"({"fsdp": "hybrid_shard_zero2 auto_wrap"})", "hybrid"},
        {R"({"fsdp": true})", "full"},
        {R"({"fsdp": true, "fsdp_config": {"version": 2, "reshard_after_forward": false}})", "grad_op"},
        {R"({"fsdp": "full_shard", "fsdp_config": {"version": 2, "reshard_after_forward": false}})", "grad_op"},
        {R"({"fsdp": [], "fsdp_config": {"min_num_params": 0, "xla": false}})", ""},
        {R"({"fsdp": false, "fsdp_config": {"reshard_after_forward": true}})", ""},
        {R"({"fsdp": "", "num_train_epochs": 1})", ""},
        {R"({"distributed_type": "MULTI_GPU", "fsdp_config": {}})", ""},
    }));
    CAPTURE(training);
    CHECK(training_of(training).parallel.fsdp == kind);
}

TEST_CASE("sharding that nobody names is named as assumed", "[model][formats]") {
    const std::string full = "parallel.fsdp full (no sharding strategy is stated)";
    CHECK(assumes(R"({"distributed_type": "FSDP"})", full));
    CHECK_FALSE(assumes(R"({"distributed_type": "FSDP", "parallel": {"fsdp": "hybrid"}})", full));
    CHECK_FALSE(assumes(R"({"fsdp": "full_shard"})", full));
}

TEST_CASE("sharding that is not read is named", "[model][formats]") {
    CHECK(assumes(R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_stategy": "NO_SHARD"}})",
                  "key \"fsdp_config.fsdp_sharding_stategy\" is not read; did you mean \"sharding_strategy\"?"));
    CHECK_FALSE(assumes(R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_cpu_ram_efficient_loading": true,
            "fsdp_auto_wrap_policy": "SIZE_BASED_WRAP", "fsdp_min_num_params": 1, "fsdp_state_dict_type": "FULL_STATE_DICT",
            "fsdp_use_orig_params": true, "fsdp_sync_module_states": true, "fsdp_forward_prefetch": false,
            "fsdp_backward_prefetch": "BACKWARD_PRE", "fsdp_transformer_layer_cls_to_wrap": "Block", "xla": false}})",
                        "is not read"));
    CHECK(assumes(R"({"num_train_epochs": 1, "deepspeed": "ds.json"})",
                  "deepspeed ds.json is not read here; write its object in the place of its name"));
}

TEST_CASE("sharding that does not exist is refused with its place", "[model][bad]") {
    CHECK_THAT(fault_of("{\"distributed_type\": \"FDSP\"}"),
               Catch::Contains(":1:56: distributed_type should be one of NO, MULTI_GPU, FSDP, DEEPSPEED"));
    CHECK_THAT(fault_of(R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": "FULL"}})"),
               Catch::Contains("fsdp_config.fsdp_sharding_strategy should be one of FULL_SHARD, SHARD_GRAD_OP"));
    CHECK_THAT(fault_of(R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_sharding_strategy": 6}})"),
               Catch::Contains("fsdp_config.fsdp_sharding_strategy should be one of"));
    CHECK_THAT(fault_of(R"({"fsdp": "ful_shard"})"), Catch::Contains("fsdp has the word \"ful_shard\""));
    CHECK_THAT(fault_of(R"({"fsdp": ["full_shard", 1]})"),
               Catch::Contains("fsdp should be a text, or a list of texts"));
    CHECK_THAT(fault_of(R"({"fsdp": true, "fsdp_config": "fsdp.json"})"),
               Catch::Contains("fsdp_config should be an object; write the keys of its file here"));
    CHECK_THAT(fault_of(R"({"fsdp": true, "fsdp_config": {"version": 2, "reshard_after_forward": "often"}})"),
               Catch::Contains("fsdp_config.reshard_after_forward is \"often\"; it should be true or false"));
    CHECK_THAT(fault_of(R"({"fsdp": true, "fsdp_config": {"activation_checkpointing": "all"}})"),
               Catch::Contains("fsdp_config.activation_checkpointing is \"all\"; it should be true or false"));
}

TEST_CASE("FSDP's own checkpointing of activations is read", "[model][formats]") {
    CHECK(training_of(R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_activation_checkpointing": true}})")
              .activation_checkpointing == "full");
    CHECK(training_of(R"({"fsdp": "full_shard", "fsdp_config": {"activation_checkpointing": "true"}})")
              .activation_checkpointing == "full");
    CHECK(training_of(R"({"fsdp": "full_shard", "fsdp_config": {"activation_checkpointing": false}})")
              .activation_checkpointing == "none");
}

TEST_CASE("offloading is named in every form", "[model][formats]") {
    const auto [training, part] = GENERATE(table<std::string, std::string>({
        {R"({"fsdp": ["full_shard", "offload"]})", "fsdp to cpu is left out"},
        {R"({"fsdp": true, "fsdp_config": {"offload_params": true}})", "fsdp to cpu is left out"},
        {R"({"fsdp": true, "fsdp_config": {"cpu_offload": true}})", "fsdp to cpu is left out"},
        {R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_offload_params": "true"}})", "fsdp to cpu is left out"},
        {R"({"zero_optimization": {"stage": 2, "cpu_offload": true}})", "offload_optimizer to cpu is left out"},
    }));
    CAPTURE(training);
    CHECK(assumes(training, part));
    CHECK_FALSE(assumes(R"({"distributed_type": "FSDP", "fsdp_config": {"fsdp_cpu_ram_efficient_loading": true,
                    "fsdp_offload_params": false}})",
                        "is left out"));
}

// accelerate's DeepSpeedPlugin: zero_stage 2 unless stated; a configuration file of DeepSpeed's brings its own.
TEST_CASE("accelerate's DeepSpeed has stage 2 unless a stage is stated", "[model][formats]") {
    const std::string sentence = "parallel.zero 2 (accelerate's stage where none is stated)";
    CHECK(training_of(R"({"distributed_type": "DEEPSPEED"})").parallel.zero == 2);
    CHECK(assumes(R"({"distributed_type": "DEEPSPEED", "deepspeed_config": {}})", sentence));
    const std::string three = R"({"distributed_type": "DEEPSPEED", "deepspeed_config": {"zero_stage": 3}})";
    CHECK(training_of(three).parallel.zero == 3);
    CHECK_FALSE(assumes(three, sentence));
    CHECK(training_of(R"({"distributed_type": "DEEPSPEED", "deepspeed_config": {"zero_stage": 0}})").parallel.zero ==
          0);
    CHECK(training_of(R"({"distributed_type": "DEEPSPEED", "zero_optimization": {"stage": 1}})").parallel.zero == 1);
    CHECK(assumes(R"({"distributed_type": "DEEPSPEED", "deepspeed_config": {"deepspeed_config_file": "ds.json"}})",
                  "deepspeed_config_file ds.json is not read here"));
}
