// Waiting runs, bounded and fair: tenants take turns, and one tenant's flood delays nobody else's runs.

export interface Waiting {
  readonly tenant: string;
}

export interface RunQueue<Run extends Waiting> {
  readonly size: number;
  /** Puts a run at the end of its tenant's queue; false when that queue or all of them are full. */
  push(run: Run): boolean;
  /**
   * Puts runs back that were taken and not begun, in front of their tenants' queues and in their old order. Their tenants
   * are the next ones to be served: they lost their turn through no fault of theirs.
   */
  putBack(runs: readonly Run[]): void;
  /**
   * Takes up to `count` runs, one per tenant in turn. Tenants that are busy elsewhere are left out as long as others wait.
   */
  take(count: number, isBusy: (tenant: string) => boolean): Run[];
  /** Takes everything. */
  drain(): Run[];
}

interface Line<Run> {
  runs: Run[];
  /** Index of the first run that still waits; the array is cut now and then. */
  head: number;
}

export function createRunQueue<Run extends Waiting>(tenantMax: number, totalMax: number): RunQueue<Run> {
  // A Map keeps the order of insertion, which is the order of turns: whoever was served is put at its end.
  const lines = new Map<string, Line<Run>>();
  let size = 0;

  const lineOf = (tenant: string): Line<Run> => {
    let line = lines.get(tenant);
    if (line === undefined) {
      line = { runs: [], head: 0 };
      lines.set(tenant, line);
    }
    return line;
  };

  const shift = (tenant: string, line: Line<Run>): Run => {
    const run = line.runs[line.head]!;
    line.head += 1;
    size -= 1;
    lines.delete(tenant);
    if (line.head === line.runs.length) return run;
    if (line.head >= headMax) {
      line.runs = line.runs.slice(line.head);
      line.head = 0;
    }
    lines.set(tenant, line);
    return run;
  };

  return {
    get size() {
      return size;
    },
    push(run) {
      if (size >= totalMax) return false;
      const line = lineOf(run.tenant);
      if (line.runs.length - line.head >= tenantMax) return false;
      line.runs.push(run);
      size += 1;
      return true;
    },
    putBack(runs) {
      const others = [...lines];
      lines.clear();
      for (const [tenant, back] of Map.groupBy(runs, (run) => run.tenant)) lines.set(tenant, { runs: back, head: 0 });
      for (const [tenant, line] of others) {
        const back = lines.get(tenant);
        if (back === undefined) lines.set(tenant, line);
        else back.runs.push(...line.runs.slice(line.head));
      }
      size += runs.length;
    },
    take(count, isBusy) {
      const free = lines
        .keys()
        .filter((tenant) => !isBusy(tenant))
        .take(count)
        .toArray();
      let served = free.length > 0 ? free : lines.keys().take(count).toArray();
      const taken: Run[] = [];
      while (served.length > 0 && taken.length < count) {
        for (const tenant of served.slice(0, count - taken.length)) taken.push(shift(tenant, lines.get(tenant)!));
        served = served.filter((tenant) => lines.has(tenant));
      }
      return taken;
    },
    drain() {
      const all = [...lines.values()].flatMap((line) => line.runs.slice(line.head));
      lines.clear();
      size = 0;
      return all;
    },
  };
}

const headMax = 1_024;
