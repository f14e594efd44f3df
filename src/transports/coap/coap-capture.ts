// CoAP capture: answers POST /v3/capture, also with a body in blocks (contract 18).
import type { PayloadEncoding } from '../../model/device-type.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { KeptSamples } from '../../model/kept-samples.ts';
import { type Payload, payloadBytesMax } from '../../model/payload.ts';
import { problem, Problem } from '../../model/problem.ts';
import { SharedPool } from '../../structures/shared-pool.ts';
import { type CaptureRequest, captureRequestOf } from '../http/capture-request.ts';
import { inflateBody, isSenmlPack, readPayload } from '../payload-reader.ts';
import type { WorkTurns } from '../work-turns.ts';
import {
  blockBytesMax,
  blockOfAnswer,
  type CoapAnswer,
  coapCodes,
  codeClass,
  jsonAnswer,
  plainAnswer,
  refusalAnswer,
  shortened,
} from './coap-answer.ts';
import {
  type Block,
  blockOption,
  type CoapMessage,
  type CoapRequest,
  coapRequestOf,
  contentFormats,
  optionNumbers,
} from './coap-message.ts';

// CoAP block transfers (RFC 7959): assembles bodies and keeps answers, both within limits.

interface BlockLimits {
  readonly bodyBytesMax: number;
  readonly transfersMax: number;
  /** Bytes of all bodies in progress. */
  readonly bytesMax: number;
  readonly idleMs: number;
}

export const blockLimits: BlockLimits = {
  bodyBytesMax: payloadBytesMax,
  transfersMax: 1_024,
  bytesMax: 32 * 1024 * 1024,
  idleMs: 247_000,
};

interface Transfer {
  readonly parts: Buffer[];
  bytes: number;
  touchedAt: EpochMs;
}

/**
 * The body, or `more` until its last block. `tooLarge` and `incomplete` (a block is missing) end
 * the transfer.
 */
type Assembled = Buffer | 'more' | 'tooLarge' | 'incomplete';

/**
 * Beyond its limits the transfer that was idle longest is discarded, of the organization that
 * has most.
 */
export class BlockBodies {
  readonly #limits: BlockLimits;
  // From the one that was idle longest.
  readonly #transfers = new Map<string, Transfer>();
  readonly #numbers: SharedPool<string>;
  readonly #bytes: SharedPool<string>;

  constructor(limits: BlockLimits) {
    this.#limits = limits;
    const giveWay = (key: string) => this.#remove(key);
    this.#numbers = new SharedPool<string>({ max: limits.transfersMax, giveWay });
    this.#bytes = new SharedPool<string>({ max: limits.bytesMax, giveWay });
  }

  /**
   * `key` identifies the sender and the request without its block options, `owner` the
   * organization whose share the body takes.
   */
  add(key: string, owner: string, block: Block, payload: Buffer, now: EpochMs): Assembled {
    this.#dropIdle(now);
    const transfer = this.#resumed(key, block);
    this.#remove(key);
    if (transfer === undefined || !isWellSized(block, payload)) return 'incomplete';
    if (transfer.bytes + payload.length > this.#limits.bodyBytesMax) return 'tooLarge';
    if (!block.more) return Buffer.concat([...transfer.parts, payload]);
    // The payload is a view into a datagram whose memory is reused.
    transfer.parts.push(Buffer.from(payload));
    transfer.bytes += payload.length;
    transfer.touchedAt = now;
    this.#transfers.set(key, transfer);
    if (this.#numbers.hold(owner, key, 1) && this.#bytes.hold(owner, key, transfer.bytes))
      return 'more';
    this.#remove(key);
    return 'incomplete';
  }

  get size(): number {
    return this.#transfers.size;
  }

  get bytes(): number {
    return this.#bytes.used;
  }

  #remove(key: string): void {
    this.#transfers.delete(key);
    this.#numbers.release(key);
    this.#bytes.release(key);
  }

  #dropIdle(now: EpochMs): void {
    for (const [key, { touchedAt }] of this.#transfers) {
      if (touchedAt > now - this.#limits.idleMs) return;
      this.#remove(key);
    }
  }

  #resumed(key: string, block: Block): Transfer | undefined {
    // A first block begins a new body.
    if (block.number === 0) return { parts: [], bytes: 0, touchedAt: 0 };
    const transfer = this.#transfers.get(key);
    return transfer?.bytes === block.number * block.bytes ? transfer : undefined;
  }
}

/** Every block but the last is full, because the number of a block determines its offset. */
function isWellSized({ more, bytes }: Block, payload: Buffer): boolean {
  if (more) return payload.length === bytes;
  return payload.length <= bytes;
}

/**
 * Answers whose further blocks a client can request; beyond the limit the oldest of the owner
 * that has most is evicted.
 */
export class KeptAnswers<A> {
  readonly #limits: { readonly transfersMax: number; readonly idleMs: number };
  readonly #answers = new Map<string, { readonly answer: A; readonly keptAt: EpochMs }>();
  readonly #shares: SharedPool<string>;

  constructor(limits: { readonly transfersMax: number; readonly idleMs: number }) {
    this.#limits = limits;
    this.#shares = new SharedPool<string>({
      max: limits.transfersMax,
      giveWay: (key) => void this.#answers.delete(key),
    });
  }

  /** `owner` is whose share the answer takes. */
  keep(key: string, owner: string, answer: A, now: EpochMs): void {
    this.#answers.delete(key);
    for (const [old, { keptAt }] of this.#answers) {
      if (keptAt > now - this.#limits.idleMs) break;
      this.#answers.delete(old);
      this.#shares.release(old);
    }
    this.#answers.set(key, { answer, keptAt: now });
    if (!this.#shares.hold(owner, key, 1)) this.#answers.delete(key);
  }

  find(key: string, now: EpochMs): A | undefined {
    const kept = this.#answers.get(key);
    if (kept === undefined || kept.keptAt <= now - this.#limits.idleMs) return undefined;
    return kept.answer;
  }
}

// Content formats: those that tell how the payload is read; all others are told apart by their content.

const { json, cbor, senmlJson, sensmlJson, senmlCbor, sensmlCbor } = contentFormats;
const contentTypes: Readonly<Record<number, string>> = {
  [json]: 'application/json',
  [cbor]: 'application/cbor',
  [senmlJson]: 'application/senml+json',
  [sensmlJson]: 'application/sensml+json',
  [senmlCbor]: 'application/senml+cbor',
  [sensmlCbor]: 'application/sensml+cbor',
  [contentFormats.deflatedJson]: 'application/json',
  [contentFormats.deflatedCbor]: 'application/cbor',
};
const deflatedFormats: ReadonlySet<number | undefined> = new Set([
  contentFormats.deflatedJson,
  contentFormats.deflatedCbor,
]);
const capturePath = '/v3/capture';

export interface CoapCapture<S> {
  /** What `admit` returned. */
  readonly sender: S;
  readonly request: CaptureRequest;
  readonly payload: Payload;
  readonly bodyBytes: number;
  /** Whether the body is a SenML pack. */
  readonly isSenml: boolean;
  /** Identifies repetitions of one request. */
  readonly duplicateKey: string;
}

interface CoapCaptureParts<S> {
  /**
   * Throws Problem for a wrong secret or device, so that the server keeps blocks only of known
   * devices.
   */
  readonly admit: (request: CaptureRequest) => S | Promise<S>;
  /** Organizations take turns. */
  readonly turns: WorkTurns;
  /** Whose share a body in blocks takes, and whose turn its reading is. */
  readonly organizationOf: (sender: S) => string;
  /** Resolves when the payload is durable. */
  readonly capture: (
    input: CoapCapture<S>,
  ) => Promise<{ readonly id: string; readonly receivedAt: EpochMs } & Partial<KeptSamples>>;
  /** How payloads of the sender are read, when that is declared. */
  readonly encodingOf: (sender: S) => PayloadEncoding | null;
  /** Returns the error body of interface 7; an error that is not a Problem is an internal error. */
  readonly errorBody: (error: unknown, path: string, sender: string) => { readonly status: number };
  /** Called for each capture that was refused. */
  readonly refused: (refused: RefusedCoap) => void;
  readonly now: () => EpochMs;
}

export interface RefusedCoap {
  readonly failure: Problem;
  /** Address and port. */
  readonly sender: string;
  readonly query: CoapRequest['query'];
  readonly contentType: string | undefined;
  readonly isDeflated: boolean;
  /** The body, or its block that was refused. */
  readonly payload: Buffer;
}

interface CaptureState<S> {
  readonly parts: CoapCaptureParts<S>;
  readonly bodies: BlockBodies;
  readonly keptAnswers: KeptAnswers<CoapAnswer>;
}

/** A request, perhaps with one block of its body. */
interface Received {
  readonly request: CoapRequest;
  readonly payload: Buffer;
  readonly address: string;
  /** The sender and the request without its block options. */
  readonly key: string;
  readonly duplicateKey: string;
}

/** Returns the handler of requests; `sender` is address and port. The handler never rejects. */
export function createCoapCapture<S>(
  parts: CoapCaptureParts<S>,
): (message: CoapMessage, sender: string, duplicateKey: string) => Promise<CoapAnswer> {
  const state: CaptureState<S> = {
    parts,
    bodies: new BlockBodies(blockLimits),
    keptAnswers: new KeptAnswers<CoapAnswer>(blockLimits),
  };
  return async (message, sender, duplicateKey) => {
    const request = coapRequestOf(message);
    if ('refused' in request) return plainAnswer(coapCodes[request.refused], request.reason);
    const key = `${sender} ${requestKey(message)}`;
    const [address = ''] = sender.split(' ');
    const received = { request, payload: message.payload, address, key, duplicateKey };
    try {
      const { block2 } = request;
      if (block2 !== undefined && block2.number > 0) return furtherBlock(state, received);
      if (message.code !== coapCodes.post || request.path !== capturePath)
        throw noSuchThing(message.code, request.path);
      return firstBlock(state, received, await capture(state, received));
    } catch (error) {
      if (error instanceof Problem && request.path === capturePath)
        parts.refused(refusedCoap(error, request, sender, message.payload));
      const body = parts.errorBody(error, request.path, sender);
      return firstBlock(state, received, refusalAnswer(problemIn(error), body));
    }
  };
}

function refusedCoap(
  failure: Problem,
  { query, contentFormat }: CoapRequest,
  sender: string,
  payload: Buffer,
): RefusedCoap {
  const contentType = contentTypes[contentFormat ?? -1];
  const isDeflated = deflatedFormats.has(contentFormat);
  return { failure, sender, query, contentType, isDeflated, payload };
}

function problemIn(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  return undefined;
}

async function capture<S>(state: CaptureState<S>, received: Received): Promise<CoapAnswer> {
  const { parts } = state;
  const { request, duplicateKey } = received;
  const asked = checkedRequest(request);
  const sender = await parts.admit(asked);
  const owner = parts.organizationOf(sender);
  const body = wholeBody(state, received, owner);
  if (body === 'more') return { ...continued(request), owner };
  const { contentFormat } = request;
  const contentType = contentTypes[contentFormat ?? -1];
  const hints = { encoding: parts.encodingOf(sender), contentType, port: asked.port };
  const isDeflated = deflatedFormats.has(contentFormat);
  // A kilobyte may inflate to a megabyte of JSON.
  const payload = await parts.turns.run(owner, () =>
    readPayload(isDeflated ? inflateBody(body) : body, hints),
  );
  const done = await parts.capture({
    sender,
    request: asked,
    payload,
    bodyBytes: body.length,
    isSenml: isSenmlPack(hints) && Array.isArray(payload.body),
    duplicateKey,
  });
  const { id, receivedAt, stored, notStored = [] } = done;
  const answer = jsonAnswer(coapCodes.created, {
    id,
    timestamp: formatInstant(receivedAt),
    message: 'uplink received',
    ...(stored !== undefined && { stored }),
    ...(notStored.length > 0 && { notStored }),
  });
  return { ...answer, owner };
}

/** Throws Problem for a body that is too large, or that lacks a block. */
function wholeBody<S>(
  { parts, bodies }: CaptureState<S>,
  { request, key, payload }: Received,
  owner: string,
): Buffer | 'more' {
  const { block1, size1 } = request;
  const { bodyBytesMax } = blockLimits;
  if ((size1 ?? 0) > bodyBytesMax) throw problem('payloadTooLarge', { bytesMax: bodyBytesMax });
  if (block1 === undefined) return payload;
  const body = bodies.add(key, owner, block1, payload, parts.now());
  if (body === 'tooLarge') throw problem('payloadTooLarge', { bytesMax: bodyBytesMax });
  if (body === 'incomplete') throw problem('coapBlocksIncomplete');
  return body;
}

function firstBlock<S>(
  { parts, keptAnswers }: CaptureState<S>,
  { request, key, address }: Received,
  whole: CoapAnswer,
): CoapAnswer {
  const { block1, block2 } = request;
  const options = [...whole.options];
  if (block1 !== undefined && whole.code !== coapCodes.continue)
    options.push(blockOption('block1', block1));
  const answer = { ...whole, options };
  // A refusal fits in one message, so nothing is kept for its sender.
  if (codeClass(answer.code) >= 4) return shortened(answer, block2?.bytes ?? blockBytesMax);
  const first = blockOfAnswer(answer, block2) ?? answer;
  if (first.payload.length < answer.payload.length)
    keptAnswers.keep(key, address, answer, parts.now());
  return first;
}

/** Throws Problem when the answer is no longer kept, or has no such block. */
function furtherBlock<S>(
  { parts, keptAnswers }: CaptureState<S>,
  { request, key }: Received,
): CoapAnswer {
  const whole = keptAnswers.find(key, parts.now());
  const block = whole && blockOfAnswer(whole, request.block2);
  if (block === undefined) throw problem('coapBlocksIncomplete');
  return block;
}

function checkedRequest({ query, accept }: CoapRequest): CaptureRequest {
  if (accept !== undefined && accept !== contentFormats.json)
    throw problem('coapAcceptUnsupported', { accept });
  return captureRequestOf(query, {});
}

function continued({ block1 }: CoapRequest): CoapAnswer {
  const answer = plainAnswer(coapCodes.continue);
  if (block1 === undefined) return answer;
  return { ...answer, options: [blockOption('block1', block1)] };
}

const methods: Readonly<Record<number, string>> = {
  1: 'GET',
  2: 'POST',
  3: 'PUT',
  4: 'DELETE',
  5: 'FETCH',
  6: 'PATCH',
};

function noSuchThing(code: number, path: string): Problem {
  const method = methods[code] ?? 'this';
  if (path !== capturePath) return problem('noSuchRoute', { method, path });
  return problem('methodNotAllowed', { method, path: capturePath, allow: 'POST' });
}

/** Options that differ between the blocks of one request. */
const blockOptions: ReadonlySet<number> = new Set([
  optionNumbers.block1,
  optionNumbers.block2,
  optionNumbers.size1,
  optionNumbers.size2,
]);

function requestKey({ code, options }: CoapMessage): string {
  const telling = options.filter(({ number }) => !blockOptions.has(number));
  return `${code} ${telling.map(({ number, value }) => `${number}=${value.toString('base64')}`).join(' ')}`;
}
