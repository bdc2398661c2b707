// SPDX-License-Identifier: Apache-2.0
// The parts that no other verb has, in this process.
#include <fmt/format.h>

#include <algorithm>

#include "exectest/recorded_log.hpp"
#include "exectest/run.hpp"
#include "port/reader.hpp"
#include "silicon/parts.hpp"
#include "silicon/silicon.hpp"

namespace ww::silicon {
namespace {

Result<std::string> sums(const Options& options) {
    WW_TRY(port, port::load_port(options.port));
    WW_TRY(device, options.open_device(port.target, 0));
    WW_TRY(measured, run_products(*device));
    return sums_document(measured);
}

Result<std::string> times(const Options& options) {
    ladder::TimesOptions timing{.port = options.port,
                                .case_glob = options.bench_glob,
                                .repeats = options.repeats,
                                .open_device = options.open_device,
                                .libraries = options.libraries,
                                .plans = options.plans};
    WW_TRY(report, ladder::time_stages(timing));
    return times_document(report);
}

Result<std::string> tests(const Options& options,
                          const std::function<bool(const exectest::TestFile&)>& wanted) {
    exectest::RunOptions run{.folder = options.folder,
                             .archive = options.archive,
                             .pattern = options.test_glob,
                             .wanted = wanted};
    run.on_cuda = options.on == "cuda";
    std::unique_ptr<device::Device> gpu;
    if (run.on_cuda) {
        WW_TRY(opened, device::open_cuda());
        gpu = std::move(opened);
    }
    WW_TRY(report, exectest::run_tests(run, gpu.get()));
    return tests_document(report);
}

}  // namespace

Result<std::string> run_part(const Options& options, const std::string& part) {
    if (part == "sums") return sums(options);
    if (part == "times") return times(options);
    if (part.starts_with("test:"))
        return tests(options, [name = part.substr(5)](const exectest::TestFile& test) {
            return test.name == name;
        });
    const std::string kind = part.substr(0, part.find('>'));
    const std::string behind = kind == part ? "" : part.substr(kind.size() + 1);
    if (kind == "new-tests" || kind == "recorded-tests") {
        WW_TRY(log, exectest::load_recorded_log(options.recorded_log()));
        return tests(options, [&, fresh = kind == "new-tests"](const exectest::TestFile& test) {
            return test.name > behind && (log.executed.count(test.name) == 0) == fresh;
        });
    }
    return fail(fmt::format(
        "--part {}: the parts are sums, times, new-tests, recorded-tests and test:NAME", part));
}

}  // namespace ww::silicon
