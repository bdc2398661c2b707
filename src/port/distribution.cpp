// SPDX-License-Identifier: Apache-2.0
#include "port/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/host.hpp"
#include "port/random.hpp"
#include "port/safetensors.hpp"

namespace ww::port {
namespace {

// Choices that must not repeat the random numbers of the elements draw from another stream.
constexpr uint64_t kChoiceStream = 0x9E3779B97F4A7C15u;

// Length of the axis, elements between two of its indices, in the row-major order of elements.
struct Line {
    int64_t extent = 1, step = 1;
    int64_t index(int64_t linear) const { return linear / step % extent; }
    int64_t number(int64_t linear) const {  // which line along the axis the element is on
        return linear / (step * extent) * step + linear % step;
    }
};

class Generator {
  public:
    Generator(const Distribution& d, Tensor& tensor, uint64_t seed)
        : d_(d), tensor_(tensor), seed_(seed), stream_(stream_of(tensor.name)) {}

    Status run() {
        switch (d_.kind) {
            case Distribution::Kind::normal:
                return fill_apart([&](int64_t i) { return normal(i); });
            case Distribution::Kind::uniform:
                return uniform();
            case Distribution::Kind::constant:
                return fill([&](int64_t) { return d_.value; });
            case Distribution::Kind::outliers:
                return outliers();
            case Distribution::Kind::sinks:
                return sinks();
            case Distribution::Kind::one_hot:
                return one_hot();
            case Distribution::Kind::equal_rows:
                return equal_rows();
            case Distribution::Kind::ramp:
                return ramp();
            case Distribution::Kind::special:
                return special();
            case Distribution::Kind::biased:
                return biased();
            case Distribution::Kind::correlated:
                return correlated();
            case Distribution::Kind::student_t:
                return fill([&](int64_t i) { return student_t(i); });
            case Distribution::Kind::file:
            case Distribution::Kind::values:
                break;
        }
        WW_CHECK(false, "a distribution that does not generate");
    }

  private:
    template <class F>
    Status fill(F value_of) {
        for (int64_t i = 0; i < tensor_.layout.elements; ++i) tensor_.set(i, value_of(i));
        return ok();
    }

    // For a value that is a function of its index alone: by several threads. They begin at even ones: two of four bits share a byte.
    template <class F>
    Status fill_apart(F value_of) {
        constexpr int64_t kWorthAThread = 1 << 18;
        const int64_t elements = tensor_.layout.elements;
        const auto some = [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) tensor_.set(i, value_of(i));
        };
        const int64_t parts = std::clamp<int64_t>(elements / kWorthAThread, 1, host_threads());
        const auto begin_of = [&](int64_t part) { return part == parts ? elements : elements / parts * part / 2 * 2; };
        std::vector<std::thread> others;
        // Strided elements may share bytes in other ways.
        if (tensor_.layout.dense)
            for (int64_t part = 1; part < parts; ++part) others.emplace_back(some, begin_of(part), begin_of(part + 1));
        some(0, tensor_.layout.dense ? begin_of(1) : elements);
        for (std::thread& each : others) each.join();
        return ok();
    }

    double normal(int64_t i) const {
        return d_.mean + d_.std * random_normal(seed_, stream_, static_cast<uint64_t>(i));
    }
    uint64_t choice(int64_t i, uint64_t bound) const {
        return random_below(seed_, stream_ ^ kChoiceStream, static_cast<uint64_t>(i), bound);
    }

    Result<Line> line(int64_t axis) const {
        const auto rank = static_cast<int64_t>(tensor_.layout.rank());
        const int64_t at = axis < 0 ? axis + rank : axis;
        if (at < 0 || at >= rank)
            return fail(d_.place.error(fmt::format("axis {} of tensor '{}', which has {} axes",
                                                   axis, tensor_.name, rank)));
        Line out{.extent = tensor_.layout.shape[static_cast<size_t>(at)]};
        for (int64_t i = at + 1; i < rank; ++i)
            out.step *= tensor_.layout.shape[static_cast<size_t>(i)];
        return out;
    }

    Status uniform() {
        if (!info(tensor_.layout.dtype).is_float) {
            const double width = std::floor(d_.high) - std::ceil(d_.low) + 1;
            if (!(width >= 1 && width <= 0x1p53))
                return fail(d_.place.error("no integers between low and high, or more than 2^53"));
            const auto count = static_cast<uint64_t>(width);
            return fill([&](int64_t i) {
                return std::ceil(d_.low) + static_cast<double>(random_below(
                                               seed_, stream_, static_cast<uint64_t>(i), count));
            });
        }
        return fill([&](int64_t i) {
            return d_.low +
                   (d_.high - d_.low) * random_unit(seed_, stream_, static_cast<uint64_t>(i));
        });
    }

    // Which channels of the last axis are special, exactly `fraction` of them (one at least),
    // whatever the seed: those with the smallest random keys of the stream.
    std::vector<bool> loud_channels(const Line& channel, uint64_t stream) const {
        const auto size = static_cast<size_t>(channel.extent);
        std::vector<int64_t> order(size);
        std::iota(order.begin(), order.end(), 0);
        std::vector<uint64_t> keys(size);
        for (size_t c = 0; c < size; ++c) keys[c] = random_bits(seed_, stream ^ kChoiceStream, c);
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            const auto ka = keys[static_cast<size_t>(a)], kb = keys[static_cast<size_t>(b)];
            return ka != kb ? ka < kb : a < b;
        });
        const double wanted = std::floor(d_.fraction * static_cast<double>(size) + 0.5);
        const auto count = static_cast<size_t>(std::clamp(wanted, 1.0, static_cast<double>(size)));
        std::vector<bool> loud(size, false);
        for (size_t i = 0; i < count; ++i) loud[static_cast<size_t>(order[i])] = true;
        return loud;
    }

    Status outliers() {
        WW_TRY(channel, line(-1));
        const std::vector<bool> loud = loud_channels(channel, stream_);
        return fill_apart([&](int64_t i) {
            return loud[static_cast<size_t>(channel.index(i))] ? normal(i) * d_.scale : normal(i);
        });
    }

    Status biased() {
        WW_TRY(channel, line(-1));
        const std::vector<bool> loud = loud_channels(channel, 0);  // the same in all tensors
        return fill_apart([&](int64_t i) {
            const int64_t c = channel.index(i);
            if (!loud[static_cast<size_t>(c)]) return normal(i);
            return normal(i) + (choice(~c, 2) == 0 ? d_.value : -d_.value);
        });
    }

    // x[n] = rho x[n - 1] + sqrt(1 - rho^2) e[n]: each has the standard deviation of the first.
    Status correlated() {
        WW_TRY(along, line(d_.axis));
        const double fresh = std::sqrt(1 - d_.rho * d_.rho);
        std::vector<double> drawn(static_cast<size_t>(tensor_.layout.elements));
        return fill([&](int64_t i) {  // elements before i on its line have smaller numbers
            double& x = drawn[static_cast<size_t>(i)];
            x = random_normal(seed_, stream_, static_cast<uint64_t>(i));
            if (along.index(i) > 0) x = d_.rho * drawn[static_cast<size_t>(i - along.step)] + fresh * x;
            return d_.mean + d_.std * x;
        });
    }

    double student_t(int64_t i) const {
        double squares = 0;
        for (int64_t j = 0; j < d_.count; ++j) {
            const auto index = static_cast<uint64_t>(i * d_.count + j);
            const double x = random_normal(seed_, stream_ ^ kChoiceStream, index);
            squares += x * x;
        }
        const double x = random_normal(seed_, stream_, static_cast<uint64_t>(i));
        return d_.mean + d_.std * x / std::sqrt(squares / static_cast<double>(d_.count));
    }

    Status sinks() {
        WW_TRY(along, line(d_.axis));
        return fill([&](int64_t i) {
            return along.index(i) < d_.count ? normal(i) * d_.scale + d_.value : normal(i);
        });
    }

    Status one_hot() {
        WW_TRY(along, line(d_.axis));
        return fill([&](int64_t i) {
            const uint64_t hot = choice(along.number(i), static_cast<uint64_t>(along.extent));
            return static_cast<uint64_t>(along.index(i)) == hot ? d_.value : 0.0;
        });
    }

    Status equal_rows() {
        WW_TRY(row, line(-1));
        return fill([&](int64_t i) { return normal(row.index(i)); });
    }

    Status ramp() {
        if (!d_.axis_given)
            return fill([&](int64_t i) { return d_.value + d_.step * static_cast<double>(i); });
        WW_TRY(along, line(d_.axis));
        return fill(
            [&](int64_t i) { return d_.value + d_.step * static_cast<double>(along.index(i)); });
    }

    Status special() {
        const Dtype dtype = tensor_.layout.dtype;
        const double tiny = smallest_normal(dtype), least = ulp(dtype, 0), big = largest(dtype);
        const double values[] = {0.0,          -0.0, least, -least, tiny - least,
                                 least - tiny, tiny, -tiny, big,    -big};
        return fill([&](int64_t i) {
            const double u = random_unit(seed_, stream_ ^ kChoiceStream, static_cast<uint64_t>(i));
            if (u >= d_.fraction) return normal(i);
            return values[choice(~i, std::size(values))];
        });
    }

    const Distribution& d_;
    Tensor& tensor_;
    uint64_t seed_, stream_;
};

Failure at_place(const Distribution& d, const Diagnostics& found) {
    Diagnostics out;
    for (const Diagnostic& each : found)
        out.push_back(d.place.error(each.file.empty() || each.file == d.place.error("").file
                                        ? each.message
                                        : each.file + ": " + each.message));
    return fail(std::move(out));
}

Status from_file(const Distribution& d, Tensor& to, const Scope& scope) {
    auto found = read_safetensor(d.file, d.tensor);
    if (!found) return at_place(d, found.error());
    const Tensor& from = *found;
    if (d.slice.size() > from.layout.rank())
        return fail(d.place.error(
            fmt::format("{} slice indices for {}", d.slice.size(), from.layout.text())));
    int64_t first = 0, count = from.layout.elements;
    for (size_t i = 0; i < d.slice.size(); ++i) {
        const int64_t extent = from.layout.shape[i];
        WW_TRY(index, d.slice[i].eval_between(scope.integers, 0, extent - 1, "a slice index"));
        count /= extent;
        first += index * count;
    }
    if (count != to.layout.elements)
        return fail(d.place.error(fmt::format(
            "'{}' of {} gives {} elements after {} slice indices; tensor '{}' is {} and needs {}",
            d.tensor, from.layout.text(), count, d.slice.size(), to.name, to.layout.text(),
            to.layout.elements)));
    const bool same = from.layout.dtype == to.layout.dtype;
    for (int64_t i = 0; i < count; ++i) {
        if (same)
            to.set_code(i, from.code(first + i));
        else
            to.set(i, from.get(first + i));
    }
    return ok();
}

Status listed(const Distribution& d, Tensor& to, const Scope& scope) {
    if (static_cast<int64_t>(d.values.size()) != to.layout.elements)
        return fail(d.place.error(fmt::format("{} values; tensor '{}' is {} and needs {}", d.values.size(), to.name,
                                              to.layout.text(), to.layout.elements)));
    for (size_t i = 0; i < d.values.size(); ++i) {
        WW_TRY(value, d.values[i].eval(scope.integers));
        to.set(static_cast<int64_t>(i), static_cast<double>(value));
    }
    return ok();
}

}  // namespace

std::string_view name(Distribution::Kind kind) {
    using Kind = Distribution::Kind;
    switch (kind) {
        case Kind::normal:
            return "normal";
        case Kind::uniform:
            return "uniform";
        case Kind::constant:
            return "constant";
        case Kind::outliers:
            return "outliers";
        case Kind::sinks:
            return "sinks";
        case Kind::one_hot:
            return "one_hot";
        case Kind::equal_rows:
            return "equal_rows";
        case Kind::ramp:
            return "ramp";
        case Kind::special:
            return "special";
        case Kind::biased:
            return "biased";
        case Kind::correlated:
            return "correlated";
        case Kind::student_t:
            return "student_t";
        case Kind::file:
            return "file";
        case Kind::values:
            return "values";
    }
    return "";
}

uint64_t stream_of(std::string_view tensor_name) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char c : tensor_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

Result<Tensor> generate(const Distribution& distribution, std::string tensor_name,
                        const Layout& layout, uint64_t seed, const Scope& scope) {
    WW_TRY(tensor, Tensor::zeros(std::move(tensor_name), layout));
    if (distribution.kind == Distribution::Kind::file) {
        WW_TRY(done, from_file(distribution, tensor, scope));
        (void)done;
    } else if (distribution.kind == Distribution::Kind::values) {
        WW_TRY(done, listed(distribution, tensor, scope));
        (void)done;
    } else {
        WW_TRY(done, Generator(distribution, tensor, seed).run());
        (void)done;
    }
    return std::move(tensor);
}

}  // namespace ww::port
