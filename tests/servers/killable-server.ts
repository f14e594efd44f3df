// A server that tests kill, pause and start again on its own folder and ports.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningServer } from '../../bench/load/server-process.ts';

export interface KillableServer {
  readonly pid: number;
  /** See `RunningServer`. */
  readonly exitCode: number | undefined;
  /** Throws with the end of the log when the server has ended. */
  assertAlive(): void;
  /** Ends it as a power cut would, without a last word. */
  kill(): Promise<void>;
  /** Stops its threads; connections stay open and get no answer. */
  pause(): void;
  resume(): void;
  /** Starts it again after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * ClickHouse 18.16 sometimes fails an assertion of the C library while it starts. PostgreSQL refuses
 * to start while a process of the killed server has not ended yet.
 */
const passing = /\(SIGABRT\)|pre-existing shared memory block/;
const attemptsMax = 20;
const betweenAttemptsMs = 200;

/** `launch` starts the process; `untilReady` resolves when it answers. */
export async function startKillable(
  launch: () => RunningServer,
  untilReady: (server: RunningServer) => Promise<void>,
): Promise<KillableServer> {
  async function start(attemptsLeft = attemptsMax): Promise<RunningServer> {
    const started = launch();
    try {
      await untilReady(started);
    } catch (error) {
      await started.stop();
      if (attemptsLeft === 0 || !passing.test(String(error))) throw error;
      await delay(betweenAttemptsMs);
      return start(attemptsLeft - 1);
    }
    return started;
  }
  let server = await start();
  let isPaused = false;
  const signal = (name: NodeJS.Signals): void => void process.kill(server.pid, name);
  const resume = (): void => {
    if (isPaused) signal('SIGCONT');
    isPaused = false;
  };
  return {
    get pid() {
      return server.pid;
    },
    get exitCode() {
      return server.exitCode;
    },
    assertAlive: () => server.assertAlive(),
    async kill() {
      isPaused = false;
      signal('SIGKILL');
      await server.stop();
    },
    pause() {
      isPaused = true;
      signal('SIGSTOP');
      const deadline = performance.now() + stopMsMax;
      while (!areThreadsStopped(server.pid) && performance.now() < deadline)
        Atomics.wait(turn, 0, 0, 1);
    },
    resume,
    async restart() {
      server = await start();
    },
    async stop() {
      // A paused process takes no other signal.
      resume();
      await server.stop();
    },
  };
}

const stopMsMax = 5_000;
const turn = new Int32Array(new SharedArrayBuffer(4));

/** The signal reaches threads one by one; until then they answer. */
function areThreadsStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const line = statOf(`/proc/${pid}/task/${thread}/stat`);
    // The state is behind the name, which is in parentheses.
    return line === undefined || line.slice(line.lastIndexOf(')') + 2).startsWith('T');
  });
}

/** Undefined for a thread that has ended meanwhile. */
function statOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
