// Own sessions: what counts as a late answer of PostgreSQL.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { missing } from '../../../structures/missing.ts';
import { openOwnSession, type OwnSession } from './server.ts';

const url = process.env['RECORDS_CLUSTER'];
const timeoutMs = 300;

describe.skipIf(url === undefined)('an own session', () => {
  const opened: OwnSession[] = [];
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.close();
  });
  async function open(): Promise<OwnSession> {
    const session = await openOwnSession(url ?? missing('RECORDS_CLUSTER'), timeoutMs);
    opened.push(session);
    return session;
  }

  test('takes an answer that came while the process stood still', async () => {
    const session = await open();
    const answer = session.query('select 1 as one', []);
    await turn();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * timeoutMs);
    expect(await answer).toEqual([{ one: 1 }]);
  });

  test('does not wait for a late one', async () => {
    const session = await open();
    await session.query('set statement_timeout = 0', []);
    await expect(session.query('select pg_sleep(20)', [])).rejects.toMatchObject({
      problem: 'recordsUnreachable',
    });
  });
});
