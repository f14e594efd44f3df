// Copy store: copies of the journals of other nodes, each in a folder that can be started as that node.
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, replaceFile, syncDirectory } from '../../storage/log/durable-file.ts';
import { createSerialQueue, type SerialQueue } from '../../structures/work-queues.ts';
import {
  type CopyAnswer,
  type CopyChange,
  type CopyRequest,
  isCopiedName,
} from './journal-copy.ts';

/** In the folder of a copy that has everything. */
const wholeMark = 'whole';
const idForm = /^[0-9a-f-]{36}$/;

interface WrittenCopy {
  readonly copy: string;
  readonly directory: string;
  readonly handles: Map<string, FileHandle>;
  readonly queue: SerialQueue;
}

/** The folder of a copy; undefined when it does not have everything. */
export async function wholeCopy(
  directory: string,
  node: string,
  copy: string,
): Promise<string | undefined> {
  if (!idForm.test(node) || !idForm.test(copy)) return undefined;
  const folder = join(directory, node, copy);
  const mark = await stat(join(folder, wholeMark)).catch(() => undefined);
  return mark === undefined ? undefined : folder;
}

export class CopyStore {
  readonly #directory: string;
  readonly #written = new Map<string, WrittenCopy>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  readonly close = async (): Promise<void> => {
    for (const node of this.#written.keys()) await this.#end(node);
  };

  /** Stores changes of the journal of a node. Resolves when they are durable. */
  async store(node: string, { copy, begins, isWhole, changes }: CopyRequest): Promise<CopyAnswer> {
    if (!idForm.test(node) || !idForm.test(copy)) throw new Error('A copy needs ids');
    if (begins === true) await this.#begin(node, copy);
    const known = this.#written.get(node);
    if (known?.copy !== copy) return { isStored: false };
    const isStored = await known.queue.run(() => apply(known, changes));
    if (!isStored) await this.#end(node);
    else if (isWhole === true) {
      await replaceFile(join(known.directory, wholeMark), '');
      await removeOthers(join(this.#directory, node), [copy]);
    }
    return { isStored };
  }

  /** Removes all but these. */
  async keepOnly(
    copies: readonly { readonly node: string; readonly copy: string }[],
  ): Promise<void> {
    const wanted = Map.groupBy(copies, ({ node }) => node);
    for (const node of await namesIn(this.#directory)) {
      const names = (wanted.get(node) ?? []).map(({ copy }) => copy);
      await removeOthers(join(this.#directory, node), [
        ...names,
        this.#written.get(node)?.copy ?? '',
      ]);
    }
  }

  /** Nodes whose copies are written. */
  nodes(): readonly string[] {
    return [...this.#written.keys()];
  }

  async #begin(node: string, copy: string): Promise<void> {
    await this.#end(node);
    const folder = join(this.#directory, node, copy);
    await rm(folder, { recursive: true, force: true });
    await makeFolder(join(folder, 'samples', 'journal'));
    const queue = createSerialQueue();
    this.#written.set(node, { copy, directory: folder, handles: new Map(), queue });
  }

  async #end(node: string): Promise<void> {
    const known = this.#written.get(node);
    this.#written.delete(node);
    for (const handle of known?.handles.values() ?? []) await handle.close();
  }
}

async function removeOthers(folder: string, kept: readonly string[]): Promise<void> {
  for (const name of await namesIn(folder))
    if (!kept.includes(name)) await rm(join(folder, name), { recursive: true, force: true });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** False for a change that does not follow what the copy has. */
async function apply(copy: WrittenCopy, changes: readonly CopyChange[]): Promise<boolean> {
  const dirty = new Set<FileHandle>();
  let isNew = false;
  for (const change of changes) {
    if (!isCopiedName(change.file))
      throw new Error(`${String(change.file)} does not belong to a copy`);
    const path = join(copy.directory, change.file);
    if ('contents' in change) await replaceFile(path, change.contents);
    else if ('removed' in change) await remove(copy, change.file);
    else {
      isNew ||= !copy.handles.has(change.file);
      const handle = await handleOf(copy, change.file);
      if (!(await changeFile(handle, change))) return false;
      dirty.add(handle);
    }
  }
  for (const handle of dirty) await handle.datasync();
  if (isNew) await syncDirectory(join(copy.directory, 'samples', 'journal'));
  return true;
}

async function changeFile(
  handle: FileHandle,
  change: { readonly offset: number; readonly bytes: string } | { readonly length: number },
): Promise<boolean> {
  const { size } = await handle.stat();
  if ('length' in change) {
    if (size < change.length) return false;
    await handle.truncate(change.length);
    return true;
  }
  if (size < change.offset) return false;
  const bytes = Buffer.from(change.bytes, 'base64');
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(
      bytes,
      done,
      bytes.length - done,
      change.offset + done,
    );
    done += bytesWritten;
  }
  return true;
}

async function handleOf({ handles, directory }: WrittenCopy, file: string): Promise<FileHandle> {
  const known = handles.get(file);
  if (known !== undefined) return known;
  const path = join(directory, file);
  const handle = await open(path, 'r+').catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return open(path, 'w+');
  });
  handles.set(file, handle);
  return handle;
}

async function remove({ handles, directory }: WrittenCopy, file: string): Promise<void> {
  await handles.get(file)?.close();
  handles.delete(file);
  await rm(join(directory, file), { force: true });
}
