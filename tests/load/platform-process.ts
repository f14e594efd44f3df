// Platform process for tests that kill it: started on a data folder, ready by its own message, ended by signal.
import { type ChildProcess, spawn } from 'node:child_process';
import type { HttpTarget } from '../../bench/load/http.ts';
import { samplesSettings } from '../world/samples-settings.ts';
import { testedProgram } from '../world/tested-program.ts';

export const apiKey = '0123456789abcdef.00000000-0000-4000-8000-000000000001';
const readyWithinMs = 120_000;
/** Lines that a test looks for must not be lost to those that follow. */
const outputKeptMax = 1_000_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote, both channels; of a million characters and more, the end. */
  readonly output: string;
  readonly ms: number;
}

export interface PlatformProcess {
  readonly target: HttpTarget;
  /** The ids that its start block names, by their words: `Workspace`, `Organization`. */
  readonly idOf: (name: string) => string | undefined;
  /** Sends the signal; resolves when the process is gone. */
  readonly end: (signal: NodeJS.Signals) => Promise<Ended>;
}

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<Ended>;
}

type Settings = Readonly<Record<string, string>>;

function spawnPlatform(directory: string, settings: Settings = {}): Started {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [testedProgram], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: directory,
      ADMIN_API_KEY: apiKey,
      ADMIN_PASSWORD: 'correct horse battery staple',
      MQTT_PORT: '0',
      MQTT_TLS_PORT: '0',
      COAP_PORT: '0',
      LOG_LEVEL: 'error',
      ...samplesSettings(directory),
      ...(process.env['EDGES'] !== undefined && { EDGES: process.env['EDGES'] }),
      ...settings,
    },
  });
  let output = '';
  const keep = (text: Buffer): void => {
    output = (output + text.toString()).slice(-outputKeptMax);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      process.off('exit', killAtExit);
      resolve({ code, signal, output, ms: performance.now() - startedAt });
    });
  });
  return { child, output: () => output, ended };
}

/**
 * Starts it and waits for the block that says where it is. Throws with its output when it ends
 * before that.
 */
export async function startProcess(
  directory: string,
  settings?: Settings,
): Promise<PlatformProcess> {
  const { child, output, ended } = spawnPlatform(directory, settings);
  const port = await new Promise<number>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`not ready in ${readyWithinMs} ms: ${output()}`)),
      readyWithinMs,
    );
    const look = (): void => {
      // Lines of the log may follow the block in the same piece of output.
      const ready = /ready on [^\s]+:(\d+)\n\n(?:.+\n)+\n/.exec(output());
      if (ready === null) return;
      clearTimeout(late);
      resolve(Number(ready[1]));
    };
    child.stdout!.on('data', look);
    void ended.then(({ code, signal }) => {
      clearTimeout(late);
      reject(new Error(`the platform ended before it was ready (${code ?? signal}): ${output()}`));
    });
  });
  return {
    target: { host: '127.0.0.1', port },
    idOf: (name) => new RegExp(`^ +${name} +([0-9a-f]{16})$`, 'm').exec(output())?.[1],
    async end(signal) {
      const askedAt = performance.now();
      child.kill(signal);
      return { ...(await ended), ms: performance.now() - askedAt };
    },
  };
}

/** Starts it and kills it after the time, ready or not: a crash in the middle of recovery. */
export async function killWhileStarting(directory: string, afterMs: number): Promise<void> {
  const { child, ended } = spawnPlatform(directory);
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  const { code, output } = await ended;
  clearTimeout(timer);
  if (code !== null) throw new Error(`the platform ended by itself with ${code}: ${output}`);
}

/** Starts it where it cannot run; resolves with how it ended. */
export async function startRefused(directory: string): Promise<Ended> {
  const { child, ended } = spawnPlatform(directory);
  const timer = setTimeout(() => child.kill('SIGKILL'), readyWithinMs);
  const end = await ended;
  clearTimeout(timer);
  return end;
}
