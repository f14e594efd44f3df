// Acknowledgements: what is open after a message, as a list or as a number (interface 6, contract 37).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  AcknowledgedItem,
  AcknowledgementMessage,
  ReplyTo,
} from '../../contract/live-messages.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { MessageContext } from './client-message.ts';

/** Items of an acknowledgement that are written in one turn. */
const acknowledgedPerTurn = 5_000;

export interface Acknowledged {
  readonly replyTo: ReplyTo | undefined;
  /** Whether the answer contains all that is open, and not only its number. */
  readonly echo: boolean;
  readonly context: Pick<
    MessageContext,
    'subscriptions' | 'workspaces' | 'reply' | 'replyText' | 'now'
  >;
  readonly refused?: readonly AcknowledgedItem[];
  /** Refused workspaces, which are last. */
  readonly refusedWorkspaces?: readonly AcknowledgedItem[];
}

/** Answers with the open subscriptions and the refused items; long lists take several turns. */
export async function acknowledge(
  type: AcknowledgementMessage['type'],
  { replyTo, echo, context, refused = [], refusedWorkspaces = [] }: Acknowledged,
): Promise<void> {
  const { subscriptions, workspaces, reply, now } = context;
  const to = replyTo !== undefined && { replyTo };
  if (!echo) {
    const items = [...refused, ...refusedWorkspaces];
    const open = subscriptions.size + workspaces.size;
    reply({ type, ...to, subscriptions: items, open, timestamp: formatInstant(now()) });
    return;
  }
  const ofDevices = subscriptions.acknowledged(refused);
  const ofWorkspaces = [...workspaces.acknowledged(), ...refusedWorkspaces];
  const items = ofWorkspaces.length === 0 ? ofDevices : [...ofDevices, ...ofWorkspaces];
  if (items.length > acknowledgedPerTurn)
    context.replyText(await longAcknowledgement(type, items, replyTo, now()));
  else reply({ type, ...to, subscriptions: items, timestamp: formatInstant(now()) });
}

/** The message, written over several turns of the event loop. */
async function longAcknowledgement(
  type: AcknowledgementMessage['type'],
  items: readonly AcknowledgedItem[],
  replyTo: ReplyTo | undefined,
  now: EpochMs,
): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < items.length; from += acknowledgedPerTurn) {
    await nextTurn();
    parts.push(JSON.stringify(items.slice(from, from + acknowledgedPerTurn)).slice(1, -1));
  }
  const to = replyTo === undefined ? '' : `"replyTo":${JSON.stringify(replyTo)},`;
  return `{"type":"${type}",${to}"subscriptions":[${parts.join(',')}],"timestamp":"${formatInstant(now)}"}`;
}
