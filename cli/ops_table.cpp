// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/ops_table.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "cli/csv.h"
#include "predictor/base/text.h"
#include "predictor/model/workload.h"

namespace dlcast {
namespace {

// Sizes beyond this are no operator on any GPU, and their products would leave double's exact range.
constexpr std::int64_t max_size = std::int64_t{1} << 40;

// One row's fields by name.
class Fields {
public:
    Fields(const CsvReader& csv, const std::vector<std::string>& fields) : csv_(csv), fields_(fields) {}
    std::string text(std::string_view name) const {
        const int c = csv_.column(name);
        return c < 0 ? std::string() : fields_[static_cast<std::size_t>(c)];
    }
    // 0 where the field is empty; -1 where it is no size.
    std::int64_t size(std::string_view name) const {
        const std::string field = text(name);
        if (field.empty()) return 0;
        const auto value = parse_integer(field);
        return value && *value <= max_size ? *value : -1;
    }

private:
    const CsvReader& csv_;
    const std::vector<std::string>& fields_;
};

Function activation_from(std::string_view name) {
    if (name == "relu") return Function::relu;
    if (name == "tanh") return Function::tanh;
    if (name == "sigmoid") return Function::sigmoid;
    if (name == "gelu") return Function::gelu;
    if (name == "silu") return Function::silu;
    return Function::none;
}

std::optional<Function> elementwise_from(std::string_view name) {
    for (const Function f : {Function::add, Function::mul, Function::div, Function::pow, Function::add_scalar,
                             Function::mul_scalar, Function::div_scalar, Function::pow_scalar, Function::relu,
                             Function::gelu, Function::tanh, Function::sigmoid, Function::silu}) {
        if (name == to_string(f)) return f;
    }
    return std::nullopt;
}

std::optional<OperatorKind> row_wise_from(std::string_view name) {
    if (name == "softmax") return OperatorKind::softmax;
    if (name == "layernorm" || name == "layer_norm") return OperatorKind::layer_norm;
    if (name == "embedding") return OperatorKind::embedding;
    if (name == "dropout") return OperatorKind::dropout;
    return std::nullopt;
}

// The sum of a gradient into what earlier micro-batches left: an addition over the parameters.
Operator accumulation(const Operator& op) {
    Operator sum;
    sum.kind = OperatorKind::elementwise;
    sum.function = Function::add;
    sum.precision = op.precision;
    sum.rows = op.kind == OperatorKind::linear ? op.k : op.kind == OperatorKind::embedding ? op.vocab : 1;
    sum.cols = op.kind == OperatorKind::linear ? op.n : op.cols;
    return sum;
}

// Fills `op`; the fault, or "".
std::string describe(const Fields& f, Operator& op) {
    const std::string name = f.text("op");
    const std::string dtype = f.text("dtype");
    const auto precision = dtype.empty() ? Precision::fp32 : precision_from(dtype);
    if (!precision) return fmt::format("unknown dtype '{}'; use fp32, tf32, amp, fp16, bf16 or fp8", dtype);
    op.precision = *precision;
    const std::string optimizer = f.text("optimizer");
    const auto update = optimizer.empty() || optimizer == "none" ? Optimizer::none : optimizer_from(optimizer);
    if (!update) return fmt::format("unknown optimizer '{}'", optimizer);
    op.optimizer = *update;
    op.bias = f.text("bias") == "1";
    const auto all_positive = [&](std::initializer_list<std::int64_t> sizes) {
        for (const std::int64_t s : sizes) {
            if (s < 1) return false;
        }
        return true;
    };
    bool sized = false;
    if (name == "conv2d") {
        op.kind = OperatorKind::conv2d;
        op.function = activation_from(f.text("activation"));
        op.batch = f.size("batch");
        op.in_ch = f.size("in_ch");
        op.out_ch = f.size("out_ch");
        op.in_h = op.in_w = f.size("in_hw");
        op.out_h = op.out_w = f.size("out_hw");
        op.kernel_h = op.kernel_w = f.size("ksize");
        op.stride = f.size("stride");
        sized = all_positive({op.batch, op.in_ch, op.out_ch, op.in_h, op.out_h, op.kernel_h, op.stride});
    } else if (name == "linear" || name == "bmm") {
        op.kind = name == "bmm" ? OperatorKind::bmm : OperatorKind::linear;
        op.function = activation_from(f.text("activation"));
        op.m = f.size("m");
        op.k = f.size("k");
        op.n = f.size("n");
        if (op.kind == OperatorKind::bmm) op.batch = f.size("batch");
        sized = all_positive({op.batch, op.m, op.k, op.n});
    } else {
        const auto function = elementwise_from(name);
        const auto kind = row_wise_from(name);
        if (!function && !kind) return fmt::format("unknown operator '{}'", name);
        op.kind = kind.value_or(OperatorKind::elementwise);
        op.function = function.value_or(Function::none);
        op.rows = f.size("rows");
        op.cols = f.size("cols");
        op.vocab = std::max<std::int64_t>(f.size("vocab"), 0);
        sized = all_positive({op.rows, op.cols});
    }
    if (!sized) return fmt::format("a size of this {} is missing or out of range", name);
    const std::string phase = f.text("phase");
    if (phase == "grad_accumulate") {
        op = accumulation(op);
    } else if (phase == "backward") {
        op.phase = Phase::backward;
    } else if (phase == "train_step") {
        op.phase = Phase::train_step;
    } else if (!phase.empty() && phase != "forward") {
        return fmt::format("unknown phase '{}'; use forward, backward, grad_accumulate or train_step", phase);
    }
    return "";
}

// Rows timed one by one inside a model name their place in it; TensorFlow 1 was timed from the host.
Clock clock_of(const Fields& f) {
    const std::string framework = to_lower(f.text("framework"));
    if (framework.starts_with("tensorflow")) return Clock::session;
    return f.text("set") == "trace" || f.text("ctx").find(':') != std::string::npos ? Clock::kernel : Clock::call;
}

// A device of just this name goes before the alias of another: the rows of `--gpus` win for their names.
Result<Device> look_up(const DeviceCatalog& catalog, const std::string& name) {
    for (const Device& d : catalog.devices()) {
        if (d.name == name) return d;
    }
    return catalog.find(name);
}

}  // namespace

const Device* NamedDevices::find(const std::string& name, std::string& fault) {
    auto found = found_.find(name);
    if (found == found_.end()) found = found_.emplace(name, look_up(catalog_, name)).first;
    if (!found->second) fault = found->second.error().message;
    return found->second ? &*found->second : nullptr;
}

Status read_ops(const std::string& path, NamedDevices& devices, const std::function<void(OpsRow&&)>& use) {
    auto csv = CsvReader::open(path);
    if (!csv) return csv.error();
    for (const char* needed : {"gpu", "op"}) {
        if (csv->column(needed) < 0)
            return invalid_argument(fmt::format("{}: no column '{}'; a table of operators needs it", path, needed));
    }
    std::vector<std::string> fields;
    while (true) {
        const auto more = csv->next(fields);
        if (!more) return more.error();
        if (!*more) return ok();
        const Fields f(*csv, fields);
        OpsRow row;
        row.rid = f.text("rid");
        row.set = f.text("set");
        row.source = f.text("source");
        row.gpu = f.text("gpu");
        row.op_name = f.text("op");
        row.clock = clock_of(f);
        row.time_ms = parse_number(f.text("time_ms"));
        if (row.time_ms && *row.time_ms <= 0.0) row.time_ms.reset();
        row.fault = describe(f, row.op);
        if (row.fault.empty()) row.device = devices.find(row.gpu, row.fault);
        use(std::move(row));
    }
}

}  // namespace dlcast
