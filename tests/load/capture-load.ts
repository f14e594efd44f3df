// Capture load for a platform that will be killed: numbered uplinks of several devices, and the result of each.
import {
  type HttpConnection,
  type HttpTarget,
  httpRequest,
  openConnections,
} from '../../bench/load/http.ts';

/** One uplink in the book. */
export interface SentUplink {
  readonly deviceId: string;
  /** Whether its sample has a key that validation takes out and notes. */
  readonly noted: boolean;
  /** The answer's id and time, once it was acknowledged. */
  receipt?: { readonly id: string; readonly timestamp: string };
  /** The status of an answer that refused it: then nothing of it may be stored. */
  refusedWith?: number;
}

/** Everything ever sent, by sequence number. */
export type Book = Map<number, SentUplink>;

export interface LoadDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly secret: string;
  readonly scripted: boolean;
}

/** One uplink in this number has an invalid key. */
const notedEvery = 16;

export interface CaptureLoad {
  /** Resolves when no lane has an uplink in flight: all were stopped, or the platform went away. */
  readonly ended: Promise<void>;
  /** Resolves when this number of uplinks was acknowledged, or none is in flight. */
  readonly acknowledged: (count: number) => Promise<void>;
  /** Lets the uplinks in flight end and sends no more. */
  readonly stop: () => void;
}

/**
 * Sends over this number of connections, one uplink at a time each, until the platform ends or
 * `stop`.
 */
export async function startLoad(
  target: HttpTarget,
  devices: readonly LoadDevice[],
  book: Book,
  inFlight: number,
): Promise<CaptureLoad> {
  const connections = await openConnections(target, inFlight);
  const sending = new AbortController();
  let acknowledged = 0;
  let awaited: { readonly count: number; readonly done: () => void } | undefined;
  const lane = async (connection: HttpConnection): Promise<void> => {
    try {
      while (!sending.signal.aborted) {
        if (!(await sendNext(connection, devices, book))) continue;
        acknowledged++;
        if (awaited !== undefined && acknowledged >= awaited.count) awaited.done();
      }
    } catch {
      // The platform went away; what was in flight stays in the book as neither acknowledged nor refused.
    } finally {
      connection.close();
    }
  };
  const ended = Promise.all(connections.map(lane)).then(() => undefined);
  return {
    ended,
    acknowledged: (count) =>
      Promise.race([ended, new Promise<void>((done) => (awaited = { count, done }))]),
    stop: () => sending.abort(),
  };
}

/** Whether the uplink was acknowledged. */
async function sendNext(
  connection: HttpConnection,
  devices: readonly LoadDevice[],
  book: Book,
): Promise<boolean> {
  const sequence = book.size + 1;
  const device = devices[sequence % devices.length]!;
  const sent: SentUplink = { deviceId: device.id, noted: sequence % notedEvery === 0 };
  book.set(sequence, sent);
  const { status, body } = await connection.send(captureRequest(device, sequence, sent.noted));
  if (status === 201)
    sent.receipt = JSON.parse(body.toString()) as { id: string; timestamp: string };
  else sent.refusedWith = status;
  return status === 201;
}

export function captureRequest(
  { deviceId, secret }: LoadDevice,
  sequence: number,
  noted: boolean,
): Buffer {
  const path = `/v3/capture?secret=${secret}&deviceId=${deviceId}`;
  const body = {
    sequence,
    text: `uplink ${sequence}`,
    ...(noted ? { 'not a key!': sequence } : {}),
  };
  return httpRequest('POST', path, { 'content-type': 'application/json' }, JSON.stringify(body));
}
