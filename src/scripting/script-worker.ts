// The script worker's thread: takes batches of runs, compiles what it does not know, runs, and answers.
import { parentPort, workerData } from 'node:worker_threads';
import type { ScriptErrorEvent } from './emit.ts';
import { createEngine, type Engine } from './engine.ts';
import { createRunRecorder, recorderPhases } from './run-recorder.ts';
import { createScriptCache, type CachedScript } from './script-cache.ts';
import { errorEntry } from './script-error.ts';
import { analyseSource } from './source-analysis.ts';
import { checkOnly, type FromWorker, runItems, type ToWorker, type WorkerStart } from './worker-messages.ts';

const start = workerData as WorkerStart;
const port = parentPort!;
const recorder = createRunRecorder(start.recorder);
const scripts = createScriptCache(start.limits.imageCacheBytesMax);

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function compile(engine: Engine, source: string): CachedScript['compiled'] & object {
  const analysed = analyseSource(source);
  return 'error' in analysed ? analysed : engine.compile(analysed);
}

/** What is wrong with a source, found without running it: its errors as a JSON array. */
function errorsOf(engine: Engine, source: string): string {
  const analysed = analyseSource(source);
  const compiled = 'error' in analysed ? analysed : engine.compile(analysed);
  const errors: ScriptErrorEvent[] = 'error' in compiled ? [compiled.error] : [];
  if (!('error' in analysed) && analysed.dialect === 'consume' && !analysed.declaresConsume) {
    errors.push({ message: 'The script must define the function consume(event)' });
  }
  return JSON.stringify(errors);
}

/** Serves messages one after the other: an engine that is renewed must be waited for. */
function serve(engine: Engine): (message: ToWorker) => Promise<void> {
  let lastTenant: string | undefined;

  const compiledOf = async (run: number, script: CachedScript): Promise<CachedScript['compiled'] & object> => {
    if (script.compiled === undefined) {
      recorder.begin(run, recorderPhases.compiling);
      script.compiled = compile(engine, script.source);
      recorder.end();
      // What compiling left in memory is its tenant's.
      lastTenant = undefined;
      if (engine.worn) await engine.renew();
    }
    return script.compiled;
  };

  const runOne = async (run: number, script: CachedScript, mode: number, event: string): Promise<string> => {
    const compiled = await compiledOf(run, script);
    if ('error' in compiled) return `[${errorEntry(compiled.error)}]`;
    recorder.begin(run, recorderPhases.running);
    engine.run(compiled, event, mode, script.tenant !== lastTenant);
    recorder.end();
    lastTenant = script.tenant;
    const text = recorder.text();
    if (engine.worn) await engine.renew();
    return text;
  };

  const checkOne = async (run: number, source: string): Promise<string> => {
    recorder.begin(run, recorderPhases.compiling);
    const text = errorsOf(engine, source);
    recorder.end();
    lastTenant = undefined;
    if (engine.worn) await engine.renew();
    return text;
  };

  const textOf = (run: number, script: CachedScript | undefined, mode: number, event: string): Promise<string> =>
    script === undefined ? checkOne(run, event) : runOne(run, script, mode, event);

  const runBatch = async (runs: readonly (number | string)[]): Promise<void> => {
    const startedAt = performance.now();
    let before = startedAt;
    let answeredAt = startedAt;
    let results: (number | string)[] = [];
    const returned: number[] = [];
    for (let i = 0; i < runs.length; i += runItems) {
      const run = runs[i] as number;
      const id = runs[i + 1] as number;
      const script = scripts.get(id);
      const unknown = script === undefined && id !== checkOnly;
      if (unknown || (before - startedAt > start.limits.batchMsMax && i > 0)) {
        returned.push(run);
        continue;
      }
      const text = await textOf(run, script, runs[i + 2] as number, runs[i + 3] as string);
      const now = performance.now();
      results.push(run, text, now - before);
      before = now;
      // Nobody waits for another one's slow script.
      if (now - answeredAt > answerAfterMs && i + runItems < runs.length) {
        answer({ results, last: false, returned: [], forgotten: [] });
        results = [];
        answeredAt = now;
      }
    }
    answer({ results, last: true, returned, forgotten: scripts.trim() });
  };

  return async ({ scripts: added, runs }) => {
    for (const { id, tenant, source } of added) scripts.add(id, tenant, source);
    await runBatch(runs);
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
