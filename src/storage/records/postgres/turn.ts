// Turns of writers: a single program, or nodes of which one at a time has a transaction open.
import { escapeLiteral } from 'pg';
import type { RecordChange } from '../../../model/record.ts';
import type { PostgresServer } from './server.ts';

/** Held by all that write the records of a database, as long as they run: "heliograph" in ASCII. */
const writerLock = '7522543253236707438';
/** Held by the transaction of the node whose turn it is. */
const turnLock = '7522543253236707439';

/** Asks for the lock of writers; the answer is in `locked`. Nodes share it, others do not. */
export function writerLockQuery({ node }: PostgresServer): string {
  const form = node === undefined ? '' : '_shared';
  return `select pg_try_advisory_lock${form}(${writerLock}) as "locked"`;
}

/**
 * Begins a transaction; on a node, in its turn. The statements after it see what was committed
 * before the turn began, which is why the lock is not a part of the first of them.
 */
export function beginQuery({ node }: PostgresServer): string {
  return node === undefined
    ? 'begin'
    : `begin isolation level read committed; select pg_advisory_xact_lock(${turnLock})`;
}

/** Changes in one row: others read whole rows. */
const changesPerRow = 500;

/** What a transaction publishes for other nodes. */
export interface TransactionNews {
  readonly changes: readonly RecordChange[];
  /** Organizations whose device lists changed. */
  readonly lists: readonly string[];
}

/** The statements that publish it, for the message that commits. */
export function newsQueries(node: string, { changes, lists }: TransactionNews): readonly string[] {
  const rows: string[] = [];
  for (let from = 0; from < changes.length || (from === 0 && lists.length > 0); ) {
    const some = changes.slice(from, from + changesPerRow);
    const own = from === 0 ? lists : [];
    rows.push(
      `(${[node, JSON.stringify(some), JSON.stringify(own)].map(escapeLiteral).join(', ')})`,
    );
    from += changesPerRow;
  }
  if (rows.length === 0) return [];
  return [`insert into "recordChanges" ("node", "changes", "lists") values ${rows.join(', ')}`];
}
