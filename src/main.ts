// Start and stop: starts the platform and stops it on a signal, or checks its data folder.
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ClickHouseStartError } from './storage/clickhouse/clickhouse.ts';
import { ConfigError } from './app/config/config-values.ts';
import { type Config, readConfig } from './app/config/config.ts';
import { startPlatform } from './app/platform.ts';
import type { RecordsMigration } from './app/commands/migrate-records.ts';
import type { SamplesMigration } from './app/commands/migrate-samples.ts';
import type { Platform } from './app/platform-parts.ts';
import { OtherFormatError, Problem } from './model/problem.ts';
import { startText } from './app/start-message.ts';
import { DataFolderError } from './storage/data-folder/data-folder.ts';
import { watchWrapper } from './app/wrapper-watch.ts';
import { setRepeatingTimer } from './structures/timers.ts';

// Memory of the start: one garbage collection frees it, because the heap shrinks only while there is work.

const restMs = 2_000;
/** Part of the time that a platform at rest is busy. */
const busyPartMax = 0.02;

/**
 * One collection of garbage, some 80 ms long, after the first two seconds at rest; a platform at rest
 * then takes 30 MiB less. Work frees the memory by itself, and must not wait for this.
 */
function giveBackStartMemory(): void {
  let before = performance.eventLoopUtilization();
  const cancel = setRepeatingTimer(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > busyPartMax) return;
    cancel();
    collectGarbage();
  }, restMs);
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  // Only this flavor returns empty pages to the system.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** For the last lines of the log, when the stop has used its time. */
const lastLinesMs = 1_000;
/** Only the user of the process can read the files that it creates. */
const ownerUmask = 0o077;
const samePressMs = 1_000;
/** Of a move of samples, which takes hours when there are many. */
const progressEveryMs = 5_000;
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

async function start(): Promise<void> {
  endOnSignal();
  // Files of the data folder hold secrets.
  process.umask(ownerUmask);
  const given = readConfig();
  const demo = await loadDemo(given);
  const { config, credentials } = demo?.demoConfig(given) ?? { config: given };
  const platform = await startPlatform(config);
  const stopping = new AbortController();
  // Before the start is reported, because a supervisor may stop it right after.
  stopOnSignal(config, platform, stopping);
  process.stdout.write(startText(config, platform, credentials));
  giveBackStartMemory();
  await demo?.composeDemo(config, platform, stopping.signal);
}

/** Loads the demo only when it is wanted, because most starts do not need it. */
async function loadDemo({ demo }: Config) {
  if (!demo) return undefined;
  return import('./app/demo.ts');
}

/**
 * Ends the process on a signal while it starts. Process 1 of a container ignores a signal that it has
 * no listener for, and would be killed after a time.
 */
function endOnSignal(): void {
  for (const signal of stopSignals)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

function stopOnSignal(
  { wrapperPid, stopMs }: Config,
  platform: Platform,
  demo: AbortController,
): void {
  let askedAt: number | undefined;
  const stop = (reason: string): void => {
    // A second signal stops the process immediately. One right after the first is the same key
    // press, repeated by npm.
    if (askedAt !== undefined && performance.now() - askedAt > samePressMs) process.exit(130);
    if (askedAt !== undefined) return;
    askedAt = performance.now();
    demo.abort();
    const late = setTimeout(() => process.exit(1), stopMs + lastLinesMs);
    platform.close(reason).then(
      () => {
        clearTimeout(late);
        process.exit(0);
      },
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of stopSignals) {
    process.removeAllListeners(signal);
    process.on(signal, () => stop(signal));
  }
  watchWrapper(wrapperPid, () => stop('the parent process has exited'));
}

/**
 * Checks the data folder: exit code 0 when it is sound, 1 when it is damaged, 2 when it cannot be
 * checked.
 */
async function verify(): Promise<void> {
  const [{ verifyDataFolder }, { verifyText }] = await Promise.all([
    import('./app/commands/verify.ts'),
    import('./app/commands/verify.ts'),
  ]);
  const findings = await verifyDataFolder(readConfig());
  process.stdout.write(verifyText(findings));
  process.exitCode = Number(!findings.sound);
}

/**
 * Moves samples and records: exit code 0 when all is the same afterwards, 1 when not, 2 when it was
 * not moved.
 */
async function migrate(words: readonly string[]): Promise<void> {
  // The file with the records holds secrets.
  process.umask(ownerUmask);
  const { migrationOf } = await import('./app/commands/migration-report.ts');
  const config = readConfig();
  const { samples, records } = migrationOf(words, config);
  const isSame = samples === undefined || (await moveSamples(config, samples));
  // Records of samples that are elsewhere would be of no use.
  const areSame = isSame && (records === undefined || (await moveRecords(config, records)));
  process.exitCode = Number(!areSame);
}

/** Ships what a lost node had not: exit code 0 when nothing is left, 2 when it is not adopted. */
async function adopt(words: readonly string[]): Promise<void> {
  process.umask(ownerUmask);
  const { adoptCopy } = await import('./app/commands/adopt.ts');
  await adoptCopy(readConfig(), words, (sentence) => process.stdout.write(`${sentence}\n`));
}

async function moveSamples(config: Config, migration: SamplesMigration): Promise<boolean> {
  const [{ migrateSamples }, { progressText, samplesText }] = await Promise.all([
    import('./app/commands/migrate-samples.ts'),
    import('./app/commands/migration-report.ts'),
  ]);
  let toldAt = performance.now();
  const moved = await migrateSamples(config, migration, {
    progress(progress) {
      if (performance.now() - toldAt < progressEveryMs) return;
      toldAt = performance.now();
      process.stderr.write(progressText(progress));
    },
  });
  process.stdout.write(samplesText(moved, migration));
  return moved.differing.length === 0;
}

async function moveRecords(config: Config, migration: RecordsMigration): Promise<boolean> {
  const [{ migrateRecords }, { migrationText }] = await Promise.all([
    import('./app/commands/migrate-records.ts'),
    import('./app/commands/migration-report.ts'),
  ]);
  const result = await migrateRecords(config, migration, ({ table, rows }) =>
    process.stderr.write(`${table}: ${rows} rows\n`),
  );
  process.stdout.write(migrationText(result, migration));
  return result.differing.length === 0;
}

/** Exit code 0 when the account needs only its password now, 2 when nothing was changed. */
async function resetSecondFactor(words: readonly string[]): Promise<void> {
  process.umask(ownerUmask);
  const { resetSecondFactorOf } = await import('./app/commands/reset-second-factor.ts');
  const { hadFactor, endedSessions } = await resetSecondFactorOf(readConfig(), words);
  const found = hadFactor ? 'MFA removed' : 'The account has no MFA set up';
  process.stdout.write(
    `${found}; sessions ended: ${endedSessions}. The next sign-in needs the password only.\n`,
  );
}

/**
 * Prints an error that the operator can correct as one sentence, and an internal error with its
 * stack.
 */
function failWith(code: number): (error: unknown) => void {
  return (error) => {
    const kinds = [ConfigError, DataFolderError, OtherFormatError, ClickHouseStartError, Problem];
    const expected = kinds.some((kind) => error instanceof kind);
    if (expected || isListenError(error))
      console.error(`heliograph: ${sentenceOf(error as Error)}`);
    else console.error(error);
    process.exit(code);
  };
}

const portFaults = {
  EACCES: 'requires more privileges',
  EADDRINUSE: 'is already in use',
} as const;

function sentenceOf(error: Error): string {
  const { code, port } = error as Error & { readonly code?: unknown; readonly port?: unknown };
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error.message;
  return `Port ${String(port)} ${portFaults[code]}. Choose another with PORT, MQTT_PORT, MQTT_TLS_PORT, or COAP_PORT. (${error.message})`;
}

function isListenError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'syscall' in error &&
    (error.syscall === 'listen' || error.syscall === 'bind')
  );
}

const words = process.argv.slice(2);
if (words.length === 0) start().catch(failWith(1));
else if (words.join(' ') === 'verify') verify().catch(failWith(2));
else if (words[0] === 'migrate') migrate(words.slice(1)).catch(failWith(2));
else if (words[0] === 'adopt') adopt(words.slice(1)).catch(failWith(2));
else if (words[0] === 'reset-second-factor') resetSecondFactor(words.slice(1)).catch(failWith(2));
else {
  console.error(
    `heliograph: unknown command "${words.join(' ')}". Without a command the platform starts. Commands: verify (check the data folder of a stopped platform), migrate (move records or samples), adopt (flush the journal replica of a lost node), reset-second-factor (remove the MFA of an account)`,
  );
  process.exitCode = 2;
}
