// SPDX-License-Identifier: Apache-2.0
#include "bench/case_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/bound.hpp"
#include "ladder/selection.hpp"
#include "port/safetensors.hpp"

namespace ww::bench {
namespace {

constexpr double kRoundSeconds = 0.02;  // of one of those that take part: long beside what starting it costs
constexpr uint32_t kFewestLaunches = 3, kMostLaunches = 200, kMostSets = 8;
constexpr uint64_t kCaches = 4;  // inputs of all sets, in sizes of the L2
// Below it a time is not the hardware's: 5 % for what the event's clock and the rates leave open.
constexpr double kOfBound = 0.95;
constexpr uint8_t kPoison = 0xA7;

std::optional<double> count_of(const std::optional<port::Expr>& expression, const port::Scope& scope) {
    if (!expression) return std::nullopt;
    const auto value = expression->eval(scope);
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

using Clock = std::chrono::steady_clock;
double seconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

std::string first_message(const Diagnostics& diagnostics) { return diagnostics.front().message; }

}  // namespace

Status CaseBench::make_inputs(const port::Case& c) {
    std::string key = fmt::format("{}+{}", c.seed, options_.seed);
    std::vector<std::pair<const port::TensorSpec*, port::Layout>> wanted;
    for (const port::TensorSpec& tensor : port_.tensors) {
        if (tensor.role != port::Role::input) continue;
        WW_TRY(layout, port::layout_of(tensor, scope_));
        key += fmt::format("|{} {}", tensor.name, layout.text());
        wanted.emplace_back(&tensor, std::move(layout));
    }
    // A distribution of the case's own, or one that reads axes and scalars: nobody else's data.
    bool own = !c.data.empty();
    for (const auto& [tensor, layout] : wanted) own = own || (tensor->data && !(tensor->data->values.empty() && tensor->data->slice.empty()));
    if (own) key += "|" + c.id;
    if (key == inputs_key_) return ok();
    inputs_.clear();
    inputs_key_.clear();
    for (const auto& [tensor, layout] : wanted) {
        WW_TRY(made, port::make_input(port_, c, *tensor, scope_, options_.seed));
        made.name = tensor->name;
        inputs_.emplace(tensor->name, std::move(made));
    }
    inputs_key_ = std::move(key);
    if (peers_.empty()) return ok();
    port::SafetensorsFile file;
    for (const auto& [name, tensor] : inputs_) file.tensors.push_back(tensor);
    return port::write_safetensors(files_ / "inputs.safetensors", file);
}

// Launches that always read the same tensors find them in the cache.
uint32_t CaseBench::sets() const {
    uint64_t bytes = 0;
    for (const auto& [name, tensor] : inputs_) bytes += tensor.bytes.size();
    const uint64_t cache = runner_.device().info().l2_bytes * kCaches;
    return static_cast<uint32_t>(std::clamp<uint64_t>((cache + bytes - 1) / std::max<uint64_t>(bytes, 1), 1, kMostSets));
}

void CaseBench::open_ours(const port::Implementation& implementation, const port::Case& c) {
    const auto products = port_.bench->products.find(implementation.name);
    const Peaks peaks = peaks_of(runner_.device().info(), products == port_.bench->products.end() ? "" : products->second);
    const auto opened = [&]() -> Result<std::unique_ptr<Ours>> {
        return Ours::open(runner_, {.port = &port_, .implementation = &implementation, .scope = &scope_, .inputs = &inputs_,
                                    .case_id = c.id, .sets = out_.sets, .poison = kPoison});
    };
    auto ours = opened();
    const std::optional<double> bytes = count_of(c.bytes, scope_);
    for (const bool kernel : {true, false}) {
        const auto kind = kernel ? Subject::Kind::kernel : Subject::Kind::whole;
        Entry entry{.subject = {.kind = kind, .name = fmt::format("{}, {}", implementation.name, name(kind)),
                                .implementation = implementation.name},
                    .limit = port_.bench->relative_l1};
        if (ours) {
            entry.subject.bound = bound_of(peaks, out_.flops, kernel ? std::optional((*ours)->kernel_bytes()) : bytes);
            entry.timed = kernel ? (*ours)->kernel() : (*ours)->whole();
        } else {
            lose(entry, Subject::State::failed, first_message(ours.error()));
        }
        entries_.push_back(std::move(entry));
    }
    if (!ours) return;
    kernels_.insert(kernels_.end(), (*ours)->kernels().begin(), (*ours)->kernels().end());
    ours_.push_back(std::move(*ours));
}

void CaseBench::lose(Entry& entry, Subject::State state, const std::string& why) {
    entry.timed.reset();
    entry.subject.state = state;
    entry.subject.why = why;
    entry.subject.seconds.clear();
}

void CaseBench::tell_losses() const {
    if (!options_.on_progress) return;
    for (const Entry& entry : entries_)
        if (entry.subject.state != Subject::State::good)
            options_.on_progress(fmt::format("  {}: {}: {}", entry.subject.name, name(entry.subject.state), entry.subject.why));
}

CaseBench::Entry CaseBench::open_peer(Peer& peer, const OpenRequest& request) const {
    const port::Peer& row = peer.row();
    Entry entry{.subject = {.kind = Subject::Kind::peer, .name = row.name}, .limit = row.relative_l1};
    entry.subject.bound = bound_of(peaks_of(runner_.device().info(), row.products), out_.flops, count_of(row.bytes, scope_));
    const auto broken = port::unmet(row.require, scope_);
    if (broken && *broken) {
        lose(entry, Subject::State::unavailable, fmt::format("it requires {}", **broken));
    } else if (auto opened = peer.open(request); !opened) {
        lose(entry, Subject::State::failed, first_message(opened.error()));
    } else if (!opened->timed) {
        lose(entry, Subject::State::unavailable, opened->unavailable);
    } else {
        entry.timed = std::move(opened->timed);
    }
    return entry;
}

// All at once: they copy inputs, compile and plan.
void CaseBench::open_peers(const port::Case& c) {
    const OpenRequest request{.case_id = c.id, .inputs = files_ / "inputs.safetensors", .scope = &scope_,
                              .output = port_.bench->output, .sets = out_.sets};
    std::vector<Entry> opened(peers_.size());
    std::vector<std::thread> running;
    for (size_t i = 0; i < peers_.size(); ++i)
        running.emplace_back([&, i] { opened[i] = open_peer(*peers_[i], request); });
    for (std::thread& each : running) each.join();
    for (Entry& each : opened) entries_.push_back(std::move(each));
}

// Brings clocks up, finds out who does not run, and how many launches make a round.
void CaseBench::warm_up() {
    for (Entry& entry : entries_) {
        if (!entry.timed) continue;
        const auto times = entry.timed->time(std::max(kFewestLaunches, out_.sets));
        if (!times) {
            lose(entry, Subject::State::failed, first_message(times.error()));
            continue;
        }
        if (times->empty()) continue;  // no clock: once is enough
        const double each = median(*times);
        const double wanted = each > 0 ? std::ceil(kRoundSeconds / each) : kFewestLaunches;
        entry.subject.launches = std::clamp(static_cast<uint32_t>(std::min<double>(wanted, kMostLaunches)),
                                            std::max(kFewestLaunches, out_.sets), kMostLaunches);
    }
}

void CaseBench::rounds() {
    const auto condition = [&] {
        if (const auto now = runner_.device().condition()) out_.conditions.push_back(*now);
    };
    condition();
    const size_t count = entries_.size();
    for (uint32_t round = 0; round < options_.rounds; ++round) {
        for (size_t i = 0; i < count; ++i) {
            Entry& entry = entries_[(i + round) % count];  // nobody is always behind the same one
            if (!entry.timed || entry.subject.launches == 0) continue;
            const auto times = entry.timed->time(entry.subject.launches);
            if (!times)
                lose(entry, Subject::State::failed, first_message(times.error()));
            else
                entry.subject.seconds.push_back(median(*times));
        }
        condition();
    }
}

void CaseBench::judge_output(Entry& entry, const Truth& truth) {
    const auto output = entry.timed->output();
    const auto accuracy = output ? accuracy_of(*output, truth) : Result<Accuracy>(output.failure());
    Subject& subject = entry.subject;
    if (accuracy) subject.accuracy = *accuracy;
    const double fastest = subject.seconds.empty() ? 0 : *std::min_element(subject.seconds.begin(), subject.seconds.end());
    const auto judged = [&](Subject::State state, std::string why) {
        subject.state = state;
        subject.why = std::move(why);
    };
    if (!accuracy)
        judged(Subject::State::incorrect, first_message(accuracy.error()));
    else if (!accuracy->finite)
        judged(Subject::State::incorrect, "its output is not finite");
    else if (!(accuracy->relative_l1 <= entry.limit))
        judged(Subject::State::incorrect, fmt::format("relative L1 error {:.4f}, above {}", accuracy->relative_l1, entry.limit));
    else if (fastest > 0 && subject.bound && fastest < kOfBound * *subject.bound)
        judged(Subject::State::invalid,
               fmt::format("{:.4g} s, faster than the hardware, whose bound is {:.4g} s", fastest, *subject.bound));
}

Status CaseBench::judge_outputs() {
    WW_TRY(truth, make_truth(port_, scope_, inputs_, options_.libraries, options_.seed));
    // Peers write their files at once; the device of ours is asked by one thread.
    std::vector<std::thread> running;
    for (Entry& entry : entries_)
        if (entry.timed && entry.subject.kind == Subject::Kind::peer)
            running.emplace_back([&] { judge_output(entry, truth); });
    for (Entry& entry : entries_)
        if (entry.timed && entry.subject.kind != Subject::Kind::peer) judge_output(entry, truth);
    for (std::thread& each : running) each.join();
    for (const std::unique_ptr<Ours>& each : ours_) {
        WW_TRY(intruded, each->intruded());
        if (intruded.empty()) continue;
        for (Entry& entry : entries_)
            if (entry.subject.kind != Subject::Kind::peer && entry.subject.state == Subject::State::good)
                lose(entry, Subject::State::invalid, intruded);
    }
    return ok();
}

void CaseBench::judge_ratios() {
    for (const Subject& ours : out_.subjects) {
        if (ours.kind == Subject::Kind::peer || ours.seconds.empty()) continue;
        for (const Subject& peer : out_.subjects) {
            if (peer.kind != Subject::Kind::peer || peer.seconds.size() != ours.seconds.size()) continue;
            Ratio ratio{.ours = ours.name, .peer = peer.name, .interval = ratio_interval(ours.seconds, peer.seconds)};
            ratio.judgement = judge(ratio.interval, ours.seconds.size());
            if (ours.state == Subject::State::incorrect)
                ratio.judgement = {Verdict::incorrect, ours.why};
            else if (ours.state != Subject::State::good)
                ratio.judgement = {Verdict::invalid, ours.why};
            else if (peer.state != Subject::State::good)
                ratio.judgement = {Verdict::invalid, fmt::format("{} is {}: {}", peer.name, name(peer.state), peer.why)};
            out_.ratios.push_back(std::move(ratio));
        }
    }
}

Result<Case> CaseBench::run(const port::Case& c, const std::vector<const port::Implementation*>& implementations) {
    const auto begin = Clock::now();
    out_ = Case{.id = c.id, .sizes = ladder::sizes_text(c)};
    entries_.clear();
    ours_.clear();
    WW_TRY(scope, port::scope_of(port_, c));
    scope_ = scope;
    WW_TRY(made, make_inputs(c));
    (void)made;
    out_.flops = count_of(c.flops, scope_);
    out_.sets = sets();
    for (const port::Implementation* each : implementations) open_ours(*each, c);
    open_peers(c);
    const auto timing = Clock::now();
    warm_up();
    rounds();
    const auto judging = Clock::now();
    const Status judged = judge_outputs();
    tell_losses();
    if (options_.on_progress)
        options_.on_progress(fmt::format("{}: made ready in {:.1f} s, timed in {:.1f} s, judged in {:.1f} s", c.id,
                                         seconds(begin, timing), seconds(timing, judging), seconds(judging, Clock::now())));
    for (const std::unique_ptr<Peer>& peer : peers_) peer->close();
    for (Entry& entry : entries_) out_.subjects.push_back(std::move(entry.subject));
    entries_.clear();
    ours_.clear();
    if (!judged) return judged.failure();
    judge_ratios();
    return out_;
}

}  // namespace ww::bench
