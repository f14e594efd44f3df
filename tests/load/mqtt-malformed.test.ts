// The short form of the runs with malformed MQTT streams.
import { expect, test } from 'vitest';
import { malformedStreams, seededRandom } from './mqtt-malformed.ts';

test('1,000 malformed MQTT streams: nothing stored, nothing crashes, no connection is left, memory flat', {
  timeout: 240_000,
}, async () => {
  const { samples, grownBytes, connectionsLeft, violations } = await malformedStreams(
    1_000,
    seededRandom(20_261_121),
  );
  expect({ samples, connectionsLeft, violations }).toEqual({
    samples: 0,
    connectionsLeft: 0,
    violations: [],
  });
  expect(grownBytes).toBeLessThan(16 * 1024 * 1024);
});
