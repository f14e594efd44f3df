// Registry of calculations: all of the installation in memory with their periods, read again when one changes.
import { type Calculation, periodMs } from '../../model/calculation.ts';
import { dayMs, type EpochMs, hourMs } from '../../model/instant.ts';
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import type { TimeZone } from '../../model/time-zone.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { calculationRows } from '../../storage/records/rows/calculations.ts';
import { seriesBuckets } from '../../query/bucket-plan.ts';

// Periods of a calculation: where they begin and end in its time zone.

export interface Period {
  readonly start: EpochMs;
  /** Exclusive; the start of the next period. */
  readonly end: EpochMs;
}

/** The most that a clock is set forward or back; shorter periods do not follow it. */
const jumpMs = 3 * hourMs;

class Periods {
  readonly #period: string;
  readonly #ms: number;
  readonly #jumpMs: number;
  readonly #zone: TimeZone;

  /** `ms` is the length of a period without a change of the clock. */
  constructor(period: string, ms: number, zone: TimeZone) {
    this.#period = period;
    this.#ms = ms;
    this.#jumpMs = ms < hourMs ? 0 : jumpMs;
    this.#zone = zone;
  }

  /** The start of the period that contains the moment. */
  startOf(at: EpochMs): EpochMs {
    // The first edge is where the search begins, and the last is behind the moment.
    return this.#edges(at - 2 * this.#ms - this.#jumpMs, at + 1).at(-2) ?? at;
  }

  /** The periods from the one that contains `from` on that end at `to` at the latest; at most `max`. */
  between(from: EpochMs, to: EpochMs, max: number): Period[] {
    const start = this.startOf(from);
    const until = Math.min(to, start + this.#ms * (max + 1) + this.#jumpMs);
    if (until <= start) return [];
    // Behind the last edge there is a part of a period, unless it is one.
    const edges = this.#edges(start, until + 1);
    const periods: Period[] = [];
    for (const [i, end] of edges.slice(1, -1).entries()) {
      if (periods.length === max) break;
      periods.push({ start: edges[i] ?? start, end });
    }
    return periods;
  }

  #edges(from: EpochMs, to: EpochMs): readonly EpochMs[] {
    return seriesBuckets('raw', { from, to }, this.#period, this.#zone).edges;
  }
}

/** A calculation and its periods. */
export class KnownCalculation {
  readonly record: Calculation;
  readonly periods: Periods;
  #open: Period | undefined;

  constructor(record: Calculation, zone: TimeZone) {
    this.record = record;
    const ms = periodMs(record.period);
    this.periods = new Periods(record.period, typeof ms === 'number' ? ms : dayMs, zone);
  }

  /** The start of the period that has not ended. */
  readonly openFrom = (now: EpochMs): EpochMs => {
    if (this.#open === undefined || now < this.#open.start || now >= this.#open.end) {
      const start = this.periods.startOf(now);
      const [period] = this.periods.between(start, start + 2 * dayMs, 1);
      this.#open = period ?? { start, end: start };
    }
    return this.#open.start;
  };
}

export class CalculationRegistry implements ChangeFollower {
  readonly #db: RecordsDb;
  readonly #zoneOf: (calculation: Calculation) => Promise<TimeZone>;
  #revision = 0;
  #known: { readonly revision: number; readonly byWorkspace: ByWorkspace } | undefined;
  #loading: Promise<ByWorkspace> | undefined;

  constructor(db: RecordsDb, zoneOf: (calculation: Calculation) => Promise<TimeZone>) {
    this.#db = db;
    this.#zoneOf = zoneOf;
  }

  readonly recordChanged = ({ kind }: RecordChange): void => {
    // The zone of a workspace is that of calculations without one.
    if (kind === 'calculation' || kind === 'workspace') this.changesMissed();
  };

  readonly changesMissed = (): void => void this.#revision++;

  readonly all = async (): Promise<ByWorkspace> => {
    while (this.#known?.revision !== this.#revision) {
      this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
      await this.#loading;
    }
    return this.#known.byWorkspace;
  };

  /** Those of the workspace, whether active or not. */
  readonly ofWorkspace = async (workspaceId: string): Promise<readonly KnownCalculation[]> =>
    (await this.all()).get(workspaceId) ?? [];

  /** Whether the workspace has calculations; true while it is not known. */
  readonly mayHave = (workspaceId: string): boolean =>
    this.#known?.revision !== this.#revision || this.#known.byWorkspace.has(workspaceId);

  async #load(): Promise<ByWorkspace> {
    const revision = this.#revision;
    const known: KnownCalculation[] = [];
    for (const record of await calculationRows.all(this.#db))
      known.push(new KnownCalculation(record, await this.#zoneOf(record)));
    const byWorkspace = Map.groupBy(known, ({ record }) => record.workspaceId);
    this.#known = { revision, byWorkspace };
    return byWorkspace;
  }
}

type ByWorkspace = ReadonlyMap<string, readonly KnownCalculation[]>;
