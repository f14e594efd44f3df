// Devices and their credentials: create, read, update, delete, for requests (contract 4, 11).
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { DeviceCredentialDraft, DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import { type CustomFieldValue, type Device, onlineStateOf, type Tag } from '../../model/device.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { auditView, change, found } from '../record-crud.ts';
import { changeDevice } from './device-batch.ts';
import {
  carriers,
  type DataFlow,
  type DeviceConnector,
  type Integration,
  vendorIntegrationTypes,
} from '../../model/connector.ts';
import { formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import type { PathStep } from '../../model/place.ts';
import { batteryPercents, type DeviceMetrics } from '../../model/uplink-metrics.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import {
  dataFlowRows,
  deviceConnectorRows,
  integrationRows,
} from '../../storage/records/rows/data-flows.ts';
import { deviceStatusRows } from '../../storage/records/rows/device-status.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { nestedIntegration } from '../data-flows/integrations.ts';
import { customFieldValueView, fieldView, loraPropertiesView } from './device-field-values.ts';
import {
  type CredentialAlgorithm,
  type DeviceCredential,
  expirationFrom,
} from '../../model/credential.ts';
import { newId } from '../../model/ids.ts';
import { unpagedOf } from '../../model/page.ts';
import { deviceCredentialRows } from '../../storage/records/rows/credentials.ts';

/** Devices as callers make and read them (contract 7). */
export class Devices {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(principal: Principal, draft: DeviceDraft) {
    const record = await change(this.#records, (step) =>
      changeDevice(step, { work: 'create', draft }),
    );
    return one(this.#records, principal, record);
  }

  async read(principal: Principal, id: string) {
    return one(
      this.#records,
      principal,
      found(await deviceRows.find(this.#records, id), 'device', id),
    );
  }

  /** By the physical id; 404 in another organization, 403 in another workspace. */
  async readByDeviceId(principal: Principal, deviceId: string) {
    const device = found(
      await deviceRows.byDeviceId(this.#records, principal.organizationId, deviceId),
      'device',
      deviceId,
    );
    if (principal.workspaces !== 'all' && !principal.workspaces.has(device.workspaceId))
      throw problem('permissionDenied');
    return one(this.#records, principal, device);
  }

  async update(principal: Principal, id: string, sent: DeviceUpdate) {
    const saved = await change(this.#records, (step) =>
      changeDevice(step, { work: 'update', id, sent }),
    );
    return one(this.#records, principal, saved);
  }

  /** What it stored is dropped afterwards. */
  async remove(id: string): Promise<void> {
    await change(this.#records, (step) => changeDevice(step, { work: 'delete', id }));
  }

  /** The devices in full, in their order; `now` decides who is online. */
  async views(principal: Principal, devices: readonly Device[]) {
    const ids = devices.map((device) => device.id);
    const flows = await dataFlowRows.byId(this.#records.db, [
      ...new Set(devices.map((device) => device.dataFlowId)),
    ]);
    const flowList = [...flows.values()];
    const connectors = await deviceConnectorRows.byId(this.#records, [
      ...new Set(flowList.map((flow) => flow.deviceConnectorId)),
    ]);
    const typeIds = [...new Set(flowList.flatMap((flow) => flow.deviceTypeId ?? []))];
    const types = await deviceTypeRows.namesOf(this.#records.db, typeIds);
    const integrations = await integrationRows.byId(this.#records, [
      ...new Set(devices.flatMap((device) => device.integrationId ?? [])),
    ]);
    const tags = await tagRows.ofDevices(this.#records.db, ids);
    const paths = await placeRows.pathsOf(this.#records.db, [
      ...new Set(devices.flatMap((device) => device.placeId ?? [])),
    ]);
    const customFields = await customFieldRows.ofDevices(this.#records.db, ids);
    const metrics = await deviceStatusRows.metrics(this.#records.db, ids);
    return devices.map((device) => {
      const flow = flows.get(device.dataFlowId);
      const context: DeviceContext = {
        flow,
        connector: connectors.get(flow?.deviceConnectorId ?? ''),
        type: types.get(flow?.deviceTypeId ?? ''),
        integration: integrations.get(device.integrationId ?? ''),
        tags: tags.get(device.id) ?? [],
        path: paths.get(device.placeId ?? ''),
        customFields: customFields.get(device.id) ?? [],
        metrics: metrics.get(device.id),
      };
      return view(
        device,
        context,
        holds(principal, 'asset', 'update', device.workspaceId),
        this.#records.now(),
      );
    });
  }
}

async function one(records: Records, principal: Principal, device: Device) {
  const [view] = await new Devices(records).views(principal, [device]);
  if (view === undefined) throw new Error('A device has no view');
  return view;
}

// Devices in answers, many at a time: flows, tags and metrics are read once for all of them (contract 4).

/** The records that an answer shows beside the device. */
interface DeviceContext {
  readonly flow: DataFlow | undefined;
  readonly connector: DeviceConnector | undefined;
  readonly type:
    | { readonly id: string; readonly name: string; readonly pictureUrl: string | null }
    | undefined;
  readonly integration: Integration | undefined;
  readonly tags: readonly Tag[];
  /** From the top of the tree. */
  readonly path: readonly PathStep[] | undefined;
  readonly customFields: readonly CustomFieldValue[];
  readonly metrics: DeviceMetrics | undefined;
}

/**
 * As clients of old read it: they refuse a device with a carrier or a type of integration that they
 * do not know, and the list that holds it, so that what has one is null (contract 42).
 */
export function vendorDevice<V extends Awaited<ReturnType<Devices['views']>>[number]>(
  device: V,
): V {
  const { loraProperties, integration } = device;
  const isKnown = (carriers as readonly unknown[]).includes(loraProperties?.['carrier']);
  const isType = (vendorIntegrationTypes as readonly unknown[]).includes(integration?.type);
  return {
    ...device,
    loraProperties: isKnown ? loraProperties : null,
    integration: isType ? integration : null,
  };
}

function view(device: Device, context: DeviceContext, keysShown: boolean, now: number) {
  return {
    id: device.id,
    ...fieldView(device),
    type: 'DEVICE' as const,
    workspaceId: device.workspaceId,
    organizationId: device.organizationId,
    ...onlineStateOf(device.registered, context.metrics ?? null, device.onlineTimeoutSeconds, now),
    registered: isRegistered(device, context.metrics ?? null),
    // Not in the contract, so it is present only for LoRa devices.
    ...(device.active !== null && { active: device.active }),
    dataFlowId: device.dataFlowId,
    dataFlow: flowView(context),
    integration: (context.integration && nestedIntegration(context.integration)) ?? null,
    integrationId: device.integrationId,
    customFields: context.customFields.map(customFieldValueView),
    tags: context.tags.map(({ id, name, description }) => ({ id, name, description })),
    placeId: device.placeId,
    place: placeView(device.placeId, context.path),
    planPosition: device.planPosition,
    uplinkMetrics: uplinkMetricsView(context.metrics),
    loraProperties: loraPropertiesView(device, context.connector?.carrier ?? null, keysShown),
    ...auditView(device),
  };
}

/** Null also for the moment in which the place is deleted. */
function placeView(id: string | null, path: readonly PathStep[] | undefined) {
  const own = path?.at(-1);
  if (id === null || path === undefined || own === undefined) return null;
  return { id, name: own.name, path: path.map(({ name }) => name) };
}

function flowView({ flow, connector, type }: DeviceContext) {
  if (flow === undefined || connector === undefined)
    throw new Error('The data flow of a device is missing');
  const { id, name, workspaceId, organizationId } = flow;
  const { authType, decodingType } = connector;
  return {
    id,
    name,
    deviceType: type ?? null,
    deviceConnector: { id: connector.id, name: connector.name, authType, decodingType },
    workspaceId,
    organizationId,
  };
}

// Uplink metrics in answers: every member is present, and the device id has all the names that clients read (contract 4).

const signalQualities = ['BAD', 'MEDIUM', 'GOOD'] as const;

function uplinkMetricsView(metrics: DeviceMetrics | undefined) {
  if (metrics === undefined) return null;
  const { deviceId } = metrics;
  return {
    id: deviceId,
    uplinkId: metrics.uplinkId,
    deviceId,
    svcDeviceId: deviceId,
    akenzaDeviceId: deviceId,
    uplinkSize: metrics.uplinkSize,
    timestamp: formatInstant(metrics.timestamp),
    latitude: metrics.latitude ?? null,
    longitude: metrics.longitude ?? null,
    locationRadius: metrics.locationRadius ?? null,
    port: metrics.port ?? null,
    frameCountUp: metrics.frameCountUp ?? null,
    frameCountDown: metrics.frameCountDown ?? null,
    rssi: metrics.rssi ?? null,
    snr: metrics.snr ?? null,
    sf: metrics.sf ?? null,
    txPower: metrics.txPower ?? null,
    numberOfGateways: metrics.numberOfGateways ?? null,
    esp: metrics.esp ?? null,
    ...signalView(metrics),
    ...batteryView(metrics),
    ...knownAtView(metrics),
  };
}

/** Absent when the last uplink reported all metrics, as clients have always read it. */
function knownAtView({ knownAt }: DeviceMetrics) {
  if (knownAt === undefined) return {};
  const times = Object.entries(knownAt).map(([field, at]) => [field, formatInstant(at)] as const);
  return { knownAt: Object.fromEntries(times) };
}

function signalView({ sqi, sqiTimestamp, timestamp }: DeviceMetrics) {
  if (sqi === undefined) return { sqi: null, sqiTimestamp: null, signalQuality: null };
  return {
    sqi,
    sqiTimestamp: formatInstant(sqiTimestamp ?? timestamp),
    signalQuality: signalQualities[sqi - 1] ?? null,
  };
}

function batteryView({ batteryLevel, batteryTimestamp, timestamp }: DeviceMetrics) {
  if (batteryLevel === undefined)
    return { batteryLevel: null, batteryTimestamp: null, batteryLevelStatus: null };
  return {
    batteryLevel,
    batteryTimestamp: formatInstant(batteryTimestamp ?? timestamp),
    batteryLevelStatus: batteryStatus(batteryLevel),
  };
}

function batteryStatus(percent: number): 'GOOD' | 'MEDIUM' | 'LOW' {
  if (percent >= batteryPercents.good) return 'GOOD';
  if (percent >= batteryPercents.medium) return 'MEDIUM';
  return 'LOW';
}

// Device credentials: create, list, delete (contract 11).

const credentialsPerDeviceMax = 20;
const rsaBitsMin = 2_048;

function credentialView(record: DeviceCredential, device: Device) {
  const { id, name, algorithm, publicKey, fingerprint, expiration, created } = record;
  return {
    id,
    name,
    akenzaDeviceId: device.id,
    svcDeviceId: device.id,
    deviceId: device.deviceId,
    algorithm,
    publicKey,
    fingerprint,
    expiration: formatInstantOrNull(expiration),
    created: formatInstant(created),
  };
}

/** What the PEM of an algorithm contains. */
const encodings = {
  certificate: {
    noun: 'an X.509 certificate',
    read: (pem: string) => new X509Certificate(pem).publicKey,
  },
  key: { noun: 'a public key', read: (pem: string) => createPublicKey(pem) },
} as const;

/** The keys that RS256 and ES256 take. */
const families = {
  RSA: {
    noun: `RSA of at least ${rsaBitsMin} bits`,
    takes: ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
      asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin,
  },
  EC: {
    noun: 'an elliptic curve, P-256',
    takes: ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1',
  },
} as const;

function formOf(algorithm: CredentialAlgorithm) {
  return {
    encoding: encodings[algorithm.includes('X509') ? 'certificate' : 'key'],
    family: families[algorithm.startsWith('RSA') ? 'RSA' : 'EC'],
  };
}

function keyIn(pem: string, { noun, read }: ReturnType<typeof formOf>['encoding']): KeyObject {
  try {
    return read(pem);
  } catch {
    throw problem('invalidRequest', { reason: `body publicKey: must be ${noun} in PEM format` });
  }
}

/** Throws 400 unless RS256 or ES256 signatures can be verified with the key. */
function publicKeyFrom(
  algorithm: CredentialAlgorithm,
  sent: string,
): { pem: string; fingerprint: string } {
  // Some clients escape line ends twice.
  const pem = sent.replaceAll('\\n', '\n').trim();
  if (pem.includes('PRIVATE KEY')) {
    throw problem('invalidRequest', {
      reason: 'body publicKey: this is a private key; never send private keys',
    });
  }
  const { encoding, family } = formOf(algorithm);
  const key = keyIn(pem, encoding);
  if (!family.takes(key)) {
    throw problem('invalidRequest', {
      reason: `body publicKey: ${algorithm} requires ${family.noun}`,
    });
  }
  const der = key.export({ type: 'spki', format: 'der' });
  return { pem, fingerprint: createHash('sha1').update(der).digest('hex') };
}

/** Credentials of devices; private keys are never stored. */
export class DeviceCredentials {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(deviceId: string, draft: DeviceCredentialDraft) {
    const { pem, fingerprint } = publicKeyFrom(draft.algorithm, draft.publicKey);
    const expiration = expirationFrom(draft.expiration);
    return change(this.#records, async (step) => {
      const device = found(await deviceRows.find(step, deviceId), 'device', deviceId);
      const known = await deviceCredentialRows.ofDevice(step.db, deviceId);
      if (known.some((credential) => credential.fingerprint === fingerprint)) {
        throw problem('credentialNotUnique', { fingerprint });
      }
      if (known.length >= credentialsPerDeviceMax) {
        throw problem('invalidRequest', {
          reason: `A device can have at most ${credentialsPerDeviceMax} credentials`,
        });
      }
      const record: DeviceCredential = {
        id: newId('deviceCredential'),
        deviceId,
        name: draft.name ?? null,
        algorithm: draft.algorithm,
        publicKey: pem,
        fingerprint,
        expiration,
        created: this.#records.now(),
      };
      await deviceCredentialRows.insert(step.db, record);
      step.announce({ kind: 'deviceCredential', id: record.id, action: 'created' });
      return credentialView(record, device);
    });
  }

  /** All of them in one answer (contract 0.1). */
  async list(deviceId: string) {
    const device = found(await deviceRows.find(this.#records, deviceId), 'device', deviceId);
    const credentials = await deviceCredentialRows.ofDevice(this.#records.db, deviceId);
    return unpagedOf(credentials.map((credential) => credentialView(credential, device)));
  }

  async remove(deviceId: string, id: string): Promise<void> {
    await change(this.#records, async (step) => {
      const known = await deviceCredentialRows.ofDevice(step.db, deviceId);
      found(
        known.find((credential) => credential.id === id),
        'device credential',
        id,
      );
      await deviceCredentialRows.remove(step.db, id);
      step.announce({ kind: 'deviceCredential', id, action: 'deleted' });
    });
  }
}

/** What answers tell: an uplink of a LoRa device shows that its network server knows it (contract 42). */
function isRegistered({ registered, connectivity }: Device, lastUplink: unknown): boolean | null {
  if (registered !== null || connectivity !== 'LORA') return registered;
  return lastUplink === null ? null : true;
}
