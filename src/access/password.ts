// Password hashes: Argon2id in the PHC form, with its parameters, so that they can be raised later.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { problem } from '../model/problem.ts';
import { passwordWeakness } from './password-rules.ts';
import { deriveOnThread } from './password-thread.ts';

// OWASP's first recommendation: 19 MiB, two passes, one lane.
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const nonceLength = 16;
const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(nonceLength);
  const tag = await deriveOnThread({ message: password, nonce, tagLength, ...cost });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(tag)}`;
}

/** Whether the password is the one that was hashed; takes the same time either way. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const { cost: hashCost, nonce, tag: expected } = parsed(hash);
  const found = await deriveOnThread({
    message: password,
    nonce,
    tagLength: expected.length,
    ...hashCost,
  });
  return timingSafeEqual(found, expected);
}

function parsed(hash: string) {
  const match = form.exec(hash);
  if (match === null) throw new Error('A password hash has an unknown form');
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    nonce: Buffer.from(nonce, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** The hash of a chosen password; `names` as in `passwordWeakness`. Throws Problem 400 for one that is too easily guessed. */
export async function newPasswordHash(
  password: string,
  email: string,
  names: readonly string[] = [],
): Promise<string> {
  const reason = passwordWeakness(password, email, names);
  if (reason !== undefined) throw problem('passwordTooWeak', { reason });
  return hashPassword(password);
}
