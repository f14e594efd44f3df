// `ping`: the keep-alive of clients that cannot send WebSocket-level pings (interface 6).
import { PingMessage } from '../../contract/live-messages.ts';
import { formatInstant } from '../../model/instant.ts';
import { clientMessage } from './client-message.ts';

export const ping = clientMessage(PingMessage, (_message, replyTo, { reply, now }) =>
  reply({
    type: 'pong',
    ...(replyTo !== undefined && { replyTo }),
    timestamp: formatInstant(now()),
  }),
);
