// Device uplinks: rounds of one uplink of each of many devices, as captures or as samples of many devices.
import { deviceIdOf } from './device-copies.ts';
import { httpRequest, inLanes, mustSucceed, openConnections } from './http.ts';
import { type Platform, apiKey } from './platform.ts';
import { figure, markdownTable } from './measure.ts';

export interface UplinkRounds {
  /** Devices that send, spread over `devices` by `step`. */
  readonly senders: number;
  readonly step: number;
  readonly rounds: number;
  readonly inFlight: number;
  /** Goal of the rate of the first round, as a part of the second. */
  readonly firstOfSecond: number;
}

/** How the uplinks of some devices are sent: one request each, or many in one. */
export interface UplinkKind {
  readonly title: string;
  readonly perRequest: number;
  /** `devices` are physical ids. */
  readonly request: (devices: readonly string[], round: number) => Buffer;
}

export function captures(secret: string): UplinkKind {
  return {
    title: 'captures',
    perRequest: 1,
    request: ([deviceId], round) =>
      httpRequest(
        'POST',
        `/v3/capture?secret=${secret}&deviceId=${deviceId}`,
        { 'content-type': 'application/json' },
        JSON.stringify(dataOf(round, 1)),
      ),
  };
}

/** Samples of 500 devices a request. */
export function bulkSamples(): UplinkKind {
  // Rounds are minutes apart, and newer than those of an earlier run.
  const startMs = Date.now() - 3_600_000;
  return {
    title: 'samples of `POST /v3/samples/bulk`, 500 devices a request',
    perRequest: 500,
    request: (devices, round) => {
      const timestamp = new Date(startMs + round * 60_000).toISOString();
      const samples = devices.map((deviceId, i) => ({
        deviceId,
        timestamp,
        data: dataOf(round, i),
      }));
      const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
      return httpRequest('POST', '/v3/samples/bulk', headers, JSON.stringify(samples));
    },
  };
}

function dataOf(round: number, i: number): object {
  return { temperature: 20 + round, humidity: i % 100 };
}

/** Requests are prepared in parts, because all would not fit into memory. */
const uplinksPerPart = 20_000;
const warmDevices = 2_000;
const fewDevices = 1_000;

/** Rounds of all senders, then as many uplinks of 1,000 devices. Returns a table. */
export async function uplinkRounds(
  platform: Platform,
  kind: UplinkKind,
  { senders, step, rounds, inFlight, firstOfSecond }: UplinkRounds,
): Promise<string> {
  const connections = await openConnections(platform.target, inFlight);
  const { server } = platform;
  const warm = Math.min(warmDevices, senders / 2);
  const count = senders - warm;

  const send = async (from: number, wanted: number, round: number) => {
    const requests: Buffer[] = [];
    for (let i = 0; i < wanted; i += kind.perRequest) {
      const devices = Array.from({ length: Math.min(kind.perRequest, wanted - i) }, (_, n) =>
        deviceIdOf((from + i + n) * step),
      );
      requests.push(kind.request(devices, round));
    }
    const [us, startedMs] = [server.processorUs(), performance.now()];
    await inLanes(connections, requests, async (connection, request) => {
      mustSucceed(await connection.send(request));
    });
    return { ms: performance.now() - startedMs, us: server.processorUs() - us };
  };

  /** `part` returns the first device, the number of devices and the round of a part. */
  const measured = async (part: (done: number) => readonly [number, number, number]) => {
    const sent = { ms: 0, us: 0 };
    for (let done = 0; done < count; ) {
      const [from, wanted, round] = part(done);
      const some = await send(from, wanted, round);
      sent.ms += some.ms;
      sent.us += some.us;
      done += wanted;
    }
    return { perSecond: (count / sent.ms) * 1_000, us: sent.us / count };
  };

  // Code is compiled and the journal open before the first round is measured.
  for (let round = 0; round < 3; round++) await send(0, warm, round);
  const rows: string[][] = [];
  const rates: { readonly perSecond: number; readonly us: number }[] = [];
  const add = (what: string, rate: (typeof rates)[number]): void => {
    rates.push(rate);
    rows.push([
      what,
      figure(rate.perSecond),
      figure(rate.us),
      figure(server.residentBytes() / 2 ** 20),
    ]);
  };
  for (let n = 0; n < rounds; n++)
    add(
      `${n + 1}`,
      await measured((done) => [warm + done, Math.min(uplinksPerPart, count - done), 10 + n]),
    );
  const few = Math.min(fewDevices, warm);
  add(
    `${few.toLocaleString('en-US')} devices, as many uplinks`,
    await measured((done) => [0, Math.min(few, count - done), 20 + rounds + done / few]),
  );
  for (const connection of connections) connection.close();
  return [
    `${count.toLocaleString('en-US')} devices in turn, ${inFlight} requests in flight: ${kind.title}.`,
    markdownTable(['uplink of each device', 'per second', 'us CPU', 'RSS, MiB'], rows),
    ratios(rates, firstOfSecond),
  ].join('\n\n');
}

function ratios(
  rates: readonly { readonly perSecond: number; readonly us: number }[],
  goal: number,
): string {
  const [first, second] = rates;
  const [all, few] = rates.slice(-2);
  if (first === undefined || second === undefined || all === undefined || few === undefined)
    return 'One round has no ratios.';
  const of = (a: typeof first, b: typeof first): string =>
    `${figure(a.perSecond / b.perSecond)} by rate, ${figure(b.us / a.us)} by processor time`;
  return `First to second: ${of(first, second)} (goal ${goal}). All in turn to few: ${of(all, few)}.`;
}
