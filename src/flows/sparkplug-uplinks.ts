// Sparkplug uplinks: the readings of a message as uplinks of its device, with samples or for its decoder.
import type { TakenMessage } from '../ingest/sparkplug/edge-node.ts';
import type { Reading } from '../ingest/sparkplug/metric-readings.ts';
import { messageBody, samplesOfReadings } from '../ingest/sparkplug/metric-samples.ts';
import { sentTimeOf } from '../ingest/sparkplug/scalar-value.ts';
import type { SparkplugTopic } from '../ingest/sparkplug/sparkplug-topic.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector } from '../model/connector.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Sample } from '../model/sample.ts';
import type { SparkplugMapping } from '../model/sparkplug-mapping.ts';
import type { Uplink } from '../model/uplink.ts';
import { isScripted, uplinkOf } from './capture.ts';
import type { LiveNode } from './sparkplug-nodes.ts';

/** One message, with what it is of. */
export interface SparkplugMessage {
  readonly node: LiveNode;
  readonly topic: SparkplugTopic;
  readonly bodyBytes: number;
  readonly receivedAt: EpochMs;
  readonly connector: DeviceConnector;
  readonly mapping: SparkplugMapping;
}

/** Readings that the node kept while it was not connected are a separate uplink. */
export function sparkplugUplinks(
  message: SparkplugMessage,
  { payload, readings }: TakenMessage,
  route: UplinkRoute,
  newId: () => string,
): Uplink[] {
  const old = readings.filter(({ isHistorical }) => isHistorical);
  const sentAt = sentTimeOf(payload?.timestamp);
  const uplinks: Uplink[] = [];
  if (old.length > 0)
    uplinks.push({
      ...uplinkFrom(message, { readings: old, sentAt }, route, newId),
      rulesSkipped: true,
    });
  if (old.length < readings.length || old.length === 0) {
    const live = readings.filter(({ isHistorical }) => !isHistorical);
    uplinks.push(uplinkFrom(message, { readings: live, sentAt }, route, newId));
  }
  return uplinks;
}

interface SentReadings {
  readonly readings: readonly Reading[];
  readonly sentAt: EpochMs | undefined;
}

/** A decoder gets the message; without one, the readings are samples. */
function uplinkFrom(
  { topic, bodyBytes, receivedAt, mapping }: SparkplugMessage,
  { readings, sentAt }: SentReadings,
  route: UplinkRoute,
  newId: () => string,
): Uplink {
  const body = messageBody(topic, sentAt, readings);
  const payload = { topic: mapping.topic, timestamp: sentAt ?? null, body, bodyBytes };
  const uplink = uplinkOf(payload, route, newId(), receivedAt);
  if (isScripted(route)) return uplink;
  const samples: Sample[] = samplesOfReadings(readings).map(({ meta, ...sample }) => ({
    ...{ deviceId: route.device.id, topic: mapping.topic, ...sample },
    ...(meta !== undefined && { meta }),
  }));
  return { ...uplink, samples };
}
