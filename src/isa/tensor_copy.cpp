// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile mode: a box of a tensor in global
// memory, described by a tensor map, to or from shared memory. Outside of the tensor, loads give
// the fill value and stores do nothing. The map is read when the instruction is issued.
#include <array>
#include <optional>
#include <vector>

#include "isa/bulk_ops.hpp"
#include "machine/tensor_map.hpp"

namespace ww::isa {
namespace {

using machine::EncodedTensorMap;
using machine::kMaxTensorRank;
using machine::TensorSwizzle;

constexpr uint32_t kChunk = 16, kSharedAlign = 128;

struct Tile {
    EncodedTensorMap map{};
    std::array<int32_t, kMaxTensorRank> first{};  // coordinates; 0 above the rank

    bool is_packed() const { return map.type().bits < 8; }
    uint64_t bytes_of(uint64_t elements) const { return elements * map.type().bits / 8; }
    uint64_t row_bytes() const { return bytes_of(map.box[0]); }
    uint64_t rows() const {
        uint64_t count = 1;
        for (uint32_t i = 1; i < map.rank; ++i) count *= map.box_elements(i);
        return count;
    }
    uint64_t bytes() const { return rows() * row_bytes(); }
    // Bytes that a swizzle exchanges with each other: pieces stay within such a span.
    uint64_t span() const { return map.swizzle ? uint64_t{16} << map.swizzle : 1; }
    // From the start of the box to the end of what it may touch: rows shorter than the span leave
    // the last one partly used, but anywhere in it.
    uint64_t extent() const { return (bytes() + span() - 1) / span() * span(); }

    // One row of the box: where its elements within the tensor are, if any.
    struct Row {
        uint64_t address = 0;  // of the first element within
        uint64_t skip = 0, bytes = 0;  // of the row before it; within
    };
    Row row(uint64_t index) const {
        uint64_t address = map.address;
        for (uint32_t i = 1; i < map.rank; ++i) {
            const uint32_t count = map.box_elements(i);
            const int64_t at = first[i] + static_cast<int64_t>(index % count) * map.element_strides[i];
            index /= count;
            if (at < 0 || at > int64_t{map.last_index[i]}) return {};
            address += static_cast<uint64_t>(at) * map.strides[i - 1];
        }
        const int64_t begin = std::max<int64_t>(first[0], 0);
        const int64_t end = std::min<int64_t>(int64_t{first[0]} + map.box[0], int64_t{map.last_index[0]} + 1);
        if (begin >= end) return {};
        return {.address = address + bytes_of(static_cast<uint64_t>(begin)),
                .skip = bytes_of(static_cast<uint64_t>(begin - first[0])),
                .bytes = bytes_of(static_cast<uint64_t>(end - begin))};
    }
    // Bits 4 and up of a shared address are exclusive-ored with its bits 7 and up.
    uint64_t swizzled(uint64_t address) const {
        const uint64_t mask = (uint64_t{1} << map.swizzle) - 1;  // none, 32, 64, 128 bytes: 0 to 3 bits
        return address ^ (address >> 7 & mask) << 4;
    }
    void fill(uint8_t* row) const {
        std::memset(row, 0, row_bytes());
        if (map.oob_fill == 0) return;
        // A NaN with all fraction bits, as arithmetic gives it.
        const uint64_t element = bytes_of(1);
        std::memset(row, 0xff, row_bytes());
        for (uint64_t at = element - 1; at < row_bytes(); at += element) row[at] = 0x7f;
    }
};

void check_supported(const EncodedTensorMap& map, int lane) {
    if (map.type().padded) throw GuestTrap(std::string("unsupported: tensor maps of ") + map.type().name, lane);
    if (map.interleave != 0) throw GuestTrap("unsupported: tensor maps with an interleaved layout", lane);
    if (map.swizzle > static_cast<uint8_t>(TensorSwizzle::bytes128))
        throw GuestTrap("unsupported: tensor maps with a swizzle of other atoms than 16 bytes", lane);
}

// The rest of what cuTensorMapEncodeTiled would have refused.
void check_row(const Tile& tile, int lane) {
    const uint64_t bytes = tile.row_bytes();
    if (bytes % kChunk != 0 || (tile.map.swizzle && bytes > tile.span()))
        throw GuestTrap("a box row of the tensor map is " + std::to_string(bytes) + " bytes: it must be a multiple of 16" +
                            (tile.map.swizzle ? ", at most the swizzle's " + std::to_string(tile.span()) : ""),
                        lane);
    if (tile.is_packed() && tile.map.last_index[0] % 2 == 0)
        throw GuestTrap(std::string("the tensor map's size 0 must be a multiple of 2: its type is ") + tile.map.type().name, lane);
}

// The map and the coordinates of one lane; aux: extra is the number of dimensions.
Tile tile_of(Warp& w, const Inst& in, int position, int lane) {
    const machine::Arg& arg = in[position];
    const uint32_t dimensions = MemoryAux::unpack(in.aux).extra;
    alignas(64) uint64_t address[kLanes];
    w.addresses(arg, address);
    const uint64_t at = address[lane];
    if (at % machine::kTensorMapAlign != 0)
        throw GuestTrap("the address of a tensor map must be a multiple of 64", lane);
    Tile tile;
    const uint8_t* bytes = w.access_lane(arg.space, at, machine::kTensorMapBytes, Access::read, lane);
    std::memcpy(&tile.map, bytes, sizeof tile.map);
    if (tile.map.magic != EncodedTensorMap::kMagic)
        throw GuestTrap("there is no tensor map at this address: it must come from cuTensorMapEncodeTiled", lane);
    if (!tile.map.is_sound())
        throw GuestTrap("the tensor map at this address is damaged: what was changed after cuTensorMapEncodeTiled does not go together", lane);
    check_supported(tile.map, lane);
    check_row(tile, lane);
    if (tile.map.rank != dimensions || arg.coordinates != dimensions)
        throw GuestTrap("the tensor map has " + std::to_string(tile.map.rank) + " dimensions, the instruction names " +
                            std::to_string(dimensions) + " and gives " + std::to_string(arg.coordinates) + " coordinates",
                        lane);
    alignas(64) int32_t scratch[kLanes];
    for (uint32_t i = 0; i < dimensions; ++i)
        tile.first[i] = w.in<int32_t>(arg[static_cast<int>(i) + 1], scratch)[lane];
    if (tile.is_packed() && tile.first[0] % 2 != 0)
        throw GuestTrap("unsupported: coordinate 0 of a tensor map of " + std::string(tile.map.type().name) + " is " +
                            std::to_string(tile.first[0]) + ", within a byte",
                        lane);
    return tile;
}

// The number of the first or last row that has elements within the tensor, or none.
std::optional<uint64_t> outer_row(const Tile& tile, bool last) {
    uint64_t index = 0, rows = 1;
    for (uint32_t i = 1; i < tile.map.rank; ++i) {
        const int64_t step = tile.map.element_strides[i], first = tile.first[i], count = tile.map.box_elements(i);
        const int64_t room = int64_t{tile.map.last_index[i]} - first;  // to the last element
        const int64_t low = first < 0 ? (-first + step - 1) / step : 0;
        const int64_t high = room < 0 ? -1 : std::min(count - 1, room / step);
        if (low > high) return std::nullopt;
        index += rows * static_cast<uint64_t>(last ? high : low);
        rows *= static_cast<uint64_t>(count);
    }
    return index;
}

// All that the box touches of the tensor lies in memory that may be accessed so. As a rule one
// allocation holds the rows from the first to the last; else each is looked up.
void check_global(Warp& w, const Tile& tile, Access kind, int lane) {
    const std::optional<uint64_t> first = outer_row(tile, false);
    if (!first) return;
    const Tile::Row low = tile.row(*first), high = tile.row(*outer_row(tile, true));
    if (low.bytes == 0) return;
    const machine::Region* region = w.grid->global->find(low.address, high.address + high.bytes - low.address);
    if (region && region->writable) return;
    for (uint64_t i = *first; i < tile.rows(); ++i)
        if (const Tile::Row inside = tile.row(i); inside.bytes != 0)
            w.range(Space::global, inside.address, inside.bytes, 1, kind, lane);
}

// f(offset in the box, shared range): each stretch of a row that lies in one piece.
template <class F>
void each_piece(const Tile& tile, const MemoryRange& shared, uint64_t row, F&& f) {
    const uint64_t bytes = tile.row_bytes(), step = tile.map.swizzle ? kChunk : bytes;
    for (uint64_t at = 0; at < bytes; at += step) {
        MemoryRange piece = shared;
        piece.offset = tile.swizzled(shared.offset + row * bytes + at);
        piece.bytes = step;
        f(at, piece);
    }
}

// The shared memory of a box: all that it may touch is checked, bytes counts what it holds.
MemoryRange shared_range(Warp& w, const Tile& tile, uint64_t address, Access kind, int lane) {
    MemoryRange range = w.range(Space::shared, address, tile.extent(), kSharedAlign, kind, lane);
    range.bytes = tile.bytes();
    return range;
}

// ---- loads ----
void load_now(const AsyncAccess& by, const Tile& tile, const BulkPlace& place) {
    std::vector<uint8_t> row(tile.row_bytes());
    for (uint64_t i = 0; i < tile.rows(); ++i) {
        const Tile::Row inside = tile.row(i);
        if (inside.bytes != row.size()) tile.fill(row.data());
        if (inside.bytes != 0)
            by.read(by.warp.range(Space::global, inside.address, inside.bytes, 1, Access::read, by.lane), row.data() + inside.skip);
        each_piece(tile, place.to, i, [&](uint64_t at, const MemoryRange& piece) { by.write(piece, row.data() + at); });
    }
    signal_bytes(by, place);
}

// What is written exactly: whole spans, then pieces of the last one.
void set_pieces(AsyncOperation& operation, const Tile& tile, const MemoryRange& to) {
    const uint64_t whole = tile.bytes() / tile.span() * tile.span();
    operation.destinations = {{to.in_cluster(), static_cast<uint32_t>(whole)}};
    for (uint64_t at = whole; at < tile.bytes(); at += kChunk) {
        MemoryRange piece = to;
        piece.offset = tile.swizzled(to.offset + at);
        operation.destinations.push_back({piece.in_cluster(), static_cast<uint32_t>(kChunk)});
    }
}

void issue_load(Warp& w, const Inst& in, int lane, const Tile& tile, const BulkPlace& place) {
    AsyncOperation operation = bulk_operation(w, in, lane, place);
    if (tile.extent() != tile.bytes()) set_pieces(operation, tile, place.to);
    operation.write = [&w, &in, lane, tile, place](AsyncOperation& self, uint32_t) {
        load_now({w, in, Agent::bulk, self.number, lane}, tile, place);
    };
    w.block->cluster.async.issue(std::move(operation), w);
}

// in: [dst], [map, coordinates], [mbar], cta-mask; element_bytes of the aux: 1 to multicast, 2 to
// .shared::cta; elements: 1 where packed types are not taken
void run_load(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t to[kLanes], mbarrier[kLanes];
    alignas(64) uint16_t scratch[kLanes];
    w.addresses(in[0], to);
    w.addresses(in[2], mbarrier);
    const uint16_t* masks = aux.element_bytes == 1 ? w.in<uint16_t>(in[3][0], scratch) : nullptr;
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const Tile tile = tile_of(w, in, 1, lane);
        if (aux.elements == 1 && tile.is_packed())
            throw GuestTrap(std::string("on sm_120 a tensor copy to .shared::cluster does not take ") + tile.map.type().name +
                                ": name .shared::cta",
                            lane);
        const auto place = [&](uint64_t dst, uint64_t mbar) {
            return BulkPlace{.to = shared_range(w, tile, dst, Access::write, lane),
                             .mbarrier = mbarrier_range(w, Space::shared, mbar, lane),
                             .signals = true};
        };
        const BulkPlace own = place(to[lane], mbarrier[lane]);
        check_global(w, tile, Access::read, lane);
        if (aux.element_bytes == 2 && (own.to.remote || own.mbarrier.remote))
            throw GuestTrap("a tensor copy to .shared::cta writes and signals the own block's shared memory only", lane);
        if (!masks) {
            issue_load(w, in, lane, tile, own);
            continue;
        }
        for (uint32_t rank = 0; rank < 16; ++rank)
            if (masks[lane] >> rank & 1)
                issue_load(w, in, lane, tile, place(machine::cluster_address(rank, own.to.offset), machine::cluster_address(rank, own.mbarrier.offset)));
    }
}

// ---- stores and reductions ----
// One of the reduce operations of the rows, by number: the type is known with the map.
constexpr std::string_view kOps[] = {"", ".and", ".or", ".xor", ".add", ".inc", ".dec", ".min", ".max"};

Reduce reduction_of(const Tile& tile, uint8_t op, int lane) {
    if (op == 0) return nullptr;
    std::string_view type = tile.map.type().ptx;
    if (op <= 3) type = tile.map.type().bits == 32 ? ".b32" : tile.map.type().bits == 64 ? ".b64" : "";
    const Reduce found = reduction(kOps[op], type, true, tile.map.type().flushes);
    if (!found)
        throw GuestTrap("the reduction " + std::string(kOps[op]) + " does not go with the tensor map's type " + tile.map.type().name, lane);
    return found;
}

void store_now(const AsyncAccess& by, const Tile& tile, Reduce reduce, const uint8_t* box) {
    for (uint64_t i = 0; i < tile.rows(); ++i) {
        const Tile::Row inside = tile.row(i);
        if (inside.bytes == 0) continue;
        const uint8_t* from = box + i * tile.row_bytes() + inside.skip;
        const Access kind = reduce ? Access::atomic : Access::write;
        const MemoryRange to = by.warp.range(Space::global, inside.address, inside.bytes, 1, kind, by.lane);
        if (!reduce) {
            by.write(to, from);
            continue;
        }
        by.check(to, kind);
        reduce(to.data(), from, inside.bytes);
        by.notify(to, kind);
    }
}

// The lanes that would store the same box from the same place as this one, which is among them.
LaneMask same_store(Warp& w, const machine::Arg& to, const uint64_t* from, LaneMask lanes, int lane) {
    alignas(64) uint64_t maps[kLanes];
    w.addresses(to, maps);
    LaneMask out = lanes_with(maps, lane) & lanes_with(from, lane) & lanes;
    for (uint32_t i = 0; i < to.coordinates; ++i) {
        alignas(64) int32_t scratch[kLanes];
        out &= lanes_with(w.in<int32_t>(to[static_cast<int>(i) + 1], scratch), lane);
    }
    return out;
}

// in: [map, coordinates], [src]; elements of the aux: the reduction's number, 0 to store
void run_store(Warp& w, const Inst& in) {
    const uint8_t op = MemoryAux::unpack(in.aux).elements;
    alignas(64) uint64_t from[kLanes];
    w.addresses(in[1], from);
    LaneMask again = 0;  // lanes whose store another lane does for them
    for (LaneMask left = w.active; left; left &= ~again & (left - 1)) {
        const int lane = __builtin_ctz(left);
        if (op == 0) again = same_store(w, in[0], from, left, lane);
        const Tile tile = tile_of(w, in, 0, lane);
        const Reduce reduce = reduction_of(tile, op, lane);
        const BulkPlace place{.from = shared_range(w, tile, from[lane], Access::read, lane)};
        check_global(w, tile, reduce ? Access::atomic : Access::write, lane);
        AsyncOperation operation = bulk_operation(w, in, lane, place);
        operation.read = [&w, &in, lane, tile, place](AsyncOperation& self, uint32_t) {
            const AsyncAccess by{w, in, Agent::bulk, self.number, lane};
            self.data.resize(tile.bytes());
            for (uint64_t i = 0; i < tile.rows(); ++i)
                each_piece(tile, place.from, i, [&](uint64_t at, const MemoryRange& piece) {
                    by.read(piece, self.data.data() + i * tile.row_bytes() + at);
                });
        };
        operation.write = [&w, &in, lane, tile, reduce](AsyncOperation& self, uint32_t) {
            store_now({w, in, Agent::bulk, self.number, lane}, tile, reduce, self.data.data());
        };
        w.block->cluster.async.issue(std::move(operation), w);
    }
}

// A hint: the map is checked. in: [map, coordinates]
void run_prefetch(Warp& w, const Inst& in) {
    for (LaneMask left = w.active; left; left &= left - 1) tile_of(w, in, 0, __builtin_ctz(left));
}

// ---- binds ----
bool check_mode(const Match& match, Binding& binding) {
    const std::string_view mode = match.get(".load_mode");
    if (mode.empty() || mode == ".tile") return true;
    binding.error = "tensor copies have semantics in .tile mode only, not in " + std::string(mode);
    return false;
}

uint8_t dimensions(const Match& match) { return static_cast<uint8_t>(match.get(".dim")[1] - '0'); }

}  // namespace

void bind_tensor_load(const Match& match, Binding& binding) {
    if (!check_mode(match, binding)) return;
    if (match.get(".cta_group") == ".cta_group::2") {
        binding.error = ".cta_group::2 has no semantics here";
        return;
    }
    const bool multicast = match.has(".multicast::cluster");
    // In .tile mode the first operand after the mbarrier is the mask.
    if (multicast && !check_value(match, 3, 2, binding)) return;
    const bool own_block = match.has(".shared::cta"), refuses_packed = !own_block && match.target_sm == 120;
    binding.aux = MemoryAux{.element_bytes = static_cast<uint8_t>(multicast ? 1 : own_block ? 2 : 0),
                            .elements = static_cast<uint8_t>(refuses_packed ? 1 : 0),
                            .extra = dimensions(match)}
                      .pack();
    binding.run = run_load;
}

void bind_tensor_store(const Match& match, Binding& binding) {
    if (!check_mode(match, binding)) return;
    binding.aux = MemoryAux{.elements = 0, .extra = dimensions(match)}.pack();
    binding.run = run_store;
}

void bind_tensor_reduce(const Match& match, Binding& binding) {
    if (!check_mode(match, binding)) return;
    uint8_t op = 1;
    while (kOps[op] != match.get(".redOp")) ++op;
    binding.aux = MemoryAux{.elements = op, .extra = dimensions(match)}.pack();
    binding.ordered = match.get(".redOp") == ".add";  // the map may be of floats
    binding.run = run_store;
}

void bind_tensor_prefetch(const Match& match, Binding& binding) {
    if (!check_mode(match, binding)) return;
    binding.aux = MemoryAux{.extra = dimensions(match)}.pack();
    binding.run = run_prefetch;
}

}  // namespace ww::isa
