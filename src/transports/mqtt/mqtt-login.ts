// MQTT identity: a device connector by its uplink secret, or a device by a token that it signed (contract 18).
import { createHash, timingSafeEqual } from 'node:crypto';
import type { DeviceConnector } from '../../model/connector.ts';
import type { Device } from '../../model/device.ts';
import type { DeviceCredential } from '../../model/credential.ts';
import type { EpochMs } from '../../model/instant.ts';
import { checkDeviceToken, looksLikeToken } from './device-token.ts';

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
