// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/formats.h"

#include "predictor/base/reader.h"
#include "predictor/model/hf_config.h"

namespace dlcast {

Result<Value> to_dlcast_json(Value tree, const std::string& source) {
    if (tree.find("model")) {
        ObjectReader r(tree, source, "the file");
        r.value("model");
        r.value("dataset");
        r.value("training");
        if (auto s = r.finish(); !s) return s.error();
        return tree;
    }
    if (tree.find("model_type")) {
        Value out = Value::object();
        out.set("model", keep_hf_keys(tree));
        return out;
    }
    return invalid_argument(
        at_place(source, tree.at,
                 "no known form of model file; expected an object with \"model\" (dlcast) or \"model_type\" "
                 "(Hugging Face config.json)"));
}

}  // namespace dlcast
