// Demo workspaces: set up on request, then simulated until they are deleted, after a restart too (contract 37).
import type { RecordChange } from '../model/record.ts';

/** A demo that is set up and can be simulated. */
interface OpenedDemo {
  /** Device types that did not exist before. */
  readonly deviceTypeIds: readonly string[];
  /** Loads the history and sends until the signal is aborted; rejects when it cannot continue. */
  readonly run: () => Promise<unknown>;
}

export interface WantedDemo {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** The credential of the caller, in whose name records are created. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DemoWorkspaces {
  /** Resolves when the records exist; returns the new device types. A running demo continues. */
  start(wanted: WantedDemo): Promise<readonly string[]>;
  /** Continues a simulation of before the start. */
  resume(workspaceId: string): void;
  /** Call for every record change. */
  readonly recordChanged: (change: RecordChange) => void;
  /** Ends all simulations, which this node or another one can resume. */
  stopAll(): Promise<void>;
}

interface Running {
  readonly opened: Promise<OpenedDemo>;
  readonly stop: AbortController;
  /** Whether it only sends: what a user deleted is not made again. */
  readonly isResumed: boolean;
  ended: Promise<void>;
}

export function createDemoWorkspaces({
  open,
  resume,
  failed,
}: {
  readonly open: (wanted: WantedDemo, signal: AbortSignal) => Promise<OpenedDemo>;
  /** Sends again after a restart, until the signal is aborted. */
  readonly resume: (workspaceId: string, signal: AbortSignal) => Promise<unknown>;
  readonly failed: (error: unknown) => void;
}): DemoWorkspaces {
  /** By workspace. */
  const running = new Map<string, Running>();

  async function simulate(workspaceId: string, { opened, stop }: Running): Promise<void> {
    try {
      await (await opened).run();
    } catch (error) {
      if (!stop.signal.aborted) failed(error);
    } finally {
      running.delete(workspaceId);
    }
  }

  function begin(
    workspaceId: string,
    openDemo: (signal: AbortSignal) => Promise<OpenedDemo>,
    isResumed: boolean,
  ): Running {
    const stop = new AbortController();
    const opened = openDemo(stop.signal);
    const demo: Running = { opened, stop, isResumed, ended: Promise.resolve() };
    running.set(workspaceId, demo);
    demo.ended = simulate(workspaceId, demo);
    return demo;
  }

  async function resumed(workspaceId: string, signal: AbortSignal): Promise<OpenedDemo> {
    return { deviceTypeIds: [], run: () => resume(workspaceId, signal) };
  }

  return {
    async start(wanted) {
      const { workspaceId } = wanted;
      const known = running.get(workspaceId);
      if (known?.isResumed === true) {
        known.stop.abort();
        await known.ended;
      }
      const demo =
        running.get(workspaceId) ?? begin(workspaceId, (signal) => open(wanted, signal), false);
      return (await demo.opened).deviceTypeIds;
    },
    resume(workspaceId) {
      if (running.has(workspaceId)) return;
      begin(workspaceId, (signal) => resumed(workspaceId, signal), true);
    },
    recordChanged({ kind, id, action }) {
      if (kind === 'workspace' && action === 'deleted') running.get(id)?.stop.abort();
    },
    async stopAll() {
      const all = [...running.values()];
      for (const { stop } of all) stop.abort();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
