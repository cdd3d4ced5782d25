// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions end here: each function of torch_abi.h runs inside one guard.
#include "predictor/torch/torch_abi.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/serialize/archive.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

#include "predictor/torch/network.h"

#define DLCAST_EXPORT __attribute__((visibility("default")))

struct dlcast_torch_network {
    std::vector<dlcast::Member> members;
};

namespace dlcast {
namespace {

template <typename Work>
int guarded(char* error, std::size_t error_size, Work work) noexcept {
    try {
        // One thread: slurmctld's cores are its own, and a batch is smaller than a team's start.
        static std::once_flag once;
        std::call_once(once, [] { at::set_num_threads(1); });
        work();
        return 0;
    } catch (const c10::Error& e) {
        std::snprintf(error, error_size, "%s", e.what_without_backtrace());
    } catch (const std::exception& e) {
        std::snprintf(error, error_size, "%s", e.what());
    } catch (...) {
        std::snprintf(error, error_size, "an unknown exception");
    }
    if (char* line_end = std::strchr(error, '\n')) *line_end = '\0';
    return -1;
}

std::string key(std::size_t member, std::size_t net, const char* name) {
    return "member" + std::to_string(member) + ".net" + std::to_string(net) + "." + name;
}

void check_rows(const dlcast_torch_table& table, const NetParameters& net) {
    TORCH_CHECK(table.columns == net.mean.size(0), "the network reads ", net.mean.size(0), " columns, not ",
                table.columns);
    const auto inside = [&](const std::int32_t* index, std::int64_t low, std::int64_t high) {
        return std::all_of(index, index + table.rows, [&](std::int32_t i) { return i >= low && i < high; });
    };
    TORCH_CHECK(inside(table.launch, 0, net.log_launch.size(0)) && inside(table.optimizer, 0, net.log_update.size(0)) &&
                    inside(table.group, -1, net.embedding.size(0)),
                "an index is out of range");
}

// Members are averaged in log time; where they disagree, the scale is wider.
void evaluate_table(const std::vector<Member>& members, std::size_t net, const dlcast_torch_table& table) {
    const Rows rows = rows_of(table);
    const at::Tensor known = known_groups(rows);
    at::Tensor log_time = at::zeros({table.rows}), scale = at::zeros({table.rows});
    for (const Member& member : members) {
        check_rows(table, member[net]);
        const Prediction p = predict(member[net], rows, standardise(member[net], rows.features), known);
        log_time += p.log_time;
        scale += p.log_scale;
    }
    const double count = static_cast<double>(members.size());
    at::from_blob(table.predicted_log_time, {table.rows}, at::kFloat).copy_(log_time / count);
    at::from_blob(table.predicted_log_scale, {table.rows}, at::kFloat).copy_(scale / count);
}

void read_network(const char* file, dlcast_torch_network& network) {
    torch::serialize::InputArchive archive;
    archive.load_from(std::string(file), at::kCPU);
    at::Tensor count;
    archive.read("members", count);
    TORCH_CHECK(count.numel() == 1 && count.scalar_type() == at::kInt, "no member count");
    const int members = count.item<int>();
    TORCH_CHECK(members >= 1 && members <= 16, "1 to 16 members, not ", members);
    network.members.resize(static_cast<std::size_t>(members));
    for (std::size_t m = 0; m < network.members.size(); ++m) {
        for (std::size_t n = 0; n < network.members[m].size(); ++n) {
            NetParameters& net = network.members[m][n];
            net.each([&](const char* name, at::Tensor& tensor, bool) { archive.read(key(m, n, name), tensor); });
            net.check();
        }
    }
}

void write_network(const dlcast_torch_network& network, const char* file) {
    torch::serialize::OutputArchive archive;
    archive.write("members", at::full({1}, static_cast<int>(network.members.size()), at::kInt));
    for (std::size_t m = 0; m < network.members.size(); ++m) {
        for (std::size_t n = 0; n < network.members[m].size(); ++n) {
            NetParameters net = network.members[m][n];
            net.each([&](const char* name, at::Tensor& tensor, bool) { archive.write(key(m, n, name), tensor); });
        }
    }
    archive.save_to(std::string(file));
}

void fit_network(const dlcast_torch_table* tables, const dlcast_torch_fit_options& options,
                 dlcast_torch_network& network) {
    network.members.resize(static_cast<std::size_t>(options.members));
    double total = 0.0, done = 0.0;
    const auto work_of = [&](std::size_t n) {
        const dlcast_torch_net_options& net = options.nets[n];
        return static_cast<double>(tables[n].rows) * net.epochs * net.width * (net.width + 60.0);
    };
    for (std::size_t n = 0; n < DLCAST_TORCH_NETS; ++n) total += work_of(n) * options.members;
    for (std::size_t m = 0; m < network.members.size(); ++m) {
        for (std::size_t n = 0; n < DLCAST_TORCH_NETS; ++n) {
            const auto progress = [&](double part) {
                if (options.progress != nullptr) options.progress(options.user, (done + part * work_of(n)) / total);
            };
            network.members[m][n] = fit(tables[n], options, options.nets[n], options.seed * 64 + m * 8 + n, progress);
            network.members[m][n].check();
            done += work_of(n);
        }
    }
}

}  // namespace
}  // namespace dlcast

extern "C" {

DLCAST_EXPORT int dlcast_torch_abi(void) { return DLCAST_TORCH_ABI; }

DLCAST_EXPORT int dlcast_torch_open(const char* file, dlcast_torch_network** network, char* error, size_t error_size) {
    return dlcast::guarded(error, error_size, [&] {
        auto out = std::make_unique<dlcast_torch_network>();
        dlcast::read_network(file, *out);
        *network = out.release();
    });
}

DLCAST_EXPORT int dlcast_torch_evaluate(const dlcast_torch_network* network, const dlcast_torch_table* tables,
                                        char* error, size_t error_size) {
    return dlcast::guarded(error, error_size, [&] {
        const c10::InferenceMode inference;
        for (std::size_t n = 0; n < DLCAST_TORCH_NETS; ++n) {
            if (tables[n].rows > 0) dlcast::evaluate_table(network->members, n, tables[n]);
        }
    });
}

DLCAST_EXPORT int dlcast_torch_fit(const dlcast_torch_table* tables, const dlcast_torch_fit_options* options,
                                   dlcast_torch_network** network, char* error, size_t error_size) {
    return dlcast::guarded(error, error_size, [&] {
        auto out = std::make_unique<dlcast_torch_network>();
        dlcast::fit_network(tables, *options, *out);
        *network = out.release();
    });
}

DLCAST_EXPORT int dlcast_torch_save(const dlcast_torch_network* network, const char* file, char* error,
                                    size_t error_size) {
    return dlcast::guarded(error, error_size, [&] { dlcast::write_network(*network, file); });
}

DLCAST_EXPORT void dlcast_torch_close(dlcast_torch_network* network) { delete network; }

}  // extern "C"
