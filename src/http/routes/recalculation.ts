// Routes that recalculate stored samples, or show what would change (contract 38).
import type { Static } from 'typebox';
import { recalculation } from '../../contract/sample-changes.ts';
import {
  calculatedKeysFrom,
  devicesOfType,
  readDeviceType,
} from '../../inventory/data-flows/device-types.ts';
import { readOperation } from '../../inventory/operations/operations.ts';
import {
  acceptSampleRecalculation,
  devicesToRecalculate,
} from '../../inventory/operations/sample-recalculation.ts';
import { formatInstant } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { parseBound } from '../../model/timestamp.ts';
import { replayLimits } from '../../uplinks/decoder-test.ts';
import type { RecalculationReport, RecalculationRequest } from '../../uplinks/recalculation.ts';
import { Answer, resourceRoute, type Route } from '../edge/route.ts';
import { byId, createdOnce, type RecordParts } from './record-routes.ts';
import type { DeviceAccess } from './device-access.ts';

interface RecalculationParts
  extends RecordParts,
    Pick<DeviceAccess, 'placeOfDevice' | 'authorize'> {
  readonly preview: (request: RecalculationRequest) => Promise<RecalculationReport>;
  /** Begins the work of an accepted operation. */
  readonly start: (id: string) => void;
}

type Body = Static<(typeof recalculation)['recalculate']['body']>;

export function recalculationRoute(parts: RecalculationParts): Route {
  const { records } = parts;
  return resourceRoute(
    recalculation.recalculate,
    byId(parts, 'deviceType'),
    async (input, principal) => {
      const { params, body } = input;
      const deviceIds = body.deviceIds ?? [];
      const [from, to] = [boundOf('from', body.from), boundOf('to', body.to)];
      if (from !== null && to !== null && from >= to) {
        const reason = `from (${formatInstant(from)}) must be before to (${formatInstant(to)})`;
        throw problem('badInterval', { reason });
      }
      for (const id of deviceIds) await authorizeDevice(id, principal, parts);
      // `otherAnswers` describes it.
      if (body.dryRun === true)
        return new Answer(200, (await preview(params.id, body, principal, parts)) as never);
      if (body.calculatedKeys !== undefined)
        throw problem('invalidRequest', {
          reason: 'body: calculatedKeys are for a dry run. Save them in the device type first.',
        });
      await readDeviceType(records, params.id);
      const devices = await devicesToRecalculate(records, principal, params.id, {
        deviceIds,
        workspaceId: body.workspaceId ?? undefined,
      });
      const plan = { deviceTypeId: params.id, source: body.source, from, to };
      const operation = await createdOnce(
        parts,
        { input, principal },
        (step) => acceptSampleRecalculation(step, principal, plan, devices),
        (id) => readOperation(records, id),
      );
      parts.start(operation.id);
      return operation;
    },
  );
}

function boundOf(name: string, sent: string | null | undefined): number | null {
  return typeof sent === 'string' ? parseBound(name, sent) : null;
}

async function authorizeDevice(
  id: string,
  principal: Principal,
  { authorize, placeOfDevice }: RecalculationParts,
): Promise<void> {
  const place = await placeOfDevice(id);
  authorize(principal, 'asset', 'update', place);
  authorize(principal, 'asset', 'delete', place);
}

async function preview(
  typeId: string,
  body: Body,
  principal: Principal,
  parts: RecalculationParts,
): Promise<RecalculationReport> {
  const { records } = parts;
  const { source, calculatedKeys, from, to } = body;
  const deviceIds = body.deviceIds ?? [];
  const type = await readDeviceType(records, typeId);
  const { devicesMax } = replayLimits;
  if (deviceIds.length > devicesMax)
    throw problem('invalidRequest', {
      reason: `body: a dry run can include at most ${devicesMax} devices`,
    });
  const found =
    deviceIds.length > 0
      ? deviceIds
      : await devicesOfType(records, principal, typeId, devicesMax, body.workspaceId ?? undefined);
  for (const id of found) await authorizeDevice(id, principal, parts);
  return parts.preview({
    source,
    deviceIds: found,
    keys: calculatedKeys === undefined ? type.calculatedKeys : calculatedKeysFrom(calculatedKeys),
    code: type.uplinkScript?.code ?? null,
    from: from ?? undefined,
    to: to ?? undefined,
  });
}
