// Servers under measurement: started on loopback with their own folder, stopped by their own handle.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  readdirSync,
} from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const stopMsMax = 60_000;
const pollMs = 5;

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to a minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The account to run as, for programs that refuse to be root. */
  readonly account?: Account;
  /** Where stdout and stderr go. */
  readonly logPath: string;
  /** The signal that ends it cleanly, SIGTERM by default. */
  readonly stopSignal?: NodeJS.Signals;
  /** In its own process group, so that Ctrl-C in the terminal is not sent to it too. */
  readonly isGroup?: boolean;
}

export interface RunningServer {
  readonly pid: number;
  /** Throws with the end of the log when the server has ended. */
  assertAlive(): void;
  /** Undefined while it runs, and when a signal ended it. */
  readonly exitCode: number | undefined;
  /** Ends it cleanly; kills it when it does not end in a minute. */
  stop(): Promise<void>;
  /** Resident memory in bytes, of the process and its children; pages they share count once. */
  memoryBytes(): number;
  /** Resident memory in bytes: private pages, and with every shared page. */
  residentBytes(): number;
  /** Processor time of all threads since the start, microseconds; Linux counts in steps of 10 ms. */
  processorUs(): number;
  /** The same of each kind of thread that runs now, by its name. */
  threadsUs(): ReadonlyMap<string, number>;
  /** Processor time of its main thread since the start, microseconds. */
  mainThreadUs(): number;
}

export function startServer(server: ServerCommand): RunningServer {
  const log = openSync(server.logPath, 'a');
  const child = spawn(server.command, server.args, {
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: tmpdir(),
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      ...server.env,
    },
    detached: server.isGroup ?? false,
    ...server.account,
  });
  closeSync(log);
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = error;
  });
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const alive = (): boolean =>
    failure === undefined && child.exitCode === null && child.signalCode === null;
  return {
    get pid() {
      if (child.pid === undefined) throw new Error(`${server.command} did not start`);
      return child.pid;
    },
    get exitCode() {
      return child.exitCode ?? undefined;
    },
    assertAlive() {
      if (alive()) return;
      const tail = readFileSync(server.logPath, 'utf8').slice(-2_000);
      throw new Error(
        `${server.command} ended (${failure?.message ?? child.exitCode ?? child.signalCode}): ${tail}`,
      );
    },
    async stop() {
      process.off('exit', killAtExit);
      if (alive()) await ended(child, server.stopSignal ?? 'SIGTERM');
    },
    residentBytes: () =>
      Number(/^VmRSS:\s+(\d+) kB/m.exec(procText(`${child.pid}/status`))?.[1]) * 1_024,
    processorUs() {
      const fields = procText(`${child.pid}/stat`).split(') ').at(-1)!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10_000;
    },
    // The first number is in nanoseconds.
    mainThreadUs: () =>
      Number.parseInt(procText(`${child.pid}/task/${child.pid}/schedstat`), 10) / 1_000,
    threadsUs() {
      const byName = new Map<string, number>();
      for (const thread of readdirSync(`/proc/${child.pid}/task`)) {
        const path = `${child.pid}/task/${thread}`;
        const name = procText(`${path}/comm`).trim();
        const fields = procText(`${path}/stat`).split(') ').at(-1)!.split(' ');
        const us = (Number(fields[11]) + Number(fields[12])) * 10_000;
        byName.set(name, (byName.get(name) ?? 0) + us);
      }
      return byName;
    },
    memoryBytes: () => (child.pid === undefined ? Number.NaN : memoryOf(child.pid)),
  };
}

function memoryOf(pid: number): number {
  const children = procText(`${pid}/task/${pid}/children`).trim();
  const proportional = /^Pss:\s+(\d+) kB/m.exec(procText(`${pid}/smaps_rollup`))?.[1];
  const own = Number(proportional ?? 0) * 1_024;
  return children
    .split(' ')
    .reduce((sum, child) => (child === '' ? sum : sum + memoryOf(Number(child))), own);
}

// A process may end between being listed and being read; then it has no memory.
function procText(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const impatience = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
  await exit;
  clearTimeout(impatience);
}

/**
 * Asks again and again until `ask` answers true; errors count as not yet. Throws when the server
 * ended or the time is over.
 */
export async function untilReady(
  server: Pick<RunningServer, 'assertAlive'>,
  ask: () => Promise<boolean>,
  timeoutMs = 240_000,
): Promise<void> {
  const giveUpMs = performance.now() + timeoutMs;
  while (performance.now() < giveUpMs) {
    server.assertAlive();
    if (await ask().catch(() => false)) return;
    await delay(pollMs);
  }
  throw new Error(`not ready within ${timeoutMs} ms`);
}

/** Waits until something accepts connections on the loopback port. */
export async function untilListening(server: RunningServer, port: number): Promise<void> {
  await untilReady(server, async () => {
    const probe = connect(port, '127.0.0.1');
    await once(probe, 'connect');
    probe.destroy();
    return true;
  });
}

/** Below the ports that the system gives to connections and to servers that ask for any. */
const freePorts = { from: 20_000, to: 32_000, ofBlock: 50 } as const;

/** The next port of this process, and the end of the block that it is in. */
const givenPorts = { next: 0, end: 0 };
let lastGiven = Promise.resolve(0);

/**
 * A loopback port that nothing listens on. Neither the system nor this function, in this process or
 * another one, gives it to anybody else until the process ends.
 */
export function freePort(): Promise<number> {
  const given = lastGiven.then(nextPort);
  lastGiven = given.catch(() => 0);
  return given;
}

async function nextPort(): Promise<number> {
  for (;;) {
    if (givenPorts.next === givenPorts.end) await takeBlock();
    const port = givenPorts.next++;
    const probe = await listenOn(port);
    if (probe === undefined) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

/**
 * A process listens on the first port of each of its blocks until it ends: that is the only lock
 * that a killed process also gives back.
 */
async function takeBlock(): Promise<void> {
  const { from, to, ofBlock } = freePorts;
  const blocks = (to - from) / ofBlock;
  const first = Math.floor(Math.random() * blocks);
  for (let n = 0; n < blocks; n++) {
    const start = from + ((first + n) % blocks) * ofBlock;
    const lock = await listenOn(start);
    if (lock === undefined) continue;
    lock.unref();
    givenPorts.next = start + 1;
    givenPorts.end = start + ofBlock;
    return;
  }
  throw new Error(`No block of ports from ${from} to ${to} is free`);
}

/** Undefined when the port is taken. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/**
 * Runs `work` in a new folder, which is always removed afterwards; owned by `account` when given.
 */
export async function inTemporaryFolder<T>(
  name: string,
  work: (folder: string) => Promise<T>,
  account?: Account,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `heliograph-bench-${name}-`));
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
