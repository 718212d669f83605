// Error codes, the conditions that retry rules test, and result<T>.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/result.hpp>

#include <string>
#include <type_traits>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

using boost::system::error_code;
using boost::system::error_condition;
template <class T>
using result = boost::system::result<T>;

/// Errors of the library itself. Adapters may bring codes of their own that map to `condition`.
enum class errc {
  ok = 0,
  conflict,            ///< the store holds another resource version
  not_found,           ///< the object is gone
  refused,             ///< the store says no: permission, admission, schema
  unavailable,         ///< the store was not reached: nothing was executed
  too_many_requests,   ///< the store asks to slow down: nothing was executed
  outcome_unknown,     ///< a request was sent, its answer was lost
  invalid_request,     ///< refused before any change
  exhausted,           ///< nothing matches
  contention,          ///< candidates exist, none could be had
  deadline_exceeded,   ///< the caller's time was up
  cancelled,           ///< the caller, or the allocator's end
  too_old,             ///< a watch cannot resume from there
  malformed,           ///< input that cannot be decoded
  limit_exceeded,      ///< input over a bound on size, depth or count
};

/// What retry rules ask of any code, whatever its category.
enum class condition {
  retryable = 1,     ///< nothing was executed; the same call may succeed later
  conflict,          ///< lost a race: decide again on fresh data
  outcome_unknown,   ///< may have been executed
  cancelled,
  invalid_request,
  gone,              ///< the object does not exist any more
};

AGONES_ALLOC_DECL auto category() noexcept -> boost::system::error_category const&;
AGONES_ALLOC_DECL auto condition_category() noexcept -> boost::system::error_category const&;

inline auto make_error_code(errc code) noexcept -> error_code { return {static_cast<int>(code), category()}; }
inline auto make_error_condition(condition c) noexcept -> error_condition { return {static_cast<int>(c), condition_category()}; }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

template <>
struct boost::system::is_error_code_enum<agones_alloc::errc> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<agones_alloc::condition> : std::true_type {};

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/error.ipp>
#endif
