// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/slurm/site.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace {

const char* const files = R"(
[gpu_names]
a100 = "A100-SXM4-80GB"
v100 = "V100-SXM2-32GB"
[files]
gpus = ")" DLCAST_SOURCE_DIR R"(/etc/gpus.toml"
weights = ")" DLCAST_SOURCE_DIR R"(/etc/weights"
)";

const char* const cluster = R"(
[cluster]
name = "test"
[[partition]]
name = "a100"
max_time_min = 10080
[[partition.nodes]]
gpu = "a100"
gpus_per_node = 4
nodes = 2
cpus_per_node = 32
memory_bytes = 500000000000
[[partition]]
name = "v100"
max_time_min = 2880
[[partition.nodes]]
gpu = "v100"
gpus_per_node = 8
nodes = 1
cpus_per_node = 32
memory_bytes = 500000000000
[[partition]]
name = "t4"
max_time_min = 20160
[[partition.nodes]]
gpu = "t4"
gpus_per_node = 4
nodes = 1
cpus_per_node = 16
memory_bytes = 500000000000
[[partition]]
name = "l4"
max_time_min = 20160
[[partition.nodes]]
gpu = "l4"
gpus_per_node = 4
nodes = 1
cpus_per_node = 16
memory_bytes = 500000000000
[[partition]]
name = "cpu"
default = true
max_time_min = 1440
[[partition.nodes]]
nodes = 1
cpus_per_node = 16
memory_bytes = 500000000000
)";

}  // namespace

Site::Site(const std::string& policy) {
    std::string folder = (std::filesystem::temp_directory_path() / "dlcast-site.XXXXXX").string();
    if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary folder " + folder);
    folder_ = folder;
    write("dlcast.toml", policy + files);
    write("cluster.toml", cluster);
}

Site::~Site() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string Site::write(const std::string& name, const std::string& text) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

std::string built_module() { return DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so"; }
