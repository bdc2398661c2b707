// SPDX-License-Identifier: Apache-2.0
// Generators of operand values. Random ones are seeded by the test's and the operand's name.
#include "exectest/operands.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ww::exectest {
namespace {

uint64_t low(uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// SplitMix64: small, and the same everywhere.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    uint64_t below(uint64_t count) { return count ? next() % count : next(); }
    int64_t between(int64_t first, int64_t last) {
        return first + static_cast<int64_t>(below(static_cast<uint64_t>(last - first) + 1));
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    uint64_t state_;
};

class FloatMaker {
  public:
    FloatMaker(const Type& type, Random& random) : t_(type), random_(random) {
        top_ = low(t_.exponent_bits);
        bias_ = static_cast<int64_t>(low(t_.exponent_bits - 1));
    }
    uint64_t make(const std::string& how);

  private:
    uint64_t join(int64_t exponent, uint64_t mantissa) {
        // The top exponent is left to the formats that have numbers there.
        int64_t last = static_cast<int64_t>(top_) - (t_.has_infinity ? 1 : 0);
        exponent = std::clamp<int64_t>(exponent, 0, last);
        uint64_t bits = static_cast<uint64_t>(exponent) << t_.mantissa_bits |
                        (mantissa & low(t_.mantissa_bits));
        if (is_nan(t_, bits)) bits -= 1;
        return bits | sign();
    }
    uint64_t sign() {
        uint64_t bit = random_.next() & 1;
        return t_.is_unsigned ? 0 : bit << (t_.mantissa_bits + t_.exponent_bits);
    }
    uint64_t edge();
    uint64_t halfway();
    uint64_t mixed();

    const Type& t_;
    Random& random_;
    uint64_t top_;
    int64_t bias_;
};

uint64_t FloatMaker::edge() {
    uint64_t top = top_ << t_.mantissa_bits;  // infinity, where there is one
    uint64_t one = static_cast<uint64_t>(bias_) << t_.mantissa_bits;
    uint64_t quiet = t_.mantissa_bits ? uint64_t{1} << (t_.mantissa_bits - 1) : 0;
    uint64_t payload = random_.next() & low(t_.mantissa_bits);
    uint64_t least_normal = uint64_t{1} << t_.mantissa_bits;
    switch (random_.below(16)) {
        case 0:
        case 1: return sign();
        case 2:
        case 3: return top | sign();
        case 4: return top | quiet | payload | sign();
        case 5: return top | std::max<uint64_t>(payload & ~quiet, 1) | sign();
        case 6: return (t_.mantissa_bits ? 1 : 0) | sign();
        case 7: return (least_normal - 1) | sign();
        case 8: return least_normal | sign();
        case 9: return (least_normal + 1) | sign();
        case 10: return (top - 1) | sign();
        case 11: return one | sign();
        case 12: return (one + 1) | sign();
        case 13: return (one - 1) | sign();
        // Around the ends of the integer types.
        case 14: {
            static const int kEnds[] = {7, 8, 15, 16, 31, 32, 63, 64};
            return join(bias_ + kEnds[random_.below(8)], random_.below(2) ? 0 : 1);
        }
        default: {
            static const int kEnds[] = {6, 7, 14, 15, 30, 31, 62, 63};
            return join(bias_ + kEnds[random_.below(8)], low(t_.mantissa_bits) - random_.below(2));
        }
    }
}

// Values that lie at, just below or just above the middle of two numbers of a shorter format.
uint64_t FloatMaker::halfway() {
    static const uint32_t kCuts[] = {13, 16, 20, 21, 29, 42, 45, 22};
    uint32_t cut = kCuts[random_.below(8)];
    if (cut >= t_.mantissa_bits || random_.below(4) == 0)
        cut = 1 + static_cast<uint32_t>(random_.below(std::max(t_.mantissa_bits, 2u) - 1));
    uint64_t middle = uint64_t{1} << (cut - 1);
    uint64_t tails[] = {middle, middle - 1, middle + 1, 0, low(cut)};
    uint64_t mantissa = (random_.next() & ~low(cut)) | tails[random_.below(5)];
    return join(bias_ + random_.between(-20, 20), mantissa);
}

uint64_t FloatMaker::mixed() {
    switch (random_.below(8)) {
        case 0:
        case 1: return make("edge");
        case 2:
        case 3: return make("normal");
        case 4: return make("halfway");
        case 5: return make("subnormal");
        case 6: return make("finite");
        default: return make("bits");
    }
}

uint64_t FloatMaker::make(const std::string& how) {
    int64_t spread = std::max<int64_t>(bias_ / 3, 1);
    if (how == "edge") return edge() & low(t_.element_bits);
    if (how == "halfway") return halfway();
    if (how == "normal") return join(bias_ + random_.between(-3, 3), random_.next());
    if (how == "spread") return join(bias_ + random_.between(-spread, spread), random_.next());
    if (how == "same_exponent") return join(bias_ + 1, random_.next());
    if (how == "subnormal") return join(0, random_.next());
    if (how == "finite") return join(random_.between(0, static_cast<int64_t>(top_)), random_.next());
    if (how == "integers") return from_double(t_, static_cast<double>(random_.between(-16, 16)));
    if (how == "mixed") return mixed();
    uint64_t bits = random_.next() & low(t_.element_bits);
    // The 6-bit formats lie in bytes whose upper bits are zero.
    return bits & low(t_.exponent_bits + t_.mantissa_bits + (t_.is_unsigned ? 0 : 1));
}

uint64_t make_integer(const Type& type, Random& random, const std::string& how) {
    uint64_t mask = low(type.element_bits);
    if (how == "integers") {
        bool negative = type.kind == Kind::signed_int;
        return static_cast<uint64_t>(random.between(negative ? -16 : 0, negative ? 16 : 32)) & mask;
    }
    if (how == "edge") {
        uint64_t power = uint64_t{1} << random.below(type.element_bits);
        uint64_t half = uint64_t{1} << (type.element_bits - 1);
        uint64_t values[] = {0, 1, ~uint64_t{0}, half, half - 1, half + 1, power, power - 1,
                             power + 1, ~power, 0 - power, 2};
        return values[random.below(std::size(values))] & mask;
    }
    if (how == "mixed") {
        uint64_t choice = random.below(4);
        if (choice == 0) return make_integer(type, random, "edge");
        if (choice == 1) return make_integer(type, random, "integers");
    }
    return random.next() & mask;
}

class FieldMaker {
  public:
    FieldMaker(const TestFile& test, const Field& field, uint64_t round)
        : test_(test), field_(field), random_(seed(test, field) + round * kRoundStep) {}

    // copy: the thread or block; i: the register or element in it; unit: 64-bit piece.
    uint64_t unit(uint64_t copy, uint32_t i, uint32_t unit, uint64_t near);

  private:
    static constexpr uint64_t kRoundStep = 0xd1342543de82ef95;  // odd, and no step of the sequence
    static uint64_t seed(const TestFile& test, const Field& field) {
        std::string text = test.name + ":" + field.name;
        return XXH64(text.data(), text.size(), 0);
    }
    uint64_t element();
    uint64_t ranged();
    uint64_t stay_near(uint64_t value);

    const TestFile& test_;
    const Field& field_;
    Random random_;
};

uint64_t FieldMaker::ranged() {
    const Generator& g = field_.generator;
    if (field_.type.kind == Kind::floating)
        return from_double(field_.type, g.first + (g.last - g.first) * random_.unit());
    int64_t value = random_.between(static_cast<int64_t>(g.first), static_cast<int64_t>(g.last));
    return static_cast<uint64_t>(value) & low(field_.type.element_bits);
}

uint64_t FieldMaker::element() {
    const std::string& how = field_.generator.name;
    if (how == "range") return ranged();
    if (how == "zero") return 0;
    if (field_.type.kind == Kind::predicate) return random_.next() & 1;
    if (field_.type.kind == Kind::floating) return FloatMaker(field_.type, random_).make(how);
    return make_integer(field_.type, random_, how);
}

// Half of the values are equal to the other operand's; the rest differ by little or in the sign.
uint64_t FieldMaker::stay_near(uint64_t value) {
    uint64_t choice = random_.below(8);
    uint64_t delta = 1 + random_.below(3);
    uint64_t top = uint64_t{1} << (std::min(field_.type.bits(), 64u) - 1);
    uint64_t mask = low(std::min(field_.type.bits(), 64u));
    if (choice < 4) return value;
    if (choice == 4) return (value + delta) & mask;
    if (choice == 5) return (value - delta) & mask;
    if (choice == 6) return value ^ top;
    return random_.next() & mask;
}

uint64_t FieldMaker::unit(uint64_t copy, uint32_t i, uint32_t unit, uint64_t near) {
    const Generator& g = field_.generator;
    uint32_t units = field_.type.bits() == 128 ? 2 : 1;
    if (g.name == "listed")
        return g.listed[((copy * field_.count + i) * units + unit) % g.listed.size()];
    if (g.name == "lane") return copy % test_.threads.count() % 32;
    if (g.name == "index") return field_.is_scratch() ? i : copy % test_.threads.count();
    if (g.name == "near") return stay_near(near);
    uint64_t value = 0;
    uint32_t elements = field_.type.elements / units;
    for (uint32_t e = 0; e < elements; ++e) value |= element() << (e * field_.type.element_bits);
    return value;
}

}  // namespace

uint64_t read_unit(const std::byte* at, uint32_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, at, std::min(bytes, 8u));
    return value;
}

Operands make_operands(const TestFile& test, const Layout& layout, uint64_t round) {
    Operands operands;
    operands.in.resize(layout.in_bytes);
    operands.scratch.resize(layout.scratch_bytes);
    auto fill = [&](const Slot& slot, std::vector<std::byte>& buffer) {
        const Field& field = test.fields[slot.field];
        const Slot* other = nullptr;
        for (const Slot& candidate : layout.in)
            if (test.fields[candidate.field].name == field.generator.other) other = &candidate;
        uint32_t bytes = field.type.bytes(), units = (bytes + 7) / 8, step = std::min(bytes, 8u);
        FieldMaker maker(test, field, round);
        uint64_t copies = slot.bytes / field.bytes();
        uint32_t other_count = other ? test.fields[other->field].count : 1;
        for (uint64_t copy = 0; copy < copies; ++copy)
            for (uint32_t i = 0; i < field.count; ++i)
                for (uint32_t u = 0; u < units; ++u) {
                    uint64_t near = 0;
                    if (other)
                        near = read_unit(&operands.in[other->offset] +
                                             (copy * other_count + i % other_count) * bytes + u * 8,
                                         step);
                    uint64_t value = maker.unit(copy, i, u, near);
                    std::memcpy(&buffer[slot.offset] + (copy * field.count + i) * bytes + u * 8,
                                &value, step);
                }
    };
    for (const Slot& slot : layout.in) fill(slot, operands.in);
    for (const Slot& slot : layout.scratch) fill(slot, operands.scratch);
    return operands;
}

}  // namespace ww::exectest
