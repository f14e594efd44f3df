// Tasks after a commit: they see what was committed, run in order, and never after a rollback.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRecords, type OpenRecords, transaction } from './records.ts';
import { followerPositionRows } from './rows/positions.ts';
import { testEngine } from './testing-engine.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-transaction-'));
let records: OpenRecords;
beforeAll(async () => {
  records = await openRecords({ directory, engine: testEngine(directory), announce: () => {} });
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true });
});

describe.each(['synced', 'lazy'] as const)('after a %s transaction', (durability) => {
  test('tasks run in order, and another reader sees what was committed', async () => {
    const seen: unknown[] = [];
    const result = await transaction(
      records.db,
      async ({ db, afterCommit }) => {
        afterCommit(() => seen.push(followerPositionRows.find(records.committed, durability)));
        afterCommit(() => seen.push('second'));
        await followerPositionRows.save(db, durability, 7);
        expect(await followerPositionRows.find(records.committed, durability)).toBeUndefined();
        expect(seen).toEqual([]);
        return 'result';
      },
      durability,
    );
    expect(result).toBe('result');
    expect(await Promise.all(seen)).toEqual([7, 'second']);
  });

  test('a rollback runs none', async () => {
    const seen: string[] = [];
    const rolledBack = transaction(
      records.db,
      async ({ afterCommit }) => {
        afterCommit(() => seen.push('woken'));
        throw new Error('no');
      },
      durability,
    );
    await expect(rolledBack).rejects.toThrow('no');
    // The end of the next transaction is later than anything that the first one could have started.
    await transaction(records.db, async () => undefined, durability);
    expect(seen).toEqual([]);
  });

  test('a task that throws keeps no other from running', async () => {
    const seen: string[] = [];
    const broken = transaction(
      records.db,
      async ({ afterCommit }) => {
        afterCommit(() => {
          throw new Error('broken');
        });
        afterCommit(() => seen.push('other'));
      },
      durability,
    );
    await expect(broken).rejects.toThrow('broken');
    expect(seen).toEqual(['other']);
  });
});

test('outside of a transaction a task runs immediately', () => {
  const seen: string[] = [];
  records.afterCommit(() => seen.push('now'));
  expect(seen).toEqual(['now']);
});
