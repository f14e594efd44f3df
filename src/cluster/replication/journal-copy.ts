// Journal copy: what the journal writes is durable at a second node too, before it is acknowledged.
import { randomUUID } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { NodeAddress } from '../../model/node-messages.ts';
import { type Disk, NotCopied } from '../../storage/log/durable-file.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';

// Form of copies: what a node sends to the holder of the copy of its journal.

/** Files of a data folder that a copy has. */
export const copiedFiles = {
  nodeId: 'node-id',
  shipping: 'samples/shipping.json',
  followers: 'samples/journal/followers.json',
  journal: 'samples/journal',
} as const;

const copiedName =
  /^(?:node-id|samples\/shipping\.json|samples\/journal\/[\w-]+\.(?:json|journal))$/;

/** Whether a holder writes a file of this name; everything else is refused. */
export function isCopiedName(name: unknown): name is string {
  return typeof name === 'string' && copiedName.test(name);
}

/** One change of one file. Bytes are base64. */
export type CopyChange =
  | { readonly file: string; readonly offset: number; readonly bytes: string }
  | { readonly file: string; readonly length: number }
  | { readonly file: string; readonly contents: string }
  | { readonly file: string; readonly removed: true };

export interface CopyRequest {
  /** Names the copy: a new one has everything from the beginning. */
  readonly copy: string;
  readonly begins?: boolean;
  /** Whether the copy has everything after these changes; older copies are removed. */
  readonly isWhole?: boolean;
  readonly changes: readonly CopyChange[];
}

export interface CopyAnswer {
  /** False when the holder does not have the copy that the changes are for. */
  readonly isStored: boolean;
}

export const journalCopyLimits = {
  /** Bytes of one request; a call between nodes has room for them as base64. */
  requestBytesMax: 1024 * 1024,
  /** How long uplinks wait for a holder. */
  waitMsMax: 8_000,
  retryMs: 200,
} as const;

interface CopyHolders {
  /** The nodes that can hold the copy, the best first. */
  readonly holders: () => readonly NodeAddress[];
  readonly send: (to: NodeAddress, request: CopyRequest) => Promise<CopyAnswer>;
  /** Notes where the copy is, for the adoption. Resolves when the note is durable. */
  readonly note: (holder: NodeAddress, copy: string) => Promise<void>;
  /** Called when the copy has moved, or is lost with the error. */
  readonly moved: (holder: NodeAddress | undefined, error?: unknown) => void;
}

interface JournalCopyParts {
  /** The data folder. */
  readonly directory: string;
  readonly disk: Disk;
  /** A monotonic clock, and a wait. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

interface Copy {
  readonly id: string;
  readonly holder: NodeAddress;
}

interface CopyState {
  readonly parts: JournalCopyParts;
  readonly files: Map<number, string>;
  readonly queue: ReturnType<typeof createSerialQueue>;
  to: CopyHolders | undefined;
  copy: Copy | undefined;
  /** What the copy does not have yet. */
  changes: (() => CopyChange | readonly CopyChange[])[];
  /** The holder that failed last is asked after the others. */
  failed: NodeAddress | undefined;
  /** When the first attempt failed, since the last one that did not. */
  failingSince: number | undefined;
}

export class JournalCopy {
  /** For the journal. Until `connect`, only this folder has what is written. */
  readonly disk: Disk;
  readonly #state: CopyState;

  constructor(parts: JournalCopyParts) {
    this.#state = {
      parts,
      files: new Map(),
      queue: createSerialQueue(),
      to: undefined,
      copy: undefined,
      changes: [],
      failed: undefined,
      failingSince: undefined,
    };
    this.disk = copiedDisk(this.#state);
  }

  /** The file was replaced; resolves when the copy has it. Rejects with NotCopied. */
  async replaced(file: string, contents: string): Promise<void> {
    note(this.#state, () => ({ file, contents }));
    await store(this.#state);
  }

  /** From now on, everything is copied. */
  connect(holders: CopyHolders): void {
    this.#state.to = holders;
  }

  /** From now on, only this folder has what is written. */
  disconnect(): void {
    this.#state.to = undefined;
  }

  /** Copies everything, if that is not done already. Rejects with NotCopied. */
  ensure(): Promise<void> {
    return store(this.#state);
  }

  get holder(): NodeAddress | undefined {
    return this.#state.copy?.holder;
  }
}

function copiedDisk(state: CopyState): Disk {
  const { parts, files } = state;
  const { disk, directory } = parts;
  const nameOf = (path: string) => relative(directory, path).split(sep).join('/');
  const fileOf = (fd: number) => files.get(fd) ?? '';
  return {
    opened(fd, path) {
      files.set(fd, nameOf(path));
    },
    removed(path) {
      note(state, () => ({ file: nameOf(path), removed: true }));
    },
    async write(fd, bytes, offset) {
      await disk.write(fd, bytes, offset);
      const file = fileOf(fd);
      // The bytes stay as they are until the sync has ended.
      note(state, () => piecesOf(file, bytes, offset));
    },
    async sync(fd) {
      const [local, remote] = await Promise.allSettled([disk.sync(fd), store(state)]);
      if (local.status === 'rejected') throw local.reason;
      if (remote.status === 'rejected') throw remote.reason;
    },
    async truncate(fd, length) {
      await disk.truncate(fd, length);
      const file = fileOf(fd);
      note(state, () => ({ file, length }));
    },
  };
}

/** Without a copy there is nothing to note: the next one begins with what the files have. */
function note({ copy, changes }: CopyState, change: CopyState['changes'][number]): void {
  if (copy !== undefined) changes.push(change);
}

/** Resolves when the holder has everything that was noted before the call. */
function store(state: CopyState): Promise<void> {
  if (state.to === undefined) return Promise.resolve();
  return state.queue.run(() => storeWithin(state, state.to as CopyHolders));
}

async function storeWithin(state: CopyState, to: CopyHolders): Promise<void> {
  const { now, wait } = state.parts;
  while (state.to === to) {
    try {
      await storeOnce(state, to);
      state.failingSince = undefined;
      return;
    } catch (error) {
      forget(state, to, error);
      state.failingSince ??= now();
      if (now() - state.failingSince >= journalCopyLimits.waitMsMax) throw new NotCopied(error);
      await wait(journalCopyLimits.retryMs);
    }
  }
}

function forget(state: CopyState, { moved }: CopyHolders, error: unknown): void {
  state.changes = [];
  state.failed = state.copy?.holder ?? state.failed;
  if (state.copy === undefined && state.failingSince !== undefined) return;
  state.copy = undefined;
  moved(undefined, error);
}

async function storeOnce(state: CopyState, to: CopyHolders): Promise<void> {
  const { copy } = state;
  const candidates = to.holders();
  if (copy === undefined || !candidates.some(({ id }) => id === copy.holder.id))
    return copyAll(state, to, candidates);
  const changes = state.changes.splice(0).flatMap((change) => change());
  for (const some of inRequests(changes)) await mustStore(to, copy, { changes: some });
}

/** Tries each candidate once. */
async function copyAll(
  state: CopyState,
  to: CopyHolders,
  candidates: readonly NodeAddress[],
): Promise<void> {
  let failure: unknown = new Error('No other node is available');
  const isLast = ({ id }: NodeAddress) => Number(id === state.failed?.id);
  for (const holder of candidates.toSorted((a, b) => isLast(a) - isLast(b)))
    try {
      const copy = { id: randomUUID(), holder };
      // What is written from here on is noted for this copy.
      state.copy = copy;
      state.changes = [];
      await mustStore(to, copy, { begins: true, changes: [] });
      for await (const changes of everything(state.parts.directory))
        await mustStore(to, copy, { changes });
      await mustStore(to, copy, { isWhole: true, changes: [] });
      await to.note(holder, copy.id);
      return to.moved(holder);
    } catch (error) {
      state.copy = undefined;
      failure = error;
    }
  throw failure;
}

async function mustStore(
  { send }: CopyHolders,
  { id, holder }: Copy,
  request: Omit<CopyRequest, 'copy'>,
): Promise<void> {
  const { isStored } = await send(holder, { copy: id, ...request });
  if (!isStored) throw new Error(`Node ${holder.id} no longer has the replica`);
}

/** All files, the small ones first: the journal reaches at least as far as they say. */
async function* everything(directory: string): AsyncGenerator<readonly CopyChange[]> {
  const { nodeId, shipping, followers, journal } = copiedFiles;
  const small: CopyChange[] = [];
  for (const file of [nodeId, followers, shipping]) {
    const contents = await readFile(join(directory, file), 'utf8').catch(unlessMissing);
    if (contents !== undefined) small.push({ file, contents });
  }
  yield small;
  const names = await readdir(join(directory, journal));
  for (const name of names.filter((each) => each.endsWith('.journal')).toSorted())
    yield* piecesOfFile(directory, `${journal}/${name}`);
}

async function* piecesOfFile(
  directory: string,
  file: string,
): AsyncGenerator<readonly CopyChange[]> {
  const handle = await open(join(directory, file)).catch(unlessMissing);
  // It was released meanwhile.
  if (handle === undefined) return;
  try {
    const buffer = Buffer.allocUnsafe(journalCopyLimits.requestBytesMax);
    for (let offset = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
      if (bytesRead === 0 && offset > 0) return;
      yield [{ file, offset, bytes: buffer.toString('base64', 0, bytesRead) }];
      if (bytesRead === 0) return;
      offset += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

function piecesOf(file: string, bytes: Uint8Array, offset: number): CopyChange[] {
  const { requestBytesMax } = journalCopyLimits;
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.ceil(whole.length / requestBytesMax) }, (_, i) => {
    const from = i * requestBytesMax;
    const piece = whole.toString('base64', from, Math.min(whole.length, from + requestBytesMax));
    return { file, offset: offset + from, bytes: piece };
  });
}

/** Changes for each request, in their order. */
function* inRequests(changes: readonly CopyChange[]): Generator<readonly CopyChange[]> {
  let some: CopyChange[] = [];
  let length = 0;
  for (const change of changes) {
    some.push(change);
    length +=
      'bytes' in change ? change.bytes.length : 'contents' in change ? change.contents.length : 0;
    if (length < journalCopyLimits.requestBytesMax) continue;
    yield some;
    [some, length] = [[], 0];
  }
  if (some.length > 0) yield some;
}
