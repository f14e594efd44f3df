// Reports of answers, for log and metrics: what was answered, and which credentials were refused.
import { type EdgeReply, type EdgeRequest, stateOf } from './exchange.ts';
import { loggedPaths } from './admission.ts';

const accountLengthMax = 254;

/** Reports about requests, for log and metrics. */
export interface EdgeEvents {
  answered(request: {
    method: string;
    route: string;
    path: string;
    status: number;
    ms: number;
    requestId: string;
  }): void;
  failed(error: unknown, request: { path: string; requestId: string; errorId: string }): void;
  /** An answer 401: the caller, the route and the reason. */
  credentialRefused?(refused: {
    address: string;
    route: string;
    reason: string;
    account?: string | undefined;
  }): void;
}

/** To be called once for each answer, when its last byte is written. */
export type ReportAnswer = (request: EdgeRequest, reply: EdgeReply) => void;

export function answerReports(
  events: EdgeEvents,
  routes: readonly { readonly path: string }[],
): ReportAnswer {
  const pathOf = loggedPaths(routes);
  return (request, reply) => {
    events.answered({
      method: request.method,
      route: request.routeOptions?.url ?? 'none',
      path: pathOf(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
    });
    if (reply.statusCode === 401) events.credentialRefused?.(refusalOf(request));
  };
}

/**
 * What the log says of a refused credential; `account` is the e-mail address that was typed, cut to
 * the longest possible one.
 */
function refusalOf(request: EdgeRequest) {
  const { refusedBy, principal } = stateOf(request);
  const { email } = (request.body ?? {}) as { readonly email?: unknown };
  const account = principal?.id;
  const refused = {
    address: request.ip,
    route: request.routeOptions?.url ?? 'none',
    reason: refusedBy ?? 'invalidClient',
  };
  if (typeof email === 'string') return { ...refused, account: email.slice(0, accountLengthMax) };
  return { ...refused, ...(account !== undefined && { account }) };
}
