// One run on request: what run-script answers (interface 4.8, contract 16).
import { isJsonObject, type Json } from '../model/json.ts';
import type { EmitType } from './emit.ts';
import type { CodecEntry } from './module-syntax.ts';
import type { ScriptMachine } from './script-machine.ts';

interface MirroredEmit {
  readonly type: EmitType;
  readonly event: Json;
}

/**
 * Runs a script once and mirrors its emits, in their order and as they are: no topic or key is
 * checked, numbers that are not finite are the texts "NaN", "Infinity" and "-Infinity". Whatever
 * goes wrong in the script is an ERROR entry. The run comes after those of devices, within limits
 * of its own: above them `quotaBusy` is thrown (contract 36).
 */
export async function runScript(
  scripts: Pick<ScriptMachine, 'run'>,
  request: {
    readonly tenant: string;
    readonly source: string;
    readonly event: Json;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<MirroredEmit[]> {
  const entry = entryOf(request.event);
  const { emits } = await scripts.run({ ...request, entry, kind: 'trial' });
  return emits.map((emit) => ({ type: emit.type, event: emit.event }));
}

/** Only payload codecs have several entries; the event tells which one it is for. */
function entryOf(event: Json): CodecEntry {
  if (!isJsonObject(event) || 'data' in event) return 'decodeUplink';
  if ('payload' in event) return 'encodeDownlink';
  return 'payloadHex' in event ? 'decodeDownlink' : 'decodeUplink';
}
