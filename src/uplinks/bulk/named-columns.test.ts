// Samples of many devices in columns give the answers, the samples and the announcements of parsed elements.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { jsonArrayGroups } from '../../transports/http/json-groups.ts';
import { sampleGroups } from '../../transports/http/sample-groups.ts';
import {
  bodyOf,
  closePlatforms,
  limits,
  platform,
  requestElements,
  send,
  stateOf,
} from './testing-backfill.ts';

afterAll(closePlatforms);
let runs = 0;

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('property: two requests give the same answers, samples and announcements, in columns or not', async () => {
  const byColumns = await platform('columns');
  const byElements = await platform('elements');
  await fc.assert(
    fc.asyncProperty(
      fc.array(requestElements, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', 'x', ','),
      async (bodies, spoiled) => {
        const run = runs++;
        for (const elements of bodies) {
          const whole = bodyOf(elements, run);
          const text = `${whole.slice(0, -1)}${spoiled}]`;
          const expected = await send(byElements, jsonArrayGroups(chunksOf(text), limits));
          expect(await send(byColumns, sampleGroups(chunksOf(text), 'free', limits))).toEqual(
            expected,
          );
        }
        expect(await stateOf(byColumns, run)).toEqual(await stateOf(byElements, run));
      },
    ),
    { numRuns: 150 },
  );
});
