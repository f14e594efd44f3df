// Backfill of a device: one sample, or up to 100,000 read while they arrive (interface 4.3, contract 28, 35).
import { backfill } from '../../contract/endpoints/backfill.ts';
import { type Backfill, backfillLimits, type BackfillReceipt } from '../../flows/backfill.ts';
import type { Attempt, Once } from '../../flows/idempotency.ts';
import type { OnceStreamed } from '../../flows/streamed-idempotency.ts';
import { jsonArrayGroups } from '../../ingest/http/json-array.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { idempotencyKeyOf } from '../edge/idempotency-key.ts';
import { type InputOf, resourceRoute, type Route, type RouteInput } from '../edge/route.ts';
import type { BodyStream } from '../../contract/endpoint.ts';
import { type DeviceAccess, deviceInPath } from './device-access.ts';

export interface BackfillParts extends Pick<DeviceAccess, 'placeOfDevice'> {
  readonly backfill: (input: Backfill) => Promise<BackfillReceipt>;
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
  readonly now: () => EpochMs;
}

export function backfillRoutes(parts: BackfillParts): Route[] {
  return [singleRoute(parts), bulkRoute(parts)];
}

function singleRoute(parts: BackfillParts): Route {
  return resourceRoute(backfill.single, deviceInPath(parts), async (input, principal) => {
    const receipt = await storedSample(parts, input, principal);
    const message = receipt.duplicates > 0 ? 'sample stored already' : 'sample stored';
    return { message, ...receipt };
  });
}

/** Stores the sample of the body, once per Idempotency-Key. */
async function storedSample(
  parts: BackfillParts,
  input: InputOf<typeof backfill.single>,
  principal: Principal,
): Promise<BackfillReceipt> {
  const { deviceId } = input.params;
  const work = (receivedAt: EpochMs, attempt?: Attempt): Promise<BackfillReceipt> =>
    parts.backfill({ deviceId, groups: [[input.body]], receivedAt, attempt });
  const call = callOf(input, principal);
  if (call === undefined) return work(parts.now());
  const answer = await parts.once.stored({ ...call, body: input.body }, async (attempt) =>
    answerOf(await work(attempt.firstSeenAt, attempt)),
  );
  return answer.body as unknown as BackfillReceipt;
}

function bulkRoute(parts: BackfillParts): Route {
  let inProgress = 0;
  return resourceRoute(backfill.bulk, deviceInPath(parts), async (input, principal) => {
    const { deviceId } = input.params;
    const work = (
      body: BodyStream,
      receivedAt: EpochMs,
      attempt?: Attempt,
    ): Promise<BackfillReceipt> =>
      parts.backfill({ deviceId, groups: jsonArrayGroups(body), receivedAt, attempt });
    if (inProgress >= backfillLimits.requestsMax) throw problem('intakeFull');
    inProgress++;
    try {
      const call = callOf(input, principal);
      if (call === undefined) return await work(input.body, parts.now());
      const answer = await parts.onceStreamed(call, input.body, async (body, attempt) =>
        answerOf(await work(body, attempt.firstSeenAt, attempt)),
      );
      return answer.body as unknown as BackfillReceipt;
    } finally {
      inProgress--;
    }
  });
}

/** Undefined without an Idempotency-Key. */
function callOf({ headers, path }: RouteInput<unknown, unknown, unknown>, principal: Principal) {
  const key = idempotencyKeyOf(headers);
  if (key === undefined) return undefined;
  return { credential: principal.id, route: `POST ${path}`, key };
}

function answerOf(receipt: BackfillReceipt): { readonly status: number; readonly body: Json } {
  return { status: 201, body: receipt as unknown as Json };
}
