// Refusal: the error body of a request that the router neither serves nor forwards.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '../../model/problem.ts';
import { sendFailure } from '../edge/responses.ts';
import { clientAddress } from '../edge/client-address.ts';
import { DirectReply } from '../edge/fast-path/direct-reply.ts';
import { DirectRequest } from '../edge/fast-path/direct-request.ts';
import { answerReports, type EdgeEvents } from '../edge/reports.ts';
import type { Route } from '../edge/route.ts';

export interface RefusalParts {
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly events: EdgeEvents;
  readonly routes: readonly Pick<Route, 'path'>[];
  readonly now: () => number;
}

export function refusalWith(parts: RefusalParts) {
  const addressOf = clientAddress(parts.trustedProxies);
  const report = answerReports(parts.events, parts.routes);
  return (raw: IncomingMessage, response: ServerResponse, why: Problem): void => {
    const request = new DirectRequest(raw, { params: {}, query: {}, routeOptions: {}, addressOf });
    const reply = new DirectReply(request, response);
    response.on('close', () => {
      if (response.writableFinished) report(request, reply);
    });
    sendFailure(parts, why, request, reply);
  };
}
