// Kept release: the data that a released version wrote, with its answers, as `npm run release-data` recorded it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDevice } from '../world/world.ts';

export interface KeptAnswer {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly answer: unknown;
}

/** What `answers.json` has. */
export interface KeptAnswers {
  /** When the answers were recorded; some depend on the time. */
  readonly recordedAt: string;
  /** Sends more uplinks: its rule opens an alarm above 30 degrees. */
  readonly device: TestDevice;
  /** Secret of an API key that reads devices. */
  readonly readerKey: string;
  readonly answers: readonly KeptAnswer[];
}

export const engines = ['sqlite', 'postgresql'] as const;
type Engine = (typeof engines)[number];

/** Signs in with the password of every world. */
export const ownerEmail = 'admin@localhost';
/** Of the platforms on PostgreSQL; on SQLite the key is in the data folder. */
export const keptSecretsKey = 'key of the releases';

/** Released versions, oldest first. */
export const releases = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));

export const releaseFolder = (version: string): string => join(import.meta.dirname, version);

export const archiveIn = (folder: string, engine: Engine): string =>
  join(folder, `${engine}.tar.gz`);

export interface UnpackedRelease extends KeptAnswers {
  /** To be removed by the caller. */
  readonly folder: string;
  readonly dataFolder: string;
  /** The statements that make the database, on PostgreSQL. */
  readonly dump: string;
}

/** Unpacks an archive of the folder that `npm run release-data` wrote. */
export function unpack(from: string, engine: Engine): UnpackedRelease {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-release-'));
  execFileSync('tar', ['-xzf', archiveIn(from, engine), '-C', folder]);
  const text = readFileSync(join(folder, 'answers.json'), 'utf8');
  return {
    ...(JSON.parse(text) as KeptAnswers),
    folder,
    dataFolder: join(folder, 'data'),
    dump: join(folder, 'records.sql'),
  };
}
