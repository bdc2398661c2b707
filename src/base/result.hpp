// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or the diagnostics that say why there is none. Member names as std::expected.
#pragma once
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "base/diagnostic.hpp"

namespace ww {

struct Failure {
    Diagnostics diagnostics;
};

// The usual way to fail: return fail("message"), or with a place.
Failure fail(std::string message);
Failure fail(Diagnostic diagnostic);
Failure fail(Diagnostics diagnostics);

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Failure failure) : error_(std::move(failure.diagnostics)) {}

    bool has_value() const { return value_.has_value(); }
    explicit operator bool() const { return has_value(); }
    T& value() & {
        WW_CHECK(value_, "value() of a failed Result");
        return *value_;
    }
    const T& value() const& {
        WW_CHECK(value_, "value() of a failed Result");
        return *value_;
    }
    T&& value() && {
        WW_CHECK(value_, "value() of a failed Result");
        return std::move(*value_);
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    const Diagnostics& error() const { return error_; }
    Failure failure() const { return Failure{error_}; }

  private:
    std::optional<T> value_;
    Diagnostics error_;
};

struct Nothing {};
using Status = Result<Nothing>;
inline Status ok() { return Nothing{}; }

}  // namespace ww

// WW_TRY(name, expression): name = the value, or return the failure.
#define WW_TRY(name, ...)                              \
    auto name##_result = (__VA_ARGS__);                \
    if (!name##_result) return name##_result.failure(); \
    auto& name = name##_result.value()
