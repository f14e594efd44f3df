// Start and stop: starts the platform and stops it on a signal, or checks its data folder.
import { ClickHouseStartError } from './clickhouse/clickhouse.ts';
import { ConfigError } from './config-values.ts';
import { type Config, readConfig } from './config.ts';
import { startPlatform } from './composition/platform.ts';
import type { Platform } from './composition/platform-parts.ts';
import { NewerFormatError } from './model/newer-format.ts';
import { giveBackStartMemory } from './start-memory.ts';
import { startText } from './start-message.ts';
import { DataFolderError } from './data-folder/data-folder.ts';
import { watchWrapper } from './wrapper-watch.ts';

// A supervisor gives ten seconds; nothing acknowledged is lost even if this passes.
const stopWithinMs = 9_000;
/** Only the user of the process can read the files that it creates. */
const ownerUmask = 0o077;
const samePressMs = 1_000;

async function start(): Promise<void> {
  // Files of the data folder hold secrets.
  process.umask(ownerUmask);
  const given = readConfig();
  const demo = await loadDemo(given);
  const config = demo?.demoConfig(given) ?? given;
  const platform = await startPlatform(config);
  const stopping = new AbortController();
  // Before the start is reported, because a supervisor may stop it right after.
  stopOnSignal(config, platform, stopping);
  process.stdout.write(startText(config, platform));
  giveBackStartMemory();
  await demo?.composeDemo(config, platform, stopping.signal);
}

/** Loads the demo only when it is wanted, because most starts do not need it. */
async function loadDemo({ demo }: Config) {
  if (!demo) return undefined;
  return import('./composition/demo.ts');
}

function stopOnSignal({ wrapperPid }: Config, platform: Platform, demo: AbortController): void {
  let askedAt: number | undefined;
  const stop = (reason: string): void => {
    // A second signal stops the process immediately. One right after the first is the same key
    // press, repeated by npm.
    if (askedAt !== undefined && performance.now() - askedAt > samePressMs) process.exit(130);
    if (askedAt !== undefined) return;
    askedAt = performance.now();
    demo.abort();
    const late = setTimeout(() => process.exit(1), stopWithinMs);
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
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => stop(signal));
  watchWrapper(wrapperPid, () => stop('the process that started it is gone'));
}

/**
 * Checks the data folder: exit code 0 when it is sound, 1 when it is damaged, 2 when it cannot be
 * checked.
 */
async function verify(): Promise<void> {
  const [{ verifyDataFolder }, { verifyText }] = await Promise.all([
    import('./composition/verify.ts'),
    import('./verify-report.ts'),
  ]);
  const findings = await verifyDataFolder(readConfig());
  process.stdout.write(verifyText(findings));
  process.exitCode = Number(!findings.sound);
}

/**
 * Prints an error that the operator can correct as one sentence, and an internal error with its
 * stack.
 */
function failWith(code: number): (error: unknown) => void {
  return (error) => {
    const expected = [ConfigError, DataFolderError, NewerFormatError, ClickHouseStartError].some(
      (kind) => error instanceof kind,
    );
    if (expected || isListenError(error))
      console.error(`heliograph: ${sentenceOf(error as Error)}`);
    else console.error(error);
    process.exit(code);
  };
}

const portFaults = {
  EACCES: 'may not be opened by this user',
  EADDRINUSE: 'is in use by another program',
} as const;

function sentenceOf(error: Error): string {
  const { code, port } = error as Error & { readonly code?: unknown; readonly port?: unknown };
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error.message;
  return `port ${String(port)} ${portFaults[code]}: set another one with PORT, MQTT_PORT, MQTT_TLS_PORT or COAP_PORT (${error.message})`;
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
else {
  console.error(
    `heliograph: there is no command "${words.join(' ')}": without one the platform starts, "verify" checks the data folder of a stopped one`,
  );
  process.exitCode = 2;
}
