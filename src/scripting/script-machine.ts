// The script machine: runs users' scripts in worker threads, each run in a fresh realm and within limits.
// It does not know devices, rules or stores: it gets a source and an event, and returns emits
// (interface 2.10, 4.8; contract 15, 16, 35).
import { availableParallelism } from 'node:os';
import { typedJson } from '../model/json-keys.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { problem, type Problem } from '../model/problem.ts';
import { quotaDetails, standardQuotas } from '../model/quota.ts';
import { type RunKind, RunQueue } from '../structures/run-queue.ts';
import { textKey } from '../structures/hash-tables.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Emit, EmitType, ScriptErrorEvent } from './emit.ts';
import { modeNumber } from './engine.ts';
import type { CodecEntry } from './source-analysis.ts';
import { scriptLimits, type ScriptLimits } from './script-limits.ts';
import { type PendingRun, type RunTimes, ThreadPool } from './thread-pool.ts';
import type { RunOutcome, ScriptRegistration } from './worker-messages.ts';

interface ScriptRun {
  /** Owner of the script. The memory in which it runs has no data of another tenant. */
  readonly tenant: string;
  readonly source: string;
  /** The argument of `consume`. */
  readonly event: Json;
  /**
   * For LoRa Alliance payload codecs: the function to call. Scripts with `consume` have one entry.
   */
  readonly entry?: CodecEntry;
  /**
   * Form of numbers that JSON does not have: `text` for "NaN", "Infinity" and "-Infinity", as
   * run-script returns them; `marked` for null, with their paths in `Emit.nonFinite` (contract 16).
   */
  readonly nonFinite?: 'text' | 'marked';
  /** `trial` runs come after `live` ones and have separate limits. The default is `live`. */
  readonly kind?: RunKind;
  /** An aborted run that still waits is dropped: its answer has no entries. */
  readonly signal?: AbortSignal | undefined;
}

interface ScriptResult {
  /**
   * In the order of emission. With `nonFinite: 'text'` exactly the array that run-script returns.
   */
  readonly emits: readonly Emit[];
  /** What the run used of a processor. */
  readonly processorMs: number;
}

export interface ScriptMachineOptions {
  /** Worker threads. The default is the number of cores minus one, at least one. */
  readonly workers?: number | undefined;
  readonly limits?: Partial<ScriptLimits>;
  /** Called for every run that has an answer. */
  readonly ran?: ((run: RunFigures) => void) | undefined;
  /** Gets, as a sentence, the reason why a worker died or was replaced. */
  readonly troubled?: ((why: string) => void) | undefined;
}

export interface RunFigures {
  /** `edge`: a live run in a thread that takes connections. */
  readonly kind: RunKind | 'edge';
  /** `error`: the script itself failed. */
  readonly outcome: RunOutcome | 'error';
  readonly waitMs: number;
  readonly durationMs: number;
}

interface MachineState {
  readonly limits: ScriptLimits;
  readonly queue: RunQueue<PendingRun>;
  readonly pool: ThreadPool;
  nextNumber: number;
}

/** Runs scripts, and no more. */
export type ScriptRunner = Pick<ScriptMachine, 'run'>;

/** Creates the machine, which starts in the background. Runs that arrive before it is ready wait. */
export class ScriptMachine {
  readonly #ran: (run: RunFigures) => void;
  readonly #limits: ScriptLimits;
  readonly #queue: RunQueue<PendingRun>;
  readonly #registry: ScriptRegistry;
  readonly #pool: ThreadPool;
  readonly #machine: MachineState;
  readonly #stopResting: () => void;

  constructor(options: ScriptMachineOptions = {}) {
    const { ran = () => undefined, troubled = () => undefined } = options;
    this.#ran = ran;
    this.#limits = { ...scriptLimits, ...options.limits };
    this.#queue = new RunQueue<PendingRun>(this.#limits, () => performance.now());
    this.#registry = new ScriptRegistry(this.#limits.scriptsMax, this.#limits.scriptCharsMax);
    const workers = options.workers ?? Math.max(1, availableParallelism() - 1);
    this.#pool = new ThreadPool(workers, this.#limits, this.#queue, troubled);
    this.#machine = { limits: this.#limits, queue: this.#queue, pool: this.#pool, nextNumber: 1 };
    this.#stopResting = setRepeatingTimer(() => {
      if (this.#pool.rest(performance.now())) this.#registry.clear();
    }, this.#limits.restIntervalMs);
  }

  /**
   * Runs a script once. Errors of the script or its source are ERROR entries. Rejects only with
   * the problem `intakeFull` (too many runs wait), `quotaBusy` (too many trials of the tenant
   * wait) or `stopping`.
   */
  readonly run = (run: ScriptRun): Promise<ScriptResult> => {
    const { entry = 'decodeUplink', nonFinite = 'text', kind = 'live' } = run;
    const { tenant, source, event, signal } = run;
    return new Promise((resolve, reject) => {
      const eventText = JSON.stringify(event);
      const refusal =
        tooLarge('script', source, this.#limits.sourceBytesMax) ??
        tooLarge('event', eventText, this.#limits.eventBytesMax);
      if (refusal !== undefined)
        return resolve({
          emits: [{ type: 'ERROR', event: { message: refusal } }],
          processorMs: 0,
        });
      const mode = modeNumber(entry, nonFinite);
      const script = this.#registry.of(tenant, source);
      const answered = (answer: RunAnswer) => {
        const emits = typedJson<Emit[]>(answer.entries);
        if (answer !== dropped) this.#ran(figuresOf(kind, answer, emits));
        resolve({ emits, processorMs: answer.processorMs });
      };
      const waiting = { tenant, kind, script, mode, event: eventText };
      enqueue(this.#machine, waiting, { answered, failed: reject }, signal);
    });
  };

  /** Ends all workers. Waiting and running runs are rejected with `stopping`. */
  readonly close = async (): Promise<void> => {
    this.#stopResting();
    await this.#pool.close();
  };

  /** Returns the errors of a source without running it: syntax, imports, a missing `consume`. */
  async check(tenant: string, source: string): Promise<readonly ScriptErrorEvent[]> {
    const refusal = tooLarge('script', source, this.#limits.sourceBytesMax);
    if (refusal !== undefined) return [{ message: refusal }];
    const trial = { tenant, kind: 'trial', mode: 0, event: source } as const;
    const { entries } = await new Promise<RunAnswer>((answered, failed) =>
      enqueue(this.#machine, trial, { answered, failed }),
    );
    return typedJson<ScriptErrorEvent[]>(entries);
  }

  /** Waiting runs of all tenants, and threads. */
  get waiting(): number {
    return this.#queue.size;
  }

  get threads(): number {
    return this.#pool.threads;
  }

  /** Trial runs of a tenant: waiting and in progress. */
  trials(tenant: string): { readonly waiting: number; readonly underWay: number } {
    return this.#queue.trials(tenant);
  }
}

/** Called instead of a promise, which every run would wait for once more. */
interface RunCaller {
  answered(answer: RunAnswer): void;
  failed(error: unknown): void;
}

function enqueue(
  machine: MachineState,
  run: NewRun,
  { answered, failed }: RunCaller,
  signal?: AbortSignal,
): void {
  const { queue, pool, limits } = machine;
  const failure = pool.error();
  if (failure !== undefined) return failed(failure);
  if (signal?.aborted === true) return answered(dropped);
  const queuedAt = performance.now();
  const { tenant, kind, script, mode, event } = run;
  const pending: PendingRun = {
    tenant,
    kind,
    script,
    mode,
    event,
    number: nextNumber(machine),
    bytes: event.length + (script?.source.length ?? 0),
    isRepeated: false,
    finish(entries, took, outcome) {
      signal?.removeEventListener('abort', drop);
      const waitMs = Math.max(0, performance.now() - queuedAt - took.durationMs);
      try {
        answered({ entries, ...took, outcome, waitMs });
      } catch (error) {
        failed(error);
      }
    },
    fail: failed,
  };
  function drop(): void {
    if (queue.remove(pending)) answered(dropped);
  }
  const pushed = queue.push(pending);
  if (pushed !== 'taken') return failed(rejectionOf(pushed, run.kind, limits));
  signal?.addEventListener('abort', drop, { once: true });
  pool.dispatchSoon();
}

function nextNumber(machine: MachineState): number {
  const number = machine.nextNumber;
  machine.nextNumber = (number % numberMax) + 1;
  return number;
}

type NewRun = Pick<PendingRun, 'tenant' | 'kind' | 'script' | 'mode' | 'event'>;

interface RunAnswer extends RunTimes {
  /** A JSON array. */
  readonly entries: string;
  readonly outcome: RunOutcome;
  readonly waitMs: number;
}

/** The answer to a caller that no longer waits. */
const dropped: RunAnswer = {
  entries: '[]',
  durationMs: 0,
  processorMs: 0,
  outcome: 'ended',
  waitMs: 0,
};

function figuresOf(
  kind: RunKind,
  { outcome, waitMs, durationMs }: RunAnswer,
  emits: readonly Emit[],
): RunFigures {
  const failed = outcome === 'ended' && emits.some(({ type }) => type === 'ERROR');
  return { kind, outcome: failed ? 'error' : outcome, waitMs, durationMs };
}

function rejectionOf(pushed: 'full' | 'tenantFull', kind: RunKind, limits: ScriptLimits): Problem {
  if (pushed === 'full' || kind === 'live') return problem('intakeFull');
  const quotas = { ...standardQuotas, runScriptsWaiting: limits.trialsWaitingMax };
  return problem('quotaBusy', {
    ...quotaDetails(quotas, 'runScriptsWaiting'),
    retryAfterSeconds: 1,
  });
}

// Run numbers are 32-bit words in the memory that is shared with the workers.
const numberMax = 0x7fff_ffff;

function tooLarge(what: string, text: string, bytesMax: number): string | undefined {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return undefined;
  return `The ${what} must be at most ${bytesMax} bytes`;
}

// Script registry: numbers for scripts, so that a source is sent to each worker once and then referred to by its number.

/**
 * `scriptsMax` and `charsMax` limit the registry. The least recently registered scripts are
 * evicted.
 */
export class ScriptRegistry {
  readonly #scriptsMax: number;
  readonly #charsMax: number;
  readonly #byTenant = new Map<string, Map<string, ScriptRegistration>>();
  // In the order of registration. A script that is evicted while in use only gets another number.
  readonly #all = new Set<ScriptRegistration>();
  #nextId = 1;
  #chars = 0;

  constructor(scriptsMax: number, charsMax: number) {
    this.#scriptsMax = scriptsMax;
    this.#charsMax = charsMax;
  }

  /** Returns the registration of the tenant's source: the same as last time unless it was evicted. */
  of(tenant: string, source: string): ScriptRegistration {
    const key = textKey(source);
    const known = this.#byTenant.get(tenant)?.get(key);
    if (known !== undefined) return known;
    for (const oldest of this.#all) {
      if (this.#all.size < this.#scriptsMax && this.#chars + source.length <= this.#charsMax) break;
      this.#evict(oldest);
    }
    const registration = { id: this.#nextId, tenant, source };
    this.#nextId += 1;
    this.#all.add(registration);
    this.#chars += source.length;
    const sources = this.#byTenant.get(tenant) ?? new Map<string, ScriptRegistration>();
    this.#byTenant.set(tenant, sources.set(key, registration));
    return registration;
  }

  clear(): void {
    this.#byTenant.clear();
    this.#all.clear();
    this.#chars = 0;
  }

  #evict(registration: ScriptRegistration): void {
    const { tenant, source } = registration;
    this.#all.delete(registration);
    this.#chars -= source.length;
    const sources = this.#byTenant.get(tenant);
    sources?.delete(textKey(source));
    if (sources?.size === 0) this.#byTenant.delete(tenant);
  }
}

/** Script machine whose threads start with the first run, because idle threads use memory. */
export class ScriptMachineOnDemand {
  readonly #start: () => ScriptMachine;
  #machine: ScriptMachine | undefined;
  readonly run = (run: ScriptRun): Promise<ScriptResult> => this.#startOnce().run(run);
  readonly close = async (): Promise<void | undefined> => this.#machine?.close();

  constructor(start: () => ScriptMachine) {
    this.#start = start;
  }

  #startOnce(): ScriptMachine {
    return (this.#machine ??= this.#start());
  }

  /** Starts the machine before the first run. */
  warmUp(): void {
    this.#startOnce();
  }

  /** Undefined until the machine was started. */
  readonly started = (): ScriptMachine | undefined => this.#machine;
}

// One run on request: what run-script answers (interface 4.8, contract 16).

/**
 * Runs a script once and mirrors its emits, in their order and as they are: no topic or key is
 * checked, numbers that are not finite are the texts "NaN", "Infinity" and "-Infinity". Whatever
 * goes wrong in the script is an ERROR entry. The run comes after those of devices, within limits
 * of its own: above them `quotaBusy` is thrown (contract 36).
 */
export async function runScript(
  scripts: ScriptRunner,
  request: {
    readonly tenant: string;
    readonly source: string;
    readonly event: Json;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<
  {
    readonly type: EmitType;
    readonly event: Json;
  }[]
> {
  const entry = entryOf(request.event);
  const { emits } = await scripts.run({ ...request, entry, kind: 'trial' });
  return emits.map((emit) => ({ type: emit.type, event: emit.event }));
}

/** Only payload codecs have several entries; the event tells which one it is for. */
function entryOf(event: Json): CodecEntry {
  if (!isJsonObject(event) || 'data' in event) return 'decodeUplink';
  if ('payload' in event) return 'encodeDownlink';
  return 'payloadHex' in event ? 'decodeDownlink' : 'decodeUplink';
}
