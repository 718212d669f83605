// Events as CloudEvents 1.0.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/object_event.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Attributes, by the specification's names:
///   id               `<uid>.<resource version>.<change>`; the same for every repeat, and from every replica that watches
///                    the same cluster. `<uid>.deleted` for a deletion, of which there is one. Without a UID, namespace and
///                    name take its place
///   source           as given
///   type             `dev.agones-alloc.gameserver.allocated` and so on
///   subject          `<namespace>/<name>`
///   time             when the change was noticed, RFC 3339 to the millisecond
///   datacontenttype  application/json
///   dataschema       `https://agones-alloc.dev/schemas/v1/GameServer`, or `Fleet`: a name, not a place
/// Extensions:
///   partitionkey     the UID: events with the same key are sent in order
///   resourceversion  the object's
///   fleet            the fleet of a game server, if it is of one
///   previousstate    a game server's state before the change, if it is known
///   merged           how many earlier changes of the object this event stands for besides its own; left out when none
/// Data: the object as Kubernetes writes it, without managedFields; for a deletion, as it was known last.
/// Thread safety: pure functions.

AGONES_ALLOC_DECL auto cloud_event_id(object_event const&) -> std::string;
/// The dotted type; a literal.
AGONES_ALLOC_DECL auto cloud_event_type(object_kind, object_change) noexcept -> std::string_view;

/// Structured mode: the whole event as one JSON object, on one line. Media type application/cloudevents+json; in an array,
/// application/cloudevents-batch+json.
AGONES_ALLOC_DECL void append_cloud_event(std::string& out, object_event const&, std::string_view source);
AGONES_ALLOC_DECL auto cloud_event_batch(event_batch const&, std::string_view source) -> std::string;
/// Binary mode: the attributes as HTTP fields (`ce-id`, ...), percent-encoded as the HTTP binding has it; all but
/// datacontenttype, which is the Content-Type.
AGONES_ALLOC_DECL auto cloud_event_headers(object_event const&, std::string_view source)
    -> std::vector<std::pair<std::string, std::string>>;
/// The data alone.
AGONES_ALLOC_DECL auto cloud_event_data(object_event const&) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/cloud_event.ipp>
#endif
