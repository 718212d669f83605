// Events to NATS, if this server was built with it.
#pragma once

#include "event_options.hpp"

#include <agones_alloc/port/event_sink.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace agones_alloc_server {

/// Null, and what is wrong.
auto make_nats_sink(boost::asio::any_io_executor, event_sink_settings const&, std::string const& source, agones_alloc::timer&,
                    std::string& problem) -> std::shared_ptr<agones_alloc::event_sink>;

}  // namespace agones_alloc_server
