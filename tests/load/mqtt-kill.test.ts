// The short form of the kill runs over MQTT.
import { expect, test } from 'vitest';
import { mqttKillRounds } from './mqtt-kill.ts';

test('2 kills while clients publish with QoS 1: everything acknowledged is there, and everything once', {
  timeout: 240_000,
}, async () => {
  let turn = 0;
  const report = await mqttKillRounds(2, () => ((turn += 1) * 0.37) % 1);
  expect(report.violations).toEqual([]);
  expect(report.published).toBeGreaterThan(40);
  // Without packets that were sent again, the duplicate filter would not have been tried.
  expect(report.repeated).toBeGreaterThan(0);
});
