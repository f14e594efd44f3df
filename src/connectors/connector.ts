// The shape of a connector type: what opens a target and sends one delivery to it.
import type { LookupFunction, Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { RequestInit, Response } from 'undici';
import type { OutputConnectorType } from '../model/connector.ts';
import type { JsonObject } from '../model/json.ts';

export type TemplateContext = JsonObject;

export interface EgressTarget {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal;
}

export interface EgressGuard {
  checkLiteral(host: string): void;
  readonly lookup: LookupFunction;
  connect(target: EgressTarget): Promise<Socket>;
  connectTls(target: EgressTarget, tls?: ConnectionOptions): Promise<TLSSocket>;
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

export interface OutboundMessage {
  readonly deliveryId: string;
  readonly deviceId: string;
  readonly payload: string;
  readonly contentType: string;
  readonly context: TemplateContext;
}

export type SendOutcome =
  | { readonly ok: true; readonly answer: string }
  | {
      readonly ok: false;
      readonly retry: boolean;
      readonly reason: string;
      readonly answer?: string;
      readonly retryAfterMs?: number;
    };

export interface Target {
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome>;
  close(): Promise<void>;
}

export interface OutboundConnector {
  readonly type: OutputConnectorType;
  open(properties: JsonObject, egress: EgressGuard): Target;
}
