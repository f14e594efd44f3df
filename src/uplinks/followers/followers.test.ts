// The register of followers: announcements have the order of the table, for any order of starting.
import { expect, test } from 'vitest';
import type { DurableEntry } from '../../model/journal-entry.ts';
import { Followers, followersOfLog, followerTable } from './followers.ts';
import type { FollowedLog } from './journal-consumer.ts';

function emptyLog(): FollowedLog & { readonly told: [string, number][] } {
  const told: [string, number][] = [];
  return {
    told,
    position: 7,
    entriesFrom: async function* () {},
    behindLost: (position) => position,
    followerPosition: (name) => new Map(told).get(name),
    setFollowerPosition: (name, position) => void told.push([name, position]),
  };
}

const parts = {
  handle: async () => undefined,
  failed: (error: unknown) => expect.fail(`${error}`),
};

function entry(notes: DurableEntry['notes']): DurableEntry {
  return { position: 7, deviceId: 'd1', receivedAt: 0, samples: [], notes, duplicates: 0 };
}

const note = {
  timestamp: 0,
  deviceId: 'd1',
  correlationId: null,
  level: 'warning',
  message: 'x',
} as unknown as DurableEntry['notes'][number];

test('entries are announced in the order of the table', async () => {
  const followers = new Followers(emptyLog());
  const heard: string[] = [];
  followers.listen(
    'live',
    () => heard.push('live'),
    () => heard.push('rows'),
  );
  followers.listen(
    'feeds',
    () => heard.push('feeds'),
    () => undefined,
  );
  const started = followersOfLog
    .toReversed()
    .map((name) => followers.start(name, { ...parts, announced: () => heard.push(name) }));
  followers.announce(entry([note]));
  expect(heard).toEqual(Object.keys(followerTable));
  const summary = { count: 1, workspaceId: 'w', dataFlowId: null, oldest: 0 };
  const next = { ...entry([]), position: 8, summary };
  const rows = { position: 8, length: 1, receivedAt: 0, summary, entryAt: () => next };
  followers.announceRows(rows);
  // Their samples are handled, and nothing else of them is announced.
  expect(heard.slice(Object.keys(followerTable).length)).toEqual(['rows']);
  for (const follower of started) await follower.close();
});

test('an entry of which nothing was left is announced to those that only listen', async () => {
  const followers = new Followers(emptyLog());
  const heard: string[] = [];
  followers.listen(
    'live',
    () => heard.push('live'),
    () => heard.push('rows'),
  );
  const rules = followers.start('rules', { ...parts, announced: () => heard.push('rules') });
  followers.announce(entry([]));
  expect(heard).toEqual(['live']);
  await rules.close();
});

test('a new follower holds the journal from its present end on, whatever its durability', async () => {
  const log = emptyLog();
  const followers = new Followers(log);
  for (const name of followersOfLog) await followers.start(name, parts).close();
  expect(log.told).toEqual(followersOfLog.map((name) => [name, 7]));
  expect(() => followers.start('rules', parts)).toThrow('twice');
});
