// Cluster secret: what the nodes of a cluster prove to each other, and which secrets are too weak.
import { createHmac, timingSafeEqual } from 'node:crypto';

const charactersMin = 32;
const distinctMin = 10;

/** Why the secret must not be used; undefined for a good one. */
export function clusterSecretWeakness(secret: string): string | undefined {
  if (secret.length < charactersMin)
    return `it has ${secret.length} characters: use a random string of at least ${charactersMin}`;
  if (new Set(secret).size < distinctMin)
    return `it repeats few characters: use a random string, such as the output of "openssl rand -hex 32"`;
  return undefined;
}

/** What a node sends to another one: the secret itself is never sent. */
export function clusterToken(secret: string): string {
  return createHmac('sha256', secret).update('heliograph node').digest('base64url');
}

/** Whether the token is right. Takes the same time for all of its length. */
export function tokenCheck(secret: string): (sent: unknown) => boolean {
  const expected = Buffer.from(clusterToken(secret));
  return (sent) => {
    if (typeof sent !== 'string') return false;
    const given = Buffer.from(sent);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
}
