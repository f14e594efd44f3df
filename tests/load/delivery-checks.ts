// Delivery checks after crashes: none lost, one id each, in the order of each device, repeated only when necessary.
import { openConnection } from '../../bench/load/http.ts';
import type { Arrival } from './delivery-sink.ts';
import { call } from './kill-checks.ts';
import type { PlatformProcess } from './platform-process.ts';

export interface SentBy {
  readonly deviceId: string;
  readonly acknowledged: ReadonlySet<number>;
}

export async function checkDeliveries(
  platform: PlatformProcess,
  connectorId: string,
  devices: readonly SentBy[],
  arrivals: readonly Arrival[],
): Promise<string[]> {
  const ofDevice = Map.groupBy(arrivals, ({ deviceId }) => deviceId);
  const violations = devices.flatMap((device) => [
    ...arrivalViolations(device, ofDevice.get(device.deviceId) ?? []).map(
      (one) => `${device.deviceId}: ${one}`,
    ),
  ]);
  const logged = await loggedStates(platform, connectorId);
  const delivered = new Set(arrivals.map(({ deliveryId }) => deliveryId)).size;
  const wanted = { PENDING: 0, DEAD: 0, DELIVERED: delivered };
  if (JSON.stringify(logged) !== JSON.stringify(wanted))
    violations.push(
      `the log has ${JSON.stringify(logged)}, which should be ${JSON.stringify(wanted)}`,
    );
  return violations;
}

/** Of one device's arrivals, in the order they came. */
export function arrivalViolations(
  { acknowledged }: Pick<SentBy, 'acknowledged'>,
  arrivals: readonly Arrival[],
) {
  const violations: string[] = [];
  const idOf = new Map<number, string>();
  const sequenceOf = new Map<string, number>();
  const cut = new Map<string, Arrival>();
  const accepted = new Set<number>();
  let newest = 0;
  let previous: Arrival | undefined;
  for (const arrival of arrivals) {
    const { deliveryId, sequence, life, fate } = arrival;
    const known = idOf.get(sequence);
    if (known !== undefined && known !== deliveryId)
      violations.push(`${sequence} came as ${known} and ${deliveryId}`);
    if ((sequenceOf.get(deliveryId) ?? sequence) !== sequence)
      violations.push(`${deliveryId} came with two samples`);
    if (known === undefined && sequence < newest)
      violations.push(`${sequence} came first after ${newest}`);
    if (previous?.life === life) {
      if (sequence < previous.sequence)
        violations.push(`${sequence} came after ${previous.sequence}`);
      if (sequence > previous.sequence && previous.fate === 'refused')
        violations.push(`${sequence} came before ${previous.sequence} was accepted`);
      if (sequence === previous.sequence && previous.fate === 'accepted')
        violations.push(`${sequence} came again`);
    }
    idOf.set(sequence, deliveryId);
    sequenceOf.set(deliveryId, sequence);
    newest = Math.max(newest, sequence);
    if (fate === 'cut') cut.set(deliveryId, arrival);
    else cut.delete(deliveryId);
    if (fate === 'accepted') accepted.add(sequence);
    previous = arrival;
  }
  for (const { sequence } of cut.values())
    violations.push(`${sequence} was cut off and did not come again`);
  for (const sequence of acknowledged)
    if (!accepted.has(sequence)) violations.push(`acknowledged and lost: ${sequence}`);
  return violations;
}

/**
 * How many deliveries are in each state once none waits: their outcomes are written a moment after
 * the answer.
 */
async function loggedStates(platform: PlatformProcess, connectorId: string) {
  const connection = await openConnection(platform.target);
  const count = async (state: string) => {
    const path = `/v3/output-connectors/${connectorId}/deliveries?state=${state}&size=1`;
    return (await call<{ totalElements: number }>(connection, 'GET', path)).totalElements;
  };
  try {
    let looksLeft = 200;
    while ((await count('PENDING')) > 0 && looksLeft > 0) {
      looksLeft--;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return {
      PENDING: await count('PENDING'),
      DEAD: await count('DEAD'),
      DELIVERED: await count('DELIVERED'),
    };
  } finally {
    connection.close();
  }
}
