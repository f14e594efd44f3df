// The InfluxDB output: version 1 against a real server, version 2 by its requests, refusals and slow servers.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { bearsBadServers } from '../../../../tests/connectors/unreachable.ts';
import { influxdb, startInfluxDb } from '../../../../tests/servers/influxdb.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { influxDb, type InfluxDbProperties } from './influx-db.ts';

const plain = {
  uri: 'http://127.0.0.1',
  version: 'V1',
  token: null,
  orgId: null,
  username: null,
  password: null,
  bucket: 'target',
  measurementName: 'sam ple,s',
} satisfies InfluxDbProperties;

afterEach(closeTargets);

describeWith(influxdb, 'output to InfluxDB 1', () => {
  const server = startedBefore(startInfluxDb);
  const properties = (over: Partial<InfluxDbProperties> = {}): InfluxDbProperties => {
    const { port, username, password } = server();
    return { ...plain, uri: `http://127.0.0.1:${port}`, username, password, ...over };
  };

  test('a sample becomes a point: tags, fields of nested data, its own time', async () => {
    const data = {
      temperature: 21,
      'odd =,"key\\': 'odd "=, \\ value\n',
      deep: { list: [1, true], none: null },
    };
    const sent = message('delivery-1', { data, deviceId: 'physical 1,=\\' });
    expect(await trySend(targetOf(influxDb, properties()), sent)).toEqual({
      ok: true,
      answer: 'HTTP 204',
    });
    const [row] = await server().ask('select * from "sam ple,s"');
    expect(row).toEqual({
      time: Date.parse('2026-03-01T12:00:00.250Z'),
      topic: 'default',
      deviceId: 'physical 1,=',
      svcDeviceId: '0200000000000001',
      temperature: 21,
      'odd =,"key': 'odd "=, \\ value\n',
      'deep.list.0': 1,
      'deep.list.1': true,
    });
  });

  test('the same delivery again writes the same point', async () => {
    const target = targetOf(influxDb, properties({ measurementName: 'again' }));
    for (let i = 0; i < 2; i++) expect(await trySend(target)).toMatchObject({ ok: true });
    expect(await server().ask('select count(temperature) from again')).toEqual([
      { time: 0, count: 1 },
    ]);
  });

  test('a payload of the connector gives the fields, or whole lines', async () => {
    const target = targetOf(influxDb, properties({ measurementName: 'own' }));
    expect(await trySend(target, { ...message(), payload: '{"value": 7}' })).toMatchObject({
      ok: true,
    });
    expect(
      await trySend(target, { ...message(), payload: 'lines,place=a value=8 1000' }),
    ).toMatchObject({ ok: true });
    expect(await server().ask('select value from own')).toMatchObject([{ value: 7 }]);
    expect(await server().ask('select value from lines')).toMatchObject([{ value: 8 }]);
  });

  test('a sample without a field needs no point', async () => {
    const empty = message('empty', { data: { nothing: null } });
    expect(await trySend(targetOf(influxDb, properties()), empty)).toEqual({
      ok: true,
      answer: 'the sample has no values to write',
    });
  });

  test('contract 35: refused credentials and an unknown database are tried for hours, a field of another type never again', async () => {
    const typed = targetOf(influxDb, properties({ measurementName: 'typed' }));
    expect(await trySend(typed)).toMatchObject({ ok: true });
    for (const [over, changed, status] of [
      [{ password: 'wrong' }, {}, 401],
      [{ bucket: 'unknown' }, {}, 404],
      [{ measurementName: 'typed' }, { data: { temperature: 'warm' } }, 400],
    ] as const) {
      const outcome = await trySend(targetOf(influxDb, properties(over)), message('bad', changed));
      const retry = status === 400 ? false : 'HOURS';
      expect(outcome).toMatchObject({ ok: false, retry, reason: `returned ${status}` });
    }
  });

  bearsBadServers(
    (port) => targetOf(influxDb, properties({ uri: `http://127.0.0.1:${port}` })),
    () => server().port,
  );
});

describe('output to InfluxDB 2', () => {
  test('the write endpoint of version 2 is asked with organization, bucket and token', async () => {
    const { uri, requests, close } = await answering(204);
    const settings = {
      ...plain,
      version: 'V2',
      uri: `${uri}/influx`,
      token: 'secret',
      orgId: 'org 1',
    } as const;
    expect(await trySend(targetOf(influxDb, settings))).toMatchObject({ ok: true });
    expect(requests).toEqual([
      {
        line: 'POST /influx/api/v2/write?org=org+1&bucket=target&precision=ms',
        authorization: 'Token secret',
        body: expect.stringMatching(
          /^sam\\ ple\\,s,svcDeviceId=0200000000000001,.* temperature=21.5,.* 1772366400250$/,
        ),
      },
    ]);
    await close();
  });

  for (const [status, headers, expected] of [
    [503, {}, { retry: true }],
    [429, { 'retry-after': '7' }, { retry: true, retryAfterMs: 7_000 }],
    [408, {}, { retry: true }],
    [302, { location: 'http://127.0.0.1:1/' }, { retry: false }],
    [422, {}, { retry: false }],
  ] as const) {
    test(`contract 35: an answer ${status} is ${expected.retry ? '' : 'not '}tried again`, async () => {
      const { uri, close } = await answering(status, headers);
      const outcome = await trySend(targetOf(influxDb, { ...plain, uri }));
      expect(outcome).toMatchObject({ ok: false, ...expected, answer: `HTTP ${status}\nsaid so` });
      await close();
    });
  }
});

async function answering(status: number, headers: Readonly<Record<string, string>> = {}) {
  const requests: { line: string; authorization: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      requests.push({
        line: `${request.method} ${request.url}`,
        authorization: request.headers.authorization,
        body,
      });
      response.writeHead(status, headers).end(status === 204 ? '' : 'said so');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    uri: `http://127.0.0.1:${address.port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
