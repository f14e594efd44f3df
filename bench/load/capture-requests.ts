// Capture requests: the bytes of captures of workload W, decoded or passed through.
import { hexPayload } from './hex-decoder.ts';
import { httpRequest } from './http.ts';
import { dataJsonAt, deviceName, timeOrdered, workloadW } from './workload.ts';

const requestsMax = 20_000;

/** In the order of time, of so many devices, whose names count from the first. */
export function captureRequests(
  secret: string,
  devices: number,
  passThrough: boolean,
  first = 0,
): Buffer[] {
  const requests: Buffer[] = [];
  for (const sample of timeOrdered({ ...workloadW, devices, days: 1_000 }, 1)) {
    const path = `/v3/capture?secret=${secret}&deviceId=${deviceName(first + sample.device[0]!)}`;
    const body = passThrough ? dataJsonAt(sample, 0) : hexPayload(sample);
    requests.push(httpRequest('POST', path, { 'content-type': 'application/json' }, body));
    if (requests.length === requestsMax) break;
  }
  return requests;
}
