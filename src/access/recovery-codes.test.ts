// Recovery codes cannot be guessed from their stored hashes.
import { expect, test } from 'vitest';
import { newRecoveryCodes, recoveryCodeHash } from './second-factor.ts';

test('ASVS 6.5.2 and 11.5.1: a recovery code has 128 random bits', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^([A-Z2-7]{4}-){6}[A-Z2-7]{2}$/);
    expect(recoveryCodeHash(` ${code.toLowerCase().replaceAll('-', ' ')}`)).toBe(
      recoveryCodeHash(code),
    );
  }
});
