// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions end here: each function of torch_abi.h runs inside one guard.
#include "predictor/torch/torch_abi.h"

#include <ATen/Parallel.h>
#include <torch/serialize/archive.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

#include "predictor/torch/fit.h"
#include "predictor/torch/inference.h"

#define DLCAST_EXPORT __attribute__((visibility("default")))

struct dlcast_torch_network {
    std::vector<dlcast::Member> members;
    std::vector<std::vector<dlcast::PlainNet>> plain;  // of each member, its networks; what forecasts are made with
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

// Members are averaged in log time.
void evaluate_table(const dlcast_torch_network& network, std::size_t net, const dlcast_torch_table& table) {
    std::fill_n(table.predicted_log_time, table.rows, 0.0f);
    std::fill_n(table.predicted_log_scale, table.rows, 0.0f);
    for (const auto& member : network.plain) member[net].add_predictions(table);
    const float count = static_cast<float>(network.plain.size());
    for (std::int64_t row = 0; row < table.rows; ++row) {
        table.predicted_log_time[row] /= count;
        table.predicted_log_scale[row] /= count;
    }
}

void prepare(dlcast_torch_network& network) {
    const at::NoGradGuard no_grad;
    network.plain.clear();
    for (const Member& member : network.members)
        network.plain.emplace_back(std::vector<PlainNet>(member.begin(), member.end()));
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

void fit_network(const dlcast_torch_table* tables, const dlcast_torch_sums* sums,
                 const dlcast_torch_fit_options& options, dlcast_torch_network& network) {
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
            done += work_of(n);
        }
        if (sums != nullptr && sums->sums > 0)
            fit_sums(network.members[m], tables, *sums, options, options.seed * 64 + m * 8 + DLCAST_TORCH_NETS);
        for (const NetParameters& net : network.members[m]) net.check();
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
        dlcast::prepare(*out);
        *network = out.release();
    });
}

DLCAST_EXPORT int dlcast_torch_evaluate(const dlcast_torch_network* network, const dlcast_torch_table* tables,
                                        char* error, size_t error_size) {
    return dlcast::guarded(error, error_size, [&] {
        for (std::size_t n = 0; n < DLCAST_TORCH_NETS; ++n) {
            if (tables[n].rows > 0) dlcast::evaluate_table(*network, n, tables[n]);
        }
    });
}

DLCAST_EXPORT int dlcast_torch_fit(const dlcast_torch_table* tables, const dlcast_torch_sums* sums,
                                   const dlcast_torch_fit_options* options, dlcast_torch_network** network, char* error,
                                   size_t error_size) {
    return dlcast::guarded(error, error_size, [&] {
        auto out = std::make_unique<dlcast_torch_network>();
        dlcast::fit_network(tables, sums, *options, *out);
        dlcast::prepare(*out);
        *network = out.release();
    });
}

DLCAST_EXPORT int dlcast_torch_save(const dlcast_torch_network* network, const char* file, char* error,
                                    size_t error_size) {
    return dlcast::guarded(error, error_size, [&] { dlcast::write_network(*network, file); });
}

DLCAST_EXPORT void dlcast_torch_close(dlcast_torch_network* network) { delete network; }

}  // extern "C"
