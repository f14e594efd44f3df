// Software passkey: an authenticator of ES256 keys for tests, which signs as a device does (WebAuthn).
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { encode } from 'cborg';

export interface SoftwarePasskey {
  readonly id: string;
  /** Registers it, as `navigator.credentials.create` does. */
  readonly attest: (challenge: string, flags?: number) => object;
  /** Signs a challenge, as `navigator.credentials.get` does. */
  readonly sign: (challenge: string, changed?: Changed) => object;
}

export interface Changed {
  readonly flags?: number;
  readonly origin?: string;
  readonly rpId?: string;
}

/** User present, and user verified. */
const shown = 0x05;
const withCredential = 0x40;

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest();
const base64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** `origin` is that of the page that asks, such as `http://localhost:1234`. */
export function softwarePasskey(origin: string): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const cose = encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  );
  const rawId = randomBytes(32);
  const id = base64Url(rawId);
  const own = { origin, rpId: new URL(origin).hostname };
  let counter = 0;
  const clientData = (type: string, challenge: string, from: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));
  const deviceData = (rpId: string, flags: number) => {
    counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
  };
  return {
    id,
    attest(challenge, flags = shown) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(rawId.length);
      const start = deviceData(own.rpId, flags | withCredential);
      const authData = Buffer.concat([start, Buffer.alloc(16), length, rawId, cose]);
      return {
        id,
        response: {
          clientDataJSON: base64Url(clientData('webauthn.create', challenge, own.origin)),
          attestationObject: base64Url(encode({ fmt: 'none', attStmt: {}, authData })),
          transports: ['internal'],
        },
      };
    },
    sign(challenge, changed = {}) {
      const { flags = shown, origin: from, rpId } = { ...own, ...changed };
      const authenticatorData = deviceData(rpId, flags);
      const client = clientData('webauthn.get', challenge, from);
      const signed = createSign('sha256').update(authenticatorData).update(sha256(client));
      return {
        id,
        response: {
          clientDataJSON: base64Url(client),
          authenticatorData: base64Url(authenticatorData),
          signature: base64Url(signed.sign(privateKey)),
        },
      };
    },
  };
}
