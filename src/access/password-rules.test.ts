// What is guessed first is refused, and nothing else.
import { describe, expect, test } from 'vitest';
import { passwordWeakness } from './password.ts';

const email = 'ada.lovelace@engines.example';

describe('review security 18: refused', () => {
  test.each([
    'short',
    '1234567890',
    '0987654321',
    'qwertyuiop',
    'QWERTYUIOP',
    'aaaaaaaaaaaa',
    'abababababab',
    'abcdefghijkl',
    'abc123abc123',
    'password123',
    'Password2026!',
    'P@ssw0rd2026',
    'basketball',
    'sunshine1234',
    'football!!!!',
    '1qaz2wsx3edc',
    'ada.lovelace@engines.example',
    'lovelace2026',
    'Engines1234!',
    'x'.repeat(201),
  ])('%s', (password) => {
    expect(passwordWeakness(password, email)).toEqual(expect.any(String));
  });
});

describe('security 9, ASVS 6.1.2 and 6.2.11: refused by names', () => {
  test.each([
    'Heliograph1',
    'heliograph!!!',
    'H3l10graph2026',
    'Engine Works1',
    'engineworks99',
    'Babbage1815!',
  ])('%s', (password) => {
    expect(passwordWeakness(password, email, ['Charles Babbage', 'Engine Works'])).toContain(
      'name',
    );
  });

  test.each(['the engine works of Manchester', 'a heliograph of mirrors'])(
    'but not %s',
    (password) => {
      expect(
        passwordWeakness(password, email, ['Charles Babbage', 'Engine Works']),
      ).toBeUndefined();
    },
  );
});

describe('taken', () => {
  test.each([
    'correct horse battery staple',
    'first password of the owner',
    'stolen-password-1',
    'Tr0ub4dor&3xyz',
    'kX9#mQ2$vL5p',
    'lovelace wrote programs in 1843',
    'mein Hund heisst Waldi',
    '\u5bc6\u7801\u662f\u4e00\u4e2a\u5f88\u957f\u7684\u53e5\u5b50',
  ])('%s', (password) => {
    expect(passwordWeakness(password, email)).toBeUndefined();
  });
});
