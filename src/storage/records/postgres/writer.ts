// The writing session, opened again when it is lost, with the lock of writers.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { problem } from '../../../model/problem.ts';
import { recordsError } from './records-error.ts';
import { type PostgresServer, postgresLimits, sessionOf } from './server.ts';
import { writerLockQuery } from './turn.ts';

const writerPollMs = 100;

export interface WriterEvents {
  /** A message of a trigger, with the organization whose lists changed. */
  readonly changed: (organizationId: string) => void;
  /** Called after a lost session was replaced: what it had begun has ended. */
  readonly replaced: () => void;
}

export interface Writer {
  /** The session; connects when it is needed. Throws problems. */
  session(): Promise<pg.Client>;
  /** Ends sessions that wait, and gives statements this long from now on; 0 is no limit. */
  limitStatements(ms: number): Promise<void>;
  hurry(): void;
  close(): Promise<void>;
}

/** The SQLSTATE of the messages of triggers. */
export const listChangedCode = 'HG001';

export function createWriter(server: PostgresServer, events: WriterEvents): Writer {
  let current: Promise<pg.Client> | undefined;
  let hadSession = false;
  let isHurried = false;
  let isClosed = false;
  let timeoutMs = 0;
  const { waitMsMax = postgresLimits.waitMsMax } = server;

  const connect = async (): Promise<pg.Client> => {
    const waits = server.node === undefined ? {} : { lock_timeout: waitMsMax };
    const client = new pg.Client({ ...sessionOf(server.url, timeoutMs), ...waits });
    client.on('notice', ({ code, message }) => {
      if (code === listChangedCode && message !== undefined) events.changed(message);
    });
    await client.connect();
    try {
      if (!server.isShared)
        await lockOut(client, writerLockQuery(server), (ms) => isHurried || ms >= waitMsMax);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    if (hadSession) events.replaced();
    hadSession = true;
    return client;
  };

  const forget = (made: Promise<pg.Client>): void => {
    if (current === made) current = undefined;
  };

  return {
    async session() {
      if (isClosed) throw problem('recordsUnreachable');
      if (current === undefined) {
        const made = connect();
        current = made;
        made.then(
          (client) => {
            for (const event of ['error', 'end'] as const) client.on(event, () => forget(made));
          },
          () => forget(made),
        );
      }
      try {
        return await current;
      } catch (error) {
        throw recordsError(error);
      }
    },
    async limitStatements(ms) {
      timeoutMs = ms;
      await (await this.session()).query(`set statement_timeout = ${ms}`);
    },
    hurry() {
      isHurried = true;
    },
    async close() {
      isClosed = true;
      const made = current;
      current = undefined;
      await (await made?.catch(() => undefined))?.end().catch(() => undefined);
    },
  };
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
