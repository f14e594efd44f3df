// Hook on the device of the first run: its record, its data flow, and how it sends.
import { useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';
import { deviceQuery } from '../device/data/device-queries.ts';
import { connectivities, type Connectivity } from '../devices/register-requests.ts';
import type { Sender } from './send-code.ts';

export interface FirstDevice {
  /** Service device id. */
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly typeName: string | undefined;
  readonly isPassThrough: boolean;
  /** Undefined when the caller cannot read the secret. */
  readonly sender: Omit<Sender, 'payload'> | undefined;
  readonly connectivity: Connectivity;
}

export function useFirstDevice(deviceId: string): {
  readonly device: FirstDevice | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
} {
  const record = useQuery(deviceQuery(deviceId));
  const flowId = record.data?.dataFlowId;
  const flow = useQuery({
    queryKey: ['flow', flowId],
    enabled: flowId !== undefined,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/data-flows/{id}', { signal, params: { path: { id: flowId ?? '' } } })),
  });
  const failed = record.error === null ? flow : record;
  const retry = () => void failed.refetch();
  if (record.data === undefined || flow.data === undefined)
    return { device: undefined, error: failed.error, retry };
  const { id, name, workspaceId, deviceId: physicalId } = record.data;
  const { deviceConnector, deviceType, passThrough } = flow.data;
  const connectivity = connectivities.find((one) => one === deviceConnector.connectivity) ?? 'HTTP';
  const secret = deviceConnector.uplinkSecret ?? undefined;
  const sender =
    secret === undefined
      ? undefined
      : { connectivity, deviceId: physicalId, connectorId: deviceConnector.id, secret };
  const typeName = deviceType?.name;
  return {
    device: { id, name, workspaceId, typeName, isPassThrough: passThrough, sender, connectivity },
    error: null,
    retry,
  };
}
