// Contract 38.1: expressions, checked and in queries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld();
});
afterAll(() => at.close());

describe('POST /v3/expressions/check', () => {
  const check = (expression: string) =>
    at.world.call('POST', '/v3/expressions/check', { expression });

  test('returns the type and the data keys', async () => {
    const { status, body } = await check('temperature > 8 && last(door, "PT1H")');
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      type: 'boolean',
      keys: ['temperature', 'door'],
      error: null,
    });
    expect((await check('temperature ?? "none"')).body).toMatchObject({ valid: true, type: null });
  });

  test('returns the error and its place', async () => {
    const { status, body } = await check('temperature + nothing()');
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: false,
      type: null,
      keys: [],
      error: { message: 'Unknown function nothing', position: 14 },
    });
  });
});
