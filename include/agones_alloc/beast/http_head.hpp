// Status line and fields of an answer, as bytes.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `OK`, `Not Found`, ...; `Client Closed Request` for 499; "Unknown" for codes nobody assigned.
AGONES_ALLOC_DECL auto reason_phrase(int status) noexcept -> std::string_view;

/// `Sun, 29 Nov 2026 12:43:08 GMT`
AGONES_ALLOC_DECL auto http_date(std::chrono::sys_seconds) -> std::string;

/// Appends everything up to and including the empty line. Control characters become spaces.
/// `keep_alive` false says `Connection: close`; `http_1_0` says `keep-alive` where it is kept.
AGONES_ALLOC_DECL void append_head(std::string& out, http_response const&, std::string_view date, bool keep_alive,
                                   bool http_1_0);

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/http_head.ipp>
#endif
