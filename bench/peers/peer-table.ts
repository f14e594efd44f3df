// The engines of the side-by-side runs: the platform and its peers, one row each.
import process from 'node:process';
import { clickhouse } from './clickhouse.ts';
import { installPackages } from './debian-package.ts';
import { heliographDurability, heliographTitle, startHeliograph } from './heliograph.ts';
import { influxdb } from './influxdb.ts';
import type { Peer } from './peer.ts';
import { postgresql } from './postgresql.ts';
import { victoriametrics } from './victoriametrics.ts';

export const heliograph: Peer = {
  title: heliographTitle,
  packages: [],
  program: process.execPath,
  durability: heliographDurability,
  model: 'bulk backfill with an API key; single requests are captures decoded by a script',
  exceptions: {},
  start: startHeliograph,
};

export const engines: Readonly<Record<string, Peer>> = {
  heliograph,
  influxdb,
  victoriametrics,
  postgresql,
  clickhouse,
};

/** Installs the engine when it is missing; undefined when it can run, else why not, in words. */
export function whyMissing(peer: Peer): string | undefined {
  if (peer === heliograph) return undefined;
  const missing = installPackages(peer.packages, peer.program);
  return missing === undefined ? undefined : `${peer.title} is skipped: ${missing}`;
}
