// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/onnx_wire.h"

#include <fmt/format.h>

#include <cstring>

namespace dlcast {
namespace {

constexpr std::size_t most_nodes = 100'000;
constexpr std::size_t most_kept_bytes = 32u << 20;
constexpr std::size_t longest_name = 1024;
constexpr std::size_t most_dimensions = 16;

enum Wire : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Reads the fields of nested messages; after a fault every read fails.
class WireReader {
public:
    explicit WireReader(ByteStream& stream) : stream_(stream), end_(stream.size()) {}

    struct Field {
        std::uint64_t number = 0;
        unsigned wire = 0;
    };

    /// The next field of the message; nothing at its end.
    std::optional<Field> next() {
        if (failed() || stream_.position() >= end_) return std::nullopt;
        const std::uint64_t tag = number();
        if (failed()) return std::nullopt;
        if (tag >> 3 == 0) return fail("a field without a number");
        return Field{tag >> 3, static_cast<unsigned>(tag & 7)};
    }

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const int byte = get();
            if (byte < 0) return 0;
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (!(byte & 0x80)) return value;
        }
        fail("a number of over ten bytes");
        return 0;
    }

    void skip(const Field& field) {
        if (field.wire == varint)
            number();
        else if (field.wire == fixed64)
            advance(8);
        else if (field.wire == fixed32)
            advance(4);
        else if (field.wire == bytes)
            advance(number());
        else
            fail(fmt::format("an unknown kind of field ({})", field.wire));
    }

    std::string text(const Field& field) {
        if (field.wire != bytes) return skip(field), "";
        const std::uint64_t length = number();
        if (length > longest_name)
            return fail(fmt::format("a name of {} bytes; a file this damaged has to be exported again", length)), "";
        keep(length);
        std::string out;
        for (std::uint64_t i = 0; i < length && !failed(); ++i) out += static_cast<char>(get());
        return out;
    }

    std::int64_t integer(const Field& field) {
        if (field.wire != varint) return skip(field), 0;
        return static_cast<std::int64_t>(number());
    }

    double real(const Field& field) {
        if (field.wire != fixed32) return skip(field), 0.0;
        return real();
    }

    double real() {
        const auto bits = static_cast<std::uint32_t>(little_endian(4));
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    std::uint64_t little_endian(int count) {
        std::uint64_t value = 0;
        for (int i = 0; i < count; ++i) value |= static_cast<std::uint64_t>(std::max(0, get())) << (8 * i);
        return value;
    }

    /// Whole numbers, one a field or many in one; at most `most` are kept.
    void integers(const Field& field, std::vector<std::int64_t>& out, std::size_t most) {
        const auto keep_one = [&] {
            const auto value = static_cast<std::int64_t>(number());
            if (!failed() && out.size() <= most) out.push_back(value);
        };
        if (field.wire == varint) return keep_one();
        message(field, [&] {
            while (!failed() && stream_.position() < end_) keep_one();
        });
    }

    /// Runs `body` inside the message; what it leaves unread is skipped.
    template <typename Body>
    void message(const Field& field, Body&& body) {
        if (field.wire != bytes) return skip(field);
        const std::uint64_t length = number();
        if (failed()) return;
        if (length > end_ - stream_.position()) return void(fail("it is cut off; copy the file again"));
        const std::uint64_t outer = end_, inner = stream_.position() + length;
        end_ = inner;
        body();
        end_ = outer;
        if (!failed()) stream_.seek(inner);
    }

    std::uint64_t left() const { return end_ - stream_.position(); }
    void keep(std::uint64_t count) {
        kept_ += count + 32;
        if (kept_ > most_kept_bytes)
            fail(fmt::format("a graph of over {} MiB without its weights; export one block of the network",
                             most_kept_bytes >> 20));
    }
    std::nullopt_t fail(const std::string& text) {
        if (fault_.empty()) fault_ = fmt::format("byte {}: {}", stream_.position(), text);
        return std::nullopt;
    }
    bool failed() const { return !fault_.empty(); }
    const std::string& fault() const { return fault_; }

private:
    int get() {
        if (stream_.position() >= end_) return fail("it is cut off; copy the file again"), -1;
        const int byte = stream_.get();
        if (byte < 0) fail("it cannot be read to its end");
        return byte;
    }
    void advance(std::uint64_t count) {
        if (failed()) return;
        if (count > end_ - stream_.position()) return void(fail("it is cut off; copy the file again"));
        stream_.seek(stream_.position() + count);
    }

    ByteStream& stream_;
    std::uint64_t end_;
    std::uint64_t kept_ = 0;
    std::string fault_;
};

using Field = WireReader::Field;

constexpr std::int64_t float_type = 1, int32_type = 6, int64_type = 7;

// uint8 to bool, uint32 and uint64; 10 and 11 are of 16 and 64 bits, 14 and above complex or narrow.
bool is_real(std::int64_t type) { return !((type >= 2 && type <= 9) || type == 12 || type == 13); }

void read_raw(WireReader& r, const Field& field, std::int64_t type, std::vector<std::int64_t>& out) {
    r.message(field, [&] {
        const int width = type == int64_type ? 8 : 4;
        if ((type != int64_type && type != int32_type) || r.left() > most_onnx_values * 8) return;
        while (!r.failed() && r.left() >= static_cast<std::uint64_t>(width)) {
            const std::uint64_t value = r.little_endian(width);
            out.push_back(width == 8 ? static_cast<std::int64_t>(value)
                                     : static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
        }
    });
}

// Real numbers of 32 bits, many in one field; of a large tensor none.
void read_reals(WireReader& r, const Field& field, std::vector<double>& out) {
    if (field.wire == fixed32) return out.size() <= most_onnx_values ? out.push_back(r.real(field)) : r.skip(field);
    r.message(field, [&] {
        if (r.left() > most_onnx_values * 4) return;
        while (!r.failed() && r.left() >= 4) out.push_back(r.real());
    });
}

// Dimensions and type stand before the data in every writer's files, as fields come in the order of their numbers.
OnnxTensor read_tensor(WireReader& r, const Field& whole) {
    OnnxTensor out;
    std::int64_t type = 0;
    std::vector<std::int64_t> values;
    std::vector<double> reals;
    r.message(whole, [&] {
        while (const auto field = r.next()) {
            if (field->number == 1)
                r.integers(*field, out.shape, most_dimensions);
            else if (field->number == 2)
                type = r.integer(*field);
            else if (field->number == 5 || field->number == 7)
                r.integers(*field, values, most_onnx_values);
            else if (field->number == 8)
                out.name = r.text(*field);
            else if (field->number == 9 && type == float_type)
                read_reals(r, *field, reals);
            else if (field->number == 9)
                read_raw(r, *field, type, values);
            else if (field->number == 4)
                read_reals(r, *field, reals);
            else
                r.skip(*field);
        }
    });
    if (out.shape.size() > most_dimensions) r.fail("a tensor of over 16 dimensions; export the model again");
    double count = 1.0;
    for (const std::int64_t size : out.shape) count *= static_cast<double>(size);
    out.real = is_real(type);
    const bool whole_numbers = type == int32_type || type == int64_type;
    if (whole_numbers && count == static_cast<double>(values.size()) && values.size() <= most_onnx_values)
        out.values = std::move(values);
    if (type == float_type && count == static_cast<double>(reals.size()) && reals.size() <= most_onnx_values)
        out.reals = std::move(reals);
    r.keep(128 + out.shape.size() * 8);
    return out;
}

OnnxAttribute read_attribute(WireReader& r, const Field& whole) {
    OnnxAttribute out;
    r.message(whole, [&] {
        while (const auto field = r.next()) {
            if (field->number == 1)
                out.name = r.text(*field);
            else if (field->number == 2)
                out.real = r.real(*field);
            else if (field->number == 3)
                out.integer = r.integer(*field);
            else if (field->number == 4)
                r.message(*field, [&] {
                    while (!r.failed() && r.left() > 0 && out.text.size() < longest_name)
                        out.text += static_cast<char>(r.little_endian(1));
                });
            else if (field->number == 5)
                out.tensor = read_tensor(r, *field);
            else if (field->number == 8)
                r.integers(*field, out.integers, most_onnx_values);
            else
                r.skip(*field);
        }
    });
    r.keep(256 + out.integers.size() * 8 + out.text.size());
    return out;
}

OnnxNode read_node(WireReader& r, const Field& whole) {
    OnnxNode out;
    r.message(whole, [&] {
        while (const auto field = r.next()) {
            if (field->number == 1)
                out.inputs.push_back(r.text(*field));
            else if (field->number == 2)
                out.outputs.push_back(r.text(*field));
            else if (field->number == 3)
                out.name = r.text(*field);
            else if (field->number == 4)
                out.type = r.text(*field);
            else if (field->number == 5)
                out.attributes.push_back(read_attribute(r, *field));
            else if (field->number == 7)
                out.domain = r.text(*field);
            else
                r.skip(*field);
        }
    });
    r.keep(256);
    return out;
}

std::int64_t read_dimension(WireReader& r, const Field& whole) {
    std::int64_t size = open_dimension;
    r.message(whole, [&] {
        while (const auto field = r.next()) field->number == 1 ? void(size = r.integer(*field)) : r.skip(*field);
    });
    return size;
}

// ValueInfoProto: name, type { tensor type { element type, shape { dimensions } } }.
OnnxInput read_input(WireReader& r, const Field& whole) {
    OnnxInput out;
    const auto inside = [&](const Field& outer, std::uint64_t number, auto&& body) {
        r.message(outer, [&] {
            while (const auto field = r.next()) field->number == number ? body(*field) : r.skip(*field);
        });
    };
    r.message(whole, [&] {
        while (const auto field = r.next()) {
            if (field->number == 1) {
                out.name = r.text(*field);
            } else if (field->number == 2) {
                inside(*field, 1, [&](const Field& tensor) {
                    inside(tensor, 2, [&](const Field& shape) {
                        inside(shape, 1, [&](const Field& dimension) {
                            const std::int64_t size = read_dimension(r, dimension);
                            if (out.shape.size() < most_dimensions) out.shape.push_back(size);
                        });
                    });
                });
            } else {
                r.skip(*field);
            }
        }
    });
    r.keep(128 + out.shape.size() * 8);
    return out;
}

void read_graph(WireReader& r, const Field& whole, OnnxGraph& out) {
    r.message(whole, [&] {
        while (const auto field = r.next()) {
            if (field->number == 1)
                out.nodes.push_back(read_node(r, *field));
            else if (field->number == 2)
                out.name = r.text(*field);
            else if (field->number == 5)
                out.initializers.push_back(read_tensor(r, *field));
            else if (field->number == 11)
                out.inputs.push_back(read_input(r, *field));
            else
                r.skip(*field);
            if (out.nodes.size() > most_nodes)
                r.fail(fmt::format("more than {} nodes; export one block of the network", most_nodes));
        }
    });
}

std::int64_t read_opset(WireReader& r, const Field& whole) {
    std::string domain;
    std::int64_t version = 0;
    r.message(whole, [&] {
        while (const auto field = r.next()) {
            if (field->number == 1)
                domain = r.text(*field);
            else if (field->number == 2)
                version = r.integer(*field);
            else
                r.skip(*field);
        }
    });
    return domain.empty() || domain == "ai.onnx" ? version : 0;
}

}  // namespace

const OnnxAttribute* OnnxNode::find(std::string_view attribute) const {
    for (const OnnxAttribute& one : attributes)
        if (one.name == attribute) return &one;
    return nullptr;
}

std::int64_t OnnxNode::integer_or(std::string_view attribute, std::int64_t standard) const {
    const OnnxAttribute* found = find(attribute);
    return found ? found->integer : standard;
}

std::vector<std::int64_t> OnnxNode::integers_or(std::string_view attribute, std::vector<std::int64_t> standard) const {
    const OnnxAttribute* found = find(attribute);
    return found ? found->integers : standard;
}

bool looks_like_onnx(std::string_view first_bytes) {
    // Field 1, a small number: the version of the format (3 to 12 so far); JSON and text start with other bytes.
    return first_bytes.size() > 2 && first_bytes[0] == 0x08 && first_bytes[1] > 0 && first_bytes[1] < 0x20;
}

Result<OnnxGraph> read_onnx(ByteStream& stream, const std::string& source) {
    WireReader r(stream);
    OnnxGraph out;
    bool has_graph = false;
    while (const auto field = r.next()) {
        if (field->number == 7 && !has_graph) {
            has_graph = true;
            read_graph(r, *field, out);
        } else if (field->number == 8) {
            if (const std::int64_t version = read_opset(r, *field); version > 0) out.opset = version;
        } else {
            r.skip(*field);
        }
    }
    if (r.failed()) return invalid_argument(fmt::format("{}: no readable ONNX file: {}", source, r.fault()));
    if (!has_graph)
        return invalid_argument(fmt::format("{}: an ONNX file without a graph; export the model again", source));
    return out;
}

}  // namespace dlcast
