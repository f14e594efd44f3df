// The script worker's thread: takes batches of runs, compiles what it does not know, runs, and answers.
import { parentPort, workerData } from 'node:worker_threads';
import type { ScriptErrorEvent } from './emit.ts';
import { createEngine, type Engine } from './engine.ts';
import { createRunRecorder, recorderPhases } from './run-recorder.ts';
import { createScriptCache, type CachedScript } from './script-cache.ts';
import { errorEntry } from './script-error.ts';
import { analyseSource } from './source-analysis.ts';
import {
  checkOnly,
  type FromWorker,
  runItems,
  type RunOutcome,
  type ToWorker,
  type WorkerStart,
} from './worker-messages.ts';

const start = workerData as WorkerStart;
const port = parentPort!;
const recorder = createRunRecorder(start.recorder);
const scripts = createScriptCache(start.limits.imageCacheBytesMax);

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

type Compiled = CachedScript['compiled'] & object;

/** Throws SourceTooLong. */
function compile(engine: Engine, source: string, compileCpuMs: number): Compiled {
  const analysed = analysedInTime(source, compileCpuMs);
  if ('error' in analysed) return analysed;
  recorder.beat();
  return engine.compile(analysed);
}

/** A source that takes longer to compile than any tenant may keep a thread for. */
class SourceTooLong extends Error {
  override readonly name = 'SourceTooLong';
}

function analysedInTime(source: string, compileCpuMs: number) {
  const startedAt = cpuMs();
  return analyseSource(source, () => {
    recorder.beat();
    if (cpuMs() - startedAt <= compileCpuMs) return;
    throw new SourceTooLong(
      `The script takes more than ${compileCpuMs} ms to compile: make it smaller`,
    );
  });
}

/** What is wrong with a source, found without running it: its errors as a JSON array. */
function errorsOf(engine: Engine, source: string): string {
  try {
    const analysed = analysedInTime(source, start.limits.compileCpuMs);
    const compiled = 'error' in analysed ? analysed : engine.compile(analysed);
    const errors: ScriptErrorEvent[] = 'error' in compiled ? [compiled.error] : [];
    if (!('error' in analysed) && analysed.dialect === 'consume' && !analysed.declaresConsume) {
      errors.push({ message: 'The script must define the function consume(event)' });
    }
    return JSON.stringify(errors);
  } catch (error) {
    if (error instanceof SourceTooLong) return JSON.stringify([{ message: error.message }]);
    throw error;
  }
}

/** The entries of a run as a JSON array, and how it ended. */
type Ended = [entries: string, end: RunOutcome];

/** A run as it was asked for. */
interface Asked {
  readonly run: number;
  readonly mode: number;
  readonly event: string;
  readonly compileCpuMs: number;
}

function refusalOf(error: unknown): SourceTooLong {
  if (error instanceof SourceTooLong) return error;
  throw error;
}

/** Serves messages one after the other: an engine that is renewed must be waited for. */
function serve(engine: Engine): (message: ToWorker) => Promise<void> {
  let lastTenant: string | undefined;

  const compiledOf = async (
    run: number,
    script: CachedScript,
    compileCpuMs: number,
  ): Promise<Compiled> => {
    if (script.compiled === undefined) {
      recorder.begin(run, recorderPhases.compiling);
      try {
        script.compiled = compile(engine, script.source, compileCpuMs);
      } finally {
        recorder.end();
      }
      // What compiling left in memory is its tenant's.
      lastTenant = undefined;
      if (engine.worn) await engine.renew();
    }
    return script.compiled;
  };

  const runCompiled = (
    script: CachedScript,
    compiled: Compiled,
    { run, mode, event }: Asked,
  ): Ended => {
    if ('error' in compiled) return [`[${errorEntry(compiled.error)}]`, 'ended'];
    recorder.begin(run, recorderPhases.running);
    const end = engine.run(compiled, event, mode, script.tenant !== lastTenant);
    recorder.end();
    lastTenant = script.tenant;
    return [recorder.text(), end];
  };

  const runNew = async (script: CachedScript, asked: Asked): Promise<Ended> => {
    const compiled = await compiledOf(asked.run, script, asked.compileCpuMs).catch(refusalOf);
    if (compiled instanceof SourceTooLong)
      return [`[${errorEntry({ message: compiled.message })}]`, 'refused'];
    return runCompiled(script, compiled, asked);
  };

  // Most runs have nothing to wait for, and a promise for each would cost more than the rest of this file.
  const runOne = (script: CachedScript, asked: Asked): Ended | Promise<Ended> =>
    script.compiled === undefined
      ? runNew(script, asked)
      : runCompiled(script, script.compiled, asked);

  const checkOne = (run: number, source: string): Ended => {
    recorder.begin(run, recorderPhases.compiling);
    const text = errorsOf(engine, source);
    recorder.end();
    lastTenant = undefined;
    return [text, 'ended'];
  };

  const runBatch = async ({ runs, compileCpuMs }: ToWorker): Promise<void> => {
    const startedAt = performance.now();
    let before = startedAt;
    let answered = { at: startedAt, cpu: cpuMs() };
    let results: (number | string)[] = [];
    let ends: [number, RunOutcome][] = [];
    const returned: number[] = [];
    /** Durations are those of the clock; how much of them the thread really ran is told once for all. */
    const answerWith = (rest: {
      last: boolean;
      returned: readonly number[];
      forgotten: readonly number[];
    }): void => {
      const cpu = cpuMs();
      const passed = performance.now() - answered.at;
      answer({
        results,
        ends,
        cpuShare: passed > 0 ? Math.min(1, (cpu - answered.cpu) / passed) : 1,
        ...rest,
      });
      results = [];
      ends = [];
      answered = { at: performance.now(), cpu };
    };
    for (let i = 0; i < runs.length; i += runItems) {
      const run = runs[i] as number;
      const id = runs[i + 1] as number;
      const script = scripts.get(id);
      const unknown = script === undefined && id !== checkOnly;
      if (unknown || (before - startedAt > start.limits.batchMsMax && i > 0)) {
        returned.push(run);
        continue;
      }
      const asked = {
        run,
        mode: runs[i + 2] as number,
        event: runs[i + 3] as string,
        compileCpuMs,
      };
      const ended = script === undefined ? checkOne(run, asked.event) : runOne(script, asked);
      const [text, end] = ended instanceof Promise ? await ended : ended;
      if (engine.worn) await engine.renew();
      const now = performance.now();
      results.push(run, text, now - before);
      if (end !== 'ended') ends.push([run, end]);
      before = now;
      // Nobody waits for another one's slow script.
      if (now - answered.at > answerAfterMs && i + runItems < runs.length) {
        answerWith({ last: false, returned: [], forgotten: [] });
      }
    }
    answerWith({ last: true, returned, forgotten: scripts.trim() });
  };

  return async (message) => {
    for (const { id, tenant, source } of message.scripts) scripts.add(id, tenant, source);
    await runBatch(message);
  };
}

const answerAfterMs = 2;

function answer(message: FromWorker): void {
  port.postMessage(message);
}

const handle = serve(await createEngine({ ...start, recorder, cpuMs }));
let work = Promise.resolve();
port.on('message', (message: ToWorker) => {
  work = work.then(() => handle(message));
});
answer('ready');
