// Secrets that must be shown or sent again are kept encrypted (AES-256-GCM) with the installation's own key.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnreadableRecord } from '../../model/problem.ts';
import { DataFolderError, syncFolder } from '../data-folder/data-folder.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const form = 's1';
const keyName = 'secrets.key';

/**
 * The key given by the operator (any text), else the one in the data folder; what is wrong with it
 * when it cannot be used.
 */
export function keptSecretsKey(directory: string, given?: string): Buffer | 'missing' | 'damaged' {
  if (given !== undefined && given !== '') return hash('sha256', given, 'buffer');
  const path = join(directory, keyName);
  if (!existsSync(path)) return 'missing';
  const kept = readFileSync(path, 'utf8').trim();
  return /^[0-9a-f]{64}$/.test(kept) ? Buffer.from(kept, 'hex') : 'damaged';
}

/**
 * The same; the first start makes one. Throws for a damaged file. What it makes is on disk before
 * anything is sealed with it.
 */
export function secretsKey(directory: string, given?: string): Buffer {
  const kept = keptSecretsKey(directory, given);
  if (kept === 'damaged')
    throw new DataFolderError(
      `${join(directory, keyName)} does not hold a key of ${keyBytes} bytes`,
    );
  if (kept !== 'missing') return kept;
  const made = randomBytes(keyBytes);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, keyName), `${made.toString('hex')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  syncFolder(directory);
  return made;
}

export class Sealer {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The text, unreadable without the key. */
  seal(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${form}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')}`;
  }

  /**
   * The text again; throws UnreadableRecord when the key is another one or the text was changed.
   */
  open(sealed: string): string {
    const [marker, encoded = ''] = sealed.split('.');
    if (marker !== form) throw new UnreadableRecord('A sealed text has an unknown form');
    const bytes = Buffer.from(encoded, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const body = bytes.subarray(nonceBytes + tagBytes);
    try {
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch (error) {
      throw new UnreadableRecord(
        'A stored secret cannot be decrypted: SECRETS_KEY has changed, or the data is corrupted',
        {
          cause: error,
        },
      );
    }
  }
}

/**
 * How secrets are looked up: SHA-256, hexadecimal. Enough because they are long and random, and
 * fast.
 */
export function secretHash(secret: string): string {
  return hash('sha256', secret, 'hex');
}

const prefixLengthMax = 8;

/** What people recognise a secret by: its beginning, never more than a quarter of it. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, Math.min(prefixLengthMax, secret.length >> 2));
}
