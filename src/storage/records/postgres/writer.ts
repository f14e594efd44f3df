// The writing session, opened again when it is lost, and the turns of writers on several nodes.
import { setTimeout as delay } from 'node:timers/promises';
import pg, { escapeLiteral } from 'pg';
import { problem } from '../../../model/problem.ts';
import type { RecordChange } from '../../../model/record.ts';
import { postgresLimits, type PostgresServer, recordsError, sessionOf } from './server.ts';

const writerPollMs = 100;

/** The SQLSTATE of the messages of triggers. */
export const listChangedCode = 'HG001';

export class Writer {
  readonly #server: PostgresServer;
  readonly #events: {
    /** A message of a trigger, with the organization whose lists changed. */
    readonly changed: (organizationId: string) => void;
    /** Called after a lost session was replaced: what it had begun has ended. */
    readonly replaced: () => void;
  };
  #current: Promise<pg.Client> | undefined;
  #hadSession = false;
  #isHurried = false;
  #isClosed = false;
  #timeoutMs = 0;
  readonly #waitMsMax: number;

  constructor(
    server: PostgresServer,
    events: {
      /** A message of a trigger, with the organization whose lists changed. */
      readonly changed: (organizationId: string) => void;
      /** Called after a lost session was replaced: what it had begun has ended. */
      readonly replaced: () => void;
    },
  ) {
    this.#server = server;
    this.#events = events;
    const { waitMsMax = postgresLimits.waitMsMax } = server;
    this.#waitMsMax = waitMsMax;
  }

  async #connect(): Promise<pg.Client> {
    const waits = this.#server.node === undefined ? {} : { lock_timeout: this.#waitMsMax };
    const client = new pg.Client({ ...sessionOf(this.#server.url, this.#timeoutMs), ...waits });
    client.on('notice', ({ code, message }) => {
      if (code === listChangedCode && message !== undefined) this.#events.changed(message);
    });
    await client.connect();
    try {
      if (!this.#server.isShared)
        await lockOut(
          client,
          writerLockQuery(this.#server),
          (ms) => this.#isHurried || ms >= this.#waitMsMax,
        );
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    if (this.#hadSession) this.#events.replaced();
    this.#hadSession = true;
    return client;
  }

  #forget(made: Promise<pg.Client>): void {
    if (this.#current === made) this.#current = undefined;
  }

  /** The session; connects when it is needed. Throws problems. */
  async session(): Promise<pg.Client> {
    if (this.#isClosed) throw problem('recordsUnreachable');
    if (this.#current === undefined) {
      const made = this.#connect();
      this.#current = made;
      made.then(
        (client) => {
          for (const event of ['error', 'end'] as const) client.on(event, () => this.#forget(made));
        },
        () => this.#forget(made),
      );
    }
    try {
      return await this.#current;
    } catch (error) {
      throw recordsError(error);
    }
  }

  /** Ends sessions that wait, and gives statements this long from now on; 0 is no limit. */
  async limitStatements(ms: number): Promise<void> {
    this.#timeoutMs = ms;
    await (await this.session()).query(`set statement_timeout = ${ms}`);
  }

  readonly hurry = (): void => {
    this.#isHurried = true;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    const made = this.#current;
    this.#current = undefined;
    await (await made?.catch(() => undefined))?.end().catch(() => undefined);
  }
}

/**
 * Waits until no other session writes: after a lost connection the server may need a moment to
 * notice. Throws `recordsBusy`.
 */
async function lockOut(
  client: pg.Client,
  query: string,
  isOver: (waitedMs: number) => boolean,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += writerPollMs) {
    const { rows } = await client.query<{ locked: boolean }>(query);
    if (rows[0]?.locked === true) return;
    if (isOver(waitedMs)) throw problem('recordsBusy');
    await delay(writerPollMs);
  }
}

// Turns of writers: a single program, or nodes of which one at a time has a transaction open.

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
interface TransactionNews {
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
