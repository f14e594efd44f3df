// Refused captures: the owner of the connector finds what was wrong, and the start of the payload (contract 39.3).
import type { Refusals } from '../../uplinks/refusals.ts';
import {
  captureDeviceIdOf,
  type CaptureQuery,
  captureSecretOf,
} from '../../transports/http/capture-request.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import type { Problem } from '../../model/problem.ts';
import { refusalLimits, refusalReasonOf } from '../../model/refused-uplink.ts';
import type { RefusedRequest } from '../edge/route.ts';

export interface RefusedCaptureParts {
  readonly refusals: Refusals;
  /** Throws Problem 401 for an unknown secret. */
  readonly connectorOf: (secret: string) => DeviceConnector | Promise<DeviceConnector>;
}

/** For the `refused` of a route whose sender is an uplink secret. */
export function refusedCaptures(parts: RefusedCaptureParts): (request: RefusedRequest) => void {
  return (request) => {
    // Without a connector there is no owner to tell.
    tell(parts, request).catch(() => undefined);
  };
}

async function tell(
  { refusals, connectorOf }: RefusedCaptureParts,
  { failure, headers, query, ip, bytes, bodyStart }: RefusedRequest,
): Promise<void> {
  if (refusalReasonOf(failure.status) === undefined) return;
  const sent = query as CaptureQuery;
  const deviceId = captureDeviceIdOf(sent, headers) ?? deviceNamedBy(failure);
  if (failure.status === 401) {
    refusals.add({ address: ip }, { transport: 'HTTP', failure, deviceId, bytes });
    return;
  }
  // What is left of a body that is too large is not worth reading.
  const start = failure.status === 413 ? undefined : bodyStart(refusalLimits.payloadBytesMax);
  const connector = await connectorOf(captureSecretOf(sent, headers));
  const payload = await start;
  refusals.add(
    { connectorId: connector.id },
    {
      transport: isOfNetworkServer(connector) ? 'LORAWAN' : 'HTTP',
      failure,
      deviceId,
      payload,
      bytes: Math.max(bytes, payload?.length ?? 0),
    },
  );
}

/** A webhook names its device in the body. */
function deviceNamedBy({ details }: Problem): string | undefined {
  const { what, id } = details as { readonly what?: unknown; readonly id?: unknown };
  return what === 'device' && typeof id === 'string' ? id : undefined;
}

function isOfNetworkServer({ decodingType, connectivity }: DeviceConnector): boolean {
  return connectivity === 'LORA' || decodingType !== 'NONE';
}
