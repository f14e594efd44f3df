// Clock of calculations: computes periods that have ended, and again those that late samples touched (contract 38.2).
// Everything may be done twice: results are put in place of what is there, and progress is saved behind them.
import { findLoop, loopText } from '../../inventory/rules/calculations.ts';
import {
  type Calculation,
  calculationLimits,
  type CalculationProgress,
  type GroupResults,
  type PutResults,
} from '../../model/calculation.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { type FoundMark, calculationRows } from '../../storage/records/rows/calculations.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';
import type { SetTimer } from '../../structures/timers.ts';
import type { KnownCalculation, Period } from './calculation-registry.ts';
import type { CalculationResults, Member } from './group-results.ts';

const passEveryMs = 1_000;
/** What was sent in a period is stored so long behind its end, and other nodes know of changes. */
const settleMs = 5_000;
/** Late samples of a calculation are waited for so long, so that many cost one pass. */
const lateEveryMs = 5_000;
const retryMs = 30_000;
/** Devices times outputs times periods of one run. */
const cellsMax = 100_000;
const periodsMax = 500;
const marksPerRun = 100;
/** Calculations that read and store at the same time; they compute one after another. */
const runsAtOnce = 8;
const droppedPerPass = 100;
const previewMsMax = 10_000;

/** What the clock remembers of a calculation of this node. */
interface Remembered {
  progress: CalculationProgress;
  /** Nothing is tried before, by the monotonic clock. */
  notBefore: number;
  /** Late samples are not looked at before, by the monotonic clock. */
  lateNotBefore: number;
  ranAt: number;
}

interface CalculationClockParts {
  readonly db: RecordsDb;
  readonly results: CalculationResults;
  readonly now: () => EpochMs;
  /** A monotonic clock in milliseconds, for waits. */
  readonly clock: () => number;
  readonly calculations: () => Promise<ReadonlyMap<string, readonly KnownCalculation[]>>;
  /** Whether this node computes the calculations of the workspace. */
  readonly isOwn: (workspaceId: string) => boolean;
  /** Stores results at the owner of the target. */
  readonly put: PutResults;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export class CalculationClock {
  readonly #parts: CalculationClockParts;
  readonly #stop: () => void;
  readonly #remembered = new Map<string, Remembered>();
  #running: Promise<void> | undefined;
  readonly #closed = new AbortController();
  /** Results are computed one after another, so that other requests wait for one only. */
  readonly #computing = createSerialQueue();
  #runs = 0;

  constructor(parts: CalculationClockParts) {
    this.#parts = parts;
    this.#stop = parts.setRepeatingTimer(() => void this.look().catch(parts.failed), passEveryMs);
  }

  /** Does a pass now, as happens every second. */
  readonly look = (): Promise<void> => {
    this.#running ??= this.#pass().finally(() => (this.#running = undefined));
    return this.#running;
  };

  readonly close = async (): Promise<void> => {
    this.#stop();
    this.#closed.abort(problem('stopping'));
    await this.#running?.catch(() => undefined);
  };

  /** Computes the last periods, with the one that has not ended, and stores nothing. */
  readonly preview = async (known: KnownCalculation, count: number) => {
    const { now, clock } = this.#parts;
    const { record, periods } = known;
    const startedAt = clock();
    const at = now();
    const open = known.openFrom(at);
    let start = open;
    const wanted: Period[] = [{ start: open, end: at + 1 }];
    while (wanted.length < count) {
      const before = periods.startOf(start - 1);
      wanted.unshift({ start: before, end: start });
      start = before;
    }
    const members = await this.#membersOf(record);
    const found: { timestamp: EpochMs; data: JsonObject | null }[] = [];
    const atOnce = periodsAtOnce(record, members);
    while (wanted.length > 0 && clock() - startedAt < previewMsMax) {
      const some = wanted.splice(-atOnce);
      const data = await this.#results(record, members, some);
      found.unshift(
        ...some.map((period, i) => ({ timestamp: period.start, data: data[i] ?? null })),
      );
    }
    return { devices: members.length, periods: found, complete: wanted.length === 0 };
  };

  async #pass(): Promise<void> {
    const { calculations, isOwn, db } = this.#parts;
    const own: KnownCalculation[] = [];
    const all = new Set<string>();
    for (const [workspaceId, some] of await calculations()) {
      for (const { record } of some) all.add(record.id);
      if (isOwn(workspaceId)) own.push(...some.filter(({ record }) => record.active));
    }
    const ids = new Set(own.map(({ record }) => record.id));
    const left = [...this.#remembered.keys()].filter((id) => !ids.has(id));
    for (const id of left) this.#remembered.delete(id);
    // A run that was under way saves its progress after the deletion.
    const deleted = left.filter((id) => !all.has(id));
    if (deleted.length > 0) await calculationRows.removeProgress(db, deleted);
    await this.#remember(own);
    if (own.length === 0) return;
    const marks = await calculationRows.countMarks(db);
    const due = own.filter((known) => this.#isDue(known, marks));
    // Organizations take turns, and in each those that have waited longest come first.
    due.sort((a, b) => this.#ranAt(a) - this.#ranAt(b));
    const queues = [...Map.groupBy(due, ({ record }) => record.organizationId).values()];
    const waiting = oneOfEach(queues);
    const lane = async (): Promise<void> => {
      for (const known of waiting) {
        if (this.#closed.signal.aborted) return;
        if (!isOwn(known.record.workspaceId)) continue;
        await this.#run(known, (marks.get(known.record.id) ?? 0) > 0);
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: runsAtOnce }, lane));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
    if (this.#closed.signal.aborted) return;
    if ([...marks.keys()].some((id) => !all.has(id)))
      await calculationRows.dropMarksOfDeleted(db, droppedPerPass);
  }

  #ranAt({ record }: KnownCalculation): number {
    return this.#remembered.get(record.id)?.ranAt ?? 0;
  }

  async #remember(own: readonly KnownCalculation[]): Promise<void> {
    const isKnown = ({ record }: KnownCalculation) =>
      this.#remembered.get(record.id)?.progress.activation === record.activation;
    const unknown = own.filter((known) => !isKnown(known));
    const stored = await calculationRows.findProgress(
      this.#parts.db,
      unknown.map(({ record }) => record.id),
    );
    for (const { record, periods } of unknown) {
      const { id, activation } = record;
      const found = stored.get(id);
      const progress =
        found?.activation === activation
          ? found
          : {
              calculationId: id,
              activation,
              computedTo: periods.startOf(record.from),
              computedAt: null,
              error: null,
              errorAt: null,
            };
      // What was changed just now is known to all nodes a moment later.
      const notBefore = this.#parts.clock() + settleMs;
      this.#remembered.set(id, { progress, notBefore, lateNotBefore: notBefore, ranAt: 0 });
    }
  }

  #isDue({ record, openFrom }: KnownCalculation, marks: ReadonlyMap<string, number>): boolean {
    const { now, clock } = this.#parts;
    const remembered = this.#remembered.get(record.id);
    if (remembered === undefined || clock() < remembered.notBefore) return false;
    if (marks.has(record.id) && clock() >= remembered.lateNotBefore) return true;
    return openFrom(now() - settleMs) > remembered.progress.computedTo;
  }

  async #run(known: KnownCalculation, hasMarks: boolean): Promise<void> {
    const { now, clock, failed } = this.#parts;
    const { record } = known;
    const remembered = this.#remembered.get(record.id);
    if (remembered === undefined) return;
    remembered.ranAt = ++this.#runs;
    try {
      await this.#check(record);
      const members = await this.#membersOf(record);
      await this.#computeEnded(known, members, remembered);
      if (hasMarks && clock() >= remembered.lateNotBefore) {
        remembered.lateNotBefore = clock() + lateEveryMs;
        await this.#computeLate(known, members, remembered.progress.computedTo);
      }
      if (remembered.progress.error !== null)
        await this.#save(remembered, { error: null, errorAt: null });
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      remembered.notBefore = clock() + retryMs;
      if (!(error instanceof Problem)) failed(error);
      const message = error instanceof Problem ? error.message : 'Internal error; see the log';
      await this.#save(remembered, { error: message, errorAt: now() });
    }
  }

  async #check(record: Calculation): Promise<void> {
    const { db } = this.#parts;
    const place = await findPlace(db, 'device', record.target.deviceId);
    if (place?.workspaceId !== record.workspaceId)
      throw problem('calculationInvalid', {
        field: 'target.deviceId',
        reason: `device ${record.target.deviceId} is not in the workspace anymore`,
      });
    const others = (await this.#parts.calculations()).get(record.workspaceId) ?? [];
    const loop = await findLoop(
      db,
      record,
      others.map((one) => one.record),
    );
    if (loop !== undefined)
      throw problem('calculationInvalid', { field: 'target', reason: loopText(loop) });
  }

  async #membersOf({ workspaceId, tagId, deviceIds }: Calculation): Promise<readonly Member[]> {
    const { db } = this.#parts;
    const { devices: max } = calculationLimits;
    const found =
      tagId === null
        ? await deviceRows.membersNamed(db, workspaceId, deviceIds ?? [])
        : await deviceRows.membersOfTag(db, workspaceId, tagId, max + 1);
    if (found.length > max)
      throw problem('calculationInvalid', {
        field: 'tagId',
        reason: `more than ${max} devices carry the tag`,
      });
    return found.map(({ id, onlineTimeoutSeconds }) => ({
      id,
      workspaceId,
      onlineTimeoutMs: onlineTimeoutSeconds * 1_000,
    }));
  }

  async #computeEnded(
    { record, periods }: KnownCalculation,
    members: readonly Member[],
    remembered: Remembered,
  ): Promise<void> {
    const { now } = this.#parts;
    const { computedTo } = remembered.progress;
    const ended = periods.between(computedTo, now() - settleMs, periodsAtOnce(record, members));
    const last = ended.at(-1);
    if (last === undefined) return;
    await this.#compute(record, members, ended);
    await this.#save(remembered, {
      computedTo: last.end,
      computedAt: now(),
      error: null,
      errorAt: null,
    });
  }

  /** The oldest first; the rest comes with the next pass. */
  async #computeLate(
    { record, periods }: KnownCalculation,
    members: readonly Member[],
    computedTo: EpochMs,
  ): Promise<void> {
    const { db } = this.#parts;
    const since = periods.startOf(record.from);
    let left = periodsAtOnce(record, members);
    const done: FoundMark[] = [];
    for (const mark of await calculationRows.findMarks(db, record.id, marksPerRun)) {
      if (left <= 0) break;
      const from = Math.max(mark.from, since);
      // The end of the mark is within a period that counts as well.
      const end = Math.min(mark.to - 1, computedTo - 1);
      const touched = from > end ? [] : periods.between(from, endOf(periods, end), left);
      await this.#compute(record, members, touched);
      left -= touched.length;
      const reached = touched.at(-1)?.end ?? computedTo;
      if (reached > end) done.push(mark);
      else await calculationRows.narrowMark(db, mark, reached);
    }
    await calculationRows.removeMarks(db, done);
  }

  async #compute(
    record: Calculation,
    members: readonly Member[],
    periods: readonly Period[],
  ): Promise<void> {
    if (periods.length === 0) return;
    const found = await this.#computing.run(() => this.#results(record, members, periods));
    const { deviceId, topic } = record.target;
    const results: GroupResults['results'] = periods.map(({ start }, i) => ({
      timestamp: start,
      data: found[i] ?? null,
    }));
    await this.#parts.put({ deviceId, topic, calculationId: record.id, results });
  }

  #results(record: Calculation, members: readonly Member[], periods: readonly Period[]) {
    return this.#parts.results.of(record, members, periods, this.#closed.signal);
  }

  async #save(remembered: Remembered, changed: Partial<CalculationProgress>): Promise<void> {
    const progress = { ...remembered.progress, ...changed };
    await calculationRows.saveProgress(this.#parts.db, progress);
    remembered.progress = progress;
  }
}

/** One of each queue after the other. */
function* oneOfEach<T>(queues: readonly T[][]): Generator<T> {
  while (queues.some((queue) => queue.length > 0))
    for (const queue of queues) {
      const next = queue.shift();
      if (next !== undefined) yield next;
    }
}

/** The end of the period that contains the moment. */
function endOf(periods: KnownCalculation['periods'], at: EpochMs): EpochMs {
  const [period] = periods.between(at, Number.MAX_SAFE_INTEGER, 1);
  return period?.end ?? at;
}

function periodsAtOnce({ outputs }: Calculation, members: readonly Member[]): number {
  const cells = Math.max(1, members.length * outputs.length);
  return Math.max(1, Math.min(periodsMax, Math.floor(cellsMax / cells)));
}
