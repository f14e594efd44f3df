// Demo workspaces: set up on request, then simulated until they are deleted or the platform stops (contract 37).
import type { RecordChange } from '../model/record.ts';

/** A demo that is set up and can be simulated. */
export interface OpenedDemo {
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

export interface DemoParts {
  readonly open: (wanted: WantedDemo, signal: AbortSignal) => Promise<OpenedDemo>;
  readonly failed: (error: unknown) => void;
}

export interface DemoWorkspaces {
  /** Resolves when the records exist; returns the new device types. A running demo continues. */
  start(wanted: WantedDemo): Promise<readonly string[]>;
  /** Call for every record change. */
  readonly recordChanged: (change: RecordChange) => void;
  close(): Promise<void>;
}

interface Running {
  readonly opened: Promise<OpenedDemo>;
  readonly stop: AbortController;
  ended: Promise<void>;
}

export function createDemoWorkspaces({ open, failed }: DemoParts): DemoWorkspaces {
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

  function begin(wanted: WantedDemo): Running {
    const stop = new AbortController();
    const opened = open(wanted, stop.signal);
    const demo: Running = { opened, stop, ended: Promise.resolve() };
    running.set(wanted.workspaceId, demo);
    demo.ended = simulate(wanted.workspaceId, demo);
    return demo;
  }

  return {
    async start(wanted) {
      const demo = running.get(wanted.workspaceId) ?? begin(wanted);
      return (await demo.opened).deviceTypeIds;
    },
    recordChanged({ kind, id, action }) {
      if (kind === 'workspace' && action === 'deleted') running.get(id)?.stop.abort();
    },
    async close() {
      const all = [...running.values()];
      for (const { stop } of all) stop.abort();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
