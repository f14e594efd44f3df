// Migration report: what the command that moves records and samples says, and its words.
import type { MigratedRecords, RecordsMigration } from './migrate-records.ts';
import type { MigratedSamples, SamplesMigration } from './migrate-samples.ts';
import type { MoveProgress } from '../samples-move.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';

const usage = `use: heliograph migrate records --to postgresql|sqlite [--dry-run] [--replace], with RECORDS_URL, SECRETS_KEY and DATA_DIR set
     heliograph migrate samples --to clickhouse|embedded [--dry-run], with SAMPLES_URL and DATA_DIR set
     heliograph migrate --to cluster|single [--dry-run] [--replace], which does both for the addresses that are set`;

/** What is moved, samples first: they are continued after an interruption. */
interface Migration {
  readonly samples?: SamplesMigration;
  readonly records?: RecordsMigration;
}

/** Throws ConfigError for other words. */
export function migrationOf(
  words: readonly string[],
  { samplesUrl, recordsUrl }: Pick<Config, 'samplesUrl' | 'recordsUrl'>,
): Migration {
  const [what, ...rest] = words;
  if (what === 'records') return { records: recordsMigrationOf(rest) };
  if (what === 'samples') return { samples: samplesMigrationOf(rest) };
  const { to, isDryRun, replaces } = optionsOf(words, ['--dry-run', '--replace']);
  if (to !== 'cluster' && to !== 'single') throw new ConfigError(usage);
  if (samplesUrl === undefined && recordsUrl === undefined)
    throw new ConfigError('Set SAMPLES_URL, RECORDS_URL, or both, depending on what to migrate');
  const isThere = to === 'cluster';
  const [samplesTo, recordsTo] = [
    isThere ? ('clickhouse' as const) : ('embedded' as const),
    isThere ? ('postgresql' as const) : ('sqlite' as const),
  ];
  return {
    ...(samplesUrl !== undefined && { samples: { to: samplesTo, isDryRun } }),
    ...(recordsUrl !== undefined && { records: { to: recordsTo, isDryRun, replaces } }),
  };
}

function recordsMigrationOf(words: readonly string[]): RecordsMigration {
  const { to, ...flags } = optionsOf(words, ['--dry-run', '--replace']);
  if (to !== 'postgresql' && to !== 'sqlite') throw new ConfigError(usage);
  return { to, ...flags };
}

function samplesMigrationOf(words: readonly string[]): SamplesMigration {
  const { to, isDryRun } = optionsOf(words, ['--dry-run']);
  if (to !== 'clickhouse' && to !== 'embedded') throw new ConfigError(usage);
  return { to, isDryRun };
}

function optionsOf([option, to, ...flags]: readonly string[], known: readonly string[]) {
  if (option !== '--to' || flags.some((flag) => !known.includes(flag)))
    throw new ConfigError(usage);
  return { to, isDryRun: flags.includes('--dry-run'), replaces: flags.includes('--replace') };
}

export function progressText({ samples, total }: MoveProgress): string {
  return `${samples.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} samples\n`;
}

export function samplesText(moved: MigratedSamples, { to, isDryRun }: SamplesMigration): string {
  const { isDone, samples, uplinks, differing, unreadable, seconds } = moved;
  if (isDone) return `The samples are there already (${to}). Nothing was changed.\n`;
  const counted = `${samples.toLocaleString('en-US')} samples and ${uplinks.toLocaleString('en-US')} raw uplinks`;
  if (isDryRun) return `There are ${counted}. Nothing was changed.\n`;
  const done = `Moved ${counted} in ${seconds.toFixed(1)} s.`;
  if (differing.length > 0)
    return `${done}\nThese differ afterwards: ${differing.join(', ')}. The platform still uses what it used before; empty the target, delete samples/move in the data folder, and repeat the command.\n`;
  const left = unreadable.map((place) => `Skipped (cannot be moved): ${place}\n`).join('');
  return `${done} Counts and checksums match.\n${left}${nextSamplesSteps[to]}\n`;
}

const nextSamplesSteps = {
  clickhouse:
    'Start the platform on the same data folder with SAMPLES_URL. The folders samples/segments-until-… and uplinks-until-… have what was moved: delete them when you do not need them.',
  embedded:
    'Start the platform with the same data folder and without SAMPLES_URL. ClickHouse is unchanged; drop its database when you no longer need it.',
} as const;

export function migrationText(
  { from, tables, differing, seconds }: MigratedRecords,
  { to, isDryRun }: RecordsMigration,
): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0).toLocaleString('en-US');
  if (isDryRun)
    return `${from} has ${rows} rows in ${tables.length} tables. Nothing was changed.\n`;
  const done = `Copied ${rows} rows of ${tables.length} tables from ${from} in ${seconds.toFixed(1)} s.`;
  if (differing.length > 0)
    return `${done}\nThe rows of these tables differ afterwards: ${differing.join(', ')}. Do not start the platform on them; repeat the command with --replace.\n`;
  return `${done} All tables have the same rows by count and checksum.\n${nextSteps[to]}\n`;
}

const nextSteps = {
  postgresql:
    'Start the platform on the same data folder with RECORDS_URL and SECRETS_KEY. records.sqlite and secrets.key are as they were: a start without RECORDS_URL uses them, and knows nothing of what came since. Delete them when you do not need them.',
  sqlite:
    'Start the platform with the same data folder, without RECORDS_URL. Keep SECRETS_KEY, which encrypts the stored secrets. The database is unchanged.',
} as const;
