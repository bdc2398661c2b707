// SPDX-License-Identifier: Apache-2.0
// log.txt as records, both ways.
#pragma once
#include "journal/log.hpp"
#include "records/records.hpp"

namespace ww::journal {

const records::Schema& log_schema();
std::filesystem::path log_file(const std::filesystem::path& port);

Result<Log> log_of(const records::File& file);
records::Record start_record(const Entry& entry);   // what `log start` writes
records::Record finish_record(const Entry& entry);  // what `log finish` adds

}  // namespace ww::journal
