// The QuickJS engine as WebAssembly: compiles the module, makes instances and names the few calls that are used.
import { readFile } from 'node:fs/promises';
import loadQuickJs from '@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module';
import { dayMs } from '../model/instant.ts';

/** A pointer into the engine's linear memory. */
export type Pointer = number;

/** What the guest can ask of the host; a pointer to a value is the answer, 0 is undefined. */
interface HostCalls {
  callFunction(
    asyncify: undefined,
    context: Pointer,
    self: Pointer,
    argc: number,
    argv: Pointer,
    id: number,
  ): Pointer;
  shouldInterrupt(asyncify: undefined, runtime: Pointer): 0 | 1;
  freeHostRef(): void;
}

/** One instance. The names are those of the engine's C interface. */
export interface QuickJs {
  callbacks: HostCalls;
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): Pointer;
  _QTS_NewRuntime(): Pointer;
  _QTS_NewContext(runtime: Pointer, intrinsics: number): Pointer;
  _QTS_RuntimeSetMemoryLimit(runtime: Pointer, bytes: number): void;
  _QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
  _QTS_RuntimeEnableInterruptHandler(runtime: Pointer): void;
  _QTS_RuntimeDisableInterruptHandler(runtime: Pointer): void;
  _QTS_GetUndefined(): Pointer;
  _QTS_GetProp(context: Pointer, object: Pointer, name: Pointer): Pointer;
  _QTS_NewFunction(
    context: Pointer,
    name: Pointer,
    length: number,
    isConstructor: number,
    id: number,
  ): Pointer;
  _QTS_NewString(context: Pointer, text: Pointer): Pointer;
  _QTS_NewFloat64(context: Pointer, value: number): Pointer;
  _QTS_GetFloat64(context: Pointer, value: Pointer): number;
  _QTS_GetString(context: Pointer, value: Pointer): Pointer;
  _QTS_ArgvGetJSValueConstPointer(argv: Pointer, index: number): Pointer;
  _QTS_Call(context: Pointer, callee: Pointer, self: Pointer, argc: number, argv: Pointer): Pointer;
  _QTS_Eval(
    context: Pointer,
    code: Pointer,
    bytes: number,
    file: Pointer,
    detect: number,
    flags: number,
  ): Pointer;
  _QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  _QTS_Dump(context: Pointer, value: Pointer): Pointer;
  _QTS_IsJobPending(runtime: Pointer): number;
  _QTS_ExecutePendingJob(runtime: Pointer, jobsMax: number, context: Pointer): Pointer;
}

export interface QuickJsInstance {
  readonly js: QuickJs;
  readonly memory: WebAssembly.Memory;
  /** The stack pointer while nothing runs. */
  readonly stackPointer: Pointer;
}

/** The stack's range; the heap follows it. It was chosen when the engine was built. */
export const stackBytes = 5 * 1_048_576;
/**
 * What a run can use of the stack, from its end down: the guest's own limit and what the engine
 * needs above it.
 */
export const stackUsedBytesMax = 320 * 1_024;
/** Addresses at the stack's far end that are free for texts on their way into the guest. */
export const scratchStart = 131_072;
export const scratchEnd = scratchStart + 4 * 1_048_576;

const pageBytes = 65_536;

/** Compiles the engine once; the result can be sent to workers, which makes their start cheap. */
export async function compileQuickJs(): Promise<WebAssembly.Module> {
  const url = import.meta.resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm');
  return WebAssembly.compile(await readFile(new URL(url)));
}

/**
 * Makes an instance with a fresh linear memory of `memoryBytesMax`. It prints nothing and has no
 * files.
 */
export async function instantiateQuickJs(
  module: WebAssembly.Module,
  memoryBytesMax: number,
): Promise<QuickJsInstance> {
  // The memory has its greatest size from the start: growing would move it away from those who look
  // at it.
  const memory = new WebAssembly.Memory({
    initial: memoryBytesMax / pageBytes,
    maximum: memoryBytesMax / pageBytes,
  });
  const load = loadQuickJs as unknown as (options: object) => Promise<QuickJs>;
  let stackPointer = (): Pointer => 0;
  const js = await load({
    wasmMemory: memory,
    print: () => undefined,
    printErr: () => undefined,
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(module, inUtc(imports, memory));
      stackPointer = instance.exports['Pa'] as () => Pointer;
      done(instance);
      return {};
    },
  });
  return { js, memory, stackPointer: stackPointer() };
}

// Scripts see UTC as their local time wherever the platform runs: a decoder must not change its
// results with the host's
// zone. Import `m` of this pinned build is localtime_r; the engine checks the effect when it builds
// its first image.
function inUtc(imports: WebAssembly.Imports, memory: WebAssembly.Memory): WebAssembly.Imports {
  const localTime = (seconds: bigint, result: Pointer): void => {
    const date = new Date(Number(seconds) * 1_000);
    const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1);
    const fields = [
      date.getUTCSeconds(),
      date.getUTCMinutes(),
      date.getUTCHours(),
      date.getUTCDate(),
      date.getUTCMonth(),
      date.getUTCFullYear() - 1_900,
      date.getUTCDay(),
      Math.floor((date.getTime() - yearStart) / dayMs),
      0,
      0,
    ];
    new Int32Array(memory.buffer, result, fields.length).set(fields);
  };
  return { ...imports, a: { ...imports['a'], m: localTime } };
}
