// A handler that turns its answer into what another handler takes.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/associator.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// `Adapt`: (error_code, Answer) to a pair of error_code and what `Handler` takes. Executor, allocator and cancellation
/// slot are those of `done`.
template <class Handler, class Adapt>
struct adapted_handler {
  Handler done;
  Adapt adapt;

  template <class Answer>
  void operator()(error_code ec, Answer&& answer) {
    auto result = adapt(ec, std::forward<Answer>(answer));
    std::move(done)(result.first, std::move(result.second));
  }
};

template <class Handler, class Adapt>
auto adapted(Handler done, Adapt adapt) -> adapted_handler<Handler, Adapt> {
  return {std::move(done), std::move(adapt)};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

template <template <class, class> class Associator, class Handler, class Adapt, class Candidate>
struct boost::asio::associator<Associator, agones_alloc::detail::adapted_handler<Handler, Adapt>, Candidate>
    : Associator<Handler, Candidate> {
  using adapted = agones_alloc::detail::adapted_handler<Handler, Adapt>;
  static auto get(adapted const& h) noexcept { return Associator<Handler, Candidate>::get(h.done); }
  static auto get(adapted const& h, Candidate const& c) noexcept {
    return Associator<Handler, Candidate>::get(h.done, c);
  }
};
