// Large JSON parser: parses groups of members in short turns of the event loop.
// The input is divided between the members of containers at any level. The scan reads only
// brackets, commas and strings.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  isExact,
  jsonDepthMax,
  JsonFault,
  parsedJson,
  parseJsonText,
  rememberExact,
  rememberLarge,
} from './json-keys.ts';
import { isJsonWhitespace, type Json, jsonBytes } from './json.ts';

/** A group ends with the member that makes it this long. */
const groupBytes = 32 * 1024;
const turnMsMax = 0.4;
/** The parser takes a string, a number or a gap in one go, so that a longer one is refused. */
const tokenBytesMax = 16 * 1024 * 1024;
/** Shorter documents are parsed in one turn. */
const wholeBytesMax = 64 * 1024;

/** A container that is open at the place of the scan. */
interface Level {
  readonly close: number;
  /** What was parsed of it; undefined while it is a part of its parent's group. */
  value: Json[] | Record<string, Json> | undefined;
  /** Of an object with a value of its own. */
  readonly keys: string[];
  /** Its next group begins here, */
  groupStart: number;
  /** and its member at the place of the scan here. */
  memberStart: number;
  /** Where its bracket is. */
  readonly open: number;
  /**
   * The member before the place of the scan was parsed level by level, and nothing may follow it.
   */
  hasEndedMember: boolean;
}

/**
 * The input has a fault. The parser determines the fault and its position from the whole document.
 */
class Suspect extends Error {}

/**
 * The value of UTF-8 bytes that are not empty, behind a byte order mark if there is one. Throws
 * JsonFault with the words that `parseJsonText` has for the whole document, and for a single string
 * of more than 16 MiB. The bytes must not be used after that. `parse` is another `JSON.parse`, `inTurn` does each
 * part of the work in a turn of the event loop.
 */
export async function parseLargeJson(
  bytes: Uint8Array,
  parse: ParseText = parsedJson,
  inTurn: InTurn = afterOthers,
): Promise<Json> {
  const held = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (held.length <= wholeBytesMax) return parseJsonText(held.toString('utf8'), parse);
  try {
    return await parseInTurns(held, parse, inTurn);
  } catch (error) {
    if (!(error instanceof Suspect)) throw error;
    throw new JsonFault(await faultOf(held));
  }
}

type ParseText = (text: string) => Json;

type InTurn = <T>(work: () => T) => T | Promise<Awaited<T>>;

async function afterOthers<T>(work: () => T): Promise<Awaited<T>> {
  await nextTurn();
  return await work();
}

async function parseInTurns(held: Buffer, parse: ParseText, inTurn: InTurn): Promise<Json> {
  const cutter = new Cutter(held, parse);
  const advance = (): boolean => {
    const startedAt = performance.now();
    while (!cutter.advance()) if (performance.now() - startedAt >= turnMsMax) return false;
    return true;
  };
  for (let isDone = advance(); !isDone; ) isDone = await inTurn(advance);
  return cutter.value();
}

async function faultOf(held: Buffer): Promise<string> {
  // What lies in a buffer of its own goes over without a copy.
  const transferList =
    held.byteLength === held.buffer.byteLength ? [held.buffer as ArrayBuffer] : [];
  const worker = new Worker(new URL('./json-error-worker.ts', import.meta.url), {
    workerData: { bytes: held },
    transferList,
    name: 'json',
    env: {},
  });
  return new Promise((resolve, reject) => {
    worker.once('message', (message: string | undefined) => {
      if (message === undefined)
        reject(new Error('The document has a fault for the scan, but not for the parser'));
      else resolve(message);
    });
    worker.once('error', reject);
  });
}

const { quote, comma, backslash, openBracket, closeBracket, openBrace, closeBrace } = jsonBytes;

// A class, because the scan keeps its place between turns.
class Cutter {
  readonly #held: Buffer;
  readonly #parse: ParseText;
  readonly #levels: Level[] = [];
  #at = 0;
  #inString = false;
  /** Everything before it was parsed. */
  #parsedTo = 0;
  #root: Json | undefined;

  constructor(held: Buffer, parse: ParseText) {
    this.#held = held;
    this.#parse = parse;
    if (held[0] === 0xef && held[1] === 0xbb && held[2] === 0xbf) this.#at = 3;
    while (this.#at <= tokenBytesMax && isJsonWhitespace(held[this.#at])) this.#at++;
    const first = held[this.#at];
    if (first !== openBrace && first !== openBracket) {
      if (held.length > tokenBytesMax) throw tooLong();
      // One long string, number or word has no members.
      this.#root = this.#parsed(held.toString('utf8', this.#at));
      this.#at = held.length;
      return;
    }
    this.#materialize(this.#push(first, this.#at++), undefined);
  }

  value(): Json {
    if (this.#root === undefined) throw new Error('The parser has not reached the end');
    return this.#root;
  }

  /** Parses about one more group; true when all is parsed. Throws Suspect. */
  advance(): boolean {
    const held = this.#held;
    const scanTo = Math.min(held.length, this.#at + groupBytes);
    while (this.#at < scanTo && this.#levels.length > 0) {
      if (this.#inString) {
        this.#passString(scanTo);
        continue;
      }
      const byte = held[this.#at++]!;
      if (byte === quote) this.#inString = true;
      else if (byte === openBrace || byte === openBracket) this.#push(byte, this.#at - 1);
      else if (byte === closeBrace || byte === closeBracket) this.#pop(byte);
      else if (byte === comma) this.#endMember();
    }
    if (this.#levels.length === 0) return this.#end();
    if (this.#at >= held.length) throw new Suspect();
    if (this.#at - this.#parsedTo >= groupBytes) this.#flush();
    if (this.#at - this.#innermost().memberStart > tokenBytesMax) throw tooLong();
    return false;
  }

  #end(): true {
    if (this.#held.length - this.#at > tokenBytesMax) throw tooLong();
    for (; this.#at < this.#held.length; this.#at++)
      if (!isJsonWhitespace(this.#held[this.#at])) throw new Suspect();
    return true;
  }

  /** To behind the string, or a little behind `scanTo` when it goes on there. */
  #passString(scanTo: number): void {
    const held = this.#held;
    let at = this.#at;
    while (this.#inString && at < scanTo) {
      const byte = held[at++]!;
      if (byte === quote) this.#inString = false;
      else if (byte === backslash) at++;
    }
    this.#at = at;
  }

  /** The container that is open at the place of the scan. */
  #innermost(): Level {
    const level = this.#levels.at(-1);
    if (level === undefined) throw new Suspect();
    return level;
  }

  #push(byte: number, open: number): Level {
    if (this.#levels.length >= jsonDepthMax) throw new Suspect();
    const close = byte === openBrace ? closeBrace : closeBracket;
    const start = open + 1;
    const level: Level = {
      close,
      value: undefined,
      keys: [],
      groupStart: start,
      memberStart: start,
      open,
      hasEndedMember: false,
    };
    this.#levels.push(level);
    return level;
  }

  #pop(byte: number): void {
    const level = this.#levels.pop();
    if (level?.close !== byte) throw new Suspect();
    if (level.value === undefined) return;
    const end = this.#at - 1;
    if (level.hasEndedMember) this.#expectBlank(level.memberStart, end);
    else if (level.memberStart > level.open + 1 || !this.#isBlank(level.groupStart, end))
      this.#take(level, end);
    rememberLarge(level.value, level.keys);
    this.#parsedTo = this.#at;
    const parent = this.#levels.at(-1);
    if (parent === undefined) return;
    parent.groupStart = this.#at;
    parent.memberStart = this.#at;
    parent.hasEndedMember = true;
  }

  #endMember(): void {
    const level = this.#innermost();
    if (level.hasEndedMember) {
      this.#expectBlank(level.memberStart, this.#at - 1);
      level.hasEndedMember = false;
      level.groupStart = this.#at;
    }
    level.memberStart = this.#at;
  }

  /** Parses the ended members of all open levels, from the outermost in. */
  #flush(): void {
    for (const [depth, level] of this.#levels.entries()) {
      if (level.value === undefined) this.#materialize(level, this.#levels[depth - 1]);
      if (level.memberStart > level.groupStart) {
        this.#take(level, level.memberStart - 1);
        level.groupStart = level.memberStart;
      }
    }
    this.#parsedTo = this.#at;
  }

  /** Gives the level a value of its own, in its parent's. */
  #materialize(level: Level, parent: Level | undefined): void {
    const value: Json[] | Record<string, Json> = level.close === closeBrace ? {} : [];
    level.value = value;
    if (parent === undefined) {
      this.#root = value;
      return;
    }
    const into = parent.value;
    if (into === undefined || parent.hasEndedMember) throw new Suspect();
    if (Array.isArray(into)) {
      this.#expectBlank(parent.memberStart, level.open);
      into.push(value);
    } else {
      const before = this.#held.toString('utf8', parent.memberStart, level.open);
      const [key = ''] = Object.keys(this.#parsed(`{${before}[]}`) as object);
      setMember(parent, into, key, value);
    }
  }

  /** Parses the members from the start of the group to `end`. */
  #take(level: Level, end: number): void {
    const into = level.value;
    if (into === undefined) throw new Suspect();
    const text = this.#held.toString('utf8', level.groupStart, end);
    if (Array.isArray(into)) {
      const members = this.#parsed(`[${text}]`) as Json[];
      // A comma behind nothing is no array of members.
      if (members.length === 0) throw new Suspect();
      for (let at = 0; at < members.length; at++) {
        if (isExact(members, String(at))) rememberExact(into, String(into.length));
        into.push(members[at] ?? null);
      }
      return;
    }
    const members = this.#parsed(`{${text}}`) as Record<string, Json>;
    let isEmpty = true;
    // Without a list of entries, which would be several objects for each member.
    for (const key in members) {
      isEmpty = false;
      if (isExact(members, key)) rememberExact(into, key);
      setMember(level, into, key, members[key] ?? null);
    }
    if (isEmpty) throw new Suspect();
  }

  #parsed(text: string): Json {
    try {
      return this.#parse(text);
    } catch {
      throw new Suspect();
    }
  }

  #expectBlank(from: number, to: number): void {
    if (!this.#isBlank(from, to)) throw new Suspect();
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (!isJsonWhitespace(this.#held[at])) return false;
    return true;
  }
}

function tooLong(): JsonFault {
  return new JsonFault(`it contains a token longer than ${tokenBytesMax} bytes`);
}

function setMember({ keys }: Level, into: Record<string, Json>, key: string, value: Json): void {
  if (!Object.hasOwn(into, key)) keys.push(key);
  if (key !== '__proto__') into[key] = value;
  // The parser makes an ordinary member of it, an assignment would not.
  else
    Object.defineProperty(into, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}
