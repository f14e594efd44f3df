// Kill checks: acknowledged uplinks exist once, nothing is invented, state, notes and metrics fit the samples.
import type { HttpConnection } from '../../bench/load/http.ts';
import { httpRequest, mustSucceed } from '../../bench/load/http.ts';
import { processingLogLimits } from '../../src/storage/records/rows/payload-notes.ts';
import type { Book, LoadDevice, SentUplink } from './capture-load.ts';
import { apiKey } from './platform-process.ts';

interface FoundSample {
  readonly timestamp: string;
  readonly data: { readonly sequence: number; readonly text: string; readonly count?: number };
  readonly meta?: { readonly svcDataKeyValidation?: object };
}

export interface CheckedDevice {
  /** Samples found. */
  readonly samples: number;
  /** Found without having been acknowledged: the crash came between fsync and answer. */
  readonly unacknowledged: number;
  readonly violations: readonly string[];
}

/** The log of a device keeps so many, which is also the largest page. */
const notesKept = processingLogLimits.entriesPerDeviceMax;

export async function call<T>(
  connection: HttpConnection,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const answer = await connection.send(
    httpRequest(method, path, headers, body === undefined ? '' : JSON.stringify(body)),
  );
  return JSON.parse(mustSucceed(answer).toString()) as T;
}

/**
 * Compares everything that the platform has of the device since `from` with the uplinks in the book
 * sent since then.
 */
export async function checkDevice(
  connection: HttpConnection,
  device: LoadDevice,
  sent: Book,
  from: string,
): Promise<CheckedDevice> {
  const found = await exported(connection, device.id, from);
  const stored = new Map(found.map((sample) => [sample.data.sequence, sample]));
  const violations = [
    ...sampleViolations(found, device, sent),
    ...(device.scripted ? counterViolations(found) : []),
    ...(await metricsViolations(connection, device, found, sent)),
    ...(await noteViolations(connection, device, { stored, sent, from })),
  ];
  const unacknowledged = found.filter(
    ({ data }) => sent.get(data.sequence)?.receipt === undefined,
  ).length;
  return {
    samples: found.length,
    unacknowledged,
    violations: violations.map((one) => `${device.deviceId}: ${one}`),
  };
}

async function exported(
  connection: HttpConnection,
  id: string,
  from: string,
): Promise<FoundSample[]> {
  const path = `/v3/devices/${id}/export?format=ndjson&from=${from}`;
  const answer = mustSucceed(
    await connection.send(httpRequest('GET', path, { 'x-api-key': apiKey })),
  );
  const lines = answer.toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as FoundSample);
}

function* sampleViolations(
  found: readonly FoundSample[],
  device: LoadDevice,
  sent: Book,
): Generator<string> {
  const seen = new Set<number>();
  for (const { data, timestamp, meta } of found) {
    const { sequence, text } = data;
    const uplink = sent.get(sequence);
    if (uplink === undefined || uplink.deviceId !== device.id || text !== `uplink ${sequence}`) {
      yield `invented: ${JSON.stringify(data)}`;
      continue;
    }
    if (seen.has(sequence)) yield `stored twice: ${sequence}`;
    seen.add(sequence);
    if (uplink.refusedWith !== undefined)
      yield `refused with ${uplink.refusedWith} and stored: ${sequence}`;
    if (uplink.receipt !== undefined && uplink.receipt.timestamp !== timestamp)
      yield `another time: ${sequence}`;
    if (uplink.noted !== (meta?.svcDataKeyValidation !== undefined))
      yield `meta does not tell the note: ${sequence}`;
  }
  for (const [sequence, { deviceId, receipt }] of sent)
    if (deviceId === device.id && receipt !== undefined && !seen.has(sequence))
      yield `acknowledged and lost: ${sequence}`;
}

// Sample and state are one journal entry, and entries are kept in order, so counters have neither
// gaps nor repetitions.
function* counterViolations(found: readonly FoundSample[]): Generator<string> {
  const counts = found.map(({ data }) => data.count!).sort((a, b) => a - b);
  for (const [i, count] of counts.entries())
    if (i > 0 && count !== counts[i - 1]! + 1)
      yield `the state counter goes from ${counts[i - 1]} to ${count}`;
}

async function metricsViolations(
  connection: HttpConnection,
  { id, scripted }: LoadDevice,
  found: readonly FoundSample[],
  sent: Book,
): Promise<string[]> {
  const { uplinkMetrics } = await call<{
    uplinkMetrics: { uplinkId: string; timestamp: string } | null;
  }>(connection, 'GET', `/v3/devices/${id}`);
  if (found.length === 0) return [];
  if (uplinkMetrics === null) return ['no uplink metrics'];
  const { uplinkId, timestamp } = uplinkMetrics;
  const ofMetrics = found.filter((sample) => sample.timestamp === timestamp);
  if (ofMetrics.length === 0) return [`uplink metrics of ${timestamp}, when nothing was stored`];
  const ids = ofMetrics.map(({ data }) => sent.get(data.sequence)?.receipt?.id);
  if (!ids.includes(uplinkId) && !ids.includes(undefined))
    return [`uplink metrics of the unknown uplink ${uplinkId}`];
  if (!scripted) return [];
  const newest = found.reduce((a, b) => (b.data.count! > a.data.count! ? b : a));
  return newest.timestamp === timestamp
    ? []
    : [`uplink metrics of ${timestamp}, the newest is ${newest.timestamp}`];
}

async function noteViolations(
  connection: HttpConnection,
  { id }: LoadDevice,
  {
    stored,
    sent,
    from,
  }: { stored: ReadonlyMap<number, FoundSample>; readonly sent: Book; readonly from: string },
): Promise<string[]> {
  const path = `/v3/devices/${id}/processing-logs?from=${from}&size=${notesKept}`;
  const { content, totalElements } = await call<{
    content: { correlationId: string }[];
    totalElements: number;
  }>(connection, 'GET', path);
  const noted = [...stored.keys()]
    .map((sequence) => sent.get(sequence))
    .filter((uplink) => uplink?.noted === true);
  const expected = Math.min(noted.length, notesKept);
  const violations =
    totalElements === expected ? [] : [`${totalElements} notes for ${noted.length} samples`];
  if (noted.length > notesKept) return violations;
  const known = new Set(content.map(({ correlationId }) => correlationId));
  const missing = noted.filter((uplink): uplink is SentUplink => uplink?.receipt !== undefined);
  for (const { receipt } of missing)
    if (!known.has(receipt!.id)) violations.push(`acknowledged and its note lost: ${receipt!.id}`);
  return violations;
}
