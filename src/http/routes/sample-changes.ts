// Routes that delete, correct and recalculate stored samples (contract 38).
import type { Static } from 'typebox';
import { recalculation, sampleChanges } from '../../contract/sample-changes.ts';
import {
  acceptSampleDeletion,
  acceptSampleRecalculation,
  auditCorrection,
  devicesToDeleteFrom,
  devicesToRecalculate,
  exportsWith,
} from '../../inventory/operations/sample-changes.ts';
import { readOperation } from '../../inventory/operations/operations.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { parseBound, timestampFault, timestampOf } from '../../model/timestamp.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { defaultTopic } from '../../model/sample.ts';
import type {
  CorrectionOutcome,
  CorrectionRequest,
  SampleCorrection,
  SampleDeletion,
} from '../../model/sample-changes.ts';
import type { CountedTopic } from '../../storage/samples/sample-store.ts';
import type { RawUplinks } from '../../uplinks/followers/followers.ts';
import { Answer, resourceRoute, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import { type DeviceAccess, deviceInPath } from './device-access.ts';
import { calculatedKeysFrom, DeviceTypes } from '../../inventory/data-flows/device-types.ts';
import { replayLimits } from '../../uplinks/decoder-test.ts';
import type { RecalculationReport, RecalculationRequest } from '../../uplinks/recalculation.ts';

interface SampleChanges {
  /** What a deletion would remove of a device, by topic. */
  readonly count: (deviceId: string, deletion: SampleDeletion) => Promise<readonly CountedTopic[]>;
  readonly listUplinks: RawUplinks['list'];
  readonly correct: (request: CorrectionRequest) => Promise<CorrectionOutcome>;
}

type DeletionBody = Static<(typeof sampleChanges)['delete']['body']>;
type CorrectionBody = Static<(typeof sampleChanges)['correct']['body']>;

export function sampleChangeRoutes(
  common: RecordRoutes,
  devices: DeviceAccess,
  changes: SampleChanges,
  /** Begins the work of an accepted operation. */
  start: (id: string) => void,
): Route[] {
  const { records } = common;
  return [
    resourceRoute(sampleChanges.delete, common.byWorkspace, async (input, principal) => {
      const { body } = input;
      const deletion = deletionOf(body);
      const deleted = await devicesToDeleteFrom(records, principal, body);
      if (body.dryRun === true || typeof body.samplesMax === 'number') {
        const counted = await countAll(deleted, deletion, changes);
        // `otherAnswers` describes it.
        if (body.dryRun === true)
          return new Answer(
            200,
            (await preview(counted, body, deletion, principal, records)) as never,
          );
        const { samples } = counted;
        const samplesMax = body.samplesMax ?? samples;
        if (samples > samplesMax) throw problem('tooManySamples', { samples, samplesMax });
      }
      const { workspaceId } = body;
      const operation = await common.createdOnce(
        input,
        principal,
        (step) => acceptSampleDeletion(step, principal, { workspaceId, deletion }, deleted),
        (id) => readOperation(records, id),
      );
      start(operation.id);
      return operation;
    }),
    resourceRoute(
      sampleChanges.correct,
      deviceInPath(devices),
      async ({ params, body }, principal) => {
        const { deviceId } = params;
        const { kind: type, id, name } = principal;
        const { reason = null } = body;
        const outcome = await changes.correct({
          deviceId,
          corrections: correctionsOf(body),
          reason,
          by: { type, id, name },
        });
        const { corrected } = outcome;
        if (corrected > 0) await auditCorrection(records, deviceId, { corrected, reason });
        return outcome;
      },
    ),
  ];
}

function deletionOf(body: DeletionBody): SampleDeletion {
  const { topics = null, keys = null, reason = null, all } = body;
  const rawUplinks = body.rawUplinks === true;
  if (rawUplinks && (topics !== null || keys !== null))
    throw problem('invalidRequest', {
      reason:
        'body: rawUplinks cannot be combined with topics or keys, which raw uplinks do not have',
    });
  const from = boundOf('from', body.from);
  const to = boundOf('to', body.to);
  if (from !== null && to !== null && from >= to) {
    const texts = `from (${formatInstant(from)}) must be before to (${formatInstant(to)})`;
    throw problem('badInterval', { reason: texts });
  }
  const isAll = topics === null && keys === null && from === null && to === null;
  if (isAll && all !== true)
    throw problem('invalidRequest', {
      reason: 'body: set topics, from, to, or keys, or set all to true to delete every sample',
    });
  return { topics, from, to, keys, rawUplinks, reason };
}

function boundOf(name: string, sent: string | null | undefined): EpochMs | null {
  return typeof sent === 'string' ? parseBound(name, sent) : null;
}

interface Counted {
  readonly devices: number;
  readonly samples: number;
  /** Undefined when none are selected. */
  readonly rawUplinks: number | undefined;
  readonly byTopic: readonly CountedTopic[];
}

/** Of devices that have such samples. */
async function countAll(
  deviceIds: readonly string[],
  deletion: SampleDeletion,
  { count, listUplinks }: SampleChanges,
): Promise<Counted> {
  const byTopic = new Map<string, CountedTopic>();
  let rawUplinks = 0;
  let devices = 0;
  let samples = 0;
  for (const deviceId of deviceIds) {
    const counted = await count(deviceId, deletion);
    if (deletion.rawUplinks) {
      const { from, to } = deletion;
      const times = { ...(from !== null && { from }), ...(to !== null && { to }) };
      rawUplinks += (await listUplinks({ deviceId, ...times, skip: 0, limit: 0 })).total;
    }
    if (counted.length > 0) devices += 1;
    for (const one of counted) {
      samples += one.samples;
      const known = byTopic.get(one.topic);
      byTopic.set(one.topic, {
        topic: one.topic,
        samples: one.samples + (known?.samples ?? 0),
        oldest: Math.min(one.oldest, known?.oldest ?? one.oldest),
        newest: Math.max(one.newest, known?.newest ?? one.newest),
      });
    }
  }
  const sorted = [...byTopic.values()].sort((a, b) => b.samples - a.samples);
  const told = deletion.rawUplinks ? rawUplinks : undefined;
  return { devices, samples, rawUplinks: told, byTopic: sorted };
}

async function preview(
  { devices, samples, rawUplinks, byTopic }: Counted,
  { workspaceId }: DeletionBody,
  deletion: SampleDeletion,
  principal: Principal,
  records: Inventory,
) {
  return {
    dryRun: true,
    devices,
    samples,
    ...(rawUplinks !== undefined && { rawUplinks }),
    byTopic: byTopic.map(({ topic, samples: ofTopic, oldest, newest }) => ({
      topic,
      samples: ofTopic,
      oldest: formatInstant(oldest),
      newest: formatInstant(newest),
    })),
    exports: samples === 0 ? [] : await exportsWith(records, principal, workspaceId, deletion),
  };
}

function correctionsOf({ corrections }: CorrectionBody): readonly SampleCorrection[] {
  return corrections.map(({ topic: sentTopic, timestamp: sentTime, data, replacement }, index) => {
    const field = `body corrections.${index}`;
    const topic = sentTopic ?? defaultTopic;
    const timestamp = timeOf(`${field}.timestamp`, sentTime);
    return {
      topic,
      timestamp,
      data: data ?? null,
      replacement: replacement && {
        data: replacement.data,
        topic: replacement.topic ?? topic,
        timestamp: timeOf(`${field}.replacement.timestamp`, replacement.timestamp ?? sentTime),
      },
    };
  });
}

function timeOf(field: string, sent: string | number): EpochMs {
  const at = timestampOf(sent);
  if (at !== undefined) return at;
  const { value, reason } = timestampFault(sent);
  throw problem('invalidRequest', { reason: `${field} ${value} ${reason}` });
}

// Routes that recalculate stored samples, or show what would change (contract 38).

type Body = Static<(typeof recalculation)['recalculate']['body']>;

export function recalculationRoute(
  common: RecordRoutes,
  devices: DeviceAccess,
  previewOf: (request: RecalculationRequest) => Promise<RecalculationReport>,
  /** Begins the work of an accepted operation. */
  start: (id: string) => void,
): Route {
  const { records } = common;
  return resourceRoute(
    recalculation.recalculate,
    common.byId('deviceType'),
    async (input, principal) => {
      const { params, body } = input;
      const deviceIds = body.deviceIds ?? [];
      const [from, to] = [boundOf('from', body.from), boundOf('to', body.to)];
      if (from !== null && to !== null && from >= to) {
        const reason = `from (${formatInstant(from)}) must be before to (${formatInstant(to)})`;
        throw problem('badInterval', { reason });
      }
      for (const id of deviceIds) await authorizeDevice(id, principal, devices);
      // `otherAnswers` describes it.
      if (body.dryRun === true)
        return new Answer(
          200,
          (await previewOf(await previewed(params.id, body, principal, records, devices))) as never,
        );
      if (body.calculatedKeys !== undefined)
        throw problem('invalidRequest', {
          reason: 'body: calculatedKeys are for a dry run. Save them in the device type first.',
        });
      await new DeviceTypes(records).read(params.id);
      const recalculated = await devicesToRecalculate(records, principal, params.id, {
        deviceIds,
        workspaceId: body.workspaceId ?? undefined,
      });
      const plan = { deviceTypeId: params.id, source: body.source, from, to };
      const operation = await common.createdOnce(
        input,
        principal,
        (step) => acceptSampleRecalculation(step, principal, plan, recalculated),
        (id) => readOperation(records, id),
      );
      start(operation.id);
      return operation;
    },
  );
}

async function authorizeDevice(
  id: string,
  principal: Principal,
  { authorize, placeOfDevice }: DeviceAccess,
): Promise<void> {
  const place = await placeOfDevice(id);
  authorize(principal, 'asset', 'update', place);
  authorize(principal, 'asset', 'delete', place);
}

/** What the body of a dry run selects. */
async function previewed(
  typeId: string,
  body: Body,
  principal: Principal,
  records: Inventory,
  devices: DeviceAccess,
): Promise<RecalculationRequest> {
  const { source, calculatedKeys, from, to } = body;
  const deviceIds = body.deviceIds ?? [];
  const type = await new DeviceTypes(records).read(typeId);
  const { devicesMax } = replayLimits;
  if (deviceIds.length > devicesMax)
    throw problem('invalidRequest', {
      reason: `body: a dry run can include at most ${devicesMax} devices`,
    });
  const found =
    deviceIds.length > 0
      ? deviceIds
      : await new DeviceTypes(records).devicesOf(
          principal,
          typeId,
          devicesMax,
          body.workspaceId ?? undefined,
        );
  for (const id of found) await authorizeDevice(id, principal, devices);
  return {
    source,
    deviceIds: found,
    keys: calculatedKeys === undefined ? type.calculatedKeys : calculatedKeysFrom(calculatedKeys),
    code: type.uplinkScript?.code ?? null,
    from: from ?? undefined,
    to: to ?? undefined,
  };
}
