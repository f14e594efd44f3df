// The engines of the side-by-side runs: the platform and its peers, one row each.
import { existsSync } from 'node:fs';
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
  released: 'this tree',
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

/**
 * Installs the engine when it is missing, unless only installed ones are wanted; undefined when it
 * can run, else why not, in words.
 */
function whyMissing(peer: Peer, onlyInstalled: boolean): string | undefined {
  if (peer === heliograph || existsSync(peer.program)) return undefined;
  const missing = onlyInstalled
    ? 'it is not installed'
    : installPackages(peer.packages, peer.program);
  return missing === undefined ? undefined : `${peer.title} is skipped: ${missing}`;
}

/** The engines of the names that can run, and why others cannot, in words. Throws for an unknown name. */
export function namedPeers(
  names: readonly string[],
  onlyInstalled = false,
): { readonly peers: readonly Peer[]; readonly skipped: string[] } {
  const peers: Peer[] = [];
  const skipped: string[] = [];
  for (const name of names) {
    const peer = engines[name];
    if (peer === undefined)
      throw new Error(`no engine is called ${name}; there are ${Object.keys(engines).join(', ')}`);
    const missing = whyMissing(peer, onlyInstalled);
    if (missing === undefined) peers.push(peer);
    else skipped.push(missing);
  }
  return { peers, skipped };
}
