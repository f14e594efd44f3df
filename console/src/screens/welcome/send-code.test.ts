// Send code: a shell and Python read back exactly the address, the credential and the payload.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { type Installation, sendCode, type Sender, sendTools } from './send-code.ts';

const at: Installation = {
  origin: 'http://127.0.0.1:1',
  hostname: '127.0.0.1',
  mqttPort: 1_884,
  coapPort: 5_683,
};
const sender: Sender = {
  connectivity: 'HTTP',
  deviceId: `it's & 1`,
  connectorId: '24aa',
  secret: 'c7b5',
  payload: { note: `it's $HOME "here"`, temperature: 21.5 },
};
const path = "secret=c7b5&deviceId=it's%20%26%201";
const body = JSON.stringify(sender.payload);

/** The words that a POSIX shell makes of the command. */
function wordsOf(command: string): string[] {
  const printed = command.replace(/^\S+/, `printf '%s\\0'`);
  return execFileSync('sh', ['-c', printed], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('a command of a terminal', () => {
  test('curl', () => {
    const words = wordsOf(sendCode('curl', sender, at));
    const json = ['-H', 'content-type: application/json'];
    expect(words).toEqual(['-sS', `http://127.0.0.1:1/v3/capture?${path}`, ...json, '-d', body]);
  });

  test('mosquitto_pub', () => {
    const words = wordsOf(sendCode('mosquitto_pub', { ...sender, connectivity: 'MQTT' }, at));
    const login = ['-q', '1', '-u', '24aa', '-P', 'c7b5'];
    const message = ['-t', `/up/c7b5/id/it's & 1`, '-m', body];
    expect(words).toEqual(['-h', '127.0.0.1', '-p', '1884', ...login, ...message]);
  });

  test('coap-client', () => {
    const words = wordsOf(sendCode('coap-client', { ...sender, connectivity: 'COAP' }, at));
    const address = `coap://127.0.0.1/v3/capture?${path}`;
    expect(words).toEqual(['-m', 'post', '-t', '50', '-e', body, address]);
  });
});

test.each(['HTTP', 'MQTT', 'COAP'] as const)('%s: every tool has the ids in its code', (one) => {
  const sent = { ...sender, connectivity: one };
  for (const tool of sendTools(sent)) {
    const code = sendCode(tool, sent, at);
    expect(code).toContain('c7b5');
    expect(code).toContain('127.0.0.1');
    expect(code).not.toMatch(/undefined|null/);
  }
});
