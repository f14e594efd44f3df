// Commit order: a follower gets each row once, however the transactions of its writers overlap.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommitPlace } from './commit-order.ts';
import { openRecords, type OpenRecords, transaction } from './records.ts';
import { onTheirWayRows } from './rows/deliveries.ts';
import { testEngine } from './testing-engine.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-commit-order-'));
let records: OpenRecords;
beforeAll(async () => {
  records = await openRecords({ directory, engine: testEngine(directory), announce: () => {} });
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true });
});

const draft = {
  connectorId: 'c',
  organizationId: 'o',
  workspaceId: 'w',
  deviceId: 'd',
  correlationId: 'c',
  cause: 'RULE' as const,
  context: {},
};

const writers = 8;
const transactionsPerWriter = 20;

/** Writes in one transaction after the other; each third one stays open for a while. */
async function write(writer: number): Promise<void> {
  for (let place = 0; place < transactionsPerWriter; place += 1)
    await transaction(records.db, async ({ db }) => {
      for (const part of [0, 1]) {
        const id = `${writer}-${place}-${part}`;
        await onTheirWayRows.insert(db, [{ id, draft: { ...draft, idempotencyKey: id } }], 0);
        if ((writer + place) % 3 === 0) for (let turn = 0; turn < 5; turn += 1) await pause();
      }
    });
}

test('rows of overlapping transactions: none is missed, none comes twice, each writer keeps its order', async () => {
  const seen: string[] = [];
  let place: CommitPlace | undefined;
  let isWriting = true;
  const written = Promise.all(Array.from({ length: writers }, (_, n) => write(n))).then(() => {
    isWriting = false;
  });
  for (;;) {
    const wasWriting = isWriting;
    const rows = await onTheirWayRows.behind(records.db, place, 3);
    seen.push(...rows.map(({ id }) => id));
    const last = rows.at(-1);
    place = last?.place ?? place;
    // What was removed with its place does not come again, and nothing else went with it.
    if (last !== undefined) await onTheirWayRows.removeUpTo(records.db, last.place);
    else if (!wasWriting) break;
    else await pause();
  }
  await written;
  const expected = Array.from({ length: writers }, (_, writer) =>
    Array.from({ length: transactionsPerWriter * 2 }, (_row, n) => `${writer}-${n >> 1}-${n & 1}`),
  );
  expect(seen).toHaveLength(writers * transactionsPerWriter * 2);
  for (const [writer, own] of expected.entries())
    expect(seen.filter((id) => id.startsWith(`${writer}-`))).toEqual(own);
});
