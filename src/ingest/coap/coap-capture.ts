// POST /v3/capture over CoAP (contract 18): from one request, perhaps a block of a longer one, to its answer.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { Problem, problem } from '../../model/problem.ts';
import { type CaptureRequest, captureBodyOf, captureRequestOf } from '../http/capture-request.ts';
import { parseCborBody } from './cbor-body.ts';
import {
  blockBytesMax,
  blockOfAnswer,
  type CoapAnswer,
  codeClass,
  coapCodes,
  jsonAnswer,
  plainAnswer,
  refusalAnswer,
  shortened,
} from './coap-answer.ts';
import { blockLimits, createBlockBodies, createKeptAnswers } from './coap-blocks.ts';
import type { CoapMessage } from './coap-message.ts';
import {
  blockOption,
  type CoapRequest,
  coapRequestOf,
  contentFormats,
  optionNumbers,
} from './coap-request.ts';

const capturePath = '/v3/capture';

export interface CoapCapture<S> {
  /** What `admit` returned. */
  readonly sender: S;
  readonly request: CaptureRequest;
  readonly body: JsonObject | readonly Json[];
  readonly bodyBytes: number;
  /** Tells repetitions of one request. */
  readonly duplicateKey: string;
}

export interface CoapCaptureParts<S> {
  /** Throws Problem for a wrong secret or device, so that strangers cannot make the server keep blocks. */
  readonly admit: (request: CaptureRequest) => S | Promise<S>;
  /** Resolves when the payload is durable. */
  readonly capture: (
    input: CoapCapture<S>,
  ) => Promise<{ readonly id: string; readonly receivedAt: EpochMs }>;
  /** Throws Problem `invalidJson`; undefined for an empty text. */
  readonly parseJson: (text: string) => Json | undefined;
  /** The error body of interface 7; undefined instead of a Problem is a failure of our own. */
  readonly errorBody: (error: unknown, path: string, sender: string) => { readonly status: number };
  readonly now: () => EpochMs;
}

/** Makes the handler of requests; `sender` is address and port. It never rejects. */
export function createCoapCapture<S>(
  parts: CoapCaptureParts<S>,
): (message: CoapMessage, sender: string, duplicateKey: string) => Promise<CoapAnswer> {
  const bodies = createBlockBodies(blockLimits);
  const keptAnswers = createKeptAnswers<CoapAnswer>(blockLimits);

  const capture = async (
    request: CoapRequest,
    key: string,
    payload: Buffer,
    duplicateKey: string,
  ) => {
    const asked = checkedRequest(request);
    const sender = await parts.admit(asked);
    const body = await wholeBody(request, key, payload);
    if (body === 'more') return continued(request);
    const done = await parts.capture({
      sender,
      request: asked,
      body: captureBodyOf(parsed(body, request.contentFormat)),
      bodyBytes: body.length,
      duplicateKey,
    });
    const { id, receivedAt } = done;
    return jsonAnswer(coapCodes.created, {
      id,
      timestamp: formatInstant(receivedAt),
      message: 'uplink received',
    });
  };

  const wholeBody = async (
    { block1, size1 }: CoapRequest,
    key: string,
    payload: Buffer,
  ): Promise<Buffer | 'more'> => {
    const { bodyBytesMax } = blockLimits;
    if ((size1 ?? 0) > bodyBytesMax) throw problem('payloadTooLarge', { bytesMax: bodyBytesMax });
    if (block1 === undefined) return payload;
    const body = bodies.add(key, block1, payload, parts.now());
    if (body === 'tooLarge') throw problem('payloadTooLarge', { bytesMax: bodyBytesMax });
    if (body === 'incomplete') throw problem('coapBlocksIncomplete');
    return body;
  };

  const parsed = (body: Buffer, contentFormat: number | undefined): Json | undefined =>
    contentFormat === contentFormats.cbor
      ? parseCborBody(body)
      : parts.parseJson(body.toString('utf8'));

  return async (message, sender, duplicateKey) => {
    const request = coapRequestOf(message);
    if ('refused' in request) return plainAnswer(coapCodes[request.refused], request.reason);
    const key = `${sender} ${requestKey(message)}`;
    try {
      const { block2 } = request;
      if (block2 !== undefined && block2.number > 0) return furtherBlock(key, request);
      if (message.code !== coapCodes.post || request.path !== capturePath)
        throw noSuchThing(message.code, request.path);
      return firstBlock(await capture(request, key, message.payload, duplicateKey), request, key);
    } catch (error) {
      const refused = error instanceof Problem ? error : undefined;
      return firstBlock(
        refusalAnswer(refused, parts.errorBody(error, request.path, sender)),
        request,
        key,
      );
    }
  };

  function firstBlock(whole: CoapAnswer, request: CoapRequest, key: string): CoapAnswer {
    const { block1, block2 } = request;
    const ended =
      block1 === undefined || whole.code === coapCodes.continue
        ? []
        : [blockOption('block1', block1)];
    const answer = { ...whole, options: [...whole.options, ...ended] };
    // Refusals go out in one message, however small: nothing is kept for whom they are.
    if (codeClass(answer.code) >= 4) return shortened(answer, block2?.bytes ?? blockBytesMax);
    const first = blockOfAnswer(answer, block2) ?? answer;
    if (first.payload.length < answer.payload.length) keptAnswers.keep(key, answer, parts.now());
    return first;
  }

  function furtherBlock(key: string, { block2 }: CoapRequest): CoapAnswer {
    const whole = keptAnswers.find(key, parts.now());
    const block = whole && blockOfAnswer(whole, block2);
    if (block === undefined) throw problem('coapBlocksIncomplete');
    return block;
  }
}

function checkedRequest({ query, accept, contentFormat }: CoapRequest): CaptureRequest {
  if (accept !== undefined && accept !== contentFormats.json)
    throw problem('coapAcceptUnsupported', { accept });
  // Small devices leave the format out; JSON is what they mean then, and what is not JSON is refused as such.
  if (
    contentFormat !== undefined &&
    contentFormat !== contentFormats.json &&
    contentFormat !== contentFormats.cbor
  ) {
    throw problem('coapFormatUnsupported', { contentFormat });
  }
  return captureRequestOf(query, {});
}

function continued({ block1 }: CoapRequest): CoapAnswer {
  return { ...plainAnswer(coapCodes.continue), options: [blockOption('block1', block1!)] };
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
