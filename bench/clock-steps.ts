// Steps of the server's clock during a delivery: how long the next delivery of the device waits behind it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startWorld } from '../tests/world/world.ts';

const day = 86_400_000;
const steps: readonly (readonly [name: string, ms: number])[] = [
  ['-5 s', -5_000],
  ['+5 s', 5_000],
  ['-1 d', -day],
  ['+1 d', day],
  ['-2 y', -730 * day],
  ['+2 y', 730 * day],
];
/** How long the target takes for the first delivery, and when the clock steps meanwhile. */
const [answerMs, stepAfterMs, waitMsMax] = [4_000, 1_000, 30_000];

async function measure(stepMs: number): Promise<string> {
  let aheadMs = 0;
  const answered: number[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const takesMs = answered.length === 0 ? answerMs : 0;
    setTimeout(() => {
      answered.push(performance.now());
      response.end('ok');
    }, takesMs);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const world = await startWorld({
    environment: { EGRESS_ALLOW: '127.0.0.0/8' },
    now: () => Date.now() + aheadMs,
  });
  try {
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { id } = await world.must('POST', '/v3/output-connectors', {
      name: 'Target',
      workspaceId: world.workspaceId,
      type: 'WEBHOOK',
      webhookProperties: { uri, method: 'POST', contentType: 'JSON', authType: 'NONE' },
    });
    const device = await world.device({ outputs: [{ id, topic: '*' }] });
    await world.capture(device, { n: 1 });
    await delay(stepAfterMs);
    aheadMs = stepMs;
    await world.capture(device, { n: 2 });
    const until = performance.now() + waitMsMax;
    while (answered.length < 2 && performance.now() < until) await delay(10);
    const [first = 0, second] = answered;
    return second === undefined ? 'not within 30 s' : `${Math.round(second - first)} ms`;
  } finally {
    await world.close();
    server.closeAllConnections();
    server.close();
  }
}

for (const [name, stepMs] of steps) console.log(`| ${name} | ${await measure(stepMs)} |`);
process.exit(0);
