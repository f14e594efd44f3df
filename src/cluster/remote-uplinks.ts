// Remote uplinks: uplinks of every transport reach the owner of their device as values, and its answer comes back.
import type { DuplicateFilter } from '../transports/duplicate-filter.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { exactPlacesIn, type MemberPlace, rememberPlaces } from '../model/json-keys.ts';
import type { KeptSamples } from '../model/kept-samples.ts';
import type { MessageHandler, NodeMessages } from '../model/node-messages.ts';
import { durablePart } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import type { Uplink } from '../model/uplink.ts';
import { uplinkOf } from '../uplinks/capture/capture.ts';

/** The kind of message between nodes. */
export const uplinkMessage = 'uplink';
/** Bytes of an uplink apart from its body, roughly. */
const overheadBytes = 400;

/** What the owner cannot read from the records. */
type SentUplink = Parameters<typeof uplinkOf>[0] &
  Pick<Uplink, 'correlationId' | 'receivedAt' | 'samples' | 'notes' | 'rulesSkipped'> & {
    /** Service device id, and the workspace of the device. */
    readonly deviceId: string;
    readonly workspaceId: string;
    /** Whether an owner may have received it before. */
    readonly isRepeated?: boolean;
    /** Where integers of it became text. */
    readonly exact?: readonly MemberPlace[];
  };

/**
 * Resolves when the uplink is durable, here or at its owner. Uplinks of a device begin in the order
 * of the calls. Throws Problems.
 */
export async function sendUplink(
  uplink: Uplink,
  messages: NodeMessages,
  takeOwn: (uplink: Uplink) => Promise<KeptSamples | undefined>,
): Promise<KeptSamples | undefined> {
  const sent = sentUplinkOf(uplink);
  const answer = await messages.toHolder(uplink.device.workspaceId, {
    kind: uplinkMessage,
    request: sent,
    bytes: (uplink.inflatedBytes ?? uplink.bodyBytes) + overheadBytes,
    // Without a key, a repetition would not be recognized.
    ...(uplink.duplicateKey !== undefined && {
      again: { ...sent, isRepeated: true },
      isReceiverBound: true,
    }),
    own: async () => answerOf(await takeOwn(uplink)),
  });
  return (answer as KeptSamples | null) ?? undefined;
}

function answerOf(kept: KeptSamples | undefined): unknown {
  return kept ?? null;
}

/** Everything but what the owner reads from its records, so that no member is forgotten. */
function sentUplinkOf({
  device,
  script: _,
  storedTopics: __,
  keptDays: ___,
  implausibleTimes: ____,
  ...sent
}: Uplink): SentUplink {
  const exact = exactPlacesIn(sent);
  const { id: deviceId, workspaceId } = device;
  return { ...sent, deviceId, workspaceId, ...(exact.length > 0 && { exact }) };
}

/** Answers the message of another node. */
export function uplinkReceiver(parts: {
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Takes an uplink of an own device. Throws Problem `deviceMoved` for another one. */
  readonly takeOwnUplink: (uplink: Uplink) => Promise<KeptSamples | undefined>;
  /** The owner knows repetitions that reach the cluster at different nodes. */
  readonly duplicates: DuplicateFilter;
}): MessageHandler {
  const { findRoute, takeOwnUplink, duplicates } = parts;
  return async (request) => {
    const { exact = [], ...sent } = request as SentUplink;
    rememberPlaces(sent, exact);
    const { deviceId, workspaceId, correlationId, receivedAt, ...others } = sent;
    const { isRepeated = false, ...message } = others;
    const { samples, notes, rulesSkipped, ...payload } = message;
    const route = await findRoute(deviceId);
    // The sender did not know yet: asking the holder of that workspace again would not help.
    if (route.device.workspaceId !== workspaceId) throw problem('deviceMovedMeanwhile');
    const uplink = {
      ...uplinkOf(payload, route, correlationId, receivedAt),
      ...(samples !== undefined && { samples }),
      ...(notes !== undefined && { notes }),
      ...(rulesSkipped !== undefined && { rulesSkipped }),
    };
    const { duplicateKey: key } = payload;
    // Parts of requests have their own records.
    if (key === undefined || durablePart.fromDuplicateKey(key) !== undefined)
      return answerOf(await takeOwnUplink(uplink));
    const once = await duplicates.once(
      key,
      () => takeOwnUplink(uplink),
      uplink.device.organizationId,
      !isRepeated,
    );
    return once.repeated ? null : answerOf(once.outcome);
  };
}
