// SPDX-License-Identifier: Apache-2.0
// What the text of the failed kernel adds to its failure: warnings of the compiler, stores that did
// not run, registers that nothing sets, lines that left no code.
#include <fmt/format.h>

#include <algorithm>

#include "ladder/climber.hpp"
#include "ladder/gaps.hpp"

namespace ww::ladder {
namespace {

using Definition = device::WriteRecord::Definition;

constexpr size_t kStores = 6, kWarnings = 6, kUnused = 3;  // lists that a person reads

// The position of the tensor among the kernel's parameters.
std::optional<size_t> parameter_of(const port::KernelImpl& kernel, const std::string& tensor) {
    std::vector<const port::Arg*> args;
    for (const auto* list : {&kernel.args, &kernel.tap_args})
        for (const port::Arg& arg : *list) args.push_back(&arg);
    for (size_t i = 0; i < args.size(); ++i) {
        const auto* plain = std::get_if<port::TensorArg>(&args[i]->value);
        const auto* map = std::get_if<port::TensorMapArg>(&args[i]->value);
        if ((plain && plain->tensor == tensor) || (map && map->tensor == tensor)) return i;
    }
    return std::nullopt;
}

SourceLines lines_of(const device::WriteRecord& record) {
    SourceLines out = record.call_sites;
    if (!record.source_file.empty())
        out.insert(out.begin(), device::SourceLine{record.source_file, record.source_line});
    return out;
}

bool is_same(const SourceLines& a, const SourceLines& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.file == y.file && x.line == y.line;
    });
}

// The element was written by nobody: what may have been meant to.
void explain_unwritten(Failure& failure, const KernelText& text, const port::KernelImpl& kernel,
                       const std::string& tensor, Gaps& gaps) {
    const auto parameter = parameter_of(kernel, tensor);
    std::vector<Definition> stores;
    if (parameter) stores = text.stores_to(*parameter);
    if (parameter && stores.empty())
        failure.message += fmt::format("; no instruction of {} stores to {}", kernel.entry, tensor);
    for (const Failure::OtherWriter& each : failure.other_writers) {
        const SourceLines lines = lines_of(each.written_by);
        gaps.around(lines);
        std::erase_if(stores, [&](const Definition& store) {
            return lines.empty() ? store.ptx_line == each.written_by.ptx_line
                                 : is_same(store.source, lines);
        });
    }
    if (stores.size() > kStores) stores.resize(kStores);
    for (const Definition& store : stores) gaps.around(store.source);
    failure.stores = std::move(stores);
}

// The value came from somewhere: what lies between.
void explain_wrong(Failure& failure, const KernelText& text, const device::WriteRecord& writer,
                   Gaps& gaps) {
    gaps.between(text.value_definitions(writer.ptx_line), lines_of(writer));
    const std::vector<std::string> unset = text.unset_registers(writer.ptx_line);
    if (unset.empty()) return;
    for (const std::string& name : unset)
        failure.diagnostics.push_back(
            {.severity = Severity::note,
             .message = fmt::format("nothing sets {}, which PTX line {} reads", name, writer.ptx_line)});
    for (const Definition& each : text.unused_results(kUnused)) {
        std::string message = fmt::format("nothing reads the result of PTX line {}: {}",
                                          each.ptx_line, each.instruction);
        Diagnostic note{.severity = Severity::note, .message = std::move(message)};
        if (!each.source.empty())
            note.file = each.source.front().file, note.line = each.source.front().line;
        failure.diagnostics.push_back(std::move(note));
    }
}

// A variable that is used though nothing set it: NVRTC's warning 549.
bool is_use_of_nothing(const Diagnostic& warning) {
    return warning.message.find("is used before its value is set") != std::string::npos;
}

}  // namespace

void Climber::explain(Rung& rung, const port::Implementation& implementation) {
    if (!rung.failure) return;
    Failure& failure = *rung.failure;
    const auto stage = implementation.stages.find(failure.stage);
    const CaseData* data = references_.find(failure.case_id);
    if (stage == implementation.stages.end() || !data) return;
    const auto* given = std::get_if<port::KernelImpl>(&stage->second.value);
    if (!given) return;
    const bool taps = !failure.tap.empty();
    const RunRequest request{.stage = port_.stage(failure.stage), .impl = &stage->second,
                             .scope = &data->scope, .taps = taps};
    const auto kernel = runner_.planned(*given, request);
    const Runner::Text* built = kernel ? runner_.text_of(request, *kernel) : nullptr;
    if (!built) return;
    const auto text = KernelText::read(built->ptx, kernel->entry);
    if (!text) return;  // PTX that only the driver can read: the failure stands as it is
    Gaps gaps(text.value());
    const auto& writer = taps ? failure.tap_written_by : failure.written_by;
    const std::string& tensor = taps ? failure.tap : failure.output;
    if (writer) explain_wrong(failure, text.value(), *writer, gaps);
    else if (!tensor.empty()) explain_unwritten(failure, text.value(), *kernel, tensor, gaps);
    Diagnostics warnings = built->warnings;
    if (warnings.size() > kWarnings) warnings.resize(kWarnings);
    for (const Diagnostic& each : warnings)
        if (is_use_of_nothing(each)) gaps.before({each.file, each.line});
    failure.diagnostics.insert(failure.diagnostics.end(), warnings.begin(), warnings.end());
    failure.without_code = gaps.take();
}

}  // namespace ww::ladder
