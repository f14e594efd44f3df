// Edge thread: takes connections, reads captures and queries, runs quick decoders, and hands all to the main thread, whose answers it writes.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { randomUUID } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { parse as parseQuery } from 'fast-querystring';
import { keptPayload } from '../../model/payload.ts';
import { type CaptureRequest, captureRequestOf } from '../../transports/http/capture-request.ts';
import { listenMqtt, type MqttListener } from '../../transports/mqtt/mqtt-listeners.ts';
import { readPayload } from '../../transports/payload-reader.ts';
import { decoderEvent } from '../../uplinks/decode/decode-uplink.ts';
import type { LocalScripts } from '../../scripting/local-scripts.ts';
import { missing } from '../../structures/missing.ts';
import { readBody } from '../edge/direct-exchange.ts';
import { idempotencyKeyOf, requestIdOf } from '../edge/admission.ts';
import { httpOptions, refuseBrokenRequest, tlsOptions } from '../edge/server.ts';
import type { LeftJson } from '../../query/unwritten-json.ts';
import { completeJson } from '../edge/send-json.ts';
import {
  capturePath,
  divideConnections,
  passOn,
  RequestsElsewhere,
  wholeCaptureBytes,
  wholeQueryBytes,
} from './edge-exchange.ts';
import { httpListener, Links } from './edge-links.ts';
import {
  type AnswerWord,
  answerWords,
  type DecoderRunHere,
  type EdgeStart,
  type FromEdge,
  pushRequest,
  type Ticket,
  ticketKey,
  type ToEdge,
  type Words,
} from './edge-messages.ts';

const start = workerData as EdgeStart;
const port = parentPort ?? missing('port of the main thread');
/** Started with the first decoder, because the engine takes memory. */
let scripts: LocalScripts | undefined;
/** Messages are handled in their order, also while the engine starts. */
let handled = Promise.resolve();
const elsewhere = new RequestsElsewhere(start.mainSocket);
const links = new Links(
  (message, transfer) => port.postMessage(message, transfer),
  (link) => link.destroy(),
);

/** Requests that have no answer yet. */
const waiting = new Map<number, ServerResponse>();
let lastNumber = 0;

/** A request that was read whole. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/**
 * Those of this turn of the event loop. Their decoders run one after the other: between the work on
 * two requests, the engine would lose the caches of the processor to node:http each time.
 */
let arrived: Arrived[] = [];
/** Requests of one message; the first ones do not wait for the decoders of all. */
const messageMax = 32;

function send(message: FromEdge): void {
  port.postMessage(message);
}

function sendArrived(): void {
  const all = arrived;
  arrived = [];
  for (let from = 0; from < all.length; from += messageMax)
    sendTogether(all.slice(from, from + messageMax));
}

function sendTogether(requests: readonly Arrived[]): void {
  const bytes = new Uint8Array(requests.reduce((sum, { body }) => sum + body.length, 0));
  const words: Words = [];
  let at = 0;
  for (const { request, response, body } of requests) {
    const { method = '', url = '', headers, socket } = request;
    const number = ++lastNumber;
    waiting.set(number, response);
    bytes.set(body, at);
    at += body.length;
    pushRequest(words, {
      number,
      method,
      url,
      headers: JSON.stringify(headers),
      address: socket.remoteAddress ?? '',
      bodyBytes: body.length,
      run: runOf(request, body),
    });
  }
  const message: FromEdge = { kind: 'requests', words, bytes };
  port.postMessage(message, [bytes.buffer]);
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const bodyBytes = wholeCaptureBytes(request) ?? wholeQueryBytes(request);
  if (bodyBytes === undefined) return elsewhere.send(request, response);
  if (bodyBytes === 0) return take(request, response, noBody);
  const body = readBody(request, bodyBytes);
  if (!(body instanceof Promise)) return take(request, response, body);
  body.then(
    (read) => take(request, response, read),
    // Its sender left in the middle.
    () => response.destroy(),
  );
}

const noBody = Buffer.alloc(0);

function take(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { headers } = request;
  // So that the answer has the id that it has in the log.
  headers['x-request-id'] = requestIdOf(headers['x-request-id']);
  if (arrived.push({ request, response, body }) === 1) setImmediate(sendArrived);
}

// Decoders: those whose runs were quick so far run here, without the hand-over to another thread.

const tickets = new Map<string, Ticket>();

/** Undefined when the decoder does not run here, or what it did must be done again by the main thread. */
function runOf({ url = '', headers }: IncomingMessage, body: Buffer): DecoderRunHere | undefined {
  if (tickets.size === 0 || !url.startsWith(capturePath)) return undefined;
  if (idempotencyKeyOf(headers) !== undefined) return undefined;
  if (body.length > maxEventBody) return undefined;
  try {
    const query = parseQuery(url.slice(capturePath.length + 1));
    const sent = captureRequestOf(query, headers);
    const ticket = tickets.get(ticketKey(sent.secret, sent.deviceId));
    return ticket && ranFor(ticket, sent, body, headers['content-type']);
  } catch {
    // What is wrong with it is said by the main thread.
    return undefined;
  }
}

/** The rest of an event is about the device. */
const maxEventBody = 4 * 1024;

function ranFor(
  { id: ticket, device, encoding, script }: Ticket,
  { topic, timestamp, port: sentPort }: CaptureRequest,
  bytes: Buffer,
  contentType: string | undefined,
): DecoderRunHere | undefined {
  const receivedAt = Date.now();
  const payload = readPayload(bytes, { encoding, contentType, port: sentPort });
  const correlationId = randomUUID();
  const event = decoderEvent(
    {
      correlationId,
      device,
      receivedAt,
      topic,
      timestamp,
      ...keptPayload(payload, bytes.length),
    },
    {},
  );
  const startedAt = Date.now();
  const run = scripts?.run(script, JSON.stringify(event));
  if (run === undefined) return undefined;
  const { entries, isLate, ...times } = run;
  if (isLate || entries.includes('"STATE"')) {
    scripts?.forget(script);
    send({ kind: 'forgotten', scripts: [script], isSlow: true });
    return undefined;
  }
  const endedAt = Date.now();
  return { ticket, correlationId, receivedAt, entries, startedAt, endedAt, ...times };
}

// Answers.

let isStopping = false;

function answerAll(all: readonly AnswerWord[]): void {
  for (let at = 0; at < all.length; at += answerWords) {
    const number = all[at] as number;
    const response = waiting.get(number);
    waiting.delete(number);
    if (response === undefined || response.destroyed) continue;
    const head = all[at + 2] as string[];
    const left = all[at + 4] as LeftJson | undefined;
    const body =
      left === undefined
        ? (all[at + 3] as string | Uint8Array)
        : completeJson(head, left, response.req.headers['accept-encoding']);
    if (isStopping) response.shouldKeepAlive = false;
    response.writeHead(all[at + 1] as number, head).end(body);
  }
  if (isStopping) tellStopped();
}

function tellStopped(): void {
  // What was written leaves in the next turn.
  if (waiting.size === 0 && arrived.length === 0) setImmediate(send, { kind: 'stopped' });
}

function onMessage(message: ToEdge): void {
  if (message.kind === 'answers') answerAll(message.words);
  else if (message.kind === 'ticket') handled = handled.then(() => keep(message));
  else if (message.kind === 'forget') handled = handled.then(() => scripts?.forget(message.script));
  else if (message.kind === 'links') links.receive(message);
  else if (message.kind === 'listen') void listen(message);
  else if (message.kind === 'renew') listeners.get(message.listener)?.renew(message.certificate);
  else if (message.kind === 'unlisten') unlisten(message.listener);
  else if (message.kind === 'certificate')
    (server as TlsServer).setSecureContext({ ...tlsOptions, ...message.certificate });
  else stop();
}

// Further ports, whose connections are links.

const listeners = new Map<number, MqttListener>();

async function listen({
  listener,
  host,
  port: at,
  certificate,
}: ToEdge & { readonly kind: 'listen' }): Promise<void> {
  const where = { host, port: at, reusePort: true };
  try {
    const listening = await listenMqtt(where, certificate, (socket, address) =>
      passOn(socket, links.open(listener, address)),
    );
    listeners.set(listener, listening);
    send({ kind: 'listens', listener });
  } catch (error) {
    refuse(error as ListenFault);
  }
}

function unlisten(listener: number): void {
  listeners.get(listener)?.close();
  listeners.delete(listener);
}

type ListenFault = NodeJS.ErrnoException & { readonly port?: number };

function refuse({ message, code, syscall, port: at }: ListenFault): void {
  send({ kind: 'refused', error: { message, code, syscall, port: at } });
}

async function keep({ script, ticket, instead }: ToEdge & { readonly kind: 'ticket' }) {
  const { LocalScripts: Scripts } = await import('../../scripting/local-scripts.ts');
  scripts ??= await Scripts.start(start.scripts);
  const forgotten = script === undefined ? [] : scripts.add(script);
  if (forgotten.length > 0) send({ kind: 'forgotten', scripts: forgotten, isSlow: false });
  if (instead !== undefined) tickets.delete(instead);
  tickets.set(ticket.key, ticket);
}

const { certificate, publicUrl } = start;
const options = httpOptions();
const server: Server =
  certificate === undefined
    ? createServer(options, serve)
    : createTlsServer({ ...options, ...tlsOptions, ...certificate }, serve);
Object.assign(server, { httpAllowHalfOpen: true });
server.on('checkExpectation', serve);
server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
  refuseBrokenRequest(error, socket as Socket, { now: Date.now, publicUrl }),
);
divideConnections(
  server,
  certificate === undefined ? 'connection' : 'secureConnection',
  start.mainSocket,
  (address) => links.open(httpListener, address),
);

/** Connections that were passed on end with the server of the main thread. */
function stop(): void {
  isStopping = true;
  server.close();
  server.closeIdleConnections();
  tellStopped();
}

server.once('error', refuse);
server.listen({ host: start.host, port: start.port, reusePort: true }, () => {
  send({ kind: 'listening', port: (server.address() as AddressInfo).port });
});
port.on('message', onMessage);
