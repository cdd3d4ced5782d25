// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "predictor/model/overrides.h"
#include "tests/scratch_folder.h"
#include "training_test_support.h"

using namespace dlcast;

TEST_CASE("DeepSpeed's configuration says how a training runs", "[model][formats]") {
    const Training t = training_of(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 3, "overlap_comm": true}, "bf16": {"enabled": true},
        "fp16": {"enabled": false}, "optimizer": {"type": "AdamW", "params": {"lr": "auto"}}, "steps_per_print": 10, "epochs": 2})");
    CHECK(t.batch_size == 4);
    CHECK(t.grad_accum == 2);
    CHECK(t.parallel.zero == 3);
    CHECK(t.precision == Precision::bf16);
    CHECK(t.optimizer == Optimizer::adamw);
    CHECK(t.epochs == 2.0);  // dlcast's own key beside the tool's
}

TEST_CASE("precisions switched on are enough to tell another tool's configuration", "[model][formats]") {
    const Training t = training_of(R"({"fp16": {"enabled": false}, "bf16": {"enabled": true}, "steps": 100})");
    CHECK(t.precision == Precision::bf16);
    CHECK(t.steps == 100);
    CHECK(training_of(R"({"fp16": true, "epochs": 1})").precision == Precision::amp);
    CHECK_THAT(error_of("{\"model\": \"resnet18\", \"training\": {\"fp16\": {\"enabled\": true},\n"
                        " \"bf16\": {\"enabled\": true}, \"steps\": 100}}"),
               Catch::Contains(":2:") && Catch::Contains("fp16 and bf16 are both on; switch one of them off"));
}

TEST_CASE("a batch of all GPUs is a global batch; \"auto\" says nothing", "[model][formats]") {
    const Training t = training_of(R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": "auto"})");
    CHECK(t.global_batch == 256);
}

TEST_CASE("the arguments of Hugging Face's Trainer say how a training runs", "[model][formats]") {
    const Training t =
        training_of(R"({"per_device_train_batch_size": 8, "gradient_accumulation_steps": 4, "num_train_epochs": 3.0,
        "max_steps": -1, "fp16": true, "optim": "adafactor", "gradient_checkpointing": true, "fsdp": "full_shard auto_wrap",
        "eval_strategy": "epoch", "learning_rate": 5e-5, "deepspeed": null})");
    CHECK(t.batch_size == 8);
    CHECK(t.grad_accum == 4);
    CHECK(t.epochs == 3.0);
    CHECK(t.precision == Precision::amp);
    CHECK(t.optimizer == Optimizer::adafactor);
    CHECK(t.activation_checkpointing == "full");
    CHECK(t.parallel.fsdp == "full");
    CHECK(t.eval_every == "epoch");
}

TEST_CASE("accelerate's configuration says precision and sharding", "[model][formats]") {
    const Training t = training_of(R"({"mixed_precision": "bf16", "distributed_type": "FSDP",
        "fsdp_config": {"fsdp_sharding_strategy": "SHARD_GRAD_OP"}, "num_processes": 8})");
    CHECK(t.precision == Precision::bf16);
    CHECK(t.parallel.fsdp == "grad_op");
}

TEST_CASE("a training may stand in a file of its own", "[model][formats]") {
    const auto folder = std::filesystem::temp_directory_path() / ("dlcast_training_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "ds_config.json")
        << R"({"train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": 1}})";
    std::ofstream(folder / "job.json") << R"({"model": "gpt2", "training": "ds_config.json"})";
    std::ofstream(folder / "gone.json") << R"({"model": "gpt2", "training": "nothing.json"})";
    std::ofstream(folder / "three.json")
        << "{\"train_batch_size\": 8,\n \"zero_optimization\": {\"stage\": \"three\"}}";
    std::ofstream(folder / "bad.json") << R"({"model": "gpt2", "training": "three.json"})";
    std::ofstream(folder / "own.json") << "{\"epochs\": 1,\n \"batch_size\": \"many\"}";
    std::ofstream(folder / "bad_own.json") << R"({"model": "gpt2", "training": "own.json"})";
    const auto declaration = read_model_argument(folder / "job.json");
    const auto three = read_model_argument(folder / "bad.json");
    const auto own = read_model_argument(folder / "bad_own.json");
    const auto gone = read_model_argument(folder / "gone.json");
    std::filesystem::remove_all(folder);
    if (!declaration) FAIL(declaration.error().message);
    CHECK(to_workload(*declaration)->training.batch_size == 16);
    // Places are the training file's, not those of the one that names it.
    CHECK(to_workload(*declaration)->training.parallel.place ==
          (folder / "ds_config.json").string() + ":1:71: parallel");
    REQUIRE_FALSE(three);
    CHECK_THAT(three.error().message,
               Catch::Contains(
                   "three.json:2:33: training: zero_optimization.stage is \"three\"; it should be a whole number"));
    REQUIRE(own);
    CHECK_THAT(to_workload(*own).error().message, Catch::Contains("own.json:2:16: training: batch_size is \"many\""));
    REQUIRE_FALSE(gone);
    CHECK_THAT(gone.error().message, Catch::Contains("gone.json:1:") && Catch::Contains("nothing.json"));
}

TEST_CASE("the Trainer's \"deepspeed\" is followed from the file that names it", "[model][formats]") {
    const ScratchFolder scratch;
    scratch.write("ds.json", R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}})");
    scratch.write("bad.json", "{\"zero_optimization\":\n {\"stage\": 7}}");
    const auto read = [&](const std::string& name) {
        return read_model_argument(scratch.write(
            "job.json", "{\"model\": \"gpt2\", \"training\": {\"bf16\": true,\n \"deepspeed\": \"" + name + "\"}}"));
    };
    const auto good = read("ds.json");
    if (!good) FAIL(good.error().message);
    const auto w = to_workload(*good);
    REQUIRE(w);
    CHECK(w->training.parallel.zero == 3);
    CHECK(w->training.precision == Precision::bf16);
    CHECK_THAT(w->training.parallel.place, Catch::EndsWith("job.json:2:15: parallel"));
    CHECK_THAT(read("bad.json").error().message,
               Catch::Contains("bad.json:2:12: training: zero_optimization.stage is 7"));
    const std::string gone = read("gone.json").error().message;
    CHECK_THAT(gone, Catch::Contains("job.json:2:15: deepspeed: cannot read"));
    CHECK_THAT(gone, Catch::Contains("write its path from the folder of this file"));
}

TEST_CASE("values of other tools' keys are refused under those keys", "[model][bad]") {
    const auto of = [](const std::string& training) {
        return error_of("{\"model\": \"resnet18\", \"training\": " + training + "}");
    };
    CHECK_THAT(of(R"({"train_batch_size": 8, "bf16": {"enabled": "yes"}})"),
               Catch::Contains(":1:79: training: bf16.enabled is \"yes\"; it should be true or false"));
    CHECK_THAT(of(R"({"train_batch_size": 8, "fp16": {"enabled": 3}})"), Catch::Contains("fp16.enabled is 3;"));
    CHECK_THAT(of(R"({"num_train_epochs": 1, "bf16": "on"})"), Catch::Contains("training: bf16 is \"on\";"));
    CHECK_THAT(of(R"({"num_train_epochs": "3"})"),
               Catch::Contains("training: num_train_epochs is \"3\"; it should be"));
    CHECK_THAT(of(R"({"num_train_epochs": 1, "tf32": "on"})"), Catch::Contains("training: tf32 is \"on\";"));
    CHECK(of(R"({"train_batch_size": 8, "bf16": {"enabled": "auto"}, "fp16": {"enabled": null}})").empty());
}

TEST_CASE("what DeepSpeed would do otherwise is named as assumed", "[model][formats]") {
    const auto assumed = [](const std::string& training) {
        return good_workload("{\"model\": \"resnet18\", \"training\": " + training + "}").assumed;
    };
    using Catch::VectorContains;
    CHECK_THAT(
        assumed(R"({"train_batch_size": 8, "activation_checkpointing": {"partition_activations": false}})"),
        VectorContains(std::string("activation_checkpointing none unless stated (DeepSpeed's section of this name "
                                   "configures what the program calls; where it calls it, state \"full\")")));
    CHECK_THAT(
        assumed(R"({"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"},
                           "offload_param": {"device": "none"}}})"),
        VectorContains(std::string("offload_optimizer to cpu is left out: what it moves counts in GPU memory, and "
                                   "moving it takes no time")));
    CHECK_THAT(
        assumed(R"({"train_batch_size": 48, "train_micro_batch_size_per_gpu": 2,
                           "gradient_accumulation_steps": 3})"),
        VectorContains(std::string("train_batch_size 48 is that of 8 data ranks; DeepSpeed starts on no others")));
    const std::string left_out = "is left out: what it moves counts in GPU memory, and moving it takes no time";
    CHECK_THAT(assumed(R"({"distributed_type": "DEEPSPEED", "num_processes": 8, "deepspeed_config": {
                           "offload_optimizer_device": "nvme", "offload_param_device": "none"}})"),
               VectorContains("offload_optimizer to nvme " + left_out) &&
                   VectorContains(std::string("num_processes 8 is left out: the job's GPUs count")));
    CHECK_THAT(assumed(R"({"fsdp_config": {"fsdp_offload_params": true}})"), VectorContains("fsdp to cpu " + left_out));
    CHECK_THAT(assumed(R"({"num_train_epochs": 1, "fsdp": "full_shard offload"})"),
               VectorContains("fsdp to cpu " + left_out));
    CHECK_THAT(assumed(R"({"num_train_epochs": 1, "optim": "paged_adamw_8bit"})"),
               VectorContains(std::string("optimizer states of paged_adamw_8bit count in 32 bits")));
}

// DeepSpeed: gradient_accumulation_steps = train_batch_size / (micro-batch x data ranks).
TEST_CASE("a batch of all GPUs beside a micro-batch leaves the micro-steps to the GPUs", "[model][formats]") {
    const Training t = training_of(R"({"train_batch_size": 48, "train_micro_batch_size_per_gpu": 2})");
    CHECK(t.global_batch == 48);
    CHECK(t.micro_batch == 2);
    // Whoever states the micro-steps, in the section or around it, leaves nothing to derive.
    const Training around = training_of(R"({"num_train_epochs": 1, "gradient_accumulation_steps": 4,
        "deepspeed": {"train_batch_size": 48, "train_micro_batch_size_per_gpu": 2}})");
    CHECK(around.batch_size == 2);
    CHECK(around.grad_accum == 4);
    CHECK(around.global_batch == 0);
    const Training own =
        training_of(R"({"train_batch_size": 48, "train_micro_batch_size_per_gpu": 2, "grad_accum": 3})");
    CHECK(own.batch_size == 2);
    CHECK(own.grad_accum == 3);
}

TEST_CASE("a misspelt key beside another tool's keys is named; the tool's other keys are not", "[model][formats]") {
    using Catch::VectorContains;
    const auto assumed = [](const std::string& training) {
        return good_workload("{\"model\": \"resnet18\", \"training\": " + training + "}").assumed;
    };
    CHECK_THAT(
        assumed(R"({"num_train_epochs": 3, "batch_sise": 8, "train_batchsize": 4})"),
        VectorContains(std::string("key \"batch_sise\" is not read; did you mean \"batch_size\"?")) &&
            VectorContains(std::string("key \"train_batchsize\" is not read; did you mean \"train_batch_size\"?")));
    for (const std::string& sentence :
         assumed(R"({"num_train_epochs": 3, "per_device_eval_batch_size": 8, "eval_accumulation_steps": 2, "seed": 1,
             "save_steps": 500, "logging_steps": 10, "warmup_steps": 5, "optim": "sgd", "tf32": true, "do_eval": true,
             "eval_delay": 0, "max_grad_norm": 1.0, "lr_scheduler_type": "cosine", "local_rank": -1, "past_index": -1,
             "train_micro_batch_size_per_gpu": 2, "steps_per_print": 10, "dump_state": true, "fp16_opt_level": "O1"})"))
        CHECK_THAT(sentence, !Catch::Contains("did you mean"));
}

// The Trainer: eval_steps below 1 are a share of max_steps; 0.1 x 995 rounded up.
TEST_CASE("the Trainer's eval_steps may be a share of its steps", "[model][formats]") {
    CHECK(training_of(R"({"max_steps": 995, "eval_strategy": "steps", "eval_steps": 0.1})").eval_every == "100");
    CHECK_THAT(
        error_of("{\"model\": \"resnet18\", \"training\": {\"num_train_epochs\": 3, \"eval_strategy\": \"steps\",\n"
                 " \"eval_steps\": 0.1}}"),
        Catch::Contains(":2:16: eval_steps 0.1 is a share of steps that are not stated; add \"max_steps\""));
    CHECK_THAT(error_of(R"({"model": "resnet18", "training": {"max_steps": 9, "eval_strategy": "steps",
                        "eval_steps": "often"}})"),
               Catch::Contains("eval_steps"));
}

// 64 samples over 2 x 3 = 6 a data rank.
TEST_CASE("a batch of all GPUs that no number of them makes is refused", "[model][bad]") {
    CHECK_THAT(error_of("{\"model\": \"resnet18\", \"training\": {\"train_micro_batch_size_per_gpu\": 2,\n"
                        " \"gradient_accumulation_steps\": 3, \"train_batch_size\": 64}}"),
               Catch::Contains(":2:56: train_batch_size is 64; it should be a multiple of the 6 samples a data rank"));
}

TEST_CASE("a duration that is stated twice is refused with what was stated", "[model][bad]") {
    CHECK_THAT(
        error_of(R"({"model": "resnet18", "training": {"epochs": 3, "steps": 7}})"),
        Catch::Contains("epochs 3 and steps 7 are stated; at most one of epochs, steps and tokens may be stated: "
                        "take the others out"));
}

TEST_CASE("an optimizer without a counterpart is refused by name", "[model][bad]") {
    CHECK_THAT(error_of(R"({"model": "resnet18", "training": {"train_batch_size": 8, "optimizer": {"type": "Muon"}}})"),
               Catch::Contains("optimizer \"Muon\" has no counterpart"));
}

TEST_CASE("switches of the Trainer may be texts; counts may not", "[model][formats]") {
    CHECK(training_of(R"({"gradient_checkpointing": "true"})").activation_checkpointing == "full");
    CHECK(training_of(R"({"gradient_checkpointing": "False"})").activation_checkpointing == "none");
    CHECK(training_of(R"({"torch_compile": "true"})").compile);
    CHECK_THAT(fault_of(R"({"gradient_checkpointing": "unsloth"})"),
               Catch::Contains(":1:62: training: gradient_checkpointing is \"unsloth\"; it should be true or false"));
    CHECK_THAT(fault_of(R"({"per_device_train_batch_size": "8"})"),
               Catch::Contains("training: per_device_train_batch_size is \"8\"; it should be a whole number"));
    const Training t = training_of(R"({"torch_dtype": "float16", "bf16_full_eval": true, "fp16_full_eval": true,
                                       "num_train_epochs": 1})");
    CHECK(t.precision == training_of(R"({"num_train_epochs": 1})").precision);
}

TEST_CASE("trl's longest sequence is the sequence length", "[model][formats]") {
    const auto of = [](const std::string& training) {
        return good_workload(R"({"model": "gpt2", "training": )" + training + "}").model.seq_len;
    };
    CHECK(of(R"({"num_train_epochs": 1, "max_length": 256})") == 256);
    CHECK(of(R"({"num_train_epochs": 1, "max_seq_length": 512})") == 512);
    CHECK(of(R"({"num_train_epochs": 1, "max_length": 256, "seq_len": 128})") == 128);
    CHECK(of(R"({"num_train_epochs": 1, "max_length": null, "seq_len": 128})") == 128);
    CHECK_THAT(fault_of(R"({"num_train_epochs": 1, "max_length": 0})"), Catch::Contains("training: max_length is 0"));
    CHECK(assumes(R"({"num_train_epochs": 1, "packing": true})",
                  "packing is left out: each sample of the data set counts as one sequence"));
    CHECK_FALSE(assumes(R"({"num_train_epochs": 1, "packing": false})", "packing"));
}

TEST_CASE("checkpoints of the Trainer are named as left out", "[model][formats]") {
    const std::string remedy = " is left out: state checkpoint_minutes for the time of checkpoints";
    CHECK(assumes(R"({"num_train_epochs": 1, "save_steps": 500})", "save_steps 500" + remedy));
    CHECK(
        assumes(R"({"num_train_epochs": 1, "save_strategy": "steps", "save_steps": 500})", "save_steps 500" + remedy));
    CHECK(assumes(R"({"num_train_epochs": 1, "save_strategy": "epoch", "save_steps": 500})",
                  "save_strategy epoch" + remedy));
    for (const char* silent : {R"({"num_train_epochs": 1})", R"({"save_strategy": "no", "save_steps": 500})",
                               R"({"save_steps": 500, "checkpoint_minutes": 30})"})
        CHECK_FALSE(assumes(silent, remedy));
}

TEST_CASE("DeepSpeed's tensor parallelism is read; its pipeline and what an optimizer saves are named",
          "[model][formats]") {
    CHECK(training_of(R"({"tensor_parallel": {"autotp_size": 4}})").parallel.tp == 4);
    CHECK(training_of(R"({"train_batch_size": 8, "tensor_parallel": {"tp_size": 2}})").parallel.tp == 2);
    CHECK(training_of(R"({"train_batch_size": 8, "tensor_parallel": {"autotp_size": 0}})").parallel.tp == 1);
    CHECK_THAT(fault_of(R"({"tensor_parallel": {"autotp_size": "two"}})"),
               Catch::Contains("training: tensor_parallel.autotp_size is \"two\""));
    CHECK(assumes(R"({"train_batch_size": 8, "pipeline": {"stages": 4}})",
                  "pipeline.stages 4 is left out: the program cuts its model; state parallel.pp"));
    CHECK(assumes(R"({"num_train_epochs": 1, "optim": "galore_adamw"})",
                  "galore_adamw counts as adamw: that its states are smaller, and what that costs, is left out"));
    CHECK(assumes(R"({"train_batch_size": 8, "optimizer": {"type": "OneBitAdam"}})",
                  "onebitadam counts as adam: compressing what GPUs exchange is left out"));
    for (const char* unknown : {"lomo", "adalomo"})
        CHECK_THAT(fault_of(std::string(R"({"num_train_epochs": 1, "optim": ")") + unknown + "\"}"),
                   Catch::Contains("has no counterpart"));
}

// accelerate's MegatronLMPlugin: micro-batches are micro-steps of the loader's batch; recomputation is selective.
TEST_CASE("accelerate's Megatron-LM says how a model is cut", "[model][formats]") {
    const std::string config = R"("megatron_lm_config": {"megatron_lm_tp_degree": 4, "megatron_lm_pp_degree": 2,
        "megatron_lm_num_micro_batches": 8, "megatron_lm_sequence_parallelism": true,
        "megatron_lm_recompute_activations": "true", "megatron_lm_use_distributed_optimizer": true})";
    const Training t = training_of(R"({"distributed_type": "MEGATRON_LM", )" + config + "}");
    CHECK(t.parallel.tp == 4);
    CHECK(t.parallel.pp == 2);
    CHECK(t.parallel.sp);
    CHECK(t.parallel.zero == 1);
    CHECK(t.grad_accum == 8);
    CHECK(t.activation_checkpointing == "selective");
    CHECK(training_of(R"({"distributed_type": "MULTI_GPU", )" + config + "}").parallel.tp == 1);
    CHECK_THAT(fault_of(R"({"megatron_lm_config": {"megatron_lm_tp_degree": "4"}})"),
               Catch::Contains("training: megatron_lm_config.megatron_lm_tp_degree is \"4\""));
}

TEST_CASE("keys without effect on time are enough to tell another tool's configuration", "[model][formats]") {
    const std::string plain = R"({"epochs": 1, "batch_size": 8, "learning_rate": 1e-4, "weight_decay": 0.01,
        "warmup_steps": 100, "lr_scheduler_type": "cosine", "logging_steps": 10, "output_dir": "x", "seed": 1)";
    CHECK(training_of(plain + "}").batch_size == 8);
    CHECK_FALSE(assumes(plain + "}", "is not read"));
    CHECK(assumes(plain + R"(, "optimiser": "adam"})", "key \"optimiser\" is not read; did you mean \"optimizer\"?"));
    for (const char* key : {"learning_rate", "weight_decay", "warmup_steps", "warmup_ratio", "lr_scheduler_type",
                            "logging_steps", "save_steps", "output_dir", "seed", "adam_beta1"})
        CHECK(training_of(std::string(R"({"epochs": 2, ")") + key + "\": null}").epochs == 2.0);
    CHECK_THAT(fault_of(R"({"epochs": 1, "batch_sise": 8})"), Catch::Contains("batch_sise"));
}

TEST_CASE("a text of key=value changes a training and its data set", "[model]") {
    const auto plain = parse_payload(R"({"model": "vgg16", "training": {"epochs": 3, "batch_size": 8}})");
    REQUIRE(plain);
    const auto changed =
        with_training(*plain, "steps=7,precision=bf16,dataset=cifar10,trainable=frozen:conv1,conv2", "--dl-train");
    REQUIRE(changed);
    const auto w = to_workload(*changed);
    if (!w) FAIL(w.error().message);
    CHECK_FALSE(w->training.epochs);
    CHECK(w->training.steps == 7);
    CHECK(w->training.batch_size == 8);
    CHECK(w->dataset.classes == 10);
    for (const char* text : {"epochs", "=3", "dataset.x.y.z", ",", "batch_size=8,,epochs=3"})
        CHECK_FALSE(with_training(*plain, text, "--dl-train"));
}

TEST_CASE("the batch of a DeepSpeed section is held against the Trainer's own", "[model][formats]") {
    const std::string trainer = R"({"num_train_epochs": 1, "per_device_train_batch_size": 8, "deepspeed": )";
    const auto assumed = good_workload(R"({"model": "resnet18", "training": )" + trainer +
                                       R"({"train_batch_size": 64, "zero_optimization": {"stage": 2}}}})")
                             .assumed;
    CHECK_THAT(assumed, Catch::VectorContains(
                            std::string("train_batch_size 64 is that of 8 data ranks; DeepSpeed starts on no others")));
    CHECK_THAT(error_of(R"({"model": "resnet18", "training": )" + trainer + R"({"train_batch_size": 100}}})"),
               Catch::Contains("train_batch_size is 100; it should be a multiple of the 8 samples a data rank "
                               "(per_device_train_batch_size x gradient_accumulation_steps)"));
}

TEST_CASE("a run of the Trainer that states no batch has the Trainer's", "[model][formats]") {
    CHECK(training_of(R"({"num_train_epochs": 1})").batch_size == 8);
    CHECK(training_of(R"({"num_train_epochs": 1, "batch_size": 16})").batch_size == 16);
    CHECK(training_of(R"({"learning_rate": 1e-4, "epochs": 1})").batch_size == 32);
    CHECK(training_of(R"({"num_train_epochs": 1, "deepspeed": {"train_micro_batch_size_per_gpu": 4}})").batch_size ==
          4);
}

TEST_CASE("keys of parallelism that are not read are named", "[model][formats]") {
    const auto assumed = good_workload(R"({"model": "gpt2", "training": {"num_train_epochs": 1, "tp_size": 4,
        "auto_find_batch_size": false, "global_batch_size": 64, "sequence_parallel_size": 1}})")
                             .assumed;
    const auto names = [&](const std::string& key) {
        return std::any_of(assumed.begin(), assumed.end(),
                           [&](const std::string& text) { return text.starts_with(key + " is left out"); });
    };
    CHECK(names("tp_size"));
    CHECK(names("global_batch_size"));
    CHECK_FALSE(names("auto_find_batch_size"));
    CHECK_FALSE(names("sequence_parallel_size"));
}

TEST_CASE("a batch in dlcast's own words wins over DeepSpeed's", "[model][formats]") {
    const Training t =
        training_of(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "batch_size": 16, "steps": 9})");
    CHECK(t.batch_size == 16);
    CHECK(t.global_batch == 0);
    CHECK(t.micro_batch == 0);
}
