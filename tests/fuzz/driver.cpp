// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer without libFuzzer: a fixed number of seeded mutations of its seeds, the same ones
// on every machine. fuzz_<name> [--runs N] [--seed S] [--only I]; a crash names the execution.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fuzz.hpp"

namespace {

volatile uint64_t current_execution = 0;
uint64_t current_seed = 0;

// splitmix64: execution i depends on (seed, i) alone, so --only i repeats it.
struct Random {
    uint64_t state;
    uint64_t next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    size_t below(size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(next() % bound); }
};

void mutate(std::string& text, const std::vector<std::string>& seeds,
            const std::vector<std::string>& words, Random& random) {
    const size_t at = random.below(text.size() + 1);
    const size_t length = 1 + random.below(16);
    switch (random.below(9)) {
        case 0:
            text.erase(at, length);
            break;
        case 1:
            text.insert(at, 1, static_cast<char>(random.next()));
            break;
        case 2:
            text.insert(at, words[random.below(words.size())]);
            break;
        case 3:
            text.replace(at, length, words[random.below(words.size())]);
            break;
        case 4:
            if (at < text.size()) text[at] ^= static_cast<char>(1 << random.below(8));
            break;
        case 5:
            text.insert(at, text.substr(random.below(text.size() + 1), length * 4));
            break;
        case 6:
            text.resize(at);
            break;
        case 7: {  // a line goes, or comes twice
            const size_t begin = text.rfind('\n', at) + 1;
            const size_t end = std::min(text.find('\n', at), text.size());
            if (begin >= end) break;
            if (random.below(2) == 0)
                text.erase(begin, end - begin);
            else
                text.insert(begin, text.substr(begin, end - begin) + "\n");
            break;
        }
        default: {  // a piece of another seed
            const std::string& other = seeds[random.below(seeds.size())];
            text.insert(at, other.substr(random.below(other.size() + 1), length * 8));
        }
    }
}

void on_crash(int signal) {
    char message[160];
    const int count = std::snprintf(message, sizeof message,
                                    "fuzz: signal %d in execution %llu; repeat with --seed %llu "
                                    "--only %llu\n",
                                    signal, static_cast<unsigned long long>(current_execution),
                                    static_cast<unsigned long long>(current_seed),
                                    static_cast<unsigned long long>(current_execution));
    if (write(2, message, static_cast<size_t>(count)) < 0) _exit(3);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// A hang is a crash by SIGPROF. Processor time: on a busy machine a run may wait for long.
void limit_time(int seconds) {
    itimerval limit{};
    limit.it_value.tv_sec = seconds;
    setitimer(ITIMER_PROF, &limit, nullptr);
}

uint64_t number(const char* text) {
    char* end = nullptr;
    const uint64_t value = std::strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0') {
        std::fprintf(stderr, "fuzz: '%s' is not a number\n", text);
        std::exit(2);
    }
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    uint64_t runs = 1000000, only = ~uint64_t{0};
    bool print = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (option == "--print") {
            print = true;
            continue;
        }
        if (option == "--runs")
            runs = number(value);
        else if (option == "--seed")
            current_seed = number(value);
        else if (option == "--only")
            only = number(value);
        else {
            std::fprintf(stderr, "usage: [--runs N] [--seed S] [--only I] [--print]\n");
            return 2;
        }
        ++i;
    }
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGPROF})
        std::signal(signal, on_crash);
    const std::vector<std::string> seeds = ww_fuzz_seeds(), words = ww_fuzz_words();
    if (seeds.empty() || words.empty()) {
        std::fprintf(stderr, "fuzz: no seeds\n");
        return 2;
    }
    const uint64_t first = only == ~uint64_t{0} ? 0 : only;
    const uint64_t last = only == ~uint64_t{0} ? runs : only + 1;
    for (uint64_t i = first; i < last; ++i) {
        current_execution = i;
        if (i % 1024 == 0) limit_time(60);
        Random random{current_seed * 0xD1B54A32D192ED03u ^ i * 0x8CB92BA72F3D8DD7u};
        std::string text = seeds[random.below(seeds.size())];
        for (size_t k = 1 + random.below(8); k > 0; --k) mutate(text, seeds, words, random);
        if (print) {
            std::fwrite(text.data(), 1, text.size(), stdout);
            std::fflush(stdout);
        }
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    }
    limit_time(0);
    std::printf("fuzz: %llu executions\n", static_cast<unsigned long long>(last - first));
    return 0;
}
