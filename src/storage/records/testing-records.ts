// Records of tests: a real database in a folder of its own, removed at the end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordChange } from '../../model/record.ts';
import { type OpenRecords, openRecords } from './records.ts';
import { testEngine } from './testing-engine.ts';
import { organizationRows } from './rows/workspaces.ts';
import { userRows } from './rows/users.ts';

export interface TestRecords {
  readonly records: OpenRecords;
  readonly close: () => Promise<void>;
}

/** Opens records that contain organization `o` and its owner `u`. */
export async function openTestRecords(
  announce: (change: RecordChange) => void = () => undefined,
): Promise<TestRecords> {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-flows-'));
  const records = await openRecords({ directory, engine: testEngine(directory), announce });
  const audit = { created: 1, updated: null, version: 0 };
  const user = { id: 'u', name: 'u', email: 'u', proven: false, passwordHash: '' };
  await userRows.insert(records.db, { ...user, ...audit });
  await organizationRows.insert(records.db, {
    id: 'o',
    name: 'o',
    description: null,
    logo: null,
    ownerId: 'u',
    properties: null,
    ...audit,
  });
  return {
    records,
    async close() {
      await records.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
