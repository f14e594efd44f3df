// The command that adopts the copy of a lost node: ships what that had not, and removes it.
import { rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ConfigError } from '../config-values.ts';
import type { Config } from '../config.ts';
import { wholeCopy } from '../copies/copy-store.ts';
import { adoptedAs, markAdopted } from '../data-folder/adopted-copy.ts';
import { DataFolderError } from '../data-folder/data-folder.ts';
import { storedNodeId } from '../data-folder/node-id.ts';
import { makeFolder } from '../log/durable-file.ts';
import { type OwnSession, openOwnSession } from '../records/postgres/own-session.ts';
import { copiesFolder } from './journal-copies.ts';
import { startPlatform } from './platform.ts';

/** In the data folder of the holder. */
const adoptedFolder = 'adopted';
const statementMsMax = 10_000;
const lookEveryMs = 500;
const followedMs = 5_000;
const usage = 'usage: heliograph adopt NODE, on the machine that has the copy';

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
  const [node] = words;
  const { cluster, recordsUrl, dataDirectory } = config;
  if (node === undefined || words.length > 1) throw new ConfigError(usage);
  if (cluster === undefined || recordsUrl === undefined)
    throw new ConfigError('NODE_URL is not set: only nodes of a cluster have copies of each other');
  const directory = await takeCopy(recordsUrl, { node, dataDirectory });
  const url = new URL(cluster.nodeUrl);
  url.port = String(await freePort());
  const platform = await startPlatform({
    ...{ ...config, dataDirectory: directory, port: 0 },
    ...{ mqttPort: 0, mqttTlsPort: 0, mqttTls: undefined, coapPort: 0 },
    cluster: { ...cluster, nodeUrl: url.origin },
  });
  const { journal } = platform;
  const end = journal.end();
  say(`The copy works as the node ${node}, and is being shipped`);
  // Other nodes follow its journal for their rules as soon as they see it.
  await wait(followedMs);
  while (!journal.isDone(end)) await wait(lookEveryMs);
  await journal.flushHours();
  await platform.close('the copy is shipped');
  await rm(directory, { recursive: true });
  say(`Everything that the node ${node} had acknowledged is shipped`);
}

/** The folder of the copy, which only this command may use from now on. */
async function takeCopy(
  recordsUrl: string,
  { node, dataDirectory }: { readonly node: string; readonly dataDirectory: string },
): Promise<string> {
  const session = await openOwnSession(recordsUrl, statementMsMax);
  try {
    const found = await copyOf(session, node);
    if (found === undefined)
      throw new DataFolderError(
        `PostgreSQL knows no copy of a node ${node}: nodes need JOURNAL_COPIES=2 before they are lost`,
      );
    const { copy, holder, adopted, isSeen } = found;
    // An adoption that was cut short continues.
    const begun = join(dataDirectory, adoptedFolder, node);
    if (adopted !== null && (await adoptedAs(begun)) === adopted) return begun;
    const directory = await wholeCopy(copiesFolder(dataDirectory), node, copy);
    if (directory === undefined)
      throw new DataFolderError(
        `The copy of the node ${node} is not in ${dataDirectory}, which is of the node ${await storedNodeId(dataDirectory)}: it is at the node ${holder}`,
      );
    if (isSeen)
      throw new DataFolderError(
        `The node ${node} works still, or did so less than a minute ago: stop it first`,
      );
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
