// Kept sessions: bounded by their memory, and shared by organizations.
import { expect, test } from 'vitest';
import { mqttLimits } from './mqtt-limits.ts';
import { SessionStore, type KeptSession } from './mqtt-session.ts';

const session = (topic = 'down'): KeptSession => ({
  subscriptions: [{ topic, qos: 1 }],
  halfReceived: [],
  keptAt: 0,
  until: 1,
});

test('security 2: of kept sessions, the oldest of the organization that has most give way', () => {
  const store = new SessionStore(() => 0);
  store.set('quiet', session(), 'B');
  const { sessionsKeptMax } = mqttLimits;
  for (let i = 0; i <= sessionsKeptMax; i++) store.set(`loud ${i}`, session(), 'A');
  expect(store.size).toBe(sessionsKeptMax);
  const kept = ['quiet', 'loud 0', 'loud 1', 'loud 2'].map((key) => store.get(key) !== undefined);
  expect(kept).toEqual([true, false, false, true]);
});

test('a session with much memory counts as several', () => {
  const store = new SessionStore(() => 0);
  const long = 'x'.repeat(10 * mqttLimits.sessionKeptBytes);
  for (let i = 0; i < mqttLimits.sessionsKeptMax; i++) store.set(`key ${i}`, session(long));
  expect(store.size).toBeLessThan(mqttLimits.sessionsKeptMax / 10);
});
