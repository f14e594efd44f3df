// Local scripts: runs scripts in the thread that calls, without a hand-over, within a limit that is much shorter than that of the script machine.
import { compileQuickJs, inspectMemoryLayout, type MemoryLayout } from './quickjs.ts';
import { type CompiledScript, createEngine, type Engine, modeNumber } from './engine.ts';
import {
  createRecorderMemory,
  createRunRecorder,
  recorderPhases,
  RecorderView,
} from './run-recorder.ts';
import { scriptLimits, type ScriptLimits } from './script-limits.ts';
import { SilenceClock } from './thread-pool.ts';
import { analyzeSource } from './source-analysis.ts';
import type { ScriptRegistration } from './worker-messages.ts';
import type { UplinkScript } from '../model/uplink.ts';
import { createBoundedMap } from '../structures/caches.ts';

/** What holds here besides the limits of every run. */
export const localScriptLimits = {
  ...scriptLimits,
  cpuMs: 2,
  /** Above it, a run is slow. */
  quickMs: 1,
  silenceMsMax: 500,
  compileSilenceMsMax: 500,
  /** Characters of a source: compiling holds up the requests of the thread. */
  sourceCharsMax: 64 * 1024,
  memoryBytesKept: 4 * 1_048_576,
  imageCacheBytesMax: 16 * 1_048_576,
  /** Of each window, one of several tenants may run this long; its other runs go to the script machine. */
  windowMs: 100,
  shareMs: 25,
} as const satisfies ScriptLimits & Readonly<Record<string, number>>;

/** What a thread needs to run scripts. */
export interface LocalScriptsStart {
  readonly module: WebAssembly.Module;
  readonly layout: MemoryLayout;
  /** The memory that `LocalScriptsWatch` looks at. */
  readonly recorder: SharedArrayBuffer;
}

/** Of every thread; the engine is compiled once. */
export async function localScriptsStart(): Promise<() => LocalScriptsStart> {
  const module = await compileQuickJs();
  const layout = await inspectMemoryLayout(module);
  return () => ({
    module,
    layout,
    recorder: createRecorderMemory(localScriptLimits.outputBytesMax),
  });
}

/** Reading the processor time takes a tenth of a short run. It is read of so many runs after a slow one. */
const runsReadAfterSlow = 64;

export interface LocalRun {
  /** A JSON array of what the script emitted. */
  readonly entries: string;
  readonly durationMs: number;
  /** What the run used of a processor; its duration, where the runs before it were quick. */
  readonly processorMs: number;
  /** The run was ended at the limit: what it emitted is incomplete. */
  readonly isLate: boolean;
}

export class LocalScripts {
  readonly #engine: Engine;
  readonly #recorder: ReturnType<typeof createRunRecorder>;
  // A Map keeps the order of insertion: a script that is used is put at its end.
  readonly #known = new Map<
    number,
    {
      readonly tenant: string;
      readonly compiled: CompiledScript;
      /** Of how many of the next runs the processor time is read. */
      readRuns: number;
    }
  >();
  #bytes = 0;
  #lastTenant: string | undefined;
  #isRenewing = false;
  readonly #shares = new TenantShares();

  private constructor(engine: Engine, recorder: ReturnType<typeof createRunRecorder>) {
    this.#engine = engine;
    this.#recorder = recorder;
  }

  static async start({ module, layout, recorder: shared }: LocalScriptsStart) {
    const recorder = createRunRecorder(shared);
    const parts = { module, layout, limits: localScriptLimits, recorder, cpuMs };
    return new LocalScripts(await createEngine(parts), recorder);
  }

  /** Compiles a script. Returns the ids of those that were forgotten for it, with its own if it cannot be compiled. */
  add({ id, tenant, source }: ScriptRegistration): readonly number[] {
    if (this.#isRenewing) return [id];
    this.#recorder.begin(id, recorderPhases.compiling);
    const compiled = this.#compile(source);
    this.#recorder.end();
    this.#lastTenant = undefined;
    if (this.#engine.worn) this.#renew();
    if (compiled === undefined) return [id];
    this.#known.set(id, { tenant, compiled, readRuns: 0 });
    this.#bytes += compiled.image.bytes;
    const forgotten: number[] = [];
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= localScriptLimits.imageCacheBytesMax || this.#known.size === 1) break;
      this.forget(oldest);
      forgotten.push(oldest);
    }
    return forgotten;
  }

  forget(id: number): void {
    this.#bytes -= this.#known.get(id)?.compiled.image.bytes ?? 0;
    this.#known.delete(id);
  }

  /** Runs `consume` once, with an event as JSON. Undefined while the script cannot be run here. */
  run(id: number, event: string): LocalRun | undefined {
    const known = this.#known.get(id);
    if (known === undefined || this.#isRenewing) return undefined;
    const { tenant, compiled } = known;
    const startedAt = performance.now();
    if (!this.#shares.hasTime(tenant, startedAt)) return undefined;
    this.#known.delete(id);
    this.#known.set(id, known);
    const isRead = known.readRuns > 0;
    const processorAt = isRead ? cpuMs() : 0;
    this.#recorder.begin(id, recorderPhases.running);
    const end = this.#engine.run(compiled, event, decoderMode, tenant !== this.#lastTenant);
    this.#recorder.end();
    this.#lastTenant = tenant;
    if (this.#engine.worn) this.#renew();
    const durationMs = performance.now() - startedAt;
    // The system counts in steps of its scheduler, which may have begun before the run.
    const processorMs = isRead ? Math.min(durationMs, cpuMs() - processorAt) : durationMs;
    if (durationMs > localScriptLimits.quickMs) known.readRuns = runsReadAfterSlow;
    else if (isRead) known.readRuns -= 1;
    this.#shares.used(tenant, durationMs);
    return { entries: this.#recorder.text(), durationMs, processorMs, isLate: end === 'late' };
  }

  #compile(source: string): CompiledScript | undefined {
    const analyzed = analyzeSource(source, () => this.#recorder.beat());
    if ('error' in analyzed) return undefined;
    const compiled = this.#engine.compile(analyzed);
    return 'error' in compiled ? undefined : compiled;
  }

  #renew(): void {
    this.#isRenewing = true;
    void this.#engine.renew().then(() => {
      this.#isRenewing = false;
    });
  }
}

/** Time of tenants in windows; alone, a tenant has all of it. */
class TenantShares {
  #windowAt = Number.NEGATIVE_INFINITY;
  #now = new Map<string, number>();
  #before = new Map<string, number>();

  hasTime(tenant: string, now: number): boolean {
    if (now - this.#windowAt > localScriptLimits.windowMs) {
      const isNext = now - this.#windowAt <= 2 * localScriptLimits.windowMs;
      this.#before = isNext ? this.#now : new Map();
      this.#now = new Map();
      this.#windowAt = now;
    }
    if ((this.#now.get(tenant) ?? 0) < localScriptLimits.shareMs) return true;
    return isOnly(tenant, this.#now) && isOnly(tenant, this.#before);
  }

  used(tenant: string, ms: number): void {
    this.#now.set(tenant, (this.#now.get(tenant) ?? 0) + ms);
  }
}

function isOnly(tenant: string, used: ReadonlyMap<string, number>): boolean {
  return used.size === 0 || (used.size === 1 && used.has(tenant));
}

const decoderMode = modeNumber('decodeUplink', 'marked');

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The main thread's side: sees a run that is stuck in a builtin, which no limit ends. */
export class LocalScriptsWatch {
  readonly #view: RecorderView;
  readonly #silence: SilenceClock;

  constructor({ recorder }: LocalScriptsStart) {
    this.#view = new RecorderView(recorder);
    this.#silence = new SilenceClock(this.#view, localScriptLimits);
  }

  /** The id of the script that is stuck; undefined while none is. Call periodically. */
  stuck(now: number): number | undefined {
    return this.#silence.isTooLong(now) ? this.#view.run : undefined;
  }
}

// Quick scripts: which scripts may run in the thread that received their event, judged by their runs so far.

/** Runs that are looked at, and how many of them may be slow: compiling its code and collecting garbage make some so. */
const runsSeen = 64;
const slowMax = 4;
const refusedMs = 3_600_000;
const tenantsMax = 5_000;
const scriptsPerTenant = 100;

interface Runs {
  seen: number;
  slow: number;
  refusedUntil: number;
  refusals: number;
}

export class QuickScripts {
  readonly #runs = createBoundedMap<string, Map<string, Runs>>(tenantsMax);
  readonly #now: () => number;

  /** The clock is monotonic, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a run by its processor time, which a busy machine does not lengthen. One that leaves a state, or gets one, needs the order of its device. */
  note({ tenant, code }: UplinkScript, processorMs: number, hasState: boolean): void {
    const runs = this.#of(tenant, code);
    if (hasState) {
      this.#refuse(runs);
      return;
    }
    if (runs.seen === runsSeen) {
      runs.seen /= 2;
      runs.slow /= 2;
    }
    runs.seen++;
    if (processorMs > localScriptLimits.quickMs) runs.slow++;
  }

  isQuick({ tenant, code }: UplinkScript): boolean {
    if (code.length > localScriptLimits.sourceCharsMax) return false;
    const runs = this.#runs.get(tenant)?.get(code);
    if (runs === undefined || runs.seen < runsSeen / 2 || runs.slow > slowMax) return false;
    return this.#now() >= runs.refusedUntil;
  }

  /** The script took too long, or used a state: for an hour, and twice as long each time. */
  refuse({ tenant, code }: UplinkScript): void {
    this.#refuse(this.#of(tenant, code));
  }

  #refuse(runs: Runs): void {
    runs.refusedUntil = this.#now() + refusedMs * 2 ** Math.min(runs.refusals++, 10);
    runs.seen = 0;
    runs.slow = 0;
  }

  #of(tenant: string, code: string): Runs {
    const ofTenant = this.#runs.get(tenant) ?? new Map<string, Runs>();
    this.#runs.set(tenant, ofTenant);
    const known = ofTenant.get(code);
    if (known !== undefined) return known;
    // Of a tenant that tries many, only the newest count.
    if (ofTenant.size >= scriptsPerTenant) ofTenant.delete(ofTenant.keys().next().value ?? '');
    const runs = { seen: 0, slow: 0, refusedUntil: Number.NEGATIVE_INFINITY, refusals: 0 };
    ofTenant.set(code, runs);
    return runs;
  }
}
