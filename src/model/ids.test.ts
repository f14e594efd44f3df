// Identifiers that follow each other, as rows of one batch have them (contract 0).
import { expect, test } from 'vitest';
import { hasFormOfId, idSequence } from './ids.ts';

test('ids of a sequence differ, follow each other, and have the form of their kind', () => {
  const next = idSequence('device');
  const ids = Array.from({ length: 1_000 }, next);
  expect(new Set(ids).size).toBe(1_000);
  expect(ids.every((id) => /^02[0-9a-f]{14}$/.test(id) && hasFormOfId('device', id))).toBe(true);
  expect(BigInt(`0x${ids[999]}`) - BigInt(`0x${ids[0]}`)).toBe(999n);
  expect(idSequence('device')().slice(0, 8)).not.toBe(ids[0]?.slice(0, 8));
});
