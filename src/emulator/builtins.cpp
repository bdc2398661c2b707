// SPDX-License-Identifier: Apache-2.0
#include "emulator/builtins.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "machine/block.hpp"

namespace ww::emulator {
namespace {

using machine::Access;
using machine::CallSite;
using machine::GuestTrap;
using machine::kLanes;
using machine::Space;
using machine::Warp;

constexpr uint64_t kLongestString = 1 << 16;

// Argument i of the call for one lane, as a number.
uint64_t argument(Warp& w, const CallSite& site, size_t i, int lane) {
    if (i >= site.arguments.size()) throw GuestTrap("a call of a built-in function lacks arguments");
    const machine::ValueSlot& slot = site.arguments[i];
    uint64_t value = 0;
    if (slot.in_register) {
        uint64_t scratch[kLanes];
        return w.in<uint64_t>(slot.operand, scratch)[lane];
    }
    const uint64_t bytes = slot.bytes < 8 ? slot.bytes : 8;
    std::memcpy(&value, w.access_lane(Space::local, w.frame->local_base + slot.offset, bytes, Access::read, lane), bytes);
    return value;
}

std::string guest_string(Warp& w, uint64_t address, int lane) {
    std::string text;
    while (text.size() < kLongestString) {
        const char c = static_cast<char>(*w.access_lane(Space::generic, address + text.size(), 1, Access::read, lane));
        if (c == 0) return text;
        text += c;
    }
    throw GuestTrap("a string is longer than 64 KiB", lane);
}

// printf of one thread: the values lie one after the other at their natural alignment.
class Formatter {
  public:
    Formatter(Warp& w, int lane, uint64_t values) : w_(w), lane_(lane), at_(values) {}

    std::string format(const std::string& text) {
        std::string out;
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '%') {
                out += text[i];
                continue;
            }
            std::string spec = "%";
            bool wide = false;
            int shorts = 0;
            for (++i; i < text.size() && std::string_view("-+ #0123456789.*lhjzt").find(text[i]) != std::string_view::npos; ++i) {
                if (text[i] == '*') spec += std::to_string(static_cast<int32_t>(take(4)));
                else if (text[i] == 'l' || text[i] == 'j' || text[i] == 'z' || text[i] == 't') wide = true;
                else if (text[i] == 'h') ++shorts;
                else spec += text[i];
            }
            if (i >= text.size()) break;
            out += convert(spec, text[i], wide, shorts);
        }
        return out;
    }

  private:
    uint64_t take(uint64_t bytes) {
        at_ = (at_ + bytes - 1) / bytes * bytes;
        uint64_t value = 0;
        std::memcpy(&value, w_.access_lane(Space::generic, at_, bytes, Access::read, lane_), bytes);
        at_ += bytes;
        return value;
    }

    template <class T>
    static std::string print(const std::string& spec, T value) {
        const int count = std::snprintf(nullptr, 0, spec.c_str(), value);
        if (count < 0 || static_cast<uint64_t>(count) > kLongestString)
            throw GuestTrap("printf of more than 64 KiB at the conversion " + spec);
        std::string text(static_cast<size_t>(count) + 1, '\0');
        std::snprintf(text.data(), text.size(), spec.c_str(), value);
        text.pop_back();
        return text;
    }

    // shorts: 0, 1 (h) or 2 (hh); the value itself was promoted to int.
    static int32_t narrow(uint64_t value, int shorts, bool is_signed) {
        if (shorts == 0) return static_cast<int32_t>(value);
        if (shorts == 1) return is_signed ? static_cast<int16_t>(value) : static_cast<uint16_t>(value);
        return is_signed ? static_cast<int8_t>(value) : static_cast<uint8_t>(value);
    }

    std::string convert(const std::string& spec, char kind, bool wide, int shorts) {
        switch (kind) {
            case '%': return "%";
            case 'd':
            case 'i': return wide ? print(spec + "ld", static_cast<long>(take(8))) : print(spec + "d", narrow(take(4), shorts, true));
            case 'u':
            case 'x':
            case 'X':
            case 'o': return wide ? print(spec + "l" + kind, take(8)) : print(spec + kind, static_cast<uint32_t>(narrow(take(4), shorts, false)));
            case 'c': return print(spec + "c", static_cast<int>(take(4)));
            case 'p': return print(spec + "p", reinterpret_cast<const void*>(take(8)));
            case 's': return print(spec + "s", guest_string(w_, take(8), lane_).c_str());
            case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': {
                const uint64_t bits = take(8);
                double value;
                std::memcpy(&value, &bits, 8);
                return print(spec + kind, value);
            }
            default: return spec + kind;
        }
    }

    Warp& w_;
    int lane_;
    uint64_t at_;
};

template <class F>
void each_active(Warp& w, F&& f) {
    for (int lane = 0; lane < kLanes; ++lane)
        if (w.active >> lane & 1) f(lane);
}

void set_result(Warp& w, const CallSite& site, const int32_t* values) {
    if (site.results.empty()) return;
    const machine::ValueSlot& slot = site.results[0];
    if (slot.in_register) return w.write_slow(slot.operand, values, 4, true);
    each_active(w, [&](int lane) {
        std::memcpy(w.access_lane(Space::local, w.frame->local_base + slot.offset, 4, Access::write, lane), &values[lane], 4);
    });
}

// int vprintf(const char* format, void* values): the number of values is not counted here; CUDA
// returns the number of arguments, -1 for an invalid format.
void builtin_vprintf(Warp& w, const CallSite& site) {
    int32_t results[kLanes] = {};
    each_active(w, [&](int lane) {
        const std::string format = guest_string(w, argument(w, site, 0, lane), lane);
        const std::string text = Formatter(w, lane, argument(w, site, 1, lane)).format(format);
        if (w.grid->print) w.grid->print(*w.block, text);
        for (size_t i = 0; i + 1 < format.size(); ++i) {
            if (format[i] != '%') continue;
            if (format[i + 1] == '%') ++i;
            else ++results[lane];
        }
    });
    set_result(w, site, results);
}

// void __assertfail(const void* message, const void* file, unsigned line, const void* function, size_t)
void builtin_assertfail(Warp& w, const CallSite& site) {
    const int lane = __builtin_ctz(w.active);
    throw GuestTrap(fmt::format("assertion failed: {} ({}:{}: {})", guest_string(w, argument(w, site, 0, lane), lane),
                                guest_string(w, argument(w, site, 1, lane), lane),
                                static_cast<uint32_t>(argument(w, site, 2, lane)),
                                guest_string(w, argument(w, site, 3, lane), lane)),
                    lane);
}

}  // namespace

machine::Builtin find_builtin(std::string_view name) {
    if (name == "vprintf") return builtin_vprintf;
    if (name == "__assertfail") return builtin_assertfail;
    return nullptr;
}

}  // namespace ww::emulator
