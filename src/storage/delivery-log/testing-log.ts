// A delivery log of tests: real files in a folder, filled by hand.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeliveryLog } from './delivery-log.ts';
import type { DeliveryLogOptions } from './log-writer.ts';
import { setTimer } from '../../structures/timers.ts';
import type { StoredDelivery } from './record.ts';

/** A delivery that waits; its id and sequence are derived from the number. */
export function storedDelivery(n: number, over: Partial<StoredDelivery> = {}): StoredDelivery {
  return {
    id: `id${n}`,
    sequence: n,
    connectorId: 'c',
    organizationId: 'o',
    workspaceId: 'w',
    deviceId: 'd',
    correlationId: `c${n}`,
    cause: 'DATA_FLOW',
    ruleHops: 0,
    state: 'PENDING',
    tries: 0,
    revision: 0,
    isResent: false,
    nextAt: 0,
    created: 0,
    updated: 0,
    payload: null,
    answer: null,
    reason: null,
    context: JSON.stringify({ data: { n } }),
    ...over,
  };
}

export interface TestLog {
  readonly directory: string;
  readonly log: DeliveryLog;
  /** Reported damage. */
  readonly damage: { readonly path: string; readonly reason: string }[];
  readonly failures: unknown[];
}

export async function openTestLog(
  directory: string,
  over: Partial<DeliveryLogOptions> = {},
): Promise<TestLog> {
  const damage: TestLog['damage'] = [];
  const failures: unknown[] = [];
  const log = await DeliveryLog.open({
    directory,
    now: () => 0,
    setTimer,
    expected: false,
    damaged: (place) => void damage.push(place),
    failed: (error) => void failures.push(error),
    ...over,
  });
  return { directory, log, damage, failures };
}

/** A folder that is removed by the returned function. */
export function testFolder(): { readonly directory: string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-deliveries-'));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
