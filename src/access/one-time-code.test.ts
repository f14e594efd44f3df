// One-time codes: the vectors of RFC 6238, drift, use, and base32 of any bytes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CodeSecret } from './second-factor.ts';

const rfcSecret = new CodeSecret(Buffer.from('12345678901234567890'));

test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('appendix B of RFC 6238: at %d s the code is %s', (seconds, code) => {
  const step = Math.floor(seconds / 30);
  expect(rfcSecret.codeOf(step, 8)).toBe(code);
  expect(rfcSecret.codeOf(step)).toBe(code.slice(2));
});

describe('a code', () => {
  const secret = CodeSecret.random();
  const step = 50_000_000;
  const now = step * 30_000 + 12_345;
  const code = (of: number) => secret.codeOf(of);
  const found = (given: string, lastStep = 0) => secret.stepOf(given, { now, lastStep });

  test.each([
    ['the present one', code(step), step],
    ['that of a clock 30 s behind', code(step - 1), step - 1],
    ['that of a clock 30 s ahead', code(step + 1), step + 1],
    ['with a space, as apps show it', `${code(step).slice(0, 3)} ${code(step).slice(3)}`, step],
    ['too old', code(step - 2), undefined],
    ['too early', code(step + 2), undefined],
    ['too short', code(step).slice(1), undefined],
    ['nothing', '', undefined],
    ['letters', 'abcdef', undefined],
  ])('%s', (_, given, expected) => {
    expect(found(given)).toBe(expected);
  });

  test('one that was used, and those before it, are refused', () => {
    expect(found(code(step), step)).toBeUndefined();
    expect(found(code(step - 1), step)).toBeUndefined();
    expect(found(code(step + 1), step)).toBe(step + 1);
  });
});

test('base32 returns any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const { bytes: read } = CodeSecret.parse(new CodeSecret(bytes).base32());
      expect(new Uint8Array(read)).toEqual(bytes);
    }),
  );
  expect(new CodeSecret(Buffer.from('foobar')).base32()).toBe('MZXW6YTBOI');
  expect(CodeSecret.random().base32()).toMatch(/^[A-Z2-7]{32}$/);
});

test('the address names the platform, the account and the secret', () => {
  const address = new URL(CodeSecret.parse('MZXW6YTBOI').address('a b@x.org'));
  expect(address.href).toBe(
    'otpauth://totp/Heliograph:a%20b%40x.org?secret=MZXW6YTBOI&issuer=Heliograph',
  );
});
