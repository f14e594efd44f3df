// One-time codes: six digits from a shared secret and the time (RFC 6238), and recovery codes that replace them once each.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EpochMs } from '../model/instant.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';

const stepMs = 30_000;
const digits = 6;
/** As long as the hash, as RFC 4226 section 4 recommends. */
const secretBytes = 20;
/** A clock may be this many intervals ahead or behind. */
const driftSteps = 1;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const issuer = 'Heliograph';

/** A new secret in base32 (RFC 4648), as apps take it: 32 characters. */
export function newCodeSecret(): string {
  return toBase32(randomBytes(secretBytes));
}

/** The code of an interval of 30 s, counted from 1970. `length` of other than 6 digits is for tests. */
export function codeOfStep(secret: Buffer, step: number, length = digits): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** length;
  return String(number).padStart(length, '0');
}

/**
 * The interval that the code belongs to: the present one or a neighbor, if it is later than
 * `lastStep`, so that no code counts twice. Undefined for a wrong or used code. Spaces do not
 * matter.
 */
export function stepOfCode(
  base32Secret: string,
  code: string,
  { now, lastStep }: { readonly now: EpochMs; readonly lastStep: number },
): number | undefined {
  const secret = fromBase32(base32Secret);
  const given = Buffer.from(code.replaceAll(/\s/g, ''));
  const present = Math.floor(now / stepMs);
  let found: number | undefined;
  for (let step = present - driftSteps; step <= present + driftSteps; step += 1) {
    const expected = Buffer.from(codeOfStep(secret, step));
    const isSame = given.length === expected.length && timingSafeEqual(given, expected);
    if (isSame && step > lastStep) found ??= step;
  }
  return found;
}

/** The address that apps read from a QR code. `account` is what the app shows next to the code. */
export function codeAddress(base32Secret: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32Secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** Base32 of RFC 4648 without padding. */
export function toBase32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let encoded = '';
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xf_ff;
    for (bits += 8; bits >= 5; bits -= 5) encoded += alphabet.charAt((value >>> (bits - 5)) & 31);
  }
  if (bits > 0) encoded += alphabet.charAt((value << (5 - bits)) & 31);
  return encoded;
}

/** The bytes of `toBase32`. Throws Error for another character: secrets are only written here. */
export function fromBase32(encoded: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of encoded) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) throw new Error('A secret of one-time codes is not base32');
    value = ((value << 5) | digit) & 0xf_ff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >>> bits) & 0xff);
    }
  }
  return Buffer.from(bytes);
}

// Recovery codes: replace the second factor once each, for a user who lost the phone.

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
