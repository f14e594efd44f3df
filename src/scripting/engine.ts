// Script engine: a WebAssembly instance whose memory is restored to a known image before each run, so that runs are isolated.
import { createBoundedMap } from '../structures/caches.ts';
import type { ScriptErrorEvent } from './emit.ts';
import {
  GuestMemory,
  instantiateQuickJs,
  type MemoryImage,
  type MemoryLayout,
  type Pointer,
  type QuickJs,
  type ScriptImage,
} from './quickjs.ts';
import * as border from './guest.ts';
import {
  type AnalyzedScript,
  codecEntries,
  type CodecEntry,
  originalPlace,
  statementAt,
} from './source-analysis.ts';
import type { GuestModule } from './provided-modules.ts';
import type { RunRecorder } from './run-recorder.ts';
import { errorEntry } from './script-error.ts';
import type { ScriptLimits } from './script-limits.ts';

const frame = /\bscript\.js:(\d{1,9}):(\d{1,9})/;

const named = /property '([a-z_$][\w$]{0,99})' of|^ReferenceError: ([a-z_$][\w$]{0,99}) is not/i;

const statementCharsMax = 20_000;

export interface CompiledScript {
  readonly image: ScriptImage;
  readonly script: AnalyzedScript;
}

export function modeNumber(
  entry: CodecEntry /**
   * Numbers that are not finite: null with their paths reported, or strings such as "NaN" (contract
   * 16).
   */,
  nonFinite: 'text' | 'marked',
): number {
  return codecEntries.indexOf(entry) * 2 + (nonFinite === 'marked' ? 1 : 0);
}

/** `late`: the limit of CPU time ended the run. */
type RunEnd = 'ended' | 'late';

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

interface EngineParts {
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
    watch: new RunWatch(parts),
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
  return { js: instance.js, memory: new GuestMemory(instance, layout) };
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

// Host calls: what a script's realm may ask of the host, and the answers.

interface HostCallParts {
  readonly js: QuickJs;
  /** Read at each call, because the guest is built after its callbacks. */
  readonly guest: () => border.Guest;
  /** The script that runs. */
  readonly script: () => AnalyzedScript;
  readonly recorder: RunRecorder;
  readonly watch: RunWatch;
}

function createHostCalls(parts: HostCallParts): QuickJs['callbacks'] {
  const { watch } = parts;
  const intl = createIntlHost();

  function answer(argv: Pointer, id: number): Pointer {
    const { js, guest } = parts;
    if (id === border.hostCallIds.entropy)
      return js._QTS_NewFloat64(guest().context, Math.random());
    // Host calls are few and long: each counts as a heartbeat and checks the limits.
    watch.poll();
    if (id === border.hostCallIds.intl) {
      if (watch.stopped) return 0;
      const text = (index: number): string => readArgument(parts, argv, index);
      return border.newString(js, guest(), intl(text(0), text(1), text(2), text(3)));
    }
    if (id === border.hostCallIds.record && !watch.stopped) record(parts, argv);
    else if (id === border.hostCallIds.fail && !watch.stopped) fail(parts, argv);
    return watch.stopped ? js._QTS_NewFloat64(guest().context, 1) : 0;
  }

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

function record({ js, recorder, watch, ...parts }: HostCallParts, argv: Pointer): void {
  const at = pointerTo({ js, ...parts }, argv, 0);
  const { HEAPU8 } = js;
  if (!recorder.append(HEAPU8, at, HEAPU8.indexOf(0, at)))
    watch.fail('The script emitted more than 1 MB');
}

function fail(parts: HostCallParts, argv: Pointer): void {
  const { js, guest, script, recorder, watch } = parts;
  const ends = js._QTS_GetFloat64(guest().context, js._QTS_ArgvGetJSValueConstPointer(argv, 2));
  const message = readArgument(parts, argv, 0);
  const stack = readArgument(parts, argv, 1);
  recorder.appendText(errorEntry(scriptError(message, stack, script())));
  if (ends === 1) watch.stop();
}

type StringParts = { readonly js: QuickJs; readonly guest: () => border.Guest };

function readArgument(parts: StringParts, argv: Pointer, index: number): string {
  return border.readText(parts.js, pointerTo(parts, argv, index));
}

function pointerTo({ js, guest }: StringParts, argv: Pointer, index: number): Pointer {
  const at = js._QTS_GetString(guest().context, js._QTS_ArgvGetJSValueConstPointer(argv, index));
  if (at === 0) throw new Error('out of memory');
  return at;
}

/** A trap of the instance, or a stack overflow in the host. The instance is discarded. */
function engineFailure(error: unknown): string {
  return `The script engine failed: ${error instanceof Error ? error.message : String(error)}`;
}

// Intl host: answers the Intl calls of scripts, JSON in and out, with a bounded cache of formatters.

/** Formatters in the cache. A script that always creates new ones pays for each. */
const formattersMax = 100;
/** Characters of one call. */
const callCharsMax = 100_000;

type Locales = string | string[] | undefined;
type Options = Record<string, unknown>;

const kinds = {
  DateTimeFormat: (locales: Locales, options: Options) =>
    new Intl.DateTimeFormat(locales, inUtc(options)),
  NumberFormat: (locales: Locales, options: Options) => new Intl.NumberFormat(locales, options),
  RelativeTimeFormat: (locales: Locales, options: Options) =>
    new Intl.RelativeTimeFormat(locales, options),
  ListFormat: (locales: Locales, options: Options) => new Intl.ListFormat(locales, options),
  PluralRules: (locales: Locales, options: Options) => new Intl.PluralRules(locales, options),
  Collator: (locales: Locales, options: Options) => new Intl.Collator(locales, options),
} as const;
type Kind = keyof typeof kinds;

const methods: { readonly [K in Kind]: readonly string[] } = {
  DateTimeFormat: [
    'format',
    'formatToParts',
    'formatRange',
    'formatRangeToParts',
    'resolvedOptions',
  ],
  NumberFormat: ['format', 'formatToParts', 'resolvedOptions'],
  RelativeTimeFormat: ['format', 'formatToParts', 'resolvedOptions'],
  ListFormat: ['format', 'formatToParts', 'resolvedOptions'],
  PluralRules: ['select', 'resolvedOptions'],
  Collator: ['compare', 'resolvedOptions'],
};

/** Answers one call. An error is returned as an answer, never thrown. */
type IntlHost = (kind: string, key: string, method: string, argsJson: string) => string;

/** Creates a host with its own formatters. */
function createIntlHost(): IntlHost {
  const formatters = createBoundedMap<string, object>(formattersMax);

  const formatterOf = (kind: Kind, key: string): object => {
    const name = kind + key;
    let formatter = formatters.use(name);
    if (formatter === undefined) {
      const [locales, options] = JSON.parse(key) as [Locales | null, Options | null];
      formatter = kinds[kind](locales ?? defaultLocale, options ?? {});
      formatters.set(name, formatter);
    }
    return formatter;
  };

  const valueOf = (kind: string, key: string, method: string, args: unknown[]): unknown => {
    if (kind === 'Date') return dateText(key, method, args[0] as number);
    if (kind === 'Intl')
      return Intl.getCanonicalLocales((JSON.parse(key) as [Locales | null])[0] ?? undefined);
    if (!Object.hasOwn(kinds, kind)) throw new TypeError(`There is no Intl.${kind}`);
    const known = kind as Kind;
    if (method === 'supportedLocalesOf') {
      const { supportedLocalesOf } = Intl[known] as {
        supportedLocalesOf(locales: string[]): string[];
      };
      return supportedLocalesOf((JSON.parse(key) as [string[] | null])[0] ?? []);
    }
    const formatter = formatterOf(known, key) as Record<string, (...args: unknown[]) => unknown>;
    if (method === 'check') return null;
    if (!methods[known].includes(method)) throw new TypeError(`There is no ${method}`);
    return formatter[method]?.(...args.map(numberFrom));
  };

  const dateText = (key: string, method: string, time: number): string => {
    const [locales, options] = JSON.parse(key) as [Locales | null, Options | null];
    const full = withDefaults(options ?? {}, partsOf(method));
    const formatter = formatterOf('DateTimeFormat', JSON.stringify([locales, full]));
    return (formatter as Intl.DateTimeFormat).format(time);
  };

  return (kind, key, method, argsJson) => {
    try {
      if (key.length + argsJson.length > callCharsMax)
        throw new RangeError('Too long a text for Intl');
      return JSON.stringify({
        value: valueOf(kind, key, method, JSON.parse(argsJson) as unknown[]),
      });
    } catch (error) {
      const { name, message } = error as Error;
      return JSON.stringify({ error: name, message });
    }
  };
}

// The answers must not depend on the machine that the platform runs on.
const defaultLocale = 'en-US';

function inUtc(options: Options): Intl.DateTimeFormatOptions {
  return { timeZone: 'UTC', ...options };
}

// Numbers that JSON does not have arrive as an object with their text.
function numberFrom(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('bigint' in value) return BigInt(value.bigint as string);
  if ('number' in value) return Number(value.number);
  return value;
}

/**
 * Fields of a Date's text: those that count as given, and the defaults if none is given (ECMA-402,
 * ToDateTimeOptions).
 */
interface DateParts {
  readonly fields: readonly string[];
  readonly defaults: Options;
}

const datePart: DateParts = {
  fields: ['weekday', 'year', 'month', 'day', 'dateStyle'],
  defaults: { year: 'numeric', month: 'numeric', day: 'numeric' },
};
const timePart: DateParts = {
  fields: ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeStyle'],
  defaults: { hour: 'numeric', minute: 'numeric', second: 'numeric' },
};
const bothParts: DateParts = {
  fields: [...datePart.fields, ...timePart.fields],
  defaults: { ...datePart.defaults, ...timePart.defaults },
};

function partsOf(method: string): DateParts {
  if (method.endsWith('DateString')) return datePart;
  if (method.endsWith('TimeString')) return timePart;
  return bothParts;
}

function withDefaults(options: Options, { fields, defaults }: DateParts): Options {
  const isGiven = ['dateStyle', 'timeStyle', ...fields].some(
    (field) => options[field] !== undefined,
  );
  return isGiven ? options : { ...options, ...defaults };
}

// Run watch: keeps one run of a script within its limits.

class RunWatch {
  readonly #limits: ScriptLimits;
  readonly #cpuMs: () => number;
  readonly #recorder: RunRecorder;
  #isLimited = false;
  #stopped = false;
  #error: string | undefined;
  #isLate = false;
  #startedAt = 0;
  #cpuAtStart: number | undefined;
  /** The last reading of the CPU time, and when it was. */
  #readCpu = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor({
    limits,
    cpuMs,
    recorder,
  }: {
    readonly limits: ScriptLimits;
    readonly recorder: RunRecorder;
    /** CPU time of this thread in milliseconds. */
    readonly cpuMs: () => number;
  }) {
    this.#limits = limits;
    this.#cpuMs = cpuMs;
    this.#recorder = recorder;
  }

  /** The run must end. What it still emits is ignored. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Why the host ended it. */
  get error(): string | undefined {
    return this.#error;
  }

  /** The limit of CPU time ended it. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Applies no limits from now on, because trusted code runs. */
  release(): void {
    this.#isLimited = false;
    this.#stopped = false;
  }

  /** Applies the limits from now on. */
  start(): void {
    this.#isLimited = true;
    this.#stopped = false;
    this.#error = undefined;
    this.#isLate = false;
    this.#cpuAtStart = undefined;
    this.#startedAt = performance.now();
  }

  /** Ends the run, whose error is already recorded. */
  stop(): void {
    this.#stopped = true;
  }

  /** Ends the run with an error. */
  fail(message: string): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#error = message;
  }

  /** Called by the engine every few thousand steps. Returns `stopped`. */
  poll(): boolean {
    this.#recorder.beat();
    if (!this.#isLimited) return false;
    this.#checkCpuTime();
    return this.#stopped;
  }

  /**
   * The limit is CPU time, so that a busy machine does not end valid runs. Reading it takes 2 us, a
   * tenth of a short run: the wall clock is checked first, and a run that starts within half a
   * millisecond of a reading needs none of its own. Wall time until the first reading of a run
   * counts as CPU time, unless it exceeds the limit: the machine may have stood still.
   */
  #checkCpuTime(): void {
    const { cpuMs: limit } = this.#limits;
    const passed = performance.now() - this.#startedAt;
    const sinceReading = this.#startedAt - this.#readAt;
    // At most so much was used between the reading and the start: no run ends too early by it.
    if (sinceReading <= readingKeptMs) this.#cpuAtStart ??= this.#readCpu + sinceReading;
    if (passed < limit && this.#cpuAtStart !== undefined) return;
    const cpu = this.#cpuMs();
    this.#cpuAtStart ??= passed < limit ? cpu - passed : cpu;
    this.#readCpu = cpu;
    this.#readAt = performance.now();
    if (this.#stopped || cpu - this.#cpuAtStart <= limit) return;
    this.#isLate = true;
    this.fail(`The script exceeded its time limit of ${limit} ms`);
  }
}

const readingKeptMs = 0.5;

/**
 * Makes the error event from a message and the engine's stack, whose places are those of the edited
 * and wrapped source.
 */
function scriptError(message: string, stack: string, script: AnalyzedScript): ScriptErrorEvent {
  const match = frame.exec(stack);
  if (match === null) return { message };
  const inCode = positionOf(script.code, Number(match[1]), Number(match[2]));
  if (inCode === undefined || inCode < script.codeStart) return { message };
  const told = originalPlace(script.edited, inCode - script.codeStart);
  if (told >= script.source.length) return { message };
  const place = namedPlace(message, script, told);
  const lineStart = script.source.lastIndexOf('\n', place - 1) + 1;
  return { message, line: countLines(script.source, place), column: place - lineStart + 1 };
}

// The engine counts columns in bytes of UTF-8.
function positionOf(code: string, line: number, column: number): number | undefined {
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    start = code.indexOf('\n', start) + 1;
    if (start === 0) return undefined;
  }
  const [text = ''] = code.slice(start).split('\n', 1);
  const bytes = Buffer.from(text).subarray(0, column - 1);
  return start + bytes.toString().length;
}

function countLines(source: string, place: number): number {
  let lines = 1;
  for (let at = source.indexOf('\n'); at !== -1 && at < place; at = source.indexOf('\n', at + 1))
    lines += 1;
  return lines;
}

/**
 * The engine tells where a statement or call begins. When the message names something that the
 * statement mentions once, that is the place; statements that emit an object are often many lines
 * long.
 */
function namedPlace(message: string, script: AnalyzedScript, told: number): number {
  const match = named.exec(message);
  const statement = statementAt(script.edited, told);
  if (match === null || statement === undefined || statement.end - told > statementCharsMax)
    return told;
  const name = (match[1] ?? match[2] ?? '').replaceAll('$', '\\$');
  const text = script.source.slice(told, statement.end);
  const [mention, second] = text.matchAll(new RegExp(`(?<![\\w$])${name}(?![\\w$])`, 'g'));
  if (mention === undefined || second !== undefined) return told;
  return told + mention.index;
}
