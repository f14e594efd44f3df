// Device types: create, read, list, update, delete (contract 7).
import type { DeviceTypeDraft, DeviceTypeUpdate } from '../../contract/device-types.ts';
import { CalculatedKeyError, compileCalculatedKeys } from '../../query/expressions/calculated.ts';
import {
  type CalculatedKey,
  type DeviceType,
  type DeviceTypeKind,
  type DeviceTypeMeta,
  type Script,
  sentEncoding,
} from '../../model/device-type.ts';
import { isTopic, newId } from '../../model/ids.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { defaultTopic } from '../../model/sample.ts';
import type { Records } from '../../storage/records/records.ts';
import { dashboardRows } from '../../storage/records/rows/dashboards.ts';
import { dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { ownOrganization } from '../list-scope.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  refuseWhenUsed,
  usersNamedMax,
} from '../record-crud.ts';

const scriptBytesMax = 1024 * 1024;

type ScriptDraft = { readonly code?: string | null | undefined } | null | undefined;

const emptyMeta: DeviceTypeMeta = {
  manufacturer: null,
  url: null,
  author: null,
  properties: null,
  firmwareVersion: null,
  encoding: null,
  connectivity: null,
  availableSensors: null,
  outputTopics: null,
};

function metaFrom(
  current: DeviceTypeMeta,
  sent: DeviceTypeUpdate['meta'],
  isVendor = false,
): DeviceTypeMeta {
  if (sent === undefined) return current;
  const meta = { ...current };
  for (const name of Object.keys(emptyMeta) as (keyof DeviceTypeMeta)[]) {
    const value = sent === null ? null : sent[name];
    if (value !== undefined) Object.assign(meta, { [name]: value });
  }
  return { ...meta, encoding: sentEncoding(meta.encoding, current.encoding, isVendor) };
}

/** Schemas are kept as strings; objects are accepted as well (contract 7). */
function schemasFrom(sent: Readonly<Record<string, unknown>> | null): Record<string, string> {
  const schemas: [string, string][] = [];
  for (const [topic, schema] of Object.entries(sent ?? {})) {
    const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
    if (!isJsonObject(parsed(text))) {
      throw problem('invalidRequest', {
        reason: `body schemas.${topic}: must be a JSON Schema, as an object or a string`,
      });
    }
    schemas.push([topic, text]);
  }
  return Object.fromEntries(schemas);
}

function parsed(text: string): Json | undefined {
  try {
    return parsedJson(text);
  } catch {
    return undefined;
  }
}

/** The version is the server's: one more with every change of the code. */
function scriptFrom(current: Script | null, sent: ScriptDraft, field: string): Script | null {
  if (sent === undefined) return current;
  const code = sent?.code ?? null;
  if (code === null) return null;
  if (Buffer.byteLength(code) > scriptBytesMax) {
    throw problem('invalidRequest', {
      reason: `body ${field}.code: must be at most ${scriptBytesMax} bytes`,
    });
  }
  if (current !== null && current.code === code) return current;
  return { code, version: current === null ? 0 : current.version + 1 };
}

/** Throws Problem 400 `invalidExpression` for one that cannot be computed. */
export function calculatedKeysFrom(sent: DeviceTypeUpdate['calculatedKeys']): CalculatedKey[] {
  const keys = (sent ?? []).map((one) => ({
    key: one.key,
    topic: one.topic ?? defaultTopic,
    expression: one.expression,
    title: one.title ?? null,
    unit: one.unit ?? null,
    description: one.description ?? null,
  }));
  const badTopic = keys.findIndex(({ topic }) => !isTopic(topic));
  if (badTopic >= 0)
    throw problem('invalidRequest', {
      reason: `body calculatedKeys.${badTopic}.topic: must be a valid topic`,
    });
  try {
    compileCalculatedKeys(keys);
  } catch (error) {
    if (!(error instanceof CalculatedKeyError)) throw error;
    const { index, position, message } = error;
    if (position === undefined)
      throw problem('invalidRequest', { reason: `body calculatedKeys.${index}: ${message}` });
    const where = `calculatedKeys.${index}.expression`;
    throw problem('invalidExpression', { where, reason: message, position });
  }
  return keys;
}

function summary(record: DeviceType) {
  const {
    schemas: _,
    sampleData: __,
    uplinkScript: ___,
    downlinkScript: ____,
    calculatedKeys: _____,
    ...type
  } = record;
  return { ...type, ...auditView(record) };
}

/** The whole record; also nested in data flows. */
export function deviceTypeView(record: DeviceType) {
  const { schemas, sampleData, uplinkScript, downlinkScript, calculatedKeys } = record;
  return {
    ...summary(record),
    schemas,
    typedSchemas: null,
    sampleData,
    uplinkScript,
    downlinkScript,
    calculatedKeys,
  };
}

/** Device types as callers make and read them. */
export class DeviceTypes {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: DeviceTypeDraft, now: number) {
    if (draft.type !== undefined && draft.type !== 'manual') {
      throw problem('invalidRequest', {
        reason: `body type: must be manual; ${draft.type} device types cannot be created`,
      });
    }
    const record: DeviceType = {
      id: newId('deviceType'),
      organizationId: draft.organizationId,
      name: draft.name,
      description: draft.description ?? null,
      type: 'manual',
      meta: metaFrom(emptyMeta, draft.meta),
      schemas: schemasFrom(draft.schemas ?? null),
      sampleData: draft.sampleData ?? null,
      uplinkScript: scriptFrom(null, draft.uplinkScript, 'uplinkScript'),
      downlinkScript: scriptFrom(null, draft.downlinkScript, 'downlinkScript'),
      calculatedKeys: calculatedKeysFrom(draft.calculatedKeys),
      libraryPath: null,
      pictureUrl: draft.pictureUrl ?? null,
      ...firstVersion(now),
    };
    await change(this.#records, async (step) => {
      await deviceTypeRows.insert(step.db, record);
      step.announce({ kind: 'deviceType', id: record.id, action: 'created' });
    });
    return deviceTypeView(record);
  }

  async read(id: string) {
    return deviceTypeView(
      found(await deviceTypeRows.find(this.#records.db, id), 'device type', id),
    );
  }

  /** A type of the organization or of the library. Throws 404. */
  async find(id: string, organizationId: string) {
    const type = await deviceTypeRows.find(this.#records.db, id);
    const isVisible = (type?.organizationId ?? organizationId) === organizationId;
    return found(isVisible ? type : undefined, 'device type', id);
  }

  /** The organization's own and the library's; without `details`, schemas and scripts are omitted. */
  async list(
    principal: Principal,
    filter: {
      readonly organizationId?: string | undefined;
      readonly types?: readonly DeviceTypeKind[] | undefined;
      readonly search?: string | undefined;
      readonly details?: boolean | undefined;
    },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof summary> | ReturnType<typeof deviceTypeView>>> {
    const organizationId = ownOrganization(principal, filter.organizationId);
    const { rows, total } = await deviceTypeRows.list(
      this.#records.db,
      { ...filter, organizationId },
      page,
    );
    return pageOf(rows.map(filter.details ? deviceTypeView : summary), total, page);
  }

  async update(id: string, sent: DeviceTypeUpdate, now: number, isVendor = false) {
    const saved = await change(this.#records, async (step) => {
      const current = found(await deviceTypeRows.find(step.db, id), 'device type', id);
      const record: DeviceType = {
        ...current,
        name: orCurrent(sent.name, current.name),
        description: orCurrent(sent.description, current.description),
        meta: metaFrom(current.meta, sent.meta, isVendor),
        schemas: sent.schemas === undefined ? current.schemas : schemasFrom(sent.schemas),
        sampleData: sent.sampleData === undefined ? current.sampleData : sent.sampleData,
        uplinkScript: scriptFrom(current.uplinkScript, sent.uplinkScript, 'uplinkScript'),
        downlinkScript: scriptFrom(current.downlinkScript, sent.downlinkScript, 'downlinkScript'),
        calculatedKeys:
          sent.calculatedKeys === undefined
            ? current.calculatedKeys
            : calculatedKeysFrom(sent.calculatedKeys),
        pictureUrl: orCurrent(sent.pictureUrl, current.pictureUrl),
        ...nextVersion(current, sent.version, now),
      };
      await deviceTypeRows.save(step.db, record);
      step.announce({ kind: 'deviceType', id, action: 'updated' });
      return record;
    });
    return deviceTypeView(saved);
  }

  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      found(await deviceTypeRows.find(step.db, id), 'device type', id);
      refuseWhenUsed('device type', [
        ...(await dataFlowRows.using(step.db, { deviceTypeId: id }, usersNamedMax)),
        ...(await dashboardRows.ofType(step.db, id, usersNamedMax)),
      ]);
      await deviceTypeRows.remove(step.db, id);
      step.announce({ kind: 'deviceType', id, action: 'deleted' });
    });
  }

  /**
   * Service ids, at most `max`, of devices whose data flow has the type and that are in reach for
   * `asset` `update`.
   */
  async devicesOf(
    principal: Principal,
    deviceTypeId: string,
    max: number,
    workspaceId?: string,
  ): Promise<string[]> {
    const { organizationId, workspaces } = principal;
    const candidates = await deviceRows.ofType(
      this.#records.db,
      organizationId,
      deviceTypeId,
      candidatesMax,
      workspaceId,
    );
    const inReach = candidates.filter(
      ({ workspaceId }) =>
        (workspaces === 'all' || workspaces.has(workspaceId)) &&
        holds(principal, 'asset', 'update', workspaceId),
    );
    return inReach.slice(0, max).map(({ id }) => id);
  }
}

// Devices of a device type that a principal may change, for tests of a decoder on all of them.

/** Of a type with more devices, the first by id are checked. */
const candidatesMax = 1_000;
