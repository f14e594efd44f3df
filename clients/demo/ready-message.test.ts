// The lines that the demo prints arrive at curl and node as meant when a shell reads them.
import { execFileSync } from 'node:child_process';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { deviceKinds } from './devices/kind-table.ts';
import { startText } from './ready-message.ts';

const devices = deviceKinds.flatMap((kind) =>
  kind.devices.map((device) => ({ id: `02${device.deviceId}`, kind, device })),
);
const text = startText({
  publicUrl: 'https://iot.example.org',
  apiKey: '0011223344556677.2b1f6c1e-2f0e-4a53-9d8c-0d7c1a2b3c4d',
  workspace: {
    id: '2900000000000001',
    uplinkSecret: 'up&link',
    deviceTypeIds: [],
    tagId: '7100000000000001',
    devices,
  },
  now: Date.UTC(2026, 10, 20, 12),
});

// The arguments that a shell passes on when it reads a printed line.
function argumentsOf(start: string): string[][] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line.startsWith(start))
    .map((line) => {
      const script = `${start.split(' ')[0]}() { for a in "$@"; do printf '%s\\0' "$a"; done; }\n${line}`;
      return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
    });
}

function after(words: readonly string[], option: string): string[] {
  return words.flatMap((word, i) => (words[i - 1] === option ? [word] : []));
}

test('five curl lines carry address, key and body', () => {
  const lines = argumentsOf('curl ');
  expect(lines).toHaveLength(5);
  const [samples, kpi, capture, alarms, made] = lines as [
    string[],
    string[],
    string[],
    string[],
    string[],
  ];
  const room = devices[0]!.id;
  expect(samples[1]).toBe(`https://iot.example.org/v3/devices/${room}/query`);
  expect(JSON.parse(after(samples, '-d')[0]!)).toEqual({ topic: 'default', limit: 3 });
  expect(kpi[1]).toBe(`https://iot.example.org/v3/devices/${room}/query/raw/kpi`);
  expect(JSON.parse(after(kpi, '-d')[0]!).interval).toEqual({
    from: '2026-11-19T12:00:00.000Z',
    to: '2026-11-20T12:00:00.000Z',
  });
  expect(after(kpi, '-H')).toContain(
    'x-api-key: 0011223344556677.2b1f6c1e-2f0e-4a53-9d8c-0d7c1a2b3c4d',
  );
  expect(new URL(capture[1]!).searchParams.get('secret')).toBe('up&link');
  expect(new URL(capture[1]!).searchParams.get('deviceId')).toMatch(/^0248454C0007/);
  expect(JSON.parse(after(capture, '-d')[0]!)).toEqual({ port: 5, payloadHex: '015a26' });
  expect(alarms[1]).toBe(
    'https://iot.example.org/v3/alarms?workspaceId=2900000000000001&state=OPEN',
  );
  // The sample is written after the alarm.
  expect(JSON.parse(after(made, '-d')[0]!)).toEqual({ topic: 'alarm', limit: 1 });
});

test('the live line is a program for node that subscribes to everything with the tag of the demo', () => {
  const [words] = argumentsOf('npx ');
  expect(words!.slice(0, 2)).toEqual(['node', '-e']);
  const sockets: { url: string; onopen?: () => void; sent?: string }[] = [];
  class WebSocket {
    sent?: string;
    readonly url: string;
    constructor(url: string) {
      this.url = url;
      sockets.push(this);
    }
    send(message: string) {
      this.sent = message;
    }
  }
  vm.runInNewContext(words![2]!, { WebSocket });
  sockets[0]!.onopen!();
  expect(sockets[0]!.url).toBe(
    'wss://iot.example.org/v3/data-streams?xApiKey=0011223344556677.2b1f6c1e-2f0e-4a53-9d8c-0d7c1a2b3c4d',
  );
  expect(JSON.parse(sockets[0]!.sent!)).toEqual({
    type: 'subscribe',
    id: '1',
    subscriptions: [{ tagId: '7100000000000001', topic: '*' }],
  });
});
