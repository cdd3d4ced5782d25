// SPDX-License-Identifier: GPL-2.0-or-later
// Counts: the data sets' own pages (image-net.org 2012, cs.toronto.edu/~kriz/cifar, cocodataset.org 2017, SQuAD v1.1,
// tensorflow.org/datasets, Hugging Face dataset cards). Bytes are those of the files a loader reads.
#include "predictor/model/dataset.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// A table that lies in the file as it is: a client that asks for one data set does not make all of them.
struct Known {
    char name[24] = {};
    std::int64_t samples = 0, validation_samples = 0, classes = 0, image_size = 0, seq_len = 0;
    double bytes = 0, tokens = 0;
};

template <std::size_t N>
constexpr Known known(const char (&name)[N], std::int64_t samples, std::int64_t validation, std::int64_t classes,
                      double bytes) {
    Known d;
    static_assert(N <= sizeof d.name);
    for (std::size_t i = 0; i < N; ++i) d.name[i] = name[i];
    d.samples = samples;
    d.validation_samples = validation;
    d.classes = classes;
    d.bytes = bytes;
    return d;
}

template <std::size_t N>
constexpr Known images(const char (&name)[N], std::int64_t samples, std::int64_t validation, std::int64_t classes,
                       double bytes, std::int64_t image_size = 0) {
    Known d = known(name, samples, validation, classes, bytes);
    d.image_size = image_size;
    return d;
}

template <std::size_t N>
constexpr Known text(const char (&name)[N], std::int64_t samples, std::int64_t validation, std::int64_t seq_len,
                     double bytes, std::int64_t classes = 0, double tokens = 0.0) {
    Known d = known(name, samples, validation, classes, bytes);
    d.seq_len = seq_len;
    d.tokens = tokens;
    return d;
}

// ImageNet and COCO images are scaled to the model's own size; CIFAR and MNIST are trained as they are. A corpus counts
// tokens; its samples follow from the sequence length.
constexpr Known known_datasets[] = {
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
    images("stl10", 5'000, 8'000, 10, 2.6e9, 96),
    images("svhn", 73'257, 26'032, 10, 2.4e9, 32),
    images("oxford-pets", 3'680, 3'669, 37, 0.8e9),
    images("flowers102", 1'020, 1'020, 102, 0.35e9),
    images("stanford-cars", 8'144, 8'041, 196, 1.9e9),
    images("celeba", 162'770, 19'867, 40, 1.4e9),
    images("inaturalist-2021", 2'686'843, 100'000, 10'000, 224e9),
    images("cityscapes", 2'975, 500, 19, 11e9),
    images("ade20k", 20'210, 2'000, 150, 0.95e9),
    images("objects365", 1'742'289, 80'000, 365, 345e9),
    images("openimages", 1'743'042, 41'620, 601, 561e9),
    images("criteo-1tb", 4'195'197'692, 89'137'319, 0, 671e9),
    images("movielens-20m", 19'861'770, 138'493, 0, 0.5e9),
    images("laion-400m-filtered", 6'513'144, 30'000, 0, 0.6e12),  // MLPerf Training, Stable Diffusion
    text("squad", 88'524, 10'784, 384, 0.04e9),                   // v1.1 as 384-token windows of stride 128
    text("glue-mnli", 392'702, 9'815, 128, 0.08e9, 3),
    text("glue-sst2", 67'349, 872, 128, 0.005e9, 2),
    text("glue-mrpc", 3'668, 408, 128, 0.001e9, 2),
    text("glue-cola", 8'551, 1'043, 128, 0.0005e9, 2),
    text("glue-qnli", 104'743, 5'463, 128, 0.02e9, 2),
    text("glue-qqp", 363'846, 40'430, 128, 0.05e9, 2),
    text("glue-rte", 2'490, 277, 128, 0.001e9, 2),
    text("glue-stsb", 5'749, 1'500, 128, 0.001e9, 1),
    text("ag-news", 120'000, 7'600, 128, 0.03e9, 4),
    text("yelp-full", 650'000, 50'000, 512, 0.5e9, 5),
    text("dbpedia", 560'000, 70'000, 128, 0.2e9, 14),
    text("cnn-dailymail", 287'113, 13'368, 1024, 1.3e9),
    text("xsum", 204'045, 11'332, 512, 0.5e9),
    text("samsum", 14'732, 818, 512, 0.01e9),
    text("dolly-15k", 15'011, 0, 512, 0.013e9),
    text("gsm8k", 7'473, 1'319, 512, 0.005e9),
    text("librispeech", 281'241, 5'567, 196'800, 60e9),  // 960 h; 12.3 s of 16 kHz on average
    text("imdb", 25'000, 25'000, 512, 0.08e9, 2),
    text("alpaca", 52'002, 0, 512, 0.045e9),
    text("govreport", 17'517, 973, 8192, 0.9e9),
    text("wmt14-en-de", 4'508'785, 3'000, 32, 1.3e9),
    text("wikitext-2", 0, 0, 0, 0.013e9, 0, 2.4e6),
    text("wikitext-103", 0, 0, 0, 0.54e9, 0, 117.9e6),  // GPT-2's tokens of the training split
    text("enwik8", 0, 0, 0, 0.1e9, 0, 90e6),            // characters of the training part
    text("tinystories", 0, 0, 0, 1.9e9, 0, 0.47e9),
    text("bookcorpus", 0, 0, 0, 4.6e9, 0, 1.1e9),
    text("slimpajama", 0, 0, 0, 895e9, 0, 627e9),
    text("redpajama", 0, 0, 0, 5e12, 0, 1.2e12),
    text("fineweb", 0, 0, 0, 44e12, 0, 15e12),
    text("fineweb-edu", 0, 0, 0, 5e12, 0, 1.3e12),
    text("openwebtext", 0, 0, 0, 40e9, 0, 9.04e9),
    text("c4", 0, 0, 0, 305e9, 0, 156e9),
    text("the-pile", 0, 0, 0, 886e9, 0, 300e9),
    text("wikipedia-bookcorpus", 0, 0, 0, 20e9, 0, 4.0e9),
};

Dataset dataset_of(const Known& known) {
    Dataset d;
    d.name = known.name;
    d.samples = known.samples;
    d.validation_samples = known.validation_samples;
    d.classes = known.classes;
    d.image_size = known.image_size;
    d.seq_len = known.seq_len;
    d.bytes = known.bytes;
    d.tokens = known.tokens;
    return d;
}

std::string plain(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    std::string out = squeeze(name);
    if (out == "imagenet" || out == "ilsvrc2012" || out == "imagenet2012") return "imagenet1k";
    if (out == "coco2017" || out == "mscoco") return "coco";
    if (out == "squadv11") return "squad";
    if (out == "bookcorpuswikipedia" || out == "wikibooks") return "wikipediabookcorpus";
    if (out == "databricksdolly15k") return "dolly15k";
    if (out == "pile") return "thepile";
    return out;
}

}  // namespace

std::vector<std::string> dataset_names() {
    std::vector<std::string> names;
    for (const Known& known : known_datasets) names.emplace_back(known.name);
    return names;
}

std::optional<Dataset> find_dataset(std::string_view name) {
    const std::string wanted = plain(name);
    for (const Known& known : known_datasets)
        if (squeeze(known.name) == wanted) return dataset_of(known);
    return std::nullopt;
}

namespace {

// Also of what stands before the number or year of its version: "imagenet" of imagenet-1k. Empty: none is near.
std::string nearest_dataset(const std::string& name) {
    std::vector<std::string> spelt = dataset_names();
    std::vector<std::string> names = spelt;
    for (const std::string& known : dataset_names())
        if (const auto dash = known.rfind('-'); dash != std::string::npos) {
            spelt.push_back(known.substr(0, dash));
            names.push_back(known);
        }
    const std::string near = nearest_name(name, spelt);
    if (near.empty()) return "";
    return names[static_cast<std::size_t>(std::find(spelt.begin(), spelt.end(), near) - spelt.begin())];
}

}  // namespace

Result<Dataset> read_dataset(const Value& value, const std::string& source) {
    const auto unknown = [&](const Value& at, const std::string& name) {
        const std::string near = nearest_dataset(name);
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
