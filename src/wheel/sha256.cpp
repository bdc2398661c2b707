// SPDX-License-Identifier: Apache-2.0
#include "wheel/sha256.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace ww::wheel {
namespace {

constexpr size_t kBlock = 64;

// The first 32 bits behind the point of a root of each of the first primes.
template <size_t kCount, class Root>
std::array<uint32_t, kCount> fractions(Root root) {
    std::array<uint32_t, kCount> out{};
    uint32_t prime = 2;
    for (uint32_t& each : out) {
        const long double value = root(static_cast<long double>(prime));
        each = static_cast<uint32_t>((value - std::floor(value)) * 4294967296.0L);
        for (bool found = false; !found;) {
            ++prime;
            found = true;
            for (uint32_t factor = 2; factor * factor <= prime; ++factor) found = found && prime % factor != 0;
        }
    }
    return out;
}

uint32_t big_endian(const uint8_t* at) {
    return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

void add_block(std::array<uint32_t, 8>& state, const uint8_t* block) {
    static const auto constants = fractions<64>([](long double x) { return std::cbrt(x); });
    std::array<uint32_t, 64> w{};
    for (size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (size_t i = 16; i < 64; ++i) {
        const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
        const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> more = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += more[i];
}

}  // namespace

std::array<uint8_t, 32> sha256(std::string_view bytes) {
    auto state = fractions<8>([](long double x) { return std::sqrt(x); });
    const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
    const size_t whole = bytes.size() / kBlock * kBlock, rest = bytes.size() - whole;
    for (size_t i = 0; i < whole; i += kBlock) add_block(state, at + i);
    std::array<uint8_t, 2 * kBlock> tail{};
    if (rest) std::memcpy(tail.data(), at + whole, rest);
    tail[rest] = 0x80;
    const size_t end = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
    const uint64_t bits = uint64_t{bytes.size()} * 8;
    for (size_t i = 0; i < 8; ++i) tail[end - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
    for (size_t i = 0; i < end; i += kBlock) add_block(state, tail.data() + i);
    std::array<uint8_t, 32> out{};
    for (size_t i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

std::string sha256_base64(std::string_view bytes) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::array<uint8_t, 32> hash = sha256(bytes);
    std::string out;
    for (size_t bit = 0; bit < 256; bit += 6) {
        unsigned digit = 0;
        for (size_t i = bit; i < bit + 6; ++i)
            digit = digit * 2 + (i < 256 ? hash[i / 8] >> (7 - i % 8) & 1u : 0u);
        out += kDigits[digit];
    }
    return out;
}

}  // namespace ww::wheel
