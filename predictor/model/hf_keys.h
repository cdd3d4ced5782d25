// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of Hugging Face's config.json that have to do with a network, in the words of transformers' configuration
// classes.
#pragma once

#include <array>

namespace dlcast {

// Every key any family reads.
inline constexpr std::array hf_keys = {
    "model_type", "name", "architectures", "attn_implementation", "_attn_implementation", "attn_config",
    "tie_word_embeddings",
    // sizes of language models
    "vocab_size", "hidden_size", "d_model", "n_embd", "n_embed", "dim", "num_hidden_layers", "n_layer", "n_layers",
    "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers", "num_attention_heads", "n_head", "n_heads",
    "num_heads", "encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads", "head_dim", "d_head",
    "d_kv", "intermediate_size", "n_inner", "d_inner", "ffn_dim", "d_ff", "hidden_dim", "encoder_ffn_dim",
    "decoder_ffn_dim", "expansion_ratio", "max_position_embeddings", "n_positions", "max_seq_len", "type_vocab_size",
    "embedding_size", "word_embed_proj_dim",
    // switches
    "hidden_act", "activation_function", "activation", "hidden_activation", "feed_forward_proj", "attention_bias",
    "mlp_bias", "no_bias", "bias", "use_bias", "multi_query", "new_decoder_architecture", "num_kv_heads",
    "parallel_attn", "rotary_dim", "do_layer_norm_before", "share_encoder_decoder_embeddings", "is_encoder_decoder",
    "static_position_embeddings", "lm_head_bias", "use_parallel_residual", "use_qk_norm", "qk_layernorm",
    "use_qkv_bias", "add_qkv_bias", "add_bias_linear", "multi_query_attention", "norm_bias", "position_biased_input",
    "share_att_key", "do_stable_layer_norm", "conv_bias", "feat_proj_layer_norm", "position_embedding_type",
    "attention_type", "feat_extract_norm", "ff_activation", "use_relative_position_bias",
    "use_absolute_position_embeddings", "use_mean_pooling", "use_swiglu_ffn", "layer_scale_init_value", "layer_type",
    // more sizes of language models
    "model_max_length", "seq_length", "padded_vocab_size", "ffn_hidden_size", "kv_channels", "multi_query_group_num",
    "dff", "attention_heads", "input_embedding_size", "src_vocab_size", "tgt_vocab_size",
    "max_encoder_position_embeddings", "max_source_positions", "max_target_positions", "num_mel_bins", "max_length",
    "frequency_stride", "position_buckets", "max_2d_position_embeddings", "attention_window", "block_size",
    "local_attention", "global_attn_every_n_layers", "conv_kernel_size", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "expand", "state_size", "conv_kernel", "time_step_rank",
    "conv_dim", "conv_stride", "num_conv_pos_embeddings", "num_conv_pos_embedding_groups",
    // nested parts
    "ffn_config", "text_config", "vision_config", "attn_impl", "kv_n_heads", "moe_num_experts", "moe_top_k", "moe_k",
    "rms_norm_eps", "rope_theta", "is_decoder", "output_embedding_size", "use_task_id", "task_type_vocab_size",
    "relative_attention_num_buckets", "emb_layer_norm_before", "max_relative_positions", "norm_rel_ebd",
    "relative_attention", "pos_att_type", "attention_out_bias", "num_ln_in_parallel_attn", "layer_types",
    "sliding_window", "use_sliding_window", "max_window_layers", "sliding_window_pattern", "_sliding_window_pattern",
    "encoder_attention_type", "max_decoder_position_embeddings", "decoder_vocab_size", "num_adapter_layers",
    "adapter_kernel_size", "adapter_stride", "output_hidden_size", "classifier_proj_size", "classifier_bias",
    "decoder_bias", "local_radius", "global_block_size", "normalize_before", "normalize_embedding", "rmsnorm", "qk_ln",
    "attn_type", "learned_pos_emb", "use_weighted_layer_sum", "use_auxiliary_head",
    // mixtures of experts
    "num_local_experts", "num_experts_per_tok", "n_routed_experts", "n_shared_experts", "moe_num_shared_experts",
    "moe_intermediate_size", "shared_expert_intermediate_size", "shared_intermediate_size", "first_k_dense_replace",
    "decoder_sparse_step", "encoder_sparse_step", "num_experts", "num_sparse_encoder_layers",
    "num_sparse_decoder_layers", "intermediate_size_mlp", "interleave_moe_layer_step", "moe_layers",
    // Transformer-XL
    "d_embed", "cutoffs", "div_val", "mem_len", "clamp_len",
    // vision and detection
    "use_mask_token", "use_shared_relative_position_bias", "embedding_sizes", "time_stride", "num_buckets",
    "image_size", "patch_size", "num_channels", "num_labels", "embed_dim", "depths", "hidden_sizes", "window_size",
    "mlp_ratio", "num_register_tokens", "projection_dim", "backbone", "feature_maps", "feature_channels",
    "boxes_per_cell", "fpn_channels", "fpn_levels", "head_convs", "anchors", "num_classes", "discriminator",
    "generator",
    // diffusion
    "_class_name", "sample_size", "in_channels", "out_channels", "block_out_channels", "layers_per_block",
    "cross_attention_dim", "attention_head_dim", "transformer_layers_per_block", "down_block_types", "up_block_types",
    "mid_block_type", "addition_embed_type", "projection_class_embeddings_input_dim",
    // what was left out
    "assumed"};

// Keys that change a network, each with the value that is computed with by the families that do not read it.
struct LeftOut {
    const char *key, *computed_with;
};
inline constexpr LeftOut left_out[] = {{"mlp_only_layers", "[]"},
                                       {"num_hidden_groups", "1"},
                                       {"inner_group_num", "1"},
                                       {"add_cross_attention", "false"},
                                       {"tie_encoder_decoder", "false"},
                                       {"qkv_bias", "true"},
                                       {"enable_bias", "true"},
                                       {"layer_norm_elementwise_affine", "true"},
                                       {"attention_bias", "false"},
                                       {"mlp_bias", "false"},
                                       {"moe_layer_freq", "1"},
                                       {"add_adapter", "false"},
                                       {"use_absolute_embeddings", "false"},
                                       {"use_conv_bias", "true"},
                                       {"use_qk_norm", "false"},
                                       {"qk_layernorm", "false"},
                                       {"alibi", "false"},
                                       {"talking_head", "false"},
                                       {"use_prompt", "false"},
                                       {"router_bias", "false"},
                                       {"untie_r", "true"},
                                       {"tie_weight", "true"},
                                       {"index_topk", "none"},
                                       {"adapter_attn_dim", "none"},
                                       {"conv_pos_batch_norm", "false"},
                                       {"downsample_in_first_stage", "false"},
                                       {"downsample_in_bottleneck", "false"},
                                       {"num_nextn_predict_layers", "0"},
                                       {"pre_seq_len", "none"},
                                       {"patch_norm", "true"},
                                       {"only_cross_attention", "false"},
                                       {"dual_cross_attention", "false"},
                                       {"num_class_embeds", "none"},
                                       {"class_embed_type", "none"},
                                       {"encoder_hid_dim", "none"},
                                       {"conv_in_kernel", "3"},
                                       {"conv_out_kernel", "3"},
                                       {"time_embedding_dim", "none"},
                                       {"resnet_time_scale_shift", "\"default\""},
                                       {"reverse_transformer_layers_per_block", "none"},
                                       {"quantization_config", "none"}};

}  // namespace dlcast
