// The peers of the side-by-side run, one row each.
import { clickhouse } from './clickhouse.ts';
import { influxdb } from './influxdb.ts';
import type { Peer } from './peer.ts';
import { postgresql } from './postgresql.ts';
import { victoriametrics } from './victoriametrics.ts';

export const peerTable = { influxdb, victoriametrics, postgresql, clickhouse } satisfies Record<
  string,
  Peer
>;
