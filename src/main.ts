// Start and stop: reads the environment, starts the platform, says where it is, stops cleanly on a signal; or checks its data folder.
import { type Config, ConfigError, readConfig } from './config.ts';
import { startPlatform } from './composition/platform.ts';
import type { Platform } from './composition/platform-parts.ts';
import { NewerFormatError } from './model/newer-format.ts';
import { giveBackStartMemory } from './start-memory.ts';
import { startText } from './start-message.ts';
import { DataFolderError } from './data-folder/data-folder.ts';
import { watchWrapper } from './wrapper-watch.ts';

// A supervisor gives ten seconds; nothing acknowledged is lost even if this passes.
const stopWithinMs = 9_000;
/** What is made is for the user of the process alone. */
const ownerUmask = 0o077;
const samePressMs = 1_000;

async function start(): Promise<void> {
  // Files of the data folder hold secrets.
  process.umask(ownerUmask);
  const given = readConfig();
  // What most starts do not need is not loaded by them.
  const demo = given.demo ? await import('./composition/demo.ts') : undefined;
  const config = demo?.demoConfig(given) ?? given;
  const platform = await startPlatform(config);
  const stopping = new AbortController();
  // Before anybody is told that it runs: a supervisor may stop it right after.
  stopOnSignal(config, platform, stopping);
  process.stdout.write(startText(config, platform));
  giveBackStartMemory();
  await demo?.composeDemo(config, platform, stopping.signal);
}

function stopOnSignal({ wrapperPid }: Config, platform: Platform, demo: AbortController): void {
  let askedAt: number | undefined;
  const stop = (reason: string): void => {
    // A second signal is a person who will not wait; one right after the first is the same key press, passed on by npm.
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

/** Checks the data folder: exit code 0 when it is sound, 1 when it is damaged, 2 when it cannot be checked. */
async function verify(): Promise<void> {
  const [{ verifyDataFolder }, { verifyText }] = await Promise.all([
    import('./composition/verify.ts'),
    import('./verify-report.ts'),
  ]);
  const { dataDirectory, secretsKey } = readConfig();
  const findings = await verifyDataFolder(dataDirectory, secretsKey);
  process.stdout.write(verifyText(findings));
  process.exitCode = findings.sound ? 0 : 1;
}

/** What an operator can put right is said in one sentence; anything else is ours, with its stack. */
function failWith(code: number): (error: unknown) => void {
  return (error) => {
    const expected = [ConfigError, DataFolderError, NewerFormatError].some(
      (kind) => error instanceof kind,
    );
    console.error(
      expected || isListenError(error) ? `heliograph: ${sentenceOf(error as Error)}` : error,
    );
    process.exit(code);
  };
}

function sentenceOf(error: Error): string {
  const { code, port } = error as Error & { readonly code?: unknown; readonly port?: unknown };
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error.message;
  const why = code === 'EACCES' ? 'may not be opened by this user' : 'is in use by another program';
  return `port ${String(port)} ${why}: set another one with PORT, MQTT_PORT, MQTT_TLS_PORT or COAP_PORT (${error.message})`;
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
