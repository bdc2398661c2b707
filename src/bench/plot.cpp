// SPDX-License-Identifier: Apache-2.0
// The report as an SVG: bars of TFLOP/s, a group a case, as many rows of groups as it takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/report.hpp"

namespace ww::bench {
namespace {

constexpr double kBar = 14, kGap = 26, kHeight = 240, kLeft = 60, kTop = 40, kBelow = 120, kLegendRow = 18;
constexpr double kRow = kHeight + kBelow;
constexpr size_t kGroups = 7;  // of a row
// Told apart by colour-blind readers, too (Okabe and Ito's palette, grey at the end).
constexpr std::array<const char*, 8> kColours = {"#d55e00", "#e69f00", "#0072b2", "#56b4e9",
                                                 "#009e73", "#cc79a7", "#f0e442", "#888888"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '&') out += "&amp;";
        else if (c == '"') out += "&quot;";
        else if (static_cast<unsigned char>(c) < 0x20) out += ' ';
        else out += c;
    }
    return out;
}

// 1, 2 or 5 times a power of ten: about five lines.
double step_of(double top) {
    const double raw = std::max(top, 1e-9) / 5, ten = std::pow(10, std::floor(std::log10(raw)));
    for (const double each : {1.0, 2.0, 5.0})
        if (each * ten >= raw) return each * ten;
    return 10 * ten;
}

class Plot {
  public:
    explicit Plot(const Report& report) : report_(report) {
        for (const Case& c : report.cases)
            for (const Subject& each : c.subjects) {
                if (c.tflops(each) <= 0 || each.state != Subject::State::good) continue;
                top_ = std::max(top_, c.tflops(each));
                if (std::find(names_.begin(), names_.end(), each.name) == names_.end()) names_.push_back(each.name);
            }
        step_ = step_of(top_);
        top_ = std::max(std::ceil(top_ / step_), 1.0) * step_;
        group_ = kBar * static_cast<double>(std::max<size_t>(names_.size(), 1)) + kGap;
    }

    std::string text() {
        const size_t count = report_.cases.size(), columns = std::clamp<size_t>(count, 1, kGroups), rows = (count + kGroups - 1) / kGroups;
        const double width = std::max(kLeft + group_ * static_cast<double>(columns) + kGap, 520.0);
        const double legend_top = kTop + kRow * static_cast<double>(rows);
        const double height = legend_top + kLegendRow * static_cast<double>(names_.size() + 1);
        out_ = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
                           "{1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
                           "fill=\"#fff\"/>\n",
                           width, height);
        label(kLeft, 18, escaped(fmt::format("{} on {}, {}: TFLOP/s", report_.port, report_.device.name, report_.date)));
        for (size_t i = 0; i < count; ++i) {
            if (i % kGroups == 0) axis(width, i / kGroups);
            group(report_.cases[i], kLeft + kGap / 2 + group_ * static_cast<double>(i % kGroups), i / kGroups);
        }
        legend(legend_top);
        return out_ + "</svg>\n";
    }

  private:
    static double base_of(size_t row) { return kTop + kRow * static_cast<double>(row) + kHeight; }
    double y_of(double tflops, size_t row) const { return base_of(row) - kHeight * tflops / top_; }
    void label(double x, double y, const std::string& text, const std::string& more = "") {
        out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, text);
    }
    void axis(double width, size_t row) {
        for (double at = 0; at <= top_ * 1.0001; at += step_) {
            out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>\n", kLeft, y_of(at, row),
                                width - kGap, y_of(at, row));
            label(kLeft - 6, y_of(at, row) + 4, fmt::format("{:g}", at), " text-anchor=\"end\"");
        }
    }
    void group(const Case& c, double x, size_t row) {
        for (size_t i = 0; i < names_.size(); ++i) {
            const Subject* subject = c.find(names_[i]);
            if (!subject || subject->state != Subject::State::good || c.tflops(*subject) <= 0) continue;
            const double left = x + kBar * static_cast<double>(i), tflops = c.tflops(*subject), top = y_of(tflops, row);
            out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}: {}: "
                                "{:.0f}</title></rect>\n",
                                left, top, kBar - 2, base_of(row) - top, colour(i), escaped(c.id),
                                escaped(names_[i]), tflops);
            label(left + 9, top - 3, fmt::format("{:.0f}", tflops),
                  fmt::format(" font-size=\"8\" transform=\"rotate(-90 {:.1f} {:.1f})\"", left + 9, top - 3));
        }
        const double middle = x + (group_ - kGap) / 2;
        label(middle, base_of(row) + 14, escaped(c.id),
              fmt::format(" text-anchor=\"end\" transform=\"rotate(-40 {:.1f} {:.1f})\"", middle, base_of(row) + 14));
    }
    void legend(double top) {
        for (size_t i = 0; i < names_.size(); ++i) {
            const double y = top + kLegendRow * static_cast<double>(i);
            out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", kLeft, y, colour(i));
            label(kLeft + 18, y + 10, escaped(names_[i]));
        }
    }
    static const char* colour(size_t i) { return kColours[std::min(i, kColours.size() - 1)]; }

    const Report& report_;
    std::vector<std::string> names_;
    double top_ = 0, step_ = 1, group_ = 0;
    std::string out_;
};

}  // namespace

std::string to_svg(const Report& report) { return Plot(report).text(); }

}  // namespace ww::bench
