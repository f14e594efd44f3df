// Addresses that two people have never become one.
import { expect, test } from 'vitest';
import { emailAddressOf } from './user.ts';

test.each([
  [' Ada@Example.ORG\n', 'ada@example.org'],
  // The Kelvin sign, whose lower case is k.
  ['mi\u212Ae@corp.example', 'mi\u212Ae@corp.example'],
  // A capital I with a dot, whose lower case has two characters.
  ['\u0130@corp.example', '\u0130@corp.example'],
  ['\u00C4da@corp.example', '\u00C4da@corp.example'],
  // A space of another script belongs to the address, which is then refused.
  ['\u00A0ada@corp.example', '\u00A0ada@corp.example'],
])('security 5: %j is stored and compared as %j', (text, address) => {
  expect(emailAddressOf(text)).toBe(address);
});
