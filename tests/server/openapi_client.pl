#!/usr/bin/env perl
# A client that OpenAPI::Client makes of the server's own document: it is loaded, checked against the OpenAPI schema, and used.
#
# Usage: openapi_client.pl URL
use strict;
use warnings;
use Mojo::UserAgent;
use OpenAPI::Client;

my $base = shift @ARGV or die "Usage: openapi_client.pl URL\n";
my $document = Mojo::UserAgent->new->get("$base/openapi.json")->result->json;
my $client = OpenAPI::Client->new($document, base_url => Mojo::URL->new($base));
if (my @errors = @{$client->validator->errors // []}) { die "the document is no OpenAPI 3: @errors\n" }

sub answered {
  my ($what, $tx, $code) = @_;
  my $got = $tx->res->code // 0;
  die "$what: $got, wanted $code: " . $tx->res->body . join(' ', @{$tx->res->json('/errors') // []}) . "\n" if $got != $code;
  return $tx->res->json;
}

my $fleets = answered('listFleets', $client->call('listFleets', {limit => 10}), 200);
die "no fleets\n" if !@{$fleets->{fleets}};
my $fleet = $fleets->{fleets}[0];
my $servers = answered('listGameServers', $client->call('listGameServers', {namespace => $fleet->{namespace}, fleet => $fleet->{fleetName}}), 200);
die "no game servers\n" if !@{$servers->{gameServers}};
my $room = answered('query', $client->call('query', {namespace => $fleet->{namespace}}, json => {gameServerSelectors => []}), 200);
die "no room\n" if !$room->{fits};
my $got = answered('allocate', $client->call('allocate', {}, json => {namespace => $fleet->{namespace}}), 200);
my $gsa = answered('createGameServerAllocation',
  $client->call('createGameServerAllocation', {namespace => $fleet->{namespace}}, json => {spec => {}}), 201);
die "not allocated\n" if $gsa->{status}{state} ne 'Allocated';
answered('live', $client->call('live'), 200);
# What the document forbids, the client does not send.
my $refused = $client->call('listFleets', {limit => 0});
die "a limit of 0 was sent\n" if ($refused->res->code // 0) == 200;
print "used listFleets, listGameServers, query, allocate ($got->{gameServerName}), createGameServerAllocation, live\n";
