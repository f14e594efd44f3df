// Rule lanes: workspaces with many entries to evaluate, each behind the others at a separate position.
import { type DurableEntry, sampleCountOf, summaryOf } from '../model/journal-entry.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  evaluatedByAll,
  type RulePositions,
  saveRulePositions,
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

export interface RuleLanes {
  readonly positions: () => RulePositions;
  /** The last evaluated entry of the workspace. */
  readonly evaluatedOf: (workspaceId: string) => number;
  readonly all: () => readonly Lane[];
  /** Undefined for a batch that was evaluated before. Starts lanes; entries of lanes are not in the turn. */
  readonly turnOfBatch: (batch: readonly DurableEntry[]) => RuleTurn | undefined;
  /** Reads entries of the lane from the journal when none are in memory. */
  readonly readOn: (lane: Lane) => Promise<void>;
  /** The next entries of the lane; the lane ends when they are the last ones. */
  readonly turnOfLane: (lane: Lane) => RuleTurn;
  /** Notes how long a turn of the lane took. */
  readonly took: (lane: Lane, ms: number) => void;
}

type LaneLimits = { readonly [K in keyof typeof laneLimits]: number };

export function createRuleLanes(parts: {
  readonly saved: RulePositions;
  readonly rules: () => Iterable<CompiledRule>;
  /** Undefined without a journal to read again: then no workspace gets a lane. */
  readonly log: Pick<EntryLog, 'entriesFrom'> | undefined;
  readonly limits?: LaneLimits;
}): RuleLanes {
  const { saved, rules, log, limits = laneLimits } = parts;
  const lanes = new Map<string, Lane>();
  let { evaluated } = saved;
  for (const [id, done] of saved.behind) if (done < evaluated) lanes.set(id, newLane(id, done));

  function newLane(workspaceId: string, done: number): Lane {
    return { workspaceId, entries: [], done, readTo: done, turnEntries: limits.turnEntriesFirst };
  }

  function positionsOf(last: number, behind: Iterable<Lane>): RulePositions {
    const done = [...behind].map(({ workspaceId, done }): [string, number] => [workspaceId, done]);
    return { evaluated: last, behind: new Map(done) };
  }

  /** The workspaces of the batch that get a lane. */
  function starting(batch: readonly DurableEntry[]): Lane[] {
    if (log === undefined) return [];
    const started: Lane[] = [];
    for (const [id, own] of Map.groupBy(batch, workspaceOf)) {
      if (own.length <= limits.shareMax || lanes.has(id)) continue;
      if (lanes.size + started.length >= limits.lanesMax || !isShared(rules(), id)) continue;
      const readTo = batch.at(-1)?.position ?? evaluated;
      started.push({ ...newLane(id, evaluated), entries: own, readTo });
    }
    return started;
  }

  function follow(lane: Lane, batch: readonly DurableEntry[], last: number): void {
    if (lane.readTo < evaluated || isFull(lane, limits)) return;
    for (const entry of batch)
      if (entry.position > lane.readTo && workspaceOf(entry) === lane.workspaceId)
        lane.entries.push(entry);
    lane.readTo = last;
  }

  return {
    positions: () => positionsOf(evaluated, lanes.values()),
    evaluatedOf: (workspaceId) => lanes.get(workspaceId)?.done ?? evaluated,
    all: () => [...lanes.values()],
    turnOfBatch(batch) {
      const last = batch.at(-1)?.position ?? evaluated;
      if (last <= evaluated) return undefined;
      const fresh = batch.filter(({ position }) => position > evaluated);
      const started = starting(fresh);
      const left = new Set([...lanes.keys(), ...started.map(({ workspaceId }) => workspaceId)]);
      return {
        entries: left.size === 0 ? fresh : fresh.filter((entry) => !left.has(workspaceOf(entry))),
        upTo: last,
        save: saving(positionsOf(last, [...lanes.values(), ...started])),
        done: () => {
          for (const lane of lanes.values()) follow(lane, fresh, last);
          for (const lane of started) lanes.set(lane.workspaceId, lane);
          evaluated = last;
        },
      };
    },
    async readOn(lane) {
      if (log === undefined || lane.entries.length > 0 || lane.readTo >= evaluated) return;
      lane.readTo = await readLane(lane, { log, limits }, evaluated);
    },
    turnOfLane(lane) {
      const entries = lane.entries.slice(0, lane.turnEntries);
      const isRest = entries.length === lane.entries.length;
      const to = isRest ? lane.readTo : (entries.at(-1)?.position ?? lane.done);
      const isLast = to >= evaluated;
      const others = [...lanes.values()].filter((other) => other !== lane);
      return {
        entries,
        upTo: to,
        save: saving(positionsOf(evaluated, isLast ? others : [...others, { ...lane, done: to }])),
        done: () => {
          lane.entries.splice(0, entries.length);
          lane.done = to;
          if (isLast) lanes.delete(lane.workspaceId);
        },
      };
    },
    took(lane, ms) {
      const { turnMs, turnEntriesMin, entriesMax } = limits;
      if (ms > turnMs)
        lane.turnEntries = Math.max(turnEntriesMin, Math.floor(lane.turnEntries / 2));
      else if (ms < turnMs / 2) lane.turnEntries = Math.min(entriesMax, lane.turnEntries * 2);
    },
  };
}

const saving = (positions: RulePositions) => (step: RecordsDb) =>
  saveRulePositions(step, positions);

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

export interface LaneWorker {
  /** Call when workspaces may be behind the others. */
  readonly wake: () => void;
  /**
   * Resolves when no such workspace is behind the others; rejects when an attempt to evaluate fails
   * or the worker is closed.
   */
  readonly caughtUp: (isWanted: (workspaceId: string) => boolean) => Promise<void>;
  /** Waits for the turn in progress; the next start evaluates the rest. */
  readonly close: () => Promise<void>;
}

const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000] as const;

/** Workspaces that are behind take turns of one lane each. */
export function createLaneWorker(
  {
    clock,
    lanes: own,
  }: { readonly clock: () => number; readonly lanes?: RuleLaneParts | undefined },
  lanes: RuleLanes,
  run: (lane: Lane) => Promise<void>,
): LaneWorker {
  const waiters = new Set<PromiseWithResolvers<void> & { readonly isDone: () => boolean }>();
  let closed = false;

  async function takeTurns(progressed: () => void): Promise<void> {
    for (let all = lanes.all(); all.length > 0; all = lanes.all())
      for (const lane of all) {
        if (closed) return;
        await lanes.readOn(lane);
        const startedMs = clock();
        await run(lane);
        lanes.took(lane, clock() - startedMs);
        progressed();
        own?.evaluated();
        for (const waiter of waiters)
          if (waiter.isDone() && waiters.delete(waiter)) waiter.resolve();
      }
  }

  function rejectWaiters(error: unknown): void {
    for (const { reject } of waiters) reject(error);
    waiters.clear();
  }

  const worker = new RetryingWorker({
    hasWork: () => lanes.all().length > 0,
    work: takeTurns,
    failed: (error) => {
      own?.failed(error);
      rejectWaiters(error);
    },
    retryDelaysMs,
    setTimer: own?.setTimer ?? (() => () => undefined),
  });
  return {
    wake: worker.wake,
    caughtUp(isWanted) {
      const isDone = () => !lanes.all().some(({ workspaceId }) => isWanted(workspaceId));
      if (isDone()) return Promise.resolve();
      if (closed) return Promise.reject(new Error('The rule engine is shutting down'));
      const waiter = { ...Promise.withResolvers<void>(), isDone };
      waiters.add(waiter);
      worker.retryNow();
      return waiter.promise;
    },
    async close() {
      closed = true;
      await worker.close();
      rejectWaiters(new Error('The rule engine is shutting down'));
    },
  };
}
