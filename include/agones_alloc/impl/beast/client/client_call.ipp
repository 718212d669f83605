#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/client/client_call.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL void client_call::send(std::shared_ptr<client_connection> connection, credentials_ptr credentials,
                                         std::string bytes) {
  where = stage::active;
  used = std::move(credentials);
  wire = std::move(bytes);
  connection_ = connection;
  connection->serve(shared_from_this());
}

/// Completes on the handler's executor, else on ours; never inside the caller.
template <class Handler, class Result>
void client_call::post_completion(std::unique_ptr<Handler> handler, error_code ec, Result result) {
  boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, handler = std::move(handler), ec,
                                result = std::move(result)]() mutable {
    auto taken = std::move(*handler);
    handler.reset();
    detail::complete(own, std::move(taken), ec, std::move(result));
  });
}

// What a failure means to the caller.
AGONES_ALLOC_DECL auto client_call::fate(error_code ec, bool taken) const -> error_code {
  return taken && !is_safe(request) ? error_code{errc::outcome_unknown} : ec;
}

AGONES_ALLOC_DECL void client_call::complete(error_code ec, client_response response) {
  where = stage::over;
  connection_.reset();
  if (whole_) post_completion(std::move(whole_), ec, std::move(response));
  if (open_) post_completion(std::move(open_), ec, std::unique_ptr<response_stream>{});
}

AGONES_ALLOC_DECL void client_call::complete_read(error_code ec) {
  if (reader_) post_completion(std::move(reader_), ec, ec ? std::string_view{} : std::string_view{delivered_});
}

AGONES_ALLOC_DECL void client_call::give_up(error_code ec, std::string reason) {
  auto const self = shared_from_this();
  switch (where) {
    case stage::over: return;
    case stage::fresh:
    case stage::waiting:
    case stage::refused: {
      if (auto const owner = owner_.lock()) owner->forget(*this);
      client_response nothing;
      nothing.reason = std::move(reason);
      return complete(ec, std::move(nothing));
    }
    case stage::active: break;
  }
  auto const connection = connection_.lock();
  bool const taken = !connection || connection->taken();
  ended_ = ec;
  if (connection) connection->close();
  if (auto const owner = owner_.lock(); owner && connection) {
    owner->ended(*this);
    owner->cut(*connection);
  }
  complete(fate(ec, taken));
  complete_read(ec);
}

AGONES_ALLOC_DECL void client_call::accept_refusal() {
  if (auto const owner = owner_.lock()) owner->forget(*this);
  complete({}, std::move(refusal_));
}

AGONES_ALLOC_DECL void client_call::on_head(response_head const& head) {
  auto const self = shared_from_this();
  auto const connection = connection_.lock();
  auto const owner = owner_.lock();
  if (head.status == 401 && !refreshed && owner) {
    // The answer to the repeat is the one to read: this one's body is not waited for.
    connection->close();
    connection_.reset();
    owner->ended(*this);
    owner->cut(*connection);
    return owner->refused(self);
  }
  std::unique_ptr<response_stream> stream = std::make_unique<open_stream>(executor_, self, head);
  post_completion(std::move(open_), error_code{}, std::move(stream));
}

AGONES_ALLOC_DECL void client_call::on_body(std::string& bytes) {
  delivered_.clear();
  delivered_.swap(bytes);
  complete_read({});
}

AGONES_ALLOC_DECL void client_call::on_end(exchange_end end, client_response response) {
  auto const self = shared_from_this();
  auto const owner = owner_.lock();
  connection_.reset();
  if (owner) owner->ended(*this);
  if (streamed && !open_) {  // a stream that its caller holds
    where = stage::over;
    ended_ = end.ec ? end.ec : error_code{boost::asio::error::eof};
    return complete_read(ended_);
  }
  if (!end.ec && response.status == 401 && !refreshed && owner) {
    refusal_ = std::move(response);
    return owner->refused(self);
  }
  if (owner && end.stale && !repeated && (is_safe(request) || !end.taken)) return owner->again(self);
  complete(end.ec ? fate(end.ec, end.taken) : error_code{}, std::move(response));
}

AGONES_ALLOC_DECL void client_call::read(std::unique_ptr<read_handler> handler) {
  auto const self = shared_from_this();
  reader_ = std::move(handler);
  if (where != stage::active) return complete_read(ended_ ? ended_ : error_code{errc::cancelled});
  auto const connection = connection_.lock();
  if (!connection) return complete_read(errc::cancelled);
  connection->resume();
}

AGONES_ALLOC_DECL open_stream::~open_stream() {
  boost::asio::dispatch(executor_, [call = std::move(call_)] { call->give_up(errc::cancelled); });
}

AGONES_ALLOC_DECL void open_stream::do_read_some(handler done) {
  auto slot = boost::asio::get_associated_cancellation_slot(done);
  if (slot.is_connected()) {
    slot.assign([weak = std::weak_ptr<client_call>{call_}, executor = executor_](boost::asio::cancellation_type t) {
      if ((t & boost::asio::cancellation_type::terminal) == boost::asio::cancellation_type::none) return;
      boost::asio::dispatch(executor, [weak] {
        if (auto const call = weak.lock()) call->give_up(errc::cancelled);
      });
    });
  }
  boost::asio::dispatch(executor_, [call = call_, owned = std::make_unique<handler>(std::move(done))]() mutable {
    call->read(std::move(owned));
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
