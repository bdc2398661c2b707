// SPDX-License-Identifier: Apache-2.0
// The kernel around a test's body: registers, loads of the inputs, stores of the outputs.
// Everything of the harness is named %ww_* or ww_*, so that a body can use every plain name.
#include "exectest/expand.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::exectest {
namespace {

constexpr uint64_t kSlotAlign = 256;

uint64_t align_up(uint64_t value) { return (value + kSlotAlign - 1) / kSlotAlign * kSlotAlign; }

class Writer {
  public:
    Writer(const TestFile& test, const Layout& layout) : test_(test), layout_(layout) {}
    std::string entry(const std::string& kernel);
    size_t body_offset() const { return body_offset_; }

  private:
    template <class... Parts>
    void line(fmt::format_string<Parts...> format, Parts&&... parts) {
        text_ += "    " + fmt::format(format, std::forward<Parts>(parts)...) + "\n";
    }
    const Field& field(const Slot& slot) const { return test_.fields[slot.field]; }
    void declarations();
    void thread_index();
    void point(const Slot& slot, const char* base, const char* index);
    void load(const Field& field, uint32_t i);
    void store(const Field& field, uint32_t i);
    void copy_shared(const Slot& slot, bool to_shared);
    void inputs();
    void outputs();

    const TestFile& test_;
    const Layout& layout_;
    std::string text_;
    size_t body_offset_ = 0;
    int labels_ = 0;
};

void Writer::declarations() {
    line(".reg .u64 %ww_in, %ww_out, %ww_scratch, %ww_p, %ww_low, %ww_high;");
    line(".reg .u32 %ww_thread, %ww_block, %ww_index, %ww_n, %ww_i, %ww_s, %ww_word;");
    line(".reg .u16 %ww_half;");
    line(".reg .pred %ww_done;");
    for (const Field& field : test_.fields) {
        if (field.role == Role::shared) {
            line(".shared .align 128 .b8 {}[{}];", field.name, field.bytes());
        } else if (field.role == Role::global) {
            line(".reg .u64 {};", field.name);
        } else {
            for (uint32_t i = 0; i < field.count; ++i)
                line(".reg {} {};", register_type(field.type), field.register_name(i));
        }
    }
}

// %ww_thread in the block, %ww_block in the grid, %ww_index over all threads.
void Writer::thread_index() {
    auto linear = [&](const char* to, const char* id, const Extent& extent) {
        line("mov.u32 {}, %{}.x;", to, id);
        if (extent.y == 1 && extent.z == 1) return;
        line("mov.u32 %ww_i, %{}.z;", id);
        line("mov.u32 %ww_n, %{}.y;", id);
        line("mad.lo.u32 %ww_n, %ww_i, {}, %ww_n;", extent.y);
        line("mad.lo.u32 {}, %ww_n, {}, {};", to, extent.x, to);
    };
    linear("%ww_thread", "tid", test_.threads);
    linear("%ww_block", "ctaid", test_.trials);
    line("mad.lo.u32 %ww_index, %ww_block, {}, %ww_thread;", test_.threads.count());
    line("ld.param.u64 %ww_in, [ww_in];");
    line("ld.param.u64 %ww_out, [ww_out];");
    line("ld.param.u64 %ww_scratch, [ww_scratch];");
}

// %ww_p = base + offset + index * bytes of one
void Writer::point(const Slot& slot, const char* base, const char* index) {
    line("mad.wide.u32 %ww_p, {}, {}, {};", index, field(slot).bytes(), base);
    if (slot.offset) line("add.u64 %ww_p, %ww_p, {};", slot.offset);
}

void Writer::load(const Field& field, uint32_t i) {
    std::string name = field.register_name(i);
    uint32_t offset = i * field.type.bytes();
    if (field.type.kind == Kind::predicate) {
        line("ld.global.u8 %ww_half, [%ww_p+{}];", offset);
        line("setp.ne.u16 {}, %ww_half, 0;", name);
    } else if (field.type.bits() == 128) {
        line("ld.global.v2.u64 {{%ww_low, %ww_high}}, [%ww_p+{}];", offset);
        line("mov.b128 {}, {{%ww_low, %ww_high}};", name);
    } else {
        line("ld.global.{} {}, [%ww_p+{}];", memory_type(field.type), name, offset);
    }
}

void Writer::store(const Field& field, uint32_t i) {
    std::string name = field.register_name(i);
    uint32_t offset = i * field.type.bytes();
    if (field.type.kind == Kind::predicate) {
        line("selp.u16 %ww_half, 1, 0, {};", name);
        line("st.global.u8 [%ww_p+{}], %ww_half;", offset);
    } else if (field.type.bits() == 128) {
        line("mov.b128 {{%ww_low, %ww_high}}, {};", name);
        line("st.global.v2.u64 [%ww_p+{}], {{%ww_low, %ww_high}};", offset);
    } else {
        line("st.global.{} [%ww_p+{}], {};", memory_type(field.type), offset, name);
    }
}

// Word by word, all threads of the block together.
void Writer::copy_shared(const Slot& slot, bool to_shared) {
    int label = labels_++;
    point(slot, to_shared ? "%ww_in" : "%ww_out", "%ww_block");
    line("mov.u32 %ww_s, {};", field(slot).name);
    line("shl.b32 %ww_i, %ww_thread, 2;");
    line("cvt.u64.u32 %ww_low, %ww_i;");
    line("add.u64 %ww_p, %ww_p, %ww_low;");
    line("add.u32 %ww_s, %ww_s, %ww_i;");
    text_ += fmt::format("ww_copy{}:\n", label);
    line("setp.ge.u32 %ww_done, %ww_i, {};", field(slot).bytes());
    line("@%ww_done bra ww_copied{};", label);
    line("{}", to_shared ? "ld.global.b32 %ww_word, [%ww_p];" : "ld.shared.b32 %ww_word, [%ww_s];");
    line("{}", to_shared ? "st.shared.b32 [%ww_s], %ww_word;" : "st.global.b32 [%ww_p], %ww_word;");
    line("add.u64 %ww_p, %ww_p, {};", test_.threads.count() * 4);
    line("add.u32 %ww_s, %ww_s, {};", test_.threads.count() * 4);
    line("add.u32 %ww_i, %ww_i, {};", test_.threads.count() * 4);
    line("bra ww_copy{};", label);
    text_ += fmt::format("ww_copied{}:\n", label);
}

void Writer::inputs() {
    bool shared = false;
    for (const Slot& slot : layout_.in) {
        if (field(slot).role == Role::shared) {
            shared = true;
            copy_shared(slot, true);
            continue;
        }
        point(slot, "%ww_in", "%ww_index");
        for (uint32_t i = 0; i < field(slot).count; ++i) load(field(slot), i);
    }
    for (const Slot& slot : layout_.scratch) {
        point(slot, "%ww_scratch", "%ww_block");
        line("mov.u64 {}, %ww_p;", field(slot).name);
    }
    if (shared) line("bar.sync 0;");
}

void Writer::outputs() {
    bool shared = false;
    for (const Slot& slot : layout_.out) {
        if (field(slot).role == Role::shared) {
            shared = true;
            continue;
        }
        point(slot, "%ww_out", "%ww_index");
        for (uint32_t i = 0; i < field(slot).count; ++i) store(field(slot), i);
    }
    if (!shared) return;
    line("bar.sync 0;");
    for (const Slot& slot : layout_.out)
        if (field(slot).role == Role::shared) copy_shared(slot, false);
}

std::string Writer::entry(const std::string& kernel) {
    text_ = fmt::format(
        ".visible .entry {}(.param .u64 ww_in, .param .u64 ww_out, .param .u64 ww_scratch)\n{{\n",
        kernel);
    declarations();
    thread_index();
    inputs();
    line("{{");
    body_offset_ = text_.size();
    text_ += test_.body;
    line("}}");
    outputs();
    line("ret;");
    text_ += "}\n";
    return std::move(text_);
}

int lines_in(std::string_view text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

Layout make_layout(const TestFile& test) {
    Layout layout;
    for (uint32_t i = 0; i < test.fields.size(); ++i) {
        const Field& field = test.fields[i];
        uint64_t copies = field.is_scratch() ? test.trials.count() : test.lanes();
        uint64_t bytes = copies * field.bytes();
        auto add = [&](std::vector<Slot>& slots, uint64_t& total) {
            slots.push_back({i, total, bytes});
            total = align_up(total + bytes);
        };
        if (field.role == Role::global) {
            add(layout.scratch, layout.scratch_bytes);
            continue;
        }
        if (field.is_input()) add(layout.in, layout.in_bytes);
        if (field.is_output()) add(layout.out, layout.out_bytes);
    }
    return layout;
}

std::string ptx_header(const std::string& version, const std::string& target) {
    return fmt::format(".version {}\n.target {}\n.address_size 64\n", version, target);
}

Expanded expand(const TestFile& test) {
    Expanded expanded;
    for (char c : test.name) expanded.kernel += c == '/' ? "__" : std::string(1, c);
    expanded.layout = make_layout(test);
    expanded.module = test.module_text;
    Writer writer(test, expanded.layout);
    expanded.entry = writer.entry(expanded.kernel);
    expanded.ptx = ptx_header(test.version, test.target);
    expanded.module_line = lines_in(expanded.ptx) + 1;
    expanded.ptx += expanded.module;
    expanded.body_line =
        lines_in(expanded.ptx) + lines_in(expanded.entry.substr(0, writer.body_offset())) + 1;
    expanded.ptx += expanded.entry;
    return expanded;
}

Diagnostic relocate(Diagnostic diagnostic, const TestFile& test, const Expanded& expanded) {
    auto inside = [&](int first, const std::string& text) {
        return diagnostic.line >= first && diagnostic.line < first + lines_in(text);
    };
    if (inside(expanded.body_line, test.body))
        diagnostic.line += test.body_line - expanded.body_line;
    else if (inside(expanded.module_line, test.module_text))
        diagnostic.line += test.module_line - expanded.module_line;
    else
        return diagnostic;
    diagnostic.file = test.path.string();
    return diagnostic;
}

}  // namespace ww::exectest
