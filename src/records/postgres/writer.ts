// The writing session, opened again when it is lost, with the lock of the only writer.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { problem } from '../../model/problem.ts';
import { recordsError } from './records-error.ts';
import { type PostgresServer, postgresLimits, sessionOf } from './server.ts';

/** The advisory lock of the program that writes the records of a database; "heliograph" in ASCII. */
const writerLock = '7522543253236707438';
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

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(sessionOf(server.url, timeoutMs));
    client.on('notice', ({ code, message }) => {
      if (code === listChangedCode && message !== undefined) events.changed(message);
    });
    await client.connect();
    try {
      if (!server.isShared) await lockOut(client, () => isHurried);
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
async function lockOut(client: pg.Client, isHurried: () => boolean): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += writerPollMs) {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(${writerLock}) as "locked"`,
    );
    if (rows[0]?.locked === true) return;
    if (isHurried() || waitedMs >= postgresLimits.writerMsMax) throw problem('recordsBusy');
    await delay(writerPollMs);
  }
}
