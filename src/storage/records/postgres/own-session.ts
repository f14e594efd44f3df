// Own session: a session of PostgreSQL for one part, which the statements of others never delay.
import pg from 'pg';
import { recordsError } from './records-error.ts';
import { sessionOf } from './server.ts';

export interface OwnSession {
  /** Rows of one statement. Rejects with problems, and when the answer is late. */
  query(text: string, values: readonly unknown[]): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** Connects. `timeoutMs` limits each statement, by the server and by the wait for its answer. */
export async function openOwnSession(url: string, timeoutMs: number): Promise<OwnSession> {
  const client = new pg.Client({ ...sessionOf(url, timeoutMs), query_timeout: timeoutMs });
  // A session that is lost while it is idle is found by its next statement.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw recordsError(error);
  }
  return {
    async query(text, values) {
      try {
        const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
        return rows;
      } catch (error) {
        throw recordsError(error);
      }
    },
    // An answer that never comes must not keep the caller waiting.
    close: async () => client.end(),
  };
}
