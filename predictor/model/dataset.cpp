// SPDX-License-Identifier: GPL-2.0-or-later
// Counts: the data sets' own pages (image-net.org 2012, cs.toronto.edu/~kriz/cifar, cocodataset.org 2017, SQuAD v1.1,
// tensorflow.org/datasets, Hugging Face dataset cards). Bytes are those of the files a loader reads.
#include "predictor/model/dataset.h"

#include <fmt/format.h>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

Dataset images(std::string name, std::int64_t samples, std::int64_t validation, std::int64_t classes, double bytes,
               std::int64_t image_size = 0) {
    Dataset d;
    d.name = std::move(name);
    d.samples = samples;
    d.validation_samples = validation;
    d.classes = classes;
    d.bytes = bytes;
    d.image_size = image_size;
    return d;
}

Dataset text(std::string name, std::int64_t samples, std::int64_t validation, std::int64_t seq_len, double bytes,
             std::int64_t classes = 0, double tokens = 0.0) {
    Dataset d;
    d.name = std::move(name);
    d.samples = samples;
    d.validation_samples = validation;
    d.classes = classes;
    d.seq_len = seq_len;
    d.bytes = bytes;
    d.tokens = tokens;
    return d;
}

// ImageNet and COCO images are scaled to the model's own size; CIFAR and MNIST are trained as they are. A corpus counts
// tokens; its samples follow from the sequence length.
const std::vector<Dataset>& known_datasets() {
    static const std::vector<Dataset> all = {
        images("imagenet-1k", 1'281'167, 50'000, 1000, 147.9e9),
        images("imagenet-21k", 14'197'122, 0, 21841, 1.3e12),
        images("tiny-imagenet", 100'000, 10'000, 200, 0.25e9, 64),
        images("cifar10", 50'000, 10'000, 10, 0.16e9, 32),
        images("cifar100", 50'000, 10'000, 100, 0.16e9, 32),
        images("mnist", 60'000, 10'000, 10, 0.05e9, 28),
        images("fashion-mnist", 60'000, 10'000, 10, 0.05e9, 28),
        images("places365", 1'803'460, 36'500, 365, 105e9),
        images("food101", 75'750, 25'250, 101, 5e9),
        images("coco", 117'266, 5'000, 80, 19.3e9),      // 2017; training images that carry a box
        images("pascal-voc", 16'551, 4'952, 20, 1.9e9),  // 2007 + 2012 trainval, 2007 test
        images("openimages", 1'743'042, 41'620, 601, 561e9),
        images("laion-400m-filtered", 6'513'144, 30'000, 0, 0.6e12),  // MLPerf Training, Stable Diffusion
        text("squad", 88'524, 10'784, 384, 0.04e9),                   // v1.1 as 384-token windows of stride 128
        text("glue-mnli", 392'702, 9'815, 128, 0.08e9, 3),
        text("glue-sst2", 67'349, 872, 128, 0.005e9, 2),
        text("glue-mrpc", 3'668, 408, 128, 0.001e9, 2),
        text("imdb", 25'000, 25'000, 512, 0.08e9, 2),
        text("alpaca", 52'002, 0, 512, 0.045e9),
        text("govreport", 17'517, 973, 8192, 0.9e9),
        text("wmt14-en-de", 4'508'785, 3'000, 32, 1.3e9),
        text("wikitext-2", 0, 0, 0, 0.013e9, 0, 2.4e6),
        text("wikitext-103", 0, 0, 0, 0.54e9, 0, 117.9e6),  // GPT-2's tokens of the training split
        text("openwebtext", 0, 0, 0, 40e9, 0, 9.04e9),
        text("c4", 0, 0, 0, 305e9, 0, 156e9),
        text("the-pile", 0, 0, 0, 886e9, 0, 300e9),
        text("wikipedia-bookcorpus", 0, 0, 0, 20e9, 0, 4.0e9),
    };
    return all;
}

std::string plain(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    std::string out = squeeze(name);
    if (out == "imagenet" || out == "ilsvrc2012" || out == "imagenet2012") return "imagenet1k";
    if (out == "coco2017" || out == "mscoco") return "coco";
    if (out == "squadv11") return "squad";
    if (out == "bookcorpuswikipedia" || out == "wikibooks") return "wikipediabookcorpus";
    if (out == "pile") return "thepile";
    return out;
}

}  // namespace

std::vector<std::string> dataset_names() {
    std::vector<std::string> names;
    for (const Dataset& dataset : known_datasets()) names.push_back(dataset.name);
    return names;
}

std::optional<Dataset> find_dataset(std::string_view name) {
    const std::string wanted = plain(name);
    for (const Dataset& dataset : known_datasets())
        if (squeeze(dataset.name) == wanted) return dataset;
    return std::nullopt;
}

Result<Dataset> read_dataset(const Value& value, const std::string& source) {
    const auto unknown = [&](const Value& at, const std::string& name) {
        const std::string near = nearest_name(name, dataset_names());
        return invalid_argument(at_place(
            source, at.at,
            fmt::format("unknown data set \"{}\"; {}or describe it: {{ \"name\": \"{}\", \"samples\": 50000 }}", name,
                        near.empty() ? fmt::format("known: {}; ", fmt::join(dataset_names(), ", "))
                                     : fmt::format("did you mean \"{}\"? ", near),
                        name)));
    };
    if (value.is_string()) {
        if (auto known = find_dataset(value.as_string())) return *known;
        return unknown(value, value.as_string());
    }
    ObjectReader r(value, source, "dataset");
    Dataset d;
    if (const auto name = r.string("name")) {
        const auto known = find_dataset(*name);
        if (known)
            d = *known;
        else if (!value.find("samples") && !value.find("tokens"))
            return unknown(*value.find("name"), *name);
        d.name = *name;
    }
    constexpr std::int64_t most = 1'000'000'000'000'000;
    d.samples = r.integer("samples", 1, most).value_or(d.samples);
    d.validation_samples = r.integer("validation_samples", 0, most).value_or(d.validation_samples);
    d.classes = r.integer("classes", 1, 100'000'000).value_or(d.classes);
    d.seq_len = r.integer("seq_len", 1, 100'000'000).value_or(d.seq_len);
    d.image_size = r.integer("image_size", 1, 100'000).value_or(d.image_size);
    d.bytes = r.number("bytes", 0.0, 1e18).value_or(d.bytes);
    d.tokens = r.number("tokens", 1.0, 1e18).value_or(d.tokens);
    d.masked_tokens = r.integer("masked_tokens", 1, 100'000'000).value_or(d.masked_tokens);
    if (auto s = r.finish(); !s) return s.error();
    return d;
}

}  // namespace dlcast
