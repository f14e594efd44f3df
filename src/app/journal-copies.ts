// Connects copies of journals: this node's is copied to another one, and it holds those of others.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Leases, otherNodes } from '../cluster/leases/leases.ts';
import type { CallHandlers, Nodes } from '../cluster/nodes/nodes.ts';
import {
  copiedFiles,
  type CopyAnswer,
  type CopyRequest,
  JournalCopy,
} from '../cluster/replication/journal-copy.ts';
import { CopyStore } from '../cluster/replication/copy-store.ts';
import type { Config } from './config/config.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import { adoptedAs, DataFolderError } from '../storage/data-folder/data-folder.ts';
import { realDisk } from '../storage/log/durable-file.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { journalCopyRows } from '../storage/records/rows/shared-records.ts';
import type { Closers } from '../structures/closers.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Parts } from './platform-parts.ts';
import { EntryTail, offerSamples } from '../cluster/sample-feed.ts';
import type { FeedHandler } from '../cluster/nodes/feeds.ts';

const copyCall = 'journalCopy';
/** How often the copy is looked after, and gets the positions of followers. */
const tendEveryMs = 1_000;
/** A holder that does not answer for this time is replaced. */
const answerMsMax = 3_000;
/** How often copies that moved to other nodes are removed here. */
const removeEveryMs = 60_000;
/** How long a node that stops waits for its copy. */
const closeMsMax = 2_000;

/** Undefined when only this folder keeps the journal. */
export function openJournalCopy({
  cluster,
  dataDirectory: directory,
}: Config): JournalCopy | undefined {
  if (cluster?.journalCopies !== 2) return undefined;
  return new JournalCopy({ directory, disk: realDisk, now: () => performance.now(), wait });
}

export const copiesFolder = (dataDirectory: string): string => join(dataDirectory, 'copies');

/**
 * Throws DataFolderError for the folder of a node whose journal continues in a copy: what it would
 * write would have positions that the other has given already.
 */
export async function refuseAdopted(db: RecordsDb, node: string, directory: string): Promise<void> {
  const row = (await journalCopyRows.all(db)).find((each) => each.node === node);
  if (row === undefined || row.adopted === null || row.adopted === (await adoptedAs(directory)))
    return;
  throw new DataFolderError(
    `The replica of this node's journal was promoted on another machine. Start this node with an empty data folder instead of ${directory}.`,
  );
}

interface NodeOfCopies {
  readonly parts: Parts;
  readonly leases: Leases;
  readonly nodes: Nodes;
  readonly closers: Closers;
}

/** Copies what this node writes, if that is wanted, and answers the others. */
export async function shareCopies(node: NodeOfCopies): Promise<CallHandlers> {
  const { parts, leases, closers } = node;
  const { config, records, telemetry } = parts;
  const store = new CopyStore(copiesFolder(config.dataDirectory));
  const removeMoved = async (): Promise<void> => {
    const rows = await journalCopyRows.all(records.db);
    await store.keepOnly(rows.filter(({ holder }) => holder === leases.node.id));
  };
  await removeMoved();
  const failed = (error: unknown) => telemetry.backgroundFailed('removing moved copies', error);
  const stop = setRepeatingTimer(() => void removeMoved().catch(failed), removeEveryMs);
  closers.push('copies of journals', () => {
    stop();
    return store.close();
  });
  telemetry.gauge(
    'journal_replicas_held',
    'Journal replicas of other nodes held by this node.',
    () => store.nodes().length,
  );
  if (parts.journalCopy !== undefined) copyJournal(node, parts.journalCopy);
  return new Map([
    [
      copyCall,
      async (request: unknown, from: string) => await store.store(from, request as CopyRequest),
    ],
  ]);
}

function copyJournal({ parts, leases, nodes, closers }: NodeOfCopies, copy: JournalCopy): void {
  const { config, records, telemetry } = parts;
  const { id: self } = leases.node;
  const failed = (error: unknown) => telemetry.backgroundFailed('copying the journal', error);
  copy.connect({
    holders: () => holdersOf(self, otherNodes(leases)),
    send: async (to, request) => {
      const answer = nodes.call(to, copyCall, request);
      return (await withinTime(answer, to)) as CopyAnswer;
    },
    note: (holder, name) =>
      journalCopyRows.note(records.db, { node: self, holder: holder.id, copy: name }),
    moved: (holder, error) => (holder === undefined ? failed(error) : undefined),
  });
  telemetry.gauge('journal_replicated', '1 when the journal replica is up to date.', () =>
    Number(copy.holder !== undefined),
  );
  const followers = join(config.dataDirectory, copiedFiles.followers);
  let last = '';
  const tend = async (): Promise<void> => {
    const contents = await readFile(followers, 'utf8').catch(() => '');
    if (contents === '' || contents === last) await copy.ensure();
    else await copy.replaced(copiedFiles.followers, contents);
    last = contents;
  };
  const stop = setRepeatingTimer(() => void tend().catch(failed), tendEveryMs);
  closers.push('the copy of the journal', async () => {
    stop();
    const shipAll = async (): Promise<void> => {
      await parts.sharedSamples?.moveDevices();
      await copy.ensure();
    };
    // What is shipped later, the copy would have to look for.
    if (copy.holder !== undefined)
      await Promise.race([shipAll().catch(failed), wait(closeMsMax, undefined, { ref: false })]);
    copy.disconnect();
  });
}

/** Throws when the node does not answer in time; what it does later is of a copy that does not count. */
async function withinTime<T>(answer: Promise<T>, { id }: NodeAddress): Promise<T> {
  const late = new AbortController();
  const waited = wait(answerMsMax, undefined, { signal: late.signal });
  try {
    const timeout = waited.then(() => {
      throw new Error(`Node ${id} is not responding`);
    });
    return await Promise.race([answer, timeout]);
  } finally {
    late.abort();
    waited.catch(() => undefined);
    answer.catch(() => undefined);
  }
}

/** In an order that differs from node to node, so that each holds about as much as the others. */
function holdersOf(self: string, others: readonly NodeAddress[]): readonly NodeAddress[] {
  const rank = ({ id }: NodeAddress) => createHash('sha256').update(`${self} ${id}`).digest('hex');
  return others
    .map((node) => ({ node, rank: rank(node) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ node }) => node);
}

// Connects the journal of this node with the sessions of others.

/** Without its own number, the journal of a folder has the id of its node. */
export function journalName({ sharedSamples }: Parts, nodeId: string): string {
  return sharedSamples?.journal().toString() ?? nodeId.replaceAll('-', '');
}

/** Offers the samples of this node's journal to the others. */
export function samplesForOthers(parts: Parts, nodeId: string): FeedHandler {
  const { log, followers, telemetry } = parts;
  const tail = new EntryTail();
  followers.listen('feeds', tail.announced, tail.announcedRows);
  return offerSamples({
    log,
    tail,
    setRepeatingTimer,
    journal: () => journalName(parts, nodeId),
    failed: (error) => telemetry.backgroundFailed('sending samples to another node', error),
  });
}
