// Backfill routes: one sample, or streams of samples of one or many devices (interface 4.3, contract 28, 35, 37).
import type { IncomingHttpHeaders } from 'node:http';
import { backfill } from '../../contract/capture.ts';
import {
  type Backfill,
  backfillLimits,
  type BackfillReceipt,
  type NamedBackfill,
} from '../../uplinks/bulk/backfill.ts';
import type { Attempt, Once, OnceStreamed } from '../../uplinks/idempotency/idempotency.ts';
import { jsonGroupLimits } from '../../transports/http/json-groups.ts';
import { sampleGroups, sampleLineGroups } from '../../transports/http/sample-groups.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import { idempotencyKeyOf } from '../edge/admission.ts';
import { isNdjson } from '../edge/body-parsers.ts';
import { type InputOf, resourceRoute, route, type Route, type RouteInput } from '../edge/route.ts';
import type { BodyStream } from '../../contract/endpoint.ts';
import { type DeviceAccess, deviceInPath } from './device-access.ts';

interface Backfills {
  readonly backfill: (input: Backfill) => Promise<BackfillReceipt>;
  readonly backfillNamed: (input: NamedBackfill) => Promise<BackfillReceipt>;
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
}

export function backfillRoutes(
  devices: DeviceAccess,
  backfills: Backfills,
  turns: WorkTurns,
  now: () => EpochMs,
): Route[] {
  return [singleRoute(devices, backfills, now), ...bulkRoutes(devices, backfills, turns, now)];
}

function singleRoute(devices: DeviceAccess, backfills: Backfills, now: () => EpochMs): Route {
  return resourceRoute(backfill.single, deviceInPath(devices), async (input, principal) => {
    const receipt = await storedSample(backfills, now, input, principal);
    return { message: messageOf(receipt), ...receipt };
  });
}

function messageOf({ duplicates, stored, notStored = [] }: BackfillReceipt): string {
  if (stored > 0) return 'sample stored';
  if (duplicates > 0) return 'sample already stored';
  const isFiltered = notStored[0]?.reason === 'TOPIC_FILTER';
  return isFiltered
    ? 'sample taken, not stored: the database output of the data flow does not take its topic'
    : 'sample taken, not stored: the data flow has no database output';
}

/** Stores the sample of the body, once per Idempotency-Key. */
async function storedSample(
  backfills: Backfills,
  now: () => EpochMs,
  input: InputOf<typeof backfill.single>,
  principal: Principal,
): Promise<BackfillReceipt> {
  const { deviceId } = input.params;
  const work = (receivedAt: EpochMs, attempt?: Attempt): Promise<BackfillReceipt> =>
    backfills.backfill({ deviceId, groups: [[input.body]], receivedAt, attempt });
  const call = callOf(input.headers, input.path, principal);
  if (call === undefined) return work(now());
  const answer = await backfills.once.stored({ ...call, body: input.body }, async (attempt) => ({
    status: 201,
    body: await work(attempt.firstSeenAt, attempt),
  }));
  return answer.body as BackfillReceipt;
}

type GroupedBody = Pick<Backfill, 'groups' | 'receivedAt' | 'attempt'>;
type BulkInput = Pick<RouteInput<unknown, unknown, BodyStream>, 'headers' | 'path' | 'body'>;

/** The two routes share the limit of concurrent requests. */
function bulkRoutes(
  devices: DeviceAccess,
  backfills: Backfills,
  turns: WorkTurns,
  now: () => EpochMs,
): Route[] {
  let inProgress = 0;

  /** Stores the samples of the body, once per Idempotency-Key. */
  async function stored(
    { headers, path, body }: BulkInput,
    principal: Principal,
    store: (grouped: GroupedBody) => Promise<BackfillReceipt>,
  ): Promise<BackfillReceipt> {
    const groupsOf = isNdjson(headers) ? sampleLineGroups : sampleGroups;
    const inTurn = <T>(work: () => T) => turns.slice(principal.organizationId, work);
    if (inProgress >= backfillLimits.requestsMax) throw problem('intakeFull');
    inProgress++;
    try {
      const call = callOf(headers, path, principal);
      if (call === undefined)
        return await store({
          groups: groupsOf(body, 'free', jsonGroupLimits, inTurn),
          receivedAt: now(),
        });
      const answer = await backfills.onceStreamed(call, body, async (bytes, attempt) => {
        // Parts of the request are named by their groups: a repetition must have the same ones.
        const groups = groupsOf(bytes, 'fixed', jsonGroupLimits, inTurn);
        const receipt = await store({ groups, receivedAt: attempt.firstSeenAt, attempt });
        return { status: 201, body: receipt };
      });
      return answer.body as BackfillReceipt;
    } finally {
      inProgress--;
    }
  }

  return [
    resourceRoute(backfill.bulk, deviceInPath(devices), (input, principal) => {
      const { deviceId } = input.params;
      return stored(input, principal, (grouped) => backfills.backfill({ deviceId, ...grouped }));
    }),
    route(backfill.samples, ({ headers, path, body }, principal) => {
      // A key of a user in one organization says nothing of another one.
      const of = { headers, body, path: `${path} ${principal.organizationId}` };
      return stored(of, principal, (grouped) => backfills.backfillNamed({ principal, ...grouped }));
    }),
  ];
}

/** Undefined without an Idempotency-Key. */
function callOf(headers: IncomingHttpHeaders, path: string, principal: Principal) {
  const key = idempotencyKeyOf(headers);
  if (key === undefined) return undefined;
  return { credential: principal.id, route: `POST ${path}`, key };
}
