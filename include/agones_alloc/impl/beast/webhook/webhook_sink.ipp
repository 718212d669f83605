#pragma once

#include <agones_alloc/beast/webhook/webhook_sink.hpp>
#include <agones_alloc/json/cloud_event.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto webhook_failure(error_code ec, client_response const& answer) -> delivery_report {
  delivery_report out;
  // What cannot be written now cannot be written later: a body over the bound is smaller in parts.
  if (ec == errc::invalid_request) out.outcome = delivery_outcome::too_large;
  out.reason = answer.reason.empty() ? ec.message() : answer.reason;
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto delivery_of(client_response const& answer) -> delivery_report {
  delivery_report out;
  auto const status = answer.status;
  if (status / 100 == 2) {
    out.outcome = delivery_outcome::taken;
  } else if (status == 413) {
    out.outcome = delivery_outcome::too_large;
  } else if (status == 408 || status == 425 || status == 429 || status >= 500) {
    out.outcome = delivery_outcome::again;
  } else {
    out.outcome = delivery_outcome::refused;
  }
  if (answer.retry_after) out.retry_after = *answer.retry_after;
  out.reason = "HTTP status " + std::to_string(status);
  return out;
}

AGONES_ALLOC_DECL webhook_sink::webhook_sink(http_client& client, timer& time, webhook_options options)
    : client_{client}, timer_{time}, options_{std::move(options)} {
  if (!options_.target.starts_with('/')) throw std::invalid_argument{"webhook_options.target: must begin with /"};
  if (options_.source.empty()) throw std::invalid_argument{"webhook_options.source: must not be empty"};
}

AGONES_ALLOC_DECL void webhook_sink::set_key(webhook_key key) {
  std::lock_guard const lock{mutex_};
  key_ = std::move(key);
}

AGONES_ALLOC_DECL auto webhook_sink::request_of(event_batch const& batch) const -> client_request {
  client_request out;
  out.method = "POST";
  out.target = options_.target;
  auto const& first = batch.events.front();
  switch (options_.mode) {
    case webhook_mode::binary:
      out.content_type = "application/json";
      out.headers = cloud_event_headers(first, options_.source);
      out.body = cloud_event_data(first);
      break;
    case webhook_mode::structured:
      out.content_type = "application/cloudevents+json; charset=utf-8";
      append_cloud_event(out.body, first, options_.source);
      break;
    case webhook_mode::batched:
      out.content_type = "application/cloudevents-batch+json; charset=utf-8";
      out.body = cloud_event_batch(batch, options_.source);
      break;
  }
  out.body_limit = 64UL * 1024;  // nobody reads it
  return out;
}

AGONES_ALLOC_DECL void webhook_sink::sign(client_request& request, event_batch const& batch) const {
  std::lock_guard const lock{mutex_};
  if (key_.empty()) return;
  auto id = cloud_event_id(batch.events.front());
  if (options_.mode == webhook_mode::batched) id += "+" + std::to_string(batch.events.size() - 1);
  // A point is what parts the signed text.
  for (char& c : id) {
    if (c == '.') c = '_';
  }
  auto const seconds = std::chrono::floor<std::chrono::seconds>(timer_.wall_now()).time_since_epoch().count();
  request.headers.emplace_back("webhook-signature", webhook_signature(key_, id, seconds, request.body));
  request.headers.emplace_back("webhook-timestamp", std::to_string(seconds));
  request.headers.emplace_back("webhook-id", std::move(id));
}

AGONES_ALLOC_DECL void webhook_sink::do_send(event_batch_ptr batch, time_point deadline, handler done) {
  auto request = request_of(*batch);
  sign(request, *batch);
  request.deadline = deadline;
  auto const single = options_.mode != webhook_mode::batched;
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  auto then = [h = std::move(done), single, count = batch->events.size()](error_code ec, client_response answer) mutable {
    auto report = ec ? detail::webhook_failure(ec, answer) : delivery_of(answer);
    // The rest of a delivery that holds more than the mode allows comes again.
    if (single && count > 1 && report.outcome == delivery_outcome::taken) {
      report = {delivery_outcome::again, 1, {}, "more events than the mode allows"};
    }
    std::move(h)(std::move(report));
  };
  client_.async_request(std::move(request),
                        boost::asio::bind_cancellation_slot(slot, boost::asio::bind_executor(executor, std::move(then))));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
