// Recovery codes: replace the second factor once each, for a user who lost the phone.
import { randomBytes } from 'node:crypto';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { toBase32 } from './one-time-code.ts';

const codeCount = 10;
/** 128 bits, so that a fast hash hides them (ASVS 5.0, 6.5.2). */
const codeBytes = 16;

/** Ten codes such as `ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: codeCount }, () => {
    const code = toBase32(randomBytes(codeBytes));
    return (code.match(/.{1,4}/g) ?? []).join('-');
  });
}

/** How a code is stored. Users copy them from paper: case, spaces and hyphens do not matter. */
export function recoveryCodeHash(code: string): string {
  return secretHash(code.toUpperCase().replaceAll(/[^A-Z2-7]/g, ''));
}
