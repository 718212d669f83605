#pragma once

#include <agones_alloc/json/cloud_event.hpp>
#include <agones_alloc/nats/detail/nats_connection.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The connection hands its options over.
using nats_settings = nats_owner<natsOptions, natsOptions_Destroy>;
using nats_message = nats_owner<natsMsg, natsMsg_Destroy>;

AGONES_ALLOC_DECL auto read_stream_word(std::string_view answer, std::string& reason) -> stream_word {
  error_code ec;
  auto const document = boost::json::parse({answer.data(), answer.size()}, ec);
  auto const* const object = ec ? nullptr : document.if_object();
  if (object == nullptr) {
    reason = "an answer that no stream gives";
    return stream_word::again;
  }
  auto const* const error = object->if_contains("error");
  if (error == nullptr) return object->contains("stream") ? stream_word::stored : stream_word::again;
  std::int64_t code = 0;
  if (auto const* const of = error->if_object()) {
    if (auto const* const number = of->if_contains("code"); number != nullptr && number->is_int64()) code = number->get_int64();
    if (auto const* const text = of->if_contains("description"); text != nullptr && text->is_string()) {
      reason = "the stream says: " + std::string{text->get_string().data(), text->get_string().size()};
    }
  }
  return code / 100 == 4 ? stream_word::refused : stream_word::again;
}

/// What the library says of its last failure on this thread, without the place in its source: of a certificate, what is wrong with it.
inline auto reason_of(natsStatus status) -> std::string {
  natsStatus last = NATS_OK;
  auto const* const said = nats_GetLastError(&last);
  std::string_view text = said != nullptr && last == status ? said : "";
  if (auto const place = text.find("): "); text.starts_with('(') && place != text.npos) text.remove_prefix(place + 3);
  return std::string{text.empty() ? natsStatus_GetText(status) : text.substr(0, 250)};
}

AGONES_ALLOC_DECL auto nats_connection::connect(std::function<bool()> const& patient) -> natsStatus {
  if (connection_ && natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED) return NATS_OK;
  connection_.reset();
  natsOptions* made = nullptr;
  auto status = natsOptions_Create(&made);
  nats_settings const settings{made};
  auto const then = [&status](auto set, auto... arguments) {
    if (status == NATS_OK) status = set(arguments...);
  };
  auto* const to = settings.get();
  then(natsOptions_SetURL, to, options_.url.c_str());
  then(natsOptions_SetName, to, options_.client_name.c_str());
  then(natsOptions_SetTimeout, to, static_cast<std::int64_t>(options_.connect_time.count()));
  then(natsOptions_SetWriteDeadline, to, static_cast<std::int64_t>(options_.connect_time.count()));
  // What is not acknowledged is sent again by the publisher: nothing is to be kept here meanwhile.
  then(natsOptions_SetAllowReconnect, to, false);
  then(natsOptions_SetNoEcho, to, false);
  if (!options_.token.empty()) then(natsOptions_SetToken, to, options_.token.c_str());
  if (!options_.credentials_file.empty()) {
    then(natsOptions_SetUserCredentialsFromFiles, to, options_.credentials_file.c_str(), static_cast<char const*>(nullptr));
  }
  if (options_.tls) then(natsOptions_SetSecure, to, true);
  if (!options_.authorities_file.empty()) then(natsOptions_LoadCATrustedCertificates, to, options_.authorities_file.c_str());
  if (!options_.certificate_file.empty()) {
    then(natsOptions_LoadCertificatesChain, to, options_.certificate_file.c_str(), options_.key_file.c_str());
  }
  if (status != NATS_OK) return status;
  natsConnection* opened = nullptr;
  connecting_ = true;
  status = patient() ? natsConnection_Connect(&opened, to) : NATS_TIMEOUT;  // asked once more: who gives up may not have seen that it connects
  connecting_ = false;
  connection_.reset(opened);
  return status;
}

AGONES_ALLOC_DECL auto nats_connection::publish(event_batch const& batch, std::string const& inbox) -> natsStatus {
  std::string text;
  for (std::size_t i = 0; i != batch.events.size(); ++i) {
    auto const& event = batch.events[i];
    text.clear();
    append_cloud_event(text, event, options_.source);
    natsMsg* made = nullptr;
    auto status = natsMsg_Create(&made, nats_subject(options_.subject, event).c_str(), (inbox + "." + std::to_string(i)).c_str(),
                                 text.data(), static_cast<int>(text.size()));
    nats_message const message{made};
    if (status == NATS_OK) status = natsMsgHeader_Set(made, "Content-Type", "application/cloudevents+json; charset=utf-8");
    if (status == NATS_OK) status = natsMsgHeader_Set(made, "Nats-Msg-Id", cloud_event_id(event).c_str());
    if (status == NATS_OK) status = natsConnection_PublishMsg(connection_.get(), made);
    if (status != NATS_OK) return status;
  }
  return NATS_OK;
}

AGONES_ALLOC_DECL auto nats_connection::gather(natsSubscription* answers, std::string const& inbox,
                                               std::vector<stream_word>& words, std::function<bool()> const& patient,
                                               std::string& reason) -> natsStatus {
  for (std::size_t missing = words.size(); missing > 0;) {
    if (!patient()) return NATS_TIMEOUT;
    natsMsg* heard = nullptr;
    auto const status = natsSubscription_NextMsg(&heard, answers, 100);
    nats_message const message{heard};
    if (status == NATS_TIMEOUT) continue;
    if (status == NATS_NO_RESPONDERS) {
      reason = "no stream takes the subject";
      return NATS_OK;
    }
    if (status != NATS_OK) return status;
    std::string_view const subject{natsMsg_GetSubject(heard)};
    auto const tail = subject.substr(std::min(inbox.size() + 1, subject.size()));
    std::size_t index = words.size();
    std::from_chars(tail.data(), tail.data() + tail.size(), index);
    if (index >= words.size() || words[index] != stream_word::none) continue;
    --missing;
    if (natsMsg_IsNoResponders(heard)) {
      reason = "no stream takes the subject";
      words[index] = stream_word::again;
    } else {
      words[index] = read_stream_word({natsMsg_GetData(heard), static_cast<std::size_t>(natsMsg_GetDataLength(heard))}, reason);
    }
  }
  return NATS_OK;
}

AGONES_ALLOC_DECL auto nats_connection::send(event_batch const& batch, std::function<bool()> const& patient) -> delivery_report {
  delivery_report out;
  std::vector<stream_word> words(batch.events.size(), stream_word::none);
  auto status = connect(patient);
  natsInbox* named = nullptr;
  if (status == NATS_OK) status = natsInbox_Create(&named);
  nats_owner<natsInbox, natsInbox_Destroy> const kept{named};
  std::string const inbox = named == nullptr ? "" : named;
  natsSubscription* made = nullptr;
  if (status == NATS_OK) status = natsConnection_SubscribeSync(&made, connection_.get(), (inbox + ".*").c_str());
  subscription const answers{made};
  if (status == NATS_OK) status = publish(batch, inbox);
  if (status == NATS_OK) status = gather(made, inbox, words, patient, out.reason);
  if (status != NATS_OK) {
    out.reason = reason_of(status);
    if (status != NATS_TIMEOUT) connection_.reset();  // a new one the next time
  }
  auto const stop = std::find_if(words.begin(), words.end(), [](stream_word w) { return w != stream_word::stored; });
  out.taken = static_cast<std::size_t>(stop - words.begin());
  if (stop == words.end()) {
    out.outcome = delivery_outcome::taken;
  } else if (*stop == stream_word::refused) {
    // The others are to be tried without it.
    out.outcome = words.end() - stop > 1 ? delivery_outcome::too_large : delivery_outcome::refused;
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
