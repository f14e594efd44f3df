// The QuickJS engine as WebAssembly: instances, the few calls that are used, and their memory as images that are copied back before a run.
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

interface QuickJsInstance {
  readonly js: QuickJs;
  readonly memory: WebAssembly.Memory;
  /** The stack pointer while nothing runs. */
  readonly stackPointer: Pointer;
}

/** The stack's range; the heap follows it. It was chosen when the engine was built. */
const stackBytes = 5 * 1_048_576;
/**
 * What a run can use of the stack, from its end down: the guest's own limit and what the engine
 * needs above it.
 */
const stackUsedBytesMax = 320 * 1_024;
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

// The guest's linear memory as images: what is copied back before a run, and what a compiled script adds to it.

/** Where things lie in the linear memory of an instance; the same for every instance of one build. */
export interface MemoryLayout {
  /** End of the static data, which begins at 0; the stack's lowest address. */
  readonly staticEnd: Pointer;
  /** Where the stack begins, growing down, and the heap, growing up. */
  readonly heapStart: Pointer;
  /** Address of the word that holds the end of the heap (`sbrk`). */
  readonly heapEndWord: Pointer;
}

/** Runs of changed pages, each with its bytes. */
interface Segment {
  readonly at: Pointer;
  readonly bytes: Uint8Array;
}

/** Everything that a fresh guest consists of. */
export interface MemoryImage {
  readonly staticData: Uint8Array;
  readonly heap: Uint8Array;
}

/** What a compiled script changed in an image. */
export interface ScriptImage {
  readonly base: MemoryImage;
  readonly segments: readonly Segment[];
  readonly bytes: number;
}

const imagePageBytes = 4_096;

const surveyBytes = 16 * 1_048_576;

/** Finds the layout with an instance that is thrown away; throws when the build is not the one this was written for. */
export async function inspectMemoryLayout(module: WebAssembly.Module): Promise<MemoryLayout> {
  const { js, memory, stackPointer } = await instantiateQuickJs(module, surveyBytes);
  const heapStart = stackPointer;
  const first = js._malloc(16);
  if (first < heapStart || first - heapStart > 1_024)
    throw new Error('The heap does not follow the stack');
  const staticEnd = stackPointer - stackBytes;
  if (staticEnd > scratchStart || scratchEnd > heapStart - stackUsedBytesMax)
    throw new Error('The stack is elsewhere');
  const words = (): Uint32Array => new Uint32Array(memory.buffer, 0, staticEnd >> 2).slice();
  // A large allocation moves the end of the heap: it is the word with the largest address of those that moved with it.
  const before = words();
  const large = 4 * 1_048_576;
  const end = js._malloc(large) + large;
  let heapEndWord = 0;
  let heapEnd = 0;
  words().forEach((word, index) => {
    const moved = word - before[index]!;
    if (
      before[index]! <= heapStart ||
      moved < large / 2 ||
      moved > 2 * large ||
      word < end ||
      word <= heapEnd
    )
      return;
    heapEnd = word;
    heapEndWord = index << 2;
  });
  if (heapEnd === 0 || heapEnd > memory.buffer.byteLength)
    throw new Error('The end of the heap was not found');
  return { staticEnd, heapStart, heapEndWord };
}

/** The memory of one instance at work. */
export class GuestMemory {
  readonly #staticEnd: Pointer;
  readonly #heapStart: Pointer;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #endWord: Uint32Array<ArrayBuffer>;
  // How far the heap ever reached since it was last cleared.
  #dirtyEnd: number;

  /** Makes the image handling for one instance. */
  constructor({ memory }: QuickJsInstance, layout: MemoryLayout) {
    const { staticEnd, heapStart, heapEndWord } = layout;
    this.#staticEnd = staticEnd;
    this.#heapStart = heapStart;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#endWord = new Uint32Array(memory.buffer, heapEndWord, 1);
    this.#dirtyEnd = this.#heapStart;
  }

  /** How far the heap reaches now, in bytes. */
  heapBytes(): number {
    return this.#endWord[0]! - this.#heapStart;
  }

  /** The memory as it is now, as an image; for the engine's own start only. */
  capture(): MemoryImage {
    const heap = this.#bytes.slice(this.#heapStart, this.#endWord[0]);
    let used = heap.length;
    while (used > 0 && heap[used - 1] === 0) used -= 1;
    const end = Math.min(heap.length, Math.ceil(used / imagePageBytes) * imagePageBytes);
    return { staticData: this.#bytes.slice(0, this.#staticEnd), heap: heap.slice(0, end) };
  }

  /**
   * Puts the image back and clears what lies beyond it, so that a difference shows only what came
   * after.
   */
  reset(image: MemoryImage): void {
    this.#restoreBase(image);
    this.#clear(image);
  }

  /** What changed since `reset`. */
  difference(base: MemoryImage): ScriptImage {
    const segments = [
      ...changedSegments(this.#bytes.subarray(0, this.#staticEnd), base.staticData, 0),
      ...changedSegments(
        this.#bytes.subarray(this.#heapStart, this.#endWord[0]),
        base.heap,
        this.#heapStart,
      ),
    ];
    return {
      base,
      segments,
      bytes: segments.reduce((sum, segment) => sum + segment.bytes.length, 0),
    };
  }

  /**
   * Puts a script's memory back for a run. With `clean`, nothing of any earlier run is left
   * anywhere in memory.
   */
  restore(image: ScriptImage, clean: boolean): void {
    this.#restoreBase(image.base);
    if (clean) this.#clear(image.base);
    for (const { at, bytes: saved } of image.segments) this.#bytes.set(saved, at);
  }

  #restoreBase(image: MemoryImage): void {
    if (this.#endWord[0]! > this.#dirtyEnd) this.#dirtyEnd = this.#endWord[0]!;
    this.#bytes.set(image.staticData, 0);
    this.#bytes.set(image.heap, this.#heapStart);
  }

  #clear(image: MemoryImage): void {
    this.#bytes.fill(0, this.#heapStart - stackUsedBytesMax, this.#heapStart);
    // A text may lie before the rest of a longer, earlier one; after the last of them come two zeros.
    let textEnd = scratchStart;
    while (this.#bytes[textEnd] !== 0) textEnd = this.#bytes.indexOf(0, textEnd) + 1;
    this.#bytes.fill(0, scratchStart, textEnd);
    const end = this.#heapStart + image.heap.length;
    if (this.#dirtyEnd > end) this.#bytes.fill(0, end, this.#dirtyEnd);
    this.#dirtyEnd = this.#endWord[0]!;
  }
}

const zeroPage = new Uint8Array(imagePageBytes);

/** Changed pages, neighbours joined. Beyond the base's end memory was clear. */
function changedSegments(now: Uint8Array, base: Uint8Array, at: Pointer): Segment[] {
  const segments: Segment[] = [];
  let from = -1;
  for (let page = 0; page < now.length; page += imagePageBytes) {
    const end = Math.min(page + imagePageBytes, now.length);
    if (isSame(now, base, page, end)) {
      if (from >= 0) segments.push({ at: at + from, bytes: now.slice(from, page) });
      from = -1;
    } else if (from < 0) from = page;
  }
  if (from >= 0) segments.push({ at: at + from, bytes: now.slice(from) });
  return segments;
}

function isSame(now: Uint8Array, base: Uint8Array, from: number, to: number): boolean {
  const inBase = Math.max(from, Math.min(to, base.length));
  return (
    Buffer.compare(now.subarray(from, inBase), base.subarray(from, inBase)) === 0 &&
    Buffer.compare(now.subarray(inBase, to), zeroPage.subarray(0, to - inBase)) === 0
  );
}
