// Workspace calendars on real records: read once, and again after a change, also after one that came during the read.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultWorkspaceSettings } from '../../model/workspace.ts';
import { openRecords, type OpenRecords } from '../../storage/records/records.ts';
import { testEngine } from '../../storage/records/testing-engine.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { userRows } from '../../storage/records/rows/users.ts';
import { WorkspaceCalendars, Workspaces } from './workspaces.ts';

const now = Date.UTC(2026, 0, 1);
const organization = {
  id: 'o',
  name: 'o',
  description: null,
  logo: null,
  ownerId: 'u',
  properties: null,
};
let directory: string;
let records: OpenRecords;
let calendars: WorkspaceCalendars;
let workspaceId: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'calendars-'));
  records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: (change) => calendars.recordChanged(change),
    now: () => now,
  });
  calendars = new WorkspaceCalendars(records.db);
  const audit = { created: now, updated: null, version: 0 };
  const user = { id: 'u', name: 'u', email: 'u', proven: false, passwordHash: '' };
  await userRows.insert(records.db, { ...user, ...audit });
  await organizationRows.insert(records.db, { ...organization, ...audit });
  ({ id: workspaceId } = await new Workspaces(records).create({ organizationId: 'o', name: 'w' }));
});
afterAll(async () => {
  await records.close();
  rmSync(directory, { recursive: true, force: true });
});

const zone = async () => (await calendars.calendarOf(workspaceId)).timezone;
const move = (timezone: string) =>
  new Workspaces(records).update(workspaceId, { settings: { timezone } });

test('a known calendar is answered without the records, and a changed one is read again', async () => {
  await move('Europe/Zurich');
  expect(await zone()).toBe('Europe/Zurich');
  expect(calendars.calendarOf(workspaceId)).not.toBeInstanceOf(Promise);
  await move('Asia/Tokyo');
  expect(await zone()).toBe('Asia/Tokyo');
});

test('a calendar that changes while it is read is not kept', async () => {
  await move('Europe/Zurich');
  const reading = calendars.calendarOf(workspaceId);
  expect(reading).toBeInstanceOf(Promise);
  calendars.recordChanged({ kind: 'workspace', id: workspaceId, action: 'updated' });
  await reading;
  const again = calendars.calendarOf(workspaceId);
  expect(again).toBeInstanceOf(Promise);
  calendars.recordChanged({ kind: 'workspace', id: 'of another tenant', action: 'updated' });
  await again;
  expect(calendars.calendarOf(workspaceId)).not.toBeInstanceOf(Promise);
});

test('an unknown workspace has the default calendar', async () => {
  expect(await calendars.calendarOf('nowhere')).toEqual(defaultWorkspaceSettings);
});
