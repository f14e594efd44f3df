// Rule lanes: workspaces with many entries to evaluate, each behind the others at a separate position.
import { type DurableEntry, sampleCountOf, summaryOf } from '../model/journal-entry.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  evaluatedByAll,
  type RulePositions,
  rulePositionRows,
} from '../storage/records/rows/positions.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import type { CompiledRule } from './evaluation/compiled-rule.ts';
import { RetryingWorker } from '../structures/retrying-worker.ts';
import type { SetTimer } from '../structures/timers.ts';

export const laneLimits = {
  /** Further workspaces are evaluated with the others. */
  lanesMax: 16,
  /** A workspace with more entries in one batch gets a lane. */
  shareMax: 200,
  /** Entries and samples of a lane in memory; the journal has the others. */
  entriesMax: 1_000,
  samplesMax: 20_000,
  /** Entries of a turn, which changes with what a turn takes: others wait for one turn. */
  turnEntriesFirst: 100,
  turnEntriesMin: 20,
  turnMs: 100,
} as const;

interface Lane {
  readonly workspaceId: string;
  /** Entries that come next. */
  readonly entries: DurableEntry[];
  /** Every entry of the workspace up to this one was evaluated. */
  done: number;
  /** Every one behind `done` and up to this one is in `entries`. */
  readTo: number;
  turnEntries: number;
}

/** What is evaluated at a time, with the positions that count when its effects are durable. */
export interface RuleTurn {
  readonly entries: readonly DurableEntry[];
  /** Position of the last entry, or of a later one of another workspace. */
  readonly upTo: number;
  /** Saves, with the effects, how far the journal is evaluated. */
  readonly save: (step: RecordsDb) => Promise<void>;
  /** The journal of the entries, where there are several. */
  readonly journal?: string;
  /** Call it when the effects are durable. */
  readonly done: () => void;
}

type LaneLimits = { readonly [K in keyof typeof laneLimits]: number };

export class RuleLanes {
  readonly #rules: () => Iterable<CompiledRule>;
  readonly #log: Pick<EntryLog, 'entriesFrom'> | undefined;
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  #evaluated: number;
  readonly positions = (): RulePositions =>
    this.#positionsOf(this.#evaluated, this.#lanes.values());
  readonly all = (): readonly Lane[] => [...this.#lanes.values()];
  /** Reads entries of the lane from the journal when none are in memory. */
  readonly readOn = async (lane: Lane): Promise<void> => {
    if (this.#log === undefined || lane.entries.length > 0 || lane.readTo >= this.#evaluated)
      return;
    lane.readTo = await readLane(lane, { log: this.#log, limits: this.#limits }, this.#evaluated);
  };

  constructor(parts: {
    readonly saved: RulePositions;
    readonly rules: () => Iterable<CompiledRule>;
    /** Undefined without a journal to read again: then no workspace gets a lane. */
    readonly log: Pick<EntryLog, 'entriesFrom'> | undefined;
    readonly limits?: LaneLimits;
  }) {
    const { saved, rules, log, limits = laneLimits } = parts;
    this.#rules = rules;
    this.#log = log;
    this.#limits = limits;
    const { evaluated } = saved;
    this.#evaluated = evaluated;
    for (const [id, done] of saved.behind)
      if (done < evaluated) this.#lanes.set(id, this.#newLane(id, done));
  }

  #newLane(workspaceId: string, done: number): Lane {
    return {
      workspaceId,
      entries: [],
      done,
      readTo: done,
      turnEntries: this.#limits.turnEntriesFirst,
    };
  }

  #positionsOf(last: number, behind: Iterable<Lane>): RulePositions {
    const done = [...behind].map(({ workspaceId, done }): [string, number] => [workspaceId, done]);
    return { evaluated: last, behind: new Map(done) };
  }

  /** The workspaces of the batch that get a lane. */
  #starting(batch: readonly DurableEntry[]): Lane[] {
    if (this.#log === undefined) return [];
    const started: Lane[] = [];
    for (const [id, own] of Map.groupBy(batch, workspaceOf)) {
      if (own.length <= this.#limits.shareMax || this.#lanes.has(id)) continue;
      if (
        this.#lanes.size + started.length >= this.#limits.lanesMax ||
        !isShared(this.#rules(), id)
      )
        continue;
      const readTo = batch.at(-1)?.position ?? this.#evaluated;
      started.push({ ...this.#newLane(id, this.#evaluated), entries: own, readTo });
    }
    return started;
  }

  #follow(lane: Lane, batch: readonly DurableEntry[], last: number): void {
    if (lane.readTo < this.#evaluated || isFull(lane, this.#limits)) return;
    for (const entry of batch)
      if (entry.position > lane.readTo && workspaceOf(entry) === lane.workspaceId)
        lane.entries.push(entry);
    lane.readTo = last;
  }

  /** The last evaluated entry of the workspace. */
  evaluatedOf(workspaceId: string): number {
    return this.#lanes.get(workspaceId)?.done ?? this.#evaluated;
  }

  /** Undefined for a batch that was evaluated before. Starts lanes; entries of lanes are not in the turn. */
  turnOfBatch(batch: readonly DurableEntry[]): RuleTurn | undefined {
    const last = batch.at(-1)?.position ?? this.#evaluated;
    if (last <= this.#evaluated) return undefined;
    const fresh = batch.filter(({ position }) => position > this.#evaluated);
    const started = this.#starting(fresh);
    const left = new Set([...this.#lanes.keys(), ...started.map(({ workspaceId }) => workspaceId)]);
    return {
      entries: left.size === 0 ? fresh : fresh.filter((entry) => !left.has(workspaceOf(entry))),
      upTo: last,
      save: saving(this.#positionsOf(last, [...this.#lanes.values(), ...started])),
      done: () => {
        for (const lane of this.#lanes.values()) this.#follow(lane, fresh, last);
        for (const lane of started) this.#lanes.set(lane.workspaceId, lane);
        this.#evaluated = last;
      },
    };
  }

  /** The next entries of the lane; the lane ends when they are the last ones. */
  turnOfLane(lane: Lane): RuleTurn {
    const entries = lane.entries.slice(0, lane.turnEntries);
    const isRest = entries.length === lane.entries.length;
    const to = isRest ? lane.readTo : (entries.at(-1)?.position ?? lane.done);
    const isLast = to >= this.#evaluated;
    const others = [...this.#lanes.values()].filter((other) => other !== lane);
    return {
      entries,
      upTo: to,
      save: saving(
        this.#positionsOf(this.#evaluated, isLast ? others : [...others, { ...lane, done: to }]),
      ),
      done: () => {
        lane.entries.splice(0, entries.length);
        lane.done = to;
        if (isLast) this.#lanes.delete(lane.workspaceId);
      },
    };
  }

  /** Notes how long a turn of the lane took. */
  took(lane: Lane, ms: number): void {
    const { turnMs, turnEntriesMin, entriesMax } = this.#limits;
    if (ms > turnMs) lane.turnEntries = Math.max(turnEntriesMin, Math.floor(lane.turnEntries / 2));
    else if (ms < turnMs / 2) lane.turnEntries = Math.min(entriesMax, lane.turnEntries * 2);
  }
}

const saving = (positions: RulePositions) => (step: RecordsDb) =>
  rulePositionRows.save(step, positions);

/** Entries before the position are still needed. */
export function neededFrom(lanes: RuleLanes): number {
  return evaluatedByAll(lanes.positions()) + 1;
}

/** All samples of an entry are of one workspace; without samples there is nothing to evaluate. */
function workspaceOf(entry: DurableEntry): string {
  return summaryOf(entry)?.workspaceId ?? '';
}

/** Whether the workspace and some other one have rules. */
function isShared(rules: Iterable<CompiledRule>, workspaceId: string): boolean {
  let own = false;
  let others = false;
  for (const { rule } of rules) {
    if (rule.workspaceId === workspaceId) own = true;
    else others = true;
    if (own && others) return true;
  }
  return false;
}

function isFull({ entries }: Lane, { entriesMax, samplesMax }: LaneLimits): boolean {
  if (entries.length >= entriesMax) return true;
  return entries.reduce((sum, entry) => sum + sampleCountOf(entry), 0) >= samplesMax;
}

/** Reads entries of the lane, as many as memory is for; returns up to which position. */
async function readLane(
  lane: Lane,
  { log, limits }: { readonly log: Pick<EntryLog, 'entriesFrom'>; readonly limits: LaneLimits },
  upTo: number,
): Promise<number> {
  let samples = 0;
  for await (const entries of log.entriesFrom(lane.readTo + 1))
    for (const entry of entries) {
      if (entry.position > upTo) return upTo;
      if (workspaceOf(entry) !== lane.workspaceId) continue;
      lane.entries.push(entry);
      samples += sampleCountOf(entry);
      if (lane.entries.length >= limits.entriesMax || samples >= limits.samplesMax)
        return entry.position;
    }
  return upTo;
}

// Rule lane worker: workspaces that are behind the others take turns, until they have caught up.

export interface RuleLaneParts {
  /** What was saved last; not before `position`. */
  readonly saved: RulePositions;
  readonly log: Pick<EntryLog, 'entriesFrom' | 'position'>;
  /** Called after a turn: older entries may be needed no more. */
  readonly evaluated: () => void;
  /** Called for a turn that failed and is tried again. */
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
}

const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000] as const;

/** Workspaces that are behind take turns of one lane each. */
export class LaneWorker {
  readonly #clock: () => number;
  readonly #own: RuleLaneParts | undefined;
  readonly #lanes: RuleLanes;
  readonly #run: (lane: Lane) => Promise<void>;
  readonly #waiters = new Set<PromiseWithResolvers<void> & { readonly isDone: () => boolean }>();
  #closed = false;
  readonly #worker: RetryingWorker;
  readonly #takeTurns = async (progressed: () => void): Promise<void> => {
    for (let all = this.#lanes.all(); all.length > 0; all = this.#lanes.all())
      for (const lane of all) {
        if (this.#closed) return;
        await this.#lanes.readOn(lane);
        const startedMs = this.#clock();
        await this.#run(lane);
        this.#lanes.took(lane, this.#clock() - startedMs);
        progressed();
        this.#own?.evaluated();
        for (const waiter of this.#waiters)
          if (waiter.isDone() && this.#waiters.delete(waiter)) waiter.resolve();
      }
  };
  /** Call when workspaces may be behind the others. */
  readonly wake: () => void;
  /** Waits for the turn in progress; the next start evaluates the rest. */
  readonly close = async (): Promise<void> => {
    this.#closed = true;
    await this.#worker.close();
    this.#rejectWaiters(new Error('The rule engine is shutting down'));
  };

  constructor(
    {
      clock,
      lanes: own,
    }: { readonly clock: () => number; readonly lanes?: RuleLaneParts | undefined },
    lanes: RuleLanes,
    run: (lane: Lane) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#own = own;
    this.#lanes = lanes;
    this.#run = run;
    this.#worker = new RetryingWorker({
      hasWork: () => lanes.all().length > 0,
      work: this.#takeTurns,
      failed: (error) => {
        own?.failed(error);
        this.#rejectWaiters(error);
      },
      retryDelaysMs,
      setTimer: own?.setTimer ?? (() => () => undefined),
    });
    this.wake = this.#worker.wake;
  }

  #rejectWaiters(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }

  /**
   * Resolves when no such workspace is behind the others; rejects when an attempt to evaluate fails
   * or the worker is closed.
   */
  caughtUp(isWanted: (workspaceId: string) => boolean): Promise<void> {
    const isDone = () => !this.#lanes.all().some(({ workspaceId }) => isWanted(workspaceId));
    if (isDone()) return Promise.resolve();
    if (this.#closed) return Promise.reject(new Error('The rule engine is shutting down'));
    const waiter = { ...Promise.withResolvers<void>(), isDone };
    this.#waiters.add(waiter);
    this.#worker.retryNow();
    return waiter.promise;
  }
}
