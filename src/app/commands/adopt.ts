// The command that adopts the copy of a lost node: ships what that had not, and removes it.
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { copiesFolder } from '../journal-copies.ts';
import { startPlatform } from '../platform.ts';
import { wholeCopy } from '../../cluster/replication/copy-store.ts';
import { ConfigError } from '../config/config-values.ts';
import type { Config } from '../config/config.ts';
import {
  adoptedAs,
  DataFolderError,
  markAdopted,
  storedNodeId,
} from '../../storage/data-folder/data-folder.ts';
import { isChecked, makeFolder } from '../../storage/log/durable-file.ts';
import { openOwnSession, type OwnSession } from '../../storage/records/postgres/server.ts';

/** In the data folder of the holder. */
const adoptedFolder = 'adopted';
const statementMsMax = 10_000;
const lookEveryMs = 500;
const usage =
  'Usage: heliograph adopt NODE (run it on the machine that holds the replica); NODE is the id in the file node-id of the lost data folder, such as 0b2f9c1e-6a57-4a0e-9f0e-2f7d1f0c3b5a';

interface CopyOfNode {
  readonly holder: string;
  readonly copy: string;
  readonly adopted: string | null;
  /** Whether the node works still. */
  readonly isSeen: boolean;
}

/**
 * Runs the copy as the lost node until everything that it had acknowledged is in ClickHouse and was
 * handled by rules and outputs. Throws ConfigError or DataFolderError when the copy cannot be used.
 */
export async function adoptCopy(
  config: Config,
  words: readonly string[],
  say: (sentence: string) => void,
): Promise<void> {
  const { cluster, recordsUrl, dataDirectory } = config;
  const node = nodeOf(words);
  if (cluster === undefined || recordsUrl === undefined)
    throw new ConfigError('NODE_URL is not set. Only cluster nodes have replicas.');
  const directory = await takeCopy(recordsUrl, { node, dataDirectory });
  const platform = await startPlatform({
    ...config,
    dataDirectory: directory,
    host: '127.0.0.1',
    port: 0,
    mqttPort: 0,
    mqttTlsPort: 0,
    mqttTls: undefined,
    coapPort: 0,
    // Its address stays that of the node that works here, which refuses what is not its own.
    cluster: { ...cluster, journalCopies: 1, shipsOnly: true },
  });
  const { journal } = platform;
  const end = journal.end();
  say(`The replica has taken over as node ${node} and is being flushed to ClickHouse`);
  while (!journal.isDone(end)) await wait(lookEveryMs);
  await journal.flushHours();
  await platform.close('the replica has been flushed');
  await rm(directory, { recursive: true });
  say(`Everything that node ${node} acknowledged has been flushed to ClickHouse`);
}

/** The folder of the copy, which only this command may use from now on. */
async function takeCopy(
  recordsUrl: string,
  { node, dataDirectory }: { readonly node: string; readonly dataDirectory: string },
): Promise<string> {
  const session = await openOwnSession(recordsUrl, statementMsMax);
  try {
    const found = await copyOf(session, node);
    if (found === undefined) throw await withoutCopy(session, node, dataDirectory);
    const { copy, holder, adopted, isSeen } = found;
    // An adoption that was cut short continues.
    const begun = join(dataDirectory, adoptedFolder, node);
    if (adopted !== null && (await adoptedAs(begun)) === adopted) return begun;
    const directory = await wholeCopy(copiesFolder(dataDirectory), node, copy);
    if (directory === undefined)
      throw new DataFolderError(
        `The replica of node ${node} is not in ${dataDirectory}, which belongs to node ${await storedNodeId(dataDirectory)}. It is on node ${holder}.`,
      );
    if (isSeen)
      throw new DataFolderError(`Node ${node} was active less than a minute ago. Stop it first.`);
    await markAdopted(directory, copy);
    await session.query(
      `update "journalCopies" set "adopted" = $2 where "node" = $1 and "copy" = $2`,
      [node, copy],
    );
    // The node makes a new copy, which would replace this one.
    await makeFolder(dirname(begun));
    await rm(begun, { recursive: true, force: true });
    await rename(directory, begun);
    return begun;
  } finally {
    await session.close();
  }
}

async function copyOf(session: OwnSession, node: string): Promise<CopyOfNode | undefined> {
  const rows = await session.query(
    `select c."holder", c."copy", c."adopted", coalesce(n."seenUntil" > now(), false) as "isSeen"
     from "journalCopies" c left join "nodes" n on n."id" = c."node" where c."node" = $1`,
    [node],
  );
  return rows[0] as CopyOfNode | undefined;
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id, also with the checksum before it, as the whole file has them. */
function nodeOf(words: readonly string[]): string {
  const given = words.join(' ').trim().split(/\s+/);
  const [id = ''] = given.slice(-1);
  if (given.length > 2 || id === '') throw new ConfigError(usage);
  if (!idForm.test(id))
    throw new ConfigError(`"${words.join(' ')}" is not the id of a node; ${usage}`);
  if (given.length === 2 && !isChecked(given.join(' ')))
    throw new ConfigError(
      `The checksum "${given[0]}" does not belong to the id ${id}: copy the line of the file node-id again, or give the id alone if you are sure of it`,
    );
  return id;
}

async function withoutCopy(
  session: OwnSession,
  node: string,
  dataDirectory: string,
): Promise<Error> {
  const [known] = await session.query('select 1 from "nodes" where "id" = $1', [node]);
  if (known !== undefined)
    return new DataFolderError(
      `No other node has a copy of the journal of the node ${node}: it ran without JOURNAL_COPIES=2, or was lost before its first copy was complete. What it had not shipped is on its own disk only`,
    );
  const rows = (await session.query(
    'select "node" from "journalCopies" order by "node" limit 20',
    [],
  )) as {
    readonly node: string;
  }[];
  const copied = rows.map((row) => row.node).join(', ');
  return new DataFolderError(
    `PostgreSQL knows no node ${node}: compare the id with the file node-id of the lost data folder, and with the names in ${copiesFolder(dataDirectory)}. There are copies of the nodes: ${copied || 'none'}`,
  );
}
