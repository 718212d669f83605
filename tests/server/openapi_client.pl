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
answered($_, $client->call($_), 200) for qw(live ready metrics);
my $clusters = answered('listClusters', $client->call('listClusters'), 200);
die "no clusters\n" if !@{$clusters->{clusters}};

# A claim by its id: found, confirmed, given back, and then there is none.
my $space = {namespace => $fleet->{namespace}};
my $mine = answered('allocate', $client->call('allocate', {'Idempotency-Key' => 'perl-1'}, json => $space), 200);
my $claim = answered('findClaim', $client->call('findClaim', {id => 'perl-1', %$space}), 200);
die "another server\n" if $claim->{gameServerName} ne $mine->{gameServerName};
answered('confirmClaim', $client->call('confirmClaim', {id => 'perl-1', %$space}), 200);
answered('releaseClaim', $client->call('releaseClaim', {id => 'perl-1', %$space}), 200);
answered('findClaim', $client->call('findClaim', {id => 'perl-2', %$space}), 404);

# A readiness gate, from the game's side too.
for my $end (qw(gateReady gateFailed)) {
  my $pending = answered('allocate', $client->call('allocate',
    {'Prefer' => 'respond-async', 'Agones-Alloc-Gate' => 'webhook; timeout=5m; on-timeout=ReturnToReady'}, json => $space), 202);
  my $all = answered('listGameServers', $client->call('listGameServers', {limit => 10000, %$space}), 200);
  my ($server) = grep { $_->{metadata}{name} eq $pending->{gameServerName} } @{$all->{gameServers}};
  my $token = $server->{metadata}{annotations}{'agones-alloc.dev/gate-token'} // die "no token\n";
  answered($end, $client->call($end, {token => $token}), 204);
  my $told = answered('findClaim', $client->call('findClaim', {id => $pending->{id}, Prefer => 'wait=60', %$space}), 200);
  die "$end: it still waits\n" if $told->{pending};
}
# What the document forbids, the client does not send.
my $refused = $client->call('listFleets', {limit => 0});
die "a limit of 0 was sent\n" if ($refused->res->code // 0) == 200;
print "used all operations; got $got->{gameServerName}\n";
