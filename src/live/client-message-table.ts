// Every message a client may send: one row here and one file each (interface 6).
import type { ClientMessageType } from './client-message.ts';
import { ping } from './ping.ts';
import { subscribe } from './subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';

export const clientMessages: Readonly<Record<string, ClientMessageType>> = {
  subscribe,
  unsubscribe,
  ping,
};
