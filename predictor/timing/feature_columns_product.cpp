// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>

#include "predictor/timing/feature_columns.h"

namespace dlcast {

void columns::put_product(ColumnWriter& w, const OperatorQuery& q) {
    const Operator& op = *q.op;
    const double b = op.kind == OperatorKind::bmm ? static_cast<double>(op.batch) : 1.0;
    const double md = static_cast<double>(op.m), kd = static_cast<double>(op.k), nd = static_cast<double>(op.n);
    w.put("log_m", log_size(md));
    w.put("log_k", log_size(kd));
    w.put("log_n", log_size(nd));
    w.put("log_batch", log_size(b));
    w.put("log_out", log_size(b * md * nd));
    w.put("log_in", log_size(b * (md * kd + kd * nd)));
    put_alignment(w, "m_by_4", "m_by_32", op.m);
    put_alignment(w, "k_by_4", "k_by_32", op.k);
    put_alignment(w, "n_by_4", "n_by_32", op.n);
    put_tiles(w, b, md, nd, *q.device);
    put_gradient_tiles(w, b, md, kd, nd, *q.device);
    w.put("log_intensity", log_intensity(q), Figure::rates, 0.15);
    w.flag("bmm", op.kind == OperatorKind::bmm);
    w.flag("bias", op.bias);
    put_activation(w, op.function);
    w.flag("backward", op.phase == Phase::backward);
    w.flag("train_step", op.phase == Phase::train_step);
    w.flag("in_model", q.clock == Clock::kernel);
    w.flag("session", q.clock == Clock::session);
    put_device(w, *q.device);
}

}  // namespace dlcast
