// SPDX-License-Identifier: Apache-2.0
// What the driver writes to standard output (a kernel's printf) between construction and finish().
#pragma once
#include <string>

namespace ww::device::cuda {

// NOTE: redirects file descriptor 1 of the whole process for its lifetime.
class StdoutCapture {
  public:
    StdoutCapture();
    ~StdoutCapture();
    StdoutCapture(const StdoutCapture&) = delete;
    StdoutCapture& operator=(const StdoutCapture&) = delete;

    // Ends the capture and returns the text; "" if nothing could be captured.
    std::string finish();

  private:
    int file_ = -1;   // receives the output
    int saved_ = -1;  // the real standard output
};

}  // namespace ww::device::cuda
