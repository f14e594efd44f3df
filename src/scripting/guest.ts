// The guest inside an instance: its runtime, its globals, and the calls that cross the border as texts and numbers.
import { readFileSync } from 'node:fs';
import { codecEntries } from './source-analysis.ts';
import type { ScriptLimits } from './script-limits.ts';
import { type GuestModule, moduleExpression } from './provided-modules.ts';
import { type Pointer, type QuickJs, scratchEnd, scratchStart } from './quickjs.ts';

/** The name under which the engine compiles a script; frames with it are the user's. */
const scriptFile = 'script.js';

/** Numbers by which the guest's functions of the host are known. */
export const hostCallIds = { record: 1, fail: 2, entropy: 3, intl: 4 } as const;

/** Addresses inside the guest. They hold in every instance into which the guest's memory is copied. */
export interface Guest {
  readonly runtime: Pointer;
  readonly context: Pointer;
  readonly undefinedValue: Pointer;
  readonly scriptFile: Pointer;
  /** Room for the arguments of a call. */
  readonly argv: Pointer;
  /** The numbers that say how a run is entered; see `run` of the prelude. */
  readonly modes: readonly Pointer[];
  /** Functions of the prelude. */
  readonly take: Pointer;
  readonly run: Pointer;
  readonly unsettled: Pointer;
  readonly prepare: Pointer;
  readonly install: Pointer;
  readonly addModule: Pointer;
}

const argumentsMax = 4;
// The engine collects cyclic garbage when the heap passes this size; a run is too short to need it sooner.
const gcThresholdBytes = 24 * 1_048_576;
const gcThresholdAtStart = 256 * 1_024;

// Texts for the guest are written to the far end of the stack's range, which no run ever reaches: there they need no
// heap and are in no image. The engine copies a text when it makes a value of it.
const scratchBytes = scratchEnd - scratchStart - 1;

/** Writes a text with its terminating zero where the engine can read it until the next one is written. */
function writeText(js: QuickJs, text: string): number {
  const { read, written } = encoder.encodeInto(
    text,
    js.HEAPU8.subarray(scratchStart, scratchStart + scratchBytes),
  );
  if (read < text.length) throw new Error('The text is too long for the guest');
  js.HEAPU8[scratchStart + written] = 0;
  return written;
}

/** A string that stays, at its address in the heap. */
function keepText(js: QuickJs, text: string): Pointer {
  const bytes = Buffer.from(`${text}\0`);
  const at = js._malloc(bytes.length);
  js.HEAPU8.set(bytes, at);
  return at;
}

/** A text of the guest as a string value of the guest. */
export function newString(
  js: QuickJs,
  guest: { readonly context: Pointer },
  text: string,
): Pointer {
  writeText(js, text);
  return js._QTS_NewString(guest.context, scratchStart);
}

/** Reads a zero-terminated string. */
export function readText(js: QuickJs, at: Pointer): string {
  const { HEAPU8 } = js;
  return Buffer.from(HEAPU8.buffer, at, HEAPU8.indexOf(0, at) - at).toString('utf8');
}

/** Calls a function of the guest; the value may be an exception. */
export function callGuest(
  js: QuickJs,
  guest: Guest,
  callee: Pointer,
  args: readonly Pointer[],
): Pointer {
  new Uint32Array(js.HEAPU8.buffer, guest.argv, args.length).set(args);
  return js._QTS_Call(guest.context, callee, guest.undefinedValue, args.length, guest.argv);
}

/** The exception that a value is, as the guest tells it; undefined when it is none. */
export function exceptionOf(
  js: QuickJs,
  guest: { readonly context: Pointer },
  value: Pointer,
): GuestException | undefined {
  const exception = js._QTS_ResolveException(guest.context, value);
  if (exception === 0) return undefined;
  const dumped: unknown = parsedOrText(readText(js, js._QTS_Dump(guest.context, exception)));
  if (typeof dumped !== 'object' || dumped === null) return { message: String(dumped), stack: '' };
  const { name, message, stack } = dumped as Record<string, unknown>;
  return {
    message: `${String(name)}: ${String(message)}`,
    stack: typeof stack === 'string' ? stack : '',
  };
}

export interface GuestException {
  readonly message: string;
  readonly stack: string;
}

/**
 * Evaluates source in the guest's global scope. With `awaiting`, the source may have `await` at its
 * top level, and the value is a promise of an object with its `value`.
 */
export function evaluate(
  js: QuickJs,
  guest: { readonly context: Pointer },
  source: string,
  file: Pointer,
  mode: 'at once' | 'awaiting' = 'at once',
): Pointer {
  const bytes = writeText(js, source);
  return js._QTS_Eval(guest.context, scratchStart, bytes, file, 0, evalFlags[mode]);
}

/** JS_EVAL_TYPE_GLOBAL, with and without JS_EVAL_FLAG_ASYNC. */
const evalFlags = { 'at once': 0, awaiting: 128 } as const;

/** Makes the guest in a fresh instance: runtime, limits, globals. Its memory is then the base image. */
export function buildGuest(js: QuickJs, limits: ScriptLimits): Guest {
  const runtime = js._QTS_NewRuntime();
  const context = js._QTS_NewContext(runtime, 0);
  setGcThreshold(js, runtime);
  js._QTS_RuntimeSetMaxStackSize(runtime, limits.stackBytesMax);
  const own = { context };
  const file = keepText(js, 'heliograph.js');
  const property = (object: Pointer, name: string): Pointer =>
    valid(js, own, js._QTS_GetProp(context, object, newString(js, own, name)));
  const hostFunction = (name: keyof typeof hostCallIds, length: number): Pointer =>
    js._QTS_NewFunction(context, keepText(js, name), length, 0, hostCallIds[name]);
  const undefinedValue = js._QTS_GetUndefined();
  const argv = js._malloc(argumentsMax * 4);
  const call = (callee: Pointer, args: readonly Pointer[]): Pointer => {
    new Uint32Array(js.HEAPU8.buffer, argv, args.length).set(args);
    return valid(js, own, js._QTS_Call(context, callee, undefinedValue, args.length, argv));
  };
  const load = (name: string): Pointer =>
    valid(js, own, evaluate(js, own, guestSource(name), file));

  const { emitsMax, errorMessageCharsMax, errorStackCharsMax } = limits;
  const limitsText = JSON.stringify({ emitsMax, errorMessageCharsMax, errorStackCharsMax });
  const guestLimits = valid(js, own, evaluate(js, own, `(${limitsText})`, file));
  const host = [
    hostFunction('record', 1),
    hostFunction('fail', 3),
    hostFunction('entropy', 0),
    guestLimits,
  ];
  const api = call(load('prelude'), host);
  call(load('bits-and-hex'), []);
  call(load('intl'), [hostFunction('intl', 4)]);
  call(load('codec'), [api]);
  requireUtc(js, own, file);
  return {
    runtime,
    context,
    undefinedValue,
    argv,
    scriptFile: keepText(js, scriptFile),
    modes: Array.from({ length: codecEntries.length * 2 }, (_, mode) =>
      js._QTS_NewFloat64(context, mode),
    ),
    take: property(api, 'take'),
    run: property(api, 'run'),
    unsettled: property(api, 'unsettled'),
    prepare: property(api, 'prepare'),
    install: property(api, 'install'),
    addModule: property(api, 'addModule'),
  };
}

/** Adds modules to the guest, which makes another base image. */
export function addModules(js: QuickJs, guest: Guest, names: readonly GuestModule[]): void {
  for (const name of names) {
    if (name === 'buffer') {
      const make = valid(
        js,
        guest,
        evaluate(js, guest, guestSource(name), keepText(js, 'buffer.js')),
      );
      valid(js, guest, callGuest(js, guest, make, []));
      continue;
    }
    const file = keepText(js, `${name}.js`);
    const exported = valid(js, guest, evaluate(js, guest, moduleExpression(name), file));
    valid(js, guest, callGuest(js, guest, guest.addModule, [newString(js, guest, name), exported]));
  }
}

const encoder = new TextEncoder();

function guestSource(name: string): string {
  return readFileSync(new URL(`./guest/${name}.js`, import.meta.url), 'utf8');
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// The guest's own parts never fail; if one does, the build is broken.
function valid(js: QuickJs, guest: { readonly context: Pointer }, value: Pointer): Pointer {
  const exception = exceptionOf(js, guest, value);
  if (exception !== undefined) throw new Error(`${exception.message}\n${exception.stack}`);
  return value;
}

// The threshold has no function in the C interface; its word in the runtime is known by the value it starts with.
function setGcThreshold(js: QuickJs, runtime: Pointer): void {
  const runtimeWords = 256;
  const words = new Uint32Array(js.HEAPU8.buffer, runtime, runtimeWords);
  const index = words.indexOf(gcThresholdAtStart);
  if (index < 0 || words.indexOf(gcThresholdAtStart, index + 1) >= 0)
    throw new Error('The GC threshold was not found');
  words[index] = gcThresholdBytes;
}

function requireUtc(js: QuickJs, guest: { readonly context: Pointer }, file: Pointer): void {
  const check =
    'new Date(2026, 0, 1).getTime() - Date.UTC(2026, 0, 1) + new Date(2026, 6, 1).getTimezoneOffset()';
  if (js._QTS_GetFloat64(guest.context, evaluate(js, guest, check, file)) !== 0)
    throw new Error('The guest is not in UTC');
}
