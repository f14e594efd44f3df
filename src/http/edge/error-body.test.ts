// CoAP errors: the body of interface 7, and which errors are logged.
import { expect, test } from 'vitest';
import { problem } from '../../model/problem.ts';
import { createCoapErrors } from './responses.ts';

function bodyOf(error: unknown) {
  const seen: unknown[] = [];
  const events = {
    failed: (failure: unknown, { path, errorId }: { path: string; errorId: string }) =>
      void seen.push([failure, path, errorId]),
    credentialRefused: (refused: object) => void seen.push(refused),
  };
  const body = createCoapErrors(events, () => 0)(error, '/v3/capture', '192.0.2.1 5683');
  return { body, seen };
}

test.each([
  [problem('deviceIdMissing'), 400, []],
  [
    problem('uplinkSecretUnknown'),
    401,
    [{ address: '192.0.2.1', route: 'CoAP /v3/capture', reason: 'uplinkSecretUnknown' }],
  ],
])('%s', (error, status, events) => {
  const { body, seen } = bodyOf(error);
  const { message, code: errorCode } = error;
  expect(body).toMatchObject({ status, message, errorCode, path: '/v3/capture' });
  expect(seen).toEqual(events);
});

test('an internal error is logged under the id that the client gets', () => {
  const failure = new Error('secret detail');
  const { body, seen } = bodyOf(failure);
  expect(body.status).toBe(500);
  expect(body.message).not.toContain('secret detail');
  expect(seen).toEqual([[failure, '/v3/capture', body.errorId]]);
});
