// Run log: the last runs of each rule, stored as verdicts, converted when they are read, and saved in the background.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { type RunOutcome, runOutcomes } from '../../model/rule.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { RuleEvaluation } from './rule-reading.ts';
import { type EvaluatedRun, type RuleRun, runOf, runView } from './rule-run.ts';
import {
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../../storage/records/records.ts';
import { ruleRunRows } from '../../storage/records/rows/rule-state.ts';
import type { SetTimer } from '../../structures/timers.ts';

const runLogLimits = { runsMax: 50 } as const;

interface LastRun {
  readonly at: EpochMs;
  readonly outcome: RunOutcome;
}

type ReusedRun = { -readonly [K in keyof EvaluatedRun]: EvaluatedRun[K] };
type CompleteRun = { readonly compiled: CompiledRule; readonly run: RuleRun };

interface Ring {
  readonly runs: (ReusedRun | CompleteRun)[];
  next: number;
  /** Undefined until they are loaded. */
  before: readonly Json[] | undefined;
  /** Whether it waits to be saved. */
  isChanged: boolean;
}

/** Notified of runs as they are added. */
interface RunListener {
  readonly wants: (workspaceId: string) => boolean;
  readonly ran: (compiled: CompiledRule, run: RuleRun) => void;
}

export class RunLog {
  readonly #listener: RunListener | undefined;
  readonly #rings = new Map<string, Ring>();
  readonly #changed = new Set<string>();
  readonly #counts = Object.fromEntries(runOutcomes.map((outcome) => [outcome, 0])) as Record<
    RunOutcome,
    number
  >;

  constructor(listener?: RunListener) {
    this.#listener = listener;
  }

  /** Runs since the start by outcome. */
  get counts(): Readonly<Record<RunOutcome, number>> {
    return this.#counts;
  }

  add(compiled: CompiledRule, run: RuleRun): void {
    this.#counts[run.outcome] += 1;
    const ring = this.#changedRing(compiled.rule.id);
    ring.runs[nextIndex(ring)] = { compiled, run };
    if (this.#listener?.wants(compiled.rule.workspaceId) === true)
      this.#listener.ran(compiled, run);
  }

  /** Adds a run whose parts are copied into a reused entry. */
  addEvaluated(run: EvaluatedRun): void {
    this.#counts[outcomeOf(run.verdict)] += 1;
    const { compiled } = run;
    reuseNext(this.#changedRing(compiled.rule.id), run);
    if (this.#listener?.wants(compiled.rule.workspaceId) === true)
      this.#listener.ran(compiled, runOf(run));
  }

  /** Returns the runs as answers show them, newest first; undefined without a run since the start. */
  runsOf(ruleId: string): Json[] | undefined {
    const ring = this.#rings.get(ruleId);
    return ring && viewsOf(ring);
  }

  /** The newest run, as answers show it; undefined without a run since the start. */
  lastOf(ruleId: string): LastRun | undefined {
    const ring = this.#rings.get(ruleId);
    if (ring === undefined || ring.next === 0) return undefined;
    const newest = ring.runs[(ring.next - 1) % runLogLimits.runsMax];
    return newest && lastRunOf(newest);
  }

  /** Adds the runs of before the start, newest first. */
  load(ruleId: string, runs: readonly Json[]): void {
    this.#ringOf(ruleId).before = runs;
  }

  /** Whether the runs of before the start were added. */
  isLoaded(ruleId: string): boolean {
    return this.#rings.get(ruleId)?.before !== undefined;
  }

  /** Returns at most `max` rules with unsaved runs, and marks them as saved. */
  takeChanged(max: number): readonly string[] {
    const taken = [...this.#changed.values().take(max)];
    for (const id of taken) {
      this.#changed.delete(id);
      const ring = this.#rings.get(id);
      if (ring !== undefined) ring.isChanged = false;
    }
    return taken;
  }

  forget(ruleId: string): void {
    this.#rings.delete(ruleId);
    this.#changed.delete(ruleId);
  }

  #ringOf(ruleId: string): Ring {
    let ring = this.#rings.get(ruleId);
    if (ring === undefined)
      this.#rings.set(ruleId, (ring = { runs: [], next: 0, before: undefined, isChanged: false }));
    return ring;
  }

  #changedRing(ruleId: string): Ring {
    const ring = this.#ringOf(ruleId);
    if (!ring.isChanged) {
      ring.isChanged = true;
      this.#changed.add(ruleId);
    }
    return ring;
  }
}

function nextIndex(ring: Ring): number {
  const index = ring.next % runLogLimits.runsMax;
  ring.next += 1;
  return index;
}

/** Overwrites the oldest run, so that a verdict without effect leaves no object behind. */
function reuseNext(ring: Ring, run: EvaluatedRun): void {
  const index = nextIndex(ring);
  const oldest = ring.runs[index];
  if (oldest === undefined || 'run' in oldest) ring.runs[index] = { ...run };
  else Object.assign(oldest, run);
}

function lastRunOf(entry: ReusedRun | CompleteRun): LastRun {
  if ('run' in entry) return { at: entry.run.at, outcome: entry.run.outcome };
  return { at: entry.origin.at, outcome: outcomeOf(entry.verdict) };
}

/** Newest first, with the runs of before the start last. */
function viewsOf(ring: Ring): Json[] {
  const oldest = ring.next % ring.runs.length || 0;
  const inOrder = [...ring.runs.slice(oldest), ...ring.runs.slice(0, oldest)];
  const views = inOrder.reverse().map((entry) => runView(entry.compiled, completeRun(entry)));
  return [...views, ...(ring.before ?? [])].slice(0, runLogLimits.runsMax);
}

function completeRun(entry: ReusedRun | CompleteRun): RuleRun {
  if ('run' in entry) return entry.run;
  return runOf(entry);
}

function outcomeOf({ firings, suppressed }: RuleEvaluation): RunOutcome {
  if (firings.length > 0) return 'FIRED';
  if (suppressed) return 'SUPPRESSED';
  return 'NOT_FIRED';
}

// Runs of rules: saved in the background, a few rules per second, and loaded when a client reads them.

/**
 * Rules whose runs are saved in one transaction: few, so that no request waits for it; more at the
 * stop.
 */
const rulesPerSave = 4;
const rulesPerSaveAtStop = 20;
const saveEveryMs = 1_000;

type LastRuns = ReadonlyMap<string, { readonly timestamp: string; readonly outcome: RunOutcome }>;

type LoggedRuns = Pick<RunLog, 'isLoaded' | 'lastOf' | 'load' | 'runsOf' | 'takeChanged'>;

export class RuleRuns {
  readonly #db: RecordsDb;
  readonly #log: LoggedRuns;
  readonly #askRuns: ((ruleId: string) => Promise<readonly Json[] | undefined>) | undefined;
  readonly #isOwn: (ruleId: string) => boolean;
  readonly #stop: () => void;
  /** The last runs of a rule, newest first. */
  readonly runsOf = async (ruleId: string): Promise<readonly Json[]> => {
    return (
      (await this.ownRunsOf(ruleId)) ??
      (await this.#askRuns?.(ruleId)) ??
      ruleRunRows.find(this.#db, ruleId)
    );
  };
  /** Time and outcome of the newest run of each rule that has one. */
  readonly lastRunsOf = async (
    readDb: RecordsDb,
    ruleIds: readonly string[],
  ): Promise<LastRuns> => {
    const found = new Map(
      ruleIds.flatMap((id) => {
        const last = this.#isOwn(id) ? this.#log.lastOf(id) : undefined;
        const timestamp = last && formatInstant(last.at);
        return last && timestamp ? [[id, { timestamp, outcome: last.outcome }] as const] : [];
      }),
    );
    const others = ruleIds.filter((id) => !found.has(id));
    for (const { ruleId, timestamp, outcome } of await ruleRunRows.lastOf(readDb, others))
      found.set(ruleId, { timestamp, outcome: outcome as RunOutcome });
    return found;
  };
  /** The same, for the last time. */
  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.saveAll();
  };

  /** Starts saving. */
  constructor({
    db,
    log,
    setRepeatingTimer,
    failed,
    askRuns,
    isOwn = () => true,
  }: {
    readonly db: RecordsDb;
    readonly log: LoggedRuns;
    /** Whether the rule runs here; the runs of others are read from the records. */
    readonly isOwn?: (ruleId: string) => boolean;
    /** The runs that the node with the rule has in memory; undefined when none can be asked. */
    readonly askRuns?: (ruleId: string) => Promise<readonly Json[] | undefined>;
    readonly setRepeatingTimer: SetTimer;
    readonly failed: (error: unknown) => void;
  }) {
    this.#db = db;
    this.#log = log;
    this.#askRuns = askRuns;
    this.#isOwn = isOwn;
    this.#stop = setRepeatingTimer(() => void this.#save(rulesPerSave).catch(failed), saveEveryMs);
  }

  /** What is saved has the runs of before the start too. */
  async #load(from: RecordsDb, ruleId: string): Promise<void> {
    if (this.#log.isLoaded(ruleId)) return;
    const runs = await ruleRunRows.find(from, ruleId);
    if (!this.#log.isLoaded(ruleId)) this.#log.load(ruleId, runs);
  }

  /** Returns how many rules had unsaved runs, at most `max`. */
  async #save(max: number): Promise<number> {
    const ids = this.#log.takeChanged(max);
    if (ids.length === 0) return 0;
    const work = async (step: TransactionStep) => {
      for (const id of ids) {
        await this.#load(step.db, id);
        await ruleRunRows.save(step.db, id, this.#log.runsOf(id) ?? []);
      }
    };
    await transaction(this.#db, work, 'lazy');
    return ids.length;
  }

  /** Saves all runs. */
  async saveAll(): Promise<void> {
    while ((await this.#save(rulesPerSaveAtStop)) > 0);
  }

  /** The same for a rule that runs here; undefined for another one. */
  async ownRunsOf(ruleId: string): Promise<readonly Json[] | undefined> {
    if (!this.#isOwn(ruleId)) return undefined;
    await this.#load(this.#db, ruleId);
    return this.#log.runsOf(ruleId) ?? [];
  }
}
