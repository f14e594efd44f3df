// Routes that delete and correct stored samples (contract 38).
import type { Static } from 'typebox';
import { sampleChanges } from '../../contract/sample-changes.ts';
import {
  acceptSampleDeletion,
  auditCorrection,
  devicesToDeleteFrom,
  exportsWith,
} from '../../inventory/operations/sample-deletion.ts';
import { readOperation } from '../../inventory/operations/operations.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { defaultTopic } from '../../model/sample.ts';
import type {
  CorrectionOutcome,
  CorrectionRequest,
  SampleCorrection,
  SampleDeletion,
} from '../../model/sample-changes.ts';
import { parseBound, timestampOf } from '../../model/timestamp.ts';
import type { CountedTopic } from '../../storage/samples/sample-store.ts';
import type { RawUplinks } from '../../uplinks/followers/raw-uplink-follower.ts';
import { Answer, resourceRoute, type Route } from '../edge/route.ts';
import { byWorkspace, createdOnce, type RecordParts } from './record-routes.ts';
import { type DeviceAccess, deviceInPath } from './device-access.ts';

interface SampleChangeParts extends RecordParts, Pick<DeviceAccess, 'placeOfDevice'> {
  /** Begins the work of an accepted operation. */
  readonly start: (id: string) => void;
  /** What a deletion would remove of a device, by topic. */
  readonly count: (deviceId: string, deletion: SampleDeletion) => Promise<readonly CountedTopic[]>;
  readonly listUplinks: RawUplinks['list'];
  readonly correct: (request: CorrectionRequest) => Promise<CorrectionOutcome>;
}

type DeletionBody = Static<(typeof sampleChanges)['delete']['body']>;
type CorrectionBody = Static<(typeof sampleChanges)['correct']['body']>;

export function sampleChangeRoutes(parts: SampleChangeParts): Route[] {
  const { records } = parts;
  return [
    resourceRoute(sampleChanges.delete, byWorkspace(parts), async (input, principal) => {
      const { body } = input;
      const deletion = deletionOf(body);
      const devices = await devicesToDeleteFrom(records, principal, body);
      if (body.dryRun === true || typeof body.samplesMax === 'number') {
        const counted = await countAll(devices, deletion, parts);
        // `otherAnswers` describes it.
        if (body.dryRun === true)
          return new Answer(
            200,
            (await preview(counted, body, deletion, principal, parts)) as never,
          );
        const { samples } = counted;
        const samplesMax = body.samplesMax ?? samples;
        if (samples > samplesMax) throw problem('tooManySamples', { samples, samplesMax });
      }
      const { workspaceId } = body;
      const operation = await createdOnce(
        parts,
        { input, principal },
        (step) => acceptSampleDeletion(step, principal, { workspaceId, deletion }, devices),
        (id) => readOperation(records, id),
      );
      parts.start(operation.id);
      return operation;
    }),
    resourceRoute(
      sampleChanges.correct,
      deviceInPath(parts),
      async ({ params, body }, principal) => {
        const { deviceId } = params;
        const { kind: type, id, name } = principal;
        const { reason = null } = body;
        const outcome = await parts.correct({
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
  { count, listUplinks }: SampleChangeParts,
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
  { records }: SampleChangeParts,
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
    const timestamp = instantOf(`${field}.timestamp`, sentTime);
    return {
      topic,
      timestamp,
      data: data ?? null,
      replacement: replacement && {
        data: replacement.data,
        topic: replacement.topic ?? topic,
        timestamp: instantOf(`${field}.replacement.timestamp`, replacement.timestamp) ?? timestamp,
      },
    };
  });
}

function instantOf<T extends string | null | undefined>(
  field: string,
  sent: T,
): T extends string ? EpochMs : EpochMs | undefined {
  if (typeof sent !== 'string') return undefined as never;
  const at = timestampOf(sent);
  if (at === undefined)
    throw problem('invalidRequest', { reason: `${field} must be an ISO-8601 date-time` });
  return at;
}
