// SPDX-License-Identifier: Apache-2.0
#include "cudart/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::cudart {
namespace {

constexpr int kUsage = 2;

// Of a data-centre or workstation GPU with that compute capability.
uint32_t usual_multiprocessors(int sm) {
    if (sm >= 120) return 188;
    if (sm >= 100) return 148;
    return sm >= 90 ? 132 : 108;
}

template <class T>
T or_exit(Result<T> result) {
    if (result) return std::move(*result);
    fmt::print(stderr, "{}\n", format(result.error()));
    ::_exit(kUsage);
}

}  // namespace

Session& Session::get() {
    static Session* const session = new Session;
    return *session;
}

Session::Session() : settings_(or_exit(settings_from_environment())), report_(settings_.report) {
    if (!settings_.ptx.empty()) replacement_ = or_exit(read_replacement(settings_.ptx));
}

int Session::complain(const char* function, Code code, const Diagnostics& why) {
    std::vector<std::string> texts;
    for (const Diagnostic& each : why) texts.push_back(each.file.empty() ? each.message : format(each));
    return complain(function, code, join(texts, "\n"));
}
int Session::complain(const char* function, Code code, std::string why) {
    report_.refused(function, why);
    return code;
}

// Without a wish the device is what the program was compiled for.
device::Device& Session::device() {
    if (emulated_.device) return *emulated_.device;
    std::string target = settings_.target;
    if (target.empty()) {
        Target newest{.sm = 90, .suffix = 'a'};
        bool any = false;
        for (const auto& binary : binaries_)
            for (const EmbeddedPtx& each : binary->images)
                if (!any || each.target.sm > newest.sm) newest = each.target, any = true;
        target = newest.text();
    }
    emulated_ = device::open_emulated_with_services({.target = target,
                                                      .threads = settings_.threads,
                                                      .instruction_budget = settings_.budget,
                                                      .async = settings_.async,
                                                      .schedule = settings_.schedule});
    emulated_.services->permit_garbage_in_shared(settings_.garbage_in_shared);
    emulated_.device->check_races(settings_.races);
    report_.started(emulated_.device->info(), multiprocessors());
    return *emulated_.device;
}

device::EmulatedServices& Session::services() {
    (void)device();
    return *emulated_.services;
}

uint32_t Session::multiprocessors() {
    if (settings_.multiprocessors != 0) return settings_.multiprocessors;
    return usual_multiprocessors(device().info().sm);
}

Binary* Session::add_binary(const void* fat_binary) {
    auto binary = std::make_unique<Binary>();
    binary->name = fmt::format("{}.{}.ptx", program_invocation_short_name, ++named_);
    auto images = read_fat_binary(fat_binary);
    if (images) binary->images = std::move(*images);
    else binary->unreadable = images.error();
    binaries_.push_back(std::move(binary));
    return binaries_.back().get();
}

Result<Binary*> Session::add_image(const void* image) {
    constexpr uint32_t kFatBinary = 0xba55ed50, kWrapper = 0x466243b1;
    constexpr char kElf[] = {0x7f, 'E', 'L', 'F'};
    uint32_t mark = 0;
    std::memcpy(&mark, image, std::min(std::strlen(static_cast<const char*>(image)) + 1, sizeof mark));
    if (mark == kFatBinary) return add_binary(image);
    if (mark == kWrapper) {
        const void* data = nullptr;
        std::memcpy(&data, static_cast<const char*>(image) + 8, sizeof data);
        return add_binary(data);
    }
    if (std::memcmp(&mark, kElf, sizeof kElf) == 0) return fail("a cubin, and the emulator runs PTX: load PTX or a fat binary that holds it");
    std::string text(static_cast<const char*>(image));
    auto binary = std::make_unique<Binary>();
    binary->name = fmt::format("{}.{}.ptx", program_invocation_short_name, ++named_);
    WW_TRY(target, ptx_target(text));
    binary->images.push_back({target, std::move(text)});
    binaries_.push_back(std::move(binary));
    return binaries_.back().get();
}

void Session::add_function(Binary* binary, const void* key, std::string name) {
    by_key_[key] = kernel_of(binary, name);
}
void Session::add_variable(Binary* binary, const void* key, std::string name) {
    variables_[key] = {binary, std::move(name)};
}

Function* Session::kernel_of(Binary* binary, const std::string& name) {
    for (const auto& each : functions_)
        if (each->binary == binary && each->name == name) return each.get();
    functions_.push_back(std::make_unique<Function>());
    functions_.back()->binary = binary;
    functions_.back()->name = name;
    return functions_.back().get();
}

Function* Session::function(const void* key) {
    if (const auto it = by_key_.find(key); it != by_key_.end()) return it->second;
    for (const auto& each : functions_)
        if (each.get() == key) return each.get();
    return nullptr;
}
Variable* Session::variable(const void* key) {
    const auto it = variables_.find(key);
    return it == variables_.end() ? nullptr : &it->second;
}

// The PTX to load, under the name that messages give it.
Result<device::Image> Session::image_of(Binary& binary) {
    const device::Device& on = device();
    const EmbeddedPtx* image = choose(binary.images, on.info().sm);
    if (!image) {
        std::vector<std::string> targets;
        for (const EmbeddedPtx& each : binary.images) targets.push_back(each.target.text());
        const Target wanted = parse_target(on.info().target).value();
        const std::string has = targets.empty() ? "no PTX" : "PTX for " + join(targets, ", ") + ", none";
        const std::string other = targets.empty() ? "" : fmt::format("run it with --target {}, or ", targets[0]);
        return fail(fmt::format("the program holds {} for {}: {}compile it with -gencode arch=compute_{},code=compute_{}", has,
                                on.info().target, other, wanted.arch(), wanted.arch()));
    }
    std::string name = binary.name;
    if (!settings_.keep.empty()) {
        name = (std::filesystem::path(settings_.keep) / binary.name).string();
        WW_TRY(written, write_file(name, image->text));
        (void)written;
    }
    if (!replacement_ || !replaces(*replacement_, image->text)) return device::Image{.name = name, .bytes = image->text};
    report_.replaced(name, replacement_->path);
    return device::Image{.name = replacement_->path, .bytes = replacement_->text};
}

Status Session::load(Binary& binary) {
    if (binary.unreadable) return fail(*binary.unreadable);
    if (binary.module) return ok();
    WW_TRY(image, image_of(binary));
    report_.module(image.name, std::string(image.bytes));
    WW_TRY(module, device().load(image));
    binary.module = module;
    return ok();
}

Status Session::load(Function& function) {
    if (function.kernel) return ok();
    WW_TRY(loaded, load(*function.binary));
    (void)loaded;
    WW_TRY(kernel, device().kernel(*function.binary->module, function.name));
    WW_TRY(params, device().params(kernel));
    WW_TRY(needs, services().needs(kernel));
    function.params = params;
    function.needs = needs;
    function.kernel = kernel;
    return ok();
}

int Session::launch(const char* caller, Function& function, device::Launch launch, void** arguments) {
    if (const Status loaded = load(function); !loaded) return complain(caller, kInvalidPtx, loaded.error());
    for (size_t i = 0; i < function.params.size(); ++i) {
        const auto* bytes = static_cast<const std::byte*>(arguments[i]);
        launch.arguments.push_back({{bytes, bytes + function.params[i].size}, 1});
    }
    const uint32_t allowed = function.max_dynamic_shared ? static_cast<uint32_t>(*function.max_dynamic_shared)
                                                         : kDefaultShared - std::min(kDefaultShared, function.needs.static_shared_bytes);
    if (launch.dynamic_shared_bytes > allowed)
        return complain(caller, kInvalidValue,
                        fmt::format("{} takes {} bytes of dynamic shared memory, {} are allowed: "
                                    "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) raises that",
                                    function.name, launch.dynamic_shared_bytes, allowed));
    if (launch.cluster.count() > kPortableCluster && !function.non_portable_cluster)
        return complain(caller, kInvalidClusterSize,
                        fmt::format("{}: clusters of {} blocks want cudaFuncAttributeNonPortableClusterSizeAllowed",
                                    function.name, launch.cluster.count()));
    if (const Status sound = device().check(*function.kernel, launch); !sound)
        return complain(caller, kInvalidConfiguration, sound.error());
    const auto ran = device().launch(*function.kernel, launch);
    for (const device::RaceRecord& race : device().take_races()) report_.race(race);
    if (!ran) {
        report_.fault(function.name, ran.error());
        return sticky = kLaunchFailure;
    }
    std::fwrite(ran->printf_output.data(), 1, ran->printf_output.size(), stdout);
    report_.launch(function.name, launch, *ran);
    return kSuccess;
}

bool Session::on_device(const void* at) const {
    const auto address = reinterpret_cast<uint64_t>(at);
    for (const auto* ranges : {&allocations, &known_variables}) {
        const auto next = ranges->upper_bound(address);
        if (next != ranges->begin() && address - std::prev(next)->first < std::prev(next)->second) return true;
    }
    return false;
}

}  // namespace ww::cudart
