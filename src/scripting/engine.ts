// Script engine: a WebAssembly instance whose memory is restored to a known image before each run, so that runs are isolated.
import type { ScriptErrorEvent } from './emit.ts';
import * as border from './guest.ts';
import {
  createGuestMemory,
  type GuestMemory,
  type MemoryImage,
  type MemoryLayout,
  type ScriptImage,
} from './guest-memory.ts';
import { createHostCalls, engineFailure } from './host-calls.ts';
import type { ScriptLimits } from './script-limits.ts';
import type { GuestModule } from './provided-modules.ts';
import { instantiateQuickJs, type Pointer, type QuickJs } from './quickjs.ts';
import type { RunRecorder } from './run-recorder.ts';
import { errorEntry, scriptError } from './script-error.ts';
import { createRunWatch, type RunWatch } from './run-watch.ts';
import { type CodecEntry, codecEntries } from './module-syntax.ts';
import type { AnalyzedScript } from './source-analysis.ts';

export interface CompiledScript {
  readonly image: ScriptImage;
  readonly script: AnalyzedScript;
}

/** The entry point of a run: codecs have several, scripts with `consume` have one. */
export interface RunMode {
  readonly entry: CodecEntry;
  /**
   * Numbers that are not finite: null with their paths reported, or strings such as "NaN" (contract
   * 16).
   */
  readonly nonFinite: 'text' | 'marked';
}

export function modeNumber({ entry, nonFinite }: RunMode): number {
  return codecEntries.indexOf(entry) * 2 + (nonFinite === 'marked' ? 1 : 0);
}

/** `late`: the limit of CPU time ended the run. */
export type RunEnd = 'ended' | 'late';

export interface Engine {
  /** Compiles the script without running it. */
  compile(script: AnalyzedScript): CompiledScript | { readonly error: ScriptErrorEvent };
  /**
   * Runs once, in memory as it was after compiling. The recorder gets what the script emits.
   * `clean` removes every trace of earlier runs; use it when the tenant changes. Does not throw for
   * anything that a script does.
   */
  run(script: CompiledScript, eventText: string, mode: number, clean: boolean): RunEnd;
  /** The instance must be renewed: a run broke it or made its memory grow. */
  readonly worn: boolean;
  renew(): Promise<void>;
}

export interface EngineParts {
  readonly module: WebAssembly.Module;
  readonly layout: MemoryLayout;
  readonly limits: ScriptLimits;
  readonly recorder: RunRecorder;
  /** CPU time of this thread in milliseconds. */
  readonly cpuMs: () => number;
}

/** The instance, which is replaced when it is worn, and what belongs to it. */
interface EngineState extends EngineParts {
  readonly watch: RunWatch;
  /** By the names of their provided modules; '' for the base image. */
  readonly images: Map<string, MemoryImage>;
  guest: border.Guest;
  js: QuickJs;
  memory: GuestMemory;
  running: AnalyzedScript | undefined;
  worn: boolean;
}

/**
 * Creates an engine with its base image. The images with provided modules follow when a script
 * first imports them.
 */
export async function createEngine(parts: EngineParts): Promise<Engine> {
  const instance = await instantiate(parts);
  const engine: EngineState = {
    ...parts,
    ...instance,
    watch: createRunWatch(parts),
    images: new Map(),
    guest: {} as border.Guest,
    running: undefined,
    worn: false,
  };
  connect(engine);
  engine.guest = border.buildGuest(engine.js, parts.limits);
  engine.js._QTS_RuntimeSetMemoryLimit(engine.guest.runtime, parts.limits.heapBytesMax);
  engine.js._QTS_RuntimeEnableInterruptHandler(engine.guest.runtime);
  const base = engine.memory.capture();
  engine.images.set('', base);
  return {
    get worn() {
      return engine.worn;
    },
    async renew() {
      Object.assign(engine, await instantiate(parts), { worn: false });
      connect(engine);
    },
    compile: (script) => compile(engine, base, script),
    run: (script, eventText, mode, clean) => run(engine, script, { eventText, mode, clean }),
  };
}

async function instantiate({ module, layout, limits }: EngineParts) {
  const instance = await instantiateQuickJs(module, limits.memoryBytesMax);
  return { js: instance.js, memory: createGuestMemory(instance, layout) };
}

/** Answers the calls of the present instance. */
function connect(engine: EngineState): void {
  const { js, recorder, watch } = engine;
  js.callbacks = createHostCalls({
    js,
    guest: () => engine.guest,
    script: () => internal(engine.running),
    recorder,
    watch,
  });
}

function internal<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no script is running');
  return value;
}

/** The image with the provided modules. */
function imageWith(
  { images, memory, js, guest }: EngineState,
  base: MemoryImage,
  modules: readonly GuestModule[],
): MemoryImage {
  const key = modules.join();
  const known = images.get(key);
  if (known !== undefined) return known;
  memory.reset(base);
  border.addModules(js, guest, modules);
  const image = memory.capture();
  images.set(key, image);
  return image;
}

function compile(
  engine: EngineState,
  base: MemoryImage,
  script: AnalyzedScript,
): ReturnType<Engine['compile']> {
  const { js, guest, memory, watch } = engine;
  try {
    watch.release();
    const image = imageWith(engine, base, script.modules);
    memory.reset(image);
    const { dialect, locals, bindings } = script;
    border.callGuest(js, guest, guest.prepare, [
      border.newString(js, guest, dialect),
      border.newString(js, guest, JSON.stringify({ locals, bindings })),
    ]);
    const how = dialect === 'codec' ? 'awaiting' : 'at once';
    const compiled = border.evaluate(js, guest, script.code, guest.scriptFile, how);
    const exception = border.exceptionOf(js, guest, compiled);
    if (exception !== undefined)
      return { error: scriptError(exception.message, exception.stack, script) };
    border.callGuest(js, guest, guest.install, [compiled]);
    return { image: memory.difference(image), script };
  } catch (error) {
    engine.worn = true;
    return { error: { message: engineFailure(error) } };
  } finally {
    noteWear(engine);
  }
}

interface RunRequest {
  readonly eventText: string;
  readonly mode: number;
  readonly clean: boolean;
}

function run(engine: EngineState, { image, script }: CompiledScript, request: RunRequest): RunEnd {
  const { memory, watch, recorder } = engine;
  memory.restore(image, request.clean);
  engine.running = script;
  watch.start();
  try {
    enter(engine, request);
  } catch (error) {
    engine.worn = true;
    watch.fail(engineFailure(error));
  }
  if (watch.error !== undefined) recorder.appendText(errorEntry({ message: watch.error }));
  noteWear(engine);
  return watch.isLate ? 'late' : 'ended';
}

function enter({ js, guest, watch }: EngineState, { eventText, mode }: RunRequest): void {
  const text = border.newString(js, guest, eventText);
  const unread = border.exceptionOf(js, guest, border.callGuest(js, guest, guest.take, [text]));
  // The time to read a long event is not charged to the script.
  watch.start();
  if (unread !== undefined) {
    watch.fail(`Invalid event: ${unread.message}`);
    return;
  }
  const result = border.callGuest(js, guest, guest.run, [guest.modes[mode]!]);
  settle(js, guest, result, watch);
}

function noteWear(engine: EngineState): void {
  engine.worn ||= engine.memory.heapBytes() > engine.limits.memoryBytesKept;
}

const jobsAtOnce = 64;

/** Runs the pending jobs of promises until none is left or the run was stopped. */
function settle(js: QuickJs, guest: border.Guest, result: Pointer, watch: RunWatch): void {
  let exception = border.exceptionOf(js, guest, result);
  while (exception === undefined && !watch.stopped && js._QTS_IsJobPending(guest.runtime) !== 0) {
    exception = border.exceptionOf(
      js,
      guest,
      js._QTS_ExecutePendingJob(guest.runtime, jobsAtOnce, guest.argv),
    );
  }
  if (exception !== undefined && !watch.stopped) watch.fail(exception.message);
  if (!watch.stopped) border.callGuest(js, guest, guest.unsettled, []);
}
