// Route of script runs, whose events have no effect (interface 4.8, contract 16).
import type { Static } from 'typebox';
import { scripts, type scriptPayload } from '../../contract/run-script.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { readPayload } from '../../transports/payload-reader.ts';
import { type Route, route } from '../edge/route.ts';

export function runScriptRoute(
  runScript: (
    source: string,
    event: Json,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<readonly { type: string; event: Json }[]>,
): Route {
  return route(scripts.run, async ({ body, signal }, principal) => {
    const { script, event = {}, payload } = body;
    const full = payload === undefined ? event : eventWith(event, payload);
    return [...(await runScript(script, full, principal, signal))];
  });
}

/** As the decoder of a device would get the payload (contract 38). */
function eventWith(event: Json, payload: Static<typeof scriptPayload>): Json {
  const { hex, text, encoding = null, contentType, port } = payload;
  if ((hex === undefined) === (text === undefined))
    throw problem('invalidRequest', { reason: 'body payload: must have either hex or text' });
  if (!isJsonObject(event))
    throw problem('invalidRequest', { reason: 'body event: must be an object with a payload' });
  const bytes = hex === undefined ? Buffer.from(text ?? '') : Buffer.from(hex, 'hex');
  const read = readPayload(bytes, {
    encoding,
    contentType: contentType ?? undefined,
    port: port === undefined || port === null ? undefined : String(port),
  });
  const data = isJsonObject(read.body) ? read.body : { values: read.body };
  return { ...event, data, encoding: read.encoding };
}
