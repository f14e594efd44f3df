// Ready message of the demo: commands to paste, which work as soon as they are printed.
import { type EpochMs, formatInstant } from '../../src/model/instant.ts';
import { alarmTopic, leakRuleName } from './alarm-rules.ts';
import { radioFrame } from './physics/frame.ts';
import { hourMs } from './physics/local-time.ts';
import type { DemoWorkspace, EnrolledDevice } from './setup.ts';

export interface StartFacts {
  /** As a client reaches it, without trailing slash. */
  readonly publicUrl: string;
  readonly apiKey: string;
  readonly workspace: DemoWorkspace;
  readonly now: EpochMs;
}

/** Returns one block of plain text for standard output. */
export function startText({ publicUrl, apiKey, workspace, now }: StartFacts): string {
  const socketUrl = `${publicUrl.replace(/^http/, 'ws')}/v3/data-streams`;
  const room = deviceOf(workspace, 'room-climate');
  const leak = deviceOf(workspace, 'leak-detector');
  const shown = [
    room,
    deviceOf(workspace, 'energy-meter'),
    deviceOf(workspace, 'asset-tracker'),
    leak,
  ];
  const post = (path: string, body: unknown) =>
    `curl -s '${publicUrl}${path}' -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const wet = JSON.stringify(radioFrame(5, [0b0000_0001, 90, 38]));
  const subscribe = {
    type: 'subscribe',
    id: '1',
    subscriptions: [{ tagId: workspace.tagId, topic: '*' }],
  };
  return [
    '',
    `${workspace.devices.length} simulated devices send raw payloads through real decoders.`,
    '',
    `  Workspace          ${workspace.id}  Demo`,
    ...shown.map(({ id, device }) => `  Device             ${id}  ${device.name}`),
    '',
    '  The last three samples of a room:',
    `    ${post(`/v3/devices/${room.id}/query`, { topic: 'default', limit: 3 })}`,
    '',
    '  Its average temperature of the last day:',
    `    ${post(`/v3/devices/${room.id}/query/raw/kpi`, {
      topic: 'default',
      dataKey: 'temperature',
      accumulator: 'AVG',
      interval: { from: formatInstant(now - 24 * hourMs), to: formatInstant(now) },
    })}`,
    '',
    '  A raw payload of a leak detector, through its decoder:',
    `    curl -s '${publicUrl}/v3/capture?secret=${encodeURIComponent(workspace.uplinkSecret)}&deviceId=${leak.device.deviceId}' -H 'content-type: application/json' -d '${wet}'`,
    '',
    `  What the rule "${leakRuleName}" makes of it, an alarm and a sample:`,
    `    curl -s '${publicUrl}/v3/alarms?workspaceId=${workspace.id}&state=OPEN' -H 'x-api-key: ${apiKey}'`,
    `    ${post(`/v3/devices/${leak.id}/query`, { topic: alarmTopic, limit: 1 })}`,
    '',
    '  Everything live, as it is stored:',
    `    npx node -e "const w = new WebSocket('${socketUrl}?xApiKey=${apiKey}'); w.onopen = () => w.send(JSON.stringify(${inDoubleQuotes(subscribe)})); w.onmessage = (m) => console.log(m.data)"`,
    '',
  ].join('\n');
}

function deviceOf(workspace: DemoWorkspace, folder: string): EnrolledDevice {
  const found = workspace.devices.find(({ kind }) => kind.folder === folder);
  if (found === undefined) throw new Error(`The demo has no device of kind ${folder}`);
  return found;
}

// An object literal with single quotes, which a shell does not change between double quotes.
function inDoubleQuotes(value: unknown): string {
  return JSON.stringify(value).replaceAll('"', "'");
}
