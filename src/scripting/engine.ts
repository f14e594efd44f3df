// One engine: a WebAssembly instance whose memory is put back to a known image before each run, so that no run sees another.
import type { ScriptErrorEvent } from './emit.ts';
import * as border from './guest.ts';
import {
  createGuestMemory,
  type GuestMemory,
  type MemoryImage,
  type MemoryLayout,
  type ScriptImage,
} from './guest-memory.ts';
import { createIntlHost } from './intl-host.ts';
import type { ScriptLimits } from './script-limits.ts';
import type { ProvidedModuleName } from './provided-modules.ts';
import { instantiateQuickJs, type Pointer, type QuickJs } from './quickjs.ts';
import type { RunRecorder } from './run-recorder.ts';
import { errorEntry, scriptError } from './script-error.ts';
import { type AnalysedScript, type CodecEntry, codecEntries } from './source-analysis.ts';

export interface CompiledScript {
  readonly image: ScriptImage;
  readonly script: AnalysedScript;
}

/** How a run is entered: codecs have three entries; scripts with `consume` have one. */
export interface RunMode {
  readonly entry: CodecEntry;
  /** Whether numbers that are not finite are null and told by their paths, or texts such as "NaN" (contract 16). */
  readonly nonFinite: 'text' | 'marked';
}

export function modeNumber({ entry, nonFinite }: RunMode): number {
  return codecEntries.indexOf(entry) * 2 + (nonFinite === 'marked' ? 1 : 0);
}

/** `late`: the limit of CPU time ended it. */
export type RunEnd = 'ended' | 'late';

export interface Engine {
  /** Compiles without running anything of the script. */
  compile(script: AnalysedScript): CompiledScript | { readonly error: ScriptErrorEvent };
  /**
   * Runs once, in memory as it was after compiling; what the script emits goes to the recorder. `clean` wipes every trace
   * of earlier runs, for a change of the tenant. Never throws for anything a script does.
   */
  run(script: CompiledScript, eventText: string, mode: number, clean: boolean): RunEnd;
  /** Whether the instance must be renewed: a run broke it or made its memory grow. */
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

/** Makes an engine with its base image; the images with provided modules follow when a script first imports them. */
export async function createEngine(parts: EngineParts): Promise<Engine> {
  const { module, layout, limits, recorder } = parts;
  const watch = createRunWatch(parts);
  let running: AnalysedScript | undefined;
  let memory: GuestMemory;
  let js: QuickJs;
  let worn = false;

  const renew = async (): Promise<void> => {
    const instance = await instantiateQuickJs(module, limits.memoryBytesMax);
    js = instance.js;
    memory = createGuestMemory(instance, layout);
    worn = false;
    js.callbacks = hostCalls(
      () => js,
      () => guest,
      () => running!,
      recorder,
      watch,
    );
  };
  let guest = {} as border.Guest;
  await renew();
  guest = border.buildGuest(js!, limits);
  js!._QTS_RuntimeSetMemoryLimit(guest.runtime, limits.heapBytesMax);
  js!._QTS_RuntimeEnableInterruptHandler(guest.runtime);
  const images = new Map<string, MemoryImage>([['', memory!.capture()]]);

  const imageWith = (modules: readonly ProvidedModuleName[]): MemoryImage => {
    const key = modules.join();
    let image = images.get(key);
    if (image === undefined) {
      memory.reset(images.get('')!);
      border.addModules(js, guest, modules);
      image = memory.capture();
      images.set(key, image);
    }
    return image;
  };

  return {
    get worn() {
      return worn;
    },
    renew,
    compile(script) {
      try {
        watch.release();
        const base = imageWith(script.modules);
        memory.reset(base);
        const compiled = border.evaluate(js, guest, script.code, guest.scriptFile);
        const exception = border.exceptionOf(js, guest, compiled);
        if (exception !== undefined)
          return { error: scriptError(exception.message, exception.stack, script) };
        const list = border.newString(js, guest, JSON.stringify(script.bindings));
        border.callGuest(js, guest, guest.install, [
          compiled,
          border.newString(js, guest, script.dialect),
          list,
        ]);
        return { image: memory.difference(base), script };
      } catch (error) {
        worn = true;
        return { error: { message: engineFailure(error) } };
      } finally {
        worn ||= memory.heapBytes() > limits.memoryBytesKept;
      }
    },
    run({ image, script }, eventText, mode, clean) {
      memory.restore(image, clean);
      running = script;
      watch.start();
      try {
        const text = border.newString(js, guest, eventText);
        const unread = border.exceptionOf(
          js,
          guest,
          border.callGuest(js, guest, guest.take, [text]),
        );
        // Reading a long event is not the script's work.
        watch.start();
        if (unread === undefined)
          settle(js, guest, border.callGuest(js, guest, guest.run, [guest.modes[mode]!]), watch);
        else watch.fail(`The event cannot be read: ${unread.message}`);
      } catch (error) {
        worn = true;
        watch.fail(engineFailure(error));
      }
      if (watch.error !== undefined) recorder.appendText(errorEntry({ message: watch.error }));
      worn ||= memory.heapBytes() > limits.memoryBytesKept;
      return watch.isLate ? 'late' : 'ended';
    },
  };
}

const jobsAtOnce = 64;

/** Runs what a promise still has to do, until nothing is left or the run was stopped. */
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

/** What keeps one run within its limits. */
interface RunWatch {
  /** From now on the limits hold. */
  start(): void;
  /** From now on nothing is limited: what is built is ours. */
  release(): void;
  /** Whether the run is to end; nothing that it still emits counts. */
  readonly stopped: boolean;
  /** Why the host ended it, when it did. */
  readonly error: string | undefined;
  /** Whether the limit of CPU time ended it. */
  readonly isLate: boolean;
  /** Ends the run; its error was already told. */
  stop(): void;
  /** Ends the run with an error. */
  fail(message: string): void;
  /** Called by the engine every some thousand steps. */
  poll(): boolean;
}

function createRunWatch({ limits, cpuMs, recorder }: EngineParts): RunWatch {
  let limited = false;
  let stopped = false;
  let error: string | undefined;
  let isLate = false;
  let startedAt = 0;
  let cpuAtStart: number | undefined;
  const fail = (message: string): void => {
    if (stopped) return;
    stopped = true;
    error = message;
  };
  return {
    get stopped() {
      return stopped;
    },
    get error() {
      return error;
    },
    get isLate() {
      return isLate;
    },
    release() {
      limited = false;
      stopped = false;
    },
    start() {
      limited = true;
      stopped = false;
      error = undefined;
      isLate = false;
      cpuAtStart = undefined;
      startedAt = performance.now();
    },
    stop() {
      stopped = true;
    },
    fail,
    // The limit is CPU time, so that a busy machine does not end innocent runs. Asking for it is dear, so the clock is
    // looked at first; what passed until the first poll counts as it stands on the clock, unless the clock alone would
    // end the run: the machine may have stood still meanwhile.
    poll() {
      recorder.beat();
      if (!limited) return false;
      const passed = performance.now() - startedAt;
      if (passed < limits.cpuMs && cpuAtStart !== undefined) return stopped;
      cpuAtStart ??= passed < limits.cpuMs ? cpuMs() - passed : cpuMs();
      if (!stopped && cpuMs() - cpuAtStart > limits.cpuMs) {
        isLate = true;
        fail(`The script was ended after ${limits.cpuMs} ms`);
      }
      return stopped;
    },
  };
}

function hostCalls(
  js: () => QuickJs,
  guest: () => border.Guest,
  script: () => AnalysedScript,
  recorder: RunRecorder,
  watch: RunWatch,
): QuickJs['callbacks'] {
  const intl = createIntlHost();
  const textOf = (argv: Pointer, index: number): string =>
    border.readText(js(), pointerTo(argv, index));
  const pointerTo = (argv: Pointer, index: number): Pointer => {
    const at = js()._QTS_GetString(
      guest().context,
      js()._QTS_ArgvGetJSValueConstPointer(argv, index),
    );
    if (at === 0) throw new Error('out of memory');
    return at;
  };
  const record = (argv: Pointer): void => {
    const at = pointerTo(argv, 0);
    const { HEAPU8 } = js();
    if (!recorder.append(HEAPU8, at, HEAPU8.indexOf(0, at)))
      watch.fail('The script emitted more than 1 MB');
  };
  const fail = (argv: Pointer): void => {
    const ends =
      js()._QTS_GetFloat64(guest().context, js()._QTS_ArgvGetJSValueConstPointer(argv, 2)) === 1;
    recorder.appendText(errorEntry(scriptError(textOf(argv, 0), textOf(argv, 1), script())));
    if (ends) watch.stop();
  };
  const answer = (argv: Pointer, id: number): Pointer => {
    if (id === border.hostCallIds.entropy)
      return js()._QTS_NewFloat64(guest().context, Math.random());
    // Calls of the host are few and their work is long, so each counts as a sign of life and a look at the limits.
    watch.poll();
    if (id === border.hostCallIds.intl && !watch.stopped) {
      const text = intl(textOf(argv, 0), textOf(argv, 1), textOf(argv, 2), textOf(argv, 3));
      return border.newString(js(), guest(), text);
    }
    if (id === border.hostCallIds.record && !watch.stopped) record(argv);
    else if (id === border.hostCallIds.fail && !watch.stopped) fail(argv);
    return watch.stopped && id !== border.hostCallIds.intl
      ? js()._QTS_NewFloat64(guest().context, 1)
      : 0;
  };
  return {
    callFunction(_asyncify, _context, _self, _argc, argv, id) {
      try {
        return answer(argv, id);
      } catch (error) {
        watch.fail(engineFailure(error));
        return 0;
      }
    },
    shouldInterrupt: () => (watch.poll() ? 1 : 0),
    freeHostRef: () => undefined,
  };
}

// A trap of the instance or a stack that ran out in the host; the instance is thrown away.
function engineFailure(error: unknown): string {
  return `The script broke its engine: ${error instanceof Error ? error.message : String(error)}`;
}
