// Egress guard: forbidden addresses in every notation, names that resolve to one, and names that change.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as netConnect } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { Problem } from '../../model/problem.ts';
import { EgressGuard } from './guard.ts';
import {
  addressCheck,
  HostCheck,
  EgressRefused,
  type HostCheckOptions,
  isLocalName,
  readHost,
} from './host-check.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function guard(options: Partial<HostCheckOptions> = {}) {
  const made = new EgressGuard({ allow: [], ...options });
  cleanups.push(() => made.close());
  return made;
}

const get = (url: string) => ({ method: 'GET', url, headers: {} });
const never = new AbortController().signal;

async function serve(
  answer: (url: string) => { status: number; headers?: Record<string, string> },
) {
  const seen: string[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(`${request.headers.host} ${request.url}`);
    const { status, headers = {} } = answer(request.url ?? '');
    response.writeHead(status, headers).end('body');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  );
  return { port: (server.address() as AddressInfo).port, seen };
}

const v4 = [
  [
    '0.0.0.0',
    '0.1.2.3',
    '0.255.255.255',
    '10.0.0.0',
    '10.1.2.3',
    '10.255.255.255',
    '100.64.0.0',
    '100.64.0.1',
  ],
  [
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.0',
    '127.0.0.1',
    '127.0.0.53',
    '127.1.2.3',
    '127.255.255.255',
  ],
  [
    '168.63.129.16',
    '169.254.0.0',
    '169.254.169.254',
    '169.254.170.2',
    '169.254.255.255',
    '172.16.0.1',
  ],
  [
    '172.17.0.1',
    '172.20.10.1',
    '172.31.255.255',
    '192.0.0.0',
    '192.0.0.8',
    '192.0.0.170',
    '192.0.0.192',
  ],
  [
    '192.0.2.1',
    '192.31.196.1',
    '192.52.193.1',
    '192.88.99.1',
    '192.168.0.1',
    '192.168.1.1',
    '192.168.255.255',
  ],
  [
    '192.175.48.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.0',
    '224.0.0.1',
  ],
  [
    '239.255.255.250',
    '239.255.255.255',
    '240.0.0.0',
    '250.1.2.3',
    '255.255.255.254',
    '255.255.255.255',
  ],
].flat();

const notations = [
  // Decimal, hexadecimal, octal, with missing parts, mixed, with dots behind.
  [
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7F.0x0.0x0.0x1',
    '0177.0.0.1',
    '0177.0.0.01',
    '127.1',
    '127.0.1',
  ],
  [
    '0x7f.1',
    '0x7f.0.1',
    '00000177.1',
    '127.0.0.1.',
    '0',
    '0x0',
    '00',
    '0.0',
    '3232235777',
    '0xc0a80101',
  ],
  [
    '030052000401',
    '192.168.257',
    '0xc0.0xa8.1.1',
    '167772161',
    '0xa.1',
    '10.1',
    '012.1',
    '2852039166',
    '0xa9fea9fe',
  ],
  [
    '0xa9.0xfe.0xa9.0xfe',
    '0251.0376.0251.0376',
    '025177524776',
    '169.254.43518',
    '169.16689662',
    '2886729729',
  ],
  [
    '0xac.0x10.0.1',
    '4294967295',
    '0xffffffff',
    '3758096385',
    '1681915905',
    '0x64400001',
    '127.0.0.0x1',
  ],
  // Full-width digits and dots, circled digits, percent signs, upper case.
  [
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '127．0．0．1',
    '１６９.２５４.１６９.２５４',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
  ],
  ['0X7F.1', '%30x7f.1', '１0.0.0.1'],
].flat();

const v6 = [
  [
    '::',
    '::0',
    '0:0:0:0:0:0:0:0',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '[::1]',
    '[::]',
  ],
  // Mapped, compatible, translated.
  [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '[::ffff:192.168.1.1]',
  ],
  [
    '0:0:0:0:0:ffff:127.0.0.1',
    '::FFFF:0:0',
    '::ffff:100.64.0.1',
    '::ffff:224.0.0.1',
    '::127.0.0.1',
    '::7f00:1',
    '::10.0.0.1',
  ],
  [
    '::8.8.8.8',
    '::ffff:0:127.0.0.1',
    '::ffff:0:7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
  ],
  [
    '64:ff9b::10.0.0.1',
    '64:ff9b::192.168.0.1',
    '64:ff9b:1::1',
    '64:ff9b:1::127.0.0.1',
    '64:ff9b:1:ffff::10.0.0.1',
  ],
  // 6to4 and Teredo, whatever is inside.
  [
    '2002:7f00:1::',
    '2002:7f00:1::1',
    '2002:a00:1::1',
    '2002:a9fe:a9fe::',
    '2002:c0a8:101::1',
    '2002:808:808::1',
  ],
  [
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:0:7f00:1::',
    '2001:0:a00:1:8000::f5ff:fffe',
  ],
  // Unique local, link-local, site-local, multicast, documentation, discard, benchmarking, not
  // assigned.
  [
    'fc00::1',
    'fd00::1',
    'fd00:ec2::254',
    'fd12:3456:789a::1',
    'fdff:ffff::1',
    'fe80::1',
    'fe80::a9fe:a9fe',
    'febf::1',
  ],
  [
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    'fec0::1',
    'feff::1',
    'ff00::1',
    'ff02::1',
    'ff02::fb',
    'ff05::1:3',
    'ffff::1',
  ],
  [
    '2001:db8::1',
    '2001:db8:ffff::1',
    '3fff::1',
    '100::1',
    '100:0:0:1::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
  ],
  ['2620:4f:8000::1', '4000::1', '5f00::1', '8000::1', 'c000::1', 'e000::1', '1::1', '1fff::1'],
].flat();

const localNames = [
  [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'foo.localhost',
    'a.b.localhost',
    'localhost.localdomain',
    'LocalHost.LocalDomain',
  ],
  ['ip6-localhost', 'ip6-loopback', 'localhost6', 'ｌｏｃａｌｈｏｓｔ'],
].flat();

const noHosts = [
  '',
  ' ',
  'a b',
  'user@host',
  'host/path',
  'host?x',
  'host#x',
  'host\\x',
  '256.1.1.1',
  '1.2.3.4.5',
  '0x100000000',
];
const noHostsMore = [
  '[::1',
  '::1]',
  '[]',
  'host:80',
  '127.0.0.1:80',
  '[::1]:80',
  '%',
  'a%00b',
  '127.0.0.1%00.example.com',
  '.',
];

const refused = [...v4, ...notations, ...v6, ...localNames, ...noHosts, ...noHostsMore];

describe('architecture 7: forbidden literals are refused with 400 when they are typed', () => {
  test('there are at least 150 of them', () =>
    expect(new Set(refused).size).toBeGreaterThanOrEqual(150));
  for (const host of new Set(refused)) {
    test(`${JSON.stringify(host)} is refused`, async () => {
      const egress = guard({
        resolve: async () => [{ address: '8.8.8.8', family: 4 }],
      });
      expect(() => egress.checkLiteral(host)).toThrow(Problem);
      await expect(egress.connect({ host, port: 1 })).rejects.toBeInstanceOf(EgressRefused);
    });
  }
});

const publicHosts = [
  '8.8.8.8',
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '128.0.0.0',
  '134744072',
];
const publicMore = [
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  'example.com',
  'a_b.example',
];
const publicV6 = [
  '2606:4700:4700::1111',
  '[2001:4860:4860::8888]',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  'xn--bcher-kva.example',
  'bücher.example',
];
for (const host of [...publicHosts, ...publicMore, ...publicV6])
  test(`${host} is let through`, () => expect(() => guard().checkLiteral(host)).not.toThrow());

test('whatever a name resolves to, one forbidden address among them refuses all', async () => {
  for (const address of [...v4, ...v6.filter((one) => !one.startsWith('['))]) {
    const family = address.includes(':') ? 6 : 4;
    const egress = guard({
      resolve: async () => [
        { address: '8.8.8.8', family: 4 },
        { address, family },
      ],
    });
    await expect(egress.connect({ host: 'example.com', port: 9 }), address).rejects.toBeInstanceOf(
      EgressRefused,
    );
  }
});

test('property: an address allowed by nobody is let through only inside public ranges, in any notation', () => {
  const check = addressCheck([]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), (number) => {
      const dotted = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
      const hex = `0x${number.toString(16)}`;
      const octal = `0${number.toString(8)}`;
      const mapped = `::ffff:${dotted}`;
      for (const text of [String(number), hex, octal]) expect(readHost(text)?.name).toBe(dotted);
      expect(check(mapped)).toBe(check(dotted));
    }),
  );
});

test('DNS rebinding: the connection goes to the address that was checked, however the name changes afterwards', async () => {
  const inside = await serve(() => ({ status: 200 }));
  const answers = ['203.0.114.1', '127.0.0.1', '127.0.0.1'];
  let asked = 0;
  const resolve = async () => [{ address: answers[Math.min(asked++, 2)]!, family: 4 }];
  const egress = guard({ resolve });
  const first = egress.connect({
    host: 'rebind.example',
    port: inside.port,
    signal: AbortSignal.timeout(150),
  });
  await expect(first).rejects.toThrow();
  expect(asked).toBe(1);
  await expect(
    egress.connect({ host: 'rebind.example', port: inside.port }),
  ).rejects.toBeInstanceOf(EgressRefused);
  await expect(
    egress.request(get(`http://rebind.example:${inside.port}/`), never),
  ).rejects.toBeInstanceOf(EgressRefused);
  const socket = netConnect({ host: 'rebind.example', port: inside.port, lookup: egress.lookup });
  const failure = await new Promise((done) => socket.once('error', done));
  expect(failure).toBeInstanceOf(EgressRefused);
  expect(inside.seen).toEqual([]);
});

test('a name is resolved once for each connection and its address is never asked for again', async () => {
  const inside = await serve(() => ({ status: 200 }));
  let asked = 0;
  // The second answer would be refused, so a second question would fail the request.
  const resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
  const egress = guard({ allow: ['127.0.0.1'], resolve });
  const answer = await egress.request(get(`http://rebind.example:${inside.port}/x`), never);
  expect([answer.status, asked, inside.seen]).toEqual([
    200,
    1,
    [`rebind.example:${inside.port} /x`],
  ]);
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) is an answer and is not followed`, async () => {
    const inside = await serve((url) => ({
      status: url === '/from' ? status : 200,
      headers: { location: '/to' },
    }));
    const egress = guard({ allow: ['127.0.0.0/8'] });
    const answer = await egress.request(get(`http://127.0.0.1:${inside.port}/from`), never);
    expect([answer.status, answer.location]).toEqual([status, '/to']);
    expect(inside.seen).toHaveLength(1);
  });
}

test('EGRESS_ALLOW opens exactly its ranges, for literals, names and local names', async () => {
  const inside = await serve(() => ({ status: 200 }));
  const egress = guard({ allow: ['127.0.0.0/8', '10.1.0.0/16', 'fd00::/8'] });
  for (const host of ['127.0.0.1', 'localhost', '10.1.2.3', 'fd00::1', '::ffff:10.1.2.3'])
    egress.checkLiteral(host);
  for (const host of ['10.2.0.1', '::1', 'fc00::1', '169.254.169.254'])
    expect(() => egress.checkLiteral(host)).toThrow(Problem);
  expect((await egress.request(get(`http://127.0.0.1:${inside.port}/`), never)).status).toBe(200);
});

test('URLs: only http and https, no user and password, the host checked as written', () => {
  const egress = guard();
  const bad = [
    'ftp://example.com',
    'file:///etc/passwd',
    'http://u:p@example.com/',
    'http://[::1]/',
    'http://2130706433/',
    'x',
  ];
  const more = [
    'gopher://127.0.0.1',
    'http://127.1:8080/a',
    'https://localhost/',
    'http://0x7f.1',
    'http:\\\\127.0.0.1',
    '',
  ];
  for (const url of [...bad, ...more])
    expect(() => guard().checkUrl(url, 'uri'), url).toThrow(Problem);
  expect(() => egress.checkUrl('https://example.com/a?b=c', 'uri')).not.toThrow();
  expect(isLocalName('mylocalhost')).toBe(false);
});

test('the lookup of other clients answers in both forms and refuses with EgressRefused', async () => {
  const egress = guard({ resolve: async () => [{ address: '8.8.8.8', family: 4 }] });
  const ask = (host: string, options: object) =>
    new Promise((done) => egress.lookup(host, options, (...answer) => done(answer)));
  expect(await ask('example.com', {})).toEqual([null, '8.8.8.8', 4]);
  expect(await ask('example.com', { all: true })).toEqual([
    null,
    [{ address: '8.8.8.8', family: 4 }],
  ]);
  expect(((await ask('127.0.0.1', {})) as unknown[])[0]).toBeInstanceOf(EgressRefused);
});

describe('security 9, ASVS 1.3.6: what is the platform itself is not reached, whatever is allowed', () => {
  const resolve = async (host: string) => [
    { address: host === 'db.internal' ? '10.0.0.9' : '127.0.0.1', family: 4 },
  ];
  const own = [
    { host: undefined, port: 8080 },
    { host: 'db.internal', port: 5432 },
    { host: '10.0.0.7', port: 7070 },
  ];
  const hosts = new HostCheck({ allow: ['10.0.0.0/8', '127.0.0.0/8'], own, resolve });

  test.each([
    ['127.0.0.1', 8080],
    ['127.8.8.8', 8080],
    ['a-name.example', 8080],
    ['10.0.0.9', 5432],
    ['db.internal', 5432],
    ['10.0.0.7', 7070],
  ])('%s at %d', async (host, port) => {
    await expect(hosts.placesOf(host, port)).rejects.toThrow("platform's own");
  });

  test.each([
    ['127.0.0.1', 9000],
    ['10.0.0.9', 5433],
    ['10.0.0.8', 7070],
  ])('but %s at %d', async (host, port) => {
    expect(await hosts.placesOf(host, port)).toHaveLength(1);
  });

  test('ASVS 13.2.4 and 13.2.5: with only what is allowed, public addresses are refused', async () => {
    const strict = new HostCheck({ allow: ['198.51.100.7'], onlyAllowed: true });
    for (const host of ['8.8.8.8', '2606:4700::1111'])
      await expect(strict.addressesOf(host)).rejects.toThrow('not an allowed address');
    expect(await strict.addressesOf('198.51.100.7')).toHaveLength(1);
  });
});
