// SPDX-License-Identifier: Apache-2.0
#include "silicon/parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "exectest/run.hpp"

namespace ww::silicon {
namespace {

using nlohmann::json;

// Documents of our own: a field that is not there means that the process died half-way.
template <class Read>
auto read(const std::string& text, std::string_view what, Read from)
    -> decltype(from(std::declval<const json&>())) {
    try {
        return from(json::parse(text));
    } catch (const json::exception&) {
        return fail(fmt::format("the {} printed no complete document", what));
    }
}

// What is no number in JSON (a NaN) is none here either.
double number(const json& from, const char* name, double otherwise) {
    const auto found = from.find(name);
    if (found == from.end()) return otherwise;
    return found->is_number() ? found->get<double>() : std::nan("");
}

}  // namespace

std::string sums_document(const std::vector<Outputs>& measured) {
    json list = json::array();
    for (const Outputs& each : measured) list.push_back(each);
    return json{{"measured", list}}.dump();
}

Result<SumsReport> read_sums(const std::string& text) {
    return read(text, "product of sums", [](const json& document) -> Result<SumsReport> {
        std::vector<Outputs> measured;
        for (const json& each : document.at("measured")) measured.push_back(each.get<Outputs>());
        if (measured.size() != random_products().size() + 1)
            return fail("the product of sums lacks results");
        return judge_sums(measured);
    });
}

std::string times_document(const ladder::TimesReport& times) {
    json cases = json::array();
    for (const ladder::CaseTimes& each : times.cases) {
        json stages = json::array();
        for (const ladder::StageTime& stage : each.stages)
            stages.push_back({{"stage", stage.stage},
                              {"kernel", stage.kernel},
                              {"seconds", stage.seconds},
                              {"min", stage.min()},
                              {"median", stage.median()},
                              {"bytes", stage.bytes}});
        cases.push_back({{"implementation", each.implementation},
                         {"case", each.case_id},
                         {"sizes", each.sizes},
                         {"flops", each.flops ? json(*each.flops) : json()},
                         {"bytes", each.bytes ? json(*each.bytes) : json()},
                         {"stages", stages},
                         {"failure", each.failure},
                         {"total", each.total()}});
    }
    return json{{"port", times.port},
                {"device_name", times.device.name},
                {"repeats", times.repeats},
                {"cases", cases}}
        .dump();
}

Result<ladder::TimesReport> read_times(const std::string& text) {
    return read(text, "benchmark", [](const json& document) -> Result<ladder::TimesReport> {
        ladder::TimesReport out;
        out.port = document.at("port");
        out.repeats = document.at("repeats");
        out.device.name = document.at("device_name");
        for (const json& each : document.at("cases")) {
            ladder::CaseTimes c{.implementation = each.at("implementation"),
                                .case_id = each.at("case"),
                                .sizes = each.at("sizes"),
                                .failure = each.at("failure")};
            if (!each.at("flops").is_null()) c.flops = each.at("flops").get<double>();
            if (!each.at("bytes").is_null()) c.bytes = each.at("bytes").get<double>();
            for (const json& stage : each.at("stages"))
                c.stages.push_back({.stage = stage.at("stage"),
                                    .kernel = stage.at("kernel"),
                                    .seconds = stage.at("seconds").get<std::vector<double>>(),
                                    .bytes = stage.at("bytes")});
            out.cases.push_back(std::move(c));
        }
        return out;
    });
}

std::string tests_document(const exectest::RunReport& tests) {
    json list = json::array();
    for (const exectest::TestResult& each : tests.tests)
        list.push_back({{"name", each.name},
                        {"outcome", exectest::outcome_name(each.outcome)},
                        {"message", each.message},
                        {"hash", fmt::format("{:016x}", each.output_hash)}});
    return json{{"tests", list}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::vector<TestOutcome>> read_tests(const std::string& text) {
    return read(
        text, "instruction tests", [](const json& document) -> Result<std::vector<TestOutcome>> {
            std::vector<TestOutcome> out;
            for (const json& each : document.at("tests"))
                out.push_back(
                    {each.at("name"), each.at("outcome"), each.at("message"), each.at("hash")});
            return out;
        });
}

Status read_check(const std::string& text, LadderCase& into) {
    return read(text, "ladder", [&](const json& document) -> Status {
        into.pass = document.at("verdict") == "pass";
        for (const json& rung : document.at("rungs")) {
            const std::string name = rung.at("name"), status = rung.at("status");
            ++into.rungs;
            into.skipped += status == "skip";
            if (status == "fail")
                into.failed.push_back({name, rung.at("failure").value("message", "")});
            if (!name.starts_with("stage/") && !name.starts_with("chain/") &&
                !name.starts_with("held_out/"))
                continue;
            for (const json& each : rung.at("metrics")) {
                Accuracy of{.rung = name,
                            .tensor = each.at("output"),
                            .hash = each.value("output_hash", "")};
                of.relative_l2 = number(each, "relative_l2", 0);
                of.cosine = number(each, "cosine", 1);
                of.max_ulp = number(each, "max_ulp", 0);
                if (const auto found = each.find("baseline_relative_l2");
                    found != each.end() && found->is_number())
                    of.of_reference = found->get<double>();
                into.accuracy.push_back(std::move(of));
            }
        }
        return ok();
    });
}

Status read_fidelity(const std::string& text, Fidelity& into) {
    return read(text, "measurement of fidelity", [&](const json& document) -> Status {
        for (const json& row : document.at("rows"))
            into.rows.push_back(
                {row.at("syntax"), row.at("sets"), row.at("results"), row.at("mismatches")});
        into.mismatches = document.at("mismatches").get<std::vector<std::string>>();
        into.failures = document.at("failures").get<std::vector<std::string>>();
        return ok();
    });
}

}  // namespace ww::silicon
