// The CoAP endpoint between datagrams: repeated, slow, too many, unwanted; its clock is in the test's hands.
import { describe, expect, test } from 'vitest';
import { type CoapAnswer, coapCodes, jsonAnswer, refusalAnswer } from './coap-answer.ts';
import { CoapEndpoint, type CoapLimits, exchangeLimits } from './coap-server.ts';
import { type CoapMessage, encodeMessage, parseMessage, uintOption } from './coap-message.ts';

const sender = { address: '192.0.2.1', port: 40_000 };
const ok = jsonAnswer(coapCodes.created, { id: 'x' });

function started(limits: Partial<CoapLimits> = {}) {
  const sent: CoapMessage[] = [];
  const ignored: string[] = [];
  const failures: unknown[] = [];
  const tasks: { task: () => void; dueAt: number }[] = [];
  const waiting: { finish: (answer: CoapAnswer) => void; key: string }[] = [];
  let clock = 0;
  const endpoint = new CoapEndpoint({
    handle: (_message, _sender, key) =>
      new Promise((resolve) => waiting.push({ finish: resolve, key })),
    send: (datagram) => sent.push(parseMessage(datagram) as CoapMessage),
    schedule: (task, delayMs) => {
      const entry = { task, dueAt: clock + delayMs };
      tasks.push(entry);
      return () => void tasks.splice(0, tasks.length, ...tasks.filter((one) => one !== entry));
    },
    events: {
      answered: () => undefined,
      failed: (error) => void failures.push(error),
      ignored: (reason) => void ignored.push(reason),
    },
    limits: { ...exchangeLimits, openMax: 3, ...limits },
    now: () => clock,
  });
  const request = (id: number, more: Partial<CoapMessage> = {}, from = sender): void => {
    const token = Buffer.from([id]);
    const payload = Buffer.from('{"t":1}');
    endpoint.receive(
      encodeMessage({ type: 0, code: 2, id, token, options: [], payload, ...more }),
      from,
    );
  };
  const finish = async (answer: CoapAnswer = ok) => {
    waiting.shift()!.finish(answer);
    // The answer leaves in the microtasks that follow.
    await new Promise((resolve) => void setImmediate(resolve));
  };
  const pass = (ms: number): void => {
    const until = clock + ms;
    for (;;) {
      const due = tasks
        .filter(({ dueAt }) => dueAt <= until)
        .toSorted((one, other) => one.dueAt - other.dueAt)[0];
      if (due === undefined) break;
      tasks.splice(tasks.indexOf(due), 1);
      clock = due.dueAt;
      due.task();
    }
    clock = until;
  };
  return { endpoint, failures, sent, ignored, waiting, request, finish, pass, tasks };
}

const shapes = (sent: readonly CoapMessage[]) => sent.map(({ type, code, id }) => [type, code, id]);

describe('behaviour 17: a repetition from another port', () => {
  const elsewhere = { ...sender, port: 50_000 };

  test('is answered where it came from, and done once', async () => {
    const { request, finish, sent, waiting } = started();
    request(5);
    request(5, {}, elsewhere);
    expect(waiting.length).toBe(1);
    await finish();
    request(5, {}, elsewhere);
    expect([waiting.length, shapes(sent)]).toEqual([
      0,
      [
        [2, 0x41, 5],
        [2, 0x41, 5],
      ],
    ]);
  });

  test('is new when its sender no longer repeats, has another address or other contents', async () => {
    const { request, finish, waiting, pass } = started();
    request(5);
    await finish();
    request(5, {}, { ...elsewhere, address: '192.0.2.2' });
    request(5, { payload: Buffer.from('{"t":2}') }, elsewhere);
    expect(waiting.length).toBe(2);
    pass(45_000);
    request(5, {}, elsewhere);
    expect(waiting.length).toBe(3);
  });
});

describe('a confirmable request', () => {
  test('is answered with its acknowledgement, its token and its id', async () => {
    const { request, finish, sent } = started();
    request(5);
    await finish();
    expect(sent).toEqual([
      { type: 2, code: 0x41, id: 5, token: Buffer.from([5]), ...optionsAndPayload(ok) },
    ]);
  });
  test('repeated while under way: done once; repeated later: the same bytes again', async () => {
    const { request, finish, sent, waiting, ignored } = started();
    request(5);
    request(5);
    expect(waiting.length).toBe(1);
    expect(sent).toEqual([]);
    await finish();
    request(5);
    request(5);
    expect(waiting.length).toBe(0);
    expect(sent.length).toBe(3);
    expect(new Set(sent.map((message) => encodeMessage(message).toString('hex'))).size).toBe(1);
    expect(ignored).toEqual(['duplicate', 'duplicate', 'duplicate']);
  });
  test('the same id with other contents is a sender that was restarted: done', async () => {
    const { request, finish, waiting } = started();
    request(5);
    await finish();
    request(5, { payload: Buffer.from('{"t":2}') });
    expect(waiting.length).toBe(1);
  });
  test('the same id of another address is another request', () => {
    const { request, waiting } = started();
    request(5);
    request(5, {}, { ...sender, address: '192.0.2.2' });
    expect(new Set(waiting.map(({ key }) => key)).size).toBe(2);
  });
  test('an exchange is evicted after 247 seconds', async () => {
    const { request, finish, waiting, pass, endpoint } = started();
    request(5);
    await finish();
    pass(246_999);
    request(5);
    expect(waiting.length).toBe(0);
    pass(1);
    request(5);
    expect(waiting.length).toBe(1);
    expect(endpoint.remembered).toBe(0);
  });
  test('a slow one is acknowledged after a second and answered by a message of its own, repeated until acknowledged', async () => {
    const { request, finish, sent, pass, endpoint, tasks } = started();
    request(5);
    pass(999);
    expect(sent).toEqual([]);
    pass(1);
    expect(shapes(sent)).toEqual([[2, 0, 5]]);
    await finish();
    expect(sent[1]).toMatchObject({ type: 0, code: 0x41, token: Buffer.from([5]) });
    pass(2_500);
    expect(shapes(sent).slice(1)).toEqual([shapes(sent)[1], shapes(sent)[1]]);
    endpoint.receive(
      encodeMessage({
        ...sent[1]!,
        type: 2,
        code: 0,
        token: Buffer.alloc(0),
        options: [],
        payload: Buffer.alloc(0),
      }),
      sender,
    );
    expect(tasks).toEqual([]);
  });
  test('no client acknowledges: five messages in all, then silence', async () => {
    const { request, finish, sent, pass, tasks } = started();
    request(5);
    pass(1_000);
    await finish();
    pass(600_000);
    expect(sent.length).toBe(1 + 5);
    expect(tasks).toEqual([]);
  });
  test('a slow refusal is sent once', async () => {
    const { request, finish, sent, pass } = started();
    request(5);
    pass(1_000);
    await finish(refusalAnswer(undefined, { status: 401 }));
    pass(600_000);
    expect(shapes(sent)).toEqual([
      [2, 0, 5],
      [1, 0x81, 1],
    ]);
  });
});

describe('a non-confirmable request', () => {
  test('is answered by a non-confirmable message of its own, and not acknowledged', async () => {
    const { request, finish, sent, pass } = started();
    request(5, { type: 1 });
    pass(5_000);
    await finish();
    expect(shapes(sent)).toEqual([[1, 0x41, 1]]);
  });
  for (const [bits, code, answered] of [
    [2, ok, 0],
    [8, ok, 1],
    [26, ok, 0],
    [26, refusalAnswer(undefined, { status: 401 }), 0],
    [2, refusalAnswer(undefined, { status: 401 }), 1],
  ] as const)
    test(`RFC 7967: No-Response ${bits} to ${code.code}: ${answered} answers`, async () => {
      const { request, finish, sent } = started();
      request(5, { type: 1, options: [uintOption('noResponse', bits)] });
      await finish(code);
      expect(sent.length).toBe(answered);
    });
  test('a confirmable one without wish for an answer is acknowledged all the same', async () => {
    const { request, finish, sent } = started();
    request(5, { options: [uintOption('noResponse', 2)] });
    await finish();
    request(5, { options: [uintOption('noResponse', 2)] });
    expect(shapes(sent)).toEqual([
      [2, 0, 5],
      [2, 0, 5],
    ]);
  });
});

describe('limits', () => {
  test('beyond the requests under way: confirmable ones are told 5.03 with Max-Age, others dropped, both may come again', async () => {
    const { request, finish, sent, waiting, ignored } = started({ openMax: 2 });
    for (const id of [1, 2, 3]) request(id);
    request(4, { type: 1 });
    expect(waiting.length).toBe(2);
    expect(sent).toMatchObject([
      { type: 2, code: 0xa3, id: 3, options: [{ number: 14 }], payload: Buffer.alloc(0) },
    ]);
    expect(ignored).toEqual(['tooMany', 'tooMany']);
    await finish();
    request(3);
    expect(waiting.length).toBe(2);
  });
  test('refusals do not crowd out the memory of what was accepted', async () => {
    const { request, finish, endpoint, waiting } = started({ acceptedMax: 2, refusedMax: 2 });
    request(1);
    await finish();
    for (let id = 2; id < 50; id++) {
      request(id);
      await finish(refusalAnswer(undefined, { status: 401 }));
    }
    expect(endpoint.remembered).toBe(3);
    request(1);
    expect(waiting.length).toBe(0);
  });
  test('a refusal has at most three times the bytes of its request', async () => {
    const body = {
      status: 401,
      message: 'm'.repeat(300),
      errorCode: '40104_UPLINK_SECRET_UNKNOWN',
    };
    for (const [payloadBytes, expected] of [
      [300, body],
      [40, { status: 401, errorCode: body.errorCode }],
      [1, undefined],
    ] as const) {
      const { request, finish, sent } = started();
      request(1, { payload: Buffer.alloc(payloadBytes, 'x') });
      await finish(refusalAnswer(undefined, body));
      const { payload, options } = sent[0]!;
      expect(payload.length === 0 ? undefined : JSON.parse(payload.toString())).toEqual(expected);
      expect(options.length).toBe(expected === undefined ? 0 : 1);
    }
  });
});

test('an internal error is reported, the request may come again and the others are served', async () => {
  const { request, finish, waiting, failures, sent } = started();
  request(1);
  await finish({ ...ok, options: undefined } as never);
  expect(failures.length).toBe(1);
  request(1);
  await finish();
  expect([waiting.length, sent.length]).toEqual([0, 1]);
});

describe('what is no request', () => {
  for (const [what, hex, answer] of [
    ['a ping', '40000007', ['70000007']],
    ['an empty non-confirmable message', '50000007', []],
    ['a confirmable reply', '40450007', ['70000007']],
    ['a reply', '50450007', []],
    ['an acknowledgement of nothing', '60000007', []],
    ['a reset of nothing', '70000007', []],
    ['a malformed confirmable request', '40020007ff', ['70000007']],
    ['a malformed non-confirmable request', '50020007ff', []],
    ['an acknowledgement with a request in it', '60020007', []],
    ['another protocol', '16030100', []],
  ] as const)
    test(`${what} is answered by ${answer.length === 0 ? 'nothing' : 'a reset'}`, () => {
      const { endpoint, sent, waiting } = started();
      endpoint.receive(Buffer.from(hex, 'hex'), sender);
      expect(sent.map((message) => encodeMessage(message).toString('hex'))).toEqual(answer);
      expect(waiting.length).toBe(0);
    });
});

function optionsAndPayload({ options, payload }: CoapAnswer) {
  return { options, payload };
}
