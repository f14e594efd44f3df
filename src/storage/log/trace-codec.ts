// Trace codec: the metrics and the trace of an entry as bytes, one row per field.
import type { EntryTrace, ProcessingTimes, RawPayload } from '../../model/entry-trace.ts';
import type { ByteReader } from '../../structures/bytes.ts';
import type { RadioMetrics, UplinkMetrics } from '../../model/uplink-metrics.ts';
import {
  bodyCodec,
  idCodec,
  numberCodec,
  orNull,
  readText,
  recordOf,
  textCodec,
  timeCodec,
  trueCodec,
} from './field-codec.ts';

const radioFields = {
  uplinkSize: numberCodec,
  latitude: numberCodec,
  longitude: numberCodec,
  locationRadius: numberCodec,
  port: numberCodec,
  frameCountUp: numberCodec,
  frameCountDown: numberCodec,
  rssi: numberCodec,
  snr: numberCodec,
  sf: numberCodec,
  txPower: numberCodec,
  numberOfGateways: numberCodec,
  esp: numberCodec,
  sqi: numberCodec,
  sqiTimestamp: timeCodec,
  batteryLevel: numberCodec,
  batteryTimestamp: timeCodec,
  isGone: trueCodec,
} as const;

export const metricsCodec = recordOf<UplinkMetrics>({
  uplinkId: idCodec,
  deviceId: idCodec,
  timestamp: timeCodec,
  ...radioFields,
});

const rawCodec = recordOf<RawPayload>({
  topic: orNull(textCodec),
  timestamp: orNull(timeCodec),
  body: bodyCodec,
  bodyBytes: numberCodec,
  metrics: recordOf<RadioMetrics>(radioFields),
});

export const traceCodec = recordOf<EntryTrace>({
  duplicateKey: textCodec,
  raw: rawCodec,
  times: recordOf<ProcessingTimes>({
    dataReceived: timeCodec,
    processingStart: timeCodec,
    scriptRunUplinkStart: timeCodec,
    scriptRunUplinkEnd: timeCodec,
    processingEnd: timeCodec,
  }),
  ruleHops: numberCodec,
  rulesSkipped: trueCodec,
});

/** The first field of a trace alone. */
export function readDuplicateKey(from: ByteReader): string | undefined {
  const hasKey = from.varint() % 2 === 1;
  return hasKey ? readText(from) : undefined;
}
