// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Warp-level matrix instructions": ldmatrix, stmatrix, movmatrix. Matrices of 8 x 8
// 16-bit elements: lane l holds elements 2*(l%4) and 2*(l%4)+1 of row l/4. Those of bytes are
// described where they are; they need sm_100a or sm_120a, and were not yet run on silicon.
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"
#include "isa/whole_warp.hpp"

namespace ww::isa {
namespace {

using Matrix = uint16_t[8][8];

void to_fragment(const Matrix& m, bool transposed, uint32_t* fragment) {
    if (!transposed) {
        std::memcpy(fragment, m, sizeof m);
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const int row = lane / 4, col = 2 * (lane % 4);
        fragment[lane] = m[col][row] | uint32_t{m[col + 1][row]} << 16;
    }
}

void from_fragment(const uint32_t* fragment, bool transposed, Matrix& m) {
    if (!transposed) {
        std::memcpy(m, fragment, sizeof m);
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const int row = lane / 4, col = 2 * (lane % 4);
        m[col][row] = static_cast<uint16_t>(fragment[lane]);
        m[col + 1][row] = static_cast<uint16_t>(fragment[lane] >> 16);
    }
}

constexpr uint32_t kRowBytes = 16;

// Pointers to the rows: lane 8*i + r names row r of matrix i. Everyone reads before anyone writes.
void row_pointers(Warp& w, const Inst& in, const machine::Arg& address_arg, Access kind,
                  uint8_t** pointer) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    w.addresses(address_arg, address);
    const LaneMask naming = aux.elements == 4 ? kAllLanes : (LaneMask{1} << 8 * aux.elements) - 1;
    with_lanes(w, naming & w.alive(),
               [&] { w.access(in, aux.space, address, kRowBytes, kind, pointer); });
}

void run_ldmatrix(Warp& w, const Inst& in) {
    if (!whole_warp(w, "a matrix instruction")) return;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) uint32_t fragment[kLanes];
    row_pointers(w, in, in[1], Access::read, pointer);
    for (int i = 0; i < aux.elements; ++i) {
        alignas(64) Matrix m;
        for (int row = 0; row < 8; ++row) std::memcpy(m[row], pointer[8 * i + row], kRowBytes);
        to_fragment(m, aux.extra, fragment);
        w.commit<uint32_t>(in[0][i], fragment, fragment);
    }
}

void run_stmatrix(Warp& w, const Inst& in) {
    if (!whole_warp(w, "a matrix instruction")) return;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) uint32_t scratch[kLanes];
    row_pointers(w, in, in[0], Access::write, pointer);
    for (int i = 0; i < aux.elements; ++i) {
        alignas(64) Matrix m;
        from_fragment(w.in<uint32_t>(in[1][i], scratch), aux.extra, m);
        for (int row = 0; row < 8; ++row) std::memcpy(pointer[8 * i + row], m[row], kRowBytes);
    }
}

// ---- matrices of bytes: a row is 16 elements ----
enum class Elements : uint8_t { b8, b6x16_p32, b4x16_p64 };

// aux: elements counts groups of 8 rows, extra has Elements and, above it, whether to transpose.
constexpr uint8_t kTransposed = 4;

void read_bytes(Warp& w, const Inst& in, uint64_t (&address)[kLanes], uint32_t offset, uint32_t bytes, uint8_t (&rows)[kLanes][16]) {
    alignas(64) uint8_t* pointer[kLanes];
    for (uint64_t& each : address) each += offset;
    w.access(in, MemoryAux::unpack(in.aux).space, address, bytes, Access::read, pointer);
    for (uint64_t& each : address) each -= offset;
    for (int lane = 0; lane < kLanes; ++lane)
        if (pointer[lane]) std::memcpy(rows[lane] + offset, pointer[lane], bytes);
}

// Packed elements, lowest bits first, become bytes with zeros above.
void unpack(uint8_t (&row)[16], unsigned bits) {
    uint8_t out[16];
    for (unsigned i = 0; i < 16; ++i) {
        unsigned value = 0;
        for (unsigned bit = 0; bit < bits; ++bit) value |= (row[(i * bits + bit) / 8] >> (i * bits + bit) % 8 & 1u) << bit;
        out[i] = static_cast<uint8_t>(value);
    }
    std::memcpy(row, out, sizeof out);
}

// Lane l names row l; padding is not read.
void read_rows(Warp& w, const Inst& in, uint8_t (&rows)[kLanes][16]) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    w.addresses(in[1], address);
    for (int lane = 0; lane < 8 * aux.elements; ++lane)
        if (address[lane] % kRowBytes != 0)
            throw machine::GuestTrap("misaligned row of ldmatrix: its address must be a multiple of 16", lane);
    const Elements elements = static_cast<Elements>(aux.extra % kTransposed);
    const LaneMask naming = aux.elements == 4 ? kAllLanes : (LaneMask{1} << 8 * aux.elements) - 1;
    with_lanes(w, naming, [&] {
        read_bytes(w, in, address, 0, elements == Elements::b8 ? 16 : 8, rows);
        if (elements == Elements::b6x16_p32) read_bytes(w, in, address, 8, 4, rows);
    });
    if (elements == Elements::b8) return;
    for (int lane = 0; lane < 8 * aux.elements; ++lane) unpack(rows[lane], elements == Elements::b6x16_p32 ? 6 : 4);
}

// Register r of lane l: four elements from 4*(l%4) on of row l/4 of matrix r. m16n16, transposed:
// registers 2m and 2m+1 have elements l/4 and l/4+8 of four rows, from 4*(l%4) on, of matrix m.
void run_ldmatrix_bytes(Warp& w, const Inst& in) {
    if (!whole_warp(w, "a matrix instruction")) return;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    uint8_t rows[kLanes][16] = {};
    read_rows(w, in, rows);
    for (int r = 0; r < aux.elements; ++r) {
        alignas(64) uint32_t fragment[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
            const int quad = 4 * (lane % 4), line = lane / 4;
            uint8_t bytes[4];
            for (int b = 0; b < 4; ++b)
                bytes[b] = aux.extra & kTransposed ? rows[r / 2 * 16 + quad + b][line + r % 2 * 8] : rows[8 * r + line][quad + b];
            std::memcpy(&fragment[lane], bytes, sizeof bytes);
        }
        w.commit<uint32_t>(in[0][r], fragment, fragment);
    }
}

// m16n8, transposed: the bytes of register r are elements l/4 of rows 2*(l%4) and 2*(l%4)+1 of matrix
// r, then elements l/4+8 of both: accumulators of m16n8 as they are.
void run_stmatrix_bytes(Warp& w, const Inst& in) {
    if (!whole_warp(w, "a matrix instruction")) return;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) uint32_t scratch[kLanes];
    row_pointers(w, in, in[0], Access::write, pointer);
    for (int r = 0; r < aux.elements; ++r) {
        const uint32_t* fragment = w.in<uint32_t>(in[1][r], scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            for (int b = 0; b < 4; ++b)
                pointer[8 * r + 2 * (lane % 4) + b % 2][lane / 4 + b / 2 * 8] = static_cast<uint8_t>(fragment[lane] >> 8 * b);
    }
}

void run_movmatrix(Warp& w, const Inst& in) {
    if (!whole_warp(w, "a matrix instruction")) return;
    alignas(64) uint32_t scratch[kLanes], fragment[kLanes];
    alignas(64) Matrix m;
    from_fragment(w.in<uint32_t>(in[1][0], scratch), false, m);
    to_fragment(m, true, fragment);
    w.commit<uint32_t>(in[0][0], fragment, fragment);
}

template <bool Load>
void bind_matrix(const Match& match, Binding& binding) {
    const int count = match.get(".num")[2] - '0';
    if (!check_vector(match, Load ? 0 : 1, count, 4, binding)) return;
    binding.aux = MemoryAux{.space = match.get(".ss").empty() ? Space::generic : Space::shared,
                            .element_bytes = 4,
                            .elements = static_cast<uint8_t>(count),
                            .extra = match.has(".trans")}
                      .pack();
    binding.run = Load ? run_ldmatrix : run_stmatrix;
}
void bind_ldmatrix_bytes(const Match& match, Binding& binding) {
    const bool transposed = match.has(".trans");
    const int registers = (match.get(".num")[2] - '0') * (transposed ? 2 : 1);
    if (!check_vector(match, 0, registers, 4, binding)) return;
    const std::string_view format = match.get(".src_fmt");
    const Elements elements = format.empty() ? Elements::b8 : format == ".b6x16_p32" ? Elements::b6x16_p32 : Elements::b4x16_p64;
    binding.aux = MemoryAux{.space = match.get(".ss").empty() ? Space::generic : Space::shared,
                            .elements = static_cast<uint8_t>(registers),
                            .extra = static_cast<uint8_t>(static_cast<uint8_t>(elements) | (transposed ? kTransposed : 0))}
                      .pack();
    binding.run = run_ldmatrix_bytes;
}
void bind_stmatrix_bytes(const Match& match, Binding& binding) {
    bind_matrix<false>(match, binding);
    if (binding.run) binding.run = run_stmatrix_bytes;
}
void bind_movmatrix(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding) && check_value(match, 1, 4, binding))
        binding.run = run_movmatrix;
}

#define WW_SS ".ss = .shared .shared::cta; "
// clang-format off
constexpr std::string_view kLd = "warp-level-matrix-instructions-ldmatrix";
constexpr std::string_view kSt = "warp-level-matrix-instructions-stmatrix";
constexpr Row kRows[] = {
    {"ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 r, [a]", ".num = .x1 .x2 .x4; " WW_SS, {65, 75}, kLd, bind_matrix<true>},
    {"ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8 r, [a]", ".num = .x1 .x2; " WW_SS, {86, 100, 'a'}, kLd, bind_ldmatrix_bytes},
    {"ldmatrix.sync.aligned.m8n16.num{.ss}.dst_fmt.src_fmt r, [a]",
     ".num = .x1 .x2 .x4; .dst_fmt = .b8x16; .src_fmt = .b6x16_p32 .b4x16_p64; " WW_SS, {86, 100, 'a'}, kLd, bind_ldmatrix_bytes},
    {"ldmatrix.sync.aligned.m16n16.num.trans{.ss}.dst_fmt.src_fmt r, [a]",
     ".num = .x1 .x2; .dst_fmt = .b8x16; .src_fmt = .b6x16_p32 .b4x16_p64; " WW_SS, {86, 100, 'a'}, kLd, bind_ldmatrix_bytes},
    {"stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [a], r", ".num = .x1 .x2 .x4; " WW_SS, {78, 90}, kSt, bind_matrix<false>},
    {"stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [a], r", ".num = .x1 .x2 .x4; " WW_SS, {86, 100, 'a'}, kSt, bind_stmatrix_bytes},
    {"movmatrix.sync.aligned.m8n8.trans.b16 d, a", "", {78, 75}, "warp-level-matrix-instructions-movmatrix", bind_movmatrix},
};
// clang-format on

}  // namespace

std::span<const Row> matrix_load_rows() { return kRows; }

}  // namespace ww::isa
