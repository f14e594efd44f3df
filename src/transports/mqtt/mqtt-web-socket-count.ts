// MQTT WebSocket count: each counts as a WebSocket of its organization until it closes (contract 36).
import type { QuotaCount } from '../../model/quota-count.ts';
import type { MqttTransport } from './mqtt-transport.ts';

/** Returns false when the organization has no WebSocket left. */
export function takeUntilClose(
  count: Pick<QuotaCount, 'take' | 'give'>,
  organizationId: string,
  conn: MqttTransport,
): boolean {
  if (conn.closed) return true;
  if (!count.take(organizationId, 1)) return false;
  conn.once('close', () => count.give(organizationId, 1));
  return true;
}
