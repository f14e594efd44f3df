// Script worker: receives batches of runs, compiles new scripts, runs them and answers.
import { parentPort, workerData } from 'node:worker_threads';
import type { ScriptErrorEvent } from './emit.ts';
import { type CompiledScript, createEngine, type Engine } from './engine.ts';
import { createRunRecorder, recorderPhases } from './run-recorder.ts';
import { errorEntry } from './script-error.ts';
import { analyzeSource } from './source-analysis.ts';
import {
  checkOnly,
  type FromWorker,
  runItems,
  type RunOutcome,
  type ToWorker,
  type WorkerStart,
} from './worker-messages.ts';

// Compiled scripts of one worker, the least recently used forgotten when their images need too much memory.

/** A script that was registered: not compiled yet, compiled, or refused with an error. */
interface CachedScript {
  readonly tenant: string;
  readonly source: string;
  compiled: CompiledScript | { readonly error: ScriptErrorEvent } | undefined;
}

/**
 * Makes a cache that keeps images and sources of `bytesMax` altogether, and at least the script
 * used last.
 */
class ScriptCache {
  readonly #bytesMax: number;
  // A Map keeps the order of insertion: a script that is used is put at its end.
  readonly #scripts = new Map<number, CachedScript>();
  readonly #counted = new Map<number, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(id: number, tenant: string, source: string): void {
    this.#scripts.set(id, { tenant, source, compiled: undefined });
  }

  /** The script, which is now the most recently used one. */
  get(id: number): CachedScript | undefined {
    const script = this.#scripts.get(id);
    if (script === undefined) return undefined;
    this.#scripts.delete(id);
    this.#scripts.set(id, script);
    return script;
  }

  /** Evicts what is too much, and returns these scripts. */
  trim(): number[] {
    const forgotten: number[] = [];
    for (const [id, script] of this.#scripts) {
      if (!this.#counted.has(id) && script.compiled !== undefined) {
        const size = bytesOf(script);
        this.#counted.set(id, size);
        this.#bytes += size;
      }
    }
    for (const id of this.#scripts.keys()) {
      if (this.#bytes <= this.#bytesMax || this.#scripts.size === 1) break;
      this.#forget(id);
      forgotten.push(id);
    }
    return forgotten;
  }

  #forget(id: number): void {
    this.#bytes -= this.#counted.get(id) ?? 0;
    this.#counted.delete(id);
    this.#scripts.delete(id);
  }
}

// The rest is objects and the wrapped copy of the source.
const overheadBytes = 1_024;

function bytesOf({ source, compiled }: CachedScript): number {
  const bytes = overheadBytes + source.length;
  if (compiled === undefined || 'error' in compiled) return bytes;
  return bytes + compiled.image.bytes + source.length;
}

const start = workerData as WorkerStart;
if (parentPort === null) throw new Error('The script worker must run in a worker thread');
const port = parentPort;
const recorder = createRunRecorder(start.recorder);
const scripts = new ScriptCache(start.limits.imageCacheBytesMax);

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

type Compiled = CachedScript['compiled'] & object;

/** Throws SourceTooLong. */
function compile(engine: Engine, source: string, compileCpuMs: number): Compiled {
  const analyzed = analyzedInTime(source, compileCpuMs);
  if ('error' in analyzed) return analyzed;
  recorder.beat();
  return engine.compile(analyzed);
}

/** A source that takes longer to compile than a tenant may occupy a thread. */
class SourceTooLong extends Error {
  override readonly name = 'SourceTooLong';
}

function analyzedInTime(source: string, compileCpuMs: number) {
  const startedAt = cpuMs();
  return analyzeSource(source, () => {
    recorder.beat();
    if (cpuMs() - startedAt <= compileCpuMs) return;
    throw new SourceTooLong(
      `The script takes longer than ${compileCpuMs} ms to compile. Make it smaller.`,
    );
  });
}

/** The errors of a source as a JSON array, found without running it. */
function errorsOf(engine: Engine, source: string): string {
  try {
    const analyzed = analyzedInTime(source, start.limits.compileCpuMs);
    if ('error' in analyzed) return JSON.stringify([analyzed.error]);
    const errors: ScriptErrorEvent[] = [];
    const compiled = engine.compile(analyzed);
    if ('error' in compiled) errors.push(compiled.error);
    if (analyzed.dialect === 'consume' && !analyzed.declaresConsume)
      errors.push({ message: 'The script must define the function consume(event)' });
    return JSON.stringify(errors);
  } catch (error) {
    if (error instanceof SourceTooLong) return JSON.stringify([{ message: error.message }]);
    throw error;
  }
}

/** The entries of a run as a JSON array, and how it ended. */
type Ended = readonly [entries: string, end: RunOutcome];

/** A run as the main thread sent it. */
interface RunRequest {
  readonly run: number;
  readonly mode: number;
  readonly event: string;
  readonly compileCpuMs: number;
}

interface WorkerState {
  readonly engine: Engine;
  /**
   * The tenant that left traces in memory; undefined after compiling, whose traces are those of any
   * tenant.
   */
  lastTenant: string | undefined;
}

function refusalOf(error: unknown): SourceTooLong {
  if (error instanceof SourceTooLong) return error;
  throw error;
}

async function compiledOf(
  state: WorkerState,
  script: CachedScript,
  { run, compileCpuMs }: RunRequest,
): Promise<Compiled> {
  if (script.compiled !== undefined) return script.compiled;
  recorder.begin(run, recorderPhases.compiling);
  try {
    script.compiled = compile(state.engine, script.source, compileCpuMs);
  } finally {
    recorder.end();
  }
  state.lastTenant = undefined;
  if (state.engine.worn) await state.engine.renew();
  return script.compiled;
}

function runCompiled(
  state: WorkerState,
  script: CachedScript,
  compiled: Compiled,
  { run, mode, event }: RunRequest,
): Ended {
  if ('error' in compiled) return [`[${errorEntry(compiled.error)}]`, 'ended'];
  recorder.begin(run, recorderPhases.running);
  const end = state.engine.run(compiled, event, mode, script.tenant !== state.lastTenant);
  recorder.end();
  state.lastTenant = script.tenant;
  return [recorder.text(), end];
}

async function runNew(
  state: WorkerState,
  script: CachedScript,
  request: RunRequest,
): Promise<Ended> {
  const compiled = await compiledOf(state, script, request).catch(refusalOf);
  if (compiled instanceof SourceTooLong)
    return [`[${errorEntry({ message: compiled.message })}]`, 'refused'];
  return runCompiled(state, script, compiled, request);
}

function check(state: WorkerState, { run, event: source }: RunRequest): Ended {
  recorder.begin(run, recorderPhases.compiling);
  const text = errorsOf(state.engine, source);
  recorder.end();
  state.lastTenant = undefined;
  return [text, 'ended'];
}

/** Most runs wait for nothing. A promise for each would cost more than the rest of this file. */
function runOne(
  state: WorkerState,
  script: CachedScript | undefined,
  request: RunRequest,
): Ended | Promise<Ended> {
  if (script === undefined) return check(state, request);
  if (script.compiled === undefined) return runNew(state, script, request);
  return runCompiled(state, script, script.compiled, request);
}

type Answer = Exclude<FromWorker, 'ready'>;

/**
 * Results that are not sent yet. Durations are wall-clock time. The share of it that was CPU
 * time is measured once per answer.
 */
class Results {
  #results: (number | string)[] = [];
  #ends: [number, RunOutcome][] = [];
  #sentAt = performance.now();
  #sentCpu = cpuMs();

  add(run: number, entries: string, ms: number, end: RunOutcome): void {
    this.#results.push(run, entries, ms);
    if (end !== 'ended') this.#ends.push([run, end]);
  }

  send(rest: Pick<Answer, 'last' | 'returned' | 'forgotten'>): void {
    const cpu = cpuMs();
    answer({ results: this.#results, ends: this.#ends, cpuShare: this.#cpuShare(cpu), ...rest });
    this.#results = [];
    this.#ends = [];
    this.#sentAt = performance.now();
    this.#sentCpu = cpu;
  }

  #cpuShare(cpu: number): number {
    const passed = performance.now() - this.#sentAt;
    return passed > 0 ? Math.min(1, (cpu - this.#sentCpu) / passed) : 1;
  }
}

async function runBatch(state: WorkerState, { runs, compileCpuMs }: ToWorker): Promise<void> {
  const { engine } = state;
  const results = new Results();
  const returned: number[] = [];
  const startedAt = performance.now();
  let sentAt = startedAt;
  let before = startedAt;
  for (let i = 0; i < runs.length; i += runItems) {
    const [run, id, mode, event] = runs.slice(i, i + runItems) as [number, number, number, string];
    const script = scripts.get(id);
    const isUnknown = script === undefined && id !== checkOnly;
    const isLate = i > 0 && before - startedAt > start.limits.batchMsMax;
    if (isUnknown || isLate) {
      returned.push(run);
      continue;
    }
    const ended = runOne(state, script, { run, mode, event, compileCpuMs });
    const [text, end] = ended instanceof Promise ? await ended : ended;
    if (engine.worn) await engine.renew();
    const now = performance.now();
    results.add(run, text, now - before, end);
    before = now;
    // Finished runs do not wait for a slow script of another tenant.
    if (now - sentAt <= answerAfterMs || i + runItems >= runs.length) continue;
    results.send({ last: false, returned: [], forgotten: [] });
    sentAt = performance.now();
  }
  results.send({ last: true, returned, forgotten: scripts.trim() });
}

/** Handles messages one at a time, because an engine that is renewed must be awaited. */
function createHandler(engine: Engine): (message: ToWorker) => Promise<void> {
  const state: WorkerState = { engine, lastTenant: undefined };
  return async (message) => {
    for (const { id, tenant, source } of message.scripts) scripts.add(id, tenant, source);
    await runBatch(state, message);
  };
}

const answerAfterMs = 2;

function answer(message: FromWorker): void {
  port.postMessage(message);
}

const handle = createHandler(await createEngine({ ...start, recorder, cpuMs }));
let work = Promise.resolve();
port.on('message', (message: ToWorker) => {
  work = work.then(() => handle(message));
});
answer('ready');
