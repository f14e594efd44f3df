// MQTT identity: a device connector by its uplink secret, or a device by a token that it signed (contract 18).
import {
  createHash,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  X509Certificate,
} from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { DeviceConnector } from '../../model/connector.ts';
import type { Device } from '../../model/device.ts';
import type { CredentialAlgorithm, DeviceCredential } from '../../model/credential.ts';
import type { EpochMs } from '../../model/instant.ts';

/** Whom a connection speaks for. */
export type MqttIdentity =
  | {
      readonly mode: 'secret';
      readonly connectorId: string;
      readonly organizationId: string;
      readonly secret: string;
      /** Whether its devices are edge nodes of Sparkplug. */
      readonly isSparkplug: boolean;
    }
  | {
      readonly mode: 'token';
      /** Service device id. */
      readonly id: string;
      readonly deviceId: string;
      readonly credentialId: string;
      readonly organizationId: string;
      readonly expiresAt: EpochMs;
    };

export interface LoginParts {
  /** Undefined when the connector is not in memory. */
  readonly knownConnector: (id: string) => DeviceConnector | undefined;
  readonly findConnector: (id: string) => Promise<DeviceConnector | undefined>;
  /** Devices of every organization with this physical id that have credentials. */
  readonly findDevices: (deviceId: string) => Promise<readonly Device[]>;
  readonly findDevice: (id: string) => Promise<Device | undefined>;
  readonly findCredentials: (id: string) => Promise<readonly DeviceCredential[]>;
  readonly audiencesOf: (deviceId: string) => readonly string[];
  readonly now: () => EpochMs;
}

export interface Login {
  readonly clientId: string;
  readonly userName: string;
  readonly password: string;
}

export type LoginOutcome = { readonly identity: MqttIdentity } | { readonly refused: string };

/** A refusal says why, for the operator; the client is only told that it may not. */
export async function logIn(login: Login, parts: LoginParts): Promise<LoginOutcome> {
  if (login.password === '') return { refused: 'a password is required' };
  if (looksLikeToken(login.password)) return byToken(login, parts);
  return bySecret(login, parts);
}

async function bySecret({ userName, password }: Login, parts: LoginParts): Promise<LoginOutcome> {
  // After a restart thousands of devices of few connectors log in.
  const connector = parts.knownConnector(userName) ?? (await parts.findConnector(userName));
  if (connector === undefined) return { refused: 'unknown device connector (user name)' };
  const { uplinkSecret, id, organizationId, connectivity } = connector;
  if (connectivity !== 'MQTT') return { refused: 'the device connector is not for MQTT' };
  if (uplinkSecret === null) return { refused: 'this connector requires a device token' };
  if (!isSame(uplinkSecret, password)) return { refused: 'incorrect uplink secret' };
  const isSparkplug = connector.sparkplug !== null;
  const identity = { mode: 'secret', connectorId: id, secret: uplinkSecret } as const;
  return { identity: { ...identity, organizationId, isSparkplug } };
}

async function byToken({ clientId, password }: Login, parts: LoginParts): Promise<LoginOutcome> {
  const { now } = parts;
  let refused = 'the client id is not a device with credentials';
  for (const { id, deviceId, organizationId } of await parts.findDevices(clientId)) {
    const credentials = await parts.findCredentials(id);
    const check = { deviceId, credentials, audiences: parts.audiencesOf(deviceId), now: now() };
    const checked = await checkDeviceToken(password, check);
    if ('refused' in checked) {
      ({ refused } = checked);
      continue;
    }
    const { credential, expiresAt } = checked;
    return {
      identity: {
        mode: 'token',
        id,
        deviceId,
        credentialId: credential.id,
        organizationId,
        expiresAt,
      },
    };
  }
  return { refused };
}

/** Why the identity no longer holds; undefined while it does. */
export async function lapseOf(
  identity: MqttIdentity,
  parts: LoginParts,
): Promise<string | undefined> {
  if (identity.mode === 'secret') {
    const connector = await parts.findConnector(identity.connectorId);
    if (connector?.uplinkSecret !== identity.secret)
      return 'the device connector or its secret was deleted';
    const isSparkplug = connector.sparkplug !== null;
    return isSparkplug === identity.isSparkplug
      ? undefined
      : 'the device connector was updated; reconnect';
  }
  const device = await parts.findDevice(identity.id);
  if (device?.deviceId !== identity.deviceId) return 'the device was deleted or renamed';
  const credentials = await parts.findCredentials(identity.id);
  if (credentials.some(({ id }) => id === identity.credentialId)) return undefined;
  return 'the credential was deleted';
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

// Device tokens: a JWT that the device signed with the private key of one of its credentials (contract 11, 18, 35).

const clockSkewSeconds = 60;
const tokenLengthMax = 16 * 1024;

interface TokenCheck {
  /** Physical id: the token's subject. */
  readonly deviceId: string;
  readonly credentials: readonly DeviceCredential[];
  /** One of these must be the token's audience. */
  readonly audiences: readonly string[];
  readonly now: EpochMs;
}

type CheckedToken =
  | { readonly credential: DeviceCredential; readonly expiresAt: EpochMs }
  /** Why not, for the operator; the device is told nothing. */
  | { readonly refused: string };

/** The audiences that tokens of a device may name. */
export function tokenAudiences(
  root: string,
  vendorAliases: 'header' | 'always' | 'off',
  deviceId: string,
): string[] {
  const roots = [root];
  if (vendorAliases !== 'off') roots.push('https://akenza.io');
  return roots.map((one) => `${one.replace(/\/+$/, '')}/devices/${deviceId}`);
}

/** Whether a password is a token rather than a secret. */
export function looksLikeToken(password: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(password) && password.startsWith('ey');
}

function algorithmOf(algorithm: CredentialAlgorithm): 'RS256' | 'ES256' {
  if (algorithm.startsWith('RSA')) return 'RS256';
  return 'ES256';
}

function keyOf({ algorithm, publicKey }: DeviceCredential): KeyObject {
  if (algorithm.includes('X509')) return new X509Certificate(publicKey).publicKey;
  return createPublicKey(publicKey);
}

/**
 * The credential that signed the token. Each key is only ever used with its own algorithm, whatever
 * the token's header says.
 */
async function checkDeviceToken(token: string, check: TokenCheck): Promise<CheckedToken> {
  if (token.length > tokenLengthMax) return { refused: 'the token is too long' };
  const usable = check.credentials.filter(
    ({ expiration }) => expiration === null || expiration > check.now,
  );
  if (usable.length === 0) return { refused: 'the device has no valid credential' };
  const alg = algorithmIn(token);
  const fitting = usable.filter(({ algorithm }) => algorithmOf(algorithm) === alg);
  let refused = `the device has no credential for algorithm ${alg}`;
  for (const credential of fitting) {
    const checked = await checkWith(credential, token, check);
    if ('expiresAt' in checked) return checked;
    ({ refused } = checked);
  }
  return { refused };
}

function algorithmIn(token: string): string {
  try {
    return String(decodeProtectedHeader(token).alg);
  } catch {
    return 'none';
  }
}

async function checkWith(
  credential: DeviceCredential,
  token: string,
  check: TokenCheck,
): Promise<CheckedToken> {
  try {
    const { payload } = await jwtVerify(token, keyOf(credential), {
      algorithms: [algorithmOf(credential.algorithm)],
      audience: [...check.audiences],
      subject: check.deviceId,
      requiredClaims: ['sub', 'aud', 'exp'],
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(check.now),
    });
    const { iat = 0, exp = 0 } = payload;
    if (iat * 1_000 > check.now + clockSkewSeconds * 1_000) {
      return { refused: 'the token is not valid yet' };
    }
    const expiresAt = (exp + clockSkewSeconds) * 1_000;
    return { credential, expiresAt: Math.min(expiresAt, credential.expiration ?? expiresAt) };
  } catch (error) {
    if (error instanceof errors.JOSEError) return { refused: error.message };
    throw error;
  }
}
