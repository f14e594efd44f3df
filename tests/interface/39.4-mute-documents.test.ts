// Contract 39.4: mutes in the document of a workspace: every one travels, also those that share a name.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const hour = 3_600_000;
const iso = (hours: number) => new Date(Date.now() + hours * hour).toISOString();
const pathOf = (workspaceId: string) => `/v3/workspaces/${workspaceId}/configuration`;
const nothing = { created: 0, updated: 0, notes: [] };

test('mutes that share a name all travel, each once, and again changes nothing', async () => {
  const { workspaceId, organizationId } = world;
  const device = await world.device();
  const tag = { workspaceId, name: 'Roof', color: '#3456BF' };
  const { id: tagId } = await world.must('POST', '/v3/tags', tag);
  const mute = (what: object, more: object) =>
    world.must('POST', '/v3/mutes', { workspaceId, name: 'Maintenance', what, ...more });
  const once = { from: iso(-1), to: iso(5) };
  const weekly = { days: ['SA', 'SU'], from: '22:00', to: '06:00', timeZone: 'Europe/Zurich' };
  await mute({ deviceIds: [device.id] }, { once });
  await mute({ alarmKeys: ['cooling'], tagIds: [tagId] }, { once, reason: 'New compressor' });
  const last = await mute({ all: true }, { weekly, severityBelow: 'MAJOR' });
  await mute({ all: true }, { once: { from: iso(-3), to: iso(-2) } });
  const path = pathOf(workspaceId);
  const document = await world.must('GET', path);
  // One that is over mutes nothing any more.
  expect(document.mutes).toHaveLength(3);
  const cooling = { alarmKeys: ['cooling'], tags: ['Roof'] };
  expect(document.mutes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ what: { devices: [device.deviceId] }, once }),
      expect.objectContaining({ what: cooling, reason: 'New compressor' }),
      expect.objectContaining({ what: { all: true }, weekly, severityBelow: 'MAJOR' }),
    ]),
  );
  expect(await world.must('PUT', path, document)).toMatchObject(nothing);

  // Without the device, its mute waits; the others keep their places.
  const other = await world.must('POST', '/v3/workspaces', { name: 'Other', organizationId });
  const elsewhere = pathOf(other.id);
  const { tags, mutes } = document;
  const part = { format: document.format, tags, mutes };
  for (const counts of [
    { created: 3, updated: 0 },
    { created: 0, updated: 0 },
  ])
    expect(await world.must('PUT', elsewhere, part)).toMatchObject({
      ...counts,
      notes: [`mutes Maintenance: left out, the workspace has no device ${device.deviceId}`],
    });
  const copied = (await world.must('GET', elsewhere)).mutes;
  expect(copied).toHaveLength(2);
  expect(mutes).toEqual(expect.arrayContaining(copied));

  // A changed item changes the mute at its place, and one item more creates one mute more.
  const changed = mutes.map((item: { severityBelow: string | null }) =>
    item.severityBelow === 'MAJOR' ? { ...item, severityBelow: 'CRITICAL' } : item,
  );
  const again = mutes.find((item: { once: object | null }) => item.once !== null);
  const more = { ...document, mutes: [...changed, again] };
  expect(await world.must('PUT', path, more)).toMatchObject({ created: 1, updated: 1, notes: [] });
  expect((await world.must('GET', `/v3/mutes/${last.id}`)).severityBelow).toBe('CRITICAL');
});
